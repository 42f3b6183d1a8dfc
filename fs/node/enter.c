/* SPDX-License-Identifier: MIT */
/*
 * How what was found at a name becomes a node, and what our own changes do to names: see table.h.
 */
#include <errno.h>
#include <string.h>

#include "node/table_impl.h"

/* Is what was found still what the node stands for? */
static bool is_same(const struct node *n, const struct found *f)
{
	struct object_key key;

	if (n->type != (f->st.st_mode & S_IFMT))
		return false;
	if (n->type == S_IFDIR)
		return true;
	if (n->seen.virtual || f->virtual)
		return n->seen.virtual == f->virtual && n->seen.layer == f->layer;
	key = object_key(&f->obj);
	return object_key_same(&n->seen.key, &key) &&
	       !((n->seen.owner_mode ^ f->obj.st.st_mode) & S_IFMT);
}

bool table_is_same(struct table *t, struct node *n, const struct found *found)
{
	bool same;

	pthread_mutex_lock(&t->lock);
	same = is_same(n, found);
	pthread_mutex_unlock(&t->lock);
	return same;
}

/* Take a name from its node; reference the node if that was the last one. */
static struct node *unname(struct table *t, struct name *nm, struct node **dead)
{
	struct node *n = nm->node;
	bool last = n->names == nm && !nm->next;

	node_pin(n);
	table_drop_name(t, nm, dead);
	if (last) {
		n->orphan = ORPHAN_HIDDEN;
		return n;
	}
	n->refs--;
	return NULL;
}

/* Say what has become of a node that unname() returned. Whoever kept it alive still does. */
static void orphaned(struct node *n, enum orphan orphan)
{
	if (!n)
		return;
	n->orphan = orphan;
	n->refs--;
}

static int fill(struct table *t, struct enter *e, struct node *n, struct node **ret)
{
	table_set_found(t, n, e->found);
	n->nlookup++;
	n->refs++;
	if (e->own)
		e->dir->seq++;
	*ret = n;
	return 0;
}

/* A node for what was found: an existing one with another name, or a new one. */
static int add(struct table *t, struct enter *e, struct node **ret)
{
	struct node *n = NULL;
	struct name *nm;

	if (e->share == SHARE_YES && is_same(e->other, e->found))
		n = e->other;
	nm = name_new(e->dir, e->name);
	if (!nm)
		return strnlen(e->name, NAME_MAX + 1) > NAME_MAX ? -ENAMETOOLONG : -ENOMEM;
	if (!n)
		n = table_add_node(t, e->found);
	if (!n) {
		free(nm);
		return -ENOMEM;
	}
	table_add_name(t, nm, e->dir, n);
	return fill(t, e, n, ret);
}

static int enter(struct table *t, struct enter *e, struct node **ret, struct node **dead)
{
	struct name *nm = table_name(t, e->dir, e->name);
	struct node *n = nm ? nm->node : NULL;

	if (!e->own && e->seq != e->dir->seq)
		return -EAGAIN;
	if (n && is_same(n, e->found)) {
		table_make_first(n, nm);
		return fill(t, e, n, ret);
	}
	if (n && n->changing && !e->own) {
		e->busy = node_pin(n);
		return -EBUSY;
	}
	if (e->share == SHARE_ASK) {
		struct node *o = table_object(t, e->found);

		if (o && o != n) {
			e->other = node_pin(o);
			return ENTER_ASK;
		}
	}
	if (e->instead && e->other)
		table_unhash(t, e->other);
	if (nm)
		e->lost = unname(t, nm, dead);
	return add(t, e, ret);
}

int table_enter(struct table *t, struct enter *e, struct node **ret)
{
	struct node *dead = NULL;
	int r;

	e->lost = NULL;
	pthread_mutex_lock(&t->lock);
	r = enter(t, e, ret, &dead);
	table_unlock(t, dead);
	return r;
}

