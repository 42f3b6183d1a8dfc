/* SPDX-License-Identifier: MIT */
/*
 * Events that wait to be dealt with, in the order in which they came. Of events about the same name
 * one waits. Not locked: that is the caller's business.
 */
#ifndef SPECFS_DAEMON_PENDING_H
#define SPECFS_DAEMON_PENDING_H

#include <stdbool.h>
#include <uthash.h>

#include "daemon/watch.h"

/* A name in a watched directory, or a node's, about which something was reported. */
struct pending {
	unsigned what; /* WATCH_* of all that was reported */
	uint64_t dir;
	struct pending *next;
	UT_hash_handle hh;
	unsigned key_len;
	char key[]; /* dir and whether it is a node's number, then the name with its NUL */
};

struct pending_queue {
	struct pending *first;
	struct pending **last;
	struct pending *by_key;
};

enum { PENDING_MAX = 1 << 16 }; /* events of the watcher's; more than that are lost */

void pending_init(struct pending_queue *q);
void pending_clear(struct pending_queue *q);

/**
 * pending_push - add an event
 *
 * Returns false if it is lost, since too many wait or memory is short. Looking through the layers
 * finds again what the watcher's events are about, but not what WATCH_NODE events are: that the
 * kernel differs from us. So these are taken however many wait.
 */
bool pending_push(struct pending_queue *q, const struct watch_event *e);

/** pending_take - the first one, to be freed by the caller; NULL if there is none */
struct pending *pending_take(struct pending_queue *q);

/** pending_name - what its event calls the name */
const char *pending_name(const struct pending *p);

/** pending_count - how many wait */
unsigned pending_count(const struct pending_queue *q);

#endif
