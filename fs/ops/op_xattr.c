/* SPDX-License-Identifier: MIT */
/*
 * Extended attributes, by node. specfs's own marks are neither seen nor set through the mount;
 * user.specfs.origin says where an object comes from.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"
#include "layer/mark.h"
#include "ops/edit.h"
#include "ops/hidden.h"
#include "ops/ops.h"
#include "ops/place.h"
#include "ops/reply.h"

#define ORIGIN MARK_PREFIX "origin"

static bool is_mark(const char *name)
{
	return !strncmp(name, MARK_PREFIX, sizeof(MARK_PREFIX) - 1);
}

static int origin(struct server *srv, struct node *n, struct strbuf *ret)
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	struct found f;
	int r;

	tree_read(srv);
	r = table_where(srv->table, n, &path, &f);
	if (!r)
		r = view_origin(srv->view, path.buf, &f, ret);
	tree_done(srv);
	return r == -ESTALE ? -ENODATA : r;
}

/* Some descriptor of a node's object. */
struct grip {
	struct handle *h; /* the node's own, in use, or NULL */
	int fd;		  /* else ours, O_PATH */
};

static void let_go(struct grip *g)
{
	handle_put(g->h);
	if (g->fd >= 0)
		close(g->fd);
}

#define cleanup_grip CLEANUP(let_go)

/* Returns a descriptor, O_PATH at least, that @g holds; -EIO if the object has none. The caller
 * holds the tree. */
static int grasp_held(struct server *srv, struct node *n, struct grip *g)
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	struct found f;
	int r;

	for (int k = 0; k < HANDLE_KINDS; k++) {
		g->h = handle_get(srv->slots, n, (enum handle_kind)k);
		if (g->h)
			return g->h->fd;
	}
	r = table_where(srv->table, n, &path, &f);
	if (!r)
		r = server_open_file(srv, path.buf, &f, O_PATH);
	g->fd = r;
	return r;
}

static int grasp(struct server *srv, struct node *n, struct grip *g)
{
	int r;

	tree_read(srv);
	r = grasp_held(srv, n, g);
	tree_done(srv);
	return r;
}

/* The kernel asks for ACLs to check rights; a layer that can't have any has none. */
static bool is_acl(const char *name)
{
	return !strncmp(name, "system.posix_acl_", 17);
}

/* Only a regular file can have one; the kernel asks more often than that. */
static bool has_no_capability(const struct node *n, const char *name)
{
	return n->type != S_IFREG && !strcmp(name, "security.capability");
}

static ssize_t give(const char *text, size_t len, char *buf, size_t size)
{
	if (size && size < len)
		return -ERANGE;
	if (size)
		memcpy(buf, text, len);
	return (ssize_t)len;
}

/* By the descriptor itself, which takes a third of the time, if it is not an O_PATH one. */
static ssize_t read_value(int fd, const char *name, char *buf, size_t size)
{
	char proc[32];
	ssize_t len = fgetxattr(fd, name, buf, size);

	if (len < 0 && errno == EBADF)
		len = getxattr(fd_proc_path(fd, proc), name, buf, size);
	if (len < 0)
		return errno == ENOTSUP && is_acl(name) ? -ENODATA : -errno;
	return len;
}

static ssize_t get(struct server *srv, uint64_t id, const char *name, char *buf, size_t size)
{
	cleanup_node struct node *n = NULL;
	cleanup_grip struct grip g = { .fd = -1 };
	int r;

	if (hidden_is(id))
		return -ENODATA;
	r = server_node(srv, id, &n);
	if (r < 0)
		return r;
	if (!strcmp(name, ORIGIN)) {
		cleanup_strbuf struct strbuf text = STRBUF_INIT;

		r = origin(srv, n, &text);
		return r < 0 ? r : give(text.buf, text.len, buf, size);
	}
	if (is_mark(name) || has_no_capability(n, name))
		return -ENODATA;
	r = grasp(srv, n, &g);
	if (r < 0)
		return r == -EIO || r == -ESTALE ? -ENODATA : r;
	return read_value(r, name, buf, size);
}

static void reply_value(fuse_req_t req, const char *buf, size_t size, ssize_t len)
{
	if (len < 0)
		reply_err(req, (int)len);
	else if (!size)
		(void)fuse_reply_xattr(req, (size_t)len);
	else
		(void)fuse_reply_buf(req, buf, (size_t)len);
}

void op_getxattr(fuse_req_t req, fuse_ino_t id, const char *name, size_t size)
{
	struct server *srv = server_of(req, REQ_GETXATTR);
	cleanup_free char *buf = size ? malloc(size) : NULL;

	reply_value(req, buf, size, size && !buf ? -ENOMEM : get(srv, id, name, buf, size));
}

