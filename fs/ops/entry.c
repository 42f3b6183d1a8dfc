/* SPDX-License-Identifier: MIT */
/* Entries: see entry.h. */
#include "ops/entry.h"

#include <errno.h>
#include <string.h>

#include "ops/edit.h"
#include "ops/hidden.h"
#include "ops/size.h"

/*
 * Look-ups that came too late are repeated; each repetition means that somebody else got on, so the
 * limit is there only for the case that this is wrong.
 */
enum { MAX_TRIES = 1000 };

/* What a change of an object, written by one of its names, does. */
enum edit { EDIT_COPIES, EDIT_IN_PLACE, EDIT_REFUSED };

static enum edit edit_of(struct view *v, const char *path, const struct found *f)
{
	struct route rt;
	int r = route_existing(v, path, f, ROUTE_EDIT, &rt);

	if (r == -EROFS)
		return EDIT_REFUSED;
	return !r && rt.in_place ? EDIT_IN_PLACE : EDIT_COPIES;
}

/* May it be changed by a name that a rule does not deny, as this one is? */
static bool is_refused_link(struct place *p, const char *name, const struct found *f)
{
	const char *path = NULL;

	if (!S_ISDIR(f->obj.st.st_mode) && f->obj.st.st_nlink > 1)
		path = place_child_path(p, name);
	return path && edit_of(p->srv->view, path, f) == EDIT_REFUSED;
}

/* An object and a node that has another name for it. */
struct twins {
	struct node *other; /* referenced, or NULL: there is none */
	enum edit own;	    /* by the name just looked up */
	enum edit others;
	bool apart; /* they are two nodes */
};

static enum edit edit_of_node(struct server *srv, struct node *n)
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	struct found f;

	if (table_where(srv->table, n, &path, &f) == 0)
		return edit_of(srv->view, path.buf, &f);
	return table_orphan(srv->table, n) == ORPHAN_OWN ? EDIT_IN_PLACE : EDIT_COPIES;
}

/* May the object found at @path be the same node as @other, which has another name for it? */
static enum share decide_share(struct server *srv, const char *path, const struct found *f,
			       struct twins *t)
{
	t->own = edit_of(srv->view, path, f);
	t->others = edit_of_node(srv, t->other);
	/* the kernel names no name: a node is refused or not */
	t->apart = t->own == EDIT_COPIES || t->own != t->others || atomic_load(&t->other->nameless);
	return t->apart ? SHARE_NO : SHARE_YES;
}

/* Nobody tells of its changes. Returns false if that is known. */
static bool loosen(struct server *srv, struct node *n)
{
	if (atomic_exchange(&n->unwatched, true))
		return false;
	if (srv->on_loose && n->type == S_IFREG)
		srv->on_loose(srv->watch_arg, n->id);
	return true;
}

/* What one of them changes in place, the kernel has got by the other, too. */
static void loosen_twins(struct server *srv, struct node *n, const struct twins *t)
{
	if (!t->other || !t->apart)
		return;
	if (t->others == EDIT_IN_PLACE)
		(void)loosen(srv, n);
	if (t->own == EDIT_IN_PLACE && loosen(srv, t->other))
		table_stray_all(srv->table, t->other);
}

/* A node has lost its last name at @path: how may it be changed from now on? */
static void settle_lost(struct place *p, const char *name, struct node *lost)
{
	const char *path;
	struct found f;
	struct route rt;

	if (!lost || lost->type != S_IFREG)
		return;
	node_found(lost, &f);
	path = place_child_path(p, name);
	if (!path)
		return;
	edit_keep_lost(p->srv, lost, path, &f);
	if (!f.virtual && route_existing(p->srv->view, path, &f, ROUTE_EDIT, &rt) == 0 &&
	    rt.in_place)
		table_set_orphan(p->srv->table, lost, ORPHAN_OWN);
}

void entry_attr(const struct found *f, const struct stat *st, struct stat *ret)
{
	*ret = *st;
	ret->st_ino = f->st.st_ino;
	if (f->lent) {
		ret->st_uid = f->st.st_uid;
		ret->st_gid = f->st.st_gid;
		ret->st_mode = f->st.st_mode;
	}
}

double entry_timeout(const struct server *srv, const struct node *n)
{
	return atomic_load_explicit(&n->unwatched, memory_order_relaxed) ? 0
									 : srv->config.timeout_sec;
}

bool entry_is_followed(const struct server *srv, const struct node *n)
{
	return n->type != S_IFDIR || !srv->on_dir || atomic_load(&n->watched);
}

static void fill(struct server *srv, struct node *n, const struct found *f,
		 struct fuse_entry_param *ret)
{
	double timeout = entry_timeout(srv, n);

	*ret = (struct fuse_entry_param){
		.ino = n->id,
		.generation = 1,
		.attr = f->st,
		.attr_timeout = entry_is_followed(srv, n) ? timeout : 0,
		.entry_timeout = timeout,
	};
	size_tell(srv, n, &ret->attr, &ret->attr_timeout);
}

