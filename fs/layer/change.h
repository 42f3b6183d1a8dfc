/* SPDX-License-Identifier: MIT */
/*
 * Changes to a view, by view path: each is routed, copied up if need be, and done so that a crash
 * leaves the old or the new state. Callers hold whatever keeps the paths true meanwhile.
 */
#ifndef SPECFS_LAYER_CHANGE_H
#define SPECFS_LAYER_CHANGE_H

#include <sys/types.h>
#include <time.h>

#include "layer/view.h"

/* Who asks: the owner of new objects. */
struct cred {
	uid_t uid;
	gid_t gid;
};

/**
 * change_create - make a regular file
 * @parent: the directory's struct found, @dir its path
 * @mode:   permission bits, umask applied
 * @ret_fd: a descriptor open O_RDWR on the new file, also where @mode would not allow it
 *
 * Returns 0, -EEXIST, -EROFS, ...
 */
int change_create(struct view *v, const char *dir, const struct found *parent, const char *name,
		  mode_t mode, const struct cred *who, struct found *ret, int *ret_fd);

/** change_mknod - make a fifo, socket, device or (S_IFREG) file; otherwise as change_create() */
int change_mknod(struct view *v, const char *dir, const struct found *parent, const char *name,
		 mode_t mode, dev_t rdev, const struct cred *who, struct found *ret);
int change_mkdir(struct view *v, const char *dir, const struct found *parent, const char *name,
		 mode_t mode, const struct cred *who, struct found *ret);
int change_symlink(struct view *v, const char *dir, const struct found *parent, const char *name,
		   const char *text, const struct cred *who, struct found *ret);

/**
 * change_link - give an object a second name
 *
 * Copied up first if edits of it are: the new name shares what a write through the old one would
 * change, and never an object that a rule keeps from being changed. -EXDEV where the two places
 * are on two file systems. @from_f is updated.
 */
int change_link(struct view *v, const char *from, struct found *from_f, const char *dir,
		const struct found *parent, const char *name, struct found *ret);

/**
 * change_tmpfile - make a regular file without a name, where new names of @dir go
 *
 * Returns 0 and a descriptor as change_create() does; -EOPNOTSUPP where the layer's file system
 * can't.
 */
int change_tmpfile(struct view *v, const char *dir, const struct found *parent, mode_t mode,
		   const struct cred *who, struct found *ret, int *ret_fd);

/** change_link_nameless - give such a file a name; -EXDEV where that is on another file system */
int change_link_nameless(struct view *v, int fd, const struct found *f, const char *dir,
			 const struct found *parent, const char *name, struct found *ret);

/**
 * change_unlink - remove a non-directory: in place, and hidden if a lower layer would show one
 * @in: as in struct change_name
 */
int change_unlink(struct view *v, const char *path, const struct found *f, const struct dirset *in);

/** change_rmdir - remove a directory; -ENOTEMPTY exactly if the view shows a name in it */
int change_rmdir(struct view *v, const char *path, const struct found *f);

/* One of the two names of a rename. */
struct change_name {
	const char *path;
	const struct found *f;	 /* what is there, or NULL */
	const struct dirset *in; /* the directory that it is in, if the caller has it open and would
				  * hear of any part that it gets; or NULL */
};

/**
 * change_rename - rename anything to anywhere in the view
 * @to_parent: the directory @to is in
 * @flags:  0, RENAME_NOREPLACE or RENAME_EXCHANGE
 *
 * Returns 0, or 1 if a name may have got a copy of what had the other; -EEXIST, -ENOTEMPTY,
 * -EISDIR, -ENOTDIR as rename(2) does. On failure nothing has changed; an exchange is in
 * exchange.h.
 */
int change_rename(struct view *v, const struct change_name *from, const struct change_name *to,
		  const struct found *to_parent, unsigned flags);

/* Which attributes change_attrs() sets. */
enum {
	CHANGE_MODE = 1 << 0,
	CHANGE_UID = 1 << 1,
	CHANGE_GID = 1 << 2,
	CHANGE_ATIME = 1 << 3,
	CHANGE_MTIME = 1 << 4,
};

struct attr_change {
	unsigned valid; /* CHANGE_* */
	mode_t mode;
	uid_t uid;
	gid_t gid;
	struct timespec atime; /* may be UTIME_NOW */
	struct timespec mtime;
};

/**
 * change_prepare - route an edit of an existing object and copy it up if need be
 * @f:    updated if it was copied up
 * @size: as for copyup()
 *
 * Returns 0 when @f's owner may be changed in place, -EROFS if a rule denies it.
 */
int change_prepare(struct view *v, const char *path, struct found *f, off_t size);

/** change_attrs - set attributes of what change_prepare() has prepared
 * @fd: a descriptor of it (O_PATH is enough); for one that has lost its name */
int change_attrs(int fd, const struct attr_change *c);

#endif
