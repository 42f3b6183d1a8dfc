/* SPDX-License-Identifier: MIT */
/*
 * What rules ask of the checkout itself: whether the paths that they depend on are there, and which
 * Python packages of the trunk let a backend take over their directory.
 */
#ifndef SPECFS_LAYOUT_CHECKOUT_H
#define SPECFS_LAYOUT_CHECKOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "layout/ruleset.h"

/**
 * checkout_open_from - open the directory that a rule's `from` names
 * @root_fd: the checkout
 *
 * Returns an O_PATH descriptor or a negative errno; -ENOENT and -ENOTDIR are the usual ones.
 */
int checkout_open_from(int root_fd, const struct rule *r);

/**
 * checkout_settle - take out the rules that do not apply to this checkout
 *
 * A rule goes if its `when` path is missing in ROOT or its `unless` path exists in its own `from`.
 * Rules whose `from` does not exist stay: it may be made later.
 *
 * Returns 0, or an errno other than "no such file" that looking gave; the rules are unchanged then.
 */
int checkout_settle(int root_fd, struct ruleset *rs);

/** checkout_text_hijacks - does this text of an __init__.py call spec_path(__path__)? */
bool checkout_text_hijacks(const char *text, size_t len);

/**
 * checkout_hijacks - does the trunk's package directory @dir (clean, below ROOT) call spec_path?
 *
 * Reads @dir/__init__.py of the trunk itself; a file that is missing or unreadable calls nothing.
 */
bool checkout_hijacks(int root_fd, const char *dir);

#endif
