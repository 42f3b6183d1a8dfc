/* SPDX-License-Identifier: MIT */
/* Steps made up at random, in a small tree of names so that they meet one another often. */
#ifndef SPECFS_PROP_GEN_H
#define SPECFS_PROP_GEN_H

#include "arena.h"

struct gen {
	struct rng rng;
	unsigned n; /* steps so far: makes each file's content its own */
};

/** gen_next - the next step for the arena as its model is now; never OP_REMOUNT */
void gen_next(struct gen *g, const struct arena *a, struct op *ret);

#endif
