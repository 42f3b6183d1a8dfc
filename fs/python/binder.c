/* SPDX-License-Identifier: MIT */
/*
 * Binding provider functions over the trunk's: see binder.h. Trunk module and provider may be
 * executed in any order, one inside the other, or by two threads: each is marked as executed first
 * and then looks for the other's mark, so at least one of them binds, and twice does no harm.
 */
#include "python/binder.h"

#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "python/provider.h"
#include "python/trunk.h"

static void trace(struct state *st, const char *what, PyObject *module, PyObject *name)
{
	cleanup_py PyObject *text = NULL, *bytes = NULL;

	if (!st->tracing)
		return;
	text = PyUnicode_FromFormat("'%U%s%U': %s", module, name ? ":" : "", name ? name : module,
				    what);
	if (text && !name) {
		Py_DECREF(text);
		text = PyUnicode_FromFormat("'%U': %s", module, what);
	}
	bytes = text ? PyUnicode_AsUTF8String(text) : NULL;
	if (bytes)
		log_info("hooks: %s", PyBytes_AsString(bytes));
	PyErr_Clear(); /* a trace that cannot be written changes nothing */
}

/* A function in the widest sense: anything to be called that makes no type. */
static bool is_function(PyObject *o)
{
	return PyCallable_Check(o) && !PyType_Check(o);
}

/* Is @o a function that module @name itself defines, not one that it imported? */
static bool is_defined_in(struct state *st, PyObject *o, PyObject *name)
{
	cleanup_py PyObject *module = NULL;
	int r = is_function(o) ? py_getattr_obj(o, st->module, &module) : 0;

	if (r > 0)
		r = PyUnicode_Check(module) && PyUnicode_Compare(module, name) == 0;
	if (r < 0)
		PyErr_Clear(); /* an object with an odd __module__ is not the provider's own */
	return r > 0;
}

static bool is_dunder(PyObject *name)
{
	Py_ssize_t len = PyUnicode_GetLength(name);

	if (len <= 4 || PyUnicode_ReadChar(name, 0) != '_' || PyUnicode_ReadChar(name, 1) != '_')
		return false;
	return PyUnicode_ReadChar(name, len - 1) == '_' && PyUnicode_ReadChar(name, len - 2) == '_';
}

static int bind_one(struct state *st, PyObject *trunk, PyObject *trunk_name, PyObject *name,
		    PyObject *fn)
{
	cleanup_py PyObject *old = NULL;
	int r = py_dict_get(PyModule_GetDict(trunk), name, &old);

	if (r <= 0 || !is_function(old)) {
		trace(st, r ? "not bound: no function in the trunk" : "not bound: not in the trunk",
		      trunk_name, name);
		return r < 0 ? -1 : 0;
	}
	if (old == fn)
		return 0;
	if (PyObject_SetAttr(trunk, name, fn) < 0)
		return -1;
	trace(st, "bound", trunk_name, name);
	return 0;
}

static int bind_all(struct state *st, PyObject *trunk, PyObject *trunk_name, PyObject *provider,
		    PyObject *provider_name)
{
	cleanup_py PyObject *dict = NULL;
	PyObject *name, *fn;
	Py_ssize_t pos = 0;

	if (!PyModule_Check(trunk) || !PyModule_Check(provider))
		return 0;
	dict = PyDict_Copy(PyModule_GetDict(provider));
	if (!dict)
		return -1;
	while (PyDict_Next(dict, &pos, &name, &fn)) {
		if (!PyUnicode_Check(name) || is_dunder(name) ||
		    !is_defined_in(st, fn, provider_name))
			continue;
		if (bind_one(st, trunk, trunk_name, name, fn) < 0)
			return -1;
	}
	return 0;
}

/* Does @module come from the file that @sb describes? Then it is the specialization itself. */
static bool is_file_of(PyObject *module, const struct stat *sb)
{
	cleanup_py PyObject *own = NULL;
	struct stat own_sb;

	if (py_getattr(module, "__file__", &own) <= 0 || !PyUnicode_Check(own)) {
		PyErr_Clear();
		return false;
	}
	return py_stat(own, &own_sb) == 0 && own_sb.st_dev == sb->st_dev &&
	       own_sb.st_ino == sb->st_ino;
}

/* @dir/@rest@suffix if it is a file: 1, 0 if it is none, or -1. */
static int find_file(PyObject *dir, const char *rest, const char *suffix, PyObject **ret,
		     struct stat *ret_sb)
{
	cleanup_py PyObject *path = PyUnicode_FromFormat("%U%s%s", dir, rest, suffix);

