/* SPDX-License-Identifier: MIT */
/*
 * What one layer has at a view path: its candidate. Patterns, [hide], marks and symlinks of spec
 * directories are dealt with here, so that the merge sees what the layer really offers.
 */
#ifndef SPECFS_LAYER_CANDIDATE_H
#define SPECFS_LAYER_CANDIDATE_H

#include "layer/stack.h"

enum candidate_kind {
	CANDIDATE_NONE,
	CANDIDATE_WHITEOUT,     /* scratch says that the name is gone */
	CANDIDATE_PLACE,        /* nothing here, but the layer's own place lies below this name */
	CANDIDATE_DIR,
	CANDIDATE_OTHER,
};

struct candidate {
	enum candidate_kind kind;
	struct object obj;
	bool opaque;            /* a directory below which lower layers are not looked at */
	bool implied;           /* a directory only for the sake of what is below it: scratch's for
				 * copied-up children, a spec's on the way to what its map shows */
	bool via_link;          /* a symlink of a spec directory, taken for the file it leads to */
	bool virtual;           /* made by a [file] or [link] rule */
	bool lent;              /* a file of the installation */
};

/**
 * candidate_find - the candidate of layer @i for a name
 * @dir:  the directory that the name is in
 * @path: view path of the name
 *
 * Returns 0, also when there is none, or an errno other than "no such file".
 */
int candidate_find(const struct stack *st, unsigned i, const struct dirset *dir, const char *path,
		   const char *name, struct candidate *ret);

/** candidate_root - the same for the root of the view */
int candidate_root(const struct stack *st, unsigned i, struct candidate *ret);

/** candidate_places_exist - does any of these layers have what its rule would show? */
bool candidate_places_exist(const struct stack *st, uint64_t layers);

/**
 * candidate_is_glob_place - is @path the directory in which a rule with a glob shows its matches?
 */
bool candidate_is_glob_place(const struct layer *l, const char *path);

/**
 * candidate_open_dir - open (O_PATH) a layer's directory for view path @path
 *
 * For a graft with a glob its place stands for the directory whose names it takes.
 */
int candidate_open_dir(const struct layer *l, const char *path);

/**
 * candidate_link_target - append the checkout path that a generated link at @path leads to; 0 or
 * -ENOENT
 */
int candidate_link_target(const struct layer *l, const char *path, struct strbuf *ret);

#endif
