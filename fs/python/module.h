/* SPDX-License-Identifier: MIT */
/* The extension module, for those who make an instance of it themselves. */
#ifndef SPECFS_PYTHON_MODULE_H
#define SPECFS_PYTHON_MODULE_H

#include "python/py.h"

/** The definition of the module _flagtree_spec; the instance's name says which trunk it serves. */
extern PyModuleDef hooks_module_def;

/** module_init - what a PyInit_ function returns: @def, or NULL where there cannot be one */
PyObject *module_init(PyModuleDef *def);

#endif
