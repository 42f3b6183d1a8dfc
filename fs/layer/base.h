/* SPDX-License-Identifier: MIT */
/*
 * .specfs-base of a spec directory: which trunk version each specialization was copied from. One
 * line a file, sorted: path relative to the spec directory, a tab, git's blob id.
 */
#ifndef SPECFS_LAYER_BASE_H
#define SPECFS_LAYER_BASE_H

#include "layer/stack.h"

/**
 * base_record - note that the file at view path @path of spec layer @l comes from @trunk_fd's data
 *
 * The list is replaced at once. Returns 0, also for a name that no line can hold, or a negative
 * errno; the old list is whole then. A file of more than 64 MiB has no line, for hashing would keep
 * the writer waiting. thread-safe
 */
int base_record(const struct layer *l, const char *path, int trunk_fd);

/**
 * base_record_new - the same for a file that is about to appear at @path of layer @to
 *
 * Nothing happens unless @to is a spec layer and trunk has a regular file there, hidden or not.
 */
int base_record_new(const struct stack *st, unsigned to, const char *path);

#endif
