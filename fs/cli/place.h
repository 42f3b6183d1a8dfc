/* SPDX-License-Identifier: MIT */
/*
 * Which checkout is meant: the one that is named, or the one around the working directory.
 */
#ifndef SPECFS_CLI_PLACE_H
#define SPECFS_CLI_PLACE_H

#include "base/diag.h"
#include "cli/mounttab.h"

/**
 * place_locate - path_locate() with a line in @d that names @what when it fails
 */
int place_locate(const struct mount_table *t, const char *what, const char *path, struct diag *d,
		 struct strbuf *ret);

/**
 * place_root - the absolute path of the checkout
 * @given: as the user named it, or NULL: the nearest directory above the working directory that
 *         has a .git or a .specfs.ini
 *
 * Inside a mounted view it is the checkout that the view is made of. Returns 0, or a negative errno
 * with a line in @d.
 */
int place_root(const struct mount_table *t, const char *given, struct diag *d, struct strbuf *ret);

#endif
