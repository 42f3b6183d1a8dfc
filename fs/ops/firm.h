/* SPDX-License-Identifier: MIT */
/*
 * Firm replies: the kernel takes the size in them even if it was told something else since they
 * were made up. So it does with those to SETATTR and LINK; with others, only if it has asked after
 * it was last told. (MKNOD and CREATE are about new nodes: who tells of these waits for the
 * directory.)
 *
 * Who brings another size waits for those that may tell the old one. When one has been taken is
 * not to be seen: some time after it was sent.
 */
#ifndef SPECFS_OPS_FIRM_H
#define SPECFS_OPS_FIRM_H

#include <stdbool.h>
#include <stdint.h>

struct firm;

/** firm_new - with no such reply under way */
int firm_new(struct firm **ret);
void firm_free(struct firm *f);

/**
 * firm_begin - a firm reply about node @id is about to be made up, and sent soon
 *
 * Returns what firm_end() wants. With @f NULL all of these do nothing.
 */
uint64_t firm_begin(struct firm *f, uint64_t id);

/** firm_end - it has been sent, or will not be */
void firm_end(struct firm *f, uint64_t reply);

/** firm_is_under_way - is there one about node @id that may not have been taken yet? */
bool firm_is_under_way(struct firm *f, uint64_t id);

/** firm_is_recent - the same, even if who is to take it gets no time to run for a second */
bool firm_is_recent(struct firm *f, uint64_t id);

/**
 * firm_wait - return when the firm replies about node @id that have begun by now have been taken
 *
 * Not with a lock held: that may be after 20 ms, or after 40 ms if one is not sent.
 */
void firm_wait(struct firm *f, uint64_t id);

#endif
