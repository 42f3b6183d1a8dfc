/* SPDX-License-Identifier: MIT */
/*
 * _flagtree_spec: the functions by which a trunk asks its backend, with the names and results of
 * FlagTree's own Python. The module may be imported as a part of any package, which is then the
 * trunk; on its own it serves the package "triton".
 */
#include "python/module.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "hooks/hooks.h"
#include "python/finder.h"
#include "python/path.h"
#include "python/provider.h"
#include "python/state.h"

#define DEFAULT_PACKAGE "triton"

static void trace(const char *fn, PyObject *name, int found)
{
	static const char *const word[] = { "failed", "missing", "found" };
	PyObject *exc = PyErr_Occurred() ? py_take_exception() : NULL;
	cleanup_py PyObject *bytes = PyUnicode_AsUTF8String(name);

	if (bytes)
		log_info("hooks: %s '%s': %s", fn, PyBytes_AsString(bytes), word[found + 1]);
	PyErr_Clear(); /* a trace that cannot be written changes nothing */
	if (exc)
		py_raise(exc);
}

static int find(struct state *st, const char *fn, PyObject *name, PyObject **ret)
{
	int r;

	if (!PyUnicode_Check(name)) {
		PyErr_Format(PyExc_TypeError, "%s: expected a function's name, got %R", fn, name);
		return -1;
	}
	r = provider_find(st, name, ret);
	if (st->tracing)
		trace(fn, name, r);
	return r;
}

/* Position of keyword @name, or -1. */
static Py_ssize_t keyword_at(PyObject *kwnames, const char *name)
{
	Py_ssize_t n = kwnames ? PyTuple_Size(kwnames) : 0;

	for (Py_ssize_t i = 0; i < n; i++)
		if (!PyUnicode_CompareWithASCIIString(PyTuple_GetItem(kwnames, i), name))
			return i;
	return -1;
}

/* The one argument of @fn, which may also be given as keyword @name; NULL with an exception set. */
static PyObject *only_argument(const char *fn, const char *name, PyObject *const *args,
			       Py_ssize_t nargs, PyObject *kwnames)
{
	Py_ssize_t n = nargs + (kwnames ? PyTuple_Size(kwnames) : 0);

	if (n == 1 && (nargs || keyword_at(kwnames, name) == 0))
		return args[0];
	PyErr_Format(PyExc_TypeError, "%s: expected one argument, %s", fn, name);
	return NULL;
}

static PyObject *spec_func(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
			   PyObject *kwnames)
{
	PyObject *name = only_argument("spec_func", "function_name", args, nargs, kwnames), *fn;
	int r = name ? find(state_of(self), "spec_func", name, &fn) : -1;

	return r > 0 ? fn : r < 0 ? NULL : py_ref(Py_None);
}

/* Call with a tuple and a dict, leaving out keyword @skip (-1: none). */
static PyObject *call_slow(PyObject *fn, PyObject *const *args, Py_ssize_t nargs,
			   PyObject *kwnames, Py_ssize_t skip)
{
	Py_ssize_t n_keywords = kwnames ? PyTuple_Size(kwnames) : 0;
	cleanup_py PyObject *tuple = PyTuple_New(nargs), *dict = NULL;

	if (n_keywords)
		dict = PyDict_New();
	if (!tuple || (n_keywords && !dict))
		return NULL;
	for (Py_ssize_t i = 0; i < nargs; i++)
		if (PyTuple_SetItem(tuple, i, py_ref(args[i])) < 0)
			return NULL;
	for (Py_ssize_t i = 0; i < n_keywords; i++)
		if (i != skip &&
		    PyDict_SetItem(dict, PyTuple_GetItem(kwnames, i), args[nargs + i]) < 0)
			return NULL;
	return PyObject_Call(fn, tuple, dict);
}

static PyObject *spec_call(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
			   PyObject *kwnames)
{
	Py_ssize_t keyword = nargs ? -1 : keyword_at(kwnames, "function_name");
	cleanup_py PyObject *fn = NULL;
	int r;

	if (!nargs && keyword < 0) {
		PyErr_SetString(PyExc_TypeError, "spec_call: expected a function's name");
		return NULL;
	}
	r = find(state_of(self), "spec_call", nargs ? args[0] : args[keyword], &fn);
	if (r <= 0)
		return r < 0 ? NULL : py_ref(Py_None);
	if (!nargs)
		return call_slow(fn, args, 0, kwnames, keyword);
#ifdef Py_LIMITED_API
	if (!PyObject_Vectorcall)
		return call_slow(fn, args + 1, nargs - 1, kwnames, -1);
#endif
	return PyObject_Vectorcall(fn, args + 1, (size_t)nargs - 1, kwnames);
}

