/* SPDX-License-Identifier: MIT */
/*
 * What the kernel offers and libfuse has no name for. With HANDLE_KILLPRIV_V2 the kernel
 * remembers that a file has no capabilities and does not ask before each write; libfuse 3.14
 * cannot ask for it, but lets us see what is read from and written to the device.
 */
#ifndef SPECFS_DAEMON_DEVICE_H
#define SPECFS_DAEMON_DEVICE_H

#include <fuse_lowlevel.h>

/** device_extend - to be called once it is mounted; without libfuse's help nothing happens */
void device_extend(struct fuse_session *fuse);

#endif
