/* SPDX-License-Identifier: MIT */
/*
 * Echoes: a change underneath raises no event for those who watch inside the mount, so a helper
 * process of the daemon repeats it through the mount. Its requests are known by its process and by
 * what it was told to do: nothing is done for them, they are answered as if it were.
 */
#ifndef SPECFS_OPS_ECHO_H
#define SPECFS_OPS_ECHO_H

#include <stdbool.h>

#include "ops/server.h"

enum echo_kind {
	ECHO_NOTHING,
	ECHO_PROBE,     /* only look a name up: is the helper known by its process? */
	ECHO_CAME,      /* a name, of that type */
	ECHO_GONE,
	ECHO_DATA,      /* the content of a file */
	ECHO_ATTR,
};

struct echo;

/** echo_new - nothing is repeated yet; the server's requests may then come through echo_ops() */
int echo_new(struct echo **ret);
void echo_free(struct echo *e);

/** echo_ops - @ret: the server's ops, with those in between that the helper's requests need */
void echo_ops(struct fuse_lowlevel_ops *ret);

/** echo_set_helper - the helper's process, as long as nobody else can have its number; 0: none */
void echo_set_helper(struct echo *e, pid_t pid);

/**
 * echo_begin - the helper is about to do this
 * @type: S_IFREG, S_IFDIR, ... of what comes or has gone
 */
void echo_begin(struct echo *e, enum echo_kind kind, uint64_t dir, const char *name, mode_t type);

/** echo_end - it has; true if the helper's own request was seen */
bool echo_end(struct echo *e);

#endif
