/* SPDX-License-Identifier: MIT */
/* The table of nodes: see table.h. How a look-up's result finds its node is in enter.c. */
#include "node/table_impl.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>

/* Fewer than these are not worth the time: scattered, they keep about a page each, 1 MB in all. */
enum { TRIM_NODES = 256 };

static void destroy(struct node *n)
{
	if (n->table->gone && n->type == S_IFDIR && atomic_load(&n->watched))
		n->table->gone(n->table->gone_arg, n);
	if (n->table->unpark && atomic_load(&n->parked))
		n->table->unpark(n->table->unpark_arg, n);
	handle_drop_all(n->table->slots, n);
	snapshot_drop(n->table->snaps, n, NULL);
	free(n);
}

/* The dead, which have no number any more, are listed by what found them by it. */
static void list_push(struct node **list, struct node *n)
{
	n->by_id.next = *list ? &(*list)->by_id : NULL;
	*list = n;
}

static struct node *list_pop(struct node **list)
{
	struct node *n = *list;

	*list = n->by_id.next ? CONTAINER_OF(n->by_id.next, struct node, by_id) : NULL;
	return n;
}

static void destroy_all(struct node *dead)
{
	while (dead)
		destroy(list_pop(&dead));
}

/* The same object, but another layer may show it under the name that is the first one now. */
static void see_by_first(struct node *n)
{
	n->seen.layer = n->names->layer;
	n->seen.via_link = n->names->via_link;
}

/* What is known of a node was found under its first name; table_path() goes by it. */
void table_make_first(struct node *n, struct name *nm)
{
	struct name **p = &n->names;

	while (*p && *p != nm)
		p = &(*p)->next;
	if (!*p)
		return;
	*p = nm->next;
	nm->next = n->names;
	n->names = nm;
	see_by_first(n);
}

/* Take a name out of all lists. Returns its parent, whose pin the caller gives back. */
static struct node *name_remove(struct table *t, struct name *nm)
{
	struct node *parent = nm->parent;
	struct node *n = nm->node;

	for (struct name **p = &n->names; *p; p = &(*p)->next) {
		if (*p == nm) {
			*p = nm->next;
			break;
		}
	}
	if (n->names)
		see_by_first(n);
	atomic_store(&n->nameless, !n->names);
	if (nm->kid_prev)
		nm->kid_prev->kid_next = nm->kid_next;
	else
		parent->kids = nm->kid_next;
	if (nm->kid_next)
		nm->kid_next->kid_prev = nm->kid_prev;
	hashset_remove(&t->names, &nm->hashed);
	free(nm);
	return parent;
}

/* Take a node that nobody needs out of the table, into @list. */
static void take_out(struct table *t, struct node *n, struct node **list)
{
	if (n->refs || n->nlookup || n->id == NODE_ROOT)
		return;
	table_unhash(t, n);
	hashset_remove(&t->ids, &n->by_id);
	list_push(list, n);
}

/* Move a node that nobody needs to the list of the dead, and up: its parents too. */
static void bury(struct table *t, struct node *n, struct node **dead)
{
	struct node *taken = NULL;

	take_out(t, n, &taken);
	while (taken) {
		n = list_pop(&taken);
		while (n->names) {
			struct node *parent = name_remove(t, n->names);

			if (!--parent->refs && parent != n)
				take_out(t, parent, &taken);
		}
		list_push(dead, n);
	}
}

void table_drop_name(struct table *t, struct name *nm, struct node **dead)
{
	struct node *n = nm->node;
	struct node *parent = name_remove(t, nm);

	if (!--parent->refs)
		bury(t, parent, dead);
	if (!n->refs && !n->nlookup)
		bury(t, n, dead);
}

void table_unlock(struct table *t, struct node *dead)
{
	pthread_mutex_unlock(&t->lock);
	destroy_all(dead);
}

static uint64_t id_hash(const struct hashed *h)
{
	return hash_number(CONTAINER_OF(h, struct node, by_id)->id);
}

static uint64_t key_hash(const struct object_key *k)
{
	return hash_number(k->ino ^ hash_number(k->dev ^ hash_number(k->btime_nsec)));
}

