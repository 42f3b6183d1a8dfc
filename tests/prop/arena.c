/* SPDX-License-Identifier: MIT */
/* Steps of an arena: see arena.h. Comparing is in check.c. */
#include "arena.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>

#include "base/fd.h"

void arena_init(struct arena *a, struct site *s, const struct backend *be, unsigned number)
{
	*a = (struct arena){ .site = s, .be = be, .suffix = (char)('0' + number) };
	model_init(&a->m, s->setup, a->suffix);
}

void arena_clear(struct arena *a)
{
	model_clear(&a->m);
}

bool arena_owns(const struct arena *a, const char *name)
{
	size_t len = strlen(name);

	return len && name[len - 1] == a->suffix;
}

bool arena_fail(struct arena *a, const char *fmt, ...)
{
	va_list ap;

	if (*a->fault)
		return false;
	a->fault_kind = fmt;
	va_start(ap, fmt);
	(void)vsnprintf(a->fault, sizeof(a->fault), fmt, ap);
	va_end(ap);
	return false;
}

static int write_hide(int dir, const char *text)
{
	return fd_replace_file(dir, ".specfs-hide", ".hide-new", 0644, text, strlen(text));
}

static int apply_below(const struct arena *a, const struct op *o)
{
	cleanup_fd int dir = site_open_layer(a->site, &a->m, (unsigned)o->layer, a->suffix);

	if (dir < 0)
		return dir;
	if (o->kind == OP_HIDE)
		return write_hide(dir, o->data);
	if (o->kind == OP_PURGE)
		return posix_purge(dir, o->path);
	return posix_apply(dir, o);
}

static const char *name_of(int err)
{
	return err ? strerrorname_np(-err) : "success";
}

bool arena_settle(struct arena *a)
{
	int r = a->be->settle ? a->be->settle(a->site) : 0;

	return r < 0 ? arena_fail(a, "waiting for the view gave %s %s", name_of(r), a->site->note)
		     : true;
}

bool arena_step(struct arena *a, const struct op *o)
{
	bool below = o->layer != IN_VIEW;
	int want = below ? model_apply_below(&a->m, o) : model_apply(&a->m, o);
	int got;

	a->site->note[0] = '\0';
	got = below ? apply_below(a, o) : a->be->apply(a->site, o);
	/* the kernel may refuse to write before it looks at names */
	if (got != want && !(a->m.setup->readonly && !below && got == -EROFS))
		return arena_fail(a, "it gave %s, not %s %s", name_of(got), name_of(want),
				  a->site->note);
	/* what is done at one place shows at another as what is done underneath does */
	return below || model_spreads(&a->m) ? arena_settle(a) : true;
}