	if (!path || py_stat(path, ret_sb) < 0 || !S_ISREG(ret_sb->st_mode))
		return path ? 0 : -1;
	*ret = steal_ptr(&path);
	return 1;
}

/*
 * Name and file of the provider for a trunk module: 1, 0 if there is none, or -1. A module at the
 * top has one that is a file or a package. Below a package only another package has one: a file
 * there specializes the whole module and is no provider.
 */
static int provider_of(struct state *st, PyObject *dirs, PyObject *trunk_name,
		       PyObject **ret_name, PyObject **ret_file, struct stat *ret_sb)
{
	cleanup_py PyObject *rest = PyUnicode_Substring(
		trunk_name, PyUnicode_GetLength(st->package), PY_SSIZE_T_MAX);
	cleanup_py PyObject *bytes = rest ? PyUnicode_AsUTF8String(rest) : NULL;
	char *path = bytes ? PyBytes_AsString(bytes) : NULL;
	int r = path ? 0 : -1;

	for (char *p = path; p && *p; p++)
		if (*p == '.')
			*p = '/'; /* the bytes are ours alone */
	for (Py_ssize_t i = 0; r == 0 && i < PyList_Size(dirs); i++) {
		PyObject *pair = PyList_GetItem(dirs, i), *dir = PyTuple_GetItem(pair, 0);

		if (path[0] && !strchr(path + 1, '/'))
			r = find_file(dir, path, ".py", ret_file, ret_sb);
		if (r == 0)
			r = find_file(dir, path, "/__init__.py", ret_file, ret_sb);
		if (r <= 0)
			continue;
		*ret_name = PyUnicode_FromFormat("%U%U", PyTuple_GetItem(pair, 1), rest);
		r = *ret_name ? 1 : -1;
	}
	return r;
}

/* Is module @name executed to its end? One that was before the hook was installed is not marked. */
static int is_executed(struct state *st, PyObject *name, PyObject *module)
{
	int r = PySet_Contains(st->executed, name);

	return r == 0 ? !py_is_initializing(module) : r;
}

/* Is the trunk's package itself still being executed? */
static bool is_early(struct state *st)
{
	cleanup_py PyObject *root = NULL;
	int r = py_module(st->package, &root);

	if (r > 0)
		r = is_executed(st, st->package, root) == 0;
	PyErr_Clear(); /* what cannot be told is not early */
	return r > 0;
}

/* Import a provider whose trunk module was executed: 1, 0 to go without it, or -1. */
static int import_provider(struct state *st, PyObject *trunk_name, PyObject *backend,
			   PyObject *name, PyObject *file, PyObject **ret)
{
	bool early = is_early(st), fatal;

	*ret = PyImport_Import(name);
	if (*ret)
		return 1;
	fatal = !PyErr_ExceptionMatches(PyExc_ImportError) || !(early || st->lenient);
	if (!provider_broken(backend, name, file) || fatal)
		return -1;
	PyErr_Clear();
	if (early) {
		trace(st, "provider waits for more of the trunk", trunk_name, NULL);
		return PyList_Append(st->deferred, trunk_name);
	}
	trace(st, "provider is broken, which is to be passed over", trunk_name, NULL);
	return 0;
}

/*
 * The trunk module was executed. A provider that is imported for it binds by itself at its end; one
 * that was executed before is bound here.
 */
static int bind_trunk(struct state *st, PyObject *dirs, PyObject *trunk, PyObject *trunk_name,
		      PyObject *backend)
{
	cleanup_py PyObject *name = NULL, *file = NULL, *provider = NULL;
	struct stat sb;
	int r = provider_of(st, dirs, trunk_name, &name, &file, &sb);

	if (r <= 0)
		return r;
	if (is_file_of(trunk, &sb))
		return PySet_Add(st->same, trunk_name);
	r = py_module(name, &provider);
	if (r == 0) {
		r = import_provider(st, trunk_name, backend, name, file, &provider);
		if (r > 0 && PySet_Contains(st->executed, name) == 1)
			return 0;
	}
	if (r > 0)
		r = is_executed(st, name, provider);
	if (r > 0)
		return bind_all(st, trunk, trunk_name, provider, name);
	if (r == 0 && provider)
		trace(st, "provider is being imported and will bind by itself", trunk_name, NULL);
	return r;
}

