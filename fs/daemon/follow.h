/* SPDX-License-Identifier: MIT */
/*
 * What is followed: which directories of the layers are watched, and which directories of the view
 * they are parts of. A directory is watched before it is read for the first time and as long as the
 * kernel knows its node. The way to each spec directory is watched too, since it may appear later.
 */
#ifndef SPECFS_DAEMON_FOLLOW_H
#define SPECFS_DAEMON_FOLLOW_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/watch.h"
#include "layer/view.h"
#include "node/node.h"

struct follow;

/** follow_new - start to watch for a view; @fn and @arg as for watch_new() */
int follow_new(const struct view *v, watch_fn fn, void *arg, struct follow **ret);
void follow_free(struct follow *f);

/**
 * follow_dir - see to it that all parts of a directory are watched
 * @seq: table_seq() from before they were opened
 *
 * Costs nothing if they are. Where a watch can't be had the node is marked `unwatched`. Returns 0,
 * or -EAGAIN if by now they may be other directories than it stands for: open them again.
 */
int follow_dir(struct follow *f, struct node *dir, const struct dirset *parts, uint64_t seq);

/** follow_is_right - are they, where they are watched for it, the directories that are watched? */
bool follow_is_right(struct follow *f, const struct node *dir, const struct dirset *parts);

/**
 * follow_again - the parts may be other directories than before: forget what is watched for it
 *
 * Whoever has opened them before, and is still at work, comes too late with what is in them.
 */
void follow_again(struct follow *f, struct node *dir);

/** follow_gone - the node is freed */
void follow_gone(struct follow *f, struct node *dir);

/**
 * follow_nodes - ids of the nodes that a watched directory is a part of
 * @ret: array of *@ret_n, freed by the caller; NULL if there is none
 *
 * Returns 0 or -ENOMEM.
 */
int follow_nodes(struct follow *f, uint64_t watch_id, uint64_t **ret, size_t *ret_n);

/**
 * follow_way - does a name in a watched directory lie on the way to layers' own directories?
 * @ret_profile: is it the profile's file, or one that would be?
 *
 * Returns the set of these layers, and watches the new way.
 */
uint64_t follow_way(struct follow *f, uint64_t watch_id, const char *name, bool *ret_profile);

/**
 * follow_profile - watch the directories of the profile's file, wherever that is now
 *
 * Not while the view's rules are swapped. Returns false if that can't be had.
 */
bool follow_profile(struct follow *f);

/**
 * follow_renumber - have @swap exchange the layers, and go by their new indices at once
 * @swap: sets @map as reload_swap() does
 *
 * Nobody may be in the middle of a look at the layers. What was watched for layers that are no
 * more still is until follow_drop_gone(), to be called before they are forgotten.
 */
void follow_renumber(struct follow *f, void (*swap)(void *arg, unsigned map[STACK_ALL]), void *arg);
void follow_drop_gone(struct follow *f);

/** follow_private - watch a directory of this process's own, its own changes included */
int follow_private(struct follow *f, int dir_fd, uint64_t *ret_id);

/** follow_stats - of the watcher */
void follow_stats(struct follow *f, struct watch_stats *ret);

#endif
