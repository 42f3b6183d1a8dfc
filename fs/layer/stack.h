/* SPDX-License-Identifier: MIT */
/*
 * The stack: all layers of a view, highest first, and how they merge. Everything here reads; it
 * keeps no state about directories, so that an edit in any layer shows at the next call.
 *
 * Directories merge, anything else: the highest candidate wins. A whiteout, an opaque directory, a
 * graft's root or a line in .specfs-hide ends the search; so does a non-directory.
 */
#ifndef SPECFS_LAYER_STACK_H
#define SPECFS_LAYER_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "layer/hide.h"
#include "layer/inomap.h"
#include "layer/layer.h"
#include "layout/ruleset.h"

struct hijacks;
struct kept;
struct redirects;
struct made;

enum {
	STACK_MAX = 64,                 /* layers: one bit each in a set */
	STACK_ALL = 2 * STACK_MAX,      /* with former ones, see reload.h */
};

struct stack {
	struct layer layers[STACK_ALL]; /* former ones begin at STACK_MAX */
	struct hide *hides[STACK_MAX];  /* spec layers: their .specfs-hide; NULL for others */
	unsigned n;
	unsigned n_former;
	unsigned generation;            /* counts exchanges of the rules */
	const struct ruleset *rules;    /* borrowed; NULL without a profile */
	int root_fd;                    /* ROOT, O_PATH; -1 if the view has no checkout */
	struct stat root_st;            /* of ROOT (or the lowest layer) when the view was
					 * opened: owner of what no layer has on disk, and its
					 * times */
	struct inomap *inos;
	struct hijacks *hijacks;        /* what is known of the trunk's packages */
	struct kept *kept;              /* numbers that specializations keep, or NULL */
	const struct redirects *redirects; /* borrowed: symlinks in place of directories; or NULL */
	struct made *made;              /* what this view has made, or NULL */
};

/* An object of the view. */
struct found {
	unsigned layer;         /* index of its owner: who has the data and the attributes */
	unsigned generation;    /* of the stack that it was found in: with another one, @parts
				 * are not to be relied on */
	struct object obj;      /* the owner's stat */
	struct stat st;         /* what the view shows: obj.st with the view's inode number and,
				 * for a merged directory, the latest times of all parts */
	uint64_t parts;         /* directories: bit i: layer i is part of it (or has a place
				 * below it) */
	bool via_link;          /* a symlink of a spec directory, served as the file it leads to */
	bool virtual;           /* a directory, file or link that no layer has on disk */
	bool implied;           /* no layer has the directory for its own sake, see candidate.h */
	bool lent;              /* a file of the installation: never changed itself, and shown as if
				 * ROOT's owner had it */
};

/* The parts of one directory, opened. */
struct dirset {
	const char *path;       /* borrowed: view path of the directory */
	uint64_t parts;
	int fd[STACK_MAX];      /* O_PATH, or -1 where a part has no directory on disk */
};

/**
 * stack_init - an empty stack: no layer, no descriptor
 *
 * Layers are then appended with stack_add(); stack_clear() closes and frees everything in it.
 */
void stack_init(struct stack *st);
void stack_clear(struct stack *st);

/**
 * stack_add - append the next lower layer
 * @l: taken: its strings and base_fd belong to the stack after success
 *
 * Returns the layer's index, -E2BIG beyond STACK_MAX, or -ENOMEM.
 */
int stack_add(struct stack *st, const struct layer *l);

/** stack_too_many - say in @d that there are more layers than can be; -E2BIG */
int stack_too_many(struct diag *d);

/**
 * stack_settle - to be called once all layers are there: device of the lowest layer, times, owner
 */
int stack_settle(struct stack *st);

/** stack_root - describe the root of the view */
int stack_root(const struct stack *st, struct found *ret);

