/* SPDX-License-Identifier: MIT */
/* Marks in scratch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <unistd.h>

#include "layer/mark.h"
#include "tree.h"

struct fix {
	char *tmp;
	int dir;
	int fd;
};

static int setup(void **state)
{
	struct fix *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	f->tmp = tree_tmp();
	tree_make(f->tmp, "d/", "f=", NULL);
	f->dir = open(f->tmp, O_PATH | O_DIRECTORY | O_CLOEXEC);
	f->fd = openat(f->dir, "d", O_PATH | O_CLOEXEC);
	*state = f;
	return f->dir < 0 || f->fd < 0;
}

static int teardown(void **state)
{
	struct fix *f = *state;

	close(f->fd);
	close(f->dir);
	tree_remove(f->tmp);
	free(f->tmp);
	free(f);
	return 0;
}

static void directory_marks_come_back(void **state)
{
	struct fix *f = *state;
	bool opaque;
	bool implied;

	mark_read_dir(f->dir, "d", &opaque, &implied);
	assert_false(opaque || implied);
	assert_int_equal(mark_set(f->fd, MARK_OPAQUE), 0);
	mark_read_dir(f->dir, "d", &opaque, &implied);
	assert_true(opaque && !implied);
	assert_int_equal(mark_set(f->fd, MARK_IMPLIED), 0);
	assert_int_equal(mark_remove(f->fd, MARK_OPAQUE), 0);
	assert_int_equal(mark_remove(f->fd, MARK_OPAQUE), 0);
	mark_read_dir(f->dir, "d", &opaque, &implied);
	assert_true(!opaque && implied);
}

static void numbers_come_back(void **state)
{
	struct fix *f = *state;

	assert_int_equal(mark_read_ino(f->dir, "d"), 0);
	assert_int_equal(mark_set_ino(f->fd, UINT64_MAX), 0);
	assert_true(mark_read_ino(f->dir, "d") == UINT64_MAX);
}

static void temporary_directory_supports_marks(void **state)
{
	struct fix *f = *state;

	assert_int_equal(mark_supported(f->dir), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(directory_marks_come_back),
		TEST(numbers_come_back),
		TEST(temporary_directory_supports_marks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
