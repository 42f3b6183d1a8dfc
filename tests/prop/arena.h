/* SPDX-License-Identifier: MIT */
/*
 * An arena: the model beside the real thing. Each step is done to both, and what comes of it is
 * compared: the return code, the whole view, the layers' own directories.
 */
#ifndef SPECFS_PROP_ARENA_H
#define SPECFS_PROP_ARENA_H

#include "site.h"

enum { FAULT_SIZE = 512 };

struct arena {
	struct site *site;
	const struct backend *be;
	char suffix; /* of names at the top */
	struct model m;
	char fault[FAULT_SIZE]; /* what is wrong; "" so far */
	const char *fault_kind; /* its text, without what is filled in */
};

void arena_init(struct arena *a, struct site *s, const struct backend *be, unsigned number);
void arena_clear(struct arena *a);

/** arena_fail - note what is wrong, unless something is already; returns false */
bool arena_fail(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** arena_step - do @o, which is no remount; false if the outcome is not the model's */
bool arena_step(struct arena *a, const struct op *o);

/** arena_settle - wait until all that was done is seen */
bool arena_settle(struct arena *a);

/** arena_check - compare the view and all layers with the model */
bool arena_check(struct arena *a);

/** arena_owns - is @name at the top of a tree this arena's? */
bool arena_owns(const struct arena *a, const char *name);

#endif
