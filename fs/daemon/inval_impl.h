/* SPDX-License-Identifier: MIT */
/* The fields of an invalidation, for the files of this folder that are about it. */
#ifndef SPECFS_DAEMON_INVAL_IMPL_H
#define SPECFS_DAEMON_INVAL_IMPL_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <uthash.h>

#include "base/memory.h"
#include "daemon/inval.h"
#include "daemon/pending.h"

/* A node whose pages are to go, or whose size is to be settled. */
struct page_job {
	uint64_t id;
	bool drop;           /* whatever its size is */
	fuse_req_t *waiting; /* GETATTR requests, replied to after that */
	size_t n_waiting;
	struct page_job *next;
	UT_hash_handle hh;
};

struct inval {
	struct server *srv;             /* constant */
	struct fuse_session *fuse;      /* constant */
	struct follow *follow;          /* constant */
	struct events *events;          /* borrowed, constant while threads run; may be NULL */
	struct reread *reread;          /* the same */
	const char *mountpoint;         /* borrowed, constant while threads run; NULL: not seen */
	dev_t device;                   /* of the mount there */
	uint64_t sync_dir;              /* watch of the directory for sync files; constant */
	int sync_fd;                    /* that directory; constant */
	bool running;
	time_t said_sec;                /* when a loss was told last; names_thread's; 0: never */
	pthread_t names_thread;
	pthread_t pages_thread;
	pthread_t reads_thread;

	pthread_mutex_t lock;           /* guards what follows */
	pthread_cond_t names_more;
	pthread_cond_t pages_more;
	pthread_cond_t done;
	struct pending_queue events_waiting;
	struct peak events_peak;
	struct page_job *pages_first;
	struct page_job **pages_last;
	struct page_job *pages_by_id;
	struct peak pages_peak;
	pthread_cond_t reads_more;
	struct read_job *reads;         /* that wait, see look.c */
	struct lowering *lowerings;     /* that are under way, see there */
	uint64_t *loose;                /* files that are not watched, by id */
	size_t n_loose;
	size_t max_loose;
	struct timespec look_at;        /* when to look at these next */
	bool profile_due;               /* the profile is to be read */
	struct timespec profile_at;     /* when to do that */
	struct timespec profile_by;     /* when to take it as it is */
	bool lost;
	bool stop;
	unsigned alive;                 /* threads that have not ended */
	uint64_t pages_queued;          /* page jobs so far; they are done in that order */
	uint64_t pages_done;
	uint64_t sync_asked;
	uint64_t sync_seen;             /* the event of sync file number N has been dealt with */

	atomic_uint_fast64_t entries;
	atomic_uint_fast64_t attrs;
	atomic_uint_fast64_t pages;
	atomic_uint_fast64_t trees;
};

/* sync.c */

/** sync_seen - sync number @n, and all before it, need wait no longer; the lock is held */
void sync_seen(struct inval *i, uint64_t n);

/** sync_is_event - is it the event of a sync file? Then all queued before it has been dealt with */
bool sync_is_event(struct inval *i, const struct pending *p);

/* recheck.c */

/** recheck_add - nobody tells of changes of that file */
void recheck_add(struct inval *i, uint64_t id);

/** recheck_is_due - is it time to recheck? The lock is held */
bool recheck_is_due(const struct inval *i);

/** recheck_run - look at all files that are not watched */
void recheck_run(struct inval *i);

/* due.c: of all times here the clock is CLOCK_MONOTONIC */

/** due_after - @msec from now on */
struct timespec due_after(long msec);

/** due_has_come - is that time now, or past? */
bool due_has_come(const struct timespec *at);

/** due_wait - wait for events, or until something is due; the lock is held */
void due_wait(struct inval *i);

/** due_profile - read the profile if it is time to, and tell the kernel; the lock is held, and let
 * go of meanwhile. Returns whether it was time. */
bool due_profile(struct inval *i);

/** due_sync - all events until now have been dealt with: read the profile if one was about it, or
 * if it looks like another one; of the thread that tells of names, without a lock */
void due_sync(struct inval *i);

#endif
