/* SPDX-License-Identifier: MIT */
/*
 * What the thread that tells of names does when its time has come: it reads the profile, and looks
 * at files that are not watched, see recheck.c.
 */
#include <errno.h>

#include "daemon/inval_impl.h"
#include "daemon/refresh.h"
#include "daemon/reread.h"

enum {
	QUIET_MSEC = 15, /* a file that was not written for so long is complete, ... */
	LIMIT_MSEC = 400, /* ... but is not waited for longer, even if it is faulty */
	AGAIN_MSEC = 25,
};

struct timespec due_after(long msec)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += msec / 1000;
	t.tv_nsec += msec % 1000 * 1000000L;
	if (t.tv_nsec >= 1000000000L) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000L;
	}
	return t;
}

static bool is_before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

bool due_has_come(const struct timespec *at)
{
	struct timespec now = due_after(0);

	return !is_before(&now, at);
}

void due_wait(struct inval *i)
{
	const struct timespec *until = i->n_loose ? &i->look_at : NULL;

	if (i->profile_due && (!until || is_before(&i->profile_at, until)))
		until = &i->profile_at;
	if (until)
		(void)pthread_cond_timedwait(&i->names_more, &i->lock, until); /* see the caller */
	else
		pthread_cond_wait(&i->names_more, &i->lock);
}

void inval_reread(struct inval *i, struct reread *rr)
{
	i->reread = rr;
}

void inval_profile(struct inval *i)
{
	pthread_mutex_lock(&i->lock);
	if (!i->profile_due)
		i->profile_by = due_after(LIMIT_MSEC);
	i->profile_due = true;
	i->profile_at = due_after(QUIET_MSEC);
	pthread_cond_signal(&i->names_more);
	pthread_mutex_unlock(&i->lock);
}

/* Read it, and tell the kernel what has become of what it knows. */
static int read_profile(struct inval *i, enum reread_how how)
{
	struct refresh r = { .srv = i->srv, .follow = i->follow, .inval = i };
	cleanup_strv struct strv places = STRV_INIT;
	int ret = reread_now(i->reread, how, &places);

	if (ret <= 0)
		return ret;
	refresh_rules(&r, &places);
	reread_done(i->reread);
	return 0;
}

bool due_profile(struct inval *i)
{
	bool patient = !due_has_come(&i->profile_by);
	int r;

	if (!i->profile_due || !i->reread || !due_has_come(&i->profile_at))
		return false;
	i->profile_due = false;
	pthread_mutex_unlock(&i->lock);
	r = read_profile(i, patient ? REREAD_PATIENT : REREAD_NOW);
	pthread_mutex_lock(&i->lock);
	if (r == -EAGAIN && patient && !i->profile_due) {
		i->profile_due = true; /* the limit stays */
		i->profile_at = due_after(AGAIN_MSEC);
	}
	return true;
}

void due_sync(struct inval *i)
{
	bool due;

	if (!i->reread)
		return;
	pthread_mutex_lock(&i->lock);
	due = i->profile_due; /* an event has told; else it may be where there are none */
	i->profile_due = false;
	pthread_mutex_unlock(&i->lock);
	/* what is wrong with it is kept, and told */
	(void)read_profile(i, due ? REREAD_NOW : REREAD_IF_DUE);
}
