/* SPDX-License-Identifier: MIT */
/*
 * Growth: files that others make longer underneath. A kernel that hears of the new size while it
 * has the page of the old end shows zeros after that end. So a new size is told only after the
 * pages were dropped; until then the file is what it was a moment ago.
 */
#ifndef SPECFS_OPS_GROWTH_H
#define SPECFS_OPS_GROWTH_H

#include <sys/stat.h>

#include "ops/server.h"

/** growth_own - the mount itself is about to write up to @end: the kernel knows that size */
void growth_own(struct node *n, off_t end);

/**
 * growth_tell - @st is about to be told, and may be kept for @timeout_sec
 *
 * Takes a growth back out of both, and has the pages dropped.
 */
void growth_tell(struct server *srv, struct node *n, struct stat *st, double *timeout_sec);

/** growth_told - the kernel gets this size, or set it itself */
void growth_told(struct node *n, off_t size);

/** growth_is_news - is @st longer than the kernel knows, by another's doing? */
bool growth_is_news(const struct server *srv, const struct node *n, const struct stat *st);

/**
 * growth_settle - drop a node's pages by @drop(@arg, @id), then tell its attributes to those who
 * wait for them
 * @waiting: @n requests for the node's attributes, replied to
 *
 * May wait for a READ or WRITE that is under way, so not to be called by who serves those.
 */
void growth_settle(struct server *srv, uint64_t id, void (*drop)(void *arg, uint64_t id),
		   void *arg, fuse_req_t *waiting, size_t n);

#endif
