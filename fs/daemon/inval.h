/* SPDX-License-Identifier: MIT */
/*
 * Invalidation: what the watcher saw becomes messages to the kernel. The watcher's thread only
 * queues; one thread looks at the layers and tells the kernel about names and attributes, another
 * about pages, since that may wait for a READ or WRITE that is under way. Neither holds a lock
 * while it tells the kernel something.
 */
#ifndef SPECFS_DAEMON_INVAL_H
#define SPECFS_DAEMON_INVAL_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/events.h"
#include "daemon/follow.h"
#include "ops/server.h"

struct inval;
struct reread;

struct inval_stats {
	uint64_t entries;       /* names told to the kernel */
	uint64_t attrs;         /* nodes whose attributes or listing were dropped */
	uint64_t pages;         /* nodes whose pages were dropped */
	uint64_t trees;         /* times that a whole directory was looked through */
	uint64_t loose;         /* files that are not watched, and looked at now and then */
	uint64_t pending;       /* events not yet dealt with */
};

/**
 * inval_new - start following a server's view
 * @fuse: borrowed; where the kernel is told
 *
 * Sets @srv's watch_arg and what goes with it, so it comes before the first request. Returns 0,
 * or a negative errno if nothing can be watched.
 */
int inval_new(struct server *srv, struct fuse_session *fuse, struct inval **ret);

/** inval_new_unwatched - the same for a view of which nothing is watched: only sizes are told */
int inval_new_unwatched(struct server *srv, struct fuse_session *fuse, struct inval **ret);

/** inval_repeat - repeat changes for who watches inside; @events: borrowed. Before inval_begin() */
void inval_repeat(struct inval *i, struct events *events);

/** inval_reread - follow the profile, too; @rr: borrowed. Before inval_begin() */
void inval_reread(struct inval *i, struct reread *rr);

/** inval_profile - the profile's file may be another one: have it read once it is left alone */
void inval_profile(struct inval *i);

/** inval_mounted - where the mount is, if it is to be seen; borrowed. Before inval_begin() */
void inval_mounted(struct inval *i, const char *mountpoint, dev_t device);

/** inval_begin - start the threads; once the daemon has forked and the session is mounted */
int inval_begin(struct inval *i);

/**
 * inval_stop - have the threads end, and wait for that
 *
 * What they tell the kernel may wait for answers, so while requests are still answered, or once
 * the connection is no more. Returns false if they have not ended within the limit.
 */
bool inval_stop(struct inval *i, int limit_msec);

/** inval_end - stop the threads for good; the session's loop may have ended */
void inval_end(struct inval *i);
void inval_free(struct inval *i);

/** inval_sync - return when every change of a layer made before the call is visible; 0 or -EIO */
int inval_sync(struct inval *i);

/** inval_path - what the view shows at @path has changed by a decision of ours: tell the kernel */
void inval_path(struct inval *i, const char *path);

/** inval_stats - counters; @watch may be NULL */
void inval_stats(struct inval *i, struct inval_stats *ret, struct watch_stats *watch);

/** inval_events - what inval_repeat() got, else NULL */
struct events *inval_events(struct inval *i);

/* For refresh.c: tell the kernel. Names and ids that it does not know are no mistake. */
void inval_entry(struct inval *i, uint64_t dir, const char *name);
/* The same for a name that may lead to a directory. One that was made there since is spared, the
 * one that has gone (@id, or 0) stays if somebody works in it. */
void inval_dir_entry(struct inval *i, uint64_t dir, const char *name, uint64_t id);
void inval_attr(struct inval *i, uint64_t id);
void inval_listing(struct inval *i, uint64_t id);
void inval_pages(struct inval *i, uint64_t id);

/** inval_node - have refresh_node() called for directory @id of the view; takes note, no more */
void inval_node(struct inval *i, uint64_t id, const char *name);

/** inval_follow - what is followed */
struct follow *inval_follow(struct inval *i);

/** inval_is_stopping - the threads are to end: what is left to tell matters no more */
bool inval_is_stopping(struct inval *i);

/** inval_barrier - wait until the kernel has got all answers about names of that directory that are
 * under way: what is told after it is not overtaken by an older answer */
void inval_barrier(struct inval *i, uint64_t dir);

#endif
