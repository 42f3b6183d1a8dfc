/* SPDX-License-Identifier: MIT */
/*
 * Exchanging two names. Where one rename of one file system can do it, it does. Else it takes three
 * renames through a name of scratch, and a record in the workdir by which the next start finishes
 * what a daemon that died has begun.
 */
#ifndef SPECFS_LAYER_EXCHANGE_H
#define SPECFS_LAYER_EXCHANGE_H

#include "layer/view.h"

/**
 * exchange - swap what the view shows at @a and @b; neither is above the other
 *
 * Returns 0, 1 if either may have become a copy, or a negative errno; both names show what they did
 * then.
 */
int exchange(struct view *v, const char *a, const struct found *a_f, const char *b,
	     const struct found *b_f);

/**
 * exchange_recover - finish or undo what earlier daemons have begun
 *
 * Where the view can't tell any more what is a copy of what, everything stays: the object that was
 * under way keeps its name .specfs-swap.* in the root of the view. Returns how many were found.
 */
unsigned exchange_recover(struct view *v);

#endif
