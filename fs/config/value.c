/* SPDX-License-Identifier: MIT */
/* Typed values: see value.h. */
#include "config/value.h"

#include "base/dirglob.h"
#include "base/glob.h"
#include "base/path.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#define BLANKS " \t\r\v\f"

static const char *const dest_names[] = {
	[DEST_SCRATCH] = "scratch", [DEST_OWNER] = "owner", [DEST_SPEC] = "spec",
	[DEST_TRUNK] = "trunk",     [DEST_DENY] = "deny",
};

const char *dest_name(enum dest dest)
{
	return dest_names[dest];
}

int dest_parse(const char *word, enum dest *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(dest_names); i++) {
		if (!strcmp(dest_names[i], word)) {
			*ret = (enum dest)i;
			return 0;
		}
	}
	return -EINVAL;
}

int value_check_variables(const char *text, const char *allowed, const struct ini_place *at)
{
	for (const char *p = strstr(text, "${"); p; p = strstr(p + 2, "${")) {
		size_t len = strcspn(p + 2, "}");

		if (p[2 + len] != '}')
			return ini_fault(at, "'%s' has no closing brace, expected '${%s}'", p,
					 allowed ? allowed : "...");
		if (!allowed)
			return ini_fault(at, "unknown variable '%.*s', expected none here",
					 (int)len + 3, p);
		if (strlen(allowed) != len || strncmp(p + 2, allowed, len))
			return ini_fault(at, "unknown variable '%.*s', expected '${%s}'",
					 (int)len + 3, p, allowed);
	}
	return 0;
}

/* Is ".." a component of @path? */
static bool climbs(const char *path)
{
	for (; *path; path += *path == '/') {
		size_t len = strcspn(path, "/");

		if (len == 2 && path[0] == '.' && path[1] == '.')
			return true;
		path += len;
	}
	return false;
}

/* The clean form of @text, or NULL when out of memory. @text has no "..". */
static char *clean_copy(const char *text)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;
	size_t slashes = strspn(text, "/");

	if (slashes)
		strbuf_addc(&sb, '/');
	if (path_normalize(text + slashes, &sb) < 0)
		return NULL;
	return strbuf_detach(&sb);
}

static int set_string(char **field, char *value)
{
	if (!value)
		return -ENOMEM;
	free(*field);
	*field = value;
	return 0;
}

static int parse_path(const struct config_key *k, const char *text, const struct ini_place *at,
		      char **field)
{
	int r = value_check_variables(text, "backend", at);

	if (r < 0)
		return r;
	if (!*text)
		return ini_fault(at, "'%s' is empty, expected %s", k->name, k->unit);
	if (climbs(text))
		return ini_fault(at, "'..' in '%s', expected %s", text, k->unit);
	if (*text == '/' && k->type != KEY_FROM)
		return ini_fault(at, "'%s' begins with a slash, expected %s", text, k->unit);
	return set_string(field, clean_copy(text));
}

/* The number of @text among the words of @k->unit. */
static int parse_choice(const struct config_key *k, const char *text, const struct ini_place *at,
			unsigned *ret)
{
	cleanup_strv struct strv words = STRV_INIT;
	cleanup_strbuf struct strbuf list = STRBUF_INIT;
	int r = strv_add_words(&words, k->unit, "|");

	if (r < 0)
		return r;
	for (size_t i = 0; i < words.n; i++) {
		if (!strcmp(words.v[i], text)) {
			*ret = (unsigned)i;
			return 0;
		}
		strbuf_adds(&list, !i ? "" : i + 1 < words.n ? ", " : " or ");
		strbuf_adds(&list, words.v[i]);
	}
	return ini_fault(at, "'%s' for '%s', expected %s", text, k->name, list.buf);
}

static const char *check_path_word(const char *word)
{
	if (*word == '/' || climbs(word))
		return "a path of the view, without a slash in front and without '..'";
	return strpbrk(word, "*?[") ? "a path of the view, without globs" : NULL;
}

static int parse_list(const struct config_key *k, const char *text, const struct ini_place *at,
		      struct strv *field)
{
	cleanup_strv struct strv words = STRV_INIT;
	int r = value_check_variables(text, NULL, at);

