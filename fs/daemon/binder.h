/* SPDX-License-Identifier: MIT */
/*
 * The thread that makes bind mounts in our own mount: it looks names up there, so it is none of
 * those that answer. First the directories that are there, then others as they are made.
 */
#ifndef SPECFS_DAEMON_BINDER_H
#define SPECFS_DAEMON_BINDER_H

#include "daemon/session_impl.h"

/**
 * binder_begin - start it
 * @ready: called, by the thread, once what is there is mounted
 *
 * Returns 0; -ENOENT, and @ready is not called, if nothing is to be mounted; or another errno.
 */
int binder_begin(struct session *s, void (*ready)(struct session *s));

/** binder_end - end it; the mount is gone, or its device closed. NULL is fine */
void binder_end(struct binder *b);

#endif
