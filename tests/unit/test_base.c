/* SPDX-License-Identifier: MIT */
/* The record of what specializations were copied from. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "check.h"
#include "layer/base.h"
#include "tree.h"
#include "viewfix.h"

#define TEST(t) cmocka_unit_test_setup_teardown(t, viewfix_setup, viewfix_teardown)

/* ids as git hash-object gives them */
#define HELLO "\tce013625030ba8dba906f756967f9e9ca394464a\n"
#define EMPTY "\te69de29bb2d1d6434b8b29ae775ad8c2e48c5391\n"

static void lines_are_sorted_and_replaced(void **state)
{
	struct viewfix *f = *state;
	const struct layer *spec;
	char path[300];
	int hello;
	int empty;

	tree_make(f->tmp, "hello=hello\n", "empty=", "trunk/spec/b/lib/.specfs-base=z" EMPTY, NULL);
	vf_open(f, "b");
	spec = &f->v->stack.layers[route_map_of(f->v, "lib/x", false)];
	(void)snprintf(path, sizeof(path), "%s/hello", f->tmp);
	hello = open(path, O_RDONLY);
	(void)snprintf(path, sizeof(path), "%s/empty", f->tmp);
	empty = open(path, O_RDONLY);
	assert_true(hello >= 0 && empty >= 0);
	assert_int_equal(base_record(spec, "lib/m", hello), 0);
	assert_int_equal(base_record(spec, "lib/d/a", hello), 0);
	assert_int_equal(base_record(spec, "lib/m", empty), 0);
	assert_int_equal(base_record(spec, "lib/z", hello), 0);
	/* the root, another place, a name that no line can hold */
	assert_int_equal(base_record(spec, "lib", hello), 0);
	assert_int_equal(base_record(spec, "src/m", hello), 0);
	assert_int_equal(base_record(spec, "lib/a\nb", hello), 0);
	close(hello);
	close(empty);
	assert_string_equal(vf_on_disk(f, "trunk/spec/b/lib/.specfs-base"),
			    "d/a" HELLO "m" EMPTY "z" HELLO);
	assert_true(vf_is_clean(f));
}

static void what_is_too_big_to_hash_has_no_line(void **state)
{
	struct viewfix *f = *state;
	const struct layer *spec;
	char path[300];
	int fd;

	tree_make(f->tmp, "big=", "trunk/spec/b/lib/x=", NULL);
	vf_open(f, "b");
	spec = &f->v->stack.layers[route_map_of(f->v, "lib/x", false)];
	(void)snprintf(path, sizeof(path), "%s/big", f->tmp);
	fd = open(path, O_RDWR);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (64 << 20) + 1), 0);
	assert_int_equal(base_record(spec, "lib/m", fd), 0);
	assert_string_equal(vf_on_disk(f, "trunk/spec/b/lib/.specfs-base"), "-");
	tree_make(f->tmp, "trunk/spec/b/lib/.specfs-base=a" HELLO "m" EMPTY, NULL);
	assert_int_equal(base_record(spec, "lib/m", fd), 0);
	assert_string_equal(vf_on_disk(f, "trunk/spec/b/lib/.specfs-base"), "a" HELLO);
	close(fd);
	assert_true(vf_is_clean(f));
}

static void trunks_file_is_the_base(void **state)
{
	struct viewfix *f = *state;
	unsigned to;

	tree_make(f->tmp, "trunk/lib/t=hello\n", "trunk/lib/d/x=x", "trunk/spec/b/lib/", NULL);
	vf_open(f, "b");
	to = (unsigned)route_map_of(f->v, "lib/t", false);
	assert_int_equal(base_record_new(&f->v->stack, to, "lib/t"), 0);
	assert_int_equal(base_record_new(&f->v->stack, to, "lib/new"), 0);
	assert_int_equal(base_record_new(&f->v->stack, to, "lib/d"), 0);
	assert_int_equal(base_record_new(&f->v->stack, 0, "lib/t"), 0);
	assert_string_equal(vf_on_disk(f, "trunk/spec/b/lib/.specfs-base"), "t" HELLO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(lines_are_sorted_and_replaced),
		TEST(what_is_too_big_to_hash_has_no_line),
		TEST(trunks_file_is_the_base),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
