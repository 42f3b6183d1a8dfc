/* SPDX-License-Identifier: MIT */
/*
 * The control socket: `control` in the scratch directory. A client sends one line with a command
 * and gets one line back: "ok", or "error TEXT". Its own thread answers, so that a command may wait
 * for what a request's thread may not.
 */
#ifndef SPECFS_DAEMON_SOCKET_H
#define SPECFS_DAEMON_SOCKET_H

#include "base/diag.h"

struct socket_server;

#define SOCKET_NAME "control"

/**
 * socket_command_fn - answer a command
 * @line: without its newline
 *
 * Returns 0 or a negative errno; the client is told the first line of @d, or what the errno means.
 */
typedef int (*socket_command_fn)(void *arg, const char *line, struct diag *d);

/**
 * socket_begin - listen in a directory and answer
 * @dir_fd: of the scratch directory; borrowed
 *
 * Only the daemon's user and root are listened to. Returns 0 or a negative errno.
 */
int socket_begin(int dir_fd, socket_command_fn fn, void *arg, struct socket_server **ret);

/** socket_end - stop listening and remove the socket */
void socket_end(struct socket_server *s);

#endif