/* Take specfs's own names out of a list; returns its new length. */
static ssize_t without_marks(char *list, ssize_t len)
{
	ssize_t kept = 0;

	for (ssize_t at = 0; at < len;) {
		size_t n = strlen(list + at) + 1;

		if (!is_mark(list + at)) {
			memmove(list + kept, list + at, n);
			kept += (ssize_t)n;
		}
		at += (ssize_t)n;
	}
	return kept;
}

static ssize_t list_names(struct server *srv, uint64_t id, char **ret)
{
	cleanup_node struct node *n = NULL;
	cleanup_free char *list = malloc(XATTR_LIST_MAX);
	cleanup_grip struct grip g = { .fd = -1 };
	char proc[32];
	ssize_t len;
	int r;

	if (!list)
		return -ENOMEM;
	if (hidden_is(id))
		return 0;
	r = server_node(srv, id, &n);
	if (r < 0)
		return r;
	r = grasp(srv, n, &g);
	if (r < 0)
		return r == -EIO || r == -ESTALE ? 0 : r;
	len = listxattr(fd_proc_path(r, proc), list, XATTR_LIST_MAX);
	if (len < 0)
		return errno == ENOTSUP ? 0 : -errno;
	len = without_marks(list, len);
	*ret = steal_ptr(&list);
	return len;
}

void op_listxattr(fuse_req_t req, fuse_ino_t id, size_t size)
{
	struct server *srv = server_of(req, REQ_LISTXATTR);
	cleanup_free char *list = NULL;
	ssize_t len = list_names(srv, id, &list);

	if (len > 0 && size && (size_t)len > size)
		len = -ERANGE;
	reply_value(req, list, size, len);
}

struct xattr_change {
	const char *name;
	const char *value; /* NULL: remove */
	size_t size;
	int flags;
	struct caller who;
};

/*
 * An ACL changes the mode, too: as with chmod, who is not of the group gives the set-group-id bit
 * up. The layer sees the daemon instead, and libfuse does not pass on the kernel's word for it.
 */
static int drop_setgid(const char *proc, const struct xattr_change *c)
{
	struct stat st;

	if (strcmp(c->name, "system.posix_acl_access") || c->who.uid == 0)
		return 0;
	if (stat(proc, &st) < 0)
		return -errno;
	if (caller_keeps_setgid(&c->who, &st))
		return 0;
	return chmod(proc, st.st_mode & 07777 & ~S_ISGID) < 0 ? -errno : 0;
}

/* Is it there to be removed? A copy-up for nothing is spared, too. */
static int check_removal(struct server *srv, struct node *n, const char *name)
{
	cleanup_grip struct grip g = { .fd = -1 };
	char proc[32];
	int r = grasp_held(srv, n, &g);

	if (r < 0)
		return r == -EIO ? -ENODATA : r; /* what a rule makes has none */
	return getxattr(fd_proc_path(r, proc), name, NULL, 0) < 0 ? -errno : 0;
}

static int change_held(struct server *srv, struct node *n, const struct xattr_change *c)
{
	cleanup_fd int fd = -1;
	char proc[32];
	int r = c->value ? 0 : check_removal(srv, n, c->name);

	if (!r)
		r = edit_prepare(srv, n, &fd);
	if (r < 0)
		return r;
	fd_proc_path(fd, proc);
	r = c->value ? setxattr(proc, c->name, c->value, c->size, c->flags)
		     : removexattr(proc, c->name);
	if (r < 0) /* a copy-up takes no capability along, which the kernel removes at a write */
		return !c->value && errno == ENODATA ? 0 : -errno;
	return c->value ? drop_setgid(proc, c) : 0;
}

static int change(struct server *srv, uint64_t id, const struct xattr_change *c)
{
	cleanup_node struct node *n = NULL;
	int r;

	if (is_mark(c->name))
		return -EPERM;
	r = server_node(srv, id, &n);
	if (r < 0)
		return r;
	tree_read(srv);
	node_begin(n);
	r = change_held(srv, n, c);
	node_end(n);
	tree_done(srv);
	return r;
}

void op_setxattr(fuse_req_t req, fuse_ino_t id, const char *name, const char *value, size_t size,
		 int flags)
{
	struct server *srv = server_of(req, REQ_SETXATTR);
	struct xattr_change c = {
		.name = name,
		.value = value,
		.size = size,
		.flags = flags,
		.who = server_caller(req),
	};

	reply_err(req, change(srv, id, &c));
}

void op_removexattr(fuse_req_t req, fuse_ino_t id, const char *name)
{
	struct server *srv = server_of(req, REQ_SETXATTR);
	struct xattr_change c = { .name = name, .who = server_caller(req) };

	reply_err(req, change(srv, id, &c));
}
