/* SPDX-License-Identifier: MIT */
/* Changing attributes and sizes. O_TRUNC comes here too. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "layer/change.h"
#include "ops/attr.h"
#include "ops/edit.h"
#include "ops/entry.h"
#include "ops/firm.h"
#include "ops/ops.h"
#include "ops/place.h"
#include "ops/reply.h"
#include "ops/size.h"

static void to_change(const struct stat *st, int valid, struct attr_change *c)
{
	*c = (struct attr_change){
		.mode = st->st_mode & 07777,
		.uid = st->st_uid,
		.gid = st->st_gid,
		.atime = st->st_atim,
		.mtime = st->st_mtim,
	};
	c->valid |= valid & FUSE_SET_ATTR_MODE ? CHANGE_MODE : 0;
	c->valid |= valid & FUSE_SET_ATTR_UID ? CHANGE_UID : 0;
	c->valid |= valid & FUSE_SET_ATTR_GID ? CHANGE_GID : 0;
	c->valid |= valid & (FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_ATIME_NOW) ? CHANGE_ATIME : 0;
	c->valid |= valid & (FUSE_SET_ATTR_MTIME | FUSE_SET_ATTR_MTIME_NOW) ? CHANGE_MTIME : 0;
	if (valid & FUSE_SET_ATTR_ATIME_NOW)
		c->atime.tv_nsec = UTIME_NOW;
	if (valid & FUSE_SET_ATTR_MTIME_NOW)
		c->mtime.tv_nsec = UTIME_NOW;
}

static int set_size(struct server *srv, struct node *n, off_t size, const struct caller *who)
{
	cleanup_handle struct handle *h = NULL;
	struct size_ends before;
	int r = edit_open_write(srv, n, size, &h);

	if (r < 0)
		return r;
	size_own(n, size, &before);
	if (ftruncate(h->fd, size) < 0) {
		r = -errno;
		size_undo(n, size, 0, &before);
		return r;
	}
	return edit_drop_privileges(srv, n, h, who);
}

/* Would the new mode keep us from opening the file once more as its owner? */
static bool loses_access(const struct server *srv, const struct node *n,
			 const struct attr_change *c)
{
	return !srv->is_root && n->type == S_IFREG && (c->valid & CHANGE_MODE) &&
	       (c->mode & (S_IRUSR | S_IWUSR)) != (S_IRUSR | S_IWUSR);
}

/* What the node and its descriptors know of the mode. */
static void note_mode(struct server *srv, struct node *n, const struct attr_change *c)
{
	cleanup_handle struct handle *h = NULL;

	if (!(c->valid & CHANGE_MODE))
		return;
	table_set_mode(srv->table, n, c->mode);
	h = handle_get(srv->slots, n, HANDLE_WRITE);
	if (h)
		atomic_store(&h->has_setid, c->mode & (S_ISUID | S_ISGID));
}

static int set(struct server *srv, struct node *n, int fd, const struct attr_change *c)
{
	int r = change_attrs(fd, c);

	if (!r)
		note_mode(srv, n, c);
	return r;
}

/* The same, with descriptors opened while they can be had. */
static int set_kept(struct server *srv, struct node *n, int fd, const struct attr_change *c)
{
	struct handle *kept = edit_keep(srv, n, true);
	int r = set(srv, n, fd, c);

	handle_put(kept);
	return r;
}

static bool is_time(const struct timespec *t, const struct timespec *want)
{
	return t->tv_sec == want->tv_sec && t->tv_nsec == want->tv_nsec;
}

static bool is_as_wanted(const struct stat *st, const struct attr_change *c)
{
	return !(c->valid & CHANGE_UID && st->st_uid != c->uid) &&
	       !(c->valid & CHANGE_GID && st->st_gid != c->gid) &&
	       !(c->valid & CHANGE_MODE && (st->st_mode & 07777) != c->mode) &&
	       !(c->valid & CHANGE_ATIME && !is_time(&st->st_atim, &c->atime)) &&
	       !(c->valid & CHANGE_MTIME && !is_time(&st->st_mtim, &c->mtime));
}

/* Would a copy be made that differs in nothing? `chmod -R` must not specialize a whole tree. */
static bool is_idle_copy(struct server *srv, struct node *n, const struct attr_change *c)
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	struct route route;
	struct found f;
	struct stat st;

	return attr_get_held(srv, n, &st) == 0 && is_as_wanted(&st, c) &&
	       table_where(srv->table, n, &path, &f) == 0 &&
	       route_existing(srv->view, path.buf, &f, ROUTE_EDIT, &route) == 0 && !route.in_place;
}

static int set_attrs_held(struct server *srv, struct node *n, const struct attr_change *c)
{
	cleanup_handle struct handle *h = handle_get(srv->slots, n, HANDLE_WRITE);
	cleanup_fd int fd = -1;
	int r;

	if (!h && is_idle_copy(srv, n, c))
		return 0;
	if (!h) {
		r = edit_prepare(srv, n, &fd);
		if (r < 0)
			return r;
	}
	return loses_access(srv, n, c) ? set_kept(srv, n, h ? h->fd : fd, c)
				       : set(srv, n, h ? h->fd : fd, c);
}

static int set_attrs(struct server *srv, struct node *n, const struct attr_change *c)
{
	int r;

	tree_read(srv);
	node_begin(n);
	r = set_attrs_held(srv, n, c);
	node_end(n);
	tree_done(srv);
	return r;
}

static int setattr(struct server *srv, struct node *n, const struct stat *st, int valid,
		   const struct caller *who)
{
	struct attr_change c;
	int r = valid & FUSE_SET_ATTR_SIZE ? set_size(srv, n, st->st_size, who) : 0;

	if (r < 0)
		return r;
	to_change(st, valid, &c);
	return c.valid ? set_attrs(srv, n, &c) : 0;
}

/* What a reply tells after that. */
static int now(struct server *srv, struct node *n, int valid, struct stat *ret, double *ret_timeout)
{
	int r = attr_get(srv, n, ret);

	if (r < 0)
		return r;
	*ret_timeout = entry_is_followed(srv, n) ? entry_timeout(srv, n) : 0;
	if (valid & FUSE_SET_ATTR_SIZE)
		size_set(n, ret->st_size);
	else
		size_tell(srv, n, ret, ret_timeout);
	return 0;
}

static void reply_set(struct server *srv, fuse_req_t req, struct node *n, int valid)
{
	struct stat told;
	double timeout = 0;
	int r;

	firm_begin(n);
	r = now(srv, n, valid, &told, &timeout);
	reply_attr(req, r, &told, timeout);
	firm_end(n);
	if (!r && timeout == 0)
		size_told(srv, n->id, &told);
}

void op_setattr(fuse_req_t req, fuse_ino_t id, struct stat *st, int valid,
		struct fuse_file_info *fi)
{
	struct server *srv = server_of(req, REQ_SETATTR);
	cleanup_node struct node *n = NULL;
	struct caller who = server_caller(req);
	int r = server_node(srv, id, &n);

	if (!r)
		r = setattr(srv, n, st, valid, &who);
	if (r < 0)
		reply_err(req, r);
	else
		reply_set(srv, req, n, valid);
}
