/* SPDX-License-Identifier: MIT */
/*
 * One layer: a directory tree that has candidates for view paths, or one rule that makes them up.
 * A layer knows nothing of the others. Every access walks from a directory descriptor and follows
 * no symlink inside the layer, so nobody who swaps directories can lead the daemon out of it.
 */
#ifndef SPECFS_LAYER_LAYER_H
#define SPECFS_LAYER_LAYER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "layout/rule.h"

enum layer_kind {
	LAYER_SCRATCH,          /* the view's private tree; `at` is the root */
	LAYER_GENERATED,        /* a [file] or [link] rule; has no directory */
	LAYER_GRAFT,            /* a [graft] rule */
	LAYER_SPEC,             /* a shadow [map] rule of one backend */
	LAYER_SUPPLIED,         /* a file of the installation, see layout/supply.h */
	LAYER_OVERLAY,          /* -l DIR over the root */
	LAYER_TRUNK,            /* the checkout; always the last */
};

struct layer {
	enum layer_kind kind;
	int base_fd;            /* owned O_PATH descriptor that `dir` starts at */
	char *label;            /* "scratch", "mthreads map python", "trunk": for people */
	char *path;             /* real absolute path of its directory, or "" for generated ones; of
				 * a supplied file, its own */
	const struct rule *rule;/* generated, graft, spec, supplied; borrowed from the ruleset */
	char *dir;              /* clean path below base_fd; "" */
	bool in_root;           /* base_fd is ROOT: `dir` is a path of the checkout */
};

/* What a layer's own stat says of an object. */
struct object {
	struct stat st;         /* as the layer has it; st_ino and st_dev are the layer's own */
	uint64_t btime_nsec;    /* birth time since the epoch; 0 if the layer has none */
};

/** layer_path - where view path @path lies inside the layer: set @ret to a path below base_fd
 *
 * Returns false if the layer's place is not @path or above it.
 */
bool layer_path(const struct layer *l, const char *path, struct strbuf *ret);

/** layer_real_path - the absolute path of view path @path in the layer, for people */
int layer_real_path(const struct layer *l, const char *path, struct strbuf *ret);

/** layer_clear - free and close what the layer owns */
void layer_clear(struct layer *l);

/**
 * layer_open_dir - open (O_PATH) the directory at view path @path of the layer
 *
 * Returns a descriptor, -ENOENT, -ENOTDIR or -ELOOP when there is no such directory, or another
 * errno.
 */
int layer_open_dir(const struct layer *l, const char *path);

/** layer_open - open view path @path of the layer, as fd_open_beneath() does */
int layer_open(const struct layer *l, const char *path, int flags, mode_t mode);

/**
 * object_stat - stat @name in @dir_fd without following it; "" is dir_fd itself
 */
int object_stat(int dir_fd, const char *name, struct object *ret);

/** object_same - do both describe one and the same object of one layer (device, inode, birth)? */
bool object_same(const struct object *a, const struct object *b);

/** object_unchanged - the same, and nothing of it has changed since (size, ctime)? */
bool object_unchanged(const struct object *a, const struct object *b);

#endif
