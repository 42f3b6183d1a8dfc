/* SPDX-License-Identifier: MIT */
/*
 * What is known of one path of a view: which layer it comes from, what it hides, and where an edit,
 * a removal and a new file would go.
 */
#ifndef SPECFS_CLI_WHICH_H
#define SPECFS_CLI_WHICH_H

#include <jansson.h>

#include "layer/view.h"

/**
 * which_json - everything about view path @path
 * @shown: the path as the user named it
 * @f:     what is there; NULL: nothing, but its directory is
 *
 * Returns the object that `specfs which --json` prints, or NULL when out of memory.
 */
json_t *which_json(struct view *v, const char *shown, const char *path, const struct found *f);

/** which_absent_json - the same for a path whose directory is not in the view either */
json_t *which_absent_json(const char *shown);

/** which_place_json - {"layer": LABEL, "path": REALPATH or null} of a view path in a layer */
json_t *which_place_json(const struct view *v, unsigned layer, const char *path);

/** which_print - what which_json() told, as text */
void which_print(const json_t *o);

#endif
