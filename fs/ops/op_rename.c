/* SPDX-License-Identifier: MIT */
/*
 * Renaming. What makes it long is what else goes on: files in use keep their descriptors, nobody
 * may write to one while it is copied to another layer, and nodes below a directory that was
 * copied stand for the copies afterwards.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "layer/change.h"
#include "ops/edit.h"
#include "ops/entry.h"
#include "ops/hidden.h"
#include "ops/ops.h"
#include "ops/park.h"
#include "ops/refusal.h"
#include "ops/reply.h"

/* One of the two names. */
struct side {
	struct place place;
	const char *name;
	struct node *n; /* known by that name, referenced, or NULL */
	bool exists;
	struct found f; /* what is there, if it exists */
	const char *path;
};

/* A descriptor for writing that was taken from its node for the time being. */
struct taken {
	struct node *n; /* referenced */
	int fd;
	bool is_readable;
	struct found before;
};

struct renaming {
	struct server *srv;
	struct side from;
	struct side to;
	unsigned flags;
	bool write;	     /* the tree is held for writing */
	bool parked;	     /* what is replaced has one more name */
	bool copied;	     /* what was renamed may be another object now */
	struct node **below; /* known nodes below the directories that move */
	size_t n_below;
	struct taken *taken;
	size_t n_taken;
};

static bool is_dir(const struct node *n)
{
	return n && n->type == S_IFDIR;
}

/* Look at a name. A node that stands for something else than what is there loses the name. */
static int look(struct side *s)
{
	struct server *srv = s->place.srv;
	struct found was;
	int r = place_child(&s->place, s->name, &s->f);

	if (r < 0 && r != -ENOENT)
		return r;
	s->exists = !r;
	s->path = place_child_path(&s->place, s->name);
	if (!s->path)
		return -ENOMEM;
	if (!s->n)
		return 0;
	node_found(s->n, &was);
	if (s->exists && (s->f.st.st_mode & S_IFMT) == s->n->type &&
	    (is_dir(s->n) || s->f.virtual || object_same(&s->f.obj, &was.obj)))
		return 0;
	table_removed(srv->table, s->place.dir, s->name, ORPHAN_HIDDEN);
	node_unref(s->n);
	s->n = NULL;
	return 0;
}

/* Take the node's descriptor for writing, so that nobody writes while its object may be copied. */
static void take(struct renaming *rn, struct node *n)
{
	struct taken *t = &rn->taken[rn->n_taken];

	if (n->type != S_IFREG)
		return;
	t->fd = handle_take(rn->srv->slots, n, HANDLE_WRITE, &t->is_readable);
	if (t->fd < 0)
		return;
	t->n = node_ref(n);
	node_found(n, &t->before);
	rn->n_taken++;
}

/* Add the known nodes below a directory to those that move. */
static int add_below(struct renaming *rn, struct node *dir)
{
	struct node **more = NULL;
	struct node **all;
	size_t n = 0;
	int r = is_dir(dir) ? table_below(rn->srv->table, dir, &more, &n) : 0;

	if (r < 0 || !n) {
		free(more);
		return r;
	}
	all = reallocarray(rn->below, rn->n_below + n, sizeof(struct node *));
	if (all) {
		memcpy(all + rn->n_below, more, n * sizeof(struct node *));
		rn->below = all;
		rn->n_below += n;
	}
	for (size_t i = 0; !all && i < n; i++)
		node_unref(more[i]);
	free(more);
	return all ? 0 : -ENOMEM;
}

static int take_all(struct renaming *rn)
{
	int r = add_below(rn, rn->from.n);

	if (!r && (rn->flags & RENAME_EXCHANGE))
		r = add_below(rn, rn->to.n);
	if (r < 0)
		return r;
	rn->taken = calloc(rn->n_below + 2, sizeof(*rn->taken));
	if (!rn->taken)
		return -ENOMEM;
	if (rn->from.n)
		take(rn, rn->from.n);
	if (rn->to.n && rn->to.n != rn->from.n && (rn->flags & RENAME_EXCHANGE))
		take(rn, rn->to.n);
	for (size_t i = 0; i < rn->n_below; i++)
		take(rn, rn->below[i]);
	return 0;
}

