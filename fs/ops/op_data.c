/* SPDX-License-Identifier: MIT */
/*
 * Reading and writing. There are no file handles: requests come by node, and a node's descriptors
 * do the work, see edit.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "ops/edit.h"
#include "ops/hidden.h"
#include "ops/ops.h"
#include "ops/place.h"
#include "ops/reply.h"
#include "ops/size.h"

enum {
	STACK_BUF = 64 << 10, /* up to here copying is cheaper than setting up a pipe */
	AT_WORK_SEC = 2,
};

/* What a file of that size has at @offset, up to @size bytes. */
static size_t there_is(const struct stat *st, size_t size, off_t offset)
{
	if (st->st_size <= offset)
		return 0;
	return (uint64_t)(st->st_size - offset) < size ? (size_t)(st->st_size - offset) : size;
}

/* Who has changed a file a moment ago may be at it still. */
static bool is_at_work(const struct stat *st)
{
	return time(NULL) - st->st_ctim.tv_sec < AT_WORK_SEC;
}

/* Through @buf, of @size bytes. */
static void reply_copy(struct server *srv, struct node *n, fuse_req_t req, int fd, char *buf,
		       size_t size, off_t offset)
{
	ssize_t got = pread(fd, buf, size, offset);

	if (got < 0) {
		reply_err(req, -errno);
		return;
	}
	if (!size_read(srv, n, offset, size, (size_t)got) || !srv->read_later ||
	    !srv->read_later(srv->watch_arg, n->id, req, buf, (size_t)got, offset + got))
		(void)fuse_reply_buf(req, buf, (size_t)got);
}

static void reply_small(struct server *srv, struct node *n, fuse_req_t req, int fd, size_t size,
			off_t offset)
{
	char buf[STACK_BUF];

	reply_copy(srv, n, req, fd, buf, size, offset);
}

/*
 * How much goes through the pipe is not told, and a file that others cut meanwhile may have had
 * nothing for a moment: that is found afterwards by its being shorter, or not at all if it is as
 * long again. So what may be changing goes the other way.
 */
static void reply_fd(struct server *srv, struct node *n, fuse_req_t req, int fd, size_t size,
		     off_t offset)
{
	struct fuse_bufvec v = FUSE_BUFVEC_INIT(size);
	cleanup_free char *buf = NULL;
	struct stat before;
	struct stat after;
	int r = fstat(fd, &before) < 0 ? -errno : 0;

	if (!r && (size_read(srv, n, offset, size, there_is(&before, size, offset)) ||
		   atomic_load(&n->resized) || is_at_work(&before)))
		buf = malloc(size);
	if (buf) {
		reply_copy(srv, n, req, fd, buf, size, offset);
		return;
	}
	v.buf[0].flags = FUSE_BUF_IS_FD | FUSE_BUF_FD_SEEK;
	v.buf[0].fd = fd;
	v.buf[0].pos = offset;
	(void)fuse_reply_data(req, &v, 0);
	if (r < 0 || fstat(fd, &after) < 0 || after.st_size < before.st_size)
		(void)size_read(srv, n, offset, size, 0);
}

static void reply_text(fuse_req_t req, const char *text, size_t size, off_t offset)
{
	size_t len = strlen(text);
	size_t at = offset < 0 || (uint64_t)offset > len ? len : (size_t)offset;

	(void)fuse_reply_buf(req, text + at, len - at < size ? len - at : size);
}

static void reply_hidden(struct server *srv, fuse_req_t req, uint64_t id, size_t size, off_t offset)
{
	cleanup_free char *buf = malloc(size ? size : 1);
	ssize_t n = buf ? hidden_read(srv, id, buf, size, offset) : -ENOMEM;

	if (n < 0)
		reply_err(req, (int)n);
	else
		(void)fuse_reply_buf(req, buf, (size_t)n);
}

/* A copy of the text of a file that a rule makes; false if the node is of another kind. */
static bool generated_text(struct server *srv, struct node *n, struct strbuf *ret)
{
	struct found f;
	bool is;

	tree_read(srv);
	node_found(n, &f);
	is = f.virtual && n->type == S_IFREG;
	if (is)
		strbuf_adds(ret, stack_virtual_content(&srv->view->stack, &f));
	tree_done(srv);
	return is && strbuf_failed(ret) == 0;
}