int table_enter_nameless(struct table *t, const struct found *f, struct node **ret)
{
	struct node *n;

	pthread_mutex_lock(&t->lock);
	n = table_add_node(t, f);
	if (n) {
		n->orphan = ORPHAN_OWN;
		n->nlookup = 1;
		n->refs = 1;
	}
	pthread_mutex_unlock(&t->lock);
	if (!n)
		return -ENOMEM;
	*ret = n;
	return 0;
}

int table_absent(struct table *t, struct node *dir, const char *name, uint64_t seq,
		 struct node **ret_node)
{
	struct node *dead = NULL;
	struct name *nm;
	int r = 0;

	*ret_node = NULL;
	pthread_mutex_lock(&t->lock);
	if (seq != dir->seq)
		r = -EAGAIN;
	nm = r ? NULL : table_name(t, dir, name);
	if (nm && nm->node->changing) {
		*ret_node = node_pin(nm->node);
		r = -EBUSY;
	} else if (nm) {
		*ret_node = unname(t, nm, &dead);
	}
	table_unlock(t, dead);
	return r;
}

void table_refresh(struct table *t, struct node *n, struct node *parent, const char *name,
		   uint64_t seq, const struct found *found)
{
	pthread_mutex_lock(&t->lock);
	if ((!parent || parent->seq == seq) && !n->changing && is_same(n, found)) {
		struct name *nm = parent ? table_name(t, parent, name) : NULL;
		uint64_t parts = n->seen.parts;

		if (nm && nm->node == n)
			table_make_first(n, nm);
		table_set_found(t, n, found);
		if (!parent)
			n->seen.parts |= parts;
	}
	pthread_mutex_unlock(&t->lock);
}

void table_set_mode(struct table *t, struct node *n, mode_t mode)
{
	pthread_mutex_lock(&t->lock);
	n->seen.mode = (uint16_t)(n->type | (mode & 07777));
	n->seen.owner_mode = (uint16_t)((n->seen.owner_mode & S_IFMT) | (mode & 07777));
	pthread_mutex_unlock(&t->lock);
}

void table_removed(struct table *t, struct node *dir, const char *name, enum orphan orphan)
{
	struct node *dead = NULL;
	struct name *nm;

	pthread_mutex_lock(&t->lock);
	dir->seq++;
	nm = table_name(t, dir, name);
	if (nm)
		orphaned(unname(t, nm, &dead), orphan);
	table_unlock(t, dead);
}

/* The node stands for another object now, by @keep: its other names still lead to the old one. */
static void stray_others(struct table *t, struct node *n, const struct name *keep,
			 struct node **dead)
{
	for (struct name *nm = n->names, *next; nm; nm = next) {
		next = nm->next;
		if (nm == keep)
			continue;
		if (t->strayed)
			t->strayed(t->watcher, nm->parent->id, nm->text);
		table_drop_name(t, nm, dead);
	}
}

/* It has been found at that name after our own change. */
static void settle(struct table *t, struct node *n, struct node *dir, const char *name,
		   const struct found *found, struct node **dead)
{
	if (!is_same(n, found))
		stray_others(t, n, table_name(t, dir, name), dead);
	table_set_found(t, n, found);
}

/* Let @name of @dir be @n's; whoever had it loses it. @nm is taken. */
static void give_name(struct table *t, struct name *nm, struct node *dir, const char *name,
		      struct node *n, enum orphan orphan, struct node **dead)
{
	struct name *old = table_name(t, dir, name);

	if (old && n && old->node == n) {
		free(nm);
		return;
	}
	if (old)
		orphaned(unname(t, old, dead), orphan);
	if (n)
		table_add_name(t, nm, dir, n);
	else
		free(nm);
}

int table_moved(struct table *t, struct node *n, struct node *dir, const char *name,
		struct node *new_dir, const char *new_name, const struct found *found,
		enum orphan orphan)
{
	struct name *nm = name_new(new_dir, new_name);
	struct node *dead = NULL;
	struct name *old;

