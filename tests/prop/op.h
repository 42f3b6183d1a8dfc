/* SPDX-License-Identifier: MIT */
/*
 * One step of a run: an operation in the view, the same underneath in one of its layers, or closing
 * and opening the view. A step is data alone, so that a run can be printed, repeated and cut down.
 */
#ifndef SPECFS_PROP_OP_H
#define SPECFS_PROP_OP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

enum { NAME_SIZE = 16, PATH_SIZE = 96, DATA_SIZE = 64, TEXT_SIZE = 40 };

enum op_kind {
	OP_CREATE,   /* O_CREAT | O_EXCL, then write @data */
	OP_WRITE,    /* write @data at @offset of an existing file */
	OP_TRUNCATE, /* to @offset bytes */
	OP_MKDIR,
	OP_SYMLINK, /* at @path, with text @data */
	OP_LINK,    /* @path gets a second name @to */
	OP_UNLINK,
	OP_RMDIR,
	OP_RENAME, /* @path to @to, with @flags */
	OP_CHMOD,
	OP_UTIMENS,	      /* mtime @offset seconds and some nanoseconds */
	OP_COMMON,	      /* from here on not for a backend to do */
	OP_PURGE = OP_COMMON, /* in a layer: remove @path with everything in it */
	OP_HIDE,	      /* in a spec directory: .specfs-hide becomes @data */
	OP_REMOUNT,	      /* close the view and open it again */
};

enum { IN_VIEW = -1 };

struct op {
	enum op_kind kind;
	int layer; /* IN_VIEW, or index of the model's layer whose directory is changed */
	char path[PATH_SIZE];
	char to[PATH_SIZE];
	mode_t mode;
	unsigned flags;
	long offset;
	char data[TEXT_SIZE];
	bool look; /* compare everything afterwards */
};

/** op_mtime - the nanoseconds that go with OP_UTIMENS's seconds */
long op_mtime_nsec(const struct op *o);

/** op_print - one line for people */
void op_print(FILE *out, const struct op *o, const char *where);

/* Numbers that one seed makes. Source: Vigna's splitmix64. */
struct rng {
	uint64_t state;
};

/** rng_next - the next 64 bits */
uint64_t rng_next(struct rng *r);
/** rng_below - 0 to n - 1 */
unsigned rng_below(struct rng *r, unsigned n);

#endif
