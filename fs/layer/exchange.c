/* SPDX-License-Identifier: MIT */
/* Exchanging two names: see exchange.h. The record and what becomes of it is in swap.c. */
#include "layer/exchange.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "layer/copyup.h"
#include "layer/made.h"
#include "layer/mark.h"
#include "layer/movecheck.h"
#include "layer/remove.h"
#include "layer/swap.h"

/* One of the two, with the route of an edit of it: its destination takes what comes there. */
struct end {
	const char *path;
	struct found f;
	struct route edit;
};

static bool is_dir(const struct found *f)
{
	return S_ISDIR(f->obj.st.st_mode);
}

/* Is it one object of its layer, which a rename there moves as a whole? */
static bool is_whole(const struct found *f)
{
	return !f->via_link && (!is_dir(f) || f->parts == UINT64_C(1) << f->layer);
}

/* May it leave the layer it is in? */
static bool may_leave(struct view *v, const struct end *e)
{
	struct route r;

	return !e->edit.in_place ||
	       (route_existing(v, e->path, &e->f, ROUTE_REMOVE, &r) == 0 && r.in_place);
}

/* Would directories show at the other place what they do now? */
static bool keep_names(struct view *v, const struct end *a, const struct end *b)
{
	unsigned layer = a->edit.layer;

	return (!is_dir(&a->f) || move_is_alike(v, layer, a->path, b->path) > 0) &&
	       (!is_dir(&b->f) || move_is_alike(v, layer, b->path, a->path) > 0);
}

/* Could one rename do it, once both are where edits of them go? */
static bool is_simple(struct view *v, const struct end *a, const struct end *b)
{
	if (!is_whole(&a->f) || !is_whole(&b->f) || (is_dir(&a->f) && !a->edit.in_place) ||
	    (is_dir(&b->f) && !b->edit.in_place))
		return false;
	if (a->edit.layer == b->edit.layer)
		return keep_names(v, a, b);
	/* a directory may hold what the other layer must not have, a link need another text */
	return S_ISREG(a->f.obj.st.st_mode) && S_ISREG(b->f.obj.st.st_mode) && may_leave(v, a) &&
	       may_leave(v, b);
}

/* The number that scratch kept for a file is no matter of other layers. */
static void drop_kept_ino(int dir_fd, const char *name, const struct end *e)
{
	cleanup_fd int fd = e->edit.layer ? openat(dir_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC)
					  : -1;

	if (fd >= 0)
		(void)mark_remove(fd, MARK_INO); /* nobody reads it there */
}

static int rename_both(struct view *v, const struct end *a, const struct end *b)
{
	const char *a_name;
	const char *b_name;
	cleanup_fd int a_dir = copyup_parents(v, a->path, a->edit.layer, &a_name);
	cleanup_fd int b_dir =
		a_dir < 0 ? -1 : copyup_parents(v, b->path, b->edit.layer, &b_name);

	if (a_dir < 0 || b_dir < 0)
		return a_dir < 0 ? a_dir : b_dir;
	if (renameat2(a_dir, a_name, b_dir, b_name, RENAME_EXCHANGE) < 0)
		return -errno;
	if (a->edit.layer == b->edit.layer) {
		made_swapped(&v->stack, a->edit.layer, &(struct made_end){ a->path, &a->f.obj },
			     &(struct made_end){ b->path, &b->f.obj });
	} else {
		drop_kept_ino(a_dir, a_name, a);
		drop_kept_ino(b_dir, b_name, b);
	}
	return 0;
}

/* Nothing old may show in a directory of scratch that comes to @other, which has more below. */
static int make_opaque(struct view *v, const struct end *e, const char *other)
{
	cleanup_fd int fd = -1;
	int r;

	if (e->f.layer || !is_dir(&e->f))
		return 0;
	r = stack_has_below(&v->stack, other, 0);
	if (r <= 0)
		return r;
	fd = layer_open_dir(&v->stack.layers[0], e->path);
	return fd < 0 ? fd : mark_set(fd, MARK_OPAQUE);
}

/* Bring it to where edits of it go. */
static int settle(struct view *v, struct end *e)
{
	int r = e->edit.in_place ? 0 : copyup(v, e->path, &e->f, e->edit.layer, -1);

	return !r && e->edit.layer ? remove_check(v, NULL, e->path, &e->f) : r;
}

static int exchange_at_once(struct view *v, struct end *a, struct end *b)
{
	int r = settle(v, a);

	if (!r)
		r = settle(v, b);
	if (!r)
		r = make_opaque(v, a, b->path);
	if (!r)
		r = make_opaque(v, b, a->path);
	return r < 0 ? r : rename_both(v, a, b);
}

/* Does scratch have it for itself? Then it is quickly moved aside. */
static bool is_scratch_only(const struct end *e)
{
	return !e->f.layer && (!is_dir(&e->f) || e->f.parts == 1);
}

int exchange(struct view *v, const char *a, const struct found *a_f, const char *b,
	     const struct found *b_f)
{
	struct end x = { .path = a, .f = *a_f };
	struct end y = { .path = b, .f = *b_f };
	int r = route_existing(v, a, &x.f, ROUTE_EDIT, &x.edit);

	if (!r)
		r = route_existing(v, b, &y.f, ROUTE_EDIT, &y.edit);
	if (!r && !v->work)
		r = -EROFS;
	if (r < 0)
		return r;
	r = is_simple(v, &x, &y) ? exchange_at_once(v, &x, &y) : -EXDEV;
	if (!r)
		return !x.edit.in_place || !y.edit.in_place;
	if (r != -EXDEV && r != -EINVAL && r != -ENOSYS)
		return r;
	r = is_scratch_only(&y) && !is_scratch_only(&x) ? swap_names(v, b, &y.f, a, &x.f)
							: swap_names(v, a, &x.f, b, &y.f);
	return r < 0 ? r : 1;
}
