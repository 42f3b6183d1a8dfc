/* SPDX-License-Identifier: MIT */
/*
 * The view, driven as the daemon drives it, without a kernel between: see backend.h. What the
 * kernel's name look-up decides before it asks a file system is decided here.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "layer/change.h"
#include "layer/listing.h"
#include "site.h"

/* A path as it is found in the view. */
struct spot {
	char dir[PATH_SIZE];
	const char *path;
	const char *name;
	struct found parent;
	struct found f;
	bool exists;
};

static int spot_find(struct view *v, const char *path, struct spot *ret)
{
	int r;

	ret->path = path;
	ret->name = path_base(path);
	(void)snprintf(ret->dir, sizeof(ret->dir), "%.*s", (int)path_parent_len(path), path);
	r = stack_lookup(&v->stack, ret->dir, &ret->parent);
	if (r < 0)
		return r;
	if (!S_ISDIR(ret->parent.st.st_mode))
		return -ENOTDIR;
	r = stack_lookup(&v->stack, path, &ret->f);
	ret->exists = !r;
	return r == -ENOENT ? 0 : r;
}

/*
 * The daemon hands down the directory that it has open, or none where it would not hear of what
 * others do in it: both must do the same. @in: the caller's, to be closed
 */
static struct change_name spot_name(struct view *v, const struct spot *s, struct dirset *in)
{
	struct change_name ret = { .path = s->path, .f = s->exists ? &s->f : NULL };

	dirset_init(in);
	if (strlen(s->path) % 2 && !stack_open_dir(&v->stack, s->dir, s->parent.parts, in))
		ret.in = in;
	return ret;
}

static struct cred me(void)
{
	return (struct cred){ .uid = geteuid(), .gid = getegid() };
}

/* What a change says of its object must be what a look-up says. */
static int compare(struct site *site, const char *path, const struct found *said)
{
	struct view *v = site->view;
	struct found now;
	int r = stack_lookup(&v->stack, path, &now);

	if (r < 0)
		return r;
	if (now.layer == said->layer && now.st.st_ino == said->st.st_ino &&
	    now.st.st_mode == said->st.st_mode && now.parts == said->parts &&
	    object_same(&now.obj, &said->obj))
		return 0;
	(void)snprintf(site->note, sizeof(site->note),
		       "'%s': the change said layer %u ino %llu mode %o parts %llx, "
		       "a look-up says %u %llu %o %llx",
		       path, said->layer, (unsigned long long)said->st.st_ino, said->st.st_mode,
		       (unsigned long long)said->parts, now.layer,
		       (unsigned long long)now.st.st_ino, now.st.st_mode,
		       (unsigned long long)now.parts);
	return -EBADMSG;
}

static int put_data(int fd, const struct op *o)
{
	size_t len = strlen(o->data);
	ssize_t n;

	if (o->kind == OP_TRUNCATE)
		return ftruncate(fd, o->offset) < 0 ? -errno : 0;
	n = pwrite(fd, o->data, len, o->kind == OP_WRITE ? o->offset : 0);
	return n < 0 ? -errno : (size_t)n == len ? 0 : -EIO;
}

static int do_new(struct site *site, const struct spot *s, const struct op *o)
{
	struct view *v = site->view;
	struct cred who = me();
	struct found made;
	cleanup_fd int fd = -1;
	int r;

	if (s->exists)
		return -EEXIST;
	if (o->kind == OP_MKDIR)
		r = change_mkdir(v, s->dir, &s->parent, s->name, o->mode, &who, &made);
	else if (o->kind == OP_SYMLINK)
		r = change_symlink(v, s->dir, &s->parent, s->name, o->data, &who, &made);
	else
		r = change_create(v, s->dir, &s->parent, s->name, o->mode, &who, &made, &fd);
	if (!r)
		r = compare(site, s->path, &made);
	return r < 0 || fd < 0 ? r : put_data(fd, o);
}

static int do_data(struct site *site, struct spot *s, const struct op *o)
{
	struct view *v = site->view;
	cleanup_fd int fd = -1;
	int r;

	if (!S_ISREG(s->f.st.st_mode))
		return S_ISDIR(s->f.st.st_mode) ? -EISDIR : -ELOOP;
	r = change_prepare(v, s->path, &s->f, o->kind == OP_TRUNCATE ? o->offset : -1);
	if (!r)
		r = compare(site, s->path, &s->f);
	if (r < 0)
		return r;
	fd = stack_open_file(&v->stack, s->path, &s->f, O_RDWR);
	return fd < 0 ? fd : put_data(fd, o);
}

static int do_attr(struct site *site, struct spot *s, const struct op *o)
{
	struct attr_change c = {
		.valid = o->kind == OP_CHMOD ? CHANGE_MODE : CHANGE_MTIME,
		.mode = o->mode,
		.mtime = { .tv_sec = o->offset, .tv_nsec = op_mtime_nsec(o) },
	};
	struct view *v = site->view;
	cleanup_fd int fd = -1;
	struct route route;
	int r;

	if (o->kind == OP_CHMOD && S_ISLNK(s->f.st.st_mode))
		return -EOPNOTSUPP;
	if (o->kind == OP_CHMOD && o->mode == (s->f.st.st_mode & 07777) &&
	    route_existing(v, s->path, &s->f, ROUTE_EDIT, &route) == 0 && !route.in_place)
		return 0;
	r = change_prepare(v, s->path, &s->f, -1);
	if (!r)
		r = compare(site, s->path, &s->f);
	if (r < 0)
		return r;
	fd = stack_open_file(&v->stack, s->path, &s->f, O_PATH);
	return fd < 0 ? fd : change_attrs(fd, &c);
}

