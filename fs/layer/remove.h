/* SPDX-License-Identifier: MIT */
/*
 * Taking names away: what removal and renaming share. @in: the directory that the name is in,
 * opened, or NULL.
 */
#ifndef SPECFS_LAYER_REMOVE_H
#define SPECFS_LAYER_REMOVE_H

#include "layer/view.h"

/** remove_hide - add a line for @path to the hide list of spec layer @spec, or a whiteout to
 * scratch where no line can say it */
int remove_hide(struct view *v, const char *path, bool is_dir, unsigned spec);

/**
 * remove_hide_below - hide what the layers below @layer have at @path
 * @ret_whiteout: true if it took a whiteout, which hides @layer's own object as well
 *
 * Nothing happens where nothing would show.
 */
int remove_hide_below(struct view *v, const struct dirset *in, const char *path, bool is_dir,
		      unsigned layer, bool *ret_whiteout);

/**
 * remove_undo_hide - an object has appeared at @path of layer @layer
 *
 * The hide line of a non-directory would outlive it, and is taken away.
 */
void remove_undo_hide(struct view *v, const char *path, unsigned layer, const struct object *o);

/**
 * remove_hide_dir - hide directory @f, which shows nothing, if @layer's part holds hidden names
 *
 * Returns 1 if it is hidden now; 0 if nothing is in it, and nothing was done; -ENOTEMPTY or -ESTALE
 * if others have just put a name into it, or taken the last one away; or another errno.
 */
int remove_hide_dir(struct view *v, const char *path, const struct found *f, unsigned layer);

/** remove_check - is @f still what the view shows at @path? 0 or -ESTALE */
int remove_check(struct view *v, const struct dirset *in, const char *path, const struct found *f);

/**
 * remove_file - remove the non-directory @f along @route, which is for ROUTE_REMOVE
 *
 * Whoever calls has made sure that it is still there.
 */
int remove_file(struct view *v, const struct dirset *in, const char *path, const struct found *f,
		const struct route *route);

/** remove_empty_dir - the same for a directory that the view shows empty */
int remove_empty_dir(struct view *v, const char *path, const struct found *f,
		     const struct route *route);

#endif
