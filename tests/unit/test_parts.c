/* SPDX-License-Identifier: MIT */
/* Directories that are kept open from one request to the next. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "ops/parts.h"

enum { ID = 7, MAX_TRIES = 1000 };

struct fix {
	struct view *v;
	struct parts *c;
};

static int setup(void **state)
{
	struct fix *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->v = calloc(1, sizeof(*f->v));
	assert_non_null(f->v);
	assert_int_equal(parts_new(&f->c), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fix *f = *state;

	parts_free(f->c);
	free(f->v);
	free(f);
	return 0;
}

/* A directory with @n parts, of which the first one is returned. */
static int open_parts(unsigned n, struct dirset *ret)
{
	dirset_init(ret);
	for (unsigned i = 0; i < n; i++) {
		ret->fd[i] = open("/", O_PATH | O_CLOEXEC);
		assert_true(ret->fd[i] >= 0);
		ret->parts |= UINT64_C(1) << i;
	}
	return ret->fd[0];
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0 || errno != EBADF;
}

/* Give a directory of @n parts, and return one of its descriptors. */
static int give(struct fix *f, uint64_t id, unsigned n)
{
	struct parts_mark m;
	struct dirset ds;
	int fd = open_parts(n, &ds);

	parts_begin(f->v, id, ds.parts, &m);
	parts_give(f->c, &m, &ds);
	assert_int_equal(ds.parts, 0);
	return fd;
}

static bool take(struct fix *f, uint64_t id, uint64_t wanted, struct dirset *ret)
{
	struct parts_mark m;

	parts_begin(f->v, id, wanted, &m);
	return parts_take(f->c, &m, ret);
}

static void what_was_given_is_taken_once(void **state)
{
	struct fix *f = *state;
	cleanup_dirset struct dirset ds;
	struct dirset none;
	bool taken = false;
	int fd = -1;

	dirset_init(&ds);
	for (int i = 0; i < MAX_TRIES && !taken; i++) {
		fd = give(f, ID, 2);
		assert_false(take(f, ID + 1, 3, &none));
		taken = take(f, ID, 3, &ds); /* unless that has taken too long */
	}
	assert_true(taken);
	assert_int_equal(ds.fd[0], fd);
	assert_true(is_open(fd));
	assert_false(take(f, ID, 3, &none));
}

static void other_parts_are_opened_anew(void **state)
{
	struct fix *f = *state;
	struct dirset none;
	int fd = give(f, ID, 2);

	assert_false(take(f, ID, 7, &none));
	assert_false(is_open(fd));
}

static void a_change_outdates_it(void **state)
{
	struct fix *f = *state;
	struct dirset none;
	int fd = give(f, ID, 1);

	view_changed(f->v);
	assert_false(take(f, ID, 1, &none));
	assert_false(is_open(fd));
}

static void a_change_while_it_was_used_outdates_it(void **state)
{
	struct fix *f = *state;
	struct parts_mark m;
	struct dirset ds;

	(void)open_parts(1, &ds);
	parts_begin(f->v, ID, 1, &m);
	view_changed(f->v);
	parts_give(f->c, &m, &ds);
	assert_false(take(f, ID, 1, &ds));
}

static void age_outdates_it(void **state)
{
	static const struct timespec longer = { .tv_nsec = 20000000 };
	struct fix *f = *state;
	struct dirset none;

	(void)give(f, ID, 1);
	assert_int_equal(nanosleep(&longer, NULL), 0);
	assert_false(take(f, ID, 1, &none));
}

static void it_does_not_get_younger_by_use(void **state)
{
	static const struct timespec some = { .tv_nsec = 3000000 };
	struct fix *f = *state;
	struct parts_mark m;
	struct dirset ds;

	(void)give(f, ID, 1);
	for (int i = 0; i < 10; i++) {
		parts_begin(f->v, ID, 1, &m);
		if (!parts_take(f->c, &m, &ds))
			return;
		parts_give(f->c, &m, &ds);
		assert_int_equal(nanosleep(&some, NULL), 0);
	}
	fail();
}

static void few_are_kept_and_none_is_lost(void **state)
{
	struct fix *f = *state;
	int fd[20];
	int n = 0;

	for (unsigned i = 0; i < ARRAY_SIZE(fd); i++)
		fd[i] = give(f, ID + i, 1);
	for (unsigned i = 0; i < ARRAY_SIZE(fd); i++)
		n += is_open(fd[i]);
	/* numbers are used again, so what is open can't be told from them alone */
	assert_true(n > 0);
	assert_true(parts_drop(f->c));
	for (unsigned i = 0; i < ARRAY_SIZE(fd); i++)
		assert_false(is_open(fd[i]));
	assert_false(parts_drop(f->c));
}

static void one_of_many_parts_is_closed(void **state)
{
	struct fix *f = *state;

	assert_false(is_open(give(f, ID, 40)));
	assert_false(parts_drop(f->c));
}

static void the_same_directory_is_kept_once(void **state)
{
	struct fix *f = *state;
	int a = give(f, ID, 1);
	int b = give(f, ID, 1);

	assert_int_not_equal(a, b);
	assert_false(is_open(a));
	assert_true(is_open(b));
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(what_was_given_is_taken_once),
		TEST(other_parts_are_opened_anew),
		TEST(a_change_outdates_it),
		TEST(a_change_while_it_was_used_outdates_it),
		TEST(age_outdates_it),
		TEST(it_does_not_get_younger_by_use),
		TEST(few_are_kept_and_none_is_lost),
		TEST(one_of_many_parts_is_closed),
		TEST(the_same_directory_is_kept_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
