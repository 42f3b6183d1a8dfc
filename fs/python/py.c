/* SPDX-License-Identifier: MIT */
/* Small helpers over Python's C API: see py.h. They know nothing of hooks. */
#include "python/py.h"

#include <errno.h>
#include <sys/stat.h>

int py_dict_get(PyObject *dict, PyObject *key, PyObject **ret)
{
#ifdef Py_GIL_DISABLED
	return PyDict_GetItemRef(dict, key, ret);
#else
	PyObject *value = PyDict_GetItemWithError(dict, key);

	if (!value)
		return PyErr_Occurred() ? -1 : 0;
	*ret = py_ref(value);
	return 1;
#endif
}

int py_getattr_obj(PyObject *o, PyObject *name, PyObject **ret)
{
	PyObject *value = PyObject_GetAttr(o, name);

	if (value) {
		*ret = value;
		return 1;
	}
	if (!PyErr_ExceptionMatches(PyExc_AttributeError))
		return -1;
	PyErr_Clear();
	return 0;
}

int py_getattr(PyObject *o, const char *name, PyObject **ret)
{
	cleanup_py PyObject *key = PyUnicode_InternFromString(name);

	return key ? py_getattr_obj(o, key, ret) : -1;
}

bool py_flag(PyObject *o, const char *name)
{
	cleanup_py PyObject *value = NULL;
	int r = py_getattr(o, name, &value);

	if (r > 0)
		r = PyObject_IsTrue(value);
	if (r < 0)
		PyErr_Clear();
	return r > 0;
}

PyObject *py_take_exception(void)
{
	PyObject *type, *value, *trace;

	PyErr_Fetch(&type, &value, &trace);
	PyErr_NormalizeException(&type, &value, &trace);
	if (trace)
		PyException_SetTraceback(value, trace);
	Py_XDECREF(type);
	Py_XDECREF(trace);
	return value;
}

void py_raise(PyObject *exc)
{
	PyErr_Restore(py_ref((PyObject *)Py_TYPE(exc)), exc, PyException_GetTraceback(exc));
}

bool py_is_absent(PyObject *exc, PyObject *name)
{
	cleanup_py PyObject *missing = NULL, *package = NULL;
	int r = PyErr_GivenExceptionMatches(exc, PyExc_ModuleNotFoundError);

	if (r > 0)
		r = py_getattr(exc, "name", &missing);
	if (r <= 0 || !PyUnicode_Check(missing)) {
		PyErr_Clear();
		return false;
	}
	if (PyUnicode_Compare(missing, name) == 0)
		return true;
	package = PyUnicode_FromFormat("%U.", missing);
	r = package ? (int)PyUnicode_Tailmatch(name, package, 0, PY_SSIZE_T_MAX, -1) : -1;
	if (r < 0)
		PyErr_Clear();
	return r > 0;
}

int py_module(PyObject *name, PyObject **ret)
{
	cleanup_py PyObject *module = NULL;
	int r = py_dict_get(PyImport_GetModuleDict(), name, &module);

	if (r <= 0 || module == Py_None)
		return r < 0 ? -1 : 0;
	*ret = steal_ptr(&module);
	return 1;
}

bool py_is_initializing(PyObject *module)
{
	cleanup_py PyObject *spec = NULL;

	if (py_getattr(module, "__spec__", &spec) < 0)
		PyErr_Clear();
	return spec && py_flag(spec, "_initializing");
}

int py_stat(PyObject *path, struct stat *ret)
{
	cleanup_py PyObject *bytes = PyUnicode_EncodeFSDefault(path);
	char *s = bytes ? PyBytes_AsString(bytes) : NULL;

	if (!s) {
		PyErr_Clear(); /* a path that the file system cannot spell names nothing */
		return -ENOENT;
	}
	return stat(s, ret) < 0 ? -errno : 0;
}