/* Give back the descriptors of those nodes that still stand for the same object. */
static void give_back(struct renaming *rn)
{
	for (size_t i = 0; i < rn->n_taken; i++) {
		cleanup_handle struct handle *h = NULL;
		struct taken *t = &rn->taken[i];
		struct found now;

		node_found(t->n, &now);
		if (object_same(&now.obj, &t->before.obj))
			(void)handle_install(rn->srv->slots, t->n, HANDLE_WRITE, t->fd,
					     t->is_readable, &h); /* else it is opened again */
		else
			close(t->fd);
		node_unref(t->n);
	}
	rn->n_taken = 0;
}

/* The node known by that name stands for @now. */
static void rebind(struct server *srv, struct node *dir, const char *name, struct node *n,
		   const struct found *now)
{
	struct found was;

	node_found(n, &was);
	/* out of memory: the next look-up of the name gives it a node of its own */
	(void)table_moved(srv->table, n, dir, name, dir, name, now, ORPHAN_HIDDEN);
	if (n->type == S_IFREG && !object_same(&was.obj, &now->obj)) {
		handle_drop(srv->slots, n, HANDLE_READ);
		handle_drop(srv->slots, n, HANDLE_PATH);
	}
}

/* The same for all that is known in a directory; by their names: a node may have more elsewhere. */
static void rebind_in(struct server *srv, struct node *dir)
{
	cleanup_strv struct strv names = STRV_INIT;
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	cleanup_strbuf struct strbuf sub = STRBUF_INIT;
	bool gone = table_path(srv->table, dir, &path) < 0;

	(void)table_kids(srv->table, dir, &names); /* as above */
	for (size_t i = 0; i < names.n; i++) {
		cleanup_node struct node *n = table_child(srv->table, dir, names.v[i]);
		struct found now;

		if (!n)
			continue;
		if (!gone && path_join(&sub, path.buf, names.v[i]) == 0 &&
		    stack_lookup(&srv->view->stack, sub.buf, &now) == 0 &&
		    (now.st.st_mode & S_IFMT) == n->type) {
			rebind(srv, dir, names.v[i], n, &now);
			continue;
		}
		/* not shown there */
		table_removed(srv->table, dir, names.v[i], ORPHAN_HIDDEN);
		table_stray(srv->table, dir, names.v[i]);
	}
	if (!gone)
		place_moved(srv, dir);
}

/* Directories were copied, or are merged with others: nothing of them is as it was. */
static void rebind_below(struct renaming *rn)
{
	struct node *tops[] = { rn->from.n, rn->to.n };

	for (size_t i = 0; i < ARRAY_SIZE(tops); i++)
		if (is_dir(tops[i]))
			rebind_in(rn->srv, tops[i]);
	for (size_t i = 0; i < rn->n_below; i++)
		if (is_dir(rn->below[i]))
			rebind_in(rn->srv, rn->below[i]);
	/* what was copied and removed may have had names elsewhere */
	table_recount(rn->srv->table);
}

/*
 * Others may have put another directory in the place of one that has moved now, and we have yet to
 * hear of that: it will be of the name that it had. So nothing of it is as it was known.
 */
static void settle(struct renaming *rn)
{
	struct node *tops[] = { rn->from.n, rn->flags & RENAME_EXCHANGE ? rn->to.n : NULL };
	bool right = true;

	for (size_t i = 0; i < ARRAY_SIZE(tops); i++)
		right = right && (!is_dir(tops[i]) || place_is_followed(rn->srv, tops[i]));
	for (size_t i = 0; !right && i < ARRAY_SIZE(tops); i++)
		if (is_dir(tops[i]))
			place_moved(rn->srv, tops[i]);
	for (size_t i = 0; !right && i < rn->n_below; i++)
		if (is_dir(rn->below[i]))
			place_moved(rn->srv, rn->below[i]);
}

