/* SPDX-License-Identifier: MIT */
/*
 * Which package directories of the trunk call spec_path, remembered: a __init__.py is read
 * again only when it has changed.
 */
#ifndef SPECFS_LAYER_HIJACK_H
#define SPECFS_LAYER_HIJACK_H

#include <stdbool.h>

struct hijacks;

/** hijacks_new - one that knows nothing yet */
int hijacks_new(struct hijacks **ret);
void hijacks_free(struct hijacks *h);

/** hijacks_ask - does directory @dir below @root_fd call spec_path? thread-safe */
bool hijacks_ask(struct hijacks *h, int root_fd, const char *dir);

#endif
