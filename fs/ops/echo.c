/* SPDX-License-Identifier: MIT */
/* Echoes: see echo.h. */
#include "ops/echo.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "ops/entry.h"
#include "ops/ops.h"
#include "ops/reply.h"

/* What the kernel gets for a name that has gone, so that it can remove it: numbers of no node. */
enum { GHOST_FILE = NODE_FIRST - 1, GHOST_DIR = NODE_FIRST - 2 };

struct echo {
	_Atomic pid_t helper;
	_Atomic uint64_t ghosts;

	pthread_mutex_t lock; /* guards what follows */
	enum echo_kind kind;
	uint64_t dir;
	mode_t type;
	bool seen;
	bool made;              /* the helper has the name that came: for it, too, it is there */
	char name[NAME_MAX + 1];
};

int echo_new(struct echo **ret)
{
	struct echo *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	pthread_mutex_init(&e->lock, NULL);
	*ret = e;
	return 0;
}

void echo_free(struct echo *e)
{
	if (!e)
		return;
	pthread_mutex_destroy(&e->lock);
	free(e);
}

void echo_set_helper(struct echo *e, pid_t pid)
{
	atomic_store(&e->helper, pid);
}

void echo_begin(struct echo *e, enum echo_kind kind, uint64_t dir, const char *name, mode_t type)
{
	pthread_mutex_lock(&e->lock);
	e->kind = kind;
	e->dir = dir;
	e->type = type;
	e->seen = false;
	e->made = false;
	strncpy(e->name, name, sizeof(e->name) - 1);
	pthread_mutex_unlock(&e->lock);
}

bool echo_end(struct echo *e)
{
	bool seen;

	pthread_mutex_lock(&e->lock);
	seen = e->seen;
	e->kind = ECHO_NOTHING;
	pthread_mutex_unlock(&e->lock);
	return seen;
}

static bool from_helper(const struct server *srv, fuse_req_t req)
{
	pid_t helper = srv->echo ? atomic_load(&srv->echo->helper) : 0;

	return helper && fuse_req_ctx(req)->pid == helper;
}

/* What the helper is to do with this name; its request for that has come now. */
static enum echo_kind kind_of(const struct server *srv, uint64_t dir, const char *name,
			      mode_t *ret_type)
{
	struct echo *e = srv->echo;
	enum echo_kind kind = ECHO_NOTHING;

	pthread_mutex_lock(&e->lock);
	if (e->dir == dir && !strcmp(e->name, name)) {
		kind = e->kind;
		*ret_type = e->type;
		e->seen = true;
	}
	pthread_mutex_unlock(&e->lock);
	return kind;
}

/* A name that came is not there for the helper until it has made it; then it may ask again. */
static enum echo_kind looked_up(const struct server *srv, uint64_t dir, const char *name,
				mode_t *ret_type)
{
	enum echo_kind kind = kind_of(srv, dir, name, ret_type);
	struct echo *e = srv->echo;

	pthread_mutex_lock(&e->lock);
	if (kind == ECHO_CAME && e->made)
		kind = ECHO_NOTHING;
	pthread_mutex_unlock(&e->lock);
	return kind;
}

static void set_made(struct echo *e)
{
	pthread_mutex_lock(&e->lock);
	e->made = true;
	pthread_mutex_unlock(&e->lock);
}

static void reply_ghost(const struct server *srv, fuse_req_t req, mode_t type)
{
	uint64_t id = type == S_IFDIR ? GHOST_DIR : GHOST_FILE;
	struct fuse_entry_param e = {
		.ino = id,
		.generation = atomic_fetch_add(&srv->echo->ghosts, 1) + 1,
		.attr = { .st_ino = id,
			  .st_mode = (type == S_IFDIR ? S_IFDIR : S_IFREG) | 0700,
			  .st_nlink = 1,
			  .st_uid = geteuid(),
			  .st_gid = getegid() },
	};

	(void)fuse_reply_entry(req, &e); /* nothing counts it */
}

static void echo_lookup(fuse_req_t req, fuse_ino_t dir, const char *name)
{
	struct server *srv = fuse_req_userdata(req);
	mode_t type = 0;
	enum echo_kind kind =
		from_helper(srv, req) ? looked_up(srv, dir, name, &type) : ECHO_NOTHING;

	if (kind == ECHO_CAME || kind == ECHO_PROBE)
		reply_err(req, -ENOENT);
	else if (kind == ECHO_GONE)
		reply_ghost(srv, req, type);
	else
		op_lookup(req, dir, name);
}