void op_read(fuse_req_t req, fuse_ino_t id, size_t size, off_t offset, struct fuse_file_info *fi)
{
	struct server *srv = server_of(req, REQ_READ);
	cleanup_node struct node *n = NULL;
	cleanup_handle struct handle *h = NULL;
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	int r;

	if (hidden_is(id)) {
		reply_hidden(srv, req, id, size, offset);
		return;
	}
	r = server_node(srv, id, &n);
	if (!r)
		r = edit_open_read(srv, n, &h);
	if (r == -EIO && generated_text(srv, n, &text)) {
		reply_text(req, text.buf, size, offset);
		return;
	}
	if (r < 0)
		reply_err(req, r);
	else if (size <= STACK_BUF)
		reply_small(srv, n, req, h->fd, size, offset);
	else
		reply_fd(srv, n, req, h->fd, size, offset);
}

/* Write all of @in, at its end if @append. */
static ssize_t write_mem(int fd, const char *buf, size_t size, off_t offset, bool append)
{
	size_t done = 0;

	while (done < size) {
		struct iovec v = { .iov_base = (char *)buf + done, .iov_len = size - done };
		ssize_t n = pwritev2(fd, &v, 1, offset + (off_t)done, append ? RWF_APPEND : 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return done ? (ssize_t)done : -errno;
		if (!n)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

static ssize_t write_vec(int fd, struct fuse_bufvec *in, off_t offset, bool append)
{
	struct fuse_bufvec out = FUSE_BUFVEC_INIT(fuse_buf_size(in));
	bool in_memory = in->count == 1 && !(in->buf[0].flags & FUSE_BUF_IS_FD);

	if (in_memory)
		return write_mem(fd, in->buf[0].mem, in->buf[0].size, offset, append);
	if (append) {
		cleanup_free char *mem = malloc(out.buf[0].size);
		ssize_t n;

		if (!mem)
			return -ENOMEM;
		out.buf[0].mem = mem;
		n = fuse_buf_copy(&out, in, 0);
		return n < 0 ? n : write_mem(fd, mem, (size_t)n, offset, true);
	}
	out.buf[0].flags = FUSE_BUF_IS_FD | FUSE_BUF_FD_SEEK;
	out.buf[0].fd = fd;
	out.buf[0].pos = offset;
	return fuse_buf_copy(&out, in, 0);
}

/*
 * With O_APPEND the data goes to the end that the file has now, wherever the kernel believes it
 * to be: others may have written underneath.
 */
static ssize_t write_data(struct server *srv, uint64_t id, struct fuse_bufvec *in, off_t offset,
			  bool append, const struct caller *who)
{
	cleanup_node struct node *n = NULL;
	cleanup_handle struct handle *h = NULL;
	size_t size = fuse_buf_size(in);
	struct size_ends before;
	ssize_t done;
	int r = server_node(srv, id, &n);

	if (!r)
		r = edit_open_write(srv, n, -1, &h);
	if (r < 0)
		return r;
	size_own(n, offset + (off_t)size, &before);
	done = write_vec(h->fd, in, offset, append);
	if (done < (ssize_t)size)
		size_undo(n, offset + (off_t)size, done > 0 ? offset + done : 0, &before);
	r = done > 0 ? edit_drop_privileges(srv, n, h, who) : 0;
	if (r < 0)
		return r;
	if (append && done > 0 && srv->stale_data) {
		struct stat st;

		if (fstat(h->fd, &st) < 0 || st.st_size != offset + (off_t)size)
			srv->stale_data(srv->watch_arg, id);
	}
	return done;
}

void op_write_buf(fuse_req_t req, fuse_ino_t id, struct fuse_bufvec *in, off_t offset,
		  struct fuse_file_info *fi)
{
	struct server *srv = server_of(req, REQ_WRITE);
	bool append = (fi->flags & O_APPEND) && !fi->writepage;
	struct caller who = server_caller(req);

	reply_size(req, write_data(srv, id, in, offset, append, &who));
}