	if (r < 0)
		return r;
	r = strv_add_words(&words, text, BLANKS);
	for (size_t i = 0; r >= 0 && i < words.n; i++) {
		const char *word = words.v[i];
		const char *wrong = k->type == KEY_PATTERNS ? glob_check(word)
				    : k->type == KEY_GLOBS  ? dirglob_check(word)
							    : check_path_word(word);
		cleanup_free char *clean = NULL;

		if (wrong && k->type == KEY_PATTERNS)
			return ini_fault(at, "'%s' is %s, expected a gitignore pattern", word,
					 wrong);
		if (wrong)
			return ini_fault(at, "'%s' for '%s', expected %s", word, k->name, wrong);
		if (k->type == KEY_PATHS)
			clean = clean_copy(word);
		if (k->type == KEY_PATHS && !clean)
			return -ENOMEM;
		r = strv_add(field, clean ? clean : word);
	}
	return r;
}

static int parse_text(const char *text, bool more, char **field)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;

	if (more && *field) {
		strbuf_adds(&sb, *field);
		strbuf_addc(&sb, '\n');
	}
	strbuf_adds(&sb, text);
	return set_string(field, strbuf_detach(&sb));
}

static bool may_go_on(enum key_type type)
{
	return type == KEY_CONTENT || type == KEY_PATTERNS || type == KEY_GLOBS ||
	       type == KEY_PATHS;
}

int value_parse(const struct config_key *k, const char *text, bool more, const struct ini_place *at,
		void *object)
{
	void *field = (char *)object + k->offset;
	unsigned choice = 0;
	int r;

	if (more && !may_go_on(k->type))
		return ini_fault(at, "'%s' goes on in an indented line, expected one line",
				 k->name);
	switch (k->type) {
	case KEY_CONTENT:
		r = value_check_variables(text, "backend", at);
		return r < 0 ? r : parse_text(text, more, field);
	case KEY_TEXT:
		return parse_text(text, more, field);
	case KEY_FLAG:
	case KEY_CHOICE:
		r = parse_choice(k, text, at, &choice);
		if (r < 0)
			return r;
		if (k->type == KEY_FLAG)
			*(bool *)field = choice;
		else
			*(unsigned *)field = choice;
		return 0;
	case KEY_AT:
	case KEY_FROM:
	case KEY_BELOW:
		return parse_path(k, text, at, field);
	case KEY_PATTERNS:
	case KEY_GLOBS:
	case KEY_PATHS:
		return parse_list(k, text, at, field);
	}
	return -EINVAL;
}

static int parse_class(const char *word, const struct ini_place *at, enum write_class *ret)
{
	static const struct {
		const char *word;
		enum write_class class;
	} classes[] = {
		{ "@ignored", WRITE_IGNORED },
		{ "@backend", WRITE_BACKEND },
		{ "@mapped", WRITE_MAPPED },
		{ "@any", WRITE_ANY },
	};

	if (*word != '@') {
		*ret = WRITE_GLOB;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		if (!strcmp(classes[i].word, word)) {
			*ret = classes[i].class;
			return 0;
		}
	}
	return ini_fault(at,
			 "unknown class '%s', expected @ignored, @backend, @mapped, @any or a "
			 "pattern",
			 word);
}

int value_parse_write(const char *pattern, const char *dest, const struct ini_place *at,
		      struct write_rule *ret)
{
	struct write_rule rule = { .line = at->line };
	const char *wrong;
	int r = parse_class(pattern, at, &rule.class);

	if (r < 0)
		return r;
	if (dest_parse(dest, &rule.dest) < 0)
		return ini_fault(
			at,
			"unknown destination '%s', expected scratch, owner, spec, trunk or "
			"deny",
			dest);
	if (rule.class == WRITE_GLOB) {
		r = value_check_variables(pattern, NULL, at);
		if (r < 0)
			return r;
		wrong = *pattern == '!' ? "a pattern that negates" : glob_check(pattern);
		if (!wrong && strpbrk(pattern, BLANKS))
			wrong = "a pattern with blanks";
		if (wrong)
			return ini_fault(at, "'%s' is %s, expected one gitignore pattern", pattern,
					 wrong);
		rule.pattern = strdup(pattern);
		if (!rule.pattern)
			return -ENOMEM;
	}
	*ret = rule;
	return 0;
}