static PyObject *spec_path(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
			   PyObject *kwnames)
{
	PyObject *list = only_argument("spec_path", "path_list", args, nargs, kwnames);

	return list && path_specialize(state_of(self), list) == 0 ? py_ref(Py_None) : NULL;
}

/* Copy @name from @extension to @language, unless the former lacks it or the latter has it. */
static int bind_symbol(PyObject *language, PyObject *extension, PyObject *name)
{
	cleanup_py PyObject *value = NULL, *taken = NULL;
	int r = py_getattr_obj(extension, name, &value);

	if (r <= 0)
		return r;
	r = py_getattr_obj(language, name, &taken);
	return r == 0 ? PyObject_SetAttr(language, name, value) : r < 0 ? -1 : 0;
}

static PyObject *bind_symbols(PyObject *self, PyObject *const *args, Py_ssize_t nargs,
			      PyObject *kwnames)
{
	cleanup_py PyObject *language = NULL, *all = NULL, *list = NULL, *name = NULL;
	PyObject *extension;
	int r;

	extension = only_argument("bind_language_extension_symbols_to_tl", "extension", args,
				  nargs, kwnames);
	if (!extension)
		return NULL;
	name = PyUnicode_FromFormat("%U.language", state_of(self)->package);
	language = name ? PyImport_Import(name) : NULL;
	r = language ? py_getattr(extension, "__all__", &all) : -1;
	if (r > 0)
		r = PyObject_IsTrue(all);
	if (r > 0)
		list = PySequence_List(all);
	if (r < 0 || (r > 0 && !list))
		return NULL;
	for (Py_ssize_t i = 0; list && i < PyList_Size(list); i++)
		if (bind_symbol(language, extension, PyList_GetItem(list, i)) < 0)
			return NULL;
	return py_ref(Py_None);
}

static PyObject *install_import_hook(PyObject *self, PyObject *unused)
{
	return finder_install(self) < 0 ? NULL : py_ref(Py_None);
}

static PyObject *remove_import_hook(PyObject *self, PyObject *unused)
{
	return finder_remove(self) < 0 ? NULL : py_ref(Py_None);
}

#define FAST(fn) ((PyCFunction)(void (*)(void))(fn))

static PyMethodDef methods[] = {
	{ "spec_path", FAST(spec_path), METH_FASTCALL | METH_KEYWORDS,
	  "spec_path(path_list)\n--\n\n"
	  "Put the backend's directory before the trunk's in a package's __path__." },
	{ "spec_call", FAST(spec_call), METH_FASTCALL | METH_KEYWORDS,
	  "spec_call(function_name, *args, **kwargs)\n\n"
	  "Call the backend's function of that name; None if it has none." },
	{ "spec", FAST(spec_call), METH_FASTCALL | METH_KEYWORDS,
	  "spec(function_name, *args, **kwargs)\n\n"
	  "Another name of spec_call." },
	{ "spec_func", FAST(spec_func), METH_FASTCALL | METH_KEYWORDS,
	  "spec_func(function_name)\n--\n\n"
	  "The backend's function of that name; None if it has none." },
	{ "bind_language_extension_symbols_to_tl", FAST(bind_symbols),
	  METH_FASTCALL | METH_KEYWORDS,
	  "bind_language_extension_symbols_to_tl(extension)\n--\n\n"
	  "Copy the names in the extension's __all__ into the trunk's language package." },
	{ "install_import_hook", install_import_hook, METH_NOARGS,
	  "install_import_hook()\n--\n\n"
	  "Bind the backend's functions over those of trunk modules imported from now on." },
	{ "remove_import_hook", remove_import_hook, METH_NOARGS,
	  "remove_import_hook()\n--\n\n"
	  "Undo install_import_hook(); what is bound stays bound." },
	{ "find_spec", finder_find_spec, METH_VARARGS,
	  "find_spec(fullname, path, target=None)\n\n"
	  "For sys.meta_path: the import hook is this module itself." },
	{ NULL },
};

