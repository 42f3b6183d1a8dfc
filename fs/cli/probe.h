/* SPDX-License-Identifier: MIT */
/*
 * Touching a mount without hanging on it: a child does it, and is left behind if it does not come
 * back in time.
 */
#ifndef SPECFS_CLI_PROBE_H
#define SPECFS_CLI_PROBE_H

#include "base/strbuf.h"

/**
 * probe_stat - does the mount at @path answer?
 *
 * Returns 0, what stat(2) said (-ENOTCONN: its daemon is dead), or -ETIMEDOUT.
 */
int probe_stat(const char *path, int limit_ms);

/** probe_read - the same for a file's content, appended to @ret */
int probe_read(const char *path, int limit_ms, struct strbuf *ret);

#endif
