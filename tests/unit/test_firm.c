/* SPDX-License-Identifier: MIT */
/* Replies that the kernel takes at any age, and who waits for them. The clock is played here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <time.h>

#include "ops/firm.h"

static const int64_t MSEC = 1000000;
static const int64_t SEC = 1000000000;
static const int64_t LONG = 3600000000000; /* much longer than anybody waits */

static struct node n;
static struct node other;
static int64_t clock_nsec;
static void (*in_clock)(void); /* after the next look at it, before that returns */
static void (*in_sleep)(void); /* the same, of the next sleep */

int __wrap_clock_gettime(clockid_t id, struct timespec *ret);
int __wrap_nanosleep(const struct timespec *t, struct timespec *ret_left);
int __wrap_clock_nanosleep(clockid_t id, int flags, const struct timespec *t,
			   struct timespec *ret_left);

static void call_once(void (**fn)(void))
{
	void (*f)(void) = *fn;

	*fn = NULL;
	if (f)
		f();
}

int __wrap_clock_gettime(clockid_t id, struct timespec *ret)
{
	assert_int_equal(id, CLOCK_MONOTONIC);
	ret->tv_sec = clock_nsec / SEC;
	ret->tv_nsec = clock_nsec % SEC;
	call_once(&in_clock);
	return 0;
}

int __wrap_nanosleep(const struct timespec *t, struct timespec *ret_left)
{
	(void)ret_left;
	clock_nsec += t->tv_sec * SEC + t->tv_nsec;
	call_once(&in_sleep);
	return 0;
}

/* Is cut short if there is something to call. */
int __wrap_clock_nanosleep(clockid_t id, int flags, const struct timespec *t,
			   struct timespec *ret_left)
{
	int64_t until = t->tv_sec * SEC + t->tv_nsec;

	(void)ret_left;
	assert_int_equal(id, CLOCK_MONOTONIC);
	assert_int_equal(flags, TIMER_ABSTIME);
	if (in_sleep) {
		call_once(&in_sleep);
		return EINTR;
	}
	if (clock_nsec < until)
		clock_nsec = until;
	return 0;
}

static int setup(void **state)
{
	(void)state;
	n = other = (struct node){ 0 };
	clock_nsec = LONG;
	in_clock = in_sleep = NULL;
	return 0;
}

static void pass(int64_t nsec)
{
	clock_nsec += nsec;
}

/* Returns how long that took. */
static int64_t wait_for(const struct node *of)
{
	int64_t since = clock_nsec;

	firm_wait(of);
	return clock_nsec - since;
}

static void what_was_sent_is_under_way_for_a_while(void **state)
{
	(void)state;
	assert_false(firm_is_under_way(&n));
	assert_false(firm_is_recent(&n));
	firm_begin(&n);
	pass(LONG);
	assert_true(firm_is_under_way(&n));
	firm_end(&n);
	pass(20 * MSEC - 1);
	assert_true(firm_is_under_way(&n));
	pass(1);
	assert_false(firm_is_under_way(&n));
	pass(SEC - 20 * MSEC - 1);
	assert_true(firm_is_recent(&n));
	pass(1);
	assert_false(firm_is_recent(&n));
}

static void who_waits_goes_on_once_it_is_under_way_no_more(void **state)
{
	(void)state;
	firm_begin(&n);
	firm_end(&n);
	pass(5 * MSEC);
	assert_int_equal(wait_for(&n), 15 * MSEC);
	assert_false(firm_is_under_way(&n));
	assert_int_equal(wait_for(&n), 0);
}

static void nobody_waits_for_replies_about_other_nodes(void **state)
{
	(void)state;
	firm_begin(&n);
	firm_begin(&n);
	firm_end(&n);
	assert_false(firm_is_under_way(&other));
	assert_int_equal(wait_for(&other), 0);
}

static void nobody_waits_for_ever_for_what_is_not_sent(void **state)
{
	(void)state;
	firm_begin(&n);
	assert_in_range(wait_for(&n), 40 * MSEC, 60 * MSEC);
	assert_true(firm_is_under_way(&n));
	assert_true(firm_is_recent(&n));
}

static void of_several_each_counts(void **state)
{
	(void)state;
	firm_begin(&n);
	firm_begin(&n);
	firm_end(&n);
	pass(LONG);
	assert_true(firm_is_under_way(&n));
	firm_end(&n);
	pass(LONG);
	assert_false(firm_is_under_way(&n));
}

static void send(void)
{
	pass(3 * MSEC);
	firm_end(&n);
}

static void who_waits_sees_when_it_is_sent(void **state)
{
	(void)state;
	firm_begin(&n);
	in_sleep = send;
	assert_in_range(wait_for(&n), 23 * MSEC, 24 * MSEC);
	assert_false(firm_is_under_way(&n));
}

static void begin_another(void)
{
	pass(3 * MSEC);
	firm_begin(&n);
	firm_end(&n);
	firm_begin(&n);
}

/* Nor is the end of a wait that is cut short the end of it. */
static void who_waits_does_not_wait_for_what_begins_later(void **state)
{
	(void)state;
	firm_begin(&n);
	firm_end(&n);
	in_sleep = begin_another;
	assert_int_equal(wait_for(&n), 20 * MSEC);
	assert_true(firm_is_under_way(&n));
}

static void end_another(void)
{
	pass(50 * MSEC);
	firm_end(&n);
	pass(10 * MSEC);
}

/* Its thread did not get on between the look at the clock and the end. */
static void an_end_that_is_late_takes_no_younger_one_back(void **state)
{
	(void)state;
	firm_begin(&n);
	firm_begin(&n);
	in_clock = end_another;
	firm_end(&n);
	assert_true(firm_is_under_way(&n));
	assert_int_equal(wait_for(&n), 10 * MSEC);
}

#define TEST(t) cmocka_unit_test_setup(t, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_was_sent_is_under_way_for_a_while),
		TEST(who_waits_goes_on_once_it_is_under_way_no_more),
		TEST(nobody_waits_for_replies_about_other_nodes),
		TEST(nobody_waits_for_ever_for_what_is_not_sent),
		TEST(of_several_each_counts),
		TEST(who_waits_sees_when_it_is_sent),
		TEST(who_waits_does_not_wait_for_what_begins_later),
		TEST(an_end_that_is_late_takes_no_younger_one_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
