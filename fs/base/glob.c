/* SPDX-License-Identifier: MIT */
/*
 * gitignore patterns: see glob.h. One component is matched by fnmatch(3); "**" and anchoring, which
 * fnmatch does not know, are done here component by component.
 */
#include "base/glob.h"

#include <fnmatch.h>
#include <limits.h>
#include <string.h>

/* A pattern, taken apart. */
struct pattern {
	const char *text;      /* without "!", leading and trailing slash */
	size_t len;
	bool dir_only;
	bool anchored;
};

static struct pattern pattern_parse(const char *s)
{
	struct pattern p = { 0 };

	if (*s == '!')
		s++;
	if (*s == '\\' && (s[1] == '!' || s[1] == '#'))
		s++;
	p.len = strlen(s);
	if (p.len && s[p.len - 1] == '/') {
		p.dir_only = true;
		p.len--;
	}
	p.anchored = memchr(s, '/', p.len) != NULL;
	if (p.len && *s == '/') {
		s++;
		p.len--;
	}
	p.text = s;
	return p;
}

const char *glob_check(const char *pattern)
{
	struct pattern p = pattern_parse(pattern);

	if (!p.len)
		return "an empty pattern";
	if (p.len > NAME_MAX)
		return "a pattern of more than 255 bytes";
	for (size_t i = 0; i < p.len; i++)
		if (p.text[i] == '/' && (i + 1 == p.len || p.text[i + 1] == '/'))
			return "an empty component";
	return NULL;
}

/* Match one component of pattern and path, both not NUL-terminated. */
static bool component_match(const char *pat, size_t pat_len, const char *name, size_t name_len)
{
	char p[NAME_MAX + 1];
	char n[NAME_MAX + 1];

	if (pat_len > NAME_MAX || name_len > NAME_MAX)
		return false;
	memcpy(p, pat, pat_len);
	p[pat_len] = '\0';
	memcpy(n, name, name_len);
	n[name_len] = '\0';
	return fnmatch(p, n, 0) == 0;
}

static size_t component_len(const char *s, size_t len)
{
	const char *slash = memchr(s, '/', len);

	return slash ? (size_t)(slash - s) : len;
}

/*
 * Match an anchored pattern against a path. With @prefix_ok a path that is a proper prefix of
 * something the pattern matches counts as well.
 */
static bool path_match(const char *pat, size_t pat_len, const char *path, bool prefix_ok)
{
	while (pat_len) {
		size_t pc = component_len(pat, pat_len);
		size_t nc = strcspn(path, "/");
		const char *rest = pat + pc + (pc < pat_len);
		size_t rest_len = pat_len - (size_t)(rest - pat);

		if (pc == 2 && pat[0] == '*' && pat[1] == '*') {
			if (!rest_len)
				return *path || prefix_ok;
			if (prefix_ok)
				return true;
			for (;; path += strcspn(path, "/"), path += *path == '/') {
				if (path_match(rest, rest_len, path, false))
					return true;
				if (!*path)
					return false;
			}
		}
		if (!*path)
			return prefix_ok;
		if (!component_match(pat, pc, path, nc))
			return false;
		pat = rest;
		pat_len = rest_len;
		path += nc;
		path += *path == '/';
	}
	return !*path;
}

bool glob_match_one(const char *pattern, const char *path, bool is_dir)
{
	struct pattern p = pattern_parse(pattern);

	if (p.dir_only && !is_dir)
		return false;
	if (!p.anchored) {
		const char *slash = strrchr(path, '/');

		path = slash ? slash + 1 : path;
	}
	return path_match(p.text, p.len, path, false);
}

enum glob_match glob_match_list(const struct strv *patterns, const char *path, bool is_dir)
{
	for (size_t i = patterns->n; i-- > 0;)
		if (glob_match_one(patterns->v[i], path, is_dir))
			return patterns->v[i][0] == '!' ? GLOB_NEGATED : GLOB_MATCH;
	return GLOB_NONE;
}

bool glob_covers(const struct strv *patterns, const char *path, bool is_dir)
{
	cleanup_free char *prefix = NULL;

	if (!patterns->n)
		return false;
	if (!strchr(path, '/'))
		return glob_match_list(patterns, path, is_dir) == GLOB_MATCH;
	prefix = strdup(path);
	if (!prefix)
		return false;
	for (char *slash = strchr(prefix, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (glob_match_list(patterns, prefix, true) == GLOB_MATCH)
			return true;
		*slash = '/';
	}
	return glob_match_list(patterns, path, is_dir) == GLOB_MATCH;
}

bool glob_may_match_below(const struct strv *patterns, const char *dir)
{
	for (size_t i = 0; i < patterns->n; i++) {
		struct pattern p;

		if (patterns->v[i][0] == '!')
			continue;
		p = pattern_parse(patterns->v[i]);
		if (!p.anchored || path_match(p.text, p.len, dir, true))
			return true;
	}
	return false;
}
