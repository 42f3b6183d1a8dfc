/* SPDX-License-Identifier: MIT */
/*
 * Bind mounts of redirected directories: made by whoever is in the right mount namespace and has
 * the right to mount, that is the daemon, `specfs run` or `specfs redirect`. Which there are is
 * told by the mount table alone. Source: open_tree(2), move_mount(2), proc(5).
 */
#ifndef SPECFS_LAYER_BIND_H
#define SPECFS_LAYER_BIND_H

#include <stdbool.h>

#include "base/strv.h"

/**
 * bind_may - has this process the right to mount in its namespace?
 *
 * Asked of the kernel by a call that changes nothing.
 */
bool bind_may(void);

/**
 * bind_make - mount scratch's directory over the view's
 * @at:      the view's mountpoint
 * @scratch: its scratch directory
 * @dir:     clean view path; no component may be a symlink
 *
 * As the view, it has neither devices nor set-id programs, nor any programs if the view has none.
 * Looks names up in the view, so never by a thread that answers requests. Returns 0, or a negative
 * errno.
 */
int bind_make(const char *at, const char *scratch, const char *dir);

/** bind_list - append the redirected directories that are mounted in the view at @at, as this
 * process sees it; 0 or a negative errno */
int bind_list(const char *at, struct strv *ret);

/** bind_undo - unmount one; @lazy: even if it is in use. Returns 0, -EBUSY, -EPERM, ... */
int bind_undo(const char *at, const char *dir, bool lazy);

/** bind_is_of_view - is the mount at @at, of path @root of its file system, the directory of a view
 * that is mounted at @view? */
bool bind_is_of_view(const char *at, const char *root, const char *view);

#endif
