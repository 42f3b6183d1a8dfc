/* SPDX-License-Identifier: MIT */
/* Is our mount still where we made it? Told from the mount table, without touching the mount. */
#ifndef SPECFS_DAEMON_MOUNTED_H
#define SPECFS_DAEMON_MOUNTED_H

#include <stdbool.h>
#include <sys/types.h>

/** mounted_device - the device of what is mounted exactly at @path, topmost; 0 if nothing is */
dev_t mounted_device(const char *path);

/**
 * mounted_open - an O_PATH descriptor of the root of what is mounted at @path
 *
 * It holds the mount as long as it is open. Returns -ENXIO if the mount there is not @device.
 */
int mounted_open(const char *path, dev_t device);

#endif
