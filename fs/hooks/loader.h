/* SPDX-License-Identifier: MIT */
/*
 * A backend's shared object: loads it and finds its table of functions. What it offers is checked
 * by the registry.
 */
#ifndef SPECFS_HOOKS_LOADER_H
#define SPECFS_HOOKS_LOADER_H

#include "base/strbuf.h"
#include "specfs/hooks.h"

/**
 * loader_open - load a shared object for the life of the process
 * @path:    as for dlopen(3)
 * @ret:     its provider table
 * @ret_why: what is wrong with it, one line, appended on failure
 *
 * Returns 0, -ENOENT if there is no such file, -ELIBBAD if it cannot be loaded or is no provider.
 */
int loader_open(const char *path, const struct specfs_provider **ret, struct strbuf *ret_why);

/** loader_strerror - what a failure of registry_add() means for the author of a provider */
const char *loader_strerror(int r);

#endif
