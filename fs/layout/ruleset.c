/* SPDX-License-Identifier: MIT */
/* The ruleset: see ruleset.h. */
#include "layout/ruleset.h"

#include "base/glob.h"
#include "base/path.h"

#include <errno.h>
#include <string.h>

#define VARIABLE "${backend}"

static bool holds_variable(const char *s)
{
	return s && strstr(s, VARIABLE);
}

static bool needs_backend(const struct profile_rule *pr)
{
	return holds_variable(pr->at) || holds_variable(pr->from) || holds_variable(pr->content) ||
	       holds_variable(pr->when) || holds_variable(pr->unless);
}

/* A copy of @s with the backend's name filled in; NULL stays NULL. */
static int fill(const char *s, const char *backend, char **ret)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;

	if (!s)
		return 0;
	for (const char *p; (p = strstr(s, VARIABLE)); s = p + strlen(VARIABLE)) {
		strbuf_add(&sb, s, (size_t)(p - s));
		strbuf_adds(&sb, backend);
	}
	strbuf_adds(&sb, s);
	*ret = strbuf_detach(&sb);
	return *ret ? 0 : -ENOMEM;
}

static int copy_list(const struct strv *from, struct strv *to)
{
	for (size_t i = 0; i < from->n; i++)
		if (strv_add(to, from->v[i]) < 0)
			return -ENOMEM;
	return 0;
}

/* Fill @from in; of a graft or link, a glob in the last component is split off. */
static int fill_from(const struct profile_rule *pr, const char *backend, struct rule *r)
{
	cleanup_free char *dir = NULL;
	const char *base = pr->from ? path_base(pr->from) : "";
	size_t len;

	if ((pr->kind != RULE_GRAFT && pr->kind != RULE_LINK) || !strpbrk(base, "*?["))
		return fill(pr->from, backend, &r->from);
	len = (size_t)(base - pr->from);
	if (len > 1)
		len--; /* the slash; that of "/" itself stays */
	dir = strndup(pr->from, len);
	if (!dir || fill(base, backend, &r->glob) < 0)
		return -ENOMEM;
	return fill(dir, backend, &r->from);
}

static int rule_init(const struct profile *p, const struct profile_rule *pr, const char *backend,
		     struct rule *r)
{
	static const char *const words[] = {
		[RULE_MAP] = "map",
		[RULE_GRAFT] = "graft",
		[RULE_LINK] = "link",
		[RULE_FILE] = "file",
	};
	cleanup_strbuf struct strbuf name = STRBUF_INIT;

	r->kind = pr->kind;
	r->role = pr->role;
	r->opaque = pr->opaque;
	r->hijack = pr->hijack;
	r->line = pr->line;
	r->packages_opaque = pr->kind == RULE_MAP && p->packages_opaque;
	strbuf_addf(&name, "%s %s", words[pr->kind], pr->name);
	r->name = strbuf_detach(&name);
	if (!r->name || fill(backend, "", &r->backend) < 0 || fill(pr->at, backend, &r->at) < 0 ||
	    fill_from(pr, backend, r) < 0 || fill(pr->content, backend, &r->content) < 0 ||
	    fill(pr->when, backend, &r->when) < 0 || fill(pr->unless, backend, &r->unless) < 0 ||
	    copy_list(&pr->only, &r->only) < 0 || copy_list(&pr->except, &r->except) < 0)
		return -ENOMEM;
	return 0;
}

static bool is_generated(enum rule_kind kind)
{
	return kind == RULE_FILE || kind == RULE_LINK;
}

static bool is_graft(enum rule_kind kind)
{
	return kind == RULE_GRAFT;
}

static bool is_map(enum rule_kind kind)
{
	return kind == RULE_MAP;
}

/* Has a more special backend made the same file or link by the same section already? */
static bool is_repeated(const struct ruleset *rs, const struct rule *r)
{
	for (size_t i = 0; i < rs->n_rules; i++)
		if (is_generated(r->kind) && !r->glob && !strcmp(rs->rules[i].name, r->name) &&
		    !strcmp(rs->rules[i].at, r->at))
			return true;
	return false;
}

static int add_rule(struct ruleset *rs, const struct profile_rule *pr, const char *backend)
{
	struct rule *rules = reallocarray(rs->rules, rs->n_rules + 1, sizeof(*rules));
	struct rule *r;
	int err;

	if (!rules)
		return -ENOMEM;
	rs->rules = rules;
	r = &rules[rs->n_rules];
	*r = (struct rule){ 0 };
	err = rule_init(rs->profile, pr, backend, r);
	if (err < 0 || is_repeated(rs, r))
		rule_clear(r);
	else
		rs->n_rules++;
	return err;
}