static uint64_t object_hash(const struct hashed *h)
{
	return key_hash(&CONTAINER_OF(h, struct node, by_object)->seen.key);
}

static uint64_t name_hash(const struct hashed *h)
{
	return CONTAINER_OF(h, struct name, hashed)->hash;
}

static uint32_t text_hash(const struct node *dir, const char *text)
{
	return (uint32_t)hash_bytes(hash_number(dir->id), text, strlen(text));
}

static struct node *find_id(struct table *t, uint64_t id)
{
	for (struct hashed *h = hashset_chain(&t->ids, hash_number(id)); h; h = h->next) {
		struct node *n = CONTAINER_OF(h, struct node, by_id);

		if (n->id == id)
			return n;
	}
	return NULL;
}

struct name *table_name(struct table *t, const struct node *dir, const char *text)
{
	uint32_t hash = text_hash(dir, text);

	for (struct hashed *h = hashset_chain(&t->names, hash); h; h = h->next) {
		struct name *nm = CONTAINER_OF(h, struct name, hashed);

		if (nm->hash == hash && nm->parent == dir && !strcmp(nm->text, text))
			return nm;
	}
	return NULL;
}

struct name *name_new(const struct node *dir, const char *text)
{
	size_t len = strnlen(text, NAME_MAX + 1);
	struct name *nm = len <= NAME_MAX ? calloc(1, offsetof(struct name, text) + len + 1) : NULL;

	if (nm) {
		nm->hash = text_hash(dir, text);
		memcpy(nm->text, text, len);
	}
	return nm;
}

void table_add_name(struct table *t, struct name *nm, struct node *dir, struct node *n)
{
	nm->parent = dir;
	nm->node = n;
	nm->next = n->names;
	n->names = nm;
	nm->kid_next = dir->kids;
	if (dir->kids)
		dir->kids->kid_prev = nm;
	dir->kids = nm;
	dir->refs++;
	n->orphan = ORPHAN_NOT;
	atomic_store(&n->nameless, false);
	hashset_add(&t->names, &nm->hashed);
}

void table_unhash(struct table *t, struct node *n)
{
	if (n->is_object)
		hashset_remove(&t->objects, &n->by_object);
	n->is_object = false;
}

struct node *table_object(struct table *t, const struct found *f)
{
	struct object_key key = object_key(&f->obj);

	if (S_ISDIR(f->st.st_mode) || f->virtual)
		return NULL;
	for (struct hashed *h = hashset_chain(&t->objects, key_hash(&key)); h; h = h->next) {
		struct node *n = CONTAINER_OF(h, struct node, by_object);

		if (object_key_same(&n->seen.key, &key))
			return n;
	}
	return NULL;
}

/* Another number is going to be shown for the node. */
static void renumber(struct table *t, const struct node *n)
{
	if (!t->renumbered || !n->names)
		return;
	t->renumbered(t->watcher, n->id);
	for (const struct name *nm = n->names; nm; nm = nm->next)
		t->renumbered(t->watcher, nm->parent->id);
}

void table_set_found(struct table *t, struct node *n, const struct found *f)
{
	struct object_key key = object_key(&f->obj);
	bool is_object = n->type != S_IFDIR && !f->virtual;

	if (n->seen.ino != f->st.st_ino)
		renumber(t, n);
	/* by what it is known there may not change while it is there */
	if (!is_object || !object_key_same(&key, &n->seen.key))
		table_unhash(t, n);
	seen_set(&n->seen, f);
	if (n->names) {
		n->names->layer = n->seen.layer;
		n->names->via_link = f->via_link;
	}
	if (n->is_object || !is_object || table_object(t, f))
		return;
	n->is_object = true;
	hashset_add(&t->objects, &n->by_object);
}

struct node *table_add_node(struct table *t, const struct found *f)
{
	struct node *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->id = t->next_id++;
	n->table = t;
	n->type = f->st.st_mode & S_IFMT;
	n->nameless = true;
	hashset_add(&t->ids, &n->by_id);
	peak_note(&t->peak, t->ids.n);
	table_set_found(t, n, f);
	return n;
}

