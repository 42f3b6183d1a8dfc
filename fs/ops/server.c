/* SPDX-License-Identifier: MIT */
/* The server: see server.h. What is negotiated with the kernel is here, and the table of ops. */
#include "ops/server.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "ops/hidden.h"
#include "ops/ops.h"
#include "ops/park.h"
#include "ops/parts.h"
#include "ops/size.h"

enum {
	LISTING_BYTES = 32 << 20, /* snapshots of directories that nobody is reading just now */
	MAX_BACKGROUND = 64,	  /* readahead requests under way */
	ROOM = 8,		  /* descriptors closed when there are none left */
};

static const char *const kind_names[REQ_KINDS] = {
	[REQ_LOOKUP] = "lookup",
	[REQ_FORGET] = "forget",
	[REQ_GETATTR] = "getattr",
	[REQ_SETATTR] = "setattr",
	[REQ_READLINK] = "readlink",
	[REQ_STATFS] = "statfs",
	[REQ_OPEN] = "open",
	[REQ_OPENDIR] = "opendir",
	[REQ_READDIR] = "readdir",
	[REQ_READDIRPLUS] = "readdirplus",
	[REQ_CREATE] = "create",
	[REQ_READ] = "read",
	[REQ_WRITE] = "write",
	[REQ_FSYNC] = "fsync",
	[REQ_FALLOCATE] = "fallocate",
	[REQ_LSEEK] = "lseek",
	[REQ_COPY] = "copy_file_range",
	[REQ_MKNOD] = "mknod",
	[REQ_MKDIR] = "mkdir",
	[REQ_SYMLINK] = "symlink",
	[REQ_LINK] = "link",
	[REQ_UNLINK] = "unlink",
	[REQ_RMDIR] = "rmdir",
	[REQ_RENAME] = "rename",
	[REQ_GETXATTR] = "getxattr",
	[REQ_LISTXATTR] = "listxattr",
	[REQ_SETXATTR] = "setxattr",
	[REQ_IOCTL] = "ioctl",
};

const char *request_kind_name(enum request_kind kind)
{
	return kind_names[kind];
}

struct server *server_of(fuse_req_t req, enum request_kind kind)
{
	struct server *srv = fuse_req_userdata(req);

	atomic_fetch_add_explicit(&srv->requests[kind], 1, memory_order_relaxed);
	return srv;
}

struct caller server_caller(fuse_req_t req)
{
	const struct fuse_ctx *ctx = fuse_req_ctx(req);

	return (struct caller){ .uid = ctx->uid, .gid = ctx->gid, .pid = ctx->pid };
}

int server_node(struct server *srv, uint64_t id, struct node **ret)
{
	return hidden_is(id) ? -EROFS : table_get(srv->table, id, ret);
}

int server_open(struct server *srv, int (*fn)(void *arg), void *arg)
{
	int r = fn(arg);

	if ((r == -EMFILE || r == -ENFILE) && parts_drop(srv->parts))
		r = fn(arg);
	if ((r == -EMFILE || r == -ENFILE) && slots_make_room(srv->slots, ROOM))
		r = fn(arg);
	return r;
}

struct open_arg {
	const struct stack *st;
	const char *path;
	const struct found *f;
	int flags;
};

static int open_file(void *arg)
{
	const struct open_arg *a = arg;

	return stack_open_file(a->st, a->path, a->f, a->flags);
}

int server_open_file(struct server *srv, const char *path, const struct found *f, int flags)
{
	struct open_arg a = { .st = &srv->view->stack, .path = path, .f = f, .flags = flags };

	return server_open(srv, open_file, &a);
}

static int init_tables(struct server *srv, size_t max_files)
{
	struct found root;
	int r = stack_root(&srv->view->stack, &root);

	if (r < 0)
		return r;
	r = slots_new(max_files, &srv->slots);
	if (!r)
		r = snapshots_new(LISTING_BYTES, &srv->snaps);
	if (!r)
		r = parts_new(&srv->parts);
	if (!r)
		r = hidden_new(&srv->hidden);
	if (!r)
		r = size_looks_new(&srv->looks);
	if (!r)
		r = table_new(&root, srv->slots, srv->snaps, &srv->table);
	if (!r)
		table_on_parked(srv->table, park_drop, srv);
	return r;
}

int server_new(struct view *v, const struct server_config *c, size_t max_files, struct server **ret)
{
	cleanup_server struct server *srv = calloc(1, sizeof(*srv));
	pthread_rwlockattr_t attr;
	int r;

	if (!srv)
		return -ENOMEM;
	srv->view = v;
	srv->config = *c;
	srv->is_root = geteuid() == 0;
	/* a steady stream of requests must not keep a rename waiting for ever */
	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
	pthread_rwlock_init(&srv->tree, &attr);
	pthread_rwlockattr_destroy(&attr);
	r = init_tables(srv, max_files);
	if (r < 0)
		return r;
	*ret = steal_ptr(&srv);
	return 0;
}

