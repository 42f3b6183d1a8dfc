/* SPDX-License-Identifier: MIT */
/* Events that wait. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "daemon/pending.h"

static bool push(struct pending_queue *q, uint64_t dir, unsigned what, const char *name)
{
	const struct watch_event e = { .dir = dir, .what = what, .name = name };

	return pending_push(q, &e);
}

static void expect(struct pending_queue *q, uint64_t dir, unsigned what, const char *name)
{
	struct pending *p = pending_take(q);

	assert_non_null(p);
	assert_int_equal(p->dir, dir);
	assert_int_equal(p->what, what);
	assert_string_equal(pending_name(p), name);
	free(p);
}

static void they_come_in_order_and_of_one_name_once(void **state)
{
	struct pending_queue q;

	(void)state;
	pending_init(&q);
	assert_null(pending_take(&q));
	assert_true(push(&q, 1, WATCH_NAME, "a"));
	assert_true(push(&q, 2, WATCH_DATA, "a"));
	assert_true(push(&q, 1, WATCH_ATTR, "a"));
	assert_true(push(&q, 1, WATCH_NODE, "a")); /* node 1 is not watch 1 */
	assert_int_equal(pending_count(&q), 3);
	expect(&q, 1, WATCH_NAME | WATCH_ATTR, "a");
	expect(&q, 2, WATCH_DATA, "a");
	expect(&q, 1, WATCH_NODE, "a");
	assert_null(pending_take(&q));
	assert_true(push(&q, 3, WATCH_SELF, ""));
	expect(&q, 3, WATCH_SELF, "");
	pending_clear(&q);
}

static void of_two_a_foreign_one_counts(void **state)
{
	struct pending_queue q;

	(void)state;
	pending_init(&q);
	push(&q, 1, WATCH_DATA | WATCH_OWN, "both");
	push(&q, 1, WATCH_DATA, "both");
	push(&q, 1, WATCH_DATA | WATCH_OWN, "own");
	push(&q, 1, WATCH_NAME | WATCH_OWN, "own");
	expect(&q, 1, WATCH_DATA, "both");
	expect(&q, 1, WATCH_DATA | WATCH_NAME | WATCH_OWN, "own");
	pending_clear(&q);
}

static void too_many_are_lost_but_not_what_no_look_would_find(void **state)
{
	struct pending_queue q;

	(void)state;
	pending_init(&q);
	for (uint64_t i = 1; i <= PENDING_MAX; i++)
		assert_true(push(&q, i, WATCH_NAME, "a"));
	assert_false(push(&q, PENDING_MAX + 1, WATCH_NAME, "a"));
	assert_true(push(&q, 1, WATCH_DATA, "a")); /* one that waits anyway */
	assert_true(push(&q, 7, WATCH_NODE, "a"));
	assert_int_equal(pending_count(&q), PENDING_MAX + 1);
	pending_clear(&q);
	assert_int_equal(pending_count(&q), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(they_come_in_order_and_of_one_name_once),
		cmocka_unit_test(of_two_a_foreign_one_counts),
		cmocka_unit_test(too_many_are_lost_but_not_what_no_look_would_find),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
