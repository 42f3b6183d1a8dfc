/* SPDX-License-Identifier: MIT */
/*
 * What table.c and enter.c share: the table's fields, and steps that are taken with its lock held.
 */
#ifndef SPECFS_NODE_TABLE_IMPL_H
#define SPECFS_NODE_TABLE_IMPL_H

#include <pthread.h>

#include "base/memory.h"
#include "node/table.h"

struct table {
	pthread_mutex_t lock;	/* guards all that follows */
	pthread_cond_t not_busy; /* a node is not busy any more */
	size_t n_waiting;	/* for that */
	struct hashset ids;
	struct hashset objects; /* nodes of all but directories, by seen.key */
	struct hashset names;	/* by parent's id and text */
	uint64_t next_id;
	struct peak peak;	/* of nodes */
	struct slots *slots;	 /* constant */
	struct snapshots *snaps; /* constant */
	void (*gone)(void *arg, struct node *n);
	void *gone_arg;
	void (*unpark)(void *arg, struct node *n);
	void *unpark_arg;
	void (*renumbered)(void *arg, uint64_t id);
	void (*strayed)(void *arg, uint64_t dir, const char *name);
	void *watcher; /* of the two above */
};

/** node_pin - node_ref() with the lock held */
static inline struct node *node_pin(struct node *n)
{
	n->refs++;
	return n;
}

/** name_new - a name not yet in the table; NULL when out of memory or longer than NAME_MAX */
struct name *name_new(const struct node *dir, const char *text);

/** table_name - the name in that directory, or NULL */
struct name *table_name(struct table *t, const struct node *dir, const char *text);
/** table_add_name - takes @nm */
void table_add_name(struct table *t, struct name *nm, struct node *dir, struct node *n);

/** table_drop_name - frees @nm; nodes that nobody needs any more are put in front of *@dead */
void table_drop_name(struct table *t, struct name *nm, struct node **dead);

/** table_make_first - go by name @nm of @n from now on, as if it had been looked up last */
void table_make_first(struct node *n, struct name *nm);

/** table_unlock - let go of the lock, then of the dead */
void table_unlock(struct table *t, struct node *dead);

/** table_add_node - a new node without a name and without references; NULL when out of memory */
struct node *table_add_node(struct table *t, const struct found *f);

/** table_object - the node in the table of objects for what was found, or NULL */
struct node *table_object(struct table *t, const struct found *f);
void table_unhash(struct table *t, struct node *n);
void table_set_found(struct table *t, struct node *n, const struct found *f);

#endif
