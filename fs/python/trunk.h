/* SPDX-License-Identifier: MIT */
/*
 * Where things are: the trunk's package, the backend's name and the places in which a backend's
 * Python may lie. Nothing here imports a provider.
 */
#ifndef SPECFS_PYTHON_TRUNK_H
#define SPECFS_PYTHON_TRUNK_H

#include "python/state.h"

/** One place for providers, relative to the trunk's package. */
struct trunk_place {
	const char *dir;    /* format: backend */
	const char *module; /* format: package, backend */
};

/**
 * The places, the present one first. The last one has no directory for the package's own name, so
 * its files say nothing about which trunk module they belong to.
 */
extern const struct trunk_place trunk_places[];
enum { TRUNK_PLACES_BY_MODULE = 2, TRUNK_PLACES = 3 };

/**
 * trunk_backend - name of the backend: what the trunk's _flagtree_backend says, else the marker
 *                 file FLAGTREE_BACKEND in the package, else ""
 * @ret: borrowed, valid as long as the module
 *
 * Returns 1; 0 if it cannot be known yet, because _flagtree_backend is being imported; -1 with an
 * exception set.
 */
int trunk_backend(struct state *st, PyObject **ret);

/** trunk_roots - directories of the trunk's package: a new list, empty if it is not loaded */
PyObject *trunk_roots(struct state *st);

/**
 * trunk_find - the first of the package's directories that has a certain path
 * @place: of which the path is a part
 * @rest:  what follows the place's directory, from its slash on; "" is the directory itself
 * @type:  S_IFREG or S_IFDIR
 * @ret:   the whole path
 *
 * Returns 1, 0 if there is none, or -1 with an exception set.
 */
int trunk_find(struct state *st, const struct trunk_place *place, PyObject *backend,
	       const char *rest, unsigned int type, PyObject **ret);

/**
 * trunk_provider_dirs - the directories that hold the backend's provider modules
 * @ret: borrowed, valid as long as the module: a list of tuples, a directory and the module name
 *       that it stands for
 *
 * Looked for once, as soon as the trunk's package has a path.
 *
 * Returns 1, 0 if the package has none yet, or -1 with an exception set.
 */
int trunk_provider_dirs(struct state *st, PyObject *backend, PyObject **ret);

#endif
