/* SPDX-License-Identifier: MIT */
/*
 * What a view differs in: from trunk and backends by what scratch holds, and from trunk by its
 * backends' specializations. Reads the layers, not the mount.
 */
#ifndef SPECFS_CLI_DIFFER_H
#define SPECFS_CLI_DIFFER_H

#include <jansson.h>

#include "layer/view.h"

/**
 * differ_scratch - append to @list what scratch has
 * @all: every file of a new directory too; else it is one item with the number of its files
 *
 * Items are {"change": "new", "changed", "replaced" or "deleted", "path", "type"}; a directory that
 * is "replaced" was removed and made anew. Returns 0 or a negative errno.
 */
int differ_scratch(const struct view *v, bool all, json_t *list);

/**
 * differ_specializations - append to @list what the backends' spec directories bring in
 *
 * Items are {"change": "replaces", "adds", "covered" (a higher layer has the name too) or "hides",
 * "path", "layer", "source"}. Returns 0 or a negative errno.
 */
int differ_specializations(const struct view *v, json_t *list);

#endif
