/* SPDX-License-Identifier: MIT */
/*
 * The backend's provider: the module whose functions spec_call() and spec_func() look up, together
 * with the C functions that can be called from Python. It is imported at the first question.
 */
#ifndef SPECFS_PYTHON_PROVIDER_H
#define SPECFS_PYTHON_PROVIDER_H

#include "python/state.h"

/**
 * provider_find - the backend's object of that name
 *
 * A provider that is absent has no names. One that cannot be imported raises ImportError with the
 * cause chained; it is imported again only with another trunk module, or once more after the
 * trunk's own import, in which it failed, has ended.
 *
 * Returns 1, 0 if there is none, or -1 with an exception set.
 */
int provider_find(struct state *st, PyObject *name, PyObject **ret);

/**
 * provider_broken - replace the current exception by one that says which provider is broken
 * @backend: its name
 * @module:  name of the module that could not be imported
 * @file:    of that module, or NULL if unknown
 *
 * Returns true; or false and leaves the exception as it is, where it says nothing about the
 * provider: KeyboardInterrupt, SystemExit, MemoryError and the like.
 */
bool provider_broken(PyObject *backend, PyObject *module, PyObject *file);

/** provider_visit, provider_free - for the garbage collector: all providers that were published */
int provider_visit(struct provider *p, visitproc visit, void *arg);
void provider_free(struct provider *p);

#endif