/* Can what lies below the directory have got into other layers? */
static bool is_plain_move(const struct found *was, const struct found *now)
{
	return was->layer == now->layer && was->parts == now->parts &&
	       !(was->parts & (was->parts - 1)) && object_same(&was->obj, &now->obj);
}

/* What lies in it now has the directory, and those above it, in its layers. */
static void note_parts(const struct place *p, const struct found *f)
{
	place_add_part(p->srv, p->dir, f->layer);
	for (uint64_t left = f->parts; left; left &= left - 1)
		place_add_part(p->srv, p->dir, (unsigned)__builtin_ctzll(left));
	place_marked(p);
}

/* The kernel keeps what it moves; where it must ask each time, it has to be told. */
static void note_loose(const struct side *s, const struct found *f)
{
	const struct place *p = &s->place;

	if (stack_is_loose(&p->srv->view->stack, &p->parts, s->name, f))
		table_stray(p->srv->table, p->dir, s->name);
}

/*
 * Is it there by our doing? A node keeps its type and, if it was not copied, its object. What
 * others have put there meanwhile is not what the node stands for: who has that open goes on with
 * it.
 */
static bool is_ours(const struct renaming *rn, const struct found *was, const struct found *now)
{
	if ((was->st.st_mode & S_IFMT) != (now->st.st_mode & S_IFMT))
		return false;
	return rn->copied || S_ISDIR(was->st.st_mode) || was->virtual || now->virtual ||
	       object_same(&was->obj, &now->obj);
}

/* What the node holds of an object that was copied is not what it stands for now. */
static void drop_if_copied(struct server *srv, const struct side *s, const struct found *now)
{
	if (!s->n || s->n->type != S_IFREG || object_same(&s->f.obj, &now->obj))
		return;
	handle_drop(srv->slots, s->n, HANDLE_READ);
	handle_drop(srv->slots, s->n, HANDLE_PATH);
}

/* Nothing covers what scratch has, and of a file that it still has only the ctime is another. */
static bool look_in_scratch(struct renaming *rn, struct found *ret)
{
	const struct side *a = &rn->from;
	const struct side *b = &rn->to;
	int fd = b->place.parts.fd[a->f.layer];
	struct object o;

	if (rn->srv->view->stack.layers[a->f.layer].kind != LAYER_SCRATCH || fd < 0 ||
	    S_ISDIR(a->f.obj.st.st_mode) || object_stat(fd, b->name, &o) < 0 ||
	    !object_same(&o, &a->f.obj))
		return false;
	*ret = a->f;
	ret->obj = o;
	ret->st = o.st;
	ret->st.st_ino = a->f.st.st_ino;
	return true;
}

/* What the new name shows. A file that has stayed in its layer is seen in the open directory. */
static int look_again(struct renaming *rn, struct found *ret)
{
	struct side *b = &rn->to;

	if (look_in_scratch(rn, ret))
		return 0;
	if (!S_ISDIR(rn->from.f.obj.st.st_mode) && !place_child(&b->place, b->name, ret) &&
	    ret->layer == rn->from.f.layer && object_same(&ret->obj, &rn->from.f.obj))
		return 0;
	return stack_lookup(&rn->srv->view->stack, b->path, ret);
}

/* The layers have been changed: let the table follow. */
static int follow(struct renaming *rn, const struct handle *kept)
{
	struct server *srv = rn->srv;
	struct side *a = &rn->from;
	struct side *b = &rn->to;
	enum orphan orphan =
		b->exists ? edit_outcome(kept, b->f.obj.st.st_nlink + rn->parked) : ORPHAN_OWN;
	struct found now;
	int r = look_again(rn, &now);

	if (r < 0 || !is_ours(rn, &a->f, &now)) {
		/* somebody took it away again underneath, or replaced it */
		table_removed(srv->table, a->place.dir, a->name, ORPHAN_HIDDEN);
		table_removed(srv->table, b->place.dir, b->name, orphan);
		return 0;
	}
	if (!a->n)
		table_removed(srv->table, a->place.dir, a->name, ORPHAN_HIDDEN);
	r = table_moved(srv->table, a->n, a->place.dir, a->name, b->place.dir, b->name, &now,
			orphan);
	if (r < 0)
		return r;
	drop_if_copied(srv, a, &now);
	place_marked(&a->place);
	note_parts(&b->place, &now);
	note_loose(b, &now);
	place_emptied(&a->place);
	if (is_dir(a->n) && !is_plain_move(&a->f, &now))
		rebind_below(rn);
	else
		settle(rn);
	return 0;
}

