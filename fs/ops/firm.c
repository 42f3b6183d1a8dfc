/* SPDX-License-Identifier: MIT */
/* Firm replies: see firm.h. One counts as sent only after the time of that is known. */
#include "ops/firm.h"

#include <errno.h>
#include <time.h>

enum {
	NSEC_PER_SEC = 1000000000,
	TAKEN_NSEC = 20000000,	    /* who has asked wakes up, in turn with others at work */
	RECENT_NSEC = NSEC_PER_SEC, /* even if it is made to wait while others run */
	PAUSE_NSEC = 200000,
	PAUSES_MAX = 200,
};

static int64_t now_nsec(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t); /* can't fail */
	return (int64_t)t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

void firm_begin(struct node *n)
{
	atomic_fetch_add(&n->firm_unsent, 1);
}

void firm_end(struct node *n)
{
	int64_t now = now_nsec();
	int64_t sent = atomic_load(&n->firm_sent_nsec);

	while (sent < now && !atomic_compare_exchange_weak(&n->firm_sent_nsec, &sent, now))
		;
	atomic_fetch_sub(&n->firm_unsent, 1);
}

/* @nsec: after it was sent */
static bool is_any(const struct node *n, int64_t nsec)
{
	return atomic_load(&n->firm_unsent) ||
	       atomic_load(&n->firm_sent_nsec) > now_nsec() - nsec;
}

bool firm_is_under_way(const struct node *n)
{
	return is_any(n, TAKEN_NSEC);
}

bool firm_is_recent(const struct node *n)
{
	return is_any(n, RECENT_NSEC);
}

void firm_wait(const struct node *n)
{
	static const struct timespec pause = { .tv_nsec = PAUSE_NSEC };
	struct timespec until;
	int64_t taken;

	for (int i = 0; i < PAUSES_MAX && atomic_load(&n->firm_unsent); i++)
		(void)nanosleep(&pause, NULL); /* cut short: looks sooner */
	taken = atomic_load(&n->firm_sent_nsec) + TAKEN_NSEC;
	until.tv_sec = taken / NSEC_PER_SEC;
	until.tv_nsec = taken % NSEC_PER_SEC;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}
