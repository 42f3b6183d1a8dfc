/* SPDX-License-Identifier: MIT */
/* Making files, and what is done to open ones besides reading and writing. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "layer/change.h"
#include "ops/edit.h"
#include "ops/entry.h"
#include "ops/hidden.h"
#include "ops/ops.h"
#include "ops/refusal.h"
#include "ops/reply.h"
#include "ops/size.h"

enum { MAX_TRIES = 100 };

void op_open(fuse_req_t req, fuse_ino_t id, struct fuse_file_info *fi)
{
	struct server *srv = server_of(req, REQ_OPEN);

	if (srv->no_open) {
		reply_err(req, -ENOSYS);
		return;
	}
	fi->fh = 0;
	fi->keep_cache = 1;
	(void)fuse_reply_open(req, fi);
}

struct creation {
	const char *name;
	mode_t mode;
	mode_t mask;
	bool excl;
	struct cred who;
};

static int create_held(struct place *p, const struct creation *c, struct fuse_entry_param *ret)
{
	mode_t mode = place_new_mode(p, c->mode, c->mask);
	struct server *srv = p->srv;
	cleanup_node struct node *n = NULL;
	cleanup_handle struct handle *h = NULL;
	cleanup_fd int fd = -1;
	struct found f;
	int r = change_create(srv->view, p->path.buf, &p->found, c->name, mode, &c->who, &f, &fd);

	if (r == -EROFS && place_child_path(p, c->name))
		return refusal_note(srv, r, p->child.buf, &p->found, ROUTE_CREATE);
	if (r < 0)
		return r;
	r = entry_enter(p, c->name, &f, true, NULL, ret);
	if (r < 0)
		return r;
	place_add_part(srv, p->dir, f.layer);
	r = server_node(srv, ret->ino, &n);
	/* the descriptor can write even if the mode says that nobody may */
	if (!r)
		r = handle_install(srv->slots, n, HANDLE_WRITE, steal_fd(&fd), true, &h);
	if (r < 0)
		table_forget(srv->table, ret->ino, 1);
	else
		atomic_store(&h->has_setid, f.st.st_mode & (S_ISUID | S_ISGID));
	return r;
}

static int create(struct server *srv, uint64_t dir, const struct creation *c,
		  struct fuse_entry_param *ret)
{
	cleanup_place struct place p = PLACE_INIT;
	int r;

	if (hidden_has(dir, c->name))
		return -EPERM;
	r = place_open(srv, dir, &p);
	if (!r)
		r = create_held(&p, c, ret);
	/* somebody made it underneath meanwhile: the kernel looks again, then opens it */
	return r == -EEXIST && !c->excl ? -ESTALE : r;
}

void op_create(fuse_req_t req, fuse_ino_t dir, const char *name, mode_t mode,
	       struct fuse_file_info *fi)
{
	struct server *srv = server_of(req, REQ_CREATE);
	const struct fuse_ctx *ctx = fuse_req_ctx(req);
	struct creation c = {
		.name = name,
		.mode = mode & 07777,
		.mask = ctx->umask,
		.excl = fi->flags & O_EXCL,
		.who = { .uid = ctx->uid, .gid = ctx->gid },
	};
	struct fuse_entry_param e;
	int r = create(srv, dir, &c, &e);

	fi->fh = 0;
	fi->keep_cache = 1;
	reply_created(srv, req, r, &e, fi);
}