/* The helper makes a name that is there: it gets what it is. */
static void reply_made(struct server *srv, fuse_req_t req, uint64_t dir, const char *name,
		       mode_t mode)
{
	struct fuse_entry_param e = { 0 };
	mode_t type = 0;
	int r = kind_of(srv, dir, name, &type) == ECHO_CAME ? entry_lookup(srv, dir, name, &e)
							    : -EPERM;

	if (!r && ((e.attr.st_mode ^ mode) & S_IFMT)) {
		table_forget(srv->table, e.ino, 1);
		r = -EEXIST; /* another one by now */
	}
	if (r < 0) {
		reply_err(req, r);
		return;
	}
	set_made(srv->echo); /* first: the kernel may ask again at once */
	reply_entry(srv, req, 0, &e);
}

static void echo_mknod(fuse_req_t req, fuse_ino_t dir, const char *name, mode_t mode, dev_t rdev)
{
	struct server *srv = fuse_req_userdata(req);

	if (from_helper(srv, req))
		reply_made(srv, req, dir, name, mode);
	else
		op_mknod(req, dir, name, mode, rdev);
}

static void echo_mkdir(fuse_req_t req, fuse_ino_t dir, const char *name, mode_t mode)
{
	struct server *srv = fuse_req_userdata(req);

	if (from_helper(srv, req))
		reply_made(srv, req, dir, name, S_IFDIR);
	else
		op_mkdir(req, dir, name, mode);
}

static void echo_symlink(fuse_req_t req, const char *text, fuse_ino_t dir, const char *name)
{
	struct server *srv = fuse_req_userdata(req);

	if (from_helper(srv, req))
		reply_made(srv, req, dir, name, S_IFLNK);
	else
		op_symlink(req, text, dir, name);
}

static void reply_removed(const struct server *srv, fuse_req_t req, uint64_t dir, const char *name)
{
	mode_t type;

	reply_err(req, kind_of(srv, dir, name, &type) == ECHO_GONE ? 0 : -EPERM);
}

static void echo_unlink(fuse_req_t req, fuse_ino_t dir, const char *name)
{
	struct server *srv = fuse_req_userdata(req);

	if (from_helper(srv, req))
		reply_removed(srv, req, dir, name);
	else
		op_unlink(req, dir, name);
}

static void echo_rmdir(fuse_req_t req, fuse_ino_t dir, const char *name)
{
	struct server *srv = fuse_req_userdata(req);

	if (from_helper(srv, req))
		reply_removed(srv, req, dir, name);
	else
		op_rmdir(req, dir, name);
}

/* Who hears of it will read: not before the old pages are gone. */
static void echo_setattr(fuse_req_t req, fuse_ino_t id, struct stat *st, int valid,
			 struct fuse_file_info *fi)
{
	struct server *srv = fuse_req_userdata(req);

	if (!from_helper(srv, req)) {
		op_setattr(req, id, st, valid, fi);
		return;
	}
	pthread_mutex_lock(&srv->echo->lock);
	srv->echo->seen = true;
	pthread_mutex_unlock(&srv->echo->lock);
	if (!(valid & FUSE_SET_ATTR_SIZE) || !srv->attr_later ||
		 !srv->attr_later(srv->watch_arg, id, req))
		op_getattr(req, id, fi);
}

/* What the helper never asks for, it gets never. */
static void echo_create(fuse_req_t req, fuse_ino_t dir, const char *name, mode_t mode,
			struct fuse_file_info *fi)
{
	if (from_helper(fuse_req_userdata(req), req))
		reply_err(req, -EPERM);
	else
		op_create(req, dir, name, mode, fi);
}

static void echo_write_buf(fuse_req_t req, fuse_ino_t id, struct fuse_bufvec *in, off_t offset,
			   struct fuse_file_info *fi)
{
	if (from_helper(fuse_req_userdata(req), req))
		reply_err(req, -EPERM);
	else
		op_write_buf(req, id, in, offset, fi);
}

void echo_ops(struct fuse_lowlevel_ops *ret)
{
	*ret = server_ops;
	ret->lookup = echo_lookup;
	ret->mknod = echo_mknod;
	ret->mkdir = echo_mkdir;
	ret->symlink = echo_symlink;
	ret->unlink = echo_unlink;
	ret->rmdir = echo_rmdir;
	ret->setattr = echo_setattr;
	ret->create = echo_create;
	ret->write_buf = echo_write_buf;
}
