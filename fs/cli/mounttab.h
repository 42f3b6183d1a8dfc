/* SPDX-License-Identifier: MIT */
/*
 * The mount table, as /proc/self/mountinfo has it, and questions about paths that are answered from
 * it alone: nothing here touches a mount, so that a dead one cannot hang the command.
 */
#ifndef SPECFS_CLI_MOUNTTAB_H
#define SPECFS_CLI_MOUNTTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "base/strbuf.h"

struct mount_entry {
	char *at;               /* where it is mounted */
	char *root;             /* which directory of its file system */
	char *source;
	char *type;
	unsigned major, minor;  /* its device; of a FUSE mount minor is the connection's number */
	uid_t user;             /* who mounted it (FUSE only) */
};

struct mount_table {
	struct mount_entry *v;  /* in the order of mounting */
	size_t n;
};

/** mount_table_read - read the table of this process; release with mount_table_clear() */
int mount_table_read(struct mount_table *ret);

/** mount_table_parse - the same from text in mountinfo's form; lines that are not are left out */
int mount_table_parse(char *text, struct mount_table *ret);
void mount_table_clear(struct mount_table *t);

static inline void cleanup_mount_table_p(struct mount_table *t)
{
	mount_table_clear(t);
}

#define cleanup_mount_table CLEANUP(cleanup_mount_table_p)

/** mount_is_view - is it one of ours, alive or dead? */
bool mount_is_view(const struct mount_entry *m);

/** mount_at - what is mounted exactly at absolute path @path, topmost, or NULL */
const struct mount_entry *mount_at(const struct mount_table *t, const char *path);

/** mount_around - the mount that @path lies in (or is), or NULL; a redirected directory of a view
 * counts as the view */
const struct mount_entry *mount_around(const struct mount_table *t, const char *path);

/** abs_below - what is left of absolute @path under absolute @dir: "" if equal, else NULL */
const char *abs_below(const char *path, const char *dir);

/**
 * path_locate - the absolute path that @path names, as the mount table would spell it
 * @path: may be relative; what it names need not exist, but the directory it is in must
 *
 * Symlinks are followed, but a mountpoint of ours is recognised before anything in it is touched,
 * and nothing at or below it is looked at; ".." is then taken by its letters.
 *
 * Returns 0 or a negative errno.
 */
int path_locate(const struct mount_table *t, const char *path, struct strbuf *ret);

/** path_locate_new - the same for what will be made: directories on the way may be missing too */
int path_locate_new(const struct mount_table *t, const char *path, struct strbuf *ret);

#endif
