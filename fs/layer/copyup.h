/* SPDX-License-Identifier: MIT */
/*
 * Copying an object to its destination before its first change. The copy is made under an interim
 * name (or without one) on the destination's file system and published whole; parents are made with
 * the attributes of the view's directories.
 */
#ifndef SPECFS_LAYER_COPYUP_H
#define SPECFS_LAYER_COPYUP_H

#include "layer/view.h"

/**
 * copyup - copy an object of the view into layer @to
 * @path: its view path
 * @f:    the object; updated: afterwards @to owns it, its shown inode number is the same
 * @size: bytes of data to keep; -1: all. What a truncation will drop need not be copied
 *
 * Files, symlinks, special files, and directories (alone, without their children) are copied with
 * mode, owner, times and xattrs; holes stay holes. A hard-linked file's copy gets a new number;
 * a specialization keeps one where kept.h can.
 * If @to is a spec layer and trunk had a file at @path, its blob id is recorded in .specfs-base.
 *
 * Returns 0 or a negative errno; on failure the view is as it was.
 */
int copyup(struct view *v, const char *path, struct found *f, unsigned to, off_t size);

/**
 * copyup_parents - make the directories above @path in layer @to
 *
 * In scratch they are marked implied. Returns an O_PATH descriptor of the parent directory in @to;
 * *@ret_name points into @path.
 */
int copyup_parents(struct view *v, const char *path, unsigned to, const char **ret_name);

/* The directory of a layer that a name is in. */
struct parent_dir {
	int fd;		  /* O_PATH, or -1 */
	bool borrowed;	  /* it belongs to the dirset that it was found in */
	const char *name; /* points into the path */
};

/**
 * copyup_open_parent - as copyup_parents(), but what is open already is borrowed
 * @in:  the directory that @path is in, opened, or NULL; must outlive @ret
 * @ret: release with parent_dir_close()
 */
int copyup_open_parent(struct view *v, const struct dirset *in, const char *path, unsigned to,
		       struct parent_dir *ret);

/** copyup_find_parent - the same for a name that is there: nothing is made; -ENOENT */
int copyup_find_parent(struct view *v, const struct dirset *in, const char *path, unsigned layer,
		       struct parent_dir *ret);
void parent_dir_close(struct parent_dir *p);

#define cleanup_parent_dir CLEANUP(parent_dir_close)

/** copyup_tree - copy the visible tree at directory @path of the view to @name in @dir_fd; for a
 * rename that must copy. @to: the layer that it is for (marks are set if it is scratch) */
int copyup_tree(struct view *v, const char *path, const struct found *f, unsigned to, int dir_fd,
		const char *name);

#endif
