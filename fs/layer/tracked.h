/* SPDX-License-Identifier: MIT */
/*
 * Which files git tracks, read from its index where it lies. An index may have a million entries:
 * none of them is kept in memory, only every so many-th as a mark from which to read on, and
 * nothing is read before somebody asks, nor further than to what is asked for.
 */
#ifndef SPECFS_LAYER_TRACKED_H
#define SPECFS_LAYER_TRACKED_H

#include <stdbool.h>

#include "base/cleanup.h"

struct tracked;

/**
 * tracked_open - the index file at @path; there need be none
 *
 * Its directory is opened now: whatever the path leads to later is not asked. Returns 0; -EINVAL
 * for what is no index, or of an unknown version; what opening it failed with; -ENOMEM.
 */
int tracked_open(const char *path, struct tracked **ret);
void tracked_free(struct tracked *t);

DEFINE_CLEANUP(tracked, struct tracked, tracked_free)
#define cleanup_tracked CLEANUP(cleanup_tracked_p)

/**
 * tracked_has - is @path, relative to the working tree, tracked, or anything below it?
 *
 * Of the index as it is now. What can't be read of it, or is of an unknown version, has nothing.
 * Not thread-safe.
 */
bool tracked_has(struct tracked *t, const char *path);

#endif
