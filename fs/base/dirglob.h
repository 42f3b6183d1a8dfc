/* SPDX-License-Identifier: MIT */
/*
 * Looking for paths by pattern below a directory. A pattern is a clean path whose components may be
 * globs as in gitignore(5), without "**" and always anchored; "/" at its end asks for directories.
 */
#ifndef SPECFS_BASE_DIRGLOB_H
#define SPECFS_BASE_DIRGLOB_H

#include "base/strv.h"

/** dirglob_check - is @pattern well formed? Returns NULL, or what is wrong with it (static text) */
const char *dirglob_check(const char *pattern);

/**
 * dirglob - append the clean paths below @root_fd that @pattern matches to @ret, sorted
 *
 * Symlinks are matched as what they are and never followed. Directories that cannot be read match
 * nothing. Returns 0 or a negative errno.
 */
int dirglob(int root_fd, const char *pattern, struct strv *ret);

#endif
