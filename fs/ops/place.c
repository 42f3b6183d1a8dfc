/* SPDX-License-Identifier: MIT */
/* Places: see place.h. */
#include "ops/place.h"

#include <errno.h>
#include <string.h>

#include "base/fd.h"
#include "base/path.h"

/* Each further one means that others have put another directory there. */
enum { MAX_TRIES = 1000 };

void tree_read(struct server *srv)
{
	pthread_rwlock_rdlock(&srv->tree);
}

void tree_write(struct server *srv)
{
	pthread_rwlock_wrlock(&srv->tree);
	srv->tree_is_written = true;
	view_changed(srv->view);
}

void tree_done(struct server *srv)
{
	if (srv->tree_is_written) { /* by us: nobody else has the tree */
		srv->tree_is_written = false;
		view_changed(srv->view);
	}
	pthread_rwlock_unlock(&srv->tree);
}

static int open_parts(void *arg)
{
	struct place *p = arg;

	return stack_open_dir(&p->srv->view->stack, p->path.buf, p->found.parts, &p->parts);
}

/* Open the parts, or take those that the last request has left open. */
static int get_parts(struct place *p)
{
	struct server *srv = p->srv;
	bool keep = srv->keep_parts && srv->on_dir && !atomic_load(&p->dir->unwatched);
	struct parts_mark m;
	int r;

	p->is_heard = keep;
	if (keep)
		parts_begin(srv->view, p->dir->id, p->found.parts, &m);
	if (keep && parts_take(srv->parts, &m, &p->parts)) {
		p->parts.path = p->path.buf;
		p->mark = m;
		return 0;
	}
	r = server_open(srv, open_parts, p);
	if (!r && keep)
		p->mark = m;
	return r;
}

/* The rules have been exchanged since the directory was found: of which layers is it now? */
static int settle(struct place *p)
{
	struct table *t = p->srv->table;
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	cleanup_node struct node *parent = NULL;
	uint64_t seq;
	int r = table_place(t, p->dir, &path, &parent);

	if (r < 0)
		return r;
	seq = table_seq(t, parent);
	r = stack_lookup(&p->srv->view->stack, path.buf, &p->found);
	if (r == -ENOTDIR || (!r && !S_ISDIR(p->found.st.st_mode)))
		r = -ENOENT;
	if (!r)
		table_refresh(t, p->dir, parent, path_base(path.buf), seq, &p->found);
	return r;
}

/* -EAGAIN: what was opened is another directory by now. */
static int open_once(struct place *p)
{
	int r;

	p->seq = table_seq(p->srv->table, p->dir);
	p->marks = atomic_load(&p->srv->view->marks);
	r = table_path(p->srv->table, p->dir, &p->path);
	if (r < 0)
		return r == -ESTALE ? -ENOENT : r;
	node_found(p->dir, &p->found);
	if (p->found.generation != p->srv->view->stack.generation && p->dir->id != NODE_ROOT)
		r = settle(p);
	if (!r)
		r = get_parts(p);
	if (!r && p->srv->on_dir)
		r = p->srv->on_dir(p->srv->watch_arg, p->dir, &p->parts, p->seq);
	return r;
}

/* @p->dir is set: fill in the rest. */
static int open_node(struct place *p)
{
	if (p->dir->type != S_IFDIR)
		return -ENOTDIR;
	for (int i = 0; i < MAX_TRIES; i++) {
		int r = open_once(p);

		if (r != -EAGAIN)
			return r;
		p->mark.id = 0;
		dirset_close(&p->parts);
		strbuf_clear(&p->path);
	}
	return -EIO;
}

int place_open_held(struct server *srv, uint64_t id, struct place *ret)
{
	int r;

	ret->srv = srv;
	dirset_init(&ret->parts);
	r = server_node(srv, id, &ret->dir);
	return r < 0 ? r : open_node(ret);
}