/**
 * stack_open_dir - open the parts of a directory of the view
 * @path:  its clean view path; kept by pointer in @ret
 * @parts: from the directory's struct found
 * @ret:   release with dirset_close()
 *
 * A part that has vanished is left out. Returns 0, or an errno other than ENOENT, ENOTDIR, ELOOP.
 */
int stack_open_dir(const struct stack *st, const char *path, uint64_t parts, struct dirset *ret);
void dirset_init(struct dirset *ds);
void dirset_close(struct dirset *ds);

static inline void cleanup_dirset_p(struct dirset *ds)
{
	dirset_close(ds);
}

#define cleanup_dirset CLEANUP(cleanup_dirset_p)

/**
 * stack_child - find what a directory of the view shows under a name
 *
 * Returns 0, -ENOENT if hidden or absent, or what a layer's own stat said.
 */
int stack_child(const struct stack *st, const struct dirset *dir, const char *name,
		struct found *ret);

/**
 * stack_child_alone - the same for a name that only layer @layer has anything to do with, and no
 * hide list
 *
 * For whoever has just listed @dir, and so knows: see listing.h.
 */
int stack_child_alone(const struct stack *st, const struct dirset *dir, const char *name,
		      unsigned layer, struct found *ret);

/** stack_lookup - the same for a whole clean view path; "" is the root */
int stack_lookup(const struct stack *st, const char *path, struct found *ret);

/**
 * stack_is_loose - may something that is done where nobody looks change what is shown at a name?
 * @f: what is shown, or NULL
 *
 * So it is where a map with `only` has a directory that counts only for what is in it.
 */
bool stack_is_loose(const struct stack *st, const struct dirset *dir, const char *name,
		    const struct found *f);

/**
 * stack_layer_may_have - could @layer have anything at view path @path, shown or not?
 *
 * Returns 1, 0 or a negative errno.
 */
int stack_layer_may_have(const struct stack *st, unsigned layer, const char *path);

/**
 * stack_has_below - has any layer below index @above a candidate for @path that a removal would
 * bring to light? (whiteouts and hide lines of the layers in between are honoured)
 *
 * Returns 1, 0, or a negative errno: who removes a name must not take that for "no".
 */
int stack_has_below(const struct stack *st, const char *path, unsigned above);

/** stack_has_below_in - the same; @in: the directory that @path is in, opened, or NULL */
int stack_has_below_in(const struct stack *st, const struct dirset *in, const char *path,
		       unsigned above);

/**
 * stack_readlink - append a symlink's text as the view shows it
 * @path: view path of the link
 *
 * A relative text that leaves its map or graft is rewritten so that it leads to the same place of
 * the checkout. Returns 0; -ESTALE if another object is there than @f says.
 */
int stack_readlink(const struct stack *st, const char *path, const struct found *f,
		   struct strbuf *ret);

/**
 * stack_open_file - open the object's own file in its owner
 * @flags: O_RDONLY, O_RDWR, O_WRONLY, with O_APPEND; or O_PATH
 *
 * Returns a descriptor; -ESTALE if the file there is another one than @f says; -EIO for virtual
 * ones.
 */
int stack_open_file(const struct stack *st, const char *path, const struct found *f, int flags);

/** stack_virtual_content - content of a generated regular file; a pointer into the ruleset */
const char *stack_virtual_content(const struct stack *st, const struct found *f);

/**
 * stack_layer_shows - would @layer's object at view path @path be shown at all (patterns,
 * [hide])? @mode: what it is
 */
bool stack_layer_shows(const struct stack *st, unsigned layer, const char *path, mode_t mode);

/** stack_hides - do the hide lists of the layers above @layer hide @path in it? */
bool stack_hides(const struct stack *st, unsigned layer, const char *path, bool is_dir);

/**
 * stack_is_hijacked - rule_is_hijacked_fn over the trunk's __init__.py files; @arg: struct
 * hijack_arg
 */
struct hijack_arg {
	const struct stack *st;
	const struct rule *rule;
};
bool stack_is_hijacked(void *arg, const char *dir);

#endif
