/* SPDX-License-Identifier: MIT */
/* Messages for the user. */
#include "base/diag.h"

#include <errno.h>

#include "check.h"

static void a_message_says_where(void **state)
{
	struct diag d = DIAG_INIT;

	assert_int_equal(diag_add(&d, -EINVAL, "a.ini", 7, "bad '%s'", "x"), -EINVAL);
	assert_int_equal(diag_add(&d, -ENOENT, "a.ini", 0, "gone"), -ENOENT);
	assert_int_equal(diag_add(&d, 0, NULL, 3, "plain"), 0);
	assert_int_equal(d.lines.n, 3);
	assert_string_equal(d.lines.v[0], "a.ini:7: bad 'x'");
	assert_string_equal(d.lines.v[1], "a.ini: gone");
	assert_string_equal(d.lines.v[2], "plain");
	diag_clear(&d);
	assert_int_equal(d.lines.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_message_says_where) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