#ifdef HAVE_FUSE_TMPFILE
static int tmpfile_held(struct place *p, const struct creation *c, struct fuse_entry_param *ret)
{
	mode_t mode = place_new_mode(p, c->mode, c->mask);
	struct server *srv = p->srv;
	cleanup_node struct node *n = NULL;
	cleanup_handle struct handle *h = NULL;
	cleanup_fd int fd = -1;
	struct found f;
	int r = change_tmpfile(srv->view, p->path.buf, &p->found, mode, &c->who, &f, &fd);

	if (!r)
		r = table_enter_nameless(srv->table, &f, &n);
	if (r < 0)
		return r;
	place_add_part(srv, p->dir, f.layer);
	*ret = (struct fuse_entry_param){ .ino = n->id, .generation = 1, .attr = f.st };
	size_tell(srv, n, &ret->attr, &ret->attr_timeout);
	r = handle_install(srv->slots, n, HANDLE_WRITE, steal_fd(&fd), true, &h);
	if (r < 0)
		table_forget(srv->table, n->id, 1);
	else
		atomic_store(&h->has_setid, f.st.st_mode & (S_ISUID | S_ISGID));
	return r;
}

void op_tmpfile(fuse_req_t req, fuse_ino_t dir, mode_t mode, struct fuse_file_info *fi)
{
	struct server *srv = server_of(req, REQ_CREATE);
	const struct fuse_ctx *ctx = fuse_req_ctx(req);
	cleanup_place struct place p = PLACE_INIT;
	struct creation c = {
		.mode = mode & 07777,
		.mask = ctx->umask,
		.who = { .uid = ctx->uid, .gid = ctx->gid },
	};
	struct fuse_entry_param e;
	int r = hidden_is(dir) ? -EPERM : place_open(srv, dir, &p);

	if (!r)
		r = tmpfile_held(&p, &c, &e);
	fi->fh = 0;
	fi->keep_cache = 1;
	place_close(&p); /* before the reply, after which the caller goes on */
	reply_created(srv, req, r, &e, fi);
}
#endif

static int sync_file(struct server *srv, uint64_t id, bool data_only)
{
	cleanup_node struct node *n = NULL;
	cleanup_handle struct handle *h = NULL;
	int r;

	if (hidden_is(id))
		return 0;
	r = server_node(srv, id, &n);
	if (r < 0)
		return r;
	h = handle_get(srv->slots, n, HANDLE_WRITE);
	if (!h)
		r = edit_open_read(srv, n, &h);
	if (r < 0)
		return r == -EIO ? 0 : r; /* made by a rule: nothing to sync */
	r = data_only ? fdatasync(h->fd) : fsync(h->fd);
	return r < 0 ? -errno : 0;
}

void op_fsync(fuse_req_t req, fuse_ino_t id, int datasync, struct fuse_file_info *fi)
{
	reply_err(req, sync_file(server_of(req, REQ_FSYNC), id, datasync));
}

static int allocate(struct server *srv, uint64_t id, int mode, off_t offset, off_t length,
		    const struct caller *who)
{
	cleanup_node struct node *n = NULL;
	cleanup_handle struct handle *h = NULL;
	struct size_ends before = { 0 };
	int r = server_node(srv, id, &n);

	if (!r)
		r = edit_open_write(srv, n, -1, &h);
	if (r < 0)
		return r;
	if (!(mode & FALLOC_FL_KEEP_SIZE))
		size_own(n, offset + length, &before);
	if (fallocate(h->fd, mode, offset, length) < 0) {
		r = -errno;
		size_undo(n, offset + length, 0, &before);
		return r;
	}
	return edit_drop_privileges(srv, n, h, who);
}

void op_fallocate(fuse_req_t req, fuse_ino_t id, int mode, off_t offset, off_t length,
		  struct fuse_file_info *fi)
{
	struct server *srv = server_of(req, REQ_FALLOCATE);
	struct caller who = server_caller(req);

	reply_err(req, allocate(srv, id, mode, offset, length, &who));
}

/* Is it a file that a rule makes? No layer has it, so there is no descriptor of it. */
static bool is_generated(struct node *n, struct found *ret)
{
	node_found(n, ret);
	return ret->virtual && n->type == S_IFREG;
}

/* All of a text is data. */
static off_t seek_text(off_t size, off_t offset, int whence)
{
	if (offset < 0 || offset >= size)
		return -ENXIO;
	return whence == SEEK_HOLE ? size : offset;
}

