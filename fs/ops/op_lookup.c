/* SPDX-License-Identifier: MIT */
/* Names, attributes, link texts and the space there is. */
#include <errno.h>
#include <sys/statvfs.h>

#include "ops/attr.h"
#include "ops/entry.h"
#include "ops/hidden.h"
#include "ops/ops.h"
#include "ops/reply.h"
#include "ops/size.h"

void op_lookup(fuse_req_t req, fuse_ino_t dir, const char *name)
{
	struct server *srv = server_of(req, REQ_LOOKUP);
	struct fuse_entry_param e = { 0 };
	int r;

	if (size_looked_up(srv, req, dir, name))
		return;
	if (atomic_load_explicit(&srv->n_mounting, memory_order_relaxed))
		srv->await_wanted(srv->arg, dir, name, fuse_req_ctx(req)->pid);
	r = entry_lookup(srv, dir, name, &e);
	reply_entry(srv, req, r, &e);
}

static void forget(struct server *srv, uint64_t id, uint64_t count)
{
	if (hidden_is(id))
		hidden_forget(srv, id, count);
	else
		table_forget(srv->table, id, count);
}

void op_forget(fuse_req_t req, fuse_ino_t id, uint64_t count)
{
	struct server *srv = server_of(req, REQ_FORGET);

	forget(srv, id, count);
	fuse_reply_none(req);
	table_trim(srv->table);
}

void op_forget_multi(fuse_req_t req, size_t n, struct fuse_forget_data *v)
{
	struct server *srv = server_of(req, REQ_FORGET);

	for (size_t i = 0; i < n; i++)
		forget(srv, v[i].ino, v[i].nlookup);
	fuse_reply_none(req);
	table_trim(srv->table);
}

/* A directory is watched before its attributes are told for good. */
static void follow(struct server *srv, uint64_t id)
{
	struct place p = PLACE_INIT;

	(void)place_open(srv, id, &p); /* if that can't be, its attributes are asked for again */
	place_close(&p);
}

/*
 * The kernel knows no mode of the root, so that it lets nobody in, until it has got one answer; and
 * it drops an answer if a change is told meanwhile. So the first one comes before the root is
 * watched, and is asked for again.
 */
static bool is_first_of_root(struct server *srv, uint64_t id)
{
	return id == NODE_ROOT && !atomic_exchange(&srv->root_told, true);
}

/* Returns 1 if the answer has to wait, see size.h, and @may_wait. */
static int getattr(struct server *srv, uint64_t id, bool may_wait, struct stat *ret,
		   double *ret_timeout)
{
	cleanup_node struct node *n = NULL;
	int r;

	if (hidden_is(id))
		return hidden_getattr(srv, id, ret);
	r = server_node(srv, id, &n);
	if (r < 0)
		return r;
	if (!entry_is_followed(srv, n) && !is_first_of_root(srv, id))
		follow(srv, id);
	r = attr_get(srv, n, ret);
	if (r < 0)
		return r;
	if (srv->config.auto_inval)
		entry_check_pages(srv, n, ret);
	if (may_wait && size_is_news(srv, n, ret))
		return 1;
	*ret_timeout = entry_is_followed(srv, n) ? entry_timeout(srv, n) : 0;
	return size_tell(srv, n, ret, ret_timeout) && may_wait ? 1 : 0;
}

void op_getattr(fuse_req_t req, fuse_ino_t id, struct fuse_file_info *fi)
{
	struct server *srv = server_of(req, REQ_GETATTR);
	struct stat st;
	double timeout = 0;
	int r;

	if (size_looked(srv, req, id))
		return;
	r = getattr(srv, id, srv->attr_later != NULL, &st, &timeout);

	if (r > 0) {
		if (srv->attr_later(srv->watch_arg, id, req))
			return;
		r = getattr(srv, id, false, &st, &timeout);
	}
	reply_attr(req, r, &st, timeout);
	if (!r && timeout == 0)
		size_told(srv, id, &st);
}

static int readlink_held(struct server *srv, struct node *n, struct strbuf *ret)
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	struct found f;
	int r = table_where(srv->table, n, &path, &f);

	if (r < 0)
		return r;
	return stack_readlink(&srv->view->stack, path.buf, &f, ret);
}

static int read_link(struct server *srv, uint64_t id, struct strbuf *ret)
{
	cleanup_node struct node *n = NULL;
	int r;

	if (hidden_is(id))
		return -EINVAL;
	r = server_node(srv, id, &n);
	if (r < 0)
		return r;
	if (n->type != S_IFLNK)
		return -EINVAL;
	tree_read(srv);
	r = readlink_held(srv, n, ret);
	tree_done(srv);
	return r;
}

void op_readlink(fuse_req_t req, fuse_ino_t id)
{
	struct server *srv = server_of(req, REQ_READLINK);
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	int r = read_link(srv, id, &text);

	if (r < 0)
		reply_err(req, r);
	else
		(void)fuse_reply_readlink(req, text.buf);
}

/* The layer that a new file beside or in @n would go to; the lowest one if nothing may be made. */
static const struct layer *layer_of_new(struct server *srv, struct node *n)
{
	const struct stack *st = &srv->view->stack;
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	struct found dir;
	struct route rt;

	while (n && n->type != S_IFDIR)
		n = NULL;
	if (n)
		node_found(n, &dir);
	else if (stack_root(st, &dir) < 0)
		return &st->layers[st->n - 1];
	if (n && table_path(srv->table, n, &path) < 0)
		return &st->layers[st->n - 1];
	strbuf_addf(&path, "%s%s", path.len ? "/" : "", "new");
	if (strbuf_failed(&path) < 0 || route_new(srv->view, path.buf, S_IFREG, &dir, &rt) < 0 ||
	    st->layers[rt.layer].base_fd < 0)
		return &st->layers[st->n - 1];
	return &st->layers[rt.layer];
}

static int statfs_of(struct server *srv, uint64_t id, struct statvfs *ret)
{
	cleanup_node struct node *n = NULL;
	int r;

	if (!hidden_is(id) && server_node(srv, id, &n) < 0)
		return -ESTALE;
	tree_read(srv);
	r = fstatvfs(layer_of_new(srv, n)->base_fd, ret) < 0 ? -errno : 0;
	tree_done(srv);
	return r;
}

void op_statfs(fuse_req_t req, fuse_ino_t id)
{
	struct server *srv = server_of(req, REQ_STATFS);
	struct statvfs st;
	int r = statfs_of(srv, id, &st);

	if (r < 0)
		reply_err(req, r);
	else
		(void)fuse_reply_statfs(req, &st);
}
