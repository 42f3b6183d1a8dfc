/* SPDX-License-Identifier: MIT */
/*
 * Who watches inside the mount: inotify and fanotify marks on its inodes, as /proc shows them for
 * every process that we may look at. Looked for again and again, at most 5 % of the time.
 */
#ifndef SPECFS_DAEMON_WATCHERS_H
#define SPECFS_DAEMON_WATCHERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct watchers;

/** watchers_new - start looking, in a thread of its own; @device: the mount's */
int watchers_new(dev_t device, struct watchers **ret);
void watchers_free(struct watchers *w);

/** watchers_has - was this inode watched when we looked last? */
bool watchers_has(struct watchers *w, uint64_t ino);

/** watchers_count - how many are; @w may be NULL */
uint64_t watchers_count(struct watchers *w);

#endif
