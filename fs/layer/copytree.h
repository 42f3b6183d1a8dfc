/* SPDX-License-Identifier: MIT */
/*
 * Copying what the view shows at a path, with everything below it, to an interim name: for a rename
 * that can't be done in place.
 */
#ifndef SPECFS_LAYER_COPYTREE_H
#define SPECFS_LAYER_COPYTREE_H

#include "layer/view.h"

/* An object that was copied. */
struct copied {
	char *path;	   /* its view path */
	unsigned layer;	   /* its owner */
	struct object obj; /* as it was copied */
	bool removable;	   /* its removal may be done in its own layer */
};

/* All of them, children before their directory. */
struct copied_list {
	struct copied *v;
	size_t n;
	size_t cap;
};

void copied_list_clear(struct copied_list *l);

static inline void cleanup_copied_list_p(struct copied_list *l)
{
	copied_list_clear(l);
}

#define cleanup_copied_list CLEANUP(cleanup_copied_list_p)

/** copied_same_data - has @o, the original or the copy, the type, size and mtime that it had? */
bool copied_same_data(const struct copied *c, const struct object *o);

/**
 * copytree - copy the visible object or tree at @path to @name in @dir_fd
 * @target: view path that the copy is for
 * @to:     its layer: marks are set if it is scratch, symlinks' texts are made for it
 * @ret:    what was copied, or NULL
 *
 * Returns 0; -EROFS if a rule denies the removal of anything in it and @ret is asked for; another
 * errno. What was made under @name is the caller's to remove.
 */
int copytree(struct view *v, const char *path, const struct found *f, const char *target,
	     unsigned to, int dir_fd, const char *name, struct copied_list *ret);

#endif