int table_new(const struct found *root, struct slots *slots, struct snapshots *snaps,
	      struct table **ret)
{
	struct table *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->next_id = NODE_ROOT;
	t->slots = slots;
	t->snaps = snaps;
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->not_busy, NULL);
	hashset_init(&t->ids, id_hash);
	hashset_init(&t->objects, object_hash);
	hashset_init(&t->names, name_hash);
	if (!table_add_node(t, root)) {
		table_free(t);
		return -ENOMEM;
	}
	t->next_id = NODE_FIRST;
	*ret = t;
	return 0;
}

void table_free(struct table *t)
{
	struct hashed *h;

	if (!t)
		return;
	while ((h = hashset_pop(&t->names)))
		free(CONTAINER_OF(h, struct name, hashed));
	while ((h = hashset_pop(&t->ids)))
		destroy(CONTAINER_OF(h, struct node, by_id));
	hashset_clear(&t->names);
	hashset_clear(&t->objects);
	hashset_clear(&t->ids);
	pthread_cond_destroy(&t->not_busy);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

void table_on_gone(struct table *t, void (*fn)(void *arg, struct node *n), void *arg)
{
	t->gone = fn;
	t->gone_arg = arg;
}

void table_on_parked(struct table *t, void (*fn)(void *arg, struct node *n), void *arg)
{
	t->unpark = fn;
	t->unpark_arg = arg;
}

void table_on_change(struct table *t, void (*renumbered)(void *arg, uint64_t id),
		     void (*strayed)(void *arg, uint64_t dir, const char *name), void *arg)
{
	t->renumbered = renumbered;
	t->strayed = strayed;
	t->watcher = arg;
}

int table_get(struct table *t, uint64_t id, struct node **ret)
{
	struct node *n;

	pthread_mutex_lock(&t->lock);
	n = find_id(t, id);
	if (n)
		n->refs++;
	pthread_mutex_unlock(&t->lock);
	if (!n)
		return -ESTALE;
	*ret = n;
	return 0;
}

struct node *node_ref(struct node *n)
{
	pthread_mutex_lock(&n->table->lock);
	n->refs++;
	pthread_mutex_unlock(&n->table->lock);
	return n;
}

void node_unref(struct node *n)
{
	struct node *dead = NULL;
	struct table *t;

	if (!n)
		return;
	t = n->table;
	pthread_mutex_lock(&t->lock);
	if (!--n->refs && !n->nlookup)
		bury(t, n, &dead);
	table_unlock(t, dead);
}

void node_begin(struct node *n)
{
	struct table *t = n->table;

	pthread_mutex_lock(&t->lock);
	t->n_waiting++;
	while (n->busy)
		pthread_cond_wait(&t->not_busy, &t->lock);
	t->n_waiting--;
	n->busy = true;
	pthread_mutex_unlock(&t->lock);
}

void node_end(struct node *n)
{
	struct table *t = n->table;

	pthread_mutex_lock(&t->lock);
	n->busy = false;
	if (t->n_waiting)
		pthread_cond_broadcast(&t->not_busy);
	pthread_mutex_unlock(&t->lock);
}

void table_forget(struct table *t, uint64_t id, uint64_t count)
{
	struct node *dead = NULL;
	struct node *n;

	pthread_mutex_lock(&t->lock);
	n = find_id(t, id);
	if (n) {
		n->nlookup -= count < n->nlookup ? count : n->nlookup;
		if (!n->nlookup && n->type == S_IFREG) { /* nor are its size and pages known */
			atomic_store(&n->told_end, 0);
			atomic_store(&n->data_end, 0);
			atomic_store(&n->doubtful, false);
		}
		if (!n->nlookup && !n->refs)
			bury(t, n, &dead);
	}
	table_unlock(t, dead);
}

int table_known(struct table *t, uint64_t id)
{
	struct node *n;
	int r;

	pthread_mutex_lock(&t->lock);
	n = find_id(t, id);
	r = n && n->nlookup ? 0 : -ENOENT;
	if (!r)
		n->nlookup++;
	pthread_mutex_unlock(&t->lock);
	return r;
}

uint64_t table_lookups(struct table *t, struct node *n)
{
	uint64_t nlookup;

	pthread_mutex_lock(&t->lock);
	nlookup = n->nlookup;
	pthread_mutex_unlock(&t->lock);
	return nlookup;
}

size_t table_count(struct table *t)
{
	size_t n;

	pthread_mutex_lock(&t->lock);
	n = t->ids.n;
	pthread_mutex_unlock(&t->lock);
	return n;
}

void table_trim(struct table *t)
{
	bool many;

	pthread_mutex_lock(&t->lock);
	many = peak_fell(&t->peak, t->ids.n, TRIM_NODES);
	pthread_mutex_unlock(&t->lock);
	if (many)
		memory_give_back();
}

void node_found(struct node *n, struct found *ret)
{
	pthread_mutex_lock(&n->table->lock);
	seen_get(&n->seen, ret);
	pthread_mutex_unlock(&n->table->lock);
}

uint64_t table_seq(struct table *t, struct node *dir)
{
	uint64_t seq;

	pthread_mutex_lock(&t->lock);
	seq = dir->seq;
	pthread_mutex_unlock(&t->lock);
	return seq;
}

void table_turned(struct table *t, struct node *dir)
{
	pthread_mutex_lock(&t->lock);
	dir->seq++;
	pthread_mutex_unlock(&t->lock);
}

struct node *table_child(struct table *t, const struct node *dir, const char *text)
{
	struct name *nm;
	struct node *n = NULL;

	pthread_mutex_lock(&t->lock);
	nm = table_name(t, dir, text);
	if (nm) {
		n = nm->node;
		n->refs++;
	}
	pthread_mutex_unlock(&t->lock);
	return n;
}

void table_set_orphan(struct table *t, struct node *n, enum orphan orphan)
{
	pthread_mutex_lock(&t->lock);
	if (!n->names)
		n->orphan = orphan;
	pthread_mutex_unlock(&t->lock);
}

enum orphan table_orphan(struct table *t, struct node *n)
{
	enum orphan o;

	pthread_mutex_lock(&t->lock);
	o = n->orphan;
	pthread_mutex_unlock(&t->lock);
	return o;
}

void table_add_part(struct table *t, struct node *dir, unsigned layer)
{
	uint64_t bit = UINT64_C(1) << layer;

	pthread_mutex_lock(&t->lock);
	/* all the way: one above may have been looked at when the layer had nothing there */
	while (dir) {
		struct node *parent = dir->names ? dir->names->parent : NULL;

		if (parent && !(dir->seen.parts & bit))
			parent->seq++;
		dir->seen.parts |= bit;
		dir = parent;
	}
	pthread_mutex_unlock(&t->lock);
}

/* A set of layers, by their new indices. */
static uint64_t renumber_set(uint64_t set, const unsigned map[STACK_ALL])
{
	uint64_t now = 0;

	for (; set; set &= set - 1) {
		unsigned to = map[__builtin_ctzll(set)];

		if (to < STACK_MAX)
			now |= UINT64_C(1) << to;
	}
	return now;
}

static void renumber_node(void *map, struct hashed *h)
{
	struct node *n = CONTAINER_OF(h, struct node, by_id);

	n->seen.layer = (uint8_t)((const unsigned *)map)[n->seen.layer];
	n->seen.parts = renumber_set(n->seen.parts, map);
	if (n->type == S_IFDIR)
		atomic_store(&n->watched, renumber_set(atomic_load(&n->watched), map));
}

static void renumber_name(void *map, struct hashed *h)
{
	struct name *nm = CONTAINER_OF(h, struct name, hashed);

	nm->layer = (uint8_t)((const unsigned *)map)[nm->layer];
}

void table_renumber(struct table *t, unsigned map[STACK_ALL], struct node *root,
		    const struct found *found)
{
	pthread_mutex_lock(&t->lock);
	hashset_each(&t->ids, renumber_node, map);
	hashset_each(&t->names, renumber_name, map);
	seen_set(&root->seen, found);
	pthread_mutex_unlock(&t->lock);
}
