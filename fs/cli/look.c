/* SPDX-License-Identifier: MIT */
/* Looking at a view: see look.h. */
#include "cli/look.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "cli/probe.h"
#include "cli/report.h"

enum { STATUS_LIMIT_MS = 10000, LINKS_MAX = 40 };

/* Lets the view show what the mounted one's scratch holds; its layer 0 is empty so far. */
static int show_scratch(struct view *v, const char *scratch, struct diag *d)
{
	struct layer *l = &v->stack.layers[0];
	cleanup_strbuf struct strbuf upper = STRBUF_INIT;
	char *path;

	strbuf_addf(&upper, "%s/upper", scratch);
	path = strbuf_detach(&upper);
	if (!path)
		return -ENOMEM;
	free(l->path);
	l->path = path;
	l->base_fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return l->base_fd < 0 ? diag_add(d, -errno, NULL, 0, "scratch '%s': %s", path,
					 strerror(errno)) : 0;
}

int look_open(const struct view_options *o, const char *scratch, struct diag *d, struct view **ret)
{
	struct view_options own = *o;
	cleanup_view struct view *v = NULL;
	int r;

	own.scratch = NULL;
	r = view_open(&own, d, &v);
	if (r >= 0 && scratch)
		r = show_scratch(v, scratch, d);
	if (r < 0)
		return r;
	*ret = steal_ptr(&v);
	return 0;
}

static bool is_set(const json_t *record, const char *key)
{
	return json_is_true(json_object_get(record, key));
}

int look_open_record(const json_t *record, struct diag *d, struct view **ret)
{
	struct view_options o = {
		.root = json_get_text(record, "root"),
		.profile = json_get_text(record, "profile_file"),
		.readonly = is_set(record, "readonly"),
		.scratch_all = is_set(record, "scratch_all"),
		.write_owner = is_set(record, "write_owner"),
	};
	int r = o.root ? 0 : diag_add(d, -EINVAL, NULL, 0,
				      "the view does not say which checkout it shows");

	r = r < 0 ? r : json_get_strv(record, "backends", &o.backends);
	r = r < 0 ? r : json_get_strv(record, "overlays", &o.overlays);
	r = r < 0 ? r : look_open(&o, json_get_text(record, "scratch"), d, ret);
	strv_clear(&o.backends);
	strv_clear(&o.overlays);
	return r;
}

/* Another user's view may be open to us although its record is not: the view itself tells. */
static int ask_view(const struct mount_entry *m, struct diag *d, struct serving *s)
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	int r;

	strbuf_addf(&path, "%s/.specfs/status", m->at);
	r = strbuf_failed(&path);
	r = r < 0 ? r : probe_read(path.buf, STATUS_LIMIT_MS, &text);
	if (r < 0)
		return diag_add(d, r, NULL, 0, "'%s' does not tell its status: %s", m->at,
				strerror(-r));
	s->record = json_loads(text.buf, 0, NULL);
	if (!json_is_object(s->record))
		return diag_add(d, -EINVAL, NULL, 0, "'%s' is not JSON", path.buf);
	return 0;
}

int look_find_view(const struct mount_table *t, const char *at, struct diag *d,
		   const struct mount_entry **ret_m, struct serving *ret)
{
	const struct mount_entry *m = mount_around(t, at);

	if (!m || !mount_is_view(m))
		return diag_add(d, -ENOENT, NULL, 0, "'%s' is in no mounted view; 'specfs list' "
				"tells which there are", at);
	*ret_m = m;
	serving_find(m, ret);
	switch (ret->state) {
	case SERVING_ALIVE:
		return ret->record ? 0 : ask_view(m, d, ret);
	case SERVING_DEAD:
	case SERVING_DYING:
		return diag_add(d, -ENOTCONN, NULL, 0,
				"the daemon of '%s' is dead: 'specfs umount' clears the mount "
				"away, 'specfs mount' recovers it", m->at);
	case SERVING_SILENT:
		return diag_add(d, -ETIMEDOUT, NULL, 0, "the view at '%s' does not answer", m->at);
	case SERVING_UNKNOWN:
		break;
	}
	return diag_add(d, -EACCES, NULL, 0, "the view at '%s' belongs to user %u, who has not let "
			"others in (mount option 'allow_other')", m->at, (unsigned)m->user);
}

/* One walk from the root of the view. */
struct walk {
	const struct view *v;
	struct strbuf at;       /* clean */
	struct strbuf ahead;    /* what is still to be walked */
	unsigned links;
};

/* A symlink on the way: its text goes before what is still to be walked. */
static int follow(struct walk *w, const struct found *f, const char *rest)
{
	cleanup_strbuf struct strbuf ahead = STRBUF_INIT;
	int r = stack_readlink(&w->v->stack, w->at.buf, f, &ahead);

	if (r < 0)
		return r;
	if (ahead.buf[0] == '/')
		return -EXDEV;
	if (++w->links > LINKS_MAX)
		return -ELOOP;
	strbuf_addf(&ahead, "/%s", rest);
	strbuf_truncate(&w->at, path_parent_len(w->at.buf));
	strbuf_reset(&w->ahead);
	strbuf_adds(&w->ahead, ahead.buf);
	return strbuf_failed(&w->ahead);
}

static int step(struct walk *w, const char *name, const char *rest, struct found *f)
{
	int r;

	if (!*name || !strcmp(name, "."))
		return 0;
	if (!strcmp(name, "..")) {
		if (!w->at.len)
			return -EXDEV;
		strbuf_truncate(&w->at, path_parent_len(w->at.buf));
		return stack_lookup(&w->v->stack, w->at.buf, f);
	}
	strbuf_addf(&w->at, "%s%s", w->at.len ? "/" : "", name);
	r = strbuf_failed(&w->at);
	r = r < 0 ? r : stack_lookup(&w->v->stack, w->at.buf, f);
	if (r < 0)
		return r;
	if (S_ISLNK(f->st.st_mode) && rest[strspn(rest, "/")])
		return follow(w, f, rest);
	return 0;
}

static int walk_all(struct walk *w, struct found *f)
{
	int r = stack_root(&w->v->stack, f);

	while (r >= 0 && w->ahead.len) {
		cleanup_strbuf struct strbuf name = STRBUF_INIT;
		cleanup_strbuf struct strbuf rest = STRBUF_INIT;
		size_t len = strcspn(w->ahead.buf, "/");

		strbuf_add(&name, w->ahead.buf, len);
		strbuf_adds(&rest, w->ahead.buf + len + (w->ahead.buf[len] == '/'));
		strbuf_reset(&w->ahead);
		strbuf_adds(&w->ahead, rest.buf);
		if (strbuf_failed(&name) || strbuf_failed(&rest) || strbuf_failed(&w->ahead))
			return -ENOMEM;
		r = step(w, name.buf, rest.buf, f);
		if (r == -ENOENT && rest.buf[strspn(rest.buf, "/")])
			return -ENOTDIR;
	}
	return r;
}

int look_resolve(const struct view *v, const char *path, struct strbuf *ret, struct found *f)
{
	struct walk w = { .v = v, .at = STRBUF_INIT, .ahead = STRBUF_INIT };
	int r;

	strbuf_adds(&w.ahead, path);
	r = strbuf_failed(&w.ahead);
	r = r < 0 ? r : walk_all(&w, f);
	if (r == 0 || r == -ENOENT) {
		strbuf_reset(ret);
		strbuf_adds(ret, w.at.buf);
		if (strbuf_failed(ret))
			r = -ENOMEM;
	}
	strbuf_clear(&w.at);
	strbuf_clear(&w.ahead);
	return r;
}
