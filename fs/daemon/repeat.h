/* SPDX-License-Identifier: MIT */
/*
 * The helper process: does through the mount what it is told to, so that the kernel raises the
 * event of it; see ops/echo.h. A process and not a thread, since a daemon that is killed while one
 * of its own threads waits in its own mount would never die.
 */
#ifndef SPECFS_DAEMON_REPEAT_H
#define SPECFS_DAEMON_REPEAT_H

#include <limits.h>
#include <sys/types.h>

#include "ops/echo.h"

/* What is to be done. */
struct repeat {
	enum echo_kind kind;
	mode_t type;
	char name[NAME_MAX + 1];
	char dir[PATH_MAX];     /* in the mount */
};

/**
 * repeat_start - start the helper
 * @mountpoint: where it looks for the mount, which must have that device number
 * @ret_fd:     takes a struct repeat, gives a byte once it is done
 *
 * It ends when the descriptor is closed, and with this process. Returns its pid or a negative
 * errno.
 */
pid_t repeat_start(const char *mountpoint, dev_t device, int *ret_fd);

#endif
