/* SPDX-License-Identifier: MIT */
/*
 * What the kernel offers and libfuse has no name for. With HANDLE_KILLPRIV_V2 the kernel
 * remembers that a file has no capabilities and does not ask before each write; libfuse 3.14
 * cannot ask for it, but lets us see what is read from and written to the device. Nor does it pass
 * on that look-ups in one directory need not wait for each other.
 */
#ifndef SPECFS_DAEMON_DEVICE_H
#define SPECFS_DAEMON_DEVICE_H

#include <fuse_lowlevel.h>

/** device_extend - to be called once it is mounted; without libfuse's help nothing happens */
void device_extend(struct fuse_session *fuse);

/**
 * device_expire_entry - have the kernel ask again before it goes by a name
 *
 * What the name leads to stays where it is, with what is mounted in it, if the answer is the same.
 * A kernel that does not know of this (before 6.2) drops the name.
 */
void device_expire_entry(struct fuse_session *fuse, uint64_t dir, const char *name);

/** device_prune - have it forget a node that nobody uses, by whatever name; from 6.18 on */
void device_prune(struct fuse_session *fuse, uint64_t id);

#endif
