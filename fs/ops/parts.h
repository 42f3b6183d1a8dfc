/* SPDX-License-Identifier: MIT */
/*
 * Parts of directories that were opened for a request and are kept open, for a moment, for the next
 * one in the same directory. They are used again only if since they were opened no directory was
 * made, moved or removed by the mount, and nothing was heard of what others did.
 */
#ifndef SPECFS_OPS_PARTS_H
#define SPECFS_OPS_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "layer/view.h"

struct parts;

/* Which parts of which directory they are, and since when. */
struct parts_mark {
	uint64_t id;      /* of the node */
	uint64_t wanted;  /* what was to be opened */
	uint64_t changes; /* view_changes() from before */
	int64_t nsec;     /* when that was, monotonic */
};

/** parts_new - with nothing kept; it is thread-safe */
int parts_new(struct parts **ret);
void parts_free(struct parts *c);

/** parts_begin - fill in the mark of a directory that is about to be opened */
void parts_begin(const struct view *v, uint64_t id, uint64_t wanted, struct parts_mark *ret);

/**
 * parts_take - take what is kept of the directory that @m is of, if it still holds
 * @m:   becomes the mark of what is taken
 * @ret: the caller's, to be closed or given back; its path is not set
 */
bool parts_take(struct parts *c, struct parts_mark *m, struct dirset *ret);

/** parts_give - keep @ds, which is empty afterwards; or close it, if it is too much */
void parts_give(struct parts *c, const struct parts_mark *m, struct dirset *ds);

/** parts_drop - close all that is kept; returns whether there was anything */
bool parts_drop(struct parts *c);

#endif
