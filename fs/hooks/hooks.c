/* SPDX-License-Identifier: MIT */
/*
 * The installed functions of specfs/hooks.h: one registry a process, filled from the environment
 * variable SPECFS_HOOKS before anything else is added to it or asked of it. Failures are logged
 * here, because a program that merely asks for a function has nobody to tell.
 */
#include "hooks/hooks.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "base/log.h"
#include "base/strv.h"
#include "hooks/loader.h"

static struct registry registry = REGISTRY_INIT;
static pthread_once_t started = PTHREAD_ONCE_INIT;
static bool tracing; /* written once, by start() */

#define trace(...)                                                                                 \
	do {                                                                                       \
		if (tracing)                                                                       \
			log_info("hooks: " __VA_ARGS__);                                           \
	} while (0)

static int add(const struct specfs_provider *p)
{
	size_t shadowed = 0;
	int r = registry_add(&registry, p, &shadowed);

	if (r == 0)
		trace("provider '%s' offers %zu functions, %zu of them taken before", p->name,
		      p->n_hooks, shadowed);
	return r;
}

static int load(const char *path, struct strbuf *ret_why)
{
	const struct specfs_provider *p;
	int r = loader_open(path, &p, ret_why);

	if (r < 0)
		return r;
	r = add(p);
	if (r < 0)
		strbuf_adds(ret_why, loader_strerror(r));
	return r;
}

static int load_logged(const char *path)
{
	cleanup_strbuf struct strbuf why = STRBUF_INIT;
	int r = load(path, &why);

	if (r < 0)
		log_write(LOG_LEVEL_ERR, "hooks: cannot load provider '%s': %s", path, why.buf);
	return r;
}

static bool has_word(const char *list, const char *word)
{
	cleanup_strv struct strv words = STRV_INIT;

	if (!list || strv_add_words(&words, list, ",") < 0)
		return false;
	return strv_has(&words, word);
}

static void start(void)
{
	cleanup_strv struct strv paths = STRV_INIT;
	const char *env = secure_getenv("SPECFS_TRACE");

	tracing = has_word(env, "hooks") || has_word(env, "all");
	env = secure_getenv("SPECFS_HOOKS");
	if (env && strv_add_words(&paths, env, ":") < 0)
		log_err(-ENOMEM, "hooks: cannot read SPECFS_HOOKS");
	for (size_t i = 0; i < paths.n; i++)
		(void)load_logged(paths.v[i]); /* said; the other providers still count */
}

bool hooks_tracing(void)
{
	pthread_once(&started, start);
	return tracing;
}

int hooks_load(const char *path, struct strbuf *ret_why)
{
	pthread_once(&started, start);
	return load(path, ret_why);
}

const struct specfs_hook *hooks_next(size_t *pos)
{
	pthread_once(&started, start);
	return registry_next(&registry, pos);
}

int specfs_hooks_register(const struct specfs_provider *p)
{
	pthread_once(&started, start);
	return add(p);
}

int specfs_hooks_load(const char *path)
{
	pthread_once(&started, start);
	return load_logged(path);
}

/*
 * A type that differs is a fault that a user must mend: told once for each name. What was told is
 * kept in a small set of row pointers; when that is full, further names stay untold.
 */
static void tell_type_differs(const struct specfs_hook *h, const char *type)
{
	static _Atomic(const struct specfs_hook *) told[32];

	for (size_t i = 0; i < ARRAY_SIZE(told); i++) {
		const struct specfs_hook *seen = NULL;

		if (atomic_compare_exchange_strong(&told[i], &seen, h)) {
			log_write(LOG_LEVEL_ERR, "hooks: '%s' is not used: its provider has type "
				  "'%s', expected '%s'", h->name, h->type, type);
			return;
		}
		if (seen == h)
			return;
	}
}

const struct specfs_hook *specfs_hooks_find(const char *name, const char *type)
{
	const struct specfs_hook *h;

	pthread_once(&started, start);
	h = registry_find(&registry, name);
	if (h && type && h->type != type && strcmp(h->type, type)) {
		tell_type_differs(h, type);
		h = NULL;
	}
	trace("'%s': %s", name, h ? "found" : "missing");
	return h;
}
