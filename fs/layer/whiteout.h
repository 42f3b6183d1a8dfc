/* SPDX-License-Identifier: MIT */
/* Whiteouts in scratch: hiding names of the layers below, taking scratch's own objects away. */
#ifndef SPECFS_LAYER_WHITEOUT_H
#define SPECFS_LAYER_WHITEOUT_H

#include "layer/view.h"

/** whiteout_is - is @name of scratch directory @dir_fd a whiteout? */
bool whiteout_is(int dir_fd, const char *name);

/**
 * whiteout_put - hide @path; whatever scratch has there goes, and at no moment shows the lower one
 *
 * Parents are made as needed. Returns 0 or a negative errno; nothing has changed then.
 */
int whiteout_put(struct view *v, const char *path);

/** whiteout_drop - take a whiteout at @path away; 0 also if there is none */
int whiteout_drop(struct view *v, const char *path);

/** whiteout_take_dir - remove scratch's own directory at @path with the marks in it, at once */
int whiteout_take_dir(struct view *v, const char *path);

/** whiteout_replace_dir - the same, with a whiteout in its place if anything would show there */
int whiteout_replace_dir(struct view *v, const char *path);

/**
 * whiteout_clear - nothing of scratch shall be mixed up with what is about to come to @path of a
 * lower layer: neither a whiteout nor a directory that the view does not show, with its attributes
 * and the whiteouts in it
 */
int whiteout_clear(struct view *v, const char *path);

#endif
