/* SPDX-License-Identifier: MIT */
/* What refresh.c and ruled.c share: looking at a name, and what that has shown. */
#ifndef SPECFS_DAEMON_REFRESH_IMPL_H
#define SPECFS_DAEMON_REFRESH_IMPL_H

#include "daemon/refresh.h"

/* What a look at a name has shown. */
struct outcome {
	struct node *child;     /* the node that was known under the name, referenced; or NULL */
	mode_t type;            /* of what is there now; 0: nothing */
	bool same;              /* it still is what the name leads to */
	bool absent;            /* the name leads to nothing */
	bool new_parts;         /* a directory that is another one, or has other parts */
};

void outcome_clear(struct outcome *o);

/** refresh_look - look at a name in a directory, and correct the table by it; @o is cleared by the
 * caller, also on failure */
int refresh_look(const struct refresh *r, uint64_t dir, const char *name, struct outcome *o);

/** refresh_drop - have the kernel look up a name that leads elsewhere than it thinks, by @o */
void refresh_drop(const struct refresh *r, uint64_t dir, const char *name,
		  const struct outcome *o);

/**
 * refresh_is_held - is a redirected directory mounted on @n (or NULL), or below it?
 *
 * Without its name it would be torn off, and it is never gone while scratch has it.
 */
bool refresh_is_held(const struct refresh *r, struct node *n);

/** refresh_each_dir - call @fn for a directory and those below it that the kernel knows, parents
 * first */
void refresh_each_dir(const struct refresh *r, struct node *dir,
		      void (*fn)(const struct refresh *r, struct node *dir));

/** refresh_names - append the names that a directory of the view may be asked for: its own, and
 * those that the kernel knows */
int refresh_names(const struct refresh *r, uint64_t dir, struct strv *ret);

#endif
