/* SPDX-License-Identifier: MIT */
/*
 * Redirected directories of a mounted view: those of the profile are redirected when it is mounted,
 * others by command. What they are is said in layer/redirect.h.
 */
#ifndef SPECFS_DAEMON_REDIRECTS_H
#define SPECFS_DAEMON_REDIRECTS_H

#include "daemon/session_impl.h"

/**
 * redirects_prepare - make the profile's directories ready, before the mount is there
 *
 * One that cannot be redirected is no fault: `specfs status` and the log say why.
 */
void redirects_prepare(struct session *s, const struct session_options *o);

/** redirects_log - say in the log which are not redirected, and why */
void redirects_log(const struct session *s);

/** redirects_bind - make the bind mounts; while requests are answered, by no thread that does */
void redirects_bind(struct session *s);

/** redirects_bind_new - the directory at @dir, which is wanted, was made in directory @parent:
 * redirect it; as redirects_bind() */
void redirects_bind_new(struct session *s, uint64_t parent, const char *dir);

/**
 * redirects_command - "begin bind DIR", "begin symlink DIR" or "end DIR"
 *
 * The caller makes and unmounts bind mounts: after "begin", before "end". Returns 0, or a negative
 * errno with a line in @d.
 */
int redirects_command(struct session *s, const char *line, struct diag *d);

#endif
