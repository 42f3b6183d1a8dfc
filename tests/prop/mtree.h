/* SPDX-License-Identifier: MIT */
/*
 * Trees in memory: what the model thinks a layer's directory holds. Running out of memory ends it.
 */
#ifndef SPECFS_PROP_MTREE_H
#define SPECFS_PROP_MTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "op.h"

enum kind { KIND_DIR, KIND_FILE, KIND_LINK, KIND_WHITEOUT };

/* An inode; hard links share it. */
struct mdata {
	uint64_t id;	/* its own; a model's trial has the same ones */
	unsigned names; /* how many nodes have it */
	enum kind kind;
	mode_t mode;
	size_t len;
	char bytes[DATA_SIZE]; /* content, or a link's text */
	bool timed;	       /* @mtime is known */
	long mtime_sec;
	long mtime_nsec;
	uint64_t ino; /* as the view showed it; 0: not seen yet */
	bool lent_ino; /* a specialization: shows another file's as long as that is hidden */
};

struct mnode {
	struct mnode *next;  /* sibling, in order of names */
	struct mnode *child; /* first */
	struct mdata *data;
	bool opaque;  /* scratch: nothing below merges */
	bool implied; /* scratch: there only for what is in it */
	char name[NAME_SIZE];
};

/** mdata_new - no node has it yet */
struct mdata *mdata_new(enum kind kind, mode_t mode, const char *text);
/** mdata_copy - the same content in an inode of its own */
struct mdata *mdata_copy(const struct mdata *d);

/** mnode_new - a node of its own; counts as one of @d's names */
struct mnode *mnode_new(const char *name, struct mdata *d);
/* Inodes that have been copied: hard links stay together. Free @v. */
struct mcopies {
	struct mcopy {
		struct mdata *from;
		struct mdata *to;
	} * v;
	size_t n;
};

/** mcopies_add - copy @d and note it */
struct mdata *mcopies_add(struct mcopies *c, struct mdata *d);

/** mnode_clone - a copy of the whole tree, with inodes of its own */
struct mnode *mnode_clone(const struct mnode *n, struct mcopies *c);
/** mnode_free - with everything below it */
void mnode_free(struct mnode *n);

/** mnode_is_dir - is it a directory? */
static inline bool mnode_is_dir(const struct mnode *n)
{
	return n->data->kind == KIND_DIR;
}

/** mnode_child - the child called @name, or NULL */
struct mnode *mnode_child(const struct mnode *dir, const char *name);
/** mnode_find - by path below @root; "" is @root; NULL if it is not there */
struct mnode *mnode_find(struct mnode *root, const char *path);
/** mnode_put - put @n, taken, into @dir; what has its name there is freed */
void mnode_put(struct mnode *dir, struct mnode *n);
/** mnode_take - take the child called @name out; NULL if there is none */
struct mnode *mnode_take(struct mnode *dir, const char *name);
/** mnode_drop - take it out and free it */
void mnode_drop(struct mnode *dir, const char *name);
/** mnode_parent - the directory that holds @path below @root, or NULL */
struct mnode *mnode_parent(struct mnode *root, const char *path);

#endif
