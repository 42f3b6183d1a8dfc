/* SPDX-License-Identifier: MIT */
/*
 * The listing of a directory of the view: the union of names, each once, sorted by an offset that
 * belongs to the name. A reader can go on with a newer listing of the same directory: names that
 * stayed keep their offset.
 */
#ifndef SPECFS_LAYER_LISTING_H
#define SPECFS_LAYER_LISTING_H

#include <stdint.h>

#include "layer/stack.h"

struct entry {
	uint64_t offset;        /* of this name: a hash, 3 to INT64_MAX; order of the listing */
	uint64_t ino;           /* as stat shows it */
	unsigned char type;     /* DT_* */
	unsigned layer;         /* owner's index */
	bool alone;             /* no other layer had anything to do with the name */
	const char *name;       /* in the listing's own memory */
};

struct listing {
	struct entry *v;        /* sorted by offset, then name */
	size_t n;
	bool loose;             /* what is not seen may change it: see stack_is_loose() */
	char *names;
	size_t bytes;           /* memory it holds */
};

/** listing_read - list a directory of the view; "." and ".." are not in it */
int listing_read(const struct stack *st, const struct dirset *dir, struct listing **ret);
void listing_free(struct listing *l);

DEFINE_CLEANUP(listing, struct listing, listing_free)
#define cleanup_listing CLEANUP(cleanup_listing_p)

/** listing_seek - index of the first entry whose offset is greater than @offset */
size_t listing_seek(const struct listing *l, uint64_t offset);

/** listing_is_empty - does the directory show no name at all? 1, 0 or a negative errno */
int listing_is_empty(const struct stack *st, const struct dirset *dir);

/** listing_is_empty_at - the same of the directory at view path @path, whose parts are @parts */
int listing_is_empty_at(const struct stack *st, const char *path, uint64_t parts);

#endif
