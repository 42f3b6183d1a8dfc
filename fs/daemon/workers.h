/* SPDX-License-Identifier: MIT */
/*
 * Workers: the threads that take requests from the kernel. As few as will do wait for one, usually
 * one alone, because the kernel hands requests to waiting threads in turn: each would wake the
 * thread that has slept longest, while the one that has just answered takes the next request
 * without sleeping at all. Where one request has followed the other within microseconds, it even
 * waits awake for the next one, so that nobody has to be woken, for as long as that is worth it.
 * When all are at work and a request waits, one more joins in; it stays while it is needed.
 */
#ifndef SPECFS_DAEMON_WORKERS_H
#define SPECFS_DAEMON_WORKERS_H

#include <fuse_lowlevel.h>

/**
 * workers_run - answer requests until the session ends
 * @max:  threads at most, from 1
 * @rest: called with @arg when no request has come for a while
 *
 * The calling thread takes none; it sees to it that there are as many as it takes. Who wants it to
 * end calls fuse_session_exit() and interrupts it by a signal.
 * Returns 0, or what reading from the kernel failed with.
 */
int workers_run(struct fuse_session *fuse, unsigned max, void (*rest)(void *arg), void *arg);

#endif
