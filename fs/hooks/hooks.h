/* SPDX-License-Identifier: MIT */
/*
 * What the process-wide registry offers to other parts of specfs, beside the installed
 * specfs/hooks.h.
 */
#ifndef SPECFS_HOOKS_HOOKS_H
#define SPECFS_HOOKS_HOOKS_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "hooks/registry.h"

/** hooks_tracing - is "hooks" or "all" a word of the environment variable SPECFS_TRACE? */
bool hooks_tracing(void);

/** hooks_load - specfs_hooks_load() that appends the reason of a failure to @ret_why, unlogged */
int hooks_load(const char *path, struct strbuf *ret_why);

/** hooks_next - registry_next() of the process-wide registry */
const struct specfs_hook *hooks_next(size_t *pos);

#endif
