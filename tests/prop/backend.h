/* SPDX-License-Identifier: MIT */
/*
 * How an operation is done, and how its outcome is looked at: in an open view, by this process's
 * own calls, or in a real mount, by system calls. The latter serve the layers' directories, too.
 */
#ifndef SPECFS_PROP_BACKEND_H
#define SPECFS_PROP_BACKEND_H

#include <time.h>

#include "layer/view.h"
#include "model.h"

/* Directories of a run, and what is open of them. */
struct site {
	const struct setup *setup;
	unsigned arenas;
	char tmp[PATH_MAX / 2]; /* holds all that follows: trunk/, scratch/, ... */
	struct view *view;	/* of the view backend */
	int mount_fd;		/* of the mount backend: root of the mount, or -1 */
	char note[256];		/* what a backend has to say of its last failure */
};

/* An object as it is found. */
struct shown {
	enum kind kind;
	mode_t mode; /* permission bits */
	uint64_t ino;
	uint64_t nlink;
	struct timespec mtime;
	size_t len;
	char bytes[DATA_SIZE + 1]; /* one more than any file of a run has */
};

struct shown_name {
	char name[256];
	uint64_t ino;
	unsigned char type; /* DT_* */
};

struct shown_list {
	struct shown_name v[NAMES_MAX];
	size_t n;
};

struct backend {
	/* open or mount the view of @s; says what is wrong and returns a negative errno */
	int (*start)(struct site *s);
	void (*stop)(struct site *s);
	/* do what @o says, which is below OP_COMMON: 0 or a negative errno */
	int (*apply)(struct site *s, const struct op *o);
	int (*list)(struct site *s, const char *dir, struct shown_list *ret);
	int (*look)(struct site *s, const char *path, struct shown *ret);
	/* wait until all that was done before is seen; NULL: it is at once */
	int (*settle)(struct site *s);
};

extern const struct backend view_backend;
extern const struct backend mount_backend;

/** mount_is_possible - is there a $SPECFS_BIN to mount with, and a /dev/fuse? */
bool mount_is_possible(void);

/**
 * mount_apart - mount in a namespace of this process's own, where that is allowed: nobody can hold
 * a copy of a mount then, which would keep it from ending; nor does that one hold others'
 */
void mount_apart(void);

/** posix_apply - do what @o says, which is below OP_COMMON, in directory @root_fd */
int posix_apply(int root_fd, const struct op *o);
/** posix_list - the names of directory @path, without "." and ".." */
int posix_list(int root_fd, const char *path, struct shown_list *ret);
int posix_look(int root_fd, const char *path, struct shown *ret);
/** posix_purge - remove @path with everything in it */
int posix_purge(int root_fd, const char *path);

#endif