void server_free(struct server *srv)
{
	if (!srv)
		return;
	table_free(srv->table);
	hidden_free(srv->hidden);
	size_looks_free(srv->looks);
	snapshots_free(srv->snaps);
	parts_free(srv->parts);
	slots_free(srv->slots);
	pthread_rwlock_destroy(&srv->tree);
	free(srv);
}

static void want(struct fuse_conn_info *conn, unsigned cap, bool on)
{
	if (on)
		conn->want |= cap & conn->capable;
	else
		conn->want &= ~cap;
}

/*
 * Source of each choice: the manual, CACHING; the kernel's meaning is in libfuse's fuse_common.h.
 */
static void op_init(void *userdata, struct fuse_conn_info *conn)
{
	struct server *srv = userdata;
	bool caching = srv->config.timeout_sec > 0;
	bool told = caching && !srv->config.auto_inval; /* of every change */

	srv->no_open = conn->capable & FUSE_CAP_NO_OPEN_SUPPORT;
	srv->no_opendir =
		srv->config.cache_listings && (conn->capable & FUSE_CAP_NO_OPENDIR_SUPPORT);

	/* without OPEN nobody would do what O_TRUNC asks for; so it comes as SETATTR */
	want(conn, FUSE_CAP_ATOMIC_O_TRUNC, false);
	/* the kernel would not look at size and mtime any more, and overwrite others' changes */
	want(conn, FUSE_CAP_WRITEBACK_CACHE, false);
	/* locks are the kernel's own: right inside the mount, and need neither FLUSH nor RELEASE */
	want(conn, FUSE_CAP_POSIX_LOCKS, false);
	want(conn, FUSE_CAP_FLOCK_LOCKS, false);
	/* attributes in listings serve caches only */
	want(conn, FUSE_CAP_READDIRPLUS, caching);
	want(conn, FUSE_CAP_READDIRPLUS_AUTO, caching && !told);
	want(conn, FUSE_CAP_CACHE_SYMLINKS, told);
	/* long reads go from file to kernel through a pipe; small ones would pay twice for it */
	want(conn, FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE, true);
	want(conn, FUSE_CAP_SPLICE_READ, false);
	want(conn, FUSE_CAP_PARALLEL_DIROPS, true);
	want(conn, FUSE_CAP_ASYNC_READ, true);
	/* with it the kernel leaves old pages when a direct write ends that nobody waits for */
	want(conn, FUSE_CAP_ASYNC_DIO, false);
	want(conn, FUSE_CAP_AUTO_INVAL_DATA, srv->config.auto_inval);
	want(conn, FUSE_CAP_EXPLICIT_INVAL_DATA, !srv->config.auto_inval);
	want(conn, FUSE_CAP_HANDLE_KILLPRIV, true);
#ifdef FUSE_CAP_HANDLE_KILLPRIV_V2
	want(conn, FUSE_CAP_HANDLE_KILLPRIV_V2, true);
#endif
	/* rights are checked and default ACLs applied as on the layers */
	want(conn, FUSE_CAP_POSIX_ACL, true);
	want(conn, FUSE_CAP_DONT_MASK, true);
	want(conn, FUSE_CAP_EXPORT_SUPPORT, false);
	conn->max_background = MAX_BACKGROUND;
	conn->congestion_threshold = MAX_BACKGROUND * 3 / 4;
	if (srv->on_init)
		srv->on_init(srv->arg, conn);
}

const struct fuse_lowlevel_ops server_ops = {
	.init = op_init,
	.lookup = op_lookup,
	.forget = op_forget,
	.forget_multi = op_forget_multi,
	.getattr = op_getattr,
	.setattr = op_setattr,
	.readlink = op_readlink,
	.mknod = op_mknod,
	.mkdir = op_mkdir,
	.unlink = op_unlink,
	.rmdir = op_rmdir,
	.symlink = op_symlink,
	.rename = op_rename,
	.link = op_link,
	.open = op_open,
	.read = op_read,
	.write_buf = op_write_buf,
	.fsync = op_fsync,
	.opendir = op_opendir,
	.readdir = op_readdir,
	.readdirplus = op_readdirplus,
	.fsyncdir = op_fsyncdir,
	.statfs = op_statfs,
	.setxattr = op_setxattr,
	.getxattr = op_getxattr,
	.listxattr = op_listxattr,
	.removexattr = op_removexattr,
	.create = op_create,
#ifdef HAVE_FUSE_TMPFILE
	.tmpfile = op_tmpfile,
#endif
	.ioctl = op_ioctl,
	.fallocate = op_fallocate,
	.copy_file_range = op_copy_file_range,
	.lseek = op_lseek,
	/*
	 * Not there on purpose: flush (unknown: the kernel stops asking), release (never sent
	 * without open), access (the kernel checks modes itself), getlk, setlk, flock (see
	 * op_init), bmap, poll.
	 */
};
