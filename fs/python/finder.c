/* SPDX-License-Identifier: MIT */
/*
 * The import hook: see finder.h. A module keeps the loader and the spec that Python made for it:
 * only the loader object's exec_module is replaced by one that calls the loader type's own and then
 * binds. Loaders shared by modules are served as well, since nothing is remembered in them.
 */
#include "python/finder.h"

#include <string.h>
#include <sys/stat.h>

#include "python/binder.h"

static PyMethodDef exec_module_def = {
	.ml_name = "exec_module",
	.ml_meth = finder_exec_module,
	.ml_flags = METH_O,
	.ml_doc = "Execute a module, then bind the backend's functions over its own.",
};

/* Is @name the package or in it, and not one of the two modules that the hooks need themselves? */
static int is_trunks(struct state *st, PyObject *name)
{
	static const char *const own[] = { "_flagtree_backend", "_flagtree_spec" };
	Py_ssize_t len = PyUnicode_GetLength(st->package);
	cleanup_py PyObject *rest = NULL;

	if (PyUnicode_Tailmatch(name, st->package, 0, PY_SSIZE_T_MAX, -1) != 1)
		return 0;
	if (PyUnicode_GetLength(name) == len)
		return 1;
	if (PyUnicode_ReadChar(name, len) != '.')
		return 0;
	rest = PyUnicode_Substring(name, len + 1, PY_SSIZE_T_MAX);
	if (!rest)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		if (PyUnicode_CompareWithASCIIString(rest, own[i]) == 0)
			return 0;
	return 1;
}

/* What the finders other than @hooks find: a spec or None. */
static PyObject *find_by_others(PyObject *hooks, PyObject *args)
{
	cleanup_py PyObject *finders = PySequence_List(PySys_GetObject("meta_path"));
	Py_ssize_t n = finders ? PyList_Size(finders) : -1;

	for (Py_ssize_t i = 0; i < n; i++) {
		PyObject *finder = PyList_GetItem(finders, i);
		cleanup_py PyObject *find = NULL, *spec = NULL;
		int r = finder == hooks ? 0 : py_getattr(finder, "find_spec", &find);

		if (r > 0)
			spec = PyObject_Call(find, args, NULL);
		if (r < 0 || (r > 0 && !spec))
			return NULL;
		if (spec && spec != Py_None)
			return steal_ptr(&spec);
	}
	return n < 0 ? NULL : py_ref(Py_None);
}

/* Have @spec's module executed by finder_exec_module(). A namespace package is not executed. */
static int hook_loader(PyObject *hooks, PyObject *spec)
{
	cleanup_py PyObject *loader = PyObject_GetAttrString(spec, "loader"), *exec = NULL;
	cleanup_py PyObject *own = NULL;
	int r;

	if (!loader)
		return -1;
	if (loader == Py_None)
		return 0;
	r = py_getattr((PyObject *)Py_TYPE(loader), "exec_module", &own);
	if (r <= 0)
		return r;
	exec = PyCFunction_New(&exec_module_def, hooks);
	return exec ? PyObject_SetAttrString(loader, "exec_module", exec) : -1;
}

PyObject *finder_source_beside(PyObject *file)
{
	Py_ssize_t at = PyUnicode_FindChar(file, '/', 0, PY_SSIZE_T_MAX, -1);
	cleanup_py PyObject *dir = at < -1 ? NULL : PyUnicode_Substring(file, 0, at < 0 ? 0 : at);

	return dir ? PyUnicode_FromFormat("%U%s__init__.py", dir, at < 0 ? "" : "/") : NULL;
}

/* importlib.util's function, without the milliseconds that the import of importlib.util takes. */
PyObject *finder_source_spec(PyObject *name, PyObject *file)
{
	cleanup_py PyObject *importlib = PyImport_ImportModule("_frozen_importlib_external");
	cleanup_py PyObject *make = NULL;

	if (importlib)
		make = PyObject_GetAttrString(importlib, "spec_from_file_location");
	return make ? PyObject_CallFunctionObjArgs(make, name, file, NULL) : NULL;
}

/*
 * The extension itself may stand before the package's source, see boot.c. Found again, at a reload
 * or after a failed import, it gives way to the source beside it.
 */
static int prefer_source(PyObject *name, PyObject **spec)
{
	cleanup_py PyObject *origin = NULL, *suffix = PyUnicode_FromString(".so"), *file = NULL;
	PyObject *better;
	struct stat sb;
	int r = suffix ? py_getattr(*spec, "origin", &origin) : -1;

	if (r <= 0 || !PyUnicode_Check(origin) ||
	    PyUnicode_Tailmatch(origin, suffix, 0, PY_SSIZE_T_MAX, 1) != 1)
		return r < 0 ? -1 : 0;
	file = finder_source_beside(origin);
	if (!file || py_stat(file, &sb) < 0 || !S_ISREG(sb.st_mode))
		return file ? 0 : -1;
	better = finder_source_spec(name, file);
	if (!better)
		return -1;
	Py_DECREF(*spec);
	*spec = better;
	return 0;
}

PyObject *finder_find_spec(PyObject *hooks, PyObject *args)
{
	struct state *st = state_of(hooks);
	PyObject *name = PyTuple_GetItem(args, 0);
	cleanup_py PyObject *spec = NULL;
	int r = name && PyUnicode_Check(name) ? is_trunks(st, name) : -1;

	if (r == 0)
		return py_ref(Py_None);
	if (r > 0)
		spec = find_by_others(hooks, args);
	if (!spec) {
		if (!PyErr_Occurred())
			PyErr_SetString(PyExc_TypeError, "find_spec: expected a module's name");
		return NULL;
	}
	if (spec == Py_None)
		return steal_ptr(&spec);
	if (PyUnicode_Compare(name, st->package) == 0 && prefer_source(name, &spec) < 0)
		return NULL;
	return hook_loader(hooks, spec) < 0 ? NULL : steal_ptr(&spec);
}

PyObject *finder_exec_module(PyObject *hooks, PyObject *module)
{
	cleanup_py PyObject *spec = PyObject_GetAttrString(module, "__spec__");
	cleanup_py PyObject *loader = spec ? PyObject_GetAttrString(spec, "loader") : NULL;
	cleanup_py PyObject *name = loader ? PyObject_GetAttrString(spec, "name") : NULL;
	cleanup_py PyObject *exec = NULL, *none = NULL;

	if (name)
		exec = PyObject_GetAttrString((PyObject *)Py_TYPE(loader), "exec_module");
	if (exec)
		none = PyObject_CallFunctionObjArgs(exec, loader, module, NULL);
	if (!none || binder_executed(state_of(hooks), module, name) < 0)
		return NULL;
	return steal_ptr(&none);
}

int finder_install(PyObject *hooks)
{
	PyObject *finders = PySys_GetObject("meta_path");
	int r;

	if (!finders || !PyList_Check(finders)) {
		PyErr_SetString(PyExc_RuntimeError, "sys.meta_path is no list");
		return -1;
	}
	r = PySequence_Contains(finders, hooks);
	return r == 0 ? PyList_Insert(finders, 0, hooks) : r < 0 ? -1 : 0;
}

int finder_remove(PyObject *hooks)
{
	PyObject *finders = PySys_GetObject("meta_path");
	Py_ssize_t at = -1;
	int r = finders ? PySequence_Contains(finders, hooks) : 0;

	if (r > 0)
		at = PySequence_Index(finders, hooks);
	if (r <= 0 || at < 0)
		return r < 0 || PyErr_Occurred() ? -1 : 0;
	return PySequence_DelItem(finders, at);
}
