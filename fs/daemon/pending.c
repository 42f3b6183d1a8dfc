/* SPDX-License-Identifier: MIT */
/* Events that wait: see pending.h. */
#include "daemon/pending.h"

#include <stdlib.h>
#include <string.h>

/* Tells a node's number in a key from a watch's. */
static const uint64_t NODE_FLAG = UINT64_C(1) << 63;

void pending_init(struct pending_queue *q)
{
	*q = (struct pending_queue){ 0 };
	q->last = &q->first;
}

void pending_clear(struct pending_queue *q)
{
	struct pending *p;

	while ((p = pending_take(q)) != NULL)
		free(p);
}

/* Of two, a foreign one counts. */
static unsigned merge(unsigned a, unsigned b)
{
	return ((a | b) & ~(unsigned)WATCH_OWN) | (a & b & WATCH_OWN);
}

static struct pending *pending_new(const struct watch_event *e)
{
	uint64_t dir = e->what & WATCH_NODE ? e->dir | NODE_FLAG : e->dir;
	size_t name_len = strlen(e->name) + 1;
	struct pending *p = malloc(sizeof(*p) + sizeof(dir) + name_len);

	if (!p)
		return NULL;
	*p = (struct pending){ .what = e->what, .dir = e->dir };
	p->key_len = (unsigned)(sizeof(dir) + name_len);
	memcpy(p->key, &dir, sizeof(dir));
	memcpy(p->key + sizeof(dir), e->name, name_len);
	return p;
}

bool pending_push(struct pending_queue *q, const struct watch_event *e)
{
	struct pending *p = pending_new(e);
	struct pending *known;

	if (!p)
		return false;
	HASH_FIND(hh, q->by_key, p->key, p->key_len, known);
	if (known) {
		known->what = merge(known->what, p->what);
		free(p);
		return true;
	}
	if (!(e->what & WATCH_NODE) && pending_count(q) >= PENDING_MAX) {
		free(p);
		return false;
	}
	HASH_ADD_KEYPTR(hh, q->by_key, p->key, p->key_len, p);
	*q->last = p;
	q->last = &p->next;
	return true;
}

struct pending *pending_take(struct pending_queue *q)
{
	struct pending *p = q->first;

	if (!p)
		return NULL;
	q->first = p->next;
	if (!q->first)
		q->last = &q->first;
	HASH_DEL(q->by_key, p);
	return p;
}

const char *pending_name(const struct pending *p)
{
	return p->key + sizeof(p->dir);
}

unsigned pending_count(const struct pending_queue *q)
{
	return HASH_COUNT(q->by_key);
}
