/* SPDX-License-Identifier: MIT */
/*
 * Files of which nobody tells: in directories that cannot be watched, or outside all layers. The
 * kernel asks for their names and attributes each time, but who holds one open reads what the
 * kernel has. So they are looked at now and then.
 */
#include <stdlib.h>

#include "daemon/inval_impl.h"
#include "daemon/refresh.h"

enum {
	EVERY_SEC = 1,
	IDLE_PARTS = 50, /* of the time that a look takes: at most 2 % of one CPU */
	FIRST_ROOM = 64,
};

/* Make room for one more; the lock is held. */
static bool make_room(struct inval *i)
{
	size_t n = i->max_loose ? i->max_loose * 2 : FIRST_ROOM;
	uint64_t *more;

	if (i->n_loose < i->max_loose)
		return true;
	more = realloc(i->loose, n * sizeof(*more));
	if (!more)
		return false;
	i->loose = more;
	i->max_loose = n;
	return true;
}

void recheck_add(struct inval *i, uint64_t id)
{
	pthread_mutex_lock(&i->lock);
	if (make_room(i))
		i->loose[i->n_loose++] = id;
	else
		i->lost = true;
	pthread_cond_signal(&i->names_more);
	pthread_mutex_unlock(&i->lock);
}

bool recheck_is_due(const struct inval *i)
{
	return i->n_loose && due_has_come(&i->look_at);
}

/* Look at number @at of the files. False if there is no such number. */
static bool look(struct inval *i, size_t at)
{
	struct refresh r = { .srv = i->srv, .follow = i->follow, .inval = i };
	uint64_t id;

	pthread_mutex_lock(&i->lock);
	if (i->stop || at >= i->n_loose) {
		pthread_mutex_unlock(&i->lock);
		return false;
	}
	id = i->loose[at];
	pthread_mutex_unlock(&i->lock);
	if (!refresh_file(&r, id)) {
		pthread_mutex_lock(&i->lock);
		i->loose[at] = 0; /* the kernel has forgotten it */
		pthread_mutex_unlock(&i->lock);
	}
	return true;
}

static void drop_forgotten(struct inval *i)
{
	size_t n = 0;

	for (size_t k = 0; k < i->n_loose; k++)
		if (i->loose[k])
			i->loose[n++] = i->loose[k];
	i->n_loose = n;
}

void recheck_run(struct inval *i)
{
	struct timespec begin;
	struct timespec end;
	long long took_nsec;
	time_t idle_sec = EVERY_SEC;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (size_t at = 0; look(i, at); at++)
		;
	clock_gettime(CLOCK_MONOTONIC, &end);
	took_nsec = (end.tv_sec - begin.tv_sec) * 1000000000LL + end.tv_nsec - begin.tv_nsec;
	idle_sec += took_nsec * IDLE_PARTS / 1000000000LL;
	pthread_mutex_lock(&i->lock);
	drop_forgotten(i);
	i->look_at = end;
	i->look_at.tv_sec += idle_sec;
	pthread_mutex_unlock(&i->lock);
}
