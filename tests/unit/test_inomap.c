/* SPDX-License-Identifier: MIT */
/* Inode numbers of the view. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "layer/inomap.h"

static int setup(void **state)
{
	return inomap_new(7, (struct inomap **)state);
}

static int teardown(void **state)
{
	inomap_free(*state);
	return 0;
}

static void first_device_keeps_its_numbers(void **state)
{
	assert_int_equal(inomap_file(*state, 7, 1234), 1234);
}

static void devices_do_not_collide(void **state)
{
	uint64_t a = inomap_file(*state, 8, 1234);
	uint64_t b = inomap_file(*state, 9, 1234);

	assert_int_not_equal(a, 1234);
	assert_int_not_equal(b, 1234);
	assert_int_not_equal(a, b);
	assert_int_equal(inomap_file(*state, 8, 1234), a);
}

static void huge_numbers_are_given_one_by_one(void **state)
{
	uint64_t a = inomap_file(*state, 7, UINT64_MAX);
	uint64_t b = inomap_file(*state, 7, UINT64_MAX - 1);

	assert_int_not_equal(a, b);
	assert_int_equal(inomap_file(*state, 7, UINT64_MAX), a);
}

static void places_have_numbers_of_their_own(void **state)
{
	uint64_t a = inomap_place(*state, "python/triton/spec/b");

	assert_int_equal(inomap_place(*state, "python/triton/spec/b"), a);
	assert_int_not_equal(inomap_place(*state, "python/triton/spec/c"), a);
	assert_int_equal(a >> 56, 0xfe);
}

static void directory_at_a_second_place_has_another_number(void **state)
{
	uint64_t a = inomap_alias(*state, "lib", 1, 55);

	assert_int_equal(inomap_alias(*state, "lib", 1, 55), a);
	assert_int_not_equal(inomap_alias(*state, "lib", 1, 56), a);
	assert_int_not_equal(inomap_alias(*state, "lib", 2, 55), a);
	assert_int_not_equal(inomap_alias(*state, "py", 1, 55), a);
	assert_int_not_equal(inomap_file(*state, 1, 55), a);
	assert_int_equal(a >> 56, 0xfe);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(first_device_keeps_its_numbers),
		TEST(devices_do_not_collide),
		TEST(huge_numbers_are_given_one_by_one),
		TEST(places_have_numbers_of_their_own),
		TEST(directory_at_a_second_place_has_another_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
