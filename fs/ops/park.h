/* SPDX-License-Identifier: MIT */
/*
 * Files that lose their last name while they may be open. A descriptor keeps such a file alive;
 * when too many are needed, a name in the workdir does: it goes when the kernel forgets the node.
 */
#ifndef SPECFS_OPS_PARK_H
#define SPECFS_OPS_PARK_H

#include "ops/server.h"

/**
 * park_begin - before the node's name is taken out of its layer: give the object one more
 * @kept: a descriptor of it
 * @path: its view path; @f what it shows
 * @op:   ROUTE_REMOVE, or ROUTE_EDIT where another object takes the name
 *
 * Nothing happens unless descriptors are scarce and the layer's own object is taken away.
 *
 * The caller holds the tree and n->busy. Returns true if there is one: its link count is one more,
 * and park_end() is due.
 */
bool park_begin(struct server *srv, struct node *n, const struct handle *kept,
		const char *path, const struct found *f, enum route_op op);

/** park_end - keep it if the node has lost its last name, else take it back; where there is none,
 * @kept has to stay */
void park_end(struct server *srv, struct node *n, struct handle *kept);

/** park_open - open a parked node's object; -ESTALE if it is not parked */
int park_open(struct server *srv, struct node *n, int flags);

/** park_drop - a node is freed: its object goes; for table_on_parked() */
void park_drop(void *srv, struct node *n);

#endif
