/* SPDX-License-Identifier: MIT */
/*
 * Profiles: see profile.h. This file puts the sections of one INI file together; where profiles
 * are found is find.c's business.
 */
#include "config/profile.h"

#include "base/path.h"
#include "config/ini.h"
#include "config/keys.h"
#include "config/value.h"

#include <errno.h>
#include <string.h>

/* What one run of profile_load() knows. */
struct loading {
	struct profile *profile;
	const struct config_section *section; /* being read; NULL after a faulty header */
	struct profile_rule *rule;            /* the same, if it is a rule's */
	struct strv sections;                 /* kinds seen, those without a name */
	struct strv keys;                     /* seen in this section */
};

static enum rule_kind kind_of(const char *section)
{
	if (!strcmp(section, "map"))
		return RULE_MAP;
	if (!strcmp(section, "graft"))
		return RULE_GRAFT;
	return !strcmp(section, "link") ? RULE_LINK : RULE_FILE;
}

static const char *kind_name(enum rule_kind kind)
{
	static const char *const names[] = {
		[RULE_MAP] = "map",
		[RULE_GRAFT] = "graft",
		[RULE_LINK] = "link",
		[RULE_FILE] = "file",
	};

	return names[kind];
}

/* Append an element of @size bytes, zeroed, to an array. */
static void *append(void *array, size_t n, size_t size)
{
	char *grown = reallocarray(array, n + 1, size);

	if (grown)
		memset(grown + n * size, 0, size);
	return grown;
}

/* Append "a, b or c" to @ret: the kinds of sections, or the keys of sections of @kind. */
static void add_choices(const char *kind, struct strbuf *ret)
{
	size_t total = kind ? n_config_keys : n_config_sections;
	size_t last = 0;
	bool first = true;

	for (size_t i = 0; i < total; i++)
		if (!kind || !strcmp(config_keys[i].section, kind))
			last = i;
	for (size_t i = 0; i <= last; i++) {
		if (kind && strcmp(config_keys[i].section, kind))
			continue;
		strbuf_adds(ret, first ? "" : i < last ? ", " : " or ");
		strbuf_adds(ret, kind ? config_keys[i].name : config_sections[i].kind);
		first = false;
	}
}

static int begin_rule(struct loading *l, const struct ini_place *at, const char *name)
{
	struct profile *p = l->profile;
	enum rule_kind kind = kind_of(l->section->kind);
	struct profile_rule *rules;

	for (size_t i = 0; i < p->n_rules; i++)
		if (p->rules[i].kind == kind && !strcmp(p->rules[i].name, name))
			return ini_fault(at,
					 "[%s %s] stands in line %u already, expected another name",
					 kind_name(kind), name, p->rules[i].line);
	rules = append(p->rules, p->n_rules, sizeof(*rules));
	if (!rules)
		return -ENOMEM;
	p->rules = rules;
	l->rule = &rules[p->n_rules++];
	l->rule->kind = kind;
	l->rule->line = at->line;
	l->rule->name = strdup(name);
	return l->rule->name ? 0 : -ENOMEM;
}

static int begin_section(void *arg, const struct ini_place *at, const char *kind, const char *name)
{
	cleanup_strbuf struct strbuf choices = STRBUF_INIT;
	struct loading *l = arg;
	const struct config_section *s = config_section_find(kind);

	l->section = NULL;
	l->rule = NULL;
	strv_clear(&l->keys);
	if (!s) {
		add_choices(NULL, &choices);
		return ini_fault(at, "unknown section '[%s]', expected %s", kind, choices.buf);
	}
	if (s->named && !*name)
		return ini_fault(at, "section '[%s]' has no name, expected '[%s NAME]'", kind,
				 kind);
	if (!s->named && *name)
		return ini_fault(at, "section '[%s %s]' has a name, expected '[%s]'", kind, name,
				 kind);
	if (!s->named && strv_has(&l->sections, kind))
		return ini_fault(at, "a second section '[%s]', expected one", kind);
	l->section = s;
	return s->named ? begin_rule(l, at, name) : strv_add(&l->sections, kind);
}

static int add_write(struct profile *p, const struct ini_place *at, const char *pattern,
		     const char *dest)
{
	struct write_rule *writes;
	int r;

	for (size_t i = 0; i < p->n_writes; i++)
		if (p->writes[i].class == WRITE_ANY)
			return ini_fault(
				at, "a rule below '@any', which leaves nothing to it, expected "
				    "@any to be the last");
	writes = append(p->writes, p->n_writes, sizeof(*writes));
	if (!writes)
		return -ENOMEM;
	p->writes = writes;
	r = value_parse_write(pattern, dest, at, &writes[p->n_writes]);
	if (!r)
		p->n_writes++;
	return r;
}

static bool is_list(enum key_type type)
{
	return type == KEY_PATTERNS || type == KEY_GLOBS || type == KEY_PATHS;
}

