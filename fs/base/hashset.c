/* SPDX-License-Identifier: MIT */
/* A hash set that grows by one bucket at a time: see hashset.h. */
#include "base/hashset.h"

#include <stdlib.h>

/* The largest power of two that is not above @n. */
static size_t power_below(size_t n)
{
	return (size_t)1 << (63 - __builtin_clzll(n));
}

static struct hashed **bucket(const struct hashset *s, size_t i)
{
	size_t start = i < HASHSET_FIRST ? 0 : power_below(i);
	size_t part = start ? (size_t)__builtin_ctzll(start / HASHSET_FIRST) + 1 : 0;

	return &s->parts[part][i - start];
}

/* Buckets beyond the last power of two have split those at the beginning so far. */
static size_t index_of(const struct hashset *s, uint64_t hash)
{
	size_t low = power_below(s->n_buckets);
	size_t i = hash & (2 * low - 1);

	return i < s->n_buckets ? i : i - low;
}

void hashset_init(struct hashset *s, uint64_t (*hash)(const struct hashed *h))
{
	*s = (struct hashset){ .hash = hash, .n_buckets = HASHSET_FIRST };
	s->parts[0] = s->first;
}

void hashset_clear(struct hashset *s)
{
	for (size_t i = 1; i < HASHSET_PARTS; i++)
		free(s->parts[i]);
	hashset_init(s, s->hash);
}

/* One bucket more: it takes its share of the one that it was a part of. */
static void split(struct hashset *s)
{
	size_t to = s->n_buckets;
	size_t low = power_below(to);
	struct hashed **from;
	struct hashed **end;

	if (to == low) {
		size_t part = (size_t)__builtin_ctzll(low / HASHSET_FIRST) + 1;

		if (part >= HASHSET_PARTS)
			return;
		s->parts[part] = calloc(low, sizeof(struct hashed *));
		if (!s->parts[part])
			return;
	}
	s->n_buckets++;
	from = bucket(s, to - low);
	end = bucket(s, to);
	while (*from) {
		struct hashed *h = *from;

		if ((s->hash(h) & (2 * low - 1)) != to) {
			from = &h->next;
			continue;
		}
		*from = h->next;
		h->next = NULL;
		*end = h;
		end = &h->next;
	}
}

/* One bucket less: what is in it goes back to where it came from. */
static void merge(struct hashset *s)
{
	size_t last = s->n_buckets - 1;
	size_t low = power_below(last);
	struct hashed **from = bucket(s, last);
	struct hashed **to = bucket(s, last - low);

	while (*to)
		to = &(*to)->next;
	*to = *from;
	*from = NULL;
	s->n_buckets--;
	if (last == low) {
		size_t part = (size_t)__builtin_ctzll(low / HASHSET_FIRST) + 1;

		free(s->parts[part]);
		s->parts[part] = NULL;
	}
}

void hashset_add(struct hashset *s, struct hashed *h)
{
	struct hashed **b;

	if (++s->n > s->n_buckets)
		split(s);
	b = bucket(s, index_of(s, s->hash(h)));
	h->next = *b;
	*b = h;
}

void hashset_remove(struct hashset *s, struct hashed *h)
{
	struct hashed **p = bucket(s, index_of(s, s->hash(h)));

	while (*p != h)
		p = &(*p)->next;
	*p = h->next;
	/* far enough from where it grows: one that comes and goes costs nothing */
	s->n--;
	while (s->n < s->n_buckets / 2 && s->n_buckets > HASHSET_FIRST)
		merge(s);
}

struct hashed *hashset_chain(const struct hashset *s, uint64_t hash)
{
	return *bucket(s, index_of(s, hash));
}

struct hashed *hashset_pop(struct hashset *s)
{
	struct hashed *h;
	size_t i;

	if (!s->n)
		return NULL;
	while (s->n_buckets > HASHSET_FIRST && !*bucket(s, s->n_buckets - 1))
		merge(s);
	i = s->n_buckets - 1;
	while (!*bucket(s, i))
		i--;
	h = *bucket(s, i);
	hashset_remove(s, h);
	return h;
}

void hashset_each(const struct hashset *s, void (*fn)(void *arg, struct hashed *h), void *arg)
{
	for (size_t i = 0; i < s->n_buckets; i++)
		for (struct hashed *h = *bucket(s, i); h; h = h->next)
			fn(arg, h);
}