static int do_two(struct site *site, struct spot *s, const struct op *o)
{
	struct view *v = site->view;
	struct spot to;
	struct found made;
	int r = spot_find(v, o->to, &to);

	if (r < 0)
		return r;
	if (!s->exists)
		return -ENOENT;
	if (o->kind == OP_RENAME) {
		cleanup_dirset struct dirset in;
		cleanup_dirset struct dirset to_in;
		struct change_name a = spot_name(v, s, &in);
		struct change_name b = spot_name(v, &to, &to_in);

		r = change_rename(v, &a, &b, &to.parent, o->flags);
		return r < 0 ? r : 0;
	}
	if (to.exists)
		return -EEXIST;
	r = change_link(v, s->path, &s->f, to.dir, &to.parent, to.name, &made);
	if (!r)
		r = compare(site, s->path, &s->f);
	if (r == -ENOTDIR)
		r = 0; /* below a graft it took the place of a directory above the old name */
	return r < 0 ? r : compare(site, to.path, &made);
}

static int do_unlink(struct view *v, const struct spot *s)
{
	cleanup_dirset struct dirset in;
	struct change_name name = spot_name(v, s, &in);

	return change_unlink(v, name.path, name.f, name.in);
}

static int view_apply(struct site *site, const struct op *o)
{
	struct view *v = site->view;
	struct spot s;
	int r = spot_find(v, o->path, &s);

	if (r < 0)
		return r;
	if (o->kind == OP_RENAME || o->kind == OP_LINK)
		return do_two(site, &s, o);
	if (o->kind == OP_CREATE || o->kind == OP_MKDIR || o->kind == OP_SYMLINK)
		return do_new(site, &s, o);
	if (!s.exists)
		return -ENOENT;
	switch (o->kind) {
	case OP_UNLINK:
		return do_unlink(v, &s);
	case OP_RMDIR:
		return change_rmdir(v, o->path, &s.f);
	case OP_CHMOD:
	case OP_UTIMENS:
		return do_attr(site, &s, o);
	default:
		return do_data(site, &s, o);
	}
}

static int view_list(struct site *site, const char *dir, struct shown_list *ret)
{
	const struct stack *st = &site->view->stack;
	cleanup_listing struct listing *l = NULL;
	cleanup_dirset struct dirset ds;
	struct found f;
	int r = stack_lookup(st, dir, &f);

	dirset_init(&ds);
	if (!r)
		r = stack_open_dir(st, dir, f.parts, &ds);
	if (!r)
		r = listing_read(st, &ds, &l);
	if (r < 0)
		return r;
	ret->n = 0;
	for (size_t i = 0; i < l->n; i++) {
		struct shown_name *s = &ret->v[ret->n++];

		if (ret->n > NAMES_MAX)
			return -E2BIG;
		(void)snprintf(s->name, sizeof(s->name), "%s", l->v[i].name);
		s->ino = l->v[i].ino;
		s->type = l->v[i].type;
	}
	return 0;
}

static int read_bytes(const struct stack *st, const char *path, const struct found *f,
		      struct shown *ret)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	cleanup_fd int fd = -1;
	ssize_t n;

	if (ret->kind == KIND_LINK) {
		int r = stack_readlink(st, path, f, &text);

		if (r < 0)
			return r;
		ret->len = text.len < sizeof(ret->bytes) ? text.len : sizeof(ret->bytes);
		memcpy(ret->bytes, text.buf, ret->len);
		return 0;
	}
	if (f->virtual) {
		ret->len = strlen(stack_virtual_content(st, f));
		memcpy(ret->bytes, stack_virtual_content(st, f), ret->len);
		return 0;
	}
	fd = stack_open_file(st, path, f, O_RDONLY);
	if (fd < 0)
		return fd;
	n = read(fd, ret->bytes, sizeof(ret->bytes));
	if (n < 0)
		return -errno;
	ret->len = (size_t)n;
	return 0;
}

static int view_look(struct site *site, const char *path, struct shown *ret)
{
	const struct stack *st = &site->view->stack;
	struct found f;
	int r = stack_lookup(st, path, &f);

	if (r < 0)
		return r;
	*ret = (struct shown){
		.kind = S_ISDIR(f.st.st_mode)	? KIND_DIR
			: S_ISLNK(f.st.st_mode) ? KIND_LINK
						: KIND_FILE,
		.mode = f.st.st_mode & 07777,
		.ino = f.st.st_ino,
		.nlink = f.st.st_nlink,
		.mtime = f.st.st_mtim,
	};
	return ret->kind == KIND_DIR ? 0 : read_bytes(st, path, &f, ret);
}

static int view_start(struct site *s)
{
	cleanup_diag struct diag d = DIAG_INIT;
	struct view_options o;
	int r = site_options(s, &o);

	if (!r)
		r = view_open(&o, &d, &s->view);
	site_options_clear(&o);
	if (r < 0)
		fprintf(stderr, "view_open: %s: %s\n", strerror(-r), d.lines.n ? d.lines.v[0] : "");
	else if (s->view->n_recovered)
		fprintf(stderr, "%u interim objects were left over\n", s->view->n_recovered);
	return !r && s->view->n_recovered ? -EBADMSG : r;
}

static void view_stop(struct site *s)
{
	view_free(s->view);
	s->view = NULL;
}

const struct backend view_backend = {
	.start = view_start,
	.stop = view_stop,
	.apply = view_apply,
	.list = view_list,
	.look = view_look,
};