static uint32_t hash_of(const struct timespec *t, off_t size)
{
	uint64_t h = (uint64_t)t->tv_sec * 1000000007u + (uint64_t)t->tv_nsec;

	return (uint32_t)((h * 31 + (uint64_t)size) * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

uint64_t entry_stamp(const struct stat *st)
{
	uint64_t content = hash_of(&st->st_mtim, st->st_size);

	return content << 32 | hash_of(&st->st_ctim, 0) | (UINT64_C(1) << 63);
}

/* Of two stamps: has the file been changed, and has the size and the mtime that it had before? */
static bool is_kept_time(uint64_t before, uint64_t now)
{
	return before != now && before >> 32 == now >> 32;
}

void entry_check_pages(const struct server *srv, struct node *n, const struct stat *st)
{
	bool unwatched = atomic_load_explicit(&n->unwatched, memory_order_relaxed);
	uint64_t before;
	uint64_t now;

	if (n->type != S_IFREG || !srv->stale_data || !(unwatched || srv->config.auto_inval))
		return;
	now = entry_stamp(st);
	before = atomic_exchange(&n->stamp, now);
	if (before && (srv->config.auto_inval ? is_kept_time(before, now) : before != now))
		atomic_store(&n->doubtful, true);
}

/* Wait until our own change of that node is done. */
static void wait_for(struct node *n)
{
	node_begin(n);
	node_end(n);
}

/* Is it a directory that others use past the mount? */
static enum redirect_apart find_apart(struct place *p, const char *name, const struct node *n)
{
	const struct redirects *rs = p->srv->view->redirects;
	const char *path = n->type == S_IFDIR && rs ? place_child_path(p, name) : NULL;

	return path ? redirect_is_apart(rs, path) : REDIRECT_APART_NOT;
}

int entry_enter(struct place *p, const char *name, const struct found *f, bool own,
		struct node *share, struct fuse_entry_param *ret)
{
	cleanup_node struct node *n = NULL;
	cleanup_node struct node *other = NULL;
	cleanup_node struct node *lost = NULL;
	struct twins twins = { .other = NULL };
	enum redirect_apart apart;
	struct enter e = {
		.dir = p->dir,
		.name = name,
		.found = f,
		.seq = p->seq,
		.own = own,
		.share = share ? SHARE_YES
			 : own ? SHARE_NO
			       : SHARE_ASK,
		.other = share,
	};
	int r = table_enter(p->srv->table, &e, &n);

	if (r == ENTER_ASK) {
		const char *path = place_child_path(p, name);

		other = e.other;
		if (!path)
			return -ENOMEM;
		twins.other = other;
		e.share = decide_share(p->srv, path, f, &twins);
		e.instead = twins.apart && twins.own == EDIT_IN_PLACE;
		r = table_enter(p->srv->table, &e, &n);
	}
	if (r == -EBUSY) {
		wait_for(e.busy);
		node_unref(e.busy);
		return -EAGAIN;
	}
	if (r < 0)
		return r;
	apart = find_apart(p, name, n);
	/*
	 * Where its directory is not watched, or it lies elsewhere, nobody tells of its changes;
	 * nor of those that the mount makes by another name that is another node.
	 */
	if (atomic_load(&p->dir->unwatched) || f->via_link || f->lent || apart ||
	    is_refused_link(p, name, f))
		(void)loosen(p->srv, n);
	loosen_twins(p->srv, n, &twins);
	entry_check_pages(p->srv, n, &f->st);
	lost = e.lost;
	settle_lost(p, name, lost);
	fill(p->srv, n, f, ret);
	if (stack_is_loose(&p->srv->view->stack, &p->parts, name, f))
		ret->entry_timeout = 0;
	/* one that is covered need not be asked for on the way to what covers it; until it is for
	 * sure, who goes there has to ask: see await_wanted */
	if (apart == REDIRECT_APART_NOW && !atomic_load(&p->srv->n_mounting))
		ret->entry_timeout = ret->attr_timeout = p->srv->config.timeout_sec;
	return 0;
}

void entry_follow(struct place *p, const char *name, struct fuse_entry_param *e)
{
	cleanup_place struct place below = PLACE_INIT;
	struct found now;

	if (!S_ISDIR(e->attr.st_mode) || e->attr_timeout > 0 || !(e->entry_timeout > 0))
		return;
	if (place_open_held(p->srv, e->ino, &below) < 0 || !entry_is_followed(p->srv, below.dir))
		return;
	/* what was seen before it was watched may have changed meanwhile */
	if (place_child(p, name, &now) < 0 || !S_ISDIR(now.st.st_mode))
		return;
	e->attr = now.st;
	e->attr_timeout = entry_timeout(p->srv, below.dir);
}

int entry_absent(struct place *p, const char *name)
{
	cleanup_node struct node *n = NULL;
	int r = table_absent(p->srv->table, p->dir, name, p->seq, &n);

	if (r == -EBUSY) {
		wait_for(n);
		return -EAGAIN;
	}
	if (!r)
		settle_lost(p, name, n);
	return r;
}

static int lookup_once(struct server *srv, uint64_t dir, const char *name,
		       struct fuse_entry_param *ret)
{
	cleanup_place struct place p = PLACE_INIT;
	struct found f;
	int r = place_open(srv, dir, &p);

	if (r < 0)
		return r;
	r = place_child(&p, name, &f);
	if (r == -ENOENT) {
		r = entry_absent(&p, name);
		*ret = (struct fuse_entry_param){ .entry_timeout = entry_timeout(srv, p.dir) };
		if (stack_is_loose(&srv->view->stack, &p.parts, name, NULL))
			ret->entry_timeout = 0;
		return r < 0 ? r : -ENOENT;
	}
	if (!r)
		r = entry_enter(&p, name, &f, false, NULL, ret);
	if (!r)
		entry_follow(&p, name, ret);
	return r;
}

int entry_lookup(struct server *srv, uint64_t dir, const char *name, struct fuse_entry_param *ret)
{
	int r;

	if (strnlen(name, NAME_MAX + 1) > NAME_MAX)
		return -ENAMETOOLONG;
	if (hidden_has(dir, name))
		return hidden_lookup(srv, dir, name, ret);
	for (int i = 0; i < MAX_TRIES; i++) {
		r = lookup_once(srv, dir, name, ret);
		if (r != -EAGAIN)
			return r;
	}
	return -EIO;
}
