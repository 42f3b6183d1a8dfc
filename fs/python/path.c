/* SPDX-License-Identifier: MIT */
/*
 * spec_path(): see path.h. Which part of a path is the trunk's package is taken from the package
 * itself, so any directory above it may have any name.
 */
#include "python/path.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "python/trunk.h"

/* What every object of a view has, and nothing else: the name of the file behind it. */
#define VIEW_XATTR "user.specfs.origin"

/* What follows @root in @path, slash included ("" if they are equal); NULL if not below it. */
static PyObject *rest_below(PyObject *path, PyObject *root)
{
	Py_ssize_t len = PyUnicode_GetLength(root), path_len = PyUnicode_GetLength(path);
	cleanup_py PyObject *bare = NULL;

	while (len > 1 && PyUnicode_ReadChar(root, len - 1) == '/')
		len--;
	bare = PyUnicode_Substring(root, 0, len);
	if (!bare || PyUnicode_Tailmatch(path, bare, 0, path_len, -1) != 1)
		return NULL;
	if (path_len > len && PyUnicode_ReadChar(path, len) != '/')
		return NULL;
	return PyUnicode_Substring(path, len, path_len);
}

/*
 * The same for a package that is not loaded as a part of the trunk's: what follows the last
 * component that has the trunk package's name.
 */
static PyObject *rest_after_name(struct state *st, PyObject *path)
{
	cleanup_py PyObject *slash = PyUnicode_FromFormat("%U/", path);
	cleanup_py PyObject *name = PyUnicode_FromFormat("/%U/", st->package);
	Py_ssize_t at;

	if (!slash || !name)
		return NULL;
	at = PyUnicode_Find(slash, name, 0, PY_SSIZE_T_MAX, -1);
	if (at < 0)
		return NULL;
	return PyUnicode_Substring(path, at + PyUnicode_GetLength(name) - 1, PY_SSIZE_T_MAX);
}

/* Part @path into the trunk's root and the rest: 1, 0 if it is no part of a trunk, or -1. */
static int split(struct state *st, PyObject *path, PyObject **ret_root, PyObject **ret_rest)
{
	cleanup_py PyObject *roots = trunk_roots(st), *rest = NULL;
	Py_ssize_t n = roots ? PyList_Size(roots) : -1;

	for (Py_ssize_t i = 0; i < n && !rest; i++)
		if (PyUnicode_Check(PyList_GetItem(roots, i)))
			rest = rest_below(path, PyList_GetItem(roots, i));
	if (n >= 0 && !rest && !PyErr_Occurred())
		rest = rest_after_name(st, path);
	if (!rest)
		return PyErr_Occurred() ? -1 : 0;
	*ret_root = PyUnicode_Substring(path, 0,
					PyUnicode_GetLength(path) - PyUnicode_GetLength(rest));
	if (!*ret_root)
		return -1;
	*ret_rest = steal_ptr(&rest);
	return 1;
}

static bool is_in_view(PyObject *path)
{
	cleanup_py PyObject *bytes = PyUnicode_EncodeFSDefault(path);

	if (!bytes) {
		PyErr_Clear();
		return false;
	}
	return getxattr(PyBytes_AsString(bytes), VIEW_XATTR, NULL, 0) >= 0;
}

/* The backend's directory for @rest of the trunk at @root: 1, 0 if there is none, or -1. */
static int counterpart(PyObject *root, PyObject *rest, PyObject *backend, PyObject **ret)
{
	for (size_t i = 0; i < TRUNK_PLACES_BY_MODULE; i++) {
		cleanup_py PyObject *dir = PyUnicode_FromFormat(trunk_places[i].dir, backend);
		cleanup_py PyObject *path = dir ? PyUnicode_FromFormat("%U/%U%U", root, dir, rest)
						: NULL;
		struct stat sb;

		if (!path)
			return -1;
		if (py_stat(path, &sb) == 0 && S_ISDIR(sb.st_mode)) {
			*ret = steal_ptr(&path);
			return 1;
		}
	}
	return 0;
}

int path_specialize(struct state *st, PyObject *list)
{
	cleanup_py PyObject *first = NULL, *root = NULL, *rest = NULL, *dir = NULL, *none = NULL;
	PyObject *backend;
	int r = PyObject_IsTrue(list);

	if (r > 0)
		r = trunk_backend(st, &backend);
	if (r <= 0 || !PyUnicode_GetLength(backend))
		return r < 0 ? -1 : 0;
	first = PySequence_GetItem(list, 0);
	if (!first)
		return -1;
	if (!PyUnicode_Check(first)) {
		PyErr_Format(PyExc_TypeError, "spec_path: expected a list of str, got %R", first);
		return -1;
	}
	r = split(st, first, &root, &rest);
	if (r > 0)
		r = counterpart(root, rest, backend, &dir);
	if (r > 0)
		r = !is_in_view(first);
	if (r > 0)
		r = !PySequence_Contains(list, dir);
	if (r <= 0 || PyErr_Occurred())
		return PyErr_Occurred() ? -1 : 0;
	none = PyObject_CallMethod(list, "insert", "iO", 0, dir);
	return none ? 0 : -1;
}