int place_share(const struct place *p, struct place *ret)
{
	*ret = (struct place){
		.srv = p->srv,
		.dir = node_ref(p->dir),
		.path = STRBUF_INIT,
		.found = p->found,
		.seq = p->seq,
		.marks = p->marks,
		.parts = p->parts,
		.is_heard = p->is_heard,
		.shares = true,
		.child = STRBUF_INIT,
	};
	strbuf_add(&ret->path, p->path.buf, p->path.len);
	ret->parts.path = ret->path.buf;
	return strbuf_failed(&ret->path);
}

int place_open(struct server *srv, uint64_t id, struct place *ret)
{
	tree_read(srv);
	ret->holds_tree = true;
	return place_open_held(srv, id, ret);
}

int place_open_parent(struct server *srv, struct node *n, struct place *ret,
		      char ret_name[NAME_MAX + 1])
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	const char *name;
	int r;

	ret->srv = srv;
	dirset_init(&ret->parts);
	r = table_place(srv->table, n, &path, &ret->dir);
	if (r < 0)
		return r;
	name = path_base(path.buf); /* at most NAME_MAX bytes: the table takes no longer one */
	memcpy(ret_name, name, strlen(name) + 1);
	return open_node(ret);
}

/* Open the directory, so that all of its parts are watched. */
static int watch_parts(struct server *srv, const struct node *dir)
{
	cleanup_place struct place p = PLACE_INIT;

	return place_open_held(srv, dir->id, &p);
}

void place_add_part(struct server *srv, struct node *dir, unsigned layer)
{
	struct node *n = node_ref(dir);

	table_add_part(srv->table, dir, layer);
	while (n && srv->on_dir && layer && !(atomic_load(&n->watched) & UINT64_C(1) << layer)) {
		cleanup_strbuf struct strbuf path = STRBUF_INIT;
		struct node *above = NULL;

		/* without a watch the next look at it sets one; above the root there is nothing */
		if (watch_parts(srv, n) == 0)
			(void)table_place(srv->table, n, &path, &above);
		node_unref(n);
		n = above;
	}
	node_unref(n);
}

void place_marked(const struct place *p)
{
	if (atomic_load(&p->srv->view->marks) != p->marks)
		table_add_part(p->srv->table, p->dir, 0);
}

void place_moved(struct server *srv, struct node *dir)
{
	if (srv->on_moved)
		srv->on_moved(srv->watch_arg, dir);
	(void)watch_parts(srv, dir); /* without a watch the next look at it sets one */
	if (srv->stale_data)
		srv->stale_data(srv->watch_arg, dir->id);
}

bool place_is_followed(struct server *srv, const struct node *dir)
{
	cleanup_place struct place p = PLACE_INIT;

	return !srv->is_followed || place_open_held(srv, dir->id, &p) < 0 ||
	       srv->is_followed(srv->watch_arg, dir, &p.parts);
}

void place_emptied(const struct place *p)
{
	if (p->found.implied && p->srv->on_emptied)
		p->srv->on_emptied(p->srv->watch_arg, p->dir);
}

void place_close(struct place *p)
{
	if (!p->srv)
		return;
	if (p->mark.id)
		parts_give(p->srv->parts, &p->mark, &p->parts);
	else if (!p->shares)
		dirset_close(&p->parts);
	strbuf_clear(&p->path);
	strbuf_clear(&p->child);
	if (p->holds_tree)
		tree_done(p->srv);
	node_unref(p->dir);
	*p = (struct place)PLACE_INIT;
}

mode_t place_new_mode(const struct place *p, mode_t mode, mode_t mask)
{
	int fd = p->found.virtual ? -1 : p->parts.fd[p->found.layer];

	if (mask && fd >= 0 && fd_get_xattr(fd, ".", "system.posix_acl_default", NULL, 0) > 0)
		return mode;
	return mode & ~mask;
}

int place_child(struct place *p, const char *name, struct found *ret)
{
	return stack_child(&p->srv->view->stack, &p->parts, name, ret);
}

const char *place_child_path(struct place *p, const char *name)
{
	return path_join(&p->child, p->path.buf, name) < 0 ? NULL : p->child.buf;
}
