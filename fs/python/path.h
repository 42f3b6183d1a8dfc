/* SPDX-License-Identifier: MIT */
/*
 * spec_path(): puts the backend's directory before the trunk's in the search path of a package, so
 * that whole modules are specialized where there is no mount.
 */
#ifndef SPECFS_PYTHON_PATH_H
#define SPECFS_PYTHON_PATH_H

#include "python/state.h"

/**
 * path_specialize - insert the backend's counterpart of a package's directory
 * @list: the package's __path__
 *
 * Only the first entry counts. Nothing happens without a backend, without such a directory, where
 * it is listed already, and inside a mounted view, which has merged it.
 *
 * Returns 0, or -1 with an exception set.
 */
int path_specialize(struct state *st, PyObject *list);

#endif
