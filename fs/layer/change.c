/* SPDX-License-Identifier: MIT */
/*
 * New objects of a view, and preparing existing ones for an edit: see change.h. Removal is in
 * remove.c, renaming in rename.c.
 */
#include "layer/change.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "layer/base.h"
#include "layer/copyobj.h"
#include "layer/copyup.h"
#include "layer/interim.h"
#include "layer/linktext.h"
#include "layer/made.h"
#include "layer/mark.h"
#include "layer/remove.h"
#include "layer/whiteout.h"

/* What is to be made. */
struct novelty {
	mode_t mode; /* type and permissions */
	dev_t rdev;
	const char *text; /* of a symlink */
	uid_t uid;
	gid_t gid;
};

/* Where it is made. */
struct place {
	unsigned layer;
	const char *path; /* view path */
	int dir_fd;	  /* of the layer; owned */
	const char *name;
	bool alone; /* scratch only has the directory: nothing can be below */
};

static void place_clear(struct place *p)
{
	if (p->dir_fd >= 0)
		close(p->dir_fd);
}

#define cleanup_place CLEANUP(place_clear)

static int place_open(struct view *v, const char *path, unsigned layer, const struct found *parent,
		      struct place *ret)
{
	if (!v->work)
		return -EROFS;
	ret->layer = layer;
	ret->path = path;
	ret->alone = parent->parts == 1;
	ret->dir_fd = copyup_parents(v, path, layer, &ret->name);
	return ret->dir_fd < 0 ? ret->dir_fd : 0;
}

static int place_find(struct view *v, const char *path, mode_t mode, const struct found *parent,
		      struct place *ret)
{
	struct route route;
	int r = route_new(v, path, mode, parent, &route);

	return r < 0 ? r : place_open(v, path, route.layer, parent, ret);
}

/* New objects belong to the caller; in a set-gid directory, to its group. */
static struct novelty novelty_for(mode_t mode, const struct found *parent, const struct cred *who)
{
	return (struct novelty){
		.mode = mode,
		.uid = who->uid,
		.gid = parent->st.st_mode & S_ISGID ? parent->st.st_gid : who->gid,
	};
}

static int make_object(int dir_fd, const char *name, const struct novelty *n, int *ret_fd)
{
	int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int r;

	switch (n->mode & S_IFMT) {
	case S_IFREG:
		*ret_fd = openat(dir_fd, name, flags, n->mode & 07777);
		return *ret_fd < 0 ? -errno : 0;
	case S_IFDIR:
		r = mkdirat(dir_fd, name, n->mode & 07777);
		break;
	case S_IFLNK:
		r = symlinkat(n->text, dir_fd, name);
		break;
	default:
		r = mknodat(dir_fd, name, n->mode, n->rdev);
		break;
	}
	return r < 0 ? -errno : 0;
}

/*
 * Owner, and the set-id bits that a change of owner drops. A file is known by @fd: by its name
 * others may have put another one there. Returns -ESTALE if that is so with another kind.
 */
static int own_object(int dir_fd, const char *name, int fd, const struct novelty *n,
		      struct object *o)
{
	int r;

	if (fd >= 0) {
		dir_fd = fd;
		name = "";
	}
	r = object_stat(dir_fd, name, o);
	if (!r && (o->st.st_mode ^ n->mode) & S_IFMT)
		return -ESTALE;
	if (r < 0 || (o->st.st_uid == n->uid && o->st.st_gid == n->gid))
		return r;
	r = copyobj_chown(dir_fd, name, &o->st, n->uid, n->gid);
	if (!r && fd >= 0 && n->mode & (S_ISUID | S_ISGID) && fchmod(fd, n->mode & 07777) < 0)
		r = -errno;
	return r < 0 ? r : object_stat(dir_fd, name, o);
}

static int remove_object(int dir_fd, const char *name, mode_t mode)
{
	return unlinkat(dir_fd, name, S_ISDIR(mode) ? AT_REMOVEDIR : 0);
}

/*
 * Make it under its final name, which must be free. Returns -ESTALE, so that it is tried again, if
 * others have taken it away at once.
 */
static int make_new(const struct place *p, const struct novelty *n, struct object *o, int *ret_fd)
{
	cleanup_fd int fd = -1;
	int r = make_object(p->dir_fd, p->name, n, &fd);

	if (r < 0)
		return r;
	r = own_object(p->dir_fd, p->name, fd, n, o);
	if (r == -ESTALE || r == -ENOENT)
		return -ESTALE;
	if (r < 0) {
		(void)remove_object(p->dir_fd, p->name, n->mode); /* @r tells why */
		return r;
	}
	*ret_fd = steal_fd(&fd);
	return 0;
}

/* Make it over a whiteout, or over something that scratch has but the view does not show. */
static int make_over(struct view *v, const struct place *p, const struct novelty *n,
		     struct object *o, int *ret_fd)
{
	cleanup_interim struct interim i = INTERIM_INIT;
	cleanup_fd int fd = -1;
	struct found f;
	int r;

