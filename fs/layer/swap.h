/* SPDX-License-Identifier: MIT */
/* Swapping two names by three renames: the part of exchange.h that outlives a crash by a record. */
#ifndef SPECFS_LAYER_SWAP_H
#define SPECFS_LAYER_SWAP_H

#include "layer/view.h"

/**
 * swap_names - move @a aside to a name of scratch, @b to @a, and that name to @b
 *
 * Each is routed as any rename of it. Returns 0 or a negative errno; what could be done is undone
 * then, and what could not is recorded for the next start.
 */
int swap_names(struct view *v, const char *a, const struct found *a_f, const char *b,
	       const struct found *b_f);

#endif
