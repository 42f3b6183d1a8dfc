/* SPDX-License-Identifier: MIT */
/* gitignore patterns. What is expected was compared with git check-ignore. */
#include "base/glob.h"

#include "check.h"
#include <stdio.h>

static void one_pattern(void **state)
{
	static const struct {
		const char *pattern;
		const char *path; /* a slash at the end: a directory */
		bool match;
	} cases[] = {
		{ "a", "a", true },
		{ "a", "x/y/a", true },
		{ "a", "x/a/", true },
		{ "a", "ab", false },
		{ "/a", "a", true },
		{ "/a", "x/a", false },
		{ "a/", "a/", true },
		{ "a/", "a", false },
		{ "a/", "x/a/", true },
		{ "/a/", "x/a/", false },
		{ "x/a", "x/a", true },
		{ "x/a", "y/x/a", false },
		{ "x/a/", "x/a/", true },
		{ "*.py", "t/x.py", true },
		{ "*.py", ".py", true },
		{ "*.py", "py", false },
		{ "*.py", "x.pyc", false },
		{ "ab*", "abc", true },
		{ "ab*", "a", false },
		{ "a?c", "abc", true },
		{ "a?c", "ac", false },
		{ "*a*", "bab", true },
		{ "*", "a/b", true },
		{ "/*", "a/b", false },
		{ "/*.py", "a.py", true },
		{ "/*.py", "a/b.py", false },
		{ "a/*", "a/b", true },
		{ "a/*", "a/b/c", false },
		{ "a/*", "a/", false },
		{ "?", "é", false },
		{ "[ab].c", "b.c", true },
		{ "[!ab].c", "b.c", false },
		{ "[^ab].c", "c.c", true },
		{ "*.py[cod]", "x.pyd", true },
		{ "**/a", "a", true },
		{ "**/a", "x/y/a", true },
		{ "a/**", "a/b/c", true },
		{ "a/**", "a/", false },
		{ "a/**/b", "a/b", true },
		{ "a/**/b", "a/x/y/b", true },
		{ "a/**/b", "a/x/y/c", false },
		{ "a/**/b/**/c", "a/1/b/2/3/c", true },
		{ "**", "a/b", true },
		{ "a**b", "a/b", false },
		{ "a**b", "axxb", true },
		{ "\\!a", "!a", true },
		{ "\\#a", "#a", true },
		{ "\\*", "*", true },
		{ "\\*", "a", false },
		{ "!a", "a", true },
		{ "a", "", false },
		{ "*", "", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char path[64];
		char what[128];
		size_t len = strlen(cases[i].path);
		bool is_dir = len && cases[i].path[len - 1] == '/';

		snprintf(path, sizeof(path), "%.*s", (int)(len - is_dir), cases[i].path);
		snprintf(what, sizeof(what), "'%s' on '%s'", cases[i].pattern, cases[i].path);
		check_int(what, glob_match_one(cases[i].pattern, path, is_dir), cases[i].match);
	}
}

static void the_last_match_decides(void **state)
{
	struct strv list = STRV_INIT;

	assert_int_equal(strv_add_words(&list, "*.c !keep.c /lib/keep.c", " "), 0);
	assert_int_equal(glob_match_list(&list, "a.c", false), GLOB_MATCH);
	assert_int_equal(glob_match_list(&list, "x/keep.c", false), GLOB_NEGATED);
	assert_int_equal(glob_match_list(&list, "lib/keep.c", false), GLOB_MATCH);
	assert_int_equal(glob_match_list(&list, "a.h", false), GLOB_NONE);
	strv_clear(&list);
	assert_int_equal(glob_match_list(&list, "a.c", false), GLOB_NONE);
}

static void a_covered_directory_covers_what_is_below(void **state)
{
	static const struct {
		const char *path;
		bool is_dir;
		bool covers;
	} cases[] = {
		{ "tools", true, true },          { "tools", false, false },
		{ "tools/a.py", false, true },    { "tools/sub/deep/a.py", false, true },
		{ "tools/keep.py", false, true }, /* as git: cannot come back below a match */
		{ "x/tools/a.py", false, false }, { "other/gen", true, true },
		{ "other/gen/a", false, true },   { "other", true, false },
		{ "keep.py", false, false },      { "", true, false },
	};
	struct strv list = STRV_INIT;

	assert_false(glob_covers(&list, "a/b", false));
	assert_int_equal(strv_add_words(&list, "/tools/ gen !keep.py", " "), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_int(cases[i].path, glob_covers(&list, cases[i].path, cases[i].is_dir),
			  cases[i].covers);
	strv_clear(&list);
}

static void what_may_match_below(void **state)
{
	static const struct {
		const char *patterns;
		const char *dir;
		bool may;
	} cases[] = {
		{ "/experimental/gluon/", "experimental", true },
		{ "/experimental/gluon/", "", true },
		{ "/experimental/gluon/", "runtime", false },
		{ "/experimental/gluon/", "experimental/tle", false },
		{ "/a/*/c", "a/b", true },
		{ "/a/*/c", "a/b/c/d", false },
		{ "a/**/c", "a/x/y", true },
		{ "*.td", "any/where", true },
		{ "!*.td", "any/where", false },
		{ "", "a", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct strv list = STRV_INIT;

		assert_int_equal(strv_add_words(&list, cases[i].patterns, " "), 0);
		check_int(cases[i].patterns, glob_may_match_below(&list, cases[i].dir),
			  cases[i].may);
		strv_clear(&list);
	}
}

static void what_names_paths_below(void **state)
{
	static const struct {
		const char *patterns;
		const char *dir;
		bool names;
	} cases[] = {
		{ "*.td __pycache__/", "any/where", false },
		{ "/a/b", "a", true },
		{ "/a/b", "a/b", true },
		{ "/a/b", "a/b/c", false },
		{ "/a/b", "c", false },
		{ "a/*/c", "a/x", true },
		{ "a/**", "a/x/y", true },
		{ "**/a/b", "x", true },
		{ "*.td !/a/b", "a", true },
		{ "/a/", "a/b", false },
		{ "", "a", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct strv list = STRV_INIT;

		assert_int_equal(strv_add_words(&list, cases[i].patterns, " "), 0);
		check_int(cases[i].patterns, glob_names_below(&list, cases[i].dir),
			  cases[i].names);
		strv_clear(&list);
	}
}

static void malformed_patterns(void **state)
{
	static const char *const bad[] = { "",    "/",   "!",    "!/", "a//b", "//a",
					   "a//", "./a", "a/..", "..", "a/./b" };
	static const char *const good[] = {
		"a", "/a/", "!/a", "**", "a/**/b", "...", ".a", "a/..b"
	};
	char longest[400];

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		check_int(bad[i], glob_check(bad[i]) != NULL, true);
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		check_int(good[i], glob_check(good[i]) != NULL, false);
	memset(longest, 'a', sizeof(longest));
	longest[399] = '\0';
	assert_non_null(glob_check(longest));
	assert_false(glob_match_one("a*", longest, false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_pattern),
		cmocka_unit_test(the_last_match_decides),
		cmocka_unit_test(a_covered_directory_covers_what_is_below),
		cmocka_unit_test(what_may_match_below),
		cmocka_unit_test(what_names_paths_below),
		cmocka_unit_test(malformed_patterns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
