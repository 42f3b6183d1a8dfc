/* SPDX-License-Identifier: MIT */
/* C functions for Python: see native.h. */
#include "python/native.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "hooks/hooks.h"
#include "python/provider.h"
#include "python/trunk.h"

/* Where a backend's shared object lies: beside the directory of its Python providers. */
static const struct trunk_place native_places[] = {
	{ "spec/%U/hooks.so", NULL },
	{ "backends/%U/spec/hooks.so", NULL },
};

/*
 * A function object keeps a pointer to its method row, and may outlive this module: rows live as
 * long as the process. A second instance of the module finds the same rows again.
 */
struct native {
	PyMethodDef def;
	struct native *next;
};

static _Atomic(struct native *) natives;

static PyMethodDef *method_of(const struct specfs_hook *h)
{
	PyCFunction fn = (PyCFunction)h->fn;
	struct native *first = atomic_load(&natives), *n;

	for (n = first; n; n = n->next)
		if (n->def.ml_meth == fn && !strcmp(n->def.ml_name, h->name))
			return &n->def;
	n = calloc(1, sizeof(*n));
	if (!n) {
		PyErr_NoMemory();
		return NULL;
	}
	n->def = (PyMethodDef){
		.ml_name = h->name,
		.ml_meth = fn,
		.ml_flags = METH_VARARGS | METH_KEYWORDS,
		.ml_doc = "A specialized function in C.",
	};
	n->next = first;
	while (!atomic_compare_exchange_weak(&natives, &n->next, n))
		; /* another thread was first; a row that is there twice does no harm */
	return &n->def;
}

static int load(PyObject *file, PyObject *backend)
{
	cleanup_py PyObject *bytes = PyUnicode_EncodeFSDefault(file);
	cleanup_strbuf struct strbuf why = STRBUF_INIT;

	if (!bytes)
		return -1;
	if (hooks_load(PyBytes_AsString(bytes), &why) == 0)
		return 0;
	PyErr_SetString(PyExc_OSError, why.buf);
	(void)provider_broken(backend, file, file); /* an exception is set in any case */
	return -1;
}

static int load_any(struct state *st, PyObject *backend)
{
	for (size_t i = 0; i < ARRAY_SIZE(native_places); i++) {
		cleanup_py PyObject *file = NULL;
		int r = trunk_find(st, &native_places[i], backend, "", S_IFREG, &file);

		if (r != 0)
			return r < 0 ? -1 : load(file, backend);
	}
	return 0;
}

int native_functions(struct state *st, PyObject *backend, PyObject **ret)
{
	cleanup_py PyObject *dict = NULL;
	const struct specfs_hook *h;
	size_t pos = 0;

	if (PyUnicode_GetLength(backend) && load_any(st, backend) < 0)
		return -1;
	while ((h = hooks_next(&pos))) {
		cleanup_py PyObject *fn = NULL;
		PyMethodDef *def;

		if (strcmp(h->type, SPECFS_PYTHON_TYPE))
			continue;
		if (!dict && !(dict = PyDict_New()))
			return -1;
		def = method_of(h);
		fn = def ? PyCFunction_New(def, NULL) : NULL;
		if (!fn || PyDict_SetItemString(dict, h->name, fn) < 0)
			return -1;
	}
	if (dict)
		*ret = steal_ptr(&dict);
	return 0;
}
