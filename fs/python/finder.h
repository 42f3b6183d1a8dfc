/* SPDX-License-Identifier: MIT */
/*
 * The import hook: a module finder, first in sys.meta_path, that lets the other finders find a
 * module of the trunk and sees to it that binder_executed() is called right after its execution.
 */
#ifndef SPECFS_PYTHON_FINDER_H
#define SPECFS_PYTHON_FINDER_H

#include "python/state.h"

/** finder_install - put @hooks, the extension module, in front of sys.meta_path, unless it is in */
int finder_install(PyObject *hooks);

/** finder_remove - take it out of sys.meta_path; what is bound stays bound */
int finder_remove(PyObject *hooks);

/**
 * finder_find_spec - find_spec() of the finder
 * @args: fullname, path and, optionally, target
 *
 * Returns the spec that the other finders find, its loader told to bind; None for what is not the
 * trunk's; NULL with an exception set.
 */
PyObject *finder_find_spec(PyObject *hooks, PyObject *args);

/** finder_exec_module - execute @module by the loader of its spec, then bind */
PyObject *finder_exec_module(PyObject *hooks, PyObject *module);

/** finder_source_beside - path of the __init__.py in the directory of @file; new reference */
PyObject *finder_source_beside(PyObject *file);

/** finder_source_spec - spec of module or package @name with its source in @file; new reference */
PyObject *finder_source_spec(PyObject *name, PyObject *file);

#endif
