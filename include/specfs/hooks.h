/* SPDX-License-Identifier: MIT */
/*
 * In-process hooks: a program asks for a function by name, and a backend that has its own gives it.
 * Without any backend every name is "not specialized" and the program goes its own way. See
 * specfs-hooks(3). C and C++; link with -lspecfs-hooks.
 */
#ifndef SPECFS_HOOKS_H
#define SPECFS_HOOKS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Layout of the structures below; raised when it changes in a way that old readers misread. */
#define SPECFS_HOOKS_ABI 1u

/** One function of a backend. */
struct specfs_hook {
	const char *name;
	const char *type;       /* its C type as text, as SPECFS_HOOK() spelled it */
	void (*fn)(void);       /* to be called only through that type */
};

/** What a backend offers. Everything it points to stays valid for the life of the process. */
struct specfs_provider {
	unsigned int abi;       /* SPECFS_HOOKS_ABI */
	unsigned int hook_size; /* bytes of one row of @hooks */
	const char *name;       /* of the backend, for messages */
	const struct specfs_hook *hooks;
	size_t n_hooks;         /* rows of @hooks */
};

/** The one symbol that a backend's shared object exports: SPECFS_PROVIDER() defines it. */
extern const struct specfs_provider specfs_provider_table __attribute__((visibility("default")));

/**
 * SPECFS_HOOK - a row for function @fn_ of function type @type_, under its own name
 *
 * The text of @type_ is part of the agreement: who asks spells the type the same way (spaces
 * between words do not count double), best through a typedef in a header that both include. The
 * compiler rejects a @fn_ of another type.
 */
#define SPECFS_HOOK(type_, fn_) SPECFS_HOOK_AS(#fn_, type_, fn_)

/** SPECFS_HOOK_AS - the same under another name */
#define SPECFS_HOOK_AS(name_, type_, fn_)                                                          \
	{ name_, #type_, (void (*)(void))(1 ? (fn_) : (__typeof__(type_) *)0) }

/**
 * SPECFS_PYTHON_TYPE - type under which a C function can be called from Python too
 *
 * It is PyCFunctionWithKeywords: self (always NULL), args and kwargs come in, a new reference or
 * NULL with an exception set goes out. Python's spec_call() and spec_func() find such hooks.
 */
#define SPECFS_PYTHON_TYPE "PyObject *(PyObject *, PyObject *, PyObject *)"

/** SPECFS_HOOK_PYTHON - a row for @fn_, a PyCFunctionWithKeywords, under @name_ */
#define SPECFS_HOOK_PYTHON(name_, fn_) { name_, SPECFS_PYTHON_TYPE, (void (*)(void))(fn_) }

/** SPECFS_PROVIDER - define what this shared object offers: @rows_ is an array of rows */
#define SPECFS_PROVIDER(name_, rows_)                                                              \
	const struct specfs_provider specfs_provider_table = {                                     \
		SPECFS_HOOKS_ABI, sizeof(struct specfs_hook), name_, rows_,                        \
		sizeof(rows_) / sizeof((rows_)[0]),                                                \
	}

/**
 * specfs_hooks_register - offer the functions of a provider that is part of this program
 * @p: borrowed for the life of the process
 *
 * The first provider to offer a name keeps it. Those of the environment variable SPECFS_HOOKS come
 * before all others.
 *
 * Returns 0, -EPROTO if @p has another layout than this library reads, -EINVAL if a row lacks
 * something, or -ENOMEM; after a failure none of its functions is offered.
 */
int specfs_hooks_register(const struct specfs_provider *p);

/**
 * specfs_hooks_load - load a backend's shared object and offer its functions
 * @path: as for dlopen(3); it is never unloaded
 *
 * Returns 0, -ENOENT if there is no such file, -ELIBBAD if it cannot be loaded or exports no
 * provider, or what specfs_hooks_register() says. What went wrong is logged to stderr.
 */
int specfs_hooks_load(const char *path);

/**
 * specfs_hooks_find - look a function up; from any thread, without locks
 * @name: of the hook
 * @type: its type as text, or NULL to take any
 *
 * Returns the row, valid for the life of the process, or NULL if no provider offers @name with
 * that type. A type that differs is logged, once for each name.
 */
const struct specfs_hook *specfs_hooks_find(const char *name, const char *type);

#ifdef __cplusplus
}
#endif

/**
 * specfs_func - pointer to the specialized function, or NULL
 * @type: a function type, such as int (const char *, int)
 * @name: of the hook
 */
#define specfs_func(type, name)                                                                    \
	__extension__({                                                                            \
		const struct specfs_hook *specfs_h_ = specfs_hooks_find(name, #type);              \
		specfs_h_ ? (__typeof__(type) *)specfs_h_->fn : (__typeof__(type) *)NULL;          \
	})

/**
 * specfs_call - call the specialized function, or do without
 * @type:      a function type that returns something
 * @name:      of the hook
 * @otherwise: the value where nothing is specialized; evaluated only then
 * @args:      the arguments in parentheses; evaluated only if the function is called
 *
 * specfs_call(int (const char *, int), "lower_size", -1, (path, 4))
 */
#define specfs_call(type, name, otherwise, args)                                                   \
	__extension__({                                                                            \
		__typeof__(type) *specfs_f_ = specfs_func(type, name);                             \
		specfs_f_ ? specfs_f_ args : (otherwise);                                         \
	})

#endif
