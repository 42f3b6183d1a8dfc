/* SPDX-License-Identifier: MIT */
/* Rules: pure path algebra. */
#include "layout/rule.h"

#include <stdio.h>

#include "check.h"

static void places(void **state)
{
	static const struct {
		const char *at;
		const char *glob;
		const char *path;
		enum rule_place place;
		const char *rel;
	} cases[] = {
		{ "a/b", NULL, "", RULE_ABOVE, NULL },
		{ "a/b", NULL, "a", RULE_ABOVE, NULL },
		{ "a/b", NULL, "a/b", RULE_INSIDE, "" },
		{ "a/b", NULL, "a/b/c", RULE_INSIDE, "c" },
		{ "a/b", NULL, "a/bc", RULE_OUTSIDE, NULL },
		{ "a/b", NULL, "x", RULE_OUTSIDE, NULL },
		{ "", NULL, "", RULE_INSIDE, "" },
		{ "", NULL, "x/y", RULE_INSIDE, "x/y" },
		{ "a", "*", "", RULE_ABOVE, NULL },
		{ "a", "*", "a", RULE_ABOVE, NULL },
		{ "a", "*", "a/n", RULE_INSIDE, "n" },
		{ "a", "*", "a/n/m", RULE_INSIDE, "n/m" },
		{ "a", "k*", "a/n", RULE_OUTSIDE, NULL },
		{ "a", "k*", "a/kk/n", RULE_INSIDE, "kk/n" },
		{ "a", "*", "b/n", RULE_OUTSIDE, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct rule r = { .at = (char *)cases[i].at, .glob = (char *)cases[i].glob };
		const char *rel = NULL;

		check_int(cases[i].path, rule_place(&r, cases[i].path, &rel), cases[i].place);
		if (cases[i].rel)
			check_str(cases[i].path, rel, cases[i].rel);
		else
			check_int(cases[i].path, rel == NULL, true);
	}
}

/* @arg: blank-separated package directories that are hijacked; "." is the root. */
static bool in_list(void *arg, const char *dir)
{
	struct strv words = STRV_INIT;
	bool has;

	assert_int_equal(strv_add_words(&words, arg, " "), 0);
	has = strv_has(&words, *dir ? dir : ".");
	strv_clear(&words);
	return has;
}

static void what_patterns_show(void **state)
{
	static const struct {
		const char *only;
		const char *except;
		const char *rel; /* a slash at the end: a directory */
		bool shows;
		bool covers;
	} cases[] = {
		{ "", "", "a", true, true },
		{ "", "", "a/", true, true },
		{ "", "CMakeLists.txt", "x/CMakeLists.txt", false, false },
		{ "", "CMakeLists.txt", "x/a.cpp", true, true },
		{ "/tools/", "/tools/__init__.py", "tools/", true, true },
		{ "/tools/", "/tools/__init__.py", "tools/a.py", true, true },
		{ "/tools/", "/tools/__init__.py", "tools/__init__.py", false, false },
		{ "/tools/", "/tools/__init__.py", "tools/sub/__init__.py", true, true },
		{ "/tools/", "", "a.py", false, false },
		{ "/e/gluon/", "", "e/", true, false },
		{ "/e/gluon/", "", "e/a.py", false, false },
		{ "/e/gluon/", "", "e/tle/", false, false },
		{ "*.td", "", "any/", true, false },
		{ "*.td", "", "any/a.td", true, true },
		{ "*.td", "", "any/a.cpp", false, false },
		{ "", "/gone/", "gone/a", false, false },
		{ "", "", ".specfs-hide", false, false },
		{ "", "", "x/.specfs-base", false, false },
		{ "", "", "x/.specfs-tmp.12/a", false, false },
		{ "", "", "x/.specfs-temp", true, true },
		{ "", "", "x/a.specfs-hide", true, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct rule r = { .kind = RULE_MAP };
		size_t len = strlen(cases[i].rel);
		bool is_dir = cases[i].rel[len - 1] == '/';
		char rel[64];

		assert_int_equal(strv_add_words(&r.only, cases[i].only, " "), 0);
		assert_int_equal(strv_add_words(&r.except, cases[i].except, " "), 0);
		snprintf(rel, sizeof(rel), "%.*s", (int)(len - is_dir), cases[i].rel);
		check_int(cases[i].rel, rule_shows(&r, rel, is_dir, NULL, NULL), cases[i].shows);
		check_int(cases[i].rel, rule_covers(&r, rel, is_dir, NULL, NULL), cases[i].covers);
		assert_true(rule_shows(&r, "", true, NULL, NULL));
		rule_clear(&r);
	}
}

static void what_a_hijack_shows(void **state)
{
	static const struct {
		const char *hijacked;
		const char *rel;
		bool shows;
		bool covers;
	} cases[] = {
		{ "", "a.py", false, false },
		{ "", "tools/a.py", false, false },
		{ "", "tools/", true, false },
		{ "tools", "tools/", true, true },
		{ "tools", "tools/a.py", true, true },
		{ "tools", "tools/__init__.py", false, false },
		{ "tools", "tools/sub/__init__.py", true, true },
		{ "tools", "tools/sub/", true, true },
		{ "tools", "a.py", false, false },
		{ "tools", "toolsx/a.py", false, false },
		{ "e/gluon", "e/a.py", false, false },
		{ "e/gluon", "e/__init__.py", false, false },
		{ "e/gluon", "e/", true, false },
		{ "e/gluon", "e/gluon/__init__.py", false, false },
		{ "e/gluon", "e/gluon/language/__init__.py", true, true },
		{ ".", "a.py", true, true },
		{ ".", "__init__.py", false, false },
		{ ".", "tools/__init__.py", true, true },
		{ ". tools", "tools/__init__.py", true, true },
		{ ".", "deep/er/a.py", true, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct rule r = { .kind = RULE_MAP, .hijack = true };
		size_t len = strlen(cases[i].rel);
		bool is_dir = cases[i].rel[len - 1] == '/';
		char *list = (char *)cases[i].hijacked;
		char rel[64], what[128];

		snprintf(rel, sizeof(rel), "%.*s", (int)(len - is_dir), cases[i].rel);
		snprintf(what, sizeof(what), "'%s' of '%s'", cases[i].rel, list);
		check_int(what, rule_shows(&r, rel, is_dir, in_list, list), cases[i].shows);
		check_int(what, rule_covers(&r, rel, is_dir, in_list, list), cases[i].covers);
	}
}

static void marks(void **state)
{
	assert_true(rule_is_mark(".specfs-hide"));
	assert_true(rule_is_mark(".specfs-base"));
	assert_true(rule_is_mark(".specfs-tmp.1"));
	assert_false(rule_is_mark(".specfs-tmp"));
	assert_false(rule_is_mark(".specfs-hide2"));
	assert_false(rule_is_mark(".specfs.ini"));
	assert_false(rule_is_mark(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places),
		cmocka_unit_test(what_patterns_show),
		cmocka_unit_test(what_a_hijack_shows),
		cmocka_unit_test(marks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