static int follow_exchange(struct renaming *rn)
{
	struct server *srv = rn->srv;
	struct side *a = &rn->from;
	struct side *b = &rn->to;
	struct found at_a;
	struct found at_b;
	int r = stack_lookup(&srv->view->stack, a->path, &at_a);

	if (!r)
		r = stack_lookup(&srv->view->stack, b->path, &at_b);
	if (r < 0 || !is_ours(rn, &a->f, &at_b) || !is_ours(rn, &b->f, &at_a)) {
		table_removed(srv->table, a->place.dir, a->name, ORPHAN_HIDDEN);
		table_removed(srv->table, b->place.dir, b->name, ORPHAN_HIDDEN);
		return 0;
	}
	r = table_exchanged(srv->table, a->place.dir, a->name, &at_a, b->place.dir, b->name, &at_b);
	if (r < 0)
		return r;
	drop_if_copied(srv, a, &at_b);
	drop_if_copied(srv, b, &at_a);
	note_parts(&a->place, &at_a);
	note_parts(&b->place, &at_b);
	note_loose(a, &at_a);
	note_loose(b, &at_b);
	if ((is_dir(a->n) && !is_plain_move(&a->f, &at_b)) ||
	    (is_dir(b->n) && !is_plain_move(&b->f, &at_a)))
		rebind_below(rn);
	else
		settle(rn);
	return 0;
}

static void lock_both(struct node *a, struct node *b)
{
	if (a && b && b->id < a->id) {
		struct node *t = a;

		a = b;
		b = t;
	}
	if (a)
		node_begin(a);
	if (b && b != a)
		node_begin(b);
}

static void unlock_both(struct node *a, struct node *b)
{
	if (a)
		node_end(a);
	if (b && b != a)
		node_end(b);
}

static int check(const struct renaming *rn)
{
	if (!rn->from.exists)
		return -ENOENT;
	if ((rn->flags & RENAME_NOREPLACE) && rn->to.exists)
		return -EEXIST;
	if ((rn->flags & RENAME_EXCHANGE) && !rn->to.exists)
		return -ENOENT;
	/* only now it is known for sure: again, with the tree held for writing */
	if (!rn->write && (S_ISDIR(rn->from.f.st.st_mode) ||
			   ((rn->flags & RENAME_EXCHANGE) && S_ISDIR(rn->to.f.st.st_mode))))
		return -EAGAIN;
	return 0;
}

/* Look-ups that see half of it have to wait. */
static void set_changing(const struct renaming *rn, bool on)
{
	struct node *both[] = { rn->from.n, rn->to.n };

	for (size_t i = 0; i < ARRAY_SIZE(both); i++) {
		if (both[i] && on)
			table_changing(rn->srv->table, both[i]);
		else if (both[i])
			table_changed(rn->srv->table, both[i], NULL);
	}
}

static struct change_name name_of(const struct side *s)
{
	return (struct change_name){
		.path = s->path,
		.f = s->exists ? &s->f : NULL,
		.in = place_in(&s->place),
	};
}

/* @kept: holds open what is replaced, or NULL */
static int change(struct renaming *rn, const struct handle *kept)
{
	struct change_name from = name_of(&rn->from);
	struct change_name to = name_of(&rn->to);
	int r;

	set_changing(rn, true);
	r = change_rename(rn->srv->view, &from, &to, &rn->to.place.found, rn->flags);
	if (r < 0)
		return r;
	rn->copied = r;
	return rn->flags & RENAME_EXCHANGE ? follow_exchange(rn) : follow(rn, kept);
}

