/* SPDX-License-Identifier: MIT */
/* The table of nodes: see table.h. How a look-up's result finds its node is in enter.c. */
#include "node/table_impl.h"

#include <errno.h>
#include <malloc.h>
#include <string.h>

/* Fewer than these are not worth the time: about 20 MB. */
enum { TRIM_NODES = 25000 };

static void destroy(struct node *n)
{
	if (n->table->gone && atomic_load(&n->watched))
		n->table->gone(n->table->gone_arg, n);
	if (n->table->unpark && atomic_load(&n->parked))
		n->table->unpark(n->table->unpark_arg, n);
	handle_drop_all(n->table->slots, n);
	snapshot_drop(n->table->snaps, n, NULL);
	pthread_mutex_destroy(&n->busy);
	free(n);
}

static void destroy_all(struct node *dead)
{
	while (dead) {
		struct node *next = dead->dead_next;

		destroy(dead);
		dead = next;
	}
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
	if (n->names) {
		/* the same object, but another layer may show it under that name */
		n->found.layer = n->names->layer;
		n->found.via_link = n->names->via_link;
	}
	atomic_store(&n->nameless, !n->names);
	if (nm->kid_prev)
		nm->kid_prev->kid_next = nm->kid_next;
	else
		parent->kids = nm->kid_next;
	if (nm->kid_next)
		nm->kid_next->kid_prev = nm->kid_prev;
	HASH_DELETE(hh, t->names, nm);
	free(nm);
	return parent;
}