/* Does the trunk module come from its provider's file? One executed under the hook was asked. */
static int is_same(struct state *st, PyObject *trunk, PyObject *trunk_name, PyObject *provider)
{
	cleanup_py PyObject *file = NULL;
	struct stat sb;
	int r = PySet_Contains(st->executed, trunk_name);

	if (r != 0)
		return r < 0 ? -1 : PySet_Contains(st->same, trunk_name);
	r = py_getattr(provider, "__file__", &file);
	if (r <= 0 || !PyUnicode_Check(file))
		return r < 0 ? -1 : 0;
	return py_stat(file, &sb) == 0 && is_file_of(trunk, &sb);
}

/*
 * A module in a provider's place was executed: bind it where it is a provider, by the rule of
 * provider_of(), and its trunk module is executed too.
 */
static int bind_provider(struct state *st, PyObject *provider, PyObject *name,
			 PyObject *trunk_name)
{
	Py_ssize_t top = PyUnicode_GetLength(st->package) + 1;
	bool is_below = PyUnicode_FindChar(trunk_name, '.', top, PY_SSIZE_T_MAX, 1) >= 0;
	cleanup_py PyObject *trunk = NULL, *path = NULL;
	int r = is_below ? py_getattr(provider, "__path__", &path) : 1;

	if (r > 0)
		r = py_module(trunk_name, &trunk);
	if (r > 0)
		r = is_executed(st, trunk_name, trunk);
	if (r > 0) {
		r = is_same(st, trunk, trunk_name, provider);
		if (r == 0)
			return bind_all(st, trunk, trunk_name, provider, name);
	}
	return r < 0 ? -1 : 0;
}

/* Bind the modules that waited; those that still cannot wait again. */
static int bind_deferred(struct state *st, PyObject *dirs, PyObject *backend)
{
	cleanup_py PyObject *names = PyList_GetSlice(st->deferred, 0, PY_SSIZE_T_MAX);
	Py_ssize_t n = names ? PyList_Size(names) : -1;
	int r = n < 0 ? -1 : PyList_SetSlice(st->deferred, 0, n, NULL);

	for (Py_ssize_t i = 0; i < n && r == 0; i++) {
		cleanup_py PyObject *trunk = NULL;

		r = py_module(PyList_GetItem(names, i), &trunk);
		if (r > 0)
			r = bind_trunk(st, dirs, trunk, PyList_GetItem(names, i), backend);
	}
	return r;
}

/* The trunk module of a provider module: 1 and a name, 0 if @name is no provider's, or -1. */
static int trunk_of(struct state *st, PyObject *dirs, PyObject *name, PyObject **ret)
{
	for (Py_ssize_t i = 0; i < PyList_Size(dirs); i++) {
		PyObject *place = PyTuple_GetItem(PyList_GetItem(dirs, i), 1);
		Py_ssize_t len = PyUnicode_GetLength(place);
		cleanup_py PyObject *rest = NULL;

		if (PyUnicode_Tailmatch(name, place, 0, PY_SSIZE_T_MAX, -1) != 1)
			continue;
		rest = PyUnicode_Substring(name, len, PY_SSIZE_T_MAX);
		if (!rest)
			return -1;
		if (PyUnicode_GetLength(rest) && PyUnicode_ReadChar(rest, 0) != '.')
			continue;
		*ret = PyUnicode_FromFormat("%U%U", st->package, rest);
		return *ret ? 1 : -1;
	}
	return 0;
}

/* Bind what the execution of @module has made possible. */
static int bind_now(struct state *st, PyObject *module, PyObject *name, PyObject *backend)
{
	cleanup_py PyObject *trunk_name = NULL, *path = NULL;
	PyObject *dirs;
	int r = trunk_provider_dirs(st, backend, &dirs);

	if (r <= 0)
		return r;
	r = trunk_of(st, dirs, name, &trunk_name);
	if (r != 0)
		return r < 0 ? -1 : bind_provider(st, module, name, trunk_name);
	r = bind_trunk(st, dirs, module, name, backend);
	if (r == 0 && PyList_Size(st->deferred) > 0 && py_getattr(module, "__path__", &path) > 0)
		r = bind_deferred(st, dirs, backend);
	return r < 0 || PyErr_Occurred() ? -1 : 0;
}

int binder_executed(struct state *st, PyObject *module, PyObject *name)
{
	PyObject *backend, *exc;
	int r = trunk_backend(st, &backend);

	if (r <= 0 || !PyUnicode_GetLength(backend))
		return r < 0 ? -1 : 0;
	if (PySet_Add(st->executed, name) < 0)
		return -1;
	if (bind_now(st, module, name, backend) == 0)
		return 0;
	exc = py_take_exception();
	(void)PySet_Discard(st->executed, name); /* its import fails; @exc says why */
	py_raise(exc);
	return -1;
}
