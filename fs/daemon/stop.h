/* SPDX-License-Identifier: MIT */
/*
 * How a session ends by a signal: the mount is taken down while requests are still answered, so
 * that what the kernel holds gets written; who still uses it gets a while; then the loop ends. A
 * mount in another namespace cannot be taken down from here: its processes get that while.
 */
#ifndef SPECFS_DAEMON_STOP_H
#define SPECFS_DAEMON_STOP_H

#include "daemon/session_impl.h"

/**
 * stop_begin - from now on SIGTERM, SIGINT and SIGHUP unmount; to be called before other threads
 */
int stop_begin(struct session *s);

/**
 * stop_end - the loop has ended
 *
 * Further signals stay blocked: what they ask for is under way, and must not be left half done.
 */
void stop_end(struct session *s);

#endif
