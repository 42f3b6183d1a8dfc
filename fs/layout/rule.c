/* SPDX-License-Identifier: MIT */
/* Rules: see rule.h. */
#include "layout/rule.h"

#include "base/glob.h"
#include "base/path.h"

#include <limits.h>
#include <string.h>

#define MARK_START ".specfs-"

bool rule_is_mark(const char *name)
{
	if (strncmp(name, MARK_START, strlen(MARK_START)))
		return false;
	name += strlen(MARK_START);
	return !strcmp(name, "hide") || !strcmp(name, "base") || !strncmp(name, "tmp.", 4);
}

/* Does the first component of @rel fit the rule's glob? */
static bool first_name_fits(const struct rule *r, const char *rel)
{
	char name[NAME_MAX + 1];
	size_t len = strcspn(rel, "/");

	if (len > NAME_MAX)
		return false;
	memcpy(name, rel, len);
	name[len] = '\0';
	return glob_match_one(r->glob, name, true);
}

enum rule_place rule_place(const struct rule *r, const char *path, const char **ret_rel)
{
	const char *rel = path_below(path, r->at);

	if (!rel || (r->glob && !*rel))
		return path_below(r->at, path) ? RULE_ABOVE : RULE_OUTSIDE;
	if (r->glob && !first_name_fits(r, rel))
		return RULE_OUTSIDE;
	*ret_rel = rel;
	return RULE_INSIDE;
}

/* Is a component of @rel a mark? Interim trees are marks with something below them. */
static bool has_mark(const char *rel)
{
	for (const char *p = strstr(rel, MARK_START); p; p = strstr(p + 1, MARK_START)) {
		char name[NAME_MAX + 1];
		size_t len = strcspn(p, "/");

		if ((p > rel && p[-1] != '/') || len > NAME_MAX)
			continue;
		memcpy(name, p, len);
		name[len] = '\0';
		if (rule_is_mark(name))
			return true;
	}
	return false;
}

static bool patterns_show(const struct rule *r, const char *rel, bool is_dir)
{
	if (r->except.n && glob_covers(&r->except, rel, is_dir))
		return false;
	if (!r->only.n || glob_covers(&r->only, rel, is_dir))
		return true;
	return is_dir && glob_may_match_below(&r->only, rel);
}

/* Is the directory made of the first @len bytes of @rel hijacked, or one above it? */
static bool hijacked_from(const char *rel, size_t len, rule_is_hijacked_fn is_hijacked, void *arg)
{
	cleanup_free char *dir = strndup(rel, len);

	if (!dir)
		return false;
	for (;;) {
		char *slash;

		if (is_hijacked(arg, dir))
			return true;
		if (!*dir)
			return false;
		slash = strrchr(dir, '/');
		*(slash ? slash : dir) = '\0';
	}
}

static bool hijack_shows(const char *rel, bool is_dir, rule_is_hijacked_fn is_hijacked, void *arg)
{
	size_t parent = path_parent_len(rel);

	if (is_dir)
		return true; /* the way to a package that may be hijacked */
	if (!strcmp(path_base(rel), "__init__.py")) {
		if (!parent)
			return false;
		while (parent && rel[parent - 1] != '/')
			parent--;
		parent -= parent > 0;
	}
	return hijacked_from(rel, parent, is_hijacked, arg);
}

bool rule_is_hijacked(const char *rel, rule_is_hijacked_fn is_hijacked, void *arg)
{
	return hijacked_from(rel, strlen(rel), is_hijacked, arg);
}

bool rule_shows(const struct rule *r, const char *rel, bool is_dir, rule_is_hijacked_fn is_hijacked,
		void *arg)
{
	if (!*rel)
		return true;
	if (has_mark(rel) || !patterns_show(r, rel, is_dir))
		return false;
	return !r->hijack || hijack_shows(rel, is_dir, is_hijacked, arg);
}

bool rule_covers(const struct rule *r, const char *rel, bool is_dir,
		 rule_is_hijacked_fn is_hijacked, void *arg)
{
	if (!rule_shows(r, rel, is_dir, is_hijacked, arg))
		return false;
	if (r->only.n && !(*rel && glob_covers(&r->only, rel, is_dir)))
		return false;
	return !r->hijack || !is_dir || rule_is_hijacked(rel, is_hijacked, arg);
}

bool rule_names_below(const struct rule *r, const char *rel)
{
	return r->hijack || glob_names_below(&r->only, rel) || glob_names_below(&r->except, rel);
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

bool rule_equal(const struct rule *a, const struct rule *b)
{
	return a->kind == b->kind && a->role == b->role && a->opaque == b->opaque &&
	       a->hijack == b->hijack && a->packages_opaque == b->packages_opaque &&
	       same_text(a->name, b->name) && same_text(a->backend, b->backend) &&
	       same_text(a->at, b->at) && same_text(a->from, b->from) &&
	       same_text(a->glob, b->glob) && same_text(a->content, b->content) &&
	       same_text(a->when, b->when) && same_text(a->unless, b->unless) &&
	       strv_equal(&a->only, &b->only) && strv_equal(&a->except, &b->except) &&
	       same_text(a->beside, b->beside) && a->instead_of == b->instead_of;
}

void rule_clear(struct rule *r)
{
	free(r->name);
	free(r->backend);
	free(r->at);
	free(r->from);
	free(r->glob);
	free(r->content);
	free(r->when);
	free(r->unless);
	strv_clear(&r->only);
	strv_clear(&r->except);
	*r = (struct rule){ 0 };
}
