/* SPDX-License-Identifier: MIT */
/*
 * What one instance of the extension module knows. Everything here is either set before the module
 * can be called or published once through an atomic pointer, so that neither the GIL nor a lock is
 * needed to read it. What was published is released with the module only.
 */
#ifndef SPECFS_PYTHON_STATE_H
#define SPECFS_PYTHON_STATE_H

#include <stdatomic.h>

#include "python/py.h"

struct provider;

struct state {
	PyObject *package;  /* name of the trunk's package, "triton" */
	PyObject *getattr;  /* the string "__getattr__" */
	PyObject *module;   /* the string "__module__" */
	PyObject *deferred; /* list: names of trunk modules that wait for their provider */
	PyObject *executed; /* set: names of modules that were executed under the import hook */
	PyObject *same;     /* set: those of the trunk's that came from the provider's own file */
	bool lenient;       /* an ImportError inside a provider means that it is absent */
	bool tracing;

	_Atomic(PyObject *) backend;          /* NULL: not known yet; "": none */
	_Atomic(PyObject *) provider_dirs;    /* NULL: not looked for yet; trunk_provider_dirs() */
	_Atomic(struct provider *) provider;  /* NULL: not looked for yet */
};

/** state_of - the state of one interpreter's copy of the module */
static inline struct state *state_of(PyObject *module)
{
	return PyModule_GetState(module);
}

#endif
