/* SPDX-License-Identifier: MIT */
/*
 * Copying one object of the view, without publishing it: data, mode, owner, times and extended
 * attributes, into a name that the caller chose.
 */
#ifndef SPECFS_LAYER_COPYOBJ_H
#define SPECFS_LAYER_COPYOBJ_H

#include "layer/view.h"

/**
 * copyobj_attrs - give file or directory @to the attributes in @st, times last
 * @from: readable descriptor whose extended attributes are copied, or negative: none
 * @to:   readable or writable descriptor
 *
 * A daemon that is not root can't give files away; they stay its own then.
 */
int copyobj_attrs(int from, const struct stat *st, int to);

/**
 * copyobj_file - copy a regular file's data and attributes into the empty file @to
 * @size: bytes of data to keep; -1: all
 * @st:   attributes to give it
 */
int copyobj_file(int from, const struct stat *st, off_t size, int to);

/**
 * copyobj_other - copy a symlink or special file to @name in @dir_fd
 * @text: of a symlink
 */
int copyobj_other(const struct stat *st, const char *text, int dir_fd, const char *name);

/** copyobj_set_times - set the times of directory @fd (O_PATH) to those in @st, if that works */
void copyobj_set_times(int fd, const struct stat *st);

/** copyobj_chown - set the owner if it differs; -EPERM counts for root only */
int copyobj_chown(int dir_fd, const char *name, const struct stat *now, uid_t uid, gid_t gid);

#endif
