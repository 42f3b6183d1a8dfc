/* SPDX-License-Identifier: MIT */
/*
 * File systems whose files others may change without this kernel's knowing: on a network, or made
 * by a program. Watching them tells of what is done on this machine only.
 */
#ifndef SPECFS_DAEMON_REMOTE_H
#define SPECFS_DAEMON_REMOTE_H

/** remote_name - what a file system is called if it is of that kind; else NULL */
const char *remote_name(unsigned long type);

/** remote_of - the same, by a descriptor on it, O_PATH is enough; NULL if that can't be told */
const char *remote_of(int fd);

#endif
