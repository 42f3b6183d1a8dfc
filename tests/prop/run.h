/* SPDX-License-Identifier: MIT */
/*
 * Runs: steps made up or given, on a fresh site; and cutting a run that failed down to what
 * matters.
 */
#ifndef SPECFS_PROP_RUN_H
#define SPECFS_PROP_RUN_H

#include "arena.h"

struct run {
	const struct setup *setup;
	const struct backend *be;
	uint64_t seed;
	unsigned arenas; /* of the view; 0: one */
	unsigned number; /* of the one that the steps are of */
	struct op *ops; /* as they were done */
	size_t n;
	char fault[FAULT_SIZE]; /* of the last step done; "" if all went well */
	const char *fault_kind;
};

/** run_random - do @n random steps; true if all went well */
bool run_random(struct run *r, size_t n);
/**
 * run_shrink - leave out every step that the fault does not need, for @limit_sec at most
 *
 * False if the steps alone do not show it.
 */
bool run_shrink(struct run *r, unsigned limit_sec);
/** run_print - the steps and the fault */
void run_print(const struct run *r);
void run_clear(struct run *r);

/** run_threads - the same for several arenas of one view at once; says what is wrong itself */
bool run_threads(const struct setup *setup, const struct backend *be, uint64_t seed, size_t n,
		 unsigned shrink_sec);

#endif
