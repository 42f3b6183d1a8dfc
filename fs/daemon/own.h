/* SPDX-License-Identifier: MIT */
/*
 * What the mount's own changes make untrue of what the kernel keeps: inode numbers of what was
 * copied, names that lead to a copy although they are the old file's, directories that were there
 * only for a name. The server and its table say so; the threads of inval.h tell the kernel.
 */
#ifndef SPECFS_DAEMON_OWN_H
#define SPECFS_DAEMON_OWN_H

#include "daemon/inval.h"

/** own_attach - listen to @srv and its table, whose watch_arg is @i; before the first request */
void own_attach(struct server *srv, struct inval *i);

/** own_detach - listen no more */
void own_detach(struct server *srv);

#endif
