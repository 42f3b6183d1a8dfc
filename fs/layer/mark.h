/* SPDX-License-Identifier: MIT */
/*
 * Marks in scratch: extended attributes "user.specfs.*" on ordinary objects. A whiteout is an empty
 * regular file of mode 01600 that carries one, so that only such files cost a getxattr.
 * Source: specfs-scratch(7), WHAT IS IN IT.
 */
#ifndef SPECFS_LAYER_MARK_H
#define SPECFS_LAYER_MARK_H

#include <stdbool.h>
#include <stdint.h>

#include "layer/layer.h"

#define MARK_PREFIX "user.specfs."
#define MARK_WHITEOUT MARK_PREFIX "whiteout"
#define MARK_OPAQUE MARK_PREFIX "opaque"
#define MARK_IMPLIED MARK_PREFIX "implied"
#define MARK_INO MARK_PREFIX "ino"

/* mode of a whiteout: its cheap first sign */
#define MARK_WHITEOUT_MODE (S_IFREG | S_ISVTX | 0600)

/** mark_is_whiteout - is @name of scratch directory @dir_fd, whose stat is @o, a whiteout? */
bool mark_is_whiteout(int dir_fd, const char *name, const struct object *o);

/**
 * mark_read_dir - marks of directory @name in scratch directory @dir_fd; false if they can't be
 * read
 */
void mark_read_dir(int dir_fd, const char *name, bool *ret_opaque, bool *ret_implied);

/**
 * mark_read_ino - the inode number that @name in @dir_fd keeps from its original; 0 if it has
 * none
 */
uint64_t mark_read_ino(int dir_fd, const char *name);

/**
 * mark_set - set mark @name of @fd (O_PATH is enough) to a one-byte value; 0 or a negative errno
 */
int mark_set(int fd, const char *name);

/** mark_set_ino - record the number that a copied-up object keeps; 0 or a negative errno */
int mark_set_ino(int fd, uint64_t ino);

/** mark_remove - remove mark @name; 0 also if there was none */
int mark_remove(int fd, const char *name);

/** mark_supported - can the file system of directory @dir_fd hold marks? 0 or a negative errno */
int mark_supported(int dir_fd);

#endif
