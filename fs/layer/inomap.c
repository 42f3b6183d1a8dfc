/* SPDX-License-Identifier: MIT */
/*
 * Inode numbers: see inomap.h. The top byte of a number says whose it is: 0 for the first device, 1
 * and up for the others, 0xfe for places and directories shown at a second one, 0xff for numbers
 * given one by one because the layer's own needs more than 56 bits.
 */
#include "layer/inomap.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <uthash.h>

enum { INO_BITS = 56, INO_PLACE = 0xfe, INO_GIVEN = 0xff, INO_DEVICES = INO_PLACE - 1 };

struct ino_key {
	uint64_t dev;
	uint64_t ino;
};

struct ino_entry {
	struct ino_key key;
	uint64_t shown;
	UT_hash_handle hh;
};

struct inomap {
	pthread_rwlock_t lock;          /* guards everything below */
	dev_t devs[INO_DEVICES];
	unsigned n_devs;
	uint64_t next_given;
	struct ino_entry *given;        /* numbers that are not computed */
};

int inomap_new(dev_t first, struct inomap **ret)
{
	struct inomap *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	pthread_rwlock_init(&m->lock, NULL);
	m->devs[0] = first;
	m->n_devs = 1;
	*ret = m;
	return 0;
}

void inomap_free(struct inomap *m)
{
	struct ino_entry *e;
	struct ino_entry *next;

	if (!m)
		return;
	HASH_ITER(hh, m->given, e, next) {
		HASH_DEL(m->given, e);
		free(e);
	}
	pthread_rwlock_destroy(&m->lock);
	free(m);
}

static uint64_t top(unsigned who, uint64_t ino)
{
	return (uint64_t)who << INO_BITS | ino;
}

static struct ino_entry *given_find(struct inomap *m, dev_t dev, ino_t ino)
{
	struct ino_key key = { .dev = dev, .ino = ino };
	struct ino_entry *e;

	HASH_FIND(hh, m->given, &key, sizeof(key), e);
	return e;
}

static int given_set(struct inomap *m, dev_t dev, ino_t ino, uint64_t shown)
{
	struct ino_entry *e = given_find(m, dev, ino);

	if (!e) {
		e = calloc(1, sizeof(*e));
		if (!e)
			return -ENOMEM;
		e->key = (struct ino_key){ .dev = dev, .ino = ino };
		HASH_ADD(hh, m->given, key, sizeof(e->key), e);
	}
	e->shown = shown;
	return 0;
}

/* Look up without giving out anything new. */
static bool known(struct inomap *m, dev_t dev, ino_t ino, uint64_t *ret)
{
	struct ino_entry *e = m->given ? given_find(m, dev, ino) : NULL;

	if (e) {
		*ret = e->shown;
		return true;
	}
	if (ino >> INO_BITS)
		return false;
	for (unsigned i = 0; i < m->n_devs; i++)
		if (m->devs[i] == dev) {
			*ret = top(i, ino);
			return true;
		}
	return false;
}

uint64_t inomap_file(struct inomap *m, dev_t dev, ino_t ino)
{
	uint64_t shown;
	bool hit;

	pthread_rwlock_rdlock(&m->lock);
	hit = known(m, dev, ino, &shown);
	pthread_rwlock_unlock(&m->lock);
	if (hit)
		return shown;

	pthread_rwlock_wrlock(&m->lock);
	if (!(ino >> INO_BITS) && m->n_devs < INO_DEVICES)
		m->devs[m->n_devs++] = dev;
	if (!known(m, dev, ino, &shown)) {
		shown = top(INO_GIVEN, ++m->next_given);
		/* without memory the number is still unique, only not the same next time */
		(void)given_set(m, dev, ino, shown);
	}
	pthread_rwlock_unlock(&m->lock);
	return shown;
}

/* FNV-1a, going on from @h. Source: draft-eastlake-fnv. */
static uint64_t hash(uint64_t h, const void *data, size_t len)
{
	const unsigned char *p = data;

	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * 0x100000001b3u;
	return h;
}

static uint64_t hashed(uint64_t h)
{
	h ^= h >> 32;
	return top(INO_PLACE, h & ((UINT64_C(1) << INO_BITS) - 1));
}

uint64_t inomap_place(struct inomap *m, const char *path)
{
	(void)m;
	return hashed(hash(0xcbf29ce484222325u, path, strlen(path)));
}

uint64_t inomap_alias(struct inomap *m, const char *at, dev_t dev, ino_t ino)
{
	struct ino_key key = { .dev = dev == m->devs[0] ? 0 : dev, .ino = ino };
	uint64_t h = hash(0xcbf29ce484222325u, at, strlen(at) + 1);

	return hashed(hash(h, &key, sizeof(key)));
}