/* Everything of the profile that is of the wanted kind and names a backend, or names none. */
static int add_rules(struct ruleset *rs, bool wanted(enum rule_kind kind), const char *backend)
{
	for (size_t i = 0; i < rs->profile->n_rules; i++) {
		const struct profile_rule *pr = &rs->profile->rules[i];
		int r;

		if (!wanted(pr->kind) || needs_backend(pr) != (backend != NULL))
			continue;
		r = add_rule(rs, pr, backend);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Rules of each backend in the chain's order, then those of none. */
static int add_chain(struct ruleset *rs, bool wanted(enum rule_kind kind))
{
	int r = 0;

	for (size_t i = 0; !r && i < rs->backends.n; i++)
		r = add_rules(rs, wanted, rs->backends.v[i]);
	return r ? r : add_rules(rs, wanted, NULL);
}

/* One backend's name is one component, and not one of the checkout's hidden directories. */
static int check_chain(const struct profile *p, const struct strv *backends, struct diag *d)
{
	for (size_t i = 0; i < backends->n; i++) {
		const char *name = backends->v[i];

		if (!*name || strchr(name, '/') || *name == '.')
			return diag_add(d, -EINVAL, NULL, 0,
					"'%s' is no backend's name, expected one "
					"directory name that does not begin with a dot",
					name);
		for (size_t j = 0; j < i; j++)
			if (!strcmp(backends->v[j], name))
				return diag_add(d, -EINVAL, NULL, 0,
						"backend '%s' stands twice in the "
						"chain, expected once",
						name);
	}
	return 0;
}

/* The line of the section that came second. */
static unsigned later(const struct rule *a, const struct rule *b)
{
	return a->line > b->line ? a->line : b->line;
}

/* Two sections of the profile must not make the same place, nor a file or link one above another.
 */
static int check_places(const struct ruleset *rs, struct diag *d)
{
	for (size_t i = 0; i < rs->n_rules; i++) {
		const struct rule *a = &rs->rules[i];

		if (a->kind == RULE_MAP || a->glob)
			continue;
		for (size_t j = 0; j < rs->n_rules; j++) {
			const struct rule *b = &rs->rules[j];
			const char *rest = path_below(b->at, a->at);

			if (j == i || b->kind == RULE_MAP || !rest || !strcmp(a->name, b->name))
				continue;
			if (!*rest && !b->glob)
				return diag_add(d, -EINVAL, rs->profile->file, later(a, b),
						"[%s] and [%s] are both "
						"at '%s', expected one",
						a->name, b->name, a->at);
			if (is_generated(a->kind))
				return diag_add(d, -EINVAL, rs->profile->file, b->line,
						"[%s] at '%s' lies below "
						"[%s] at '%s', which is no directory",
						b->name, b->at, a->name, a->at);
		}
	}
	return 0;
}

int ruleset_new(const struct profile *p, const struct strv *backends, struct diag *d,
		struct ruleset **ret)
{
	cleanup_ruleset struct ruleset *rs = NULL;
	int r = check_chain(p, backends, d);

	if (r < 0)
		return r;
	rs = calloc(1, sizeof(*rs));
	if (!rs)
		return -ENOMEM;
	rs->profile = p;
	r = copy_list(backends, &rs->backends);
	if (!r)
		r = add_chain(rs, is_generated);
	if (!r)
		r = add_chain(rs, is_graft);
	if (!r)
		r = add_chain(rs, is_map);
	if (!r)
		r = check_places(rs, d);
	if (r < 0)
		return r;
	*ret = steal_ptr(&rs);
	return 0;
}

void ruleset_free(struct ruleset *rs)
{
	if (!rs)
		return;
	for (size_t i = 0; i < rs->n_rules; i++)
		rule_clear(&rs->rules[i]);
	free(rs->rules);
	strv_clear(&rs->backends);
	free(rs);
}

bool ruleset_hides(const struct ruleset *rs, const char *path, bool is_dir, bool is_link)
{
	return glob_covers(&rs->profile->hide, path, is_dir) ||
	       (is_link && glob_match_list(&rs->profile->hide_links, path, false) == GLOB_MATCH);
}

bool ruleset_names_below(const struct ruleset *rs, const char *path)
{
	return glob_names_below(&rs->profile->hide, path) ||
	       glob_names_below(&rs->profile->hide_links, path);
}

const struct rule *ruleset_map_of(const struct ruleset *rs, const char *path, bool is_dir,
				  rule_is_hijacked_fn is_hijacked, void *arg)
{
	if (ruleset_hides(rs, path, is_dir, false))
		return NULL;
	for (size_t i = 0; i < rs->n_rules; i++) {
		const struct rule *r = &rs->rules[i];
		const char *rel;

		if (r->kind != RULE_MAP || r->role != ROLE_SHADOW ||
		    rule_place(r, path, &rel) != RULE_INSIDE)
			continue;
		if (rule_covers(r, rel, is_dir, is_hijacked, arg))
			return r;
	}
	return NULL;
}

static bool write_matches(const struct ruleset *rs, const struct write_rule *w,
			  const struct write_facts *f)
{
	switch (w->class) {
	case WRITE_GLOB: {
		char *one[] = { w->pattern, NULL };
		struct strv list = { .v = one, .n = 1 };

		return glob_covers(&list, f->path, f->is_dir);
	}
	case WRITE_IGNORED:
		return f->ignored || ruleset_hides(rs, f->path, f->is_dir, f->is_link);
	case WRITE_BACKEND:
		return f->backend_owned && !f->is_new;
	case WRITE_MAPPED:
		return f->mapped;
	case WRITE_ANY:
		return true;
	}
	return false;
}

const struct write_rule *ruleset_write_rule(const struct ruleset *rs, const struct write_facts *f)
{
	for (size_t i = 0; i < rs->profile->n_writes; i++)
		if (write_matches(rs, &rs->profile->writes[i], f))
			return &rs->profile->writes[i];
	return NULL;
}
