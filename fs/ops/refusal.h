/* SPDX-License-Identifier: MIT */
/* Changes that a rule refuses: a line in the log names the rule, so that a user finds it. */
#ifndef SPECFS_OPS_REFUSAL_H
#define SPECFS_OPS_REFUSAL_H

#include "ops/server.h"

/**
 * refusal_note - log why a change of @path was refused, if @r is -EROFS; returns @r
 * @f:  the object; the parent directory for ROUTE_CREATE
 *
 * A program that tries again and again gets one line in a while.
 */
int refusal_note(struct server *srv, int r, const char *path, const struct found *f,
		 enum route_op op);

#endif
