/* SPDX-License-Identifier: MIT */
/* Replies that the kernel takes at any age, and who waits for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ops/firm.h"

enum { MANY = 5000 };

static int setup(void **state)
{
	struct firm *f;

	assert_int_equal(firm_new(&f), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	firm_free(*state);
	return 0;
}

static void what_was_sent_is_under_way_for_a_while(void **state)
{
	struct firm *f = *state;
	uint64_t reply;

	assert_false(firm_is_under_way(f, 7));
	reply = firm_begin(f, 7);
	assert_true(firm_is_under_way(f, 7));
	firm_end(f, reply);
	assert_true(firm_is_under_way(f, 7));
	firm_wait(f, 7);
	assert_false(firm_is_under_way(f, 7));
}

static void nobody_waits_for_replies_about_other_nodes(void **state)
{
	struct firm *f = *state;
	uint64_t reply = firm_begin(f, 7);

	assert_false(firm_is_under_way(f, 8));
	firm_wait(f, 8);
	assert_true(firm_is_under_way(f, 7));
	firm_end(f, reply);
}

static void nobody_waits_for_ever_for_what_is_not_sent(void **state)
{
	struct firm *f = *state;
	uint64_t reply = firm_begin(f, 7);

	firm_wait(f, 7);
	assert_true(firm_is_under_way(f, 7));
	firm_end(f, reply);
}

static void of_too_many_the_last_are_known(void **state)
{
	struct firm *f = *state;
	uint64_t first = firm_begin(f, 7);
	uint64_t last = 0;

	for (int i = 0; i < MANY; i++)
		last = firm_begin(f, 8);
	firm_end(f, first); /* which is none of theirs */
	assert_false(firm_is_under_way(f, 7));
	firm_end(f, last);
	assert_true(firm_is_under_way(f, 8));
}

static void without_a_server_there_are_none(void **state)
{
	(void)state;
	firm_end(NULL, firm_begin(NULL, 7));
	assert_false(firm_is_under_way(NULL, 7));
	firm_wait(NULL, 7);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_was_sent_is_under_way_for_a_while),
		TEST(nobody_waits_for_replies_about_other_nodes),
		TEST(nobody_waits_for_ever_for_what_is_not_sent),
		TEST(of_too_many_the_last_are_known),
		TEST(without_a_server_there_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
