/* SPDX-License-Identifier: MIT */
/*
 * Events for who watches inside the mount: what a change underneath is told to the kernel for is
 * also repeated through the mount, by a helper process, if somebody watches that directory or file.
 */
#ifndef SPECFS_DAEMON_EVENTS_H
#define SPECFS_DAEMON_EVENTS_H

#include "ops/echo.h"

struct events;

struct events_stats {
	uint64_t watched;       /* inodes of the mount that somebody watches */
	uint64_t told;          /* changes repeated */
	uint64_t dropped;       /* not repeated: the helper did not get on, or is gone */
};

/**
 * events_new - start the helper
 * @mountpoint, @device: the mount, which is there already
 */
int events_new(struct server *srv, const char *mountpoint, dev_t device, struct events **ret);

/** events_begin - start to look for who watches; requests are about to be answered */
int events_begin(struct events *v);

/** events_free - end the helper; a while is waited for it */
void events_free(struct events *v);

/**
 * events_tell - repeat a change, if somebody watches
 * @type:  S_IFREG, S_IFDIR, ... of the name that came or has gone
 * @child: what is, or was, known under the name; may be NULL
 *
 * For one thread only, that holds no lock; waits until it is done, but never long. Returns whether
 * it is done: then a name that came is as it is now, and none is older than that.
 */
bool events_tell(struct events *v, enum echo_kind kind, uint64_t dir, const char *name,
		 mode_t type, struct node *child);

/** events_stats - counters */
void events_stats(struct events *v, struct events_stats *ret);

#endif
