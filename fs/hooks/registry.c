/* SPDX-License-Identifier: MIT */
/*
 * The registry: see registry.h. A table is an open-addressed array of row pointers, at most half
 * full. A reader loads the table once and probes it; a writer stores a row with release order, so a
 * reader sees the whole row or none. A table that became too small is replaced and kept, because a
 * reader may still be in it: all old tables together are smaller than the current one.
 */
#include "hooks/registry.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MIN_SLOTS 64

struct registry_slot {
	uint64_t hash; /* written before @hook is published */
	_Atomic(const struct specfs_hook *) hook;
};

struct registry_table {
	struct registry_table *older;
	size_t mask; /* slots - 1, slots being a power of two */
	size_t used; /* guarded by registry.lock */
	struct registry_slot slot[];
};

/* FNV-1a. */
static uint64_t hash_name(const char *name)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 0x100000001b3u;
	return h;
}

/*
 * The row of that name, or NULL; *ret_slot is the slot that held it or was free. A free slot may be
 * taken by another name right after, so a reader has to use the row that was seen here.
 */
static const struct specfs_hook *probe(struct registry_table *t, const char *name, uint64_t hash,
				       struct registry_slot **ret_slot)
{
	for (size_t i = hash & t->mask;; i = (i + 1) & t->mask) {
		struct registry_slot *slot = &t->slot[i];
		const struct specfs_hook *h;

		h = atomic_load_explicit(&slot->hook, memory_order_acquire);
		if (!h || (slot->hash == hash && !strcmp(h->name, name))) {
			*ret_slot = slot;
			return h;
		}
	}
}

/* Add a row unless its name is taken; returns whether it was added. */
static bool put(struct registry_table *t, const struct specfs_hook *h, uint64_t hash)
{
	struct registry_slot *slot;

	if (probe(t, h->name, hash, &slot))
		return false;
	slot->hash = hash;
	atomic_store_explicit(&slot->hook, h, memory_order_release);
	t->used++;
	return true;
}

/* Make room for @n more rows; returns the table, or NULL when out of memory. */
static struct registry_table *reserve(struct registry *reg, size_t n)
{
	struct registry_table *old = atomic_load(&reg->table), *t;
	size_t need = (old ? old->used : 0) + n, slots = MIN_SLOTS;

	if (old && need <= (old->mask + 1) / 2)
		return old;
	if (need > SIZE_MAX / sizeof(struct registry_slot) / 4)
		return NULL;
	while (slots < need * 2)
		slots *= 2;

	t = calloc(1, sizeof(*t) + slots * sizeof(t->slot[0]));
	if (!t)
		return NULL;
	t->mask = slots - 1;
	t->older = old;
	for (size_t i = 0; old && i <= old->mask; i++) {
		const struct specfs_hook *h = atomic_load(&old->slot[i].hook);

		if (h)
			(void)put(t, h, old->slot[i].hash); /* names of one table differ */
	}
	atomic_store_explicit(&reg->table, t, memory_order_release);
	return t;
}

static int provider_check(const struct specfs_provider *p)
{
	if (p->abi != SPECFS_HOOKS_ABI || p->hook_size != sizeof(struct specfs_hook))
		return -EPROTO;
	if (!p->name || (p->n_hooks && !p->hooks))
		return -EINVAL;
	for (size_t i = 0; i < p->n_hooks; i++)
		if (!p->hooks[i].name || !p->hooks[i].type || !p->hooks[i].fn)
			return -EINVAL;
	return 0;
}

static int add_locked(struct registry *reg, const struct specfs_provider *p, size_t *ret_shadowed)
{
	struct registry_table *t = reserve(reg, p->n_hooks);
	size_t shadowed = 0;

	if (!t)
		return -ENOMEM;
	for (size_t i = 0; i < p->n_hooks; i++)
		shadowed += !put(t, &p->hooks[i], hash_name(p->hooks[i].name));
	if (ret_shadowed)
		*ret_shadowed = shadowed;
	return 0;
}

int registry_add(struct registry *reg, const struct specfs_provider *p, size_t *ret_shadowed)
{
	int r = provider_check(p);

	if (r < 0)
		return r;
	pthread_mutex_lock(&reg->lock);
	r = add_locked(reg, p, ret_shadowed);
	pthread_mutex_unlock(&reg->lock);
	return r;
}

const struct specfs_hook *registry_find(struct registry *reg, const char *name)
{
	struct registry_table *t = atomic_load_explicit(&reg->table, memory_order_acquire);
	struct registry_slot *slot;

	return t ? probe(t, name, hash_name(name), &slot) : NULL;
}

const struct specfs_hook *registry_next(struct registry *reg, size_t *pos)
{
	struct registry_table *t = atomic_load_explicit(&reg->table, memory_order_acquire);

	while (t && *pos <= t->mask) {
		const struct specfs_hook *h = atomic_load_explicit(&t->slot[(*pos)++].hook,
								   memory_order_acquire);

		if (h)
			return h;
	}
	return NULL;
}

void registry_clear(struct registry *reg)
{
	struct registry_table *t = atomic_exchange(&reg->table, NULL);

	while (t) {
		struct registry_table *older = t->older;

		free(t);
		t = older;
	}
}
