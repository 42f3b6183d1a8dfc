/* SPDX-License-Identifier: MIT */
/*
 * Inode numbers of the view. The first device (trunk's) keeps its numbers, so that git sees what it
 * saw in the checkout; other devices' and made-up objects' numbers are mapped without collision.
 */
#ifndef SPECFS_LAYER_INOMAP_H
#define SPECFS_LAYER_INOMAP_H

#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"

struct inomap;

/** inomap_new - @first: the device whose numbers stay as they are */
int inomap_new(dev_t first, struct inomap **ret);
void inomap_free(struct inomap *m);

/** inomap_file - the number of a layer's object; thread-safe */
uint64_t inomap_file(struct inomap *m, dev_t dev, ino_t ino);

/** inomap_place - a number for a virtual object at @path of the view */
uint64_t inomap_place(struct inomap *m, const char *path);

/**
 * inomap_alias - a number for a directory that is shown at a second place, below @at
 *
 * It is not the one that the first place shows, and the directory keeps it when it is renamed.
 */
uint64_t inomap_alias(struct inomap *m, const char *at, dev_t dev, ino_t ino);

#endif
