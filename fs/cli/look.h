/* SPDX-License-Identifier: MIT */
/*
 * Looking at a view without mounting it, or beside its daemon: nothing is locked and nothing is
 * changed. What scratch holds is seen if the view is a mounted one.
 */
#ifndef SPECFS_CLI_LOOK_H
#define SPECFS_CLI_LOOK_H

#include "cli/serving.h"
#include "layer/view.h"

/**
 * look_open - open a view only to look at it
 * @o:       its scratch is not used
 * @scratch: of the mounted view, or NULL
 */
int look_open(const struct view_options *o, const char *scratch, struct diag *d, struct view **ret);

/**
 * look_open_record - the same for a mounted view, from its record
 *
 * Returns 0, -EINVAL for a record that lacks something, or as view_open().
 */
int look_open_record(const json_t *record, struct diag *d, struct view **ret);

/**
 * look_find_view - the mounted view at or around @at, if its daemon lives
 * @ret: what serves it; its record says what it is made of, and is there after success
 *
 * Returns 0, or -ENOENT, -ENOTCONN, -EACCES, ... with a line in @d.
 */
int look_find_view(const struct mount_table *t, const char *at, struct diag *d,
		   const struct mount_entry **ret_m, struct serving *ret);

/**
 * look_resolve - the clean view path that @path leads to, symlinks on the way followed
 * @path: relative to the root of the view; a symlink as its last component is not followed
 * @f:    what is there
 *
 * Returns 0, -ENOENT, -ENOTDIR (its directory is not there either), -EXDEV if it leaves the view,
 * or another errno. With -ENOENT @ret is set too: the directory is there, the name is not.
 */
int look_resolve(const struct view *v, const char *path, struct strbuf *ret, struct found *f);

#endif
