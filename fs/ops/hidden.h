/* SPDX-License-Identifier: MIT */
/*
 * The hidden directory .specfs in the root: found by name, never listed. A file in it is made
 * anew by each look-up, as a node of its own, so that no cache of the kernel can show an old one.
 */
#ifndef SPECFS_OPS_HIDDEN_H
#define SPECFS_OPS_HIDDEN_H

#include "ops/server.h"

#define HIDDEN_NAME ".specfs"

enum { HIDDEN_DIR = 2 }; /* its id */

/** hidden_new - with no file made yet */
int hidden_new(struct hidden **ret);
void hidden_free(struct hidden *h);

/** hidden_is - is it the id of something in there, or of the directory? */
bool hidden_is(uint64_t id);

/** hidden_has - does a name in that directory belong to it? */
bool hidden_has(uint64_t dir, const char *name);

/** hidden_lookup - look up .specfs itself or make a file in it; counted once for the kernel */
int hidden_lookup(struct server *srv, uint64_t dir, const char *name, struct fuse_entry_param *ret);
/** hidden_forget - the kernel gives back @count references */
void hidden_forget(struct server *srv, uint64_t id, uint64_t count);
/** hidden_getattr - attributes of the directory or of a file made */
int hidden_getattr(struct server *srv, uint64_t id, struct stat *ret);

/** hidden_read - copy up to @size bytes at @offset to @buf; returns how many */
ssize_t hidden_read(struct server *srv, uint64_t id, char *buf, size_t size, off_t offset);

/** hidden_entry - the @i-th name of the directory, NULL after the last; sets its inode number */
const char *hidden_entry(unsigned i, uint64_t *ret_ino);

#endif
