/* SPDX-License-Identifier: MIT */
/*
 * Taking mounts down, as root or as the user who mounted, alive or dead. A dead one is never
 * touched: its connection is aborted first, so that nobody waits in it any more.
 */
#ifndef SPECFS_CLI_DETACH_H
#define SPECFS_CLI_DETACH_H

#include "cli/serving.h"

/**
 * detach - unmount what is mounted at @at
 * @lazy: out of sight at once, gone when its last user is
 *
 * Returns 0, -EBUSY, -EPERM (not the caller's mount), -ENOENT (no fusermount3 to do it), or another
 * errno.
 */
int detach(const char *at, bool lazy);

/**
 * detach_lost - clear away a mount whose daemon is dead or dying
 *
 * Returns 0 when the mount is out of sight and the dying process gone, -ETIMEDOUT if the process
 * does not end although the mount is gone, or another errno.
 */
int detach_lost(const struct mount_entry *m, const struct serving *s);

#endif