static int take_value(void *arg, const struct ini_place *at, const char *name, const char *value,
		      bool more)
{
	cleanup_strbuf struct strbuf choices = STRBUF_INIT;
	struct loading *l = arg;
	const struct config_key *k;

	if (!l->section || (l->section->named && !l->rule))
		return 0; /* what is wrong with its header has been told */
	if (l->section->free_keys && more)
		return ini_fault(
			at,
			"an indented line in [%s], expected 'pattern = destination' at its "
			"beginning",
			l->section->kind);
	if (l->section->free_keys)
		return add_write(l->profile, at, name, value);
	k = config_key_find(l->section->kind, name);
	if (!k && more)
		return 0; /* its first line was told */
	if (!k) {
		add_choices(l->section->kind, &choices);
		return ini_fault(at, "unknown key '%s' in [%s], expected %s", name,
				 l->section->kind, choices.buf);
	}
	if (!more && strv_has(&l->keys, name) && !is_list(k->type))
		return ini_fault(at, "a second '%s' in this section, expected one", name);
	if (!more && strv_add(&l->keys, name) < 0)
		return -ENOMEM;
	return value_parse(k, value, more, at, l->rule ? (void *)l->rule : (void *)l->profile);
}

/* A path with a glob where none can be; @last_too: also not in its last component. */
static bool has_stray_glob(const char *path, bool last_too)
{
	const char *hit = strpbrk(path, "*?[");

	return hit && (last_too || strchr(hit, '/'));
}

static int check_rule(const struct profile_rule *rule, const struct ini_place *at)
{
	const char *kind = kind_name(rule->kind);
	bool takes_glob = rule->kind == RULE_GRAFT || rule->kind == RULE_LINK;

	for (size_t i = 0; i < n_config_keys; i++) {
		const struct config_key *k = &config_keys[i];
		char *const *field = (char *const *)((const char *)rule + k->offset);

		if (k->required && !strcmp(k->section, kind) && !*field)
			return ini_fault(at, "[%s %s] has no '%s', expected %s", kind, rule->name,
					 k->name, k->unit);
	}
	if (has_stray_glob(rule->at, true))
		return ini_fault(at, "a glob in 'at = %s' of [%s %s], expected a plain path",
				 rule->at, kind, rule->name);
	if (rule->from && has_stray_glob(rule->from, !takes_glob))
		return ini_fault(at, "a glob in '%s' of [%s %s], expected %s", rule->from, kind,
				 rule->name,
				 takes_glob ? "one in the last component only" : "none");
	if (rule->kind != RULE_MAP && !*rule->at && !(rule->from && strpbrk(rule->from, "*?[")))
		return ini_fault(at,
				 "[%s %s] is at the root of the view, expected a place below it",
				 kind, rule->name);
	if (path_below(rule->at, ".specfs"))
		return ini_fault(at,
				 "[%s %s] is at '%s', which is the view's control directory, "
				 "expected another place",
				 kind, rule->name, rule->at);
	return 0;
}

/* What can only be judged once the whole file is read. */
static int check_rules(const struct profile *p, struct diag *d)
{
	int r = 0;

	for (size_t i = 0; i < p->n_rules; i++) {
		struct ini_place at = { d, p->file, p->rules[i].line };

		if (check_rule(&p->rules[i], &at) < 0)
			r = -EINVAL;
	}
	return r;
}

/* The file's name without its directory and without ".ini". */
static char *name_of_file(const char *file)
{
	const char *base = strrchr(file, '/');
	size_t len;

	base = base ? base + 1 : file;
	len = strlen(base);
	if (len > 4 && !strcmp(base + len - 4, ".ini"))
		len -= 4;
	return strndup(base, len);
}

/* Fill in the table's defaults for what a section left out; flags and choices count from 0. */
static int set_defaults(struct profile *p)
{
	if (!p->name || !*p->name) {
		free(p->name);
		p->name = name_of_file(p->file);
	}
	if (!p->description)
		p->description = strdup("");
	for (size_t i = 0; i < p->n_rules; i++) {
		struct profile_rule *rule = &p->rules[i];

		if (rule->kind == RULE_FILE && !rule->content) {
			rule->content = strdup("");
			if (!rule->content)
				return -ENOMEM;
		}
	}
	return p->name && p->description ? 0 : -ENOMEM;
}

int profile_load(const char *file, struct diag *d, struct profile **ret)
{
	static const struct ini_handler handler = { begin_section, take_value };
	cleanup_profile struct profile *p = calloc(1, sizeof(*p));
	struct loading l = { .profile = p };
	int r;

	if (!p)
		return -ENOMEM;
	p->file = strdup(file);
	if (!p->file)
		return -ENOMEM;
	if (stat(file, &p->st) < 0)
		p->st = (struct stat){ 0 }; /* reading it says why */
	r = ini_read_file(file, d, &handler, &l);
	strv_clear(&l.sections);
	strv_clear(&l.keys);
	if (r < 0 && r != -EINVAL)
		return r;
	if (check_rules(p, d) < 0)
		r = -EINVAL;
	if (r < 0)
		return r;
	r = set_defaults(p);
	if (r < 0)
		return r;
	*ret = steal_ptr(&p);
	return 0;
}

static void rule_free(struct profile_rule *rule)
{
	free(rule->name);
	free(rule->at);
	free(rule->from);
	free(rule->content);
	free(rule->when);
	free(rule->unless);
	strv_clear(&rule->only);
	strv_clear(&rule->except);
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	free(p->name);
	free(p->description);
	free(p->file);
	strv_clear(&p->detect);
	strv_clear(&p->backends);
	for (size_t i = 0; i < p->n_rules; i++)
		rule_free(&p->rules[i]);
	free(p->rules);
	strv_clear(&p->hide);
	strv_clear(&p->hide_links);
	strv_clear(&p->redirect);
	for (size_t i = 0; i < p->n_writes; i++)
		free(p->writes[i].pattern);
	free(p->writes);
	free(p);
}
