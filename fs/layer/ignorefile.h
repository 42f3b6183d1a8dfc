/* SPDX-License-Identifier: MIT */
/*
 * gitignore files below a directory, and what they say of a path. Files are read again when their
 * stat has changed. The index is not looked at here.
 * Source: gitignore(5).
 */
#ifndef SPECFS_LAYER_IGNOREFILE_H
#define SPECFS_LAYER_IGNOREFILE_H

#include <stdbool.h>

struct ignorefiles;

/**
 * ignorefiles_new - @root: working tree of the repository, a real path
 * @exclude: path of info/exclude, or NULL
 * @global:  path of what core.excludesFile names, or NULL
 *
 * The directories of these two are looked up now and not again.
 */
int ignorefiles_new(const char *root, const char *exclude, const char *global,
		    struct ignorefiles **ret);
void ignorefiles_free(struct ignorefiles *f);

/** ignorefiles_cover - is @path, clean and below the working tree, ignored? Not thread-safe */
bool ignorefiles_cover(struct ignorefiles *f, const char *path, bool is_dir);

#endif
