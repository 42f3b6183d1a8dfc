/* SPDX-License-Identifier: MIT */
/*
 * What a directory of the view shows, all of it at once: for who goes on into the directories that
 * are in it, and would else hold one of each layer open at every level.
 */
#ifndef SPECFS_LAYER_CHILDREN_H
#define SPECFS_LAYER_CHILDREN_H

#include "layer/listing.h"

struct child {
	const char *name; /* in the listing's memory */
	struct found f;
};

struct children {
	struct child *v;
	size_t n;
	struct listing *listing;
};

/**
 * children_read - list the directory that the view shows at @path as @dir, and look all names up
 * @ret: release with children_clear()
 *
 * What goes meanwhile is left out.
 */
int children_read(const struct stack *st, const char *path, const struct found *dir,
		  struct children *ret);
void children_clear(struct children *c);

static inline void cleanup_children_p(struct children *c)
{
	children_clear(c);
}

#define cleanup_children CLEANUP(cleanup_children_p)

#endif
