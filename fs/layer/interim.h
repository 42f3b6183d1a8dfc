/* SPDX-License-Identifier: MIT */
/*
 * An interim object: made under a name that no view shows, then published whole. For scratch it
 * lies in the workdir; elsewhere beside its final name, with a note in the workdir so that it does
 * not outlive a crash.
 */
#ifndef SPECFS_LAYER_INTERIM_H
#define SPECFS_LAYER_INTERIM_H

#include <stdbool.h>

#include "layer/openup.h"
#include "layer/view.h"

struct interim {
	struct view *view;
	int dir_fd; /* borrowed: the workdir, or the final directory */
	bool live;  /* @name may exist and is to be removed */
	bool noted;
	struct openup parent; /* the final directory, where the object is made in it */
	char name[WORKDIR_NAME_MAX];
	char note[WORKDIR_NAME_MAX];
};

/* Declare it after the descriptor of the final directory: it must end before that is closed. */
#define INTERIM_INIT \
	{            \
		0    \
	}

/**
 * interim_begin - choose a name for what will become view path @path in layer @to
 * @parent_fd: the final directory; kept, and must stay open as long as @ret is used
 *
 * The caller makes an object called @ret->name in @ret->dir_fd.
 */
int interim_begin(struct view *v, unsigned to, const char *path, int parent_fd,
		  struct interim *ret);

/** interim_publish_new - give it its final name, which must be free: -EEXIST otherwise */
int interim_publish_new(struct interim *i, int parent_fd, const char *name);

/**
 * interim_publish_over - give it its final name, whatever is there
 *
 * At no moment is there nothing, unless a directory is replaced on a file system that exchanges no
 * names. What was there, of any type, is under @i->name afterwards or gone.
 */
int interim_publish_over(struct interim *i, int parent_fd, const char *name);

/** interim_swap - exchange it with what is at its final name; -EINVAL where that is not known */
int interim_swap(const struct interim *i, int parent_fd, const char *name);

/** interim_take - move what is at the final name to the interim one, for its removal */
int interim_take(struct interim *i, int parent_fd, const char *name);

/**
 * interim_put_back - what was taken is others' after all: back to its name
 *
 * Where they have put yet another one there, it keeps the interim name.
 */
void interim_put_back(struct interim *i, int parent_fd, const char *name);

/** interim_end - remove what is left under the interim name, with everything in it */
void interim_end(struct interim *i);

#define cleanup_interim CLEANUP(interim_end)

#endif
