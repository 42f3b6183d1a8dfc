/* SPDX-License-Identifier: MIT */
/*
 * For a trunk that asks for nothing: binds the functions that a provider module defines over the
 * functions of the same name in the trunk module of the same name. When that is to be done is the
 * finder's business.
 */
#ifndef SPECFS_PYTHON_BINDER_H
#define SPECFS_PYTHON_BINDER_H

#include "python/state.h"

/**
 * binder_executed - a module of the trunk or of a provider was just executed
 * @module: that module
 * @name:   its full name
 *
 * Binds as soon as both the trunk module and its provider have been executed: the provider is
 * imported after its trunk module unless it is being imported already, and then ends with this
 * call itself. Where a provider fails because the trunk's own import has not got far enough, its
 * trunk module waits until the next package of the trunk is complete.
 *
 * Returns 0, or -1 with an exception set: an ImportError that names a broken provider.
 */
int binder_executed(struct state *st, PyObject *module, PyObject *name);

#endif
