/* SPDX-License-Identifier: MIT */
/* The list of strings. */
#include "base/strv.h"

#include "check.h"

static void words_of_a_text(void **state)
{
	static const struct {
		const char *text;
		size_t n;
		const char *first;
		const char *last;
	} cases[] = {
		{ "", 0, NULL, NULL },
		{ "  \t ", 0, NULL, NULL },
		{ "one", 1, "one", "one" },
		{ " one\ttwo  three ", 3, "one", "three" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct strv sv = STRV_INIT;

		assert_int_equal(strv_add_words(&sv, cases[i].text, " \t"), 0);
		check_int(cases[i].text, sv.n, cases[i].n);
		if (sv.n) {
			check_str(cases[i].text, sv.v[0], cases[i].first);
			check_str(cases[i].text, sv.v[sv.n - 1], cases[i].last);
			assert_null(sv.v[sv.n]);
		}
		strv_clear(&sv);
	}
}

static void sorts_and_finds(void **state)
{
	struct strv sv = STRV_INIT;

	strv_sort(&sv);
	assert_false(strv_has(&sv, ""));
	for (int i = 0; i < 100; i++) {
		char s[] = { (char)('a' + (i * 7) % 26), '\0' };

		assert_int_equal(strv_add(&sv, s), 0);
	}
	assert_int_equal(strv_addn(&sv, "zz-cut", 2), 0);
	strv_sort(&sv);
	assert_int_equal(sv.n, 101);
	assert_string_equal(sv.v[0], "a");
	assert_string_equal(sv.v[100], "zz");
	assert_true(strv_has(&sv, "q"));
	assert_false(strv_has(&sv, "zz-cut"));
	strv_clear(&sv);
	assert_int_equal(sv.n, 0);
	assert_null(sv.v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_of_a_text),
		cmocka_unit_test(sorts_and_finds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
