/* SPDX-License-Identifier: MIT */
/*
 * Handles: open descriptors of nodes, a bounded number over all nodes. The least recently used
 * one that nobody uses makes room, unless it could not be opened again: because the file's mode
 * would not allow it any more, or because it has no name left. Those stay until their node goes.
 *
 * A node's descriptor for writing also goes a second after its last use, so that a program that
 * was written through the mount can be run underneath.
 */
#ifndef SPECFS_NODE_HANDLE_H
#define SPECFS_NODE_HANDLE_H

#include <stdbool.h>
#include <stddef.h>

#include "node/node.h"

struct slots;

/* A node's descriptor while it is used: valid until handle_put(). */
struct handle {
	int fd;			/* constant */
	enum handle_kind kind;	/* constant */
	bool is_readable;	/* HANDLE_WRITE: opened O_RDWR; constant */
	_Atomic bool has_setid; /* the file may have set-id bits to drop at a write */

	/* slots.lock */
	unsigned users;
	bool pinned;	   /* was seen to be one that can't be opened again */
	struct node *node; /* NULL once the node has let go of it */
	struct handle *next_of_node;
	struct slots *slots;
	uint64_t used_msec;
	struct handle *prev;
	struct handle *next;
};

/** slots_new - @limit: descriptors there may be, at least 1 */
int slots_new(size_t limit, struct slots **ret);
void slots_free(struct slots *s);

DEFINE_CLEANUP(slots, struct slots, slots_free)
#define cleanup_slots CLEANUP(cleanup_slots_p)

/** slots_count - open descriptors; @ret_pinned: how many of them can't be let go */
size_t slots_count(struct slots *s, size_t *ret_pinned);

/** slots_are_scarce - do those that can't be let go take up much of what there may be? */
bool slots_are_scarce(struct slots *s);

/** handle_get - the node's descriptor of that kind, in use; NULL if it has none */
struct handle *handle_get(struct slots *s, struct node *n, enum handle_kind kind);

/** handle_pin - its node has lost its last name: count it at once as one that can't be let go */
void handle_pin(struct handle *h);

/** handle_put - end of use */
void handle_put(struct handle *h);

DEFINE_CLEANUP(handle, struct handle, handle_put)
#define cleanup_handle CLEANUP(cleanup_handle_p)

/**
 * handle_install - give the node a descriptor, and use it
 * @fd: taken, also on failure
 *
 * If the node has got one of that kind meanwhile, that one is used. Makes room first.
 * Returns 0 or -ENOMEM.
 */
int handle_install(struct slots *s, struct node *n, enum handle_kind kind, int fd, bool is_readable,
		   struct handle **ret);

/**
 * handle_drop - the node lets go of its descriptor of that kind; users keep it until they put it
 */
void handle_drop(struct slots *s, struct node *n, enum handle_kind kind);

/**
 * handle_take - take the descriptor from the node once nobody uses it any more
 *
 * For a change during which nobody may write; handle_install() gives it back. Returns the
 * descriptor, which the caller owns, or -1 if the node has none.
 */
int handle_take(struct slots *s, struct node *n, enum handle_kind kind, bool *ret_is_readable);

/**
 * slots_drop_writers - close descriptors for writing that can be opened again, each once nobody
 * uses it
 *
 * For a change of where changes go. Nobody may get new ones meanwhile. Files without a name keep
 * theirs.
 */
void slots_drop_writers(struct slots *s);

/** handle_drop_all - let go of all that the node has; for a node that is freed */
void handle_drop_all(struct slots *s, struct node *n);

/**
 * slots_make_room - close @want descriptors that nobody uses and that can be opened again
 *
 * For a caller that got EMFILE elsewhere. Returns how many were closed.
 */
size_t slots_make_room(struct slots *s, size_t want);

/**
 * slots_age - close descriptors for writing whose last use is long ago
 * @wait: block until there may be something to do
 *
 * Returns false once slots_stop() was called. The housekeeping thread calls this in a loop.
 */
bool slots_age(struct slots *s, bool wait);

/** slots_stop - let slots_age() return */
void slots_stop(struct slots *s);

#endif
