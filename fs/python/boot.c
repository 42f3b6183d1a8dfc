/* SPDX-License-Identifier: MIT */
/*
 * The import hook without anybody's help: the same shared object, placed as __init__.abi3.so beside
 * the trunk package's __init__.py, is what Python imports for the package, because an extension
 * comes before source. It installs the hook, steps back behind the source, as if that had been
 * found, and executes it. A package has to be called "triton" for that: Python derives the name of
 * the init function from it.
 */
#include <stdlib.h>
#include <string.h>

#include "python/finder.h"
#include "python/module.h"

static int set_all(PyObject *spec, PyObject *module, PyObject *file, PyObject *loader,
		   PyObject *cached)
{
	if (PyObject_SetAttrString(spec, "loader", loader) < 0 ||
	    PyObject_SetAttrString(spec, "origin", file) < 0 ||
	    PyObject_SetAttrString(spec, "cached", cached) < 0 ||
	    PyObject_SetAttrString(module, "__loader__", loader) < 0 ||
	    PyObject_SetAttrString(module, "__file__", file) < 0 ||
	    PyObject_SetAttrString(module, "__cached__", cached) < 0)
		return -1;
	return 0;
}

/* Have @module and its @spec say that they come from the source beside this extension. */
static int step_back(PyObject *spec, PyObject *module)
{
	cleanup_py PyObject *origin = PyObject_GetAttrString(spec, "origin"), *file = NULL;
	cleanup_py PyObject *name = NULL, *source = NULL, *loader = NULL, *cached = NULL;

	file = origin ? finder_source_beside(origin) : NULL;
	name = file ? PyObject_GetAttrString(spec, "name") : NULL;
	if (name)
		source = finder_source_spec(name, file);
	if (source)
		loader = PyObject_GetAttrString(source, "loader");
	if (loader)
		cached = PyObject_GetAttrString(source, "cached");
	return cached ? set_all(spec, module, file, loader, cached) : -1;
}

/* An instance of the hooks of its own: the trunk may bring another module of that name. */
static PyObject *hooks_new(PyObject *spec)
{
	cleanup_py PyObject *package = PyObject_GetAttrString(spec, "name"), *name = NULL;
	cleanup_py PyObject *own = NULL, *hooks = NULL;

	name = package ? PyUnicode_FromFormat("%U._flagtree_spec", package) : NULL;
	if (name)
		own = PyObject_CallFunctionObjArgs((PyObject *)Py_TYPE(spec), name, Py_None, NULL);
	hooks = own ? PyModule_FromDefAndSpec(&hooks_module_def, own) : NULL;
	if (!hooks || PyModule_ExecDef(hooks, &hooks_module_def) < 0)
		return NULL;
	return steal_ptr(&hooks);
}

static int boot_exec(PyObject *module)
{
	const char *off = getenv("SPECFS_IMPORT_HOOK");
	cleanup_py PyObject *spec = PyObject_GetAttrString(module, "__spec__");
	cleanup_py PyObject *hooks = NULL, *none = NULL;

	if (!spec || step_back(spec, module) < 0)
		return -1;
	if (off && !strcmp(off, "0")) {
		cleanup_py PyObject *loader = PyObject_GetAttrString(spec, "loader");

		none = loader ? PyObject_CallMethod(loader, "exec_module", "O", module) : NULL;
		return none ? 0 : -1;
	}
	hooks = hooks_new(spec);
	if (hooks && finder_install(hooks) == 0)
		none = finder_exec_module(hooks, module);
	return none ? 0 : -1;
}

static PyModuleDef_Slot slots[] = {
	{ Py_mod_exec, (void *)(uintptr_t)boot_exec },
#if defined(Py_GIL_DISABLED) && defined(Py_mod_gil)
	{ Py_mod_gil, Py_MOD_GIL_NOT_USED },
#endif
	{ 0, NULL },
};

static PyModuleDef boot_def = {
	PyModuleDef_HEAD_INIT,
	.m_name = "triton",
	.m_slots = slots,
};

PyMODINIT_FUNC PyInit_triton(void);

PyMODINIT_FUNC PyInit_triton(void)
{
	return module_init(&boot_def);
}