	if (!whiteout_is(p->dir_fd, p->name)) {
		r = stack_lookup(&v->stack, p->path, &f);
		if (r != -ENOENT)
			return r < 0 ? r : -EEXIST;
	}
	r = interim_begin(v, p->layer, p->path, p->dir_fd, &i);
	if (!r)
		r = make_object(i.dir_fd, i.name, n, &fd);
	if (!r && S_ISDIR(n->mode)) {
		cleanup_fd int dir = openat(i.dir_fd, i.name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

		r = dir < 0 ? -errno : mark_set(dir, MARK_OPAQUE);
	}
	if (!r)
		r = own_object(i.dir_fd, i.name, fd, n, o);
	if (!r)
		r = interim_publish_over(&i, p->dir_fd, p->name);
	if (r < 0)
		return r;
	*ret_fd = steal_fd(&fd);
	return 0;
}

/* Make a new object in the layer that takes it. */
static int make(struct view *v, const struct place *p, const struct novelty *n, struct object *o,
		int *ret_fd)
{
	int r = S_ISREG(n->mode) ? base_record_new(&v->stack, p->layer, p->path) : 0;

	if (!r)
		r = make_new(p, n, o, ret_fd);
	if (r == -EEXIST && p->layer == 0)
		return make_over(v, p, n, o, ret_fd);
	if (r < 0 || p->layer == 0)
		return r;
	made_add(&v->stack, p->layer, p->path, o);
	remove_undo_hide(v, p->path, p->layer, o);
	r = whiteout_drop(v, p->path);
	if (r < 0) {
		(void)remove_object(p->dir_fd, p->name, n->mode); /* @r tells what failed */
		if (*ret_fd >= 0)
			close(*ret_fd);
		*ret_fd = -1;
	}
	return r;
}

/*
 * What the view shows of the new directory in @dir: other layers may have a part in it. -ESTALE as
 * above: the kernel would call another object at that name an error of ours.
 */
static int look_at_dir(struct view *v, const struct place *p, const char *dir,
		       const struct found *parent, struct found *ret)
{
	cleanup_dirset struct dirset ds;
	struct found f;
	int r;

	dirset_init(&ds);
	r = stack_open_dir(&v->stack, dir, parent->parts | UINT64_C(1) << p->layer, &ds);
	if (!r)
		r = stack_child(&v->stack, &ds, p->name, &f);
	if (r == -ENOENT || (!r && !S_ISDIR(f.st.st_mode)))
		return -ESTALE;
	if (!r)
		*ret = f;
	return r;
}

static int describe(struct view *v, const struct place *p, const struct object *o,
		    struct found *ret)
{
	*ret = (struct found){
		.layer = p->layer,
		.generation = v->stack.generation,
		.obj = *o,
		.st = o->st,
		.parts = S_ISDIR(o->st.st_mode) ? UINT64_C(1) << p->layer : 0,
	};
	ret->st.st_ino = inomap_file(v->stack.inos, o->st.st_dev, o->st.st_ino);
	return 0;
}

/* Make it at @p and say what the view shows then. */
static int make_at(struct view *v, const struct place *p, const char *dir,
		   const struct found *parent, const struct novelty *n, struct found *ret,
		   int *ret_fd)
{
	cleanup_fd int fd = -1;
	struct object o;
	int r = make(v, p, n, &o, &fd);

	if (S_ISDIR(n->mode))
		view_changed(v);
	if (!r && S_ISDIR(o.st.st_mode) && !(p->layer == 0 && p->alone))
		r = look_at_dir(v, p, dir, parent, ret);
	else if (!r)
		r = describe(v, p, &o, ret);
	if (!r && ret_fd)
		*ret_fd = steal_fd(&fd);
	return r;
}

static int change_new(struct view *v, const char *dir, const struct found *parent, const char *name,
		      const struct novelty *n, struct found *ret)
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	cleanup_place struct place p = { .dir_fd = -1 };
	struct novelty mine = *n;
	int r = path_join(&path, dir, name);

	if (!r)
		r = place_find(v, path.buf, n->mode, parent, &p);
	if (!r && n->text) {
		r = linktext_for(&v->stack.layers[p.layer], path.buf, n->text, &text);
		mine.text = text.buf;
	}
	return r < 0 ? r : make_at(v, &p, dir, parent, &mine, ret, NULL);
}

/* A file in a directory that only scratch has: one call makes it. Returns 1 if it takes more. */
static int create_fast(struct view *v, const char *path, const struct novelty *n, struct found *ret,
		       int *ret_fd)
{
	struct place p = { .layer = 0, .path = path, .dir_fd = -1, .alone = true };
	cleanup_fd int fd =
		layer_open(&v->stack.layers[0], path, O_RDWR | O_CREAT | O_EXCL, n->mode & 07777);
	struct object o;
	int r;

	if (fd < 0)
		return fd == -EEXIST || fd == -ENOENT ? 1 : fd;
	r = own_object(-1, "", fd, n, &o);
	if (!r)
		r = describe(v, &p, &o, ret);
	if (r < 0) {
		const char *name;
		cleanup_fd int dir = fd_open_parent(v->stack.layers[0].base_fd, path, &name);

		if (dir >= 0)
			(void)unlinkat(dir, name, 0); /* @r tells what failed */
		return r;
	}
	*ret_fd = steal_fd(&fd);
	return 0;
}

