/* SPDX-License-Identifier: MIT */
/*
 * The two ways to do a rename whose route is known: in place, by the layers' own rename, and by
 * copying. Both leave the old name, the new one or both after a crash, never neither; what a
 * whiteout hides at the new name does not come back. A crash within scratch may leave a mark at
 * either name: it hides nothing that was there, but what others make there later.
 */
#ifndef SPECFS_LAYER_MOVE_H
#define SPECFS_LAYER_MOVE_H

#include "layer/view.h"

struct move {
	struct view *v;
	const char *from;
	const struct found *from_f;
	const char *to;
	const struct found *to_f;     /* what @to shows, or NULL; never a directory */
	const struct dirset *from_in; /* the directory that @from is in, opened, or NULL */
	const struct dirset *to_in;
	struct route remove; /* of the old name; for ROUTE_REMOVE */
	unsigned dest;	     /* layer that takes the new name */
	bool is_dir;
};

/**
 * move_do - carry a move out, in place if that can be
 *
 * Returns 0, 1 if by a copy, or a negative errno; on failure nothing has changed.
 */
int move_do(const struct move *asked);

/**
 * move_in_place - do it by renaming in the layers themselves
 *
 * Returns 0, -EXDEV if it can't be done this way (nothing has changed then), or another errno.
 */
int move_in_place(const struct move *m);

/** move_check - may everything at @from be taken away? -EROFS if a rule denies any of it */
int move_check(const struct move *m);

/**
 * move_by_copy - copy to the destination, publish the copy, then take the old name away
 *
 * A directory of which the destination would hide something goes to scratch instead, by renaming
 * if it is there already.
 */
int move_by_copy(const struct move *m);

#endif
