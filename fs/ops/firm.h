/* SPDX-License-Identifier: MIT */
/*
 * Firm replies: the kernel takes the size in them even if it was told something else since they
 * were made up. So it does with those to SETATTR and LINK; with others, only if it has asked after
 * it was last told. (MKNOD and CREATE are about new nodes: who tells of these waits for the
 * directory.)
 *
 * Who brings another size waits for those that may tell the old one. When one has been taken is
 * not to be seen: some time after it was sent. A node knows how many are not sent yet, and when
 * the last one was; nothing here takes a lock.
 */
#ifndef SPECFS_OPS_FIRM_H
#define SPECFS_OPS_FIRM_H

#include <stdbool.h>

#include "node/node.h"

/** firm_begin - a firm reply about the node is about to be made up, and sent soon */
void firm_begin(struct node *n);

/** firm_end - it has been sent, or will not be */
void firm_end(struct node *n);

/** firm_is_under_way - is there one that may not have been taken yet? */
bool firm_is_under_way(const struct node *n);

/** firm_is_recent - the same, even if who is to take it gets no time to run for a second */
bool firm_is_recent(const struct node *n);

/**
 * firm_wait - return when the firm replies that have begun by now have been taken
 *
 * Not with a lock held: that may be after 20 ms, or up to 40 ms later if one is not sent, which
 * may be one that has begun meanwhile.
 */
void firm_wait(const struct node *n);

#endif
