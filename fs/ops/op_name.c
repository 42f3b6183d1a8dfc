/* SPDX-License-Identifier: MIT */
/* Making and removing names. */
#include <errno.h>
#include <sys/stat.h>

#include "layer/change.h"
#include "ops/attr.h"
#include "ops/edit.h"
#include "ops/entry.h"
#include "ops/firm.h"
#include "ops/hidden.h"
#include "ops/ops.h"
#include "ops/park.h"
#include "ops/refusal.h"
#include "ops/reply.h"
#include "ops/size.h"

/* A new object, whatever its kind. */
struct making {
	uint64_t dir;
	const char *name;
	mode_t mode; /* with its type */
	dev_t rdev;
	mode_t mask;
	const char *text; /* symlinks */
	struct cred who;
};

static int make_object(struct place *p, const struct making *m, struct found *ret)
{
	struct view *v = p->srv->view;
	mode_t mode;

	if (S_ISLNK(m->mode))
		return change_symlink(v, p->path.buf, &p->found, m->name, m->text, &m->who, ret);
	mode = place_new_mode(p, m->mode, m->mask);
	if (S_ISDIR(mode))
		return change_mkdir(v, p->path.buf, &p->found, m->name, mode & 07777, &m->who, ret);
	return change_mknod(v, p->path.buf, &p->found, m->name, mode, m->rdev, &m->who, ret);
}

static int refused(struct place *p, int r, const char *name)
{
	const char *path = r == -EROFS ? place_child_path(p, name) : NULL;

	return path ? refusal_note(p->srv, r, path, &p->found, ROUTE_CREATE) : r;
}

static void note_wanted(struct place *p, const char *name)
{
	struct server *srv = p->srv;
	const char *path = srv->on_wanted ? place_child_path(p, name) : NULL;

	if (path && redirect_is_wanted(srv->view->redirects, path))
		srv->on_wanted(srv->arg, p->dir->id, path);
}

static int make(struct server *srv, const struct making *m, struct fuse_entry_param *ret)
{
	cleanup_place struct place p = PLACE_INIT;
	struct found f;
	int r;

	if (hidden_has(m->dir, m->name))
		return -EPERM;
	r = place_open(srv, m->dir, &p);
	if (!r)
		r = refused(&p, make_object(&p, m, &f), m->name);
	if (!r)
		r = entry_enter(&p, m->name, &f, true, NULL, ret);
	if (!r)
		place_add_part(srv, p.dir, f.layer);
	if (!r && S_ISDIR(m->mode)) {
		entry_follow(&p, m->name, ret);
		note_wanted(&p, m->name);
	}
	return r;
}

static void make_and_reply(struct server *srv, fuse_req_t req, struct making *m)
{
	const struct fuse_ctx *ctx = fuse_req_ctx(req);
	struct fuse_entry_param e = { 0 };
	int r;

	m->who = (struct cred){ .uid = ctx->uid, .gid = ctx->gid };
	m->mask = ctx->umask;
	r = make(srv, m, &e);
	if (r < 0)
		reply_err(req, r);
	else
		reply_entry(srv, req, r, &e);
}

void op_mknod(fuse_req_t req, fuse_ino_t dir, const char *name, mode_t mode, dev_t rdev)
{
	struct making m = { .dir = dir, .name = name, .mode = mode, .rdev = rdev };

	make_and_reply(server_of(req, REQ_MKNOD), req, &m);
}

void op_mkdir(fuse_req_t req, fuse_ino_t dir, const char *name, mode_t mode)
{
	struct making m = { .dir = dir, .name = name, .mode = S_IFDIR | (mode & 07777) };

	make_and_reply(server_of(req, REQ_MKDIR), req, &m);
}

void op_symlink(fuse_req_t req, const char *text, fuse_ino_t dir, const char *name)
{
	struct making m = { .dir = dir, .name = name, .mode = S_IFLNK | 0777, .text = text };

	make_and_reply(server_of(req, REQ_SYMLINK), req, &m);
}

/* A file that was made without a name gets one. The caller holds n->busy. */
static int link_nameless(struct place *p, struct node *n, const char *name,
			 struct fuse_entry_param *ret)
{
	cleanup_handle struct handle *h = handle_get(p->srv->slots, n, HANDLE_WRITE);
	struct found made;
	struct found f;
	struct stat st;
	int r;

	/* one that had a name and lost it gets no other, even if its layer has one more */
	if (!h || fstat(h->fd, &st) < 0 || st.st_nlink)
		return -ENOENT;
	node_found(n, &f);
	r = change_link_nameless(p->srv->view, h->fd, &f, p->path.buf, &p->found, name, &made);
	if (!r)
		r = entry_enter(p, name, &made, true, n, ret);
	if (!r)
		place_add_part(p->srv, p->dir, made.layer);
	return r;
}

/* The caller holds n->busy. */
static int link_held(struct place *p, struct node *n, const char *name,
		     struct fuse_entry_param *ret)
{
	struct server *srv = p->srv;
	cleanup_node struct node *parent = NULL;
	cleanup_strbuf struct strbuf from = STRBUF_INIT;
	struct found before;
	struct found f;
	struct found made;
	int r;

