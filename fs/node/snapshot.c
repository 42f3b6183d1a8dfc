/* SPDX-License-Identifier: MIT */
/* Snapshots of directories: see snapshot.h. */
#include "node/snapshot.h"

#include <errno.h>
#include <pthread.h>

struct snapshots {
	pthread_mutex_t lock;
	size_t limit_bytes;	/* constant */
	size_t bytes;		/* of those that nodes hold */
	struct snapshot *first; /* most recently used */
	struct snapshot *last;
};

int snapshots_new(size_t limit_bytes, struct snapshots **ret)
{
	struct snapshots *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->limit_bytes = limit_bytes;
	pthread_mutex_init(&s->lock, NULL);
	*ret = s;
	return 0;
}

void snapshots_free(struct snapshots *s)
{
	if (!s)
		return;
	pthread_mutex_destroy(&s->lock);
	free(s);
}

size_t snapshots_bytes(struct snapshots *s)
{
	size_t n;

	pthread_mutex_lock(&s->lock);
	n = s->bytes;
	pthread_mutex_unlock(&s->lock);
	return n;
}

static void unlink_from_list(struct snapshots *s, struct snapshot *sn)
{
	if (sn->prev)
		sn->prev->next = sn->next;
	else
		s->first = sn->next;
	if (sn->next)
		sn->next->prev = sn->prev;
	else
		s->last = sn->prev;
}

static void put_first(struct snapshots *s, struct snapshot *sn)
{
	sn->prev = NULL;
	sn->next = s->first;
	if (s->first)
		s->first->prev = sn;
	else
		s->last = sn;
	s->first = sn;
}

static void destroy_list(struct snapshot *sn)
{
	while (sn) {
		struct snapshot *next = sn->next;

		listing_free(sn->listing);
		free(sn);
		sn = next;
	}
}

/* The node lets go; what nobody uses any more is put in front of *@dead. */
static void detach(struct snapshots *s, struct snapshot *sn, struct snapshot **dead)
{
	unlink_from_list(s, sn);
	s->bytes -= sn->listing->bytes;
	sn->node->snapshot = NULL;
	sn->node = NULL;
	if (--sn->users)
		return;
	sn->next = *dead;
	*dead = sn;
}

struct snapshot *snapshot_get(struct snapshots *s, struct node *n)
{
	struct snapshot *sn;

	pthread_mutex_lock(&s->lock);
	sn = n->snapshot;
	if (sn) {
		sn->users++;
		unlink_from_list(s, sn);
		put_first(s, sn);
	}
	pthread_mutex_unlock(&s->lock);
	return sn;
}

void snapshot_put(struct snapshot *sn)
{
	struct snapshots *s;
	bool last;

	if (!sn)
		return;
	s = sn->all;
	pthread_mutex_lock(&s->lock);
	last = --sn->users == 0;
	pthread_mutex_unlock(&s->lock);
	if (last) {
		sn->next = NULL;
		destroy_list(sn);
	}
}

int snapshot_install(struct snapshots *s, struct node *n, struct listing *l, struct snapshot **ret)
{
	struct snapshot *sn = calloc(1, sizeof(*sn));
	struct snapshot *dead = NULL;
	struct snapshot *prev;

	if (!sn) {
		listing_free(l);
		return -ENOMEM;
	}
	sn->listing = l;
	sn->all = s;
	sn->node = n;
	sn->users = 2;
	pthread_mutex_lock(&s->lock);
	if (n->snapshot)
		detach(s, n->snapshot, &dead);
	n->snapshot = sn;
	put_first(s, sn);
	s->bytes += l->bytes;
	for (struct snapshot *o = s->last; o && s->bytes > s->limit_bytes; o = prev) {
		prev = o->prev;
		if (o->users == 1)
			detach(s, o, &dead);
	}
	pthread_mutex_unlock(&s->lock);
	destroy_list(dead);
	*ret = sn;
	return 0;
}

void snapshot_drop(struct snapshots *s, struct node *n, const struct snapshot *only)
{
	struct snapshot *dead = NULL;

	pthread_mutex_lock(&s->lock);
	if (n->snapshot && (!only || n->snapshot == only))
		detach(s, n->snapshot, &dead);
	pthread_mutex_unlock(&s->lock);
	destroy_list(dead);
}
