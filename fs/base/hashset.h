/* SPDX-License-Identifier: MIT */
/*
 * A hash set for millions of elements: an element has one pointer in it, and a bucket is one more.
 * It grows and shrinks by one bucket at a time, as elements come and go (linear hashing), so no
 * call takes longer because there are many. Nothing fails: without memory for more buckets their
 * chains get longer. What makes two elements equal is the caller's business.
 */
#ifndef SPECFS_BASE_HASHSET_H
#define SPECFS_BASE_HASHSET_H

#include <stddef.h>
#include <stdint.h>

enum {
	HASHSET_FIRST = 64, /* buckets there are from the beginning; a power of two */
	HASHSET_PARTS = 48, /* each as large as all before it */
};

/* What an element has in it for each set that it may be in. */
struct hashed {
	struct hashed *next;
};

struct hashset {
	uint64_t (*hash)(const struct hashed *h); /* of an element, always the same */
	size_t n;				  /* elements */
	size_t n_buckets;
	struct hashed **parts[HASHSET_PARTS];
	struct hashed *first[HASHSET_FIRST];
};

/** CONTAINER_OF - the element of type @type whose member @member is at @p */
#define CONTAINER_OF(p, type, member) ((type *)(void *)((char *)(p)-offsetof(type, member)))

/** hashset_init - an empty set; it may not be moved */
void hashset_init(struct hashset *s, uint64_t (*hash)(const struct hashed *h));

/** hashset_clear - the set is empty; elements are left to the caller */
void hashset_clear(struct hashset *s);

/** hashset_add - the caller knows that it is not in yet */
void hashset_add(struct hashset *s, struct hashed *h);

/** hashset_remove - take out an element that is in */
void hashset_remove(struct hashset *s, struct hashed *h);

/** hashset_chain - the first of those among which all elements of that hash are; NULL: none */
struct hashed *hashset_chain(const struct hashset *s, uint64_t hash);

/** hashset_pop - take out any element; NULL if there is none */
struct hashed *hashset_pop(struct hashset *s);

/** hashset_each - call @fn for each element, which may not add or remove any */
void hashset_each(const struct hashset *s, void (*fn)(void *arg, struct hashed *h), void *arg);

/** hash_number - spread a number over all bits */
static inline uint64_t hash_number(uint64_t x)
{
	x ^= x >> 30;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	x ^= x >> 27;
	x *= UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/** hash_bytes - of @n bytes; @start makes the same ones others */
static inline uint64_t hash_bytes(uint64_t start, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	uint64_t h = start ^ UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * UINT64_C(0x100000001b3);
	return hash_number(h);
}

#endif
