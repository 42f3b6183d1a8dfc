/* SPDX-License-Identifier: MIT */
/* Is our mount still where we made it? Told from the mount table, without touching the mount. */
#ifndef SPECFS_DAEMON_MOUNTED_H
#define SPECFS_DAEMON_MOUNTED_H

#include <stdbool.h>
#include <sys/types.h>

/** mounted_device - the device of what is mounted exactly at @path, topmost; 0 if nothing is */
dev_t mounted_device(const char *path);

#endif
