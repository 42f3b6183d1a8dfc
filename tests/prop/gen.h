/* SPDX-License-Identifier: MIT */
/*
 * Steps made up at random, in a small tree of names so that they meet one another often. A seed of
 * more than 32 bits says in its upper half how often each kind of step is, and how many names there
 * are: a run of almost nothing but renames meets what one of everything does not.
 */
#ifndef SPECFS_PROP_GEN_H
#define SPECFS_PROP_GEN_H

#include "arena.h"

struct gen {
	struct rng rng;
	unsigned n; /* steps so far: makes each file's content its own */
	unsigned char weights[OP_REMOUNT][2]; /* of the kinds of steps: in the view, in a layer */
	unsigned below;			      /* of ten steps are done in a layer */
	unsigned names;
	unsigned many; /* names that are many: it is time to remove some */
};

/** gen_names - what objects are called, each once; those at the top have the arena's digit, too */
extern const char *const gen_names[];

/** gen_init - @seed is the run's */
void gen_init(struct gen *g, uint64_t seed);

/** gen_next - the next step for the arena as its model is now; never OP_REMOUNT */
void gen_next(struct gen *g, const struct arena *a, struct op *ret);

#endif
