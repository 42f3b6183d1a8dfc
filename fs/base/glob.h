/* SPDX-License-Identifier: MIT */
/*
 * gitignore(5) patterns, as ordered lists: the last pattern that matches decides, "!" negates, "/"
 * before the end anchors, a "/" at the end means directories only, "**" spans directories.
 * Source: gitignore(5), PATTERN FORMAT.
 */
#ifndef SPECFS_BASE_GLOB_H
#define SPECFS_BASE_GLOB_H

#include <stdbool.h>

#include "base/strv.h"

enum glob_match {
	GLOB_NONE,      /* no pattern says anything */
	GLOB_MATCH,     /* the last matching pattern is a plain one */
	GLOB_NEGATED,   /* the last matching pattern is a "!" one */
};

/** glob_check - is @pattern well formed? Returns NULL, or what is wrong with it (static text) */
const char *glob_check(const char *pattern);

/** glob_match_one - does one pattern (its "!" ignored) match clean @path itself? */
bool glob_match_one(const char *pattern, const char *path, bool is_dir);

/** glob_match_list - what an ordered list says of @path itself, its parents not considered */
enum glob_match glob_match_list(const struct strv *patterns, const char *path, bool is_dir);

/**
 * glob_covers - what an ordered list says of @path, as git does for ignored files
 *
 * A pattern that matches a parent directory covers everything below it; nothing below it is
 * looked at again.
 */
bool glob_covers(const struct strv *patterns, const char *path, bool is_dir);

/** glob_may_match_below - could a plain pattern of the list match anything below directory @dir? */
bool glob_may_match_below(const struct strv *patterns, const char *dir);

/**
 * glob_names_below - does a pattern of the list name @dir, or a path that may lie below it?
 *
 * If not, what the list says of a name below @dir depends on the name alone, and on what it says of
 * @dir. "!" patterns count as well.
 */
bool glob_names_below(const struct strv *patterns, const char *dir);

#endif
