/* SPDX-License-Identifier: MIT */
/*
 * Python's C API as this extension uses it: the limited API of 3.9, so that one binary serves 3.9
 * and everything later, and scope-bound references. Where the interpreter has no GIL there is no
 * limited API to build for; the same sources are then built for that one version.
 */
#ifndef SPECFS_PYTHON_PY_H
#define SPECFS_PYTHON_PY_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>

#include "base/cleanup.h"

static inline void cleanup_py_p(PyObject **p)
{
	Py_XDECREF(*p);
}

/** A local that owns a reference. */
#define cleanup_py CLEANUP(cleanup_py_p)

/* A part of the limited API since 3.10; the flag means the same from 3.7 on. */
#ifndef METH_FASTCALL
#define METH_FASTCALL 0x0080
#endif

/* A part of the limited API since 3.12, exported since 3.11: NULL in an older interpreter. */
#ifdef Py_LIMITED_API
extern PyObject *PyObject_Vectorcall(PyObject *callable, PyObject *const *args, size_t nargs,
				     PyObject *kwnames) __attribute__((weak));
#endif

static inline PyObject *py_ref(PyObject *o)
{
	Py_INCREF(o);
	return o;
}

/** py_dict_get - 1 and a new reference, 0 if @dict has no @key, -1 with an exception set */
int py_dict_get(PyObject *dict, PyObject *key, PyObject **ret);

/** py_getattr - the same for an attribute of any object, whose absence is no error */
int py_getattr(PyObject *o, const char *name, PyObject **ret);

/** py_getattr_obj - the same with the name as a Python string */
int py_getattr_obj(PyObject *o, PyObject *name, PyObject **ret);

/** py_flag - is attribute @name of @o there and true? Errors count as no */
bool py_flag(PyObject *o, const char *name);

/** py_take_exception - a new reference to the current exception, which is current no more */
PyObject *py_take_exception(void);

/** py_raise - make @exc current; takes it */
void py_raise(PyObject *exc);

/** py_is_absent - does @exc say that module @name, or a package that it is in, does not exist? */
bool py_is_absent(PyObject *exc, PyObject *name);

/**
 * py_module - the module of that name in sys.modules, complete or not: as py_dict_get()
 *
 * Never waits for another thread's import, unlike PyImport_GetModule().
 */
int py_module(PyObject *name, PyObject **ret);

/** py_is_initializing - is that module being imported, by whichever thread? */
bool py_is_initializing(PyObject *module);

/** py_stat - stat(2) of a path that is a Python string: 0, or a negative errno */
struct stat;
int py_stat(PyObject *path, struct stat *ret);

#endif
