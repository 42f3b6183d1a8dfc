/* SPDX-License-Identifier: MIT */
/*
 * The loader: see loader.h. A provider that was loaded is never unloaded: its functions may be in
 * use by any thread, and nobody counts that.
 */
#include "hooks/loader.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define STRINGIFY_(x) #x
#define STRINGIFY(x) STRINGIFY_(x)

int loader_open(const char *path, const struct specfs_provider **ret, struct strbuf *ret_why)
{
	const struct specfs_provider *p;
	void *so;

	if (strchr(path, '/') && access(path, F_OK) < 0) {
		int r = -errno;

		strbuf_addf(ret_why, "cannot read it: %s", strerror(-r));
		return r;
	}
	so = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!so) {
		strbuf_adds(ret_why, dlerror());
		return -ELIBBAD;
	}
	p = dlsym(so, "specfs_provider_table");
	if (!p) {
		strbuf_adds(ret_why, "it exports no 'specfs_provider_table'; "
				     "SPECFS_PROVIDER() of specfs/hooks.h defines one");
		dlclose(so);
		return -ELIBBAD;
	}
	*ret = p; /* the handle stays open on purpose */
	return 0;
}

const char *loader_strerror(int r)
{
	switch (r) {
	case -EPROTO:
		return "its table has another layout than version " STRINGIFY(SPECFS_HOOKS_ABI)
		       " that is read here; build it with this specfs/hooks.h";
	case -EINVAL:
		return "a row of its table lacks name, type or function";
	default:
		return strerror(-r);
	}
}
