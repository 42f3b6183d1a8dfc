/* SPDX-License-Identifier: MIT */
/*
 * FUSE over io_uring: requests come through rings that the kernel and each CPU's thread share,
 * which saves a system call and most of the wake-up of each round trip. libfuse 3.18 and Linux 6.14
 * bring it; the kernel's is switched off by default.
 */
#ifndef SPECFS_DAEMON_URING_H
#define SPECFS_DAEMON_URING_H

#include <fuse_lowlevel.h>

#include "base/diag.h"

/**
 * uring_check - can a session be asked for io_uring?
 *
 * Returns 0, or -EOPNOTSUPP with what is missing in @d.
 */
int uring_check(struct diag *d);

/** uring_is_on - has the kernel agreed to it? @conn: what INIT brought */
bool uring_is_on(const struct fuse_conn_info *conn);

#endif
