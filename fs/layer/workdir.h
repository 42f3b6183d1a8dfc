/* SPDX-License-Identifier: MIT */
/*
 * Interim names on a destination's file system, so that whatever is published appears whole. For
 * scratch it is the directory `work` beside `upper`; a spec directory or trunk uses O_TMPFILE where
 * the file system has it, else a name .specfs-tmp.* in the same directory, which no view shows.
 */
#ifndef SPECFS_LAYER_WORKDIR_H
#define SPECFS_LAYER_WORKDIR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/cleanup.h"

struct workdir {
	int fd;		    /* the directory, readable */
	unsigned long next; /* counter for names; atomic */
};

/**
 * workdir_open - @scratch_fd: the scratch directory; clears left-overs, counted in @ret_recovered
 */
int workdir_open(int scratch_fd, struct workdir **ret, unsigned *ret_recovered);
void workdir_free(struct workdir *w);

DEFINE_CLEANUP(workdir, struct workdir, workdir_free)
#define cleanup_workdir CLEANUP(cleanup_workdir_p)

enum { WORKDIR_NAME_MAX = 48 };

#define WORKDIR_PREFIX ".specfs-tmp."

/* Name aside of an exchange that takes several renames; its record has a digit before it. */
#define WORKDIR_SWAP_PREFIX ".specfs-swap."

/** workdir_is_swap - is @name the record of an exchange? These are not cleared: see swap.h */
bool workdir_is_swap(const char *name);

/** workdir_list_tmp - this process's interim name for file @list of a spec directory */
void workdir_list_tmp(const char *list, char ret[WORKDIR_NAME_MAX]);

/** workdir_clear_lists - remove such files that nobody is at work on from @dir_fd; their number */
unsigned workdir_clear_lists(int dir_fd);

/** workdir_name - an unused name; @prefix "" in the workdir itself, WORKDIR_PREFIX elsewhere */
void workdir_name(struct workdir *w, const char *prefix, char ret[WORKDIR_NAME_MAX]);

/**
 * workdir_remove_tree - remove @name below @dir_fd with everything in it; never follows symlinks or
 * leaves the file system */
int workdir_remove_tree(int dir_fd, const char *name);

/**
 * workdir_note - remember an interim object outside the workdir: it must not outlive a crash
 * @path: its absolute path; the name begins with WORKDIR_PREFIX
 * @ret:  the note, for workdir_unnote() once the object is published or removed
 */
int workdir_note(struct workdir *w, const char *path, char ret[WORKDIR_NAME_MAX]);
void workdir_unnote(struct workdir *w, const char *note);

#endif
