/* SPDX-License-Identifier: MIT */
/*
 * Entries: what a look-up or a creation found becomes a node, and what the kernel is told about it.
 */
#ifndef SPECFS_OPS_ENTRY_H
#define SPECFS_OPS_ENTRY_H

#include "ops/place.h"

/**
 * entry_enter - enter what was found at @name of @p; counted once for the kernel
 * @own:   our own change made it
 * @share: a node that it is another name of, if @own
 *
 * Returns 0; -EAGAIN if it must be looked at again; or another errno.
 */
int entry_enter(struct place *p, const char *name, const struct found *f, bool own,
		struct node *share, struct fuse_entry_param *ret);

/** entry_absent - nothing was found at @name; 0 or -EAGAIN */
int entry_absent(struct place *p, const char *name);

/**
 * entry_lookup - look a name up and enter it
 *
 * With -ENOENT @ret says how long the kernel may remember that.
 */
int entry_lookup(struct server *srv, uint64_t dir, const char *name, struct fuse_entry_param *ret);

/** entry_timeout - how long the kernel may trust what it is told about a node, seconds */
double entry_timeout(const struct server *srv, const struct node *n);

/**
 * entry_is_followed - is it told to us when the node's attributes change?
 *
 * A file's are by the directory that it is in, a directory's own only once it is watched itself;
 * see fanotify(7), FAN_REPORT_DIR_FID.
 */
bool entry_is_followed(const struct server *srv, const struct node *n);

/**
 * entry_follow - have a directory watched before the kernel is told of it
 * @p: where it was entered as @name, still open
 * @e: what entry_enter() said
 *
 * Then its attributes hold until a change is heard of, and the kernel need not ask for them when
 * somebody goes there. Nothing happens if it is watched, or can't be.
 */
void entry_follow(struct place *p, const char *name, struct fuse_entry_param *e);

/** entry_stamp - a number that differs whenever a file's size or times do; never 0 */
uint64_t entry_stamp(const struct stat *st);

/**
 * entry_check_pages - @st is about to be told of a node: are the kernel's pages of it as old?
 *
 * Only where nobody tells of its changes, and not what the kernel finds by itself with auto_inval:
 * another size or mtime. If they are the next reply to GETATTR waits until they are gone.
 */
void entry_check_pages(const struct server *srv, struct node *n, const struct stat *st);

/** entry_attr - attributes as the kernel gets them: @st with what the view shows otherwise */
void entry_attr(const struct found *f, const struct stat *st, struct stat *ret);

#endif
