/* SPDX-License-Identifier: MIT */
/*
 * The route of a change: which layer takes it, and by which rule. One place decides for the daemon
 * and for `specfs which`.
 */
#ifndef SPECFS_LAYER_ROUTE_H
#define SPECFS_LAYER_ROUTE_H

#include <stdbool.h>

#include "base/diag.h"
#include "layer/stack.h"

struct view;
struct ignore;

enum route_op {
	ROUTE_EDIT,     /* data or attributes of what is there */
	ROUTE_CREATE,   /* a new name */
	ROUTE_REMOVE,   /* the name goes away */
};

struct route {
	enum dest dest;         /* what the rule said */
	unsigned layer;         /* index of the layer that takes the change */
	bool in_place;          /* EDIT, REMOVE: the owner itself is changed; else it is copied up,
				 * or for REMOVE hidden from above */
	char rule[128];         /* "flagtree.ini:57: @mapped = spec", or words for a built-in
				 * reason */
};

/**
 * route_existing - where a change of an existing object goes
 * @path: view path
 * @f:    the object
 *
 * What scratch owns stays in scratch, unless a rule denies it. What the view makes or the
 * installation supplies goes to scratch. What lies below a graft is edited in place but removed in
 * scratch only, unless made.h says that it was made here.
 *
 * Returns 0, -EROFS (deny; @ret->rule names the rule); for what is redirected, and directories
 * above it, -EBUSY (removal) and -EPERM (the symlink's attributes).
 */
int route_existing(struct view *v, const char *path, const struct found *f, enum route_op op,
		   struct route *ret);

/**
 * route_new - where a new name goes
 * @mode:   what it will be
 * @parent: the directory it is made in
 *
 * In a directory that only scratch has, it goes to scratch. Under `owner` it goes below a graft to
 * the graft's directory, in a mapped place to the highest backend's spec directory, else to trunk;
 * with -l and -o write=owner to the highest -l directory.
 */
int route_new(struct view *v, const char *path, mode_t mode, const struct found *parent,
	      struct route *ret);

/** route_map_of - index of the highest spec layer whose map covers @path, or -1 */
int route_map_of(const struct view *v, const char *path, bool is_dir);

/** ignore_open - what git ignores in the checkout at @root; *@ret is NULL if it is no repository */
int ignore_open(const char *root, struct diag *d, struct ignore **ret);
void ignore_free(struct ignore *ig);

/**
 * ignore_covers - does git ignore @path, relative to the checkout's root? thread-safe
 *
 * Tracked files are not ignored, whatever the patterns say. Nested .gitignore files, info/exclude
 * and core.excludesFile count; edits of them are seen at the next call.
 */
bool ignore_covers(struct ignore *ig, const char *path, bool is_dir);

#endif
