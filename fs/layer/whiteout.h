/* SPDX-License-Identifier: MIT */
/* Whiteouts in scratch: hiding names of the layers below, taking scratch's own objects away. */
#ifndef SPECFS_LAYER_WHITEOUT_H
#define SPECFS_LAYER_WHITEOUT_H

#include "layer/interim.h"

/** whiteout_is - is @name of scratch directory @dir_fd a whiteout? */
bool whiteout_is(int dir_fd, const char *name);

/** whiteout_at - is there one at @path? */
bool whiteout_at(const struct view *v, const char *path);

/**
 * whiteout_dir_hides - has scratch a directory at @path that the view does not show, and may
 * something else be shown without the marks in it? 1, 0 or a negative errno
 * @f: the non-directory that is shown there, or NULL
 */
int whiteout_dir_hides(const struct view *v, const char *path, const struct found *f);

/**
 * whiteout_put - hide @path; whatever scratch has there goes, and at no moment shows the lower one
 *
 * Parents are made as needed. Returns 0 or a negative errno; nothing has changed then.
 */
int whiteout_put(struct view *v, const char *path);

/* A whiteout that may be taken back: what it has replaced is kept until then. */
struct whiteout_try {
	int parent; /* scratch's directory that it is in, or -1 */
	const char *name; /* points into its path */
	struct interim i; /* what was there, if anything was */
	bool was_there;	  /* it was one already */
};

#define WHITEOUT_TRY_INIT \
	{                 \
		.parent = -1 \
	}

/**
 * whiteout_try - as whiteout_put(); the whiteout stays, unless whiteout_undo() is called
 * @ret: initialized; to be ended in any case. @path must outlive it
 *
 * After a crash there is the whiteout.
 */
int whiteout_try(struct view *v, const char *path, struct whiteout_try *ret);

/** whiteout_undo - put what was there in its place again, at once; once at most */
int whiteout_undo(struct whiteout_try *t);
void whiteout_try_end(struct whiteout_try *t);

#define cleanup_whiteout_try CLEANUP(whiteout_try_end)

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
