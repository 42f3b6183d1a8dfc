/* SPDX-License-Identifier: MIT */
/* The growing string. */
#include "base/strbuf.h"

#include "check.h"

static void starts_empty_and_usable(void **state)
{
	struct strbuf sb = STRBUF_INIT;

	assert_string_equal(sb.buf, "");
	strbuf_clear(&sb);
	assert_string_equal(sb.buf, "");
	strbuf_adds(&sb, "x");
	assert_string_equal(sb.buf, "x");
	strbuf_clear(&sb);
}

static void appends_of_every_kind(void **state)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_add(&sb, "a\0b", 3);
	strbuf_addc(&sb, 'c');
	strbuf_adds(&sb, "");
	strbuf_addf(&sb, "%d-%s", 42, "x");
	assert_int_equal(sb.len, 8);
	assert_memory_equal(sb.buf, "a\0bc42-x", 9);
	strbuf_clear(&sb);
}

static void keeps_content_while_it_grows(void **state)
{
	struct strbuf sb = STRBUF_INIT;

	for (int i = 0; i < 5000; i++)
		strbuf_addf(&sb, "%04d", i);
	assert_int_equal(sb.len, 20000);
	assert_int_equal(strlen(sb.buf), 20000);
	assert_memory_equal(&sb.buf[18844], "4711", 4); /* 4L * 4711 */
	assert_int_equal(strbuf_failed(&sb), 0);
	strbuf_clear(&sb);
}

static void truncate_only_shortens(void **state)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_truncate(&sb, 3);
	assert_int_equal(sb.len, 0);
	strbuf_adds(&sb, "abcdef");
	strbuf_truncate(&sb, 9);
	assert_string_equal(sb.buf, "abcdef");
	strbuf_truncate(&sb, 2);
	assert_string_equal(sb.buf, "ab");
	strbuf_reset(&sb);
	assert_string_equal(sb.buf, "");
	strbuf_clear(&sb);
}

static void detach_hands_the_string_over(void **state)
{
	struct strbuf sb = STRBUF_INIT;
	char *s = strbuf_detach(&sb);

	assert_string_equal(s, "");
	free(s);
	strbuf_adds(&sb, "abc");
	s = strbuf_detach(&sb);
	assert_string_equal(s, "abc");
	assert_string_equal(sb.buf, "");
	free(s);
}

static void a_failure_stays_until_reset(void **state)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_adds(&sb, "abc");
	strbuf_add(&sb, "x", SIZE_MAX - 1);
	assert_true(strbuf_failed(&sb) < 0);
	strbuf_adds(&sb, "more");
	assert_string_equal(sb.buf, "abc");
	assert_null(strbuf_detach(&sb));
	assert_int_equal(strbuf_failed(&sb), 0);
	strbuf_adds(&sb, "again");
	assert_string_equal(sb.buf, "again");
	strbuf_clear(&sb);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(starts_empty_and_usable),
		cmocka_unit_test(appends_of_every_kind),
		cmocka_unit_test(keeps_content_while_it_grows),
		cmocka_unit_test(truncate_only_shortens),
		cmocka_unit_test(detach_hands_the_string_over),
		cmocka_unit_test(a_failure_stays_until_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