	if (!nm)
		return -ENOMEM;
	pthread_mutex_lock(&t->lock);
	dir->seq++;
	if (new_dir != dir)
		new_dir->seq++;
	old = table_name(t, dir, name);
	give_name(t, nm, new_dir, new_name, n, orphan, &dead);
	if (old && old->node == n && old != table_name(t, new_dir, new_name))
		table_drop_name(t, old, &dead);
	if (n)
		settle(t, n, new_dir, new_name, found, &dead);
	table_unlock(t, dead);
	return 0;
}

int table_exchanged(struct table *t, struct node *dir_a, const char *name_a,
		    const struct found *at_a, struct node *dir_b, const char *name_b,
		    const struct found *at_b)
{
	struct name *new_a = name_new(dir_a, name_a);
	struct name *new_b = name_new(dir_b, name_b);
	struct node *dead = NULL;
	struct node *was_a;
	struct node *was_b;
	struct name *nm;

	if (!new_a || !new_b) {
		free(new_a);
		free(new_b);
		return -ENOMEM;
	}
	pthread_mutex_lock(&t->lock);
	dir_a->seq++;
	dir_b->seq++;
	nm = table_name(t, dir_a, name_a);
	was_a = nm ? node_pin(nm->node) : NULL;
	if (nm)
		table_drop_name(t, nm, &dead);
	nm = table_name(t, dir_b, name_b);
	was_b = nm ? node_pin(nm->node) : NULL;
	if (nm)
		table_drop_name(t, nm, &dead);
	give_name(t, new_a, dir_a, name_a, was_b, ORPHAN_HIDDEN, &dead);
	give_name(t, new_b, dir_b, name_b, was_a, ORPHAN_HIDDEN, &dead);
	if (was_b)
		settle(t, was_b, dir_a, name_a, at_a, &dead);
	if (was_a)
		settle(t, was_a, dir_b, name_b, at_b, &dead);
	table_unlock(t, dead);
	node_unref(was_a);
	node_unref(was_b);
	return 0;
}

void table_stray_all(struct table *t, struct node *n)
{
	pthread_mutex_lock(&t->lock);
	for (const struct name *nm = n->names; nm && t->strayed; nm = nm->next)
		t->strayed(t->watcher, nm->parent->id, nm->text);
	pthread_mutex_unlock(&t->lock);
}

void table_stray(struct table *t, struct node *dir, const char *name)
{
	pthread_mutex_lock(&t->lock);
	dir->seq++;
	if (t->strayed)
		t->strayed(t->watcher, dir->id, name);
	pthread_mutex_unlock(&t->lock);
}

/* @arg: the table */
static void recount(void *arg, struct hashed *h)
{
	const struct node *n = CONTAINER_OF(h, struct node, by_id);
	const struct table *t = arg;

	if (n->type != S_IFDIR && n->seen.nlink > 1)
		t->renumbered(t->watcher, n->id);
}

void table_recount(struct table *t)
{
	pthread_mutex_lock(&t->lock);
	if (t->renumbered)
		hashset_each(&t->ids, recount, t);
	pthread_mutex_unlock(&t->lock);
}

void table_changing(struct table *t, struct node *n)
{
	pthread_mutex_lock(&t->lock);
	n->changing = true;
	pthread_mutex_unlock(&t->lock);
}

bool table_is_changing(struct table *t, struct node *n)
{
	bool changing;

	pthread_mutex_lock(&t->lock);
	changing = n->changing;
	pthread_mutex_unlock(&t->lock);
	return changing;
}

void table_changed(struct table *t, struct node *n, const struct found *found)
{
	struct node *dead = NULL;

	pthread_mutex_lock(&t->lock);
	n->changing = false;
	if (found) {
		for (struct name *nm = n->names; nm; nm = nm->next)
			nm->parent->seq++;
		if (!is_same(n, found))
			stray_others(t, n, n->names, &dead);
		table_set_found(t, n, found);
	}
	table_unlock(t, dead);
}
