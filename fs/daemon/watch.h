/* SPDX-License-Identifier: MIT */
/*
 * Watches on layer directories. The watcher's own thread turns what the kernel reports into events:
 * "something about this name in this directory changed"; it says no more, since events merge and
 * lose their order: whoever gets one looks at the layer. What this process did itself is left out.
 *
 * fanotify with one mark a directory, which needs no privilege; where it is missing, inotify, which
 * can't tell whose change it was. Source: fanotify(7), inotify(7).
 */
#ifndef SPECFS_DAEMON_WATCH_H
#define SPECFS_DAEMON_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"

/* What may have changed; several at once are usual. */
enum {
	WATCH_NAME = 1 << 0,    /* a name came, went or leads to another object */
	WATCH_DATA = 1 << 1,    /* the content of the file of that name */
	WATCH_ATTR = 1 << 2,    /* attributes of that object, or of the directory itself */
	WATCH_SELF = 1 << 3,    /* the directory itself went or moved; no name */
	WATCH_OWN = 1 << 5,     /* this process did it */
	WATCH_NODE = 1 << 6,    /* not the watcher's: @dir is a node's number, see refresh_node() */
	WATCH_LOST = 1 << 4,    /* events were lost: anything may have changed; no directory */
};

struct watch_event {
	uint64_t dir;           /* watch_add()'s number */
	unsigned what;          /* WATCH_* */
	const char *name;       /* "" for the directory itself */
};

/** watch_fn - gets every event, in the watcher's thread; must not block on the mount */
typedef void (*watch_fn)(void *arg, const struct watch_event *e);

struct watch;

struct watch_stats {
	const char *mechanism;  /* "fanotify" or "inotify" */
	uint64_t dirs;          /* directories watched */
	uint64_t events;        /* foreign events passed on */
	uint64_t own;           /* own events left out */
	uint64_t overflows;
	uint64_t refused;       /* directories that could not be watched */
	uint64_t remote;        /* of these, those on file systems that others may change */
};

/**
 * watch_new - start watching, with a thread of its own
 * @dir_fd: where most will be watched: what does not work there is not taken; or -1
 *
 * Returns 0, or a negative errno where neither mechanism is to be had.
 */
int watch_new(watch_fn fn, void *arg, int dir_fd, struct watch **ret);

/** watch_free - end the thread, drop all watches; no call of the function is under way after it */
void watch_free(struct watch *w);

DEFINE_CLEANUP(watch, struct watch, watch_free)
#define cleanup_watch CLEANUP(cleanup_watch_p)

/**
 * watch_add - watch a directory
 * @dir_fd:  O_PATH is enough; not kept
 * @with_own: report this process's own changes too
 * @ret_id:  the directory's number: the same for the same directory
 *
 * Each call wants a watch_remove(). Events of changes made after the return are reported.
 * Returns 0, -ENOSPC (too many watches), -EREMOTE (others may change what is here unseen),
 * -EOPNOTSUPP (no events here), or another errno.
 */
int watch_add(struct watch *w, int dir_fd, bool with_own, uint64_t *ret_id);

/** watch_with_own - from now on report this process's own changes in a watched directory too */
void watch_with_own(struct watch *w, uint64_t id);

/**
 * watch_remove - end one watch_add()
 * @dir_fd: the directory, or -1 if it can't be had any more; the kernel's mark then stays until the
 *          directory goes
 */
void watch_remove(struct watch *w, uint64_t id, int dir_fd);

/** watch_is - is the open directory the one that is watched by that number? */
bool watch_is(struct watch *w, uint64_t id, int dir_fd);

/** watch_stats - counters */
void watch_stats(struct watch *w, struct watch_stats *ret);

#endif
