/* SPDX-License-Identifier: MIT */
/*
 * The second half of a rename by copying: what was copied goes from the old name. What others have
 * put there or written to since is not what was copied, and is not removed. What they write through
 * a descriptor of a file after the last look at it goes with the file, though.
 *
 * An old name that is only hidden is hidden with what others have put there since the copy, as what
 * they put there later is. Nothing of theirs is touched then.
 */
#ifndef SPECFS_LAYER_MOVEOLD_H
#define SPECFS_LAYER_MOVEOLD_H

#include "layer/copytree.h"
#include "layer/move.h"

/**
 * move_remove_old - take the old name away along its route
 * @in:        the directory of the old name, opened before there was a copy
 * @list:      what was copied
 * @copy:      the copy, which the new name shows
 * @ret_begun: set if some of it is gone, also on failure
 *
 * Returns 0; -ESTALE if something else is there by now; -EBUSY if the file was written to since it
 * was copied.
 */
int move_remove_old(const struct move *m, const struct dirset *in, const struct copied_list *list,
		    const struct object *copy, bool *ret_begun);

#endif