/* Both nodes are busy. */
static int rename_busy(struct renaming *rn)
{
	cleanup_handle struct handle *kept = NULL;
	int r = look(&rn->from);

	if (!r)
		r = look(&rn->to);
	if (!r)
		r = check(rn);
	if (!r)
		r = take_all(rn);
	if (r < 0)
		return r;
	if (rn->to.n && !(rn->flags & RENAME_EXCHANGE))
		kept = edit_keep(rn->srv, rn->to.n, false);
	if (kept && rn->to.exists)
		rn->parked = park_begin(rn->srv, rn->to.n, kept, rn->to.path, &rn->to.f,
					ROUTE_EDIT);
	r = change(rn, kept);
	if (kept)
		park_end(rn->srv, rn->to.n, kept);
	set_changing(rn, false);
	give_back(rn);
	r = refusal_note(rn->srv, r, rn->from.path, &rn->from.f, ROUTE_REMOVE);
	return refusal_note(rn->srv, r, rn->to.path, &rn->to.place.found, ROUTE_CREATE);
}

static int rename_held(struct renaming *rn, uint64_t dir, uint64_t new_dir)
{
	struct node *a;
	struct node *b;
	int r = place_open_held(rn->srv, dir, &rn->from.place);

	if (!r && new_dir == dir)
		r = place_share(&rn->from.place, &rn->to.place);
	else if (!r)
		r = place_open_held(rn->srv, new_dir, &rn->to.place);
	if (r < 0)
		return r;
	a = rn->from.n = table_child(rn->srv->table, rn->from.place.dir, rn->from.name);
	b = rn->to.n = table_child(rn->srv->table, rn->to.place.dir, rn->to.name);
	if (a)
		(void)node_ref(a); /* look() may let go of it while it is locked */
	if (b)
		(void)node_ref(b);
	lock_both(a, b);
	r = rename_busy(rn);
	unlock_both(a, b);
	node_unref(a);
	node_unref(b);
	return r;
}

static void clear(struct renaming *rn)
{
	for (size_t i = 0; i < rn->n_below; i++)
		node_unref(rn->below[i]);
	free(rn->below);
	free(rn->taken);
	node_unref(rn->from.n);
	node_unref(rn->to.n);
	place_close(&rn->to.place); /* it may share the other one's parts */
	place_close(&rn->from.place);
}

static int rename_once(struct server *srv, uint64_t dir, const char *name, uint64_t new_dir,
		       const char *new_name, unsigned flags, bool write)
{
	struct renaming rn = {
		.srv = srv,
		.from = { .place = PLACE_INIT, .name = name },
		.to = { .place = PLACE_INIT, .name = new_name },
		.flags = flags,
		.write = write,
	};
	int r;

	if (write)
		tree_write(srv);
	else
		tree_read(srv);
	r = rename_held(&rn, dir, new_dir);
	tree_done(srv);
	clear(&rn);
	return r;
}

static int rename_name(struct server *srv, uint64_t dir, const char *name, uint64_t new_dir,
		       const char *new_name, unsigned flags)
{
	int r;

	if (flags & ~(unsigned)(RENAME_NOREPLACE | RENAME_EXCHANGE))
		return -EINVAL;
	if (hidden_has(dir, name) || hidden_has(new_dir, new_name))
		return -EPERM;
	r = rename_once(srv, dir, name, new_dir, new_name, flags, false);
	return r == -EAGAIN ? rename_once(srv, dir, name, new_dir, new_name, flags, true) : r;
}

void op_rename(fuse_req_t req, fuse_ino_t dir, const char *name, fuse_ino_t new_dir,
	       const char *new_name, unsigned flags)
{
	struct server *srv = server_of(req, REQ_RENAME);

	reply_err(req, rename_name(srv, dir, name, new_dir, new_name, flags));
}
