/* SPDX-License-Identifier: MIT */
/*
 * The provider: see provider.h. What is known about it is one immutable object that is published
 * through an atomic pointer; a newer one replaces it in the rare case that a broken provider is
 * tried again, and the older stays, because another thread may be reading it.
 */
#include "python/provider.h"

#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "hooks/hooks.h"
#include "python/native.h"
#include "python/trunk.h"

struct provider {
	PyObject *module;  /* NULL: absent or broken */
	PyObject *dict;    /* of @module; NULL if it is no real module */
	PyObject *natives; /* dict: name to function; NULL if there are none */
	bool lazy;         /* names may come from elsewhere than @dict */
	bool broken;
	bool early;        /* broke while the trunk was being imported */
	PyObject *error;   /* the ImportError to raise; NULL with @broken: silence is wanted */
	PyObject *trunk;   /* the trunk's module at that time */
	struct provider *older;
};

static void provider_clear(struct provider *p)
{
	Py_XDECREF(p->module);
	Py_XDECREF(p->dict);
	Py_XDECREF(p->natives);
	Py_XDECREF(p->error);
	Py_XDECREF(p->trunk);
}

void provider_free(struct provider *p)
{
	while (p) {
		struct provider *older = p->older;

		provider_clear(p);
		PyMem_Free(p);
		p = older;
	}
}

DEFINE_CLEANUP(provider, struct provider, provider_free)
#define cleanup_provider CLEANUP(cleanup_provider_p)

int provider_visit(struct provider *p, visitproc visit, void *arg)
{
	for (; p; p = p->older) {
		Py_VISIT(p->module);
		Py_VISIT(p->dict);
		Py_VISIT(p->natives);
		Py_VISIT(p->error);
		Py_VISIT(p->trunk);
	}
	return 0;
}

/* An ImportError like @like with the same cause: each raise has a traceback of its own. */
static void raise_again(PyObject *like)
{
	cleanup_py PyObject *args = NULL, *name = NULL, *path = NULL, *exc = NULL;

	args = PyObject_GetAttrString(like, "msg");
	name = args ? PyObject_GetAttrString(like, "name") : NULL;
	path = name ? PyObject_GetAttrString(like, "path") : NULL;
	if (!path)
		return;
	PyErr_SetImportError(args, name, path);
	exc = py_take_exception();
	PyException_SetCause(exc, PyException_GetCause(like));
	py_raise(steal_ptr(&exc));
}

static bool says_something(PyObject *exc)
{
	return PyErr_GivenExceptionMatches(exc, PyExc_Exception) &&
	       !PyErr_GivenExceptionMatches(exc, PyExc_MemoryError);
}

bool provider_broken(PyObject *backend, PyObject *module, PyObject *file)
{
	cleanup_py PyObject *cause = py_take_exception(), *type = NULL, *msg = NULL, *exc = NULL;

	if (says_something(cause))
		type = PyObject_GetAttrString((PyObject *)Py_TYPE(cause), "__name__");
	if (type)
		msg = PyUnicode_FromFormat("provider '%U' of backend '%U' is broken: %S: %S",
					   file ? file : module, backend, type, cause);
	if (!msg) {
		py_raise(steal_ptr(&cause));
		return false;
	}
	PyErr_SetImportError(msg, module, file);
	exc = py_take_exception();
	PyException_SetCause(exc, steal_ptr(&cause));
	py_raise(steal_ptr(&exc));
	return true;
}

/* The file that Python would import first of all for the provider in @place; NULL if unknown. */
static PyObject *file_of(struct state *st, const struct trunk_place *place, PyObject *backend)
{
	PyObject *file = NULL;

	if (trunk_find(st, place, backend, "/__init__.py", S_IFREG, &file) < 0)
		PyErr_Clear();
	return file;
}

/*
 * Import the provider of one place. Returns 1, 0 if it is absent, or -1 with the ImportError that
 * is to be raised. A package without __init__.py counts as absent: it offers nothing.
 */
static int import_from(struct state *st, const struct trunk_place *place, PyObject *backend,
		       PyObject **ret)
{
	cleanup_py PyObject *name = PyUnicode_FromFormat(place->module, st->package, backend);
	cleanup_py PyObject *module = name ? PyImport_Import(name) : NULL;
	cleanup_py PyObject *exc = NULL, *file = NULL;

	if (module) {
		int r = py_getattr(module, "__file__", &file);

		if (r > 0 && file != Py_None)
			*ret = steal_ptr(&module);
		return *ret ? 1 : r < 0 ? -1 : 0;
	}
	exc = py_take_exception();
	if (name && py_is_absent(exc, name))
		return 0;
	file = name ? file_of(st, place, backend) : NULL;
	py_raise(steal_ptr(&exc));
	if (name)
		(void)provider_broken(backend, name, file); /* an exception is set in any case */
	return -1;
}

static int import_any(struct state *st, PyObject *backend, PyObject **ret)
{
	int r = import_from(st, &trunk_places[0], backend, ret);

	/* The older places lie in packages with side effects: no import without a directory. */
	for (size_t i = 1; i < TRUNK_PLACES && r == 0; i++) {
		cleanup_py PyObject *dir = NULL;

		r = trunk_find(st, &trunk_places[i], backend, "", S_IFDIR, &dir);
		if (r > 0)
			r = import_from(st, &trunk_places[i], backend, ret);
	}
	return r;
}

