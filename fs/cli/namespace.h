/* SPDX-License-Identifier: MIT */
/* A mount namespace with a view in it, made by the process that will live there. */
#ifndef SPECFS_CLI_NAMESPACE_H
#define SPECFS_CLI_NAMESPACE_H

#include <sys/types.h>

#include "cli/plan.h"

/**
 * namespace_enter - put this process into a mount namespace of its own
 *
 * An ordinary user gets a user namespace, too, with the same numbers. What is mounted outside later
 * shows inside, not the other way round. The process must have one thread. Returns an exit status.
 */
int namespace_enter(void);

/**
 * namespace_mount - mount the view of @p there; nobody answers yet
 * @ret_fd:     its /dev/fuse descriptor
 * @ret_device: its device number
 *
 * Returns an exit status.
 */
int namespace_mount(const struct plan *p, int *ret_fd, dev_t *ret_device);

#endif
