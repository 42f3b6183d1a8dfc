/* SPDX-License-Identifier: MIT */
/*
 * Descriptors: opening below a directory without ever leaving it, reading and writing whole files,
 * copying data the cheapest way the file systems know.
 */
#ifndef SPECFS_BASE_FD_H
#define SPECFS_BASE_FD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/strbuf.h"

/**
 * fd_open_beneath - open @path below @root_fd
 * @root_fd: directory, O_PATH is enough
 * @path:    clean path; "" is the directory itself
 * @flags:   as for open(2); O_CLOEXEC and O_NOFOLLOW are added
 * @mode:    of a file that O_CREAT makes
 *
 * No component may be a symlink and none leads out of @root_fd, whoever swaps directories
 * meanwhile. Paths longer than PATH_MAX work.
 *
 * Returns a descriptor or a negative errno; -ELOOP where a component is a symlink. The last
 * component may be one with O_PATH and without O_DIRECTORY: the descriptor is then the link's; with
 * O_DIRECTORY it gives -ENOTDIR.
 */
int fd_open_beneath(int root_fd, const char *path, int flags, mode_t mode);

/**
 * fd_open_follow - open @path below @root_fd, symlinks followed as long as they stay below it
 *
 * Returns a descriptor, or a negative errno; -EXDEV if a link leads out of @root_fd.
 */
int fd_open_follow(int root_fd, const char *path, int flags);

/** fd_open_parent - open (O_PATH) the directory that holds @path; *@ret_name points into @path */
int fd_open_parent(int root_fd, const char *path, const char **ret_name);

/** fd_reopen - open again, with @flags, the file that @fd (O_PATH or not) refers to */
int fd_reopen(int fd, int flags);

/**
 * fd_get_xattr - an extended attribute of @name in @dir_fd (O_PATH or not), no symlink followed
 *
 * Returns its length, or a negative errno.
 */
ssize_t fd_get_xattr(int dir_fd, const char *name, const char *attr, void *buf, size_t size);

/** fd_list_xattr - the names of its extended attributes, each with its NUL; as fd_get_xattr() */
ssize_t fd_list_xattr(int dir_fd, const char *name, char *buf, size_t size);

/** fd_proc_path - the /proc path of a descriptor, for calls that take none; @buf of 32 bytes */
const char *fd_proc_path(int fd, char buf[32]);

/**
 * fd_read_all - append everything from the current position to @ret
 * @max: bytes; a longer file gives -EFBIG
 */
int fd_read_all(int fd, size_t max, struct strbuf *ret);

/** fd_read_file - append the content of the file at @path below @dir_fd to @ret */
int fd_read_file(int dir_fd, const char *path, size_t max, struct strbuf *ret);

/** fd_write_all - write all @len bytes at the current position */
int fd_write_all(int fd, const void *data, size_t len);

/**
 * fd_replace_file - publish a file's new content at once
 * @dir_fd: directory that holds it
 * @name:   of the file; replaced if it exists
 * @mode:   of a new file; an existing one's mode is kept
 * @tmp:    a name in the same directory for the interim file
 *
 * The new content is on disk before it is published. After a failure the old file is as it was. If
 * the process dies, @tmp may stay, and a lock on it tells no more that somebody is at work on it.
 */
int fd_replace_file(int dir_fd, const char *name, const char *tmp, mode_t mode, const void *data,
		    size_t len);

/** fd_remove_left - remove @tmp if nobody is at work on it; was it removed? */
bool fd_remove_left(int dir_fd, const char *tmp);

/**
 * fd_copy_data - copy @size bytes of @from to the empty file @to
 *
 * By reflink, else copy_file_range, else read and write; holes stay holes. @to has exactly @size
 * bytes afterwards, also when @from is shorter. Positions of both descriptors are undefined then.
 */
int fd_copy_data(int from, int to, off_t size);

/** fd_copy_xattrs - copy extended attributes, ACLs among them, but none that starts with @except
 * and neither security.capability
 *
 * What the destination does not support or may not take is left out; other errors are returned.
 */
int fd_copy_xattrs(int from, int to, const char *except);

#endif
