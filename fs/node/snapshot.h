/* SPDX-License-Identifier: MIT */
/*
 * Snapshots: the listing of a directory while somebody reads it, kept between two requests. As
 * there are no directory handles, it belongs to the node; all readers share the newest one, which
 * they may because an offset belongs to a name. Their memory is bounded; one that had to go is
 * read again.
 */
#ifndef SPECFS_NODE_SNAPSHOT_H
#define SPECFS_NODE_SNAPSHOT_H

#include <stddef.h>

#include "layer/listing.h"
#include "node/node.h"

struct snapshots;

struct snapshot {
	struct listing *listing; /* constant, owned */
	/* snapshots.lock */
	unsigned users; /* readers, and the node */
	struct snapshots *all;
	struct node *node; /* NULL once the node has let go of it */
	struct snapshot *prev;
	struct snapshot *next;
};

/** snapshots_new - @limit_bytes: memory they may hold while nobody uses them */
int snapshots_new(size_t limit_bytes, struct snapshots **ret);
void snapshots_free(struct snapshots *s);

DEFINE_CLEANUP(snapshots, struct snapshots, snapshots_free)
#define cleanup_snapshots CLEANUP(cleanup_snapshots_p)

/** snapshot_get - the node's snapshot, in use; NULL if it has none */
struct snapshot *snapshot_get(struct snapshots *s, struct node *n);

/** snapshot_put - end of use */
void snapshot_put(struct snapshot *sn);

DEFINE_CLEANUP(snapshot, struct snapshot, snapshot_put)
#define cleanup_snapshot CLEANUP(cleanup_snapshot_p)

/**
 * snapshot_install - give the node a new one instead of what it had, and use it
 * @l: taken, also on failure
 */
int snapshot_install(struct snapshots *s, struct node *n, struct listing *l, struct snapshot **ret);

/** snapshot_drop - the node lets go of its snapshot; with @only, only if it is still that one */
void snapshot_drop(struct snapshots *s, struct node *n, const struct snapshot *only);

/** snapshots_bytes - memory they hold */
size_t snapshots_bytes(struct snapshots *s);

#endif