/* Take over the current exception as the provider's state; false leaves it current. */
static bool keep_failure(struct state *st, struct provider *p)
{
	cleanup_py PyObject *exc = py_take_exception();
	cleanup_py PyObject *cause = PyException_GetCause(exc);
	int r;

	if (!PyErr_GivenExceptionMatches(exc, PyExc_ImportError) || !cause) {
		py_raise(steal_ptr(&exc));
		return false;
	}
	r = py_module(st->package, &p->trunk);
	if (r < 0)
		PyErr_Clear();
	p->broken = true;
	p->early = r > 0 && py_is_initializing(p->trunk);
	if (!st->lenient || !PyErr_GivenExceptionMatches(cause, PyExc_ImportError))
		p->error = steal_ptr(&exc);
	return true;
}

static void trace_provider(struct state *st, struct provider *p, PyObject *backend)
{
	cleanup_py PyObject *bytes = NULL, *text = NULL;

	if (!st->tracing)
		return;
	if (p->module)
		text = PyUnicode_FromFormat("backend '%U': provider %R", backend, p->module);
	else
		text = PyUnicode_FromFormat("backend '%U': %s", backend,
					    p->broken ? "provider is broken" : "no provider");
	bytes = text ? PyUnicode_AsUTF8String(text) : NULL;
	if (bytes)
		log_info("hooks: %s", PyBytes_AsString(bytes));
	PyErr_Clear(); /* a trace that cannot be written changes nothing */
}

/*
 * Look for the provider. Returns 1 and *ret to publish; 0 if it cannot be known yet: *ret_module
 * is then the part of it that is there already, or NULL; -1 with an exception set.
 */
static int provider_load(struct state *st, struct provider **ret, PyObject **ret_module)
{
	cleanup_provider struct provider *p = PyMem_Calloc(1, sizeof(*p));
	PyObject *backend;
	int r;

	if (!p) {
		PyErr_NoMemory();
		return -1;
	}
	r = trunk_backend(st, &backend);
	if (r <= 0)
		return r;
	r = PyUnicode_GetLength(backend) ? import_any(st, backend, &p->module) : 0;
	if (r > 0 && py_is_initializing(p->module)) {
		*ret_module = steal_ptr(&p->module);
		return 0;
	}
	if (r >= 0)
		r = native_functions(st, backend, &p->natives);
	if (r < 0 && !keep_failure(st, p))
		return -1;
	p->lazy = p->module && !PyModule_CheckExact(p->module);
	if (p->module && PyModule_Check(p->module))
		p->dict = py_ref(PyModule_GetDict(p->module));
	trace_provider(st, p, backend);
	*ret = steal_ptr(&p);
	return 1;
}

/* May the answer of a broken provider have changed? */
static bool is_outdated(struct state *st, struct provider *p)
{
	cleanup_py PyObject *trunk = NULL;

	if (!p->broken)
		return false;
	if (py_module(st->package, &trunk) < 0)
		PyErr_Clear();
	return trunk != p->trunk || (p->early && trunk && !py_is_initializing(trunk));
}

/* The published provider, looked for if need be; 0 and -1 as provider_load(). */
static int provider_get(struct state *st, struct provider **ret, PyObject **ret_module)
{
	struct provider *known = atomic_load_explicit(&st->provider, memory_order_acquire);
	struct provider *p = NULL;
	int r;

	if (known && !is_outdated(st, known)) {
		*ret = known;
		return 1;
	}
	r = provider_load(st, &p, ret_module);
	if (r <= 0)
		return r;
	p->older = known;
	if (atomic_compare_exchange_strong(&st->provider, &known, p)) {
		*ret = p;
	} else {
		p->older = NULL;
		provider_free(p);
		*ret = known;
	}
	return 1;
}

/* Names such as __class__ are attributes of every module, in no module's dict. */
static bool is_special(PyObject *name)
{
	return PyUnicode_GetLength(name) > 2 && PyUnicode_ReadChar(name, 0) == '_' &&
	       PyUnicode_ReadChar(name, 1) == '_';
}

/* A name that is not in the provider's dict may still be an attribute of it. */
static int find_elsewhere(struct state *st, struct provider *p, PyObject *name, PyObject **ret)
{
	cleanup_py PyObject *lazily = NULL;
	int r = 1;

	if (!p->lazy && !is_special(name))
		r = py_dict_get(p->dict, st->getattr, &lazily);
	return r > 0 ? py_getattr_obj(p->module, name, ret) : r;
}

static int find_in(struct state *st, struct provider *p, PyObject *name, PyObject **ret)
{
	int r = 0;

	if (p->error) {
		raise_again(p->error);
		return -1;
	}
	if (p->dict && !p->lazy)
		r = py_dict_get(p->dict, name, ret);
	if (r == 0 && p->module)
		r = find_elsewhere(st, p, name, ret);
	if (r == 0 && p->natives)
		r = py_dict_get(p->natives, name, ret);
	return r;
}

int provider_find(struct state *st, PyObject *name, PyObject **ret)
{
	cleanup_py PyObject *partial = NULL;
	struct provider *p;
	int r;

	p = atomic_load_explicit(&st->provider, memory_order_acquire);
	if (p && !p->broken)
		return find_in(st, p, name, ret);
	r = provider_get(st, &p, &partial);
	if (r > 0)
		return find_in(st, p, name, ret);
	return partial ? py_getattr_obj(partial, name, ret) : r;
}