	if (atomic_load(&n->nameless))
		return link_nameless(p, n, name, ret);
	r = table_place(srv->table, n, &from, &parent);
	if (r < 0)
		return -ENOENT;
	node_found(n, &before);
	r = stack_lookup(&srv->view->stack, from.buf, &f);
	if (r < 0)
		return r;
	if (!f.virtual && !object_same(&f.obj, &before.obj))
		return -ESTALE;
	table_changing(srv->table, n);
	r = change_link(srv->view, from.buf, &f, p->path.buf, &p->found, name, &made);
	table_changed(srv->table, n, r < 0 ? NULL : &f);
	if (r < 0)
		return r;
	if (!object_same(&f.obj, &before.obj)) {
		handle_drop(srv->slots, n, HANDLE_READ);
		handle_drop(srv->slots, n, HANDLE_PATH);
	}
	place_add_part(srv, parent, f.layer);
	r = entry_enter(p, name, &made, true, n, ret);
	if (!r)
		place_add_part(srv, p->dir, made.layer);
	return r;
}

static int make_link(struct server *srv, uint64_t id, uint64_t dir, const char *name,
		     struct fuse_entry_param *ret)
{
	cleanup_place struct place p = PLACE_INIT;
	cleanup_node struct node *n = NULL;
	int r;

	if (hidden_has(dir, name) || hidden_is(id))
		return -EPERM;
	r = server_node(srv, id, &n);
	if (!r)
		r = place_open(srv, dir, &p);
	if (r < 0)
		return r;
	node_begin(n);
	r = link_held(&p, n, name, ret);
	node_end(n);
	return r;
}

/*
 * The kernel takes it at any age, so it is made up anew now that no lock need be waited for. And it
 * is to ask again: what was told meanwhile, of times above all, would be lost for good.
 */
static void reply_linked(struct server *srv, fuse_req_t req, struct fuse_entry_param *e)
{
	cleanup_node struct node *n = NULL;

	if (table_get(srv->table, e->ino, &n) == 0) {
		firm_begin(n);
		if (attr_get(srv, n, &e->attr) == 0)
			size_tell(srv, n, &e->attr, &e->attr_timeout);
	}
	e->attr_timeout = 0;
	reply_entry(srv, req, 0, e);
	if (n)
		firm_end(n);
}

void op_link(fuse_req_t req, fuse_ino_t id, fuse_ino_t dir, const char *name)
{
	struct server *srv = server_of(req, REQ_LINK);
	struct fuse_entry_param e = { 0 };
	int r = make_link(srv, id, dir, name, &e);

	if (r < 0)
		reply_err(req, r);
	else
		reply_linked(srv, req, &e);
}

/* @n: the node known by that name, busy; or NULL */
static int unlink_held(struct place *p, const char *name, struct node *n)
{
	struct server *srv = p->srv;
	cleanup_handle struct handle *kept = NULL;
	bool parked = false;
	const char *path;
	enum orphan outcome;
	struct found f;
	int r = place_child(p, name, &f);

	if (r < 0)
		return r;
	if (S_ISDIR(f.st.st_mode))
		return -EISDIR;
	path = place_child_path(p, name);
	if (!path)
		return -ENOMEM;
	if (n)
		kept = edit_keep(srv, n, false);
	if (kept)
		parked = park_begin(srv, n, kept, path, &f, ROUTE_REMOVE);
	if (n)
		table_changing(srv->table, n);
	r = change_unlink(srv->view, path, &f, place_in(p));
	outcome = edit_outcome(kept, f.obj.st.st_nlink + parked);
	if (!r)
		table_removed(srv->table, p->dir, name, outcome);
	/* to the kernel it has lost a link, but it is only hidden here */
	if (!r && n && (outcome == ORPHAN_HIDDEN || !kept))
		table_stray_all(srv->table, n);
	if (kept)
		park_end(srv, n, kept);
	if (n)
		table_changed(srv->table, n, NULL);
	if (r < 0)
		return refusal_note(srv, r, path, &f, ROUTE_REMOVE);
	place_marked(p);
	place_emptied(p);
	return 0;
}

static int unlink_name(struct server *srv, uint64_t dir, const char *name)
{
	cleanup_place struct place p = PLACE_INIT;
	cleanup_node struct node *n = NULL;
	int r;

	if (hidden_has(dir, name))
		return -EPERM;
	r = place_open(srv, dir, &p);
	if (r < 0)
		return r;
	n = table_child(srv->table, p.dir, name);
	if (n)
		node_begin(n);
	r = unlink_held(&p, name, n);
	if (n)
		node_end(n);
	return r;
}

void op_unlink(fuse_req_t req, fuse_ino_t dir, const char *name)
{
	reply_err(req, unlink_name(server_of(req, REQ_UNLINK), dir, name));
}

static int remove_dir(struct server *srv, uint64_t dir, const char *name)
{
	cleanup_place struct place p = PLACE_INIT;
	const char *path;
	struct found f;
	int r;

	if (hidden_has(dir, name))
		return -EPERM;
	r = place_open(srv, dir, &p);
	if (!r)
		r = place_child(&p, name, &f);
	if (r < 0)
		return r;
	if (!S_ISDIR(f.st.st_mode))
		return -ENOTDIR;
	path = place_child_path(&p, name);
	r = path ? change_rmdir(srv->view, path, &f) : -ENOMEM;
	if (r < 0)
		return path ? refusal_note(srv, r, path, &f, ROUTE_REMOVE) : r;
	table_removed(srv->table, p.dir, name, ORPHAN_OWN);
	place_marked(&p);
	place_emptied(&p);
	return 0;
}

void op_rmdir(fuse_req_t req, fuse_ino_t dir, const char *name)
{
	reply_err(req, remove_dir(server_of(req, REQ_RMDIR), dir, name));
}
