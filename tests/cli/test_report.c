/* SPDX-License-Identifier: MIT */
/* Text from outside, made fit for a line and for JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/report.h"

static void control_characters_become_escapes(void **state)
{
	struct strbuf sb = STRBUF_INIT;

	(void)state;
	printable(&sb, "a\nb\tc\x1b[1m\x7f \xc3\xa4");
	assert_string_equal(sb.buf, "a\\nb\\tc\\x1b[1m\\x7f \xc3\xa4");
	strbuf_clear(&sb);
}

static void any_bytes_become_json(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "plain", "plain" },
		{ "", "" },
		{ "\xc3\xa4\xe2\x82\xac", "\xc3\xa4\xe2\x82\xac" },
		{ "a\xff" "b", "a\xef\xbf\xbd" "b" },
		{ "\xc3", "\xef\xbf\xbd" },
		{ "\xc3(", "\xef\xbf\xbd(" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		json_t *o = json_text(cases[i].in);

		assert_string_equal(json_string_value(o), cases[i].out);
		json_decref(o);
	}
	assert_true(json_is_null(json_text(NULL)));
}

static void absent_members_are_no_text(void **state)
{
	json_t *o = json_pack("{s:i, s:[s, i, s]}", "n", 1, "list", "a", 2, "b");
	struct strv sv = STRV_INIT;

	(void)state;
	assert_null(json_get_text(o, "n"));
	assert_null(json_get_text(o, "nope"));
	assert_null(json_get_text(NULL, "n"));
	assert_int_equal(json_get_strv(o, "list", &sv), 0);
	assert_int_equal(sv.n, 2);
	assert_string_equal(sv.v[1], "b");
	strv_clear(&sv);
	json_decref(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(control_characters_become_escapes),
		cmocka_unit_test(any_bytes_become_json),
		cmocka_unit_test(absent_members_are_no_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