/* Move nodes that nobody needs to the list of the dead, and up: their parents too. */
static void bury(struct table *t, struct node *n, struct node **dead)
{
	struct node *todo = n;

	n->dead_next = NULL;
	while (todo) {
		n = todo;
		todo = n->dead_next;
		if (n->refs || n->nlookup || n->id == NODE_ROOT)
			continue;
		while (n->names) {
			struct node *parent = name_remove(t, n->names);

			if (!--parent->refs && parent != n) {
				parent->dead_next = todo;
				todo = parent;
			}
		}
		table_unhash(t, n);
		HASH_DELETE(by_id, t->ids, n);
		n->dead_next = *dead;
		*dead = n;
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

static unsigned make_key(char key[NAME_KEY_MAX], uint64_t parent, const char *text)
{
	size_t len = strnlen(text, NAME_MAX + 1);

	if (len > NAME_MAX)
		return 0;
	memcpy(key, &parent, sizeof(parent));
	memcpy(key + sizeof(parent), text, len);
	key[sizeof(parent) + len] = '\0';
	return (unsigned)(sizeof(parent) + len + 1);
}

struct name *table_name(struct table *t, const struct node *dir, const char *text)
{
	char key[NAME_KEY_MAX];
	unsigned len = make_key(key, dir->id, text);
	struct name *nm = NULL;

	if (len)
		HASH_FIND(hh, t->names, key, len, nm);
	return nm;
}

struct name *name_new(const struct node *dir, const char *text)
{
	char key[NAME_KEY_MAX];
	unsigned len = make_key(key, dir->id, text);
	struct name *nm = len ? calloc(1, sizeof(*nm) + len) : NULL;

	if (nm) {
		nm->key_len = len;
		memcpy(nm->key, key, len);
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
	HASH_ADD_KEYPTR(hh, t->names, nm->key, nm->key_len, nm);
}

void table_unhash(struct table *t, struct node *n)
{
	if (n->hashed)
		HASH_DELETE(by_object, t->objects, n);
	n->hashed = false;
}

struct node *table_object(struct table *t, const struct found *f)
{
	struct object_key key = object_key(f);
	struct node *n = NULL;

	if (!S_ISDIR(f->st.st_mode) && !f->virtual)
		HASH_FIND(by_object, t->objects, &key, sizeof(key), n);
	return n;
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
	struct object_key key = object_key(f);
	bool want = n->type != S_IFDIR && !f->virtual;

	if (n->found.st.st_ino != f->st.st_ino)
		renumber(t, n);
	n->found = *f;
	if (n->names) {
		n->names->layer = f->layer;
		n->names->via_link = f->via_link;
	}
	if (n->hashed && want && !memcmp(&key, &n->key, sizeof(key)))
		return;
	table_unhash(t, n);
	if (!want || table_object(t, f))
		return;
	n->key = key;
	n->hashed = true;
	HASH_ADD(by_object, t->objects, key, sizeof(n->key), n);
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
	pthread_mutex_init(&n->busy, NULL);
	HASH_ADD(by_id, t->ids, id, sizeof(n->id), n);
	if (HASH_CNT(by_id, t->ids) > t->most)
		t->most = HASH_CNT(by_id, t->ids);
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
	struct name *nm, *nm_next;
	struct node *n, *n_next;

	if (!t)
		return;
	HASH_ITER(hh, t->names, nm, nm_next)
	{
		HASH_DELETE(hh, t->names, nm);
		free(nm);
	}
	HASH_CLEAR(by_object, t->objects);
	HASH_ITER(by_id, t->ids, n, n_next)
	{
		HASH_DELETE(by_id, t->ids, n);
		destroy(n);
	}
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

int table_kids(struct table *t, struct node *dir, struct strv *ret)
{
	int r = 0;

	pthread_mutex_lock(&t->lock);
	for (const struct name *nm = dir->kids; nm && !r; nm = nm->kid_next)
		r = strv_add(ret, name_text(nm));
	pthread_mutex_unlock(&t->lock);
	return r;
}

int table_get(struct table *t, uint64_t id, struct node **ret)
{
	struct node *n = NULL;

	pthread_mutex_lock(&t->lock);
	HASH_FIND(by_id, t->ids, &id, sizeof(id), n);
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

void table_forget(struct table *t, uint64_t id, uint64_t count)
{
	struct node *dead = NULL;
	struct node *n = NULL;

	pthread_mutex_lock(&t->lock);
	HASH_FIND(by_id, t->ids, &id, sizeof(id), n);
	if (n) {
		n->nlookup -= count < n->nlookup ? count : n->nlookup;
		if (!n->nlookup && !n->refs)
			bury(t, n, &dead);
	}
	table_unlock(t, dead);
}

size_t table_count(struct table *t)
{
	size_t n;

	pthread_mutex_lock(&t->lock);
	n = HASH_CNT(by_id, t->ids);
	pthread_mutex_unlock(&t->lock);
	return n;
}

void table_trim(struct table *t)
{
	size_t n;
	bool many;

	pthread_mutex_lock(&t->lock);
	n = HASH_CNT(by_id, t->ids);
	many = t->most > n + TRIM_NODES && t->most / 2 > n;
	if (many)
		t->most = n;
	pthread_mutex_unlock(&t->lock);
	if (many)
		(void)malloc_trim(0); /* whether there was anything to give back */
}

void node_found(struct node *n, struct found *ret)
{
	pthread_mutex_lock(&n->table->lock);
	*ret = n->found;
	pthread_mutex_unlock(&n->table->lock);
}

static int path_locked(const struct node *n, struct strbuf *ret)
{
	size_t len = 0;
	size_t start = ret->len;
	const struct node *at;
	char *end;

	for (at = n; at->id != NODE_ROOT; at = at->names->parent) {
		if (!at->names)
			return -ESTALE;
		len += strlen(name_text(at->names)) + 1;
	}
	if (!len)
		return 0;
	for (size_t i = 0; i < len - 1; i++)
		strbuf_addc(ret, '/');
	if (strbuf_failed(ret) < 0)
		return -ENOMEM;
	end = ret->buf + start + len - 1;
	for (at = n; at->id != NODE_ROOT; at = at->names->parent) {
		size_t part = strlen(name_text(at->names));

		end -= part;
		memcpy(end, name_text(at->names), part);
		end--;
	}
	return 0;
}

int table_path(struct table *t, const struct node *n, struct strbuf *ret)
{
	int r;

	pthread_mutex_lock(&t->lock);
	r = path_locked(n, ret);
	pthread_mutex_unlock(&t->lock);
	return r;
}

int table_where(struct table *t, struct node *n, struct strbuf *ret_path, struct found *ret_found)
{
	int r;

	pthread_mutex_lock(&t->lock);
	r = path_locked(n, ret_path);
	*ret_found = n->found;
	pthread_mutex_unlock(&t->lock);
	return r;
}

int table_place(struct table *t, const struct node *n, struct strbuf *ret_path,
		struct node **ret_parent)
{
	int r = -ESTALE;

	pthread_mutex_lock(&t->lock);
	if (n->names)
		r = path_locked(n, ret_path);
	if (!r) {
		*ret_parent = n->names->parent;
		(*ret_parent)->refs++;
	}
	pthread_mutex_unlock(&t->lock);
	return r;
}

uint64_t table_seq(struct table *t, struct node *dir)
{
	uint64_t seq;

	pthread_mutex_lock(&t->lock);
	seq = dir->seq;
	pthread_mutex_unlock(&t->lock);
	return seq;
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

		if (parent && !(dir->found.parts & bit))
			parent->seq++;
		dir->found.parts |= bit;
		dir = parent;
	}
	pthread_mutex_unlock(&t->lock);
}

static int push(struct node ***v, size_t *n, size_t *cap, struct node *node)
{
	if (*n == *cap) {
		size_t more = *cap ? *cap * 2 : 64;
		struct node **p = reallocarray(*v, more, sizeof(struct node *));

		if (!p)
			return -ENOMEM;
		*v = p;
		*cap = more;
	}
	node->refs++;
	(*v)[(*n)++] = node;
	return 0;
}

int table_below(struct table *t, struct node *dir, struct node ***ret, size_t *ret_n)
{
	struct node **v = NULL;
	size_t n = 0;
	size_t cap = 0;
	int r = 0;

	pthread_mutex_lock(&t->lock);
	for (struct name *nm = dir->kids; nm && !r; nm = nm->kid_next)
		r = push(&v, &n, &cap, nm->node);
	for (size_t i = 0; i < n && !r; i++) {
		for (struct name *nm = v[i]->kids; nm && !r; nm = nm->kid_next)
			r = push(&v, &n, &cap, nm->node);
	}
	pthread_mutex_unlock(&t->lock);
	if (r < 0) {
		for (size_t i = 0; i < n; i++)
			node_unref(v[i]);
		free(v);
		return r;
	}
	*ret = v;
	*ret_n = n;
	return 0;
}
