/* SPDX-License-Identifier: MIT */
/* Attributes of a node as they are now. */
#ifndef SPECFS_OPS_ATTR_H
#define SPECFS_OPS_ATTR_H

#include "ops/server.h"

/**
 * attr_get - look at the node's object and say what the view shows of it
 *
 * Takes the tree. Returns 0; -ESTALE if another object has taken the place and no descriptor of the
 * node's own is left.
 */
int attr_get(struct server *srv, struct node *n, struct stat *ret);

/** attr_get_held - the same; the caller holds the tree */
int attr_get_held(struct server *srv, struct node *n, struct stat *ret);

#endif
