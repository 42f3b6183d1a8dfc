/* SPDX-License-Identifier: MIT */
/* Open parts of directories: see parts.h. */
#include "ops/parts.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum {
	KEPT = 4,           /* directories: who works in one asks for the one above it, too */
	DESCRIPTORS = 4,    /* of each, at most */
	AGE_NSEC = 5000000, /* what nobody could hear of shows after this time */
};

struct kept_parts {
	struct parts_mark mark; /* with the id 0: there is nothing */
	struct dirset ds;
};

struct parts {
	pthread_mutex_t lock;
	struct kept_parts v[KEPT];
	unsigned next; /* to be replaced */
};

int parts_new(struct parts **ret)
{
	struct parts *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	pthread_mutex_init(&c->lock, NULL);
	for (unsigned i = 0; i < KEPT; i++)
		dirset_init(&c->v[i].ds);
	*ret = c;
	return 0;
}

void parts_free(struct parts *c)
{
	if (!c)
		return;
	(void)parts_drop(c); /* nobody asks whether there was any */
	pthread_mutex_destroy(&c->lock);
	free(c);
}

void parts_begin(const struct view *v, uint64_t id, uint64_t wanted, struct parts_mark *ret)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t); /* can't fail */
	*ret = (struct parts_mark){
		.id = id,
		.wanted = wanted,
		.changes = view_changes(v),
		.nsec = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec,
	};
}

/* Take entry @i out; the lock is held. */
static void take_out(struct parts *c, unsigned i, struct kept_parts *ret)
{
	*ret = c->v[i];
	c->v[i].mark.id = 0;
	dirset_init(&c->v[i].ds);
}

/* The entry of that directory, or KEPT; the lock is held. */
static unsigned find(const struct parts *c, uint64_t id)
{
	unsigned i = 0;

	while (i < KEPT && c->v[i].mark.id != id)
		i++;
	return i;
}

bool parts_take(struct parts *c, struct parts_mark *m, struct dirset *ret)
{
	struct kept_parts k = { .mark = { .id = 0 } };
	unsigned i;

	dirset_init(&k.ds);
	pthread_mutex_lock(&c->lock);
	i = find(c, m->id);
	if (i < KEPT)
		take_out(c, i, &k);
	pthread_mutex_unlock(&c->lock);
	if (!k.mark.id || k.mark.wanted != m->wanted || k.mark.changes != m->changes ||
	    m->nsec - k.mark.nsec >= AGE_NSEC) {
		dirset_close(&k.ds);
		return false;
	}
	*m = k.mark;
	*ret = k.ds;
	return true;
}

static unsigned count(const struct dirset *ds)
{
	unsigned n = 0;

	for (uint64_t left = ds->parts; left; left &= left - 1)
		n += ds->fd[__builtin_ctzll(left)] >= 0;
	return n;
}

void parts_give(struct parts *c, const struct parts_mark *m, struct dirset *ds)
{
	struct kept_parts old = { .ds = *ds };
	unsigned i;

	if (count(ds) <= DESCRIPTORS) {
		pthread_mutex_lock(&c->lock);
		i = find(c, m->id);
		if (i == KEPT)
			i = c->next++ % KEPT;
		take_out(c, i, &old);
		c->v[i] = (struct kept_parts){ .mark = *m, .ds = *ds };
		c->v[i].ds.path = "";
		pthread_mutex_unlock(&c->lock);
	}
	dirset_close(&old.ds);
	dirset_init(ds);
}

bool parts_drop(struct parts *c)
{
	bool any = false;

	for (unsigned i = 0; i < KEPT; i++) {
		struct kept_parts k;

		pthread_mutex_lock(&c->lock);
		take_out(c, i, &k);
		pthread_mutex_unlock(&c->lock);
		any |= k.mark.id != 0;
		dirset_close(&k.ds);
	}
	return any;
}
