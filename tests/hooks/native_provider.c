/* SPDX-License-Identifier: MIT */
/* A backend's hooks.so for the tests: one function for Python and one for C alone. */
#include <Python.h>

#include "specfs/hooks.h"

static PyObject *count(PyObject *self, PyObject *args, PyObject *kwargs)
{
	return PyLong_FromSsize_t(PyTuple_Size(args) + 10 * (kwargs ? PyDict_Size(kwargs) : 0));
}

static int for_c_alone(int n)
{
	return n;
}

static const struct specfs_hook rows[] = {
	SPECFS_HOOK_PYTHON("count", count),
	SPECFS_HOOK_PYTHON("in_both", count),
	SPECFS_HOOK(int (int), for_c_alone),
};

SPECFS_PROVIDER("demo", rows);
