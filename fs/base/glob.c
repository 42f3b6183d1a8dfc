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
	const char *text; /* without "!", leading and trailing slash */
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

static size_t component_len(const char *s, size_t len)
{
	const char *slash = memchr(s, '/', len);

	return slash ? (size_t)(slash - s) : len;
}

const char *glob_check(const char *pattern)
{
	struct pattern p = pattern_parse(pattern);

	if (!p.len)
		return "an empty pattern";
	if (p.len > NAME_MAX)
		return "a pattern of more than 255 bytes";
	for (size_t i = 0; i < p.len;) {
		size_t n = component_len(p.text + i, p.len - i);

		if (!n || i + n + 1 == p.len)
			return "a pattern with an empty component";
		if (n <= 2 && !memcmp(p.text + i, "..", n))
			return "a pattern with '.' or '..'";
		i += n + 1;
	}
	return NULL;
}

/* How many bytes of @s stand for themselves, from its beginning? */
static size_t literal_len(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && s[n] != '*' && s[n] != '?' && s[n] != '[' && s[n] != '\\')
		n++;
	return n;
}

/*
 * Match one component of pattern and path, both not NUL-terminated. Nearly all patterns are plain
 * names or "*.suffix", and nearly all names differ in the first byte: that needs no fnmatch.
 */
static bool component_match(const char *pat, size_t pat_len, const char *name, size_t name_len)
{
	size_t literal = literal_len(pat, pat_len);
	char p[NAME_MAX + 1];
	char n[NAME_MAX + 1];

	if (pat_len > NAME_MAX || name_len > NAME_MAX || name_len < literal ||
	    memcmp(pat, name, literal))
		return false;
	if (literal == pat_len)
		return name_len == pat_len;
	if (!literal && *pat == '*') {
		size_t run = literal_len(pat + 1, pat_len - 1);

		if (run == pat_len - 1)
			return name_len >= run && !memcmp(pat + 1, name + name_len - run, run);
		if (run && !memmem(name, name_len, pat + 1, run))
			return false;
	}
	memcpy(p, pat, pat_len);
	p[pat_len] = '\0';
	memcpy(n, name, name_len);
	n[name_len] = '\0';
	return fnmatch(p, n, 0) == 0;
}

/* A path, or the first bytes of one. */
struct piece {
	const char *s;
	size_t len;
};

/* What follows the first component of @p. */
static struct piece piece_rest(struct piece p)
{
	size_t n = component_len(p.s, p.len);

	n += n < p.len;
	return (struct piece){ p.s + n, p.len - n };
}

/*
 * Match an anchored pattern against a path. With @prefix_ok a path that is a proper prefix of
 * something the pattern matches counts as well.
 */
static bool path_match(struct piece pat, struct piece path, bool prefix_ok)
{
	for (; pat.len; pat = piece_rest(pat), path = piece_rest(path)) {
		size_t n = component_len(pat.s, pat.len);

		if (n == 2 && pat.s[0] == '*' && pat.s[1] == '*') {
			struct piece rest = piece_rest(pat);

			if (!rest.len)
				return path.len || prefix_ok;
			if (prefix_ok)
				return true;
			for (;; path = piece_rest(path)) {
				if (path_match(rest, path, false))
					return true;
				if (!path.len)
					return false;
			}
		}
		if (!path.len)
			return prefix_ok;
		if (!component_match(pat.s, n, path.s, component_len(path.s, path.len)))
			return false;
	}
	return !path.len;
}

/* The last component of @path. */
static struct piece piece_last(struct piece path)
{
	const char *slash = memrchr(path.s, '/', path.len);
	size_t skip = slash ? (size_t)(slash + 1 - path.s) : 0;

	return (struct piece){ path.s + skip, path.len - skip };
}

/* By the first bytes alone: false means no. @last: the last component of @path */
static bool may_match(const char *pattern, struct piece path, struct piece last)
{
	bool from_root;

	pattern += *pattern == '!';
	from_root = *pattern == '/';
	pattern += from_root;
	if (!literal_len(pattern, 1) || !path.len)
		return true;
	return *path.s == *pattern || (!from_root && last.len && *last.s == *pattern);
}

static bool match_piece(const char *pattern, struct piece path, struct piece last, bool is_dir)
{
	struct pattern p;

	if (!may_match(pattern, path, last))
		return false;
	p = pattern_parse(pattern);
	if (p.dir_only && !is_dir)
		return false;
	return path_match((struct piece){ p.text, p.len }, p.anchored ? path : last, false);
}

bool glob_match_one(const char *pattern, const char *path, bool is_dir)
{
	struct piece whole = { path, strlen(path) };

	return match_piece(pattern, whole, piece_last(whole), is_dir);
}

static enum glob_match match_list(const struct strv *patterns, struct piece path, bool is_dir)
{
	struct piece last = piece_last(path);

	for (size_t i = patterns->n; i-- > 0;)
		if (match_piece(patterns->v[i], path, last, is_dir))
			return patterns->v[i][0] == '!' ? GLOB_NEGATED : GLOB_MATCH;
	return GLOB_NONE;
}

enum glob_match glob_match_list(const struct strv *patterns, const char *path, bool is_dir)
{
	return match_list(patterns, (struct piece){ path, strlen(path) }, is_dir);
}

bool glob_covers(const struct strv *patterns, const char *path, bool is_dir)
{
	if (!patterns->n)
		return false;
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/'))
		if (match_list(patterns, (struct piece){ path, (size_t)(slash - path) }, true) ==
		    GLOB_MATCH)
			return true;
	return glob_match_list(patterns, path, is_dir) == GLOB_MATCH;
}

bool glob_may_match_below(const struct strv *patterns, const char *dir)
{
	for (size_t i = 0; i < patterns->n; i++) {
		struct pattern p;

		if (patterns->v[i][0] == '!')
			continue;
		p = pattern_parse(patterns->v[i]);
		if (!p.anchored || path_match((struct piece){ p.text, p.len },
					      (struct piece){ dir, strlen(dir) }, true))
			return true;
	}
	return false;
}

bool glob_names_below(const struct strv *patterns, const char *dir)
{
	const struct piece path = { dir, strlen(dir) };

	for (size_t i = 0; i < patterns->n; i++) {
		struct pattern p = pattern_parse(patterns->v[i]);

		if (p.anchored && path_match((struct piece){ p.text, p.len }, path, true))
			return true;
	}
	return false;
}