int change_create(struct view *v, const char *dir, const struct found *parent, const char *name,
		  mode_t mode, const struct cred *who, struct found *ret, int *ret_fd)
{
	struct novelty n = novelty_for(S_IFREG | (mode & 07777), parent, who);
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	cleanup_place struct place p = { .dir_fd = -1 };
	struct route route = { 0 };
	int r = path_join(&path, dir, name);

	if (!r)
		r = route_new(v, path.buf, S_IFREG, parent, &route);
	if (r < 0)
		return r;
	if (!route.layer && parent->parts & 1 && v->work) {
		r = create_fast(v, path.buf, &n, ret, ret_fd);
		if (r <= 0)
			return r;
	}
	r = place_open(v, path.buf, route.layer, parent, &p);
	return r < 0 ? r : make_at(v, &p, dir, parent, &n, ret, ret_fd);
}

int change_tmpfile(struct view *v, const char *dir, const struct found *parent, mode_t mode,
		   const struct cred *who, struct found *ret, int *ret_fd)
{
	struct novelty n = novelty_for(S_IFREG | (mode & 07777), parent, who);
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	cleanup_place struct place p = { .dir_fd = -1 };
	cleanup_fd int fd = -1;
	struct object o;
	int r = path_join(&path, dir, "tmpfile"); /* any name: it says which rules hold there */

	if (!r)
		r = place_find(v, path.buf, S_IFREG, parent, &p);
	if (r < 0)
		return r;
	fd = openat(p.dir_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, n.mode & 07777);
	if (fd < 0)
		return errno == EISDIR || errno == EINVAL ? -EOPNOTSUPP : -errno;
	r = own_object(-1, "", fd, &n, &o);
	if (!r)
		r = describe(v, &p, &o, ret);
	if (r < 0)
		return r;
	*ret_fd = steal_fd(&fd);
	return 0;
}

int change_mknod(struct view *v, const char *dir, const struct found *parent, const char *name,
		 mode_t mode, dev_t rdev, const struct cred *who, struct found *ret)
{
	struct novelty n = novelty_for(mode & S_IFMT ? mode : mode | S_IFREG, parent, who);

	n.rdev = rdev;
	return change_new(v, dir, parent, name, &n, ret);
}

int change_mkdir(struct view *v, const char *dir, const struct found *parent, const char *name,
		 mode_t mode, const struct cred *who, struct found *ret)
{
	struct novelty n = novelty_for(S_IFDIR | (mode & 07777), parent, who);

	return change_new(v, dir, parent, name, &n, ret);
}

int change_symlink(struct view *v, const char *dir, const struct found *parent, const char *name,
		   const char *text, const struct cred *who, struct found *ret)
{
	struct novelty n = novelty_for(S_IFLNK | 0777, parent, who);

	n.text = text;
	return change_new(v, dir, parent, name, &n, ret);
}

int change_prepare(struct view *v, const char *path, struct found *f, off_t size)
{
	struct route route;
	int r = route_existing(v, path, f, ROUTE_EDIT, &route);

	if (r < 0)
		return r;
	if (!v->work)
		return -EROFS;
	return route.in_place ? 0 : copyup(v, path, f, route.layer, size);
}

static int set_mode(int fd, mode_t mode)
{
	char path[32];

	return chmod(fd_proc_path(fd, path), mode & 07777) < 0 ? -errno : 0;
}

static int set_times(int fd, const struct attr_change *c)
{
	struct timespec omit = { .tv_nsec = UTIME_OMIT };
	struct timespec times[2] = {
		c->valid & CHANGE_ATIME ? c->atime : omit,
		c->valid & CHANGE_MTIME ? c->mtime : omit,
	};
	char path[32];

	if (!utimensat(fd, "", times, AT_EMPTY_PATH))
		return 0;
	/* kernels before 5.8 know no empty path here; /proc names don't reach a symlink */
	if (errno != EINVAL)
		return -errno;
	return utimensat(AT_FDCWD, fd_proc_path(fd, path), times, 0) < 0 ? -errno : 0;
}

int change_attrs(int fd, const struct attr_change *c)
{
	int r = 0;

	if (c->valid & (CHANGE_UID | CHANGE_GID) &&
	    fchownat(fd, "", c->valid & CHANGE_UID ? c->uid : (uid_t)-1,
		     c->valid & CHANGE_GID ? c->gid : (gid_t)-1, AT_EMPTY_PATH) < 0)
		r = -errno;
	/* after the owner, whose change drops set-id bits */
	if (!r && c->valid & CHANGE_MODE)
		r = set_mode(fd, c->mode);
	if (!r && c->valid & (CHANGE_ATIME | CHANGE_MTIME))
		r = set_times(fd, c);
	return r;
}
