/* SPDX-License-Identifier: MIT */
/*
 * What the installation brings into a view for the sake of hooks: its Python extension, one file
 * under several names. As _flagtree_spec it answers a trunk that asks for hooks and lacks the
 * module; as the trunk package's own __init__ it installs the import hook and then executes the
 * __init__.py beside it. Source: specfs-hooks(3).
 */
#ifndef SPECFS_LAYOUT_SUPPLY_H
#define SPECFS_LAYOUT_SUPPLY_H

#include "layout/ruleset.h"

/**
 * supply_add - add what [hooks] of the ruleset's profile asks for, as rules below all others
 * @root_fd: the checkout
 *
 * The file is looked for in the installed directory, then in the build tree that the program was
 * built from; if SPECFS_HOOKS_DIR is set, only there. Without backends there is nothing for the
 * import hook to do.
 *
 * Returns 0; -ENOENT with a line in @d if the checkout needs a file that is nowhere; or another
 * errno.
 */
int supply_add(struct ruleset *rs, int root_fd, struct diag *d);

/** supply_depends - is it for @name beside it, among others, that a rule's file is shown or not? */
bool supply_depends(const struct rule *r, const char *name);

#endif
