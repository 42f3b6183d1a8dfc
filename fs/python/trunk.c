/* SPDX-License-Identifier: MIT */
/*
 * The trunk and its backend: see trunk.h. The marker file is what FlagTree's installation writes
 * and what a view generates; a trunk that has _flagtree_backend.py reads it itself.
 */
#include "python/trunk.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"

#define MARKER "FLAGTREE_BACKEND"
#define MARKER_MAX_BYTES 4096

const struct trunk_place trunk_places[TRUNK_PLACES] = {
	{ "spec/%U/triton", "%U.spec.%U.triton" },
	{ "backends/%U/spec/triton", "%U.backends.%U.spec.triton" },
	{ "backends/%U/spec", "%U.backends.%U.spec" },
};

PyObject *trunk_roots(struct state *st)
{
	cleanup_py PyObject *package = NULL, *path = NULL;
	int r = py_module(st->package, &package);

	if (r > 0)
		r = py_getattr(package, "__path__", &path);
	if (r < 0)
		return NULL;
	return r > 0 ? PySequence_List(path) : PyList_New(0);
}

int trunk_find(struct state *st, const struct trunk_place *place, PyObject *backend,
	       const char *rest, unsigned int type, PyObject **ret)
{
	cleanup_py PyObject *roots = trunk_roots(st), *below = NULL;
	Py_ssize_t n = roots ? PyList_Size(roots) : -1;

	below = n < 0 ? NULL : PyUnicode_FromFormat(place->dir, backend);
	if (!below)
		return -1;
	for (Py_ssize_t i = 0; i < n; i++) {
		PyObject *root = PyList_GetItem(roots, i);
		cleanup_py PyObject *path = PyUnicode_FromFormat("%S/%U%s", root, below, rest);
		struct stat sb;

		if (!path)
			return -1;
		if (py_stat(path, &sb) == 0 && (sb.st_mode & S_IFMT) == type) {
			*ret = steal_ptr(&path);
			return 1;
		}
	}
	return 0;
}

/* The marker's text without the white space around it; 0 if @dir has no marker. */
static int read_marker(PyObject *dir, PyObject **ret)
{
	cleanup_py PyObject *path = PyUnicode_FromFormat("%S/" MARKER, dir);
	cleanup_py PyObject *bytes = path ? PyUnicode_EncodeFSDefault(path) : NULL;
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	char *start;
	int r;

	if (!bytes)
		return -1;
	r = fd_read_file(AT_FDCWD, PyBytes_AsString(bytes), MARKER_MAX_BYTES, &text);
	if (r == -ENOENT || r == -ENOTDIR)
		return 0;
	if (r < 0) {
		errno = -r;
		PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, path);
		return -1;
	}
	while (text.len && isspace((unsigned char)text.buf[text.len - 1]))
		strbuf_truncate(&text, text.len - 1);
	for (start = text.buf; isspace((unsigned char)*start); start++)
		;
	*ret = PyUnicode_DecodeFSDefault(start);
	return *ret ? 1 : -1;
}

static int backend_from_marker(struct state *st, PyObject **ret)
{
	cleanup_py PyObject *roots = trunk_roots(st);
	Py_ssize_t n = roots ? PyList_Size(roots) : -1;
	int r = n < 0 ? -1 : 0;

	for (Py_ssize_t i = 0; i < n && r == 0; i++)
		r = read_marker(PyList_GetItem(roots, i), ret);
	return r;
}

/* What the trunk's own module says: 1, 0 if the trunk has none, -1, or 2 if it cannot say yet. */
static int backend_from_module(struct state *st, PyObject **ret)
{
	cleanup_py PyObject *name = PyUnicode_FromFormat("%U._flagtree_backend", st->package);
	cleanup_py PyObject *module = name ? PyImport_Import(name) : NULL;
	cleanup_py PyObject *exc = NULL;
	int r;

	if (module) {
		r = py_getattr(module, MARKER, ret);
		return r == 0 && py_is_initializing(module) ? 2 : r;
	}
	exc = py_take_exception();
	if (name && py_is_absent(exc, name))
		return 0;
	py_raise(steal_ptr(&exc));
	return -1;
}

/* The name becomes part of paths and module names. */
static int check_backend(PyObject *name)
{
	cleanup_py PyObject *bytes = NULL;
	const char *s;

	if (!PyUnicode_Check(name)) {
		PyErr_Format(PyExc_ImportError, MARKER " is %R, expected a string", name);
		return -1;
	}
	bytes = PyUnicode_EncodeFSDefault(name);
	s = bytes ? PyBytes_AsString(bytes) : NULL;
	if (!s)
		return -1;
	if (!s[strcspn(s, "/. \t\n")])
		return 0;
	PyErr_Format(PyExc_ImportError, MARKER " is %R, expected the name of one backend", name);
	return -1;
}

int trunk_backend(struct state *st, PyObject **ret)
{
	PyObject *known = atomic_load(&st->backend);
	cleanup_py PyObject *name = NULL;
	int r;

	if (known) {
		*ret = known;
		return 1;
	}
	r = backend_from_module(st, &name);
	if (r == 2)
		return 0;
	if (r == 0)
		r = backend_from_marker(st, &name);
	if (r == 0)
		name = PyUnicode_FromString("");
	if (r < 0 || !name || check_backend(name) < 0)
		return -1;
	if (atomic_compare_exchange_strong(&st->backend, &known, name))
		known = steal_ptr(&name);
	*ret = known;
	return 1;
}

static int add_provider_dir(struct state *st, PyObject *list, const struct trunk_place *place,
			    PyObject *backend)
{
	cleanup_py PyObject *dir = NULL, *name = NULL, *pair = NULL;
	int r = trunk_find(st, place, backend, "", S_IFDIR, &dir);

	if (r <= 0)
		return r;
	name = PyUnicode_FromFormat(place->module, st->package, backend);
	pair = name ? PyTuple_Pack(2, dir, name) : NULL;
	return pair ? PyList_Append(list, pair) : -1;
}

int trunk_provider_dirs(struct state *st, PyObject *backend, PyObject **ret)
{
	PyObject *known = atomic_load(&st->provider_dirs);
	cleanup_py PyObject *list = NULL, *roots = NULL;

	if (known) {
		*ret = known;
		return 1;
	}
	roots = trunk_roots(st);
	if (!roots || PyList_Size(roots) == 0)
		return roots ? 0 : -1;
	list = PyList_New(0);
	for (size_t i = 0; i < TRUNK_PLACES_BY_MODULE; i++)
		if (!list || add_provider_dir(st, list, &trunk_places[i], backend) < 0)
			return -1;
	if (atomic_compare_exchange_strong(&st->provider_dirs, &known, list))
		known = steal_ptr(&list);
	*ret = known;
	return 1;
}
