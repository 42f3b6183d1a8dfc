/* SPDX-License-Identifier: MIT */
/* Firm replies: see firm.h. The last ones are known, which is all that can be under way. */
#include "ops/firm.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum {
	KEPT = 4096,		/* as many as can begin in some tenths of a second */
	TAKEN_NSEC = 20000000,	/* who has asked wakes up, in turn with others at work */
	RECENT_NSEC = 1000000000, /* even if it is made to wait while others run */
	PAUSE_NSEC = 200000,
	PAUSES_MAX = 200,
};

struct reply {
	uint64_t id;
	uint64_t number;	/* of all, from 1 on */
	int64_t sent_nsec;	/* 0: not yet */
};

struct firm {
	pthread_mutex_t lock;	/* guards what follows */
	uint64_t last;		/* number */
	struct reply v[KEPT];	/* by number */
};

int firm_new(struct firm **ret)
{
	struct firm *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	pthread_mutex_init(&f->lock, NULL);
	*ret = f;
	return 0;
}

void firm_free(struct firm *f)
{
	if (!f)
		return;
	pthread_mutex_destroy(&f->lock);
	free(f);
}

static int64_t now_nsec(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

uint64_t firm_begin(struct firm *f, uint64_t id)
{
	uint64_t number;

	if (!f)
		return 0;
	pthread_mutex_lock(&f->lock);
	number = ++f->last;
	f->v[number % KEPT] = (struct reply){ .id = id, .number = number };
	pthread_mutex_unlock(&f->lock);
	return number;
}

void firm_end(struct firm *f, uint64_t reply)
{
	struct reply *r = f ? &f->v[reply % KEPT] : NULL;

	if (!r)
		return;
	pthread_mutex_lock(&f->lock);
	if (r->number == reply)
		r->sent_nsec = now_nsec();
	pthread_mutex_unlock(&f->lock);
}

/* Is one of the first @last? The lock is held. @nsec: after it was sent */
static bool is_any_of(const struct firm *f, uint64_t id, uint64_t last, int64_t nsec)
{
	int64_t taken = now_nsec() - nsec;

	for (size_t i = 0; i < KEPT; i++) {
		const struct reply *r = &f->v[i];

		if (r->number && r->id == id && r->number <= last &&
		    (!r->sent_nsec || r->sent_nsec > taken))
			return true;
	}
	return false;
}

static bool is_any(struct firm *f, uint64_t id, int64_t nsec)
{
	bool is;

	if (!f)
		return false;
	pthread_mutex_lock(&f->lock);
	is = is_any_of(f, id, f->last, nsec);
	pthread_mutex_unlock(&f->lock);
	return is;
}

bool firm_is_under_way(struct firm *f, uint64_t id)
{
	return is_any(f, id, TAKEN_NSEC);
}

bool firm_is_recent(struct firm *f, uint64_t id)
{
	return is_any(f, id, RECENT_NSEC);
}

void firm_wait(struct firm *f, uint64_t id)
{
	static const struct timespec pause = { .tv_nsec = PAUSE_NSEC };
	uint64_t last = 0;

	for (int i = 0; f && i < PAUSES_MAX; i++) {
		bool wait;

		pthread_mutex_lock(&f->lock);
		last = last ? last : f->last;
		wait = is_any_of(f, id, last, TAKEN_NSEC);
		pthread_mutex_unlock(&f->lock);
		if (!wait)
			return;
		(void)nanosleep(&pause, NULL); /* cut short: looks sooner */
	}
}
