/* SPDX-License-Identifier: MIT */
/*
 * C functions of a backend that can be called from Python: the rows of the registry that have type
 * SPECFS_PYTHON_TYPE, as builtin functions.
 */
#ifndef SPECFS_PYTHON_NATIVE_H
#define SPECFS_PYTHON_NATIVE_H

#include "python/state.h"

/**
 * native_functions - load the backend's hooks.so, if it has one, and wrap what can be called
 * @backend: its name; "" loads nothing
 * @ret:     a dict of functions by name; untouched if there are none
 *
 * Returns 0, or -1 with an exception set: an ImportError if the shared object is broken.
 */
int native_functions(struct state *st, PyObject *backend, PyObject **ret);

#endif
