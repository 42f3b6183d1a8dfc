/* SPDX-License-Identifier: MIT */
/*
 * What table.c and enter.c share: the table's fields, and steps that are taken with its lock held.
 */
#ifndef SPECFS_NODE_TABLE_IMPL_H
#define SPECFS_NODE_TABLE_IMPL_H

#include <limits.h>

#include "node/table.h"

enum { NAME_KEY_MAX = sizeof(uint64_t) + NAME_MAX + 1 };

struct table {
	pthread_mutex_t lock; /* guards all that follows */
	struct node *ids;
	struct node *objects; /* all but directories, by object_key */
	struct name *names;   /* by parent's id and text */
	uint64_t next_id;
	size_t most; /* nodes there have been since memory was given back */
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

/** object_key - by what the table of objects knows what was found */
static inline struct object_key object_key(const struct found *f)
{
	return (struct object_key){
		.dev = f->obj.st.st_dev,
		.ino = f->obj.st.st_ino,
		.btime_nsec = f->obj.btime_nsec,
	};
}

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

/** table_unlock - let go of the lock, then of the dead */
void table_unlock(struct table *t, struct node *dead);

/** table_add_node - a new node without a name and without references; NULL when out of memory */
struct node *table_add_node(struct table *t, const struct found *f);

/** table_object - the node in the table of objects for what was found, or NULL */
struct node *table_object(struct table *t, const struct found *f);
void table_unhash(struct table *t, struct node *n);
void table_set_found(struct table *t, struct node *n, const struct found *f);

#endif