/* The package that an instance named @self serves: what its own name is a part of. */
static PyObject *package_of(PyObject *self)
{
	cleanup_py PyObject *name = PyObject_GetAttrString(self, "__name__");
	Py_ssize_t at;

	if (!name)
		return NULL;
	at = PyUnicode_FindChar(name, '.', 0, PY_SSIZE_T_MAX, -1);
	if (at == -1)
		return PyUnicode_FromString(DEFAULT_PACKAGE);
	return at < 0 ? NULL : PyUnicode_Substring(name, 0, at);
}

static int module_exec(PyObject *self)
{
	struct state *st = state_of(self);
	const char *lenient = getenv("FLAGTREE_SPEC_LENIENT");

	st->lenient = lenient && *lenient && strcmp(lenient, "0");
	st->tracing = hooks_tracing();
	st->getattr = PyUnicode_InternFromString("__getattr__");
	st->module = PyUnicode_InternFromString("__module__");
	st->deferred = PyList_New(0);
	st->executed = PySet_New(NULL);
	st->same = PySet_New(NULL);
	st->package = package_of(self);
	if (!st->getattr || !st->module || !st->package)
		return -1;
	return st->deferred && st->executed && st->same ? 0 : -1;
}

static int module_traverse(PyObject *self, visitproc visit, void *arg)
{
	struct state *st = state_of(self);

	if (!st)
		return 0;
	Py_VISIT(st->deferred);
	Py_VISIT(st->executed);
	Py_VISIT(st->same);
	return provider_visit(atomic_load(&st->provider), visit, arg);
}

static int module_clear(PyObject *self)
{
	struct state *st = state_of(self);

	if (!st)
		return 0;
	provider_free(atomic_exchange(&st->provider, NULL));
	Py_CLEAR(st->deferred);
	Py_CLEAR(st->executed);
	Py_CLEAR(st->same);
	return 0;
}

static void module_free(void *self)
{
	struct state *st = state_of(self);

	if (!st)
		return;
	(void)module_clear(self); /* it cannot fail */
	Py_CLEAR(st->package);
	Py_CLEAR(st->getattr);
	Py_CLEAR(st->module);
	Py_XDECREF(atomic_exchange(&st->backend, NULL));
	Py_XDECREF(atomic_exchange(&st->provider_dirs, NULL));
}

static PyModuleDef_Slot slots[] = {
	{ Py_mod_exec, (void *)(uintptr_t)module_exec },
#if defined(Py_GIL_DISABLED) && defined(Py_mod_gil)
	{ Py_mod_gil, Py_MOD_GIL_NOT_USED },
#endif
	{ 0, NULL },
};

PyModuleDef hooks_module_def = {
	PyModuleDef_HEAD_INIT,
	.m_name = "_flagtree_spec",
	.m_doc = "Functions by which a trunk asks its backend; see specfs-hooks(3).",
	.m_size = sizeof(struct state),
	.m_methods = methods,
	.m_slots = slots,
	.m_traverse = module_traverse,
	.m_clear = module_clear,
	.m_free = module_free,
};

PyObject *module_init(PyModuleDef *def)
{
#ifndef Py_GIL_DISABLED
	/* An object looks different without a GIL: nothing of ours may be touched there. */
	PyObject *flags = PySys_GetObject("abiflags");

	if (flags && PyUnicode_FindChar(flags, 't', 0, PY_SSIZE_T_MAX, 1) >= 0) {
		PyErr_SetString(PyExc_ImportError, "this _flagtree_spec was built for Pythons with "
						   "a GIL; build it with the free-threaded Python");
		return NULL;
	}
#endif
	return PyModuleDef_Init(def);
}

PyMODINIT_FUNC PyInit__flagtree_spec(void);

PyMODINIT_FUNC PyInit__flagtree_spec(void)
{
	return module_init(&hooks_module_def);
}

/* The name that the module has in older trunks. */
PyMODINIT_FUNC PyInit_flagtree_spec(void);

PyMODINIT_FUNC PyInit_flagtree_spec(void)
{
	return module_init(&hooks_module_def);
}
