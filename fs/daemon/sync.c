/* SPDX-License-Identifier: MIT */
/* Waiting until all earlier changes are visible: inval_sync() of inval.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/inval_impl.h"
#include "daemon/refresh.h"

enum {
	SYNC_LIMIT_SEC = 300, /* a million names on a busy machine take their time */
	SYNC_NAME_MAX = 32,
};

#define SYNC_PREFIX "sync."

void sync_seen(struct inval *i, uint64_t n)
{
	if (n > i->sync_seen)
		i->sync_seen = n;
	pthread_cond_broadcast(&i->done);
}

bool sync_is_event(struct inval *i, const struct pending *p)
{
	const char *name = pending_name(p);

	if (p->dir != i->sync_dir || !i->sync_dir)
		return false;
	if (!strncmp(name, SYNC_PREFIX, strlen(SYNC_PREFIX))) {
		uint64_t n = strtoull(name + strlen(SYNC_PREFIX), NULL, 10);

		due_sync(i);
		pthread_mutex_lock(&i->lock);
		sync_seen(i, n);
		pthread_mutex_unlock(&i->lock);
	}
	return true;
}

/* Wait, with the lock held, until sync file @n was seen and what pages had to go then are gone. */
static int wait_done(struct inval *i, uint64_t n, const struct timespec *until)
{
	bool names = false;
	uint64_t pages = 0;

	while (!i->stop) {
		if (!names && i->sync_seen >= n && !i->lost) {
			names = true;
			pages = i->pages_queued;
		}
		if (names && i->pages_done >= pages)
			return 0;
		if (pthread_cond_timedwait(&i->done, &i->lock, until) == ETIMEDOUT)
			return -EIO;
	}
	return -EIO;
}

/* The event of this file comes after those of all earlier changes: the kernel keeps their order. */
static int make_sync_file(struct inval *i, uint64_t n, char name[SYNC_NAME_MAX])
{
	int fd;

	snprintf(name, SYNC_NAME_MAX, SYNC_PREFIX "%llu", (unsigned long long)n);
	fd = openat(i->sync_fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int wait_done_unlocked(struct inval *i, uint64_t n, const struct timespec *until)
{
	int r;

	pthread_mutex_lock(&i->lock);
	r = wait_done(i, n, until);
	pthread_mutex_unlock(&i->lock);
	return r;
}

int inval_sync(struct inval *i)
{
	struct refresh all = { .srv = i->srv, .follow = i->follow, .inval = i };
	struct timespec until;
	char name[SYNC_NAME_MAX];
	uint64_t n;
	int r;

	if (i->sync_fd < 0)
		return -EIO;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += SYNC_LIMIT_SEC;
	pthread_mutex_lock(&i->lock);
	n = ++i->sync_asked;
	pthread_mutex_unlock(&i->lock);
	r = make_sync_file(i, n, name);
	if (r < 0)
		return r;
	r = wait_done_unlocked(i, n, &until);
	if (!r) {
		refresh_files(&all);
		r = wait_done_unlocked(i, n, &until);
	}
	(void)unlinkat(i->sync_fd, name, 0); /* the next start clears what is left */
	return r;
}
