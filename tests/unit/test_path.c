/* SPDX-License-Identifier: MIT */
/* Path algebra. */
#include "base/path.h"

#include <errno.h>

#include "check.h"

static void clean_paths(void **state)
{
	static const struct {
		const char *path;
		bool clean;
	} cases[] = {
		{ "", true },      { "a", true },     { "a/b", true },  { "...", true },
		{ "a/..b", true }, { ".a", true },    { "/", false },   { "/a", false },
		{ "a/", false },   { "a//b", false }, { ".", false },   { "..", false },
		{ "a/.", false },  { "a/..", false }, { "./a", false }, { "a/../b", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_int(cases[i].path, path_is_clean(cases[i].path), cases[i].clean);
}

static void normal_forms(void **state)
{
	static const struct {
		const char *path;
		int r;
		const char *want;
	} cases[] = {
		{ "", 0, "" },
		{ ".", 0, "" },
		{ "./", 0, "" },
		{ "a//b/./c/", 0, "a/b/c" },
		{ "a/../b", 0, "b" },
		{ "a/b/../..", 0, "" },
		{ "a/b/../../c", 0, "c" },
		{ "..", -EXDEV, "" },
		{ "a/../..", -EXDEV, "" },
		{ "/a", -EINVAL, "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct strbuf sb = STRBUF_INIT;

		check_int(cases[i].path, path_normalize(cases[i].path, &sb), cases[i].r);
		if (!cases[i].r)
			check_str(cases[i].path, sb.buf, cases[i].want);
		strbuf_clear(&sb);
	}
}

static void normalizing_keeps_what_is_before(void **state)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_adds(&sb, "root/");
	assert_int_equal(path_normalize("a/../b", &sb), 0);
	assert_string_equal(sb.buf, "root/b");
	assert_int_equal(path_normalize("../c", &sb), -EXDEV);
	strbuf_clear(&sb);
}

static void base_and_parent(void **state)
{
	static const struct {
		const char *path;
		const char *base;
		size_t parent_len;
	} cases[] = { { "", "", 0 }, { "a", "a", 0 }, { "a/b", "b", 1 }, { "aa/b/ccc", "ccc", 4 } };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		check_str(cases[i].path, path_base(cases[i].path), cases[i].base);
		check_int(cases[i].path, path_parent_len(cases[i].path), cases[i].parent_len);
	}
}

static void what_is_below(void **state)
{
	static const struct {
		const char *path;
		const char *prefix;
		const char *rest; /* NULL: not below */
	} cases[] = {
		{ "", "", "" },    { "a/b", "", "a/b" }, { "a/b", "a", "b" },
		{ "a", "a", "" },  { "ab", "a", NULL },  { "a", "a/b", NULL },
		{ "", "a", NULL }, { "b/a", "a", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *rest = path_below(cases[i].path, cases[i].prefix);

		if (cases[i].rest)
			check_str(cases[i].path, rest, cases[i].rest);
		else
			check_int(cases[i].path, rest != NULL, false);
		check_int(cases[i].path, path_is_below(cases[i].path, cases[i].prefix),
			  cases[i].rest && *cases[i].rest);
	}
}

static void joins(void **state)
{
	static const char *const cases[][3] = {
		{ "", "", "" },
		{ "a", "", "a" },
		{ "", "b", "b" },
		{ "a/b", "c", "a/b/c" },
	};
	struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(path_join(&sb, cases[i][0], cases[i][1]), 0);
		check_str(cases[i][2], sb.buf, cases[i][2]);
	}
	strbuf_clear(&sb);
}

static void relative_paths(void **state)
{
	static const char *const cases[][3] = {
		{ "", "", "." },        { "a", "a", "." },      { "", "a/b", "a/b" },
		{ "a/b", "", "../.." }, { "a", "b", "../b" },   { "a/b", "a/c/d", "../c/d" },
		{ "a/b", "a", ".." },   { "a", "a/b", "b" },    { "ab", "ac", "../ac" },
		{ "ab", "a", "../a" },  { "a", "ab", "../ab" }, { "x/ab/c", "x/a/c", "../../a/c" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct strbuf sb = STRBUF_INIT;

		assert_int_equal(path_relative(cases[i][0], cases[i][1], &sb), 0);
		check_str(cases[i][0], sb.buf, cases[i][2]);
		strbuf_clear(&sb);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clean_paths),
		cmocka_unit_test(normal_forms),
		cmocka_unit_test(normalizing_keeps_what_is_before),
		cmocka_unit_test(base_and_parent),
		cmocka_unit_test(what_is_below),
		cmocka_unit_test(joins),
		cmocka_unit_test(relative_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
