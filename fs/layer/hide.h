/* SPDX-License-Identifier: MIT */
/*
 * The hide list of a spec directory: .specfs-hide, one path or glob a line, "#" comments. It hides
 * lower layers, never its own directory's files. Read again whenever the file has changed.
 */
#ifndef SPECFS_LAYER_HIDE_H
#define SPECFS_LAYER_HIDE_H

#include <stdbool.h>

#include "layer/layer.h"

#define HIDE_FILE ".specfs-hide"
#define BASE_FILE ".specfs-base"

struct hide;

/** hide_new - @l: the spec layer, borrowed */
int hide_new(const struct layer *l, struct hide **ret);
void hide_free(struct hide *h);

/** hide_move - the layer is at @l now; nobody may use the list meanwhile */
void hide_move(struct hide *h, const struct layer *l);

/** hide_covers - does the list hide @rel, a path relative to the spec directory? thread-safe */
bool hide_covers(struct hide *h, const char *rel, bool is_dir);

/** hide_names_below - does a line name directory @rel, or what may lie below it? thread-safe */
bool hide_names_below(struct hide *h, const char *rel);

/** hide_is_empty - does the list hide nothing at all? thread-safe */
bool hide_is_empty(struct hide *h);

/**
 * hide_add - add a line for @rel and publish the new list at once
 *
 * Nothing happens if the list covers @rel already. Returns 0 or a negative errno; the old list is
 * whole after a failure. thread-safe
 */
int hide_add(struct hide *h, const char *rel, bool is_dir);

/**
 * hide_drop - take the line away that hide_add() made for @rel, if there is one
 *
 * For a file that the spec directory has itself again: it shadows what the line hid. thread-safe
 */
int hide_drop(struct hide *h, const char *rel, bool is_dir);

#endif
