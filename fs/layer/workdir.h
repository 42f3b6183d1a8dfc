/* SPDX-License-Identifier: MIT */
/*
 * Interim names on a destination's file system, so that whatever is published appears whole. For
 * scratch it is the directory `work` beside `upper`; a spec directory or trunk uses O_TMPFILE where
 * the file system has it, else a name .specfs-tmp.* in the same directory, which no view shows.
 */
#ifndef SPECFS_LAYER_WORKDIR_H
#define SPECFS_LAYER_WORKDIR_H

#include <stddef.h>
#include <sys/types.h>

#include "base/cleanup.h"

struct workdir {
	int fd;                 /* the directory, readable */
	unsigned long next;     /* counter for names; atomic */
};

/**
 * workdir_open - @scratch_fd: the scratch directory; clears left-overs, counted in @ret_recovered
 */
int workdir_open(int scratch_fd, struct workdir **ret, unsigned *ret_recovered);
void workdir_free(struct workdir *w);

DEFINE_CLEANUP(workdir, struct workdir, workdir_free)
#define cleanup_workdir CLEANUP(cleanup_workdir_p)

enum { WORKDIR_NAME_MAX = 48 };

/** workdir_name - an unused name; @prefix "" in the workdir itself, ".specfs-tmp." elsewhere */
void workdir_name(struct workdir *w, const char *prefix, char ret[WORKDIR_NAME_MAX]);

/**
 * workdir_remove_tree - remove @name below @dir_fd with everything in it; never follows symlinks or
 * leaves the file system */
int workdir_remove_tree(int dir_fd, const char *name);

#endif
