/* SPDX-License-Identifier: MIT */
/*
 * Descriptors of a node for its data, and what has to happen before its object may be changed: the
 * route is asked and the object copied up, or, for a file that has only been hidden from the view,
 * copied to where nobody else sees it.
 */
#ifndef SPECFS_OPS_EDIT_H
#define SPECFS_OPS_EDIT_H

#include "ops/server.h"

/**
 * edit_open_read - a descriptor to read the node's data from
 *
 * The caller holds no lock. Returns 0; -EISDIR, -EINVAL if it has no data; -ESTALE if another
 * file has taken its place and no descriptor of its own is left; -EACCES.
 */
int edit_open_read(struct server *srv, struct node *n, struct handle **ret);

/**
 * edit_open_write - a descriptor to change the node's data through; the change may go ahead
 * @keep: bytes of data that are needed; -1: all
 *
 * The caller holds no lock. Returns 0; -EROFS if a rule says so; otherwise as above.
 */
int edit_open_write(struct server *srv, struct node *n, off_t keep, struct handle **ret);

/**
 * edit_prepare - ready the node's object for a change of its attributes
 * @ret_fd: a descriptor of it, O_PATH at least; the caller closes it
 *
 * The caller holds the tree and n->busy.
 */
int edit_prepare(struct server *srv, struct node *n, int *ret_fd);

/**
 * edit_keep - open what a node may need once its name or its mode does not let us any more
 * @write: also for writing, if it is changed in place
 *
 * The caller holds the tree and n->busy. Returns a descriptor of the node's, in use, or NULL: what
 * can't be had can't be kept.
 */
struct handle *edit_keep(struct server *srv, struct node *n, bool write);

/**
 * edit_keep_lost - a node has lost its last name, at @path, by what others did: keep a descriptor
 * for who has it open, while there is still a way to it
 * @f: what it was found as
 *
 * The caller holds the tree. What can't be had can't be kept, nor when descriptors are scarce.
 */
void edit_keep_lost(struct server *srv, struct node *n, const char *path, const struct found *f);

/**
 * edit_outcome - what became of a node whose name was removed: was its object taken out of the
 * layer, or only hidden? @kept: a descriptor of it or NULL; @before: its link count then
 */
enum orphan edit_outcome(const struct handle *kept, nlink_t before);

/**
 * edit_drop_privileges - after data of a file was changed: take its set-id bits, unless root did
 * it
 */
int edit_drop_privileges(struct server *srv, const struct node *n, struct handle *h,
			 const struct caller *who);

#endif
