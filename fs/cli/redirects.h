/* SPDX-License-Identifier: MIT */
/* Redirected directories, as the commands see them: what the daemon says, and the bind mounts that
 * a command makes or takes away in its own mount namespace. */
#ifndef SPECFS_CLI_REDIRECTS_H
#define SPECFS_CLI_REDIRECTS_H

#include <jansson.h>

#include "cli/plan.h"

/**
 * redirects_read - what the daemon of the view at @at says: an array of objects with "dir", "form",
 * "place" and "why_not"
 *
 * Returns 0, or a negative errno with a line in @d.
 */
int redirects_read(const char *at, struct diag *d, json_t **ret);

/** redirects_find - the one of @dir, if it is redirected; borrowed, or NULL */
const json_t *redirects_find(const json_t *list, const char *dir);

/** redirects_bind_here - make the bind mounts of a view that we have mounted in our own namespace;
 * one that fails is told, and served through the mount */
void redirects_bind_here(const struct plan *p);

/**
 * redirects_undo_one - unmount one
 *
 * Who looks through /proc holds each open file for a moment: what nobody is seen to use is free
 * soon. Returns 0, -EBUSY, -EPERM, ...
 */
int redirects_undo_one(const char *at, const char *dir);

/**
 * redirects_undo - unmount all that is redirected in the view at @at, so that it can be unmounted
 * @ret_undone: those that were, for redirects_redo()
 * @ret_busy:   set to the path of the one that is in use
 *
 * Returns 0, -EBUSY or another errno; after a failure they are mounted again.
 */
int redirects_undo(const char *at, const char *scratch, struct strv *ret_undone,
		   struct strbuf *ret_busy);

/** redirects_redo - mount them again; one that fails is told */
void redirects_redo(const char *at, const char *scratch, const struct strv *dirs);

#endif
