/* SPDX-License-Identifier: MIT */
/*
 * Looking through what is to move, so that no name of it is hidden at its new place, and none comes
 * to light there.
 */
#ifndef SPECFS_LAYER_MOVECHECK_H
#define SPECFS_LAYER_MOVECHECK_H

#include "layer/copytree.h"
#include "layer/move.h"

/** move_is_shown - would @layer show an object of @mode at @path? */
bool move_is_shown(const struct view *v, unsigned layer, const char *path, mode_t mode);

/**
 * move_check_shown - as move_check(), and would @m->dest show all of it at the new name?
 *
 * Returns 0, -EXDEV if not, or another errno.
 */
int move_check_shown(const struct move *m);

/** move_check_copied - the same for what was copied, with what others put there meanwhile */
int move_check_copied(const struct move *m, const struct copied_list *list);

/**
 * move_is_alike - would @layer's directory @from show the same names as now if it were at @to?
 *
 * It is looked through only where patterns or hide lists name paths there. Returns 1, 0 or a
 * negative errno.
 */
int move_is_alike(const struct view *v, unsigned layer, const char *from, const char *to);

#endif
