/* SPDX-License-Identifier: MIT */
/* The installation's Python extension in a view: see supply.h. */
#include "layout/supply.h"

#include "base/dirglob.h"
#include "base/fd.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define PACKAGE "python/triton"
#define MODULE  "_flagtree_spec"

/* A name that a trunk may have for its module of hooks; the second one is the older. */
static const char *const modules[] = { MODULE, "flagtree_spec" };
static const char *const module_files[] = { MODULE ".py", "flagtree_spec.py", NULL };

/* The extension: its real path, and the part of its name that says which Pythons it is for. */
struct extension {
	char *file;
	char *suffix;
};

static void extension_clear(struct extension *e)
{
	free(e->file);
	free(e->suffix);
}

#define cleanup_extension CLEANUP(extension_clear)

static int find_in(const char *dir, struct extension *ret)
{
	cleanup_fd int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_strv struct strv hits = STRV_INIT;
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	int r = fd < 0 ? -errno : dirglob(fd, MODULE ".*.so", &hits);

	if (!r)
		r = hits.n ? path_join(&path, dir, hits.v[0]) : -ENOENT;
	if (r < 0)
		return r;
	ret->file = realpath(path.buf, NULL);
	if (!ret->file)
		return -errno;
	ret->suffix = strdup(hits.v[0] + strlen(MODULE));
	return ret->suffix ? 0 : -ENOMEM;
}

/* -ENOENT is told in @d only if the file is @needed. */
static int find(bool needed, struct diag *d, struct extension *ret)
{
	const char *env = getenv("SPECFS_HOOKS_DIR");
	const char *const dirs[] = {
		env ? env : SPECFS_HOOKS_INSTALLED,
		env ? NULL : SPECFS_HOOKS_BUILT,
	};
	cleanup_strbuf struct strbuf looked = STRBUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(dirs) && dirs[i]; i++) {
		int r = find_in(dirs[i], ret);

		if (r == 0)
			return 0;
		if (r != -ENOENT && r != -ENOTDIR)
			return diag_add(d, r, dirs[i], 0, "the hooks' extension: %s",
					strerror(-r));
		strbuf_addf(&looked, "%s'%s'", i ? " or " : "", dirs[i]);
	}
	if (strbuf_failed(&looked) < 0)
		return -ENOMEM;
	return !needed ? -ENOENT
		       : diag_add(d, -ENOENT, NULL, 0,
				  "the extension that [hooks] of the profile asks for is missing, "
				  "expected " MODULE ".*.so in %s",
				  looked.buf);
}

/* Append a rule that shows the extension as @module. */
static int add_rule(struct ruleset *rs, const struct extension *e, const char *module,
		    const char *const *instead_of)
{
	cleanup_strbuf struct strbuf at = STRBUF_INIT;
	struct rule *rules = reallocarray(rs->rules, rs->n_rules + 1, sizeof(*rules));
	struct rule *r;

	if (!rules)
		return -ENOMEM;
	rs->rules = rules;
	r = &rules[rs->n_rules];
	strbuf_addf(&at, PACKAGE "/%s%s", module, e->suffix);
	*r = (struct rule){
		.kind = RULE_SUPPLY,
		.name = strdup("hooks"),
		.at = strbuf_detach(&at),
		.from = strdup(e->file),
		.beside = "__init__.py",
		.instead_of = instead_of,
	};
	if (!r->name || !r->at || !r->from) {
		rule_clear(r);
		return -ENOMEM;
	}
	rs->n_rules++;
	return 0;
}

static bool has(int root_fd, const char *name)
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT;

	strbuf_addf(&path, PACKAGE "/%s", name);
	return strbuf_failed(&path) == 0 && faccessat(root_fd, path.buf, F_OK, 0) == 0;
}

/* Does the checkout look as if it needed a module of hooks just now? */
static bool lacks_module(int root_fd)
{
	for (size_t i = 0; module_files[i]; i++)
		if (has(root_fd, module_files[i]))
			return false;
	return has(root_fd, "__init__.py");
}

int supply_add(struct ruleset *rs, int root_fd, struct diag *d)
{
	bool supply = rs->profile->hooks_supply;
	bool import = rs->profile->hooks_import && rs->backends.n;
	bool needed = import || (supply && lacks_module(root_fd));
	cleanup_extension struct extension e = { 0 };
	int r;

	if (!supply && !import)
		return 0;
	r = find(needed, d, &e);
	if (r == -ENOENT && !needed)
		return 0;
	for (size_t i = 0; supply && !r && i < ARRAY_SIZE(modules); i++)
		r = add_rule(rs, &e, modules[i], module_files);
	if (!r && import)
		r = add_rule(rs, &e, "__init__", NULL);
	return r;
}

bool supply_depends(const struct rule *r, const char *name)
{
	if (r->kind != RULE_SUPPLY)
		return false;
	for (size_t i = 0; r->instead_of && r->instead_of[i]; i++)
		if (!strcmp(r->instead_of[i], name))
			return true;
	return !strcmp(r->beside, name);
}