static off_t seek_hidden(struct server *srv, uint64_t id, off_t offset, int whence)
{
	struct stat st;
	int r = hidden_getattr(srv, id, &st);

	return r < 0 ? r : seek_text(st.st_size, offset, whence);
}

static off_t seek(struct server *srv, uint64_t id, off_t offset, int whence)
{
	cleanup_node struct node *n = NULL;
	cleanup_handle struct handle *h = NULL;
	struct found f;
	off_t at;
	int r;

	if (hidden_is(id))
		return seek_hidden(srv, id, offset, whence);
	r = server_node(srv, id, &n);
	if (!r && is_generated(n, &f))
		return seek_text(f.st.st_size, offset, whence);
	if (!r)
		r = edit_open_read(srv, n, &h);
	if (r < 0)
		return r;
	at = lseek(h->fd, offset, whence);
	return at < 0 ? -errno : at;
}

void op_lseek(fuse_req_t req, fuse_ino_t id, off_t offset, int whence, struct fuse_file_info *fi)
{
	off_t at = seek(server_of(req, REQ_LSEEK), id, offset, whence);

	if (at < 0)
		reply_err(req, (int)at);
	else
		(void)fuse_reply_lseek(req, at);
}

/*
 * Both descriptors at once. None is held while one that is missing is opened, for that takes
 * locks that a rename may have while it waits for descriptors to be free.
 */
static int open_pair(struct server *srv, struct node *in, struct node *out, struct handle **ret_in,
		     struct handle **ret_out)
{
	for (int i = 0; i < MAX_TRIES; i++) {
		/* first the one that is written: a copy-up may give it another object */
		int r = edit_open_write(srv, out, -1, ret_out);

		if (r < 0)
			return r;
		handle_put(*ret_out);
		r = edit_open_read(srv, in, ret_in);
		if (r < 0)
			return r;
		*ret_out = handle_get(srv->slots, out, HANDLE_WRITE);
		if (*ret_out)
			return 0;
		handle_put(*ret_in);
	}
	return -EBUSY;
}

static ssize_t copy_range(struct server *srv, uint64_t from, off_t off_in, uint64_t to,
			  off_t off_out, size_t len, const struct caller *who)
{
	cleanup_node struct node *in = NULL;
	cleanup_node struct node *out = NULL;
	struct found f;
	struct handle *hi;
	struct handle *ho;
	struct size_ends before;
	ssize_t n;
	int r;

	if (hidden_is(from))
		return -EOPNOTSUPP; /* the kernel reads and writes instead */
	r = server_node(srv, from, &in);
	if (!r && is_generated(in, &f))
		return -EOPNOTSUPP;
	if (!r)
		r = server_node(srv, to, &out);
	if (!r)
		r = open_pair(srv, in, out, &hi, &ho);
	if (r < 0)
		return r;
	n = copy_file_range(hi->fd, &off_in, ho->fd, &off_out, len, 0);
	if (n < 0) {
		n = -errno;
	} else {
		size_own(out, off_out, &before); /* the call has moved it */
		r = edit_drop_privileges(srv, out, ho, who);
	}
	handle_put(hi);
	handle_put(ho);
	return r < 0 ? r : n;
}

void op_copy_file_range(fuse_req_t req, fuse_ino_t id_in, off_t off_in,
			struct fuse_file_info *fi_in, fuse_ino_t id_out, off_t off_out,
			struct fuse_file_info *fi_out, size_t len, int flags)
{
	struct server *srv = server_of(req, REQ_COPY);
	struct caller who = server_caller(req);

	reply_size(req, copy_range(srv, id_in, off_in, id_out, off_out, len, &who));
}

/*
 * None of the layers' ioctls makes sense for a view: chattr's would change a layer's file by
 * number.
 */
void op_ioctl(fuse_req_t req, fuse_ino_t id, unsigned cmd, void *arg, struct fuse_file_info *fi,
	      unsigned flags, const void *in, size_t in_size, size_t out_size)
{
	(void)server_of(req, REQ_IOCTL);
	reply_err(req, -ENOTTY);
}
