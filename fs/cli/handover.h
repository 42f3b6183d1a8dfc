/* SPDX-License-Identifier: MIT */
/*
 * How a mount goes from the process that makes it to the one that serves it: over a socket. The
 * server asks once it could serve, so that only one of the two has something to complain of.
 */
#ifndef SPECFS_CLI_HANDOVER_H
#define SPECFS_CLI_HANDOVER_H

#include <sys/types.h>

/** handover_take - ask for the mount and wait for it; -ECONNABORTED: the other side gave up */
int handover_take(int socket, int *ret_fd, dev_t *ret_device);

/** handover_wait - wait for one byte from the other side; -ECONNABORTED if it has gone */
int handover_wait(int socket);

/** handover_give - send the mount; @fd stays the caller's */
int handover_give(int socket, int fd, dev_t device);

#endif
