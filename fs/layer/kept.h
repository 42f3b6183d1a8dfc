/* SPDX-License-Identifier: MIT */
/*
 * Numbers that specializations keep: a trunk file that was copied into a spec directory goes on
 * showing its inode number. Scratch remembers which copy that is, so that it holds over a remount.
 *
 * The number stays its own alone: it counts only as long as the trunk still has that file, under
 * one name, where the view does not show it.
 */
#ifndef SPECFS_LAYER_KEPT_H
#define SPECFS_LAYER_KEPT_H

#include <stdint.h>

#include "layer/stack.h"

struct kept;

/**
 * kept_open - remember in the scratch directory @dir_fd, and what was remembered there
 *
 * A list that can't be read or written is no reason to fail: numbers change at the next mount then.
 * Returns 0 or -ENOMEM; the stack owns what is made.
 */
int kept_open(struct stack *st, int dir_fd);
void kept_free(struct kept *k);

/**
 * kept_add - from now on @copy, about to appear in a spec layer, shows the number of @orig
 * @path: where the trunk has @orig
 *
 * Nothing happens where the number could come to be shown twice, or the copy not be known again.
 */
void kept_add(const struct stack *st, const char *path, const struct object *orig,
	      const struct object *copy);

/** kept_number - the number of the trunk that @o shows; 0: none, it shows its own. thread-safe */
uint64_t kept_number(const struct stack *st, const struct object *o);

/** kept_shown - the number that file @o shows if scratch has none for it: the trunk's or its own */
uint64_t kept_shown(const struct stack *st, const struct object *o);

/** kept_may_have - could an object with that number of its layer have one? Asks no layer */
bool kept_may_have(const struct stack *st, uint64_t ino);

#endif
