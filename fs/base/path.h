/* SPDX-License-Identifier: MIT */
/*
 * Pure path algebra. A clean path is relative, has no empty, "." or ".." component and no slash at
 * either end; "" is the root. Nothing here looks at a file system.
 */
#ifndef SPECFS_BASE_PATH_H
#define SPECFS_BASE_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

/** path_is_clean - is @path relative, without empty, "." and ".." components? "" is clean */
bool path_is_clean(const char *path);

/**
 * path_normalize - append the clean form of @path to @ret
 * @path: relative; "." and empty components vanish, ".." takes back one component
 *
 * Returns 0, -EXDEV if ".." leaves the root, -EINVAL if @path is absolute, or -ENOMEM.
 */
int path_normalize(const char *path, struct strbuf *ret);

/** path_base - the last component of a clean path; "" of "" */
const char *path_base(const char *path);

/** path_parent_len - bytes of @path that name its parent: 0 for a name in the root */
size_t path_parent_len(const char *path);

/**
 * path_below - what is left of @path under @prefix
 *
 * Returns a pointer into @path ("" if they are equal), or NULL if @path is not @prefix or below it.
 */
const char *path_below(const char *path, const char *prefix);

/** path_is_below - is @path strictly below @prefix? */
bool path_is_below(const char *path, const char *prefix);

/** path_join - set @ret to @dir/@name; either may be "" */
int path_join(struct strbuf *ret, const char *dir, const char *name);

/**
 * path_relative - append to @ret the relative path that leads from directory @from to @to
 * @from: clean path of a directory
 * @to:   clean path
 *
 * The result is "." where both are equal. Returns 0 or -ENOMEM.
 */
int path_relative(const char *from, const char *to, struct strbuf *ret);

/** path_unescape - undo in place how the mount table writes a path: "\040" and its like become the
 * byte. Source: proc(5), /proc/[pid]/mountinfo */
void path_unescape(char *path);

#endif
