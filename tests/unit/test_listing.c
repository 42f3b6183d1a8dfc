/* SPDX-License-Identifier: MIT */
/* Listings of merged directories: order, offsets, completeness. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "stackfix.h"
#include "tree.h"

enum { MANY = 500 };

static struct listing *list(struct fix *f, const char *path)
{
	struct listing *l = NULL;
	struct dirset ds;

	dirset_init(&ds);
	assert_int_equal(fix_lookup(f, path), 0);
	assert_int_equal(stack_open_dir(&f->st, path, f->f.parts, &ds), 0);
	assert_int_equal(listing_read(&f->st, &ds, &l), 0);
	dirset_close(&ds);
	return l;
}

static void make_many(struct fix *f)
{
	char what[64];

	for (int i = 0; i < MANY; i++) {
		snprintf(what, sizeof(what), "%s/f%d=x", i % 2 ? "trunk/lib" : "trunk/sp", i);
		tree_make(f->tmp, what, NULL);
	}
	fix_rule(f, RULE_MAP, "lib", "sp");
	fix_settle(f);
}

static void offsets_rise_and_are_above_the_dots(void **state)
{
	struct fix *f = *state;
	struct listing *l;

	make_many(f);
	l = list(f, "lib");
	assert_int_equal(l->n, MANY);
	for (size_t i = 0; i < l->n; i++) {
		assert_true(l->v[i].offset >= 3);
		assert_true(l->v[i].offset <= INT64_MAX);
		assert_true(!i || l->v[i - 1].offset < l->v[i].offset);
	}
	listing_free(l);
}

static void reader_goes_on_with_a_newer_listing(void **state)
{
	struct fix *f = *state;
	struct listing *before;
	struct listing *after;
	size_t half = MANY / 2;

	make_many(f);
	before = list(f, "lib");
	for (size_t i = 0; i < half; i++) {
		char path[64];

		snprintf(path, sizeof(path), "lib/%s", before->v[i].name);
		if (unlinkat(f->st.root_fd, path, 0) < 0) {
			snprintf(path, sizeof(path), "sp/%s", before->v[i].name);
			assert_int_equal(unlinkat(f->st.root_fd, path, 0), 0);
		}
	}
	after = list(f, "lib");
	assert_int_equal(listing_seek(after, before->v[half - 1].offset), 0);
	assert_int_equal(after->n, MANY - half);
	for (size_t i = 0; i < after->n; i++)
		assert_string_equal(after->v[i].name, before->v[half + i].name);
	listing_free(before);
	listing_free(after);
}

static void a_directory_of_hidden_names_is_empty(void **state)
{
	struct fix *f = *state;
	struct dirset ds;

	tree_make(f->tmp, "trunk/d/a=1", "scratch/d/", NULL);
	fix_whiteout(f, "d/a");
	fix_settle(f);
	dirset_init(&ds);
	assert_int_equal(fix_lookup(f, "d"), 0);
	assert_int_equal(stack_open_dir(&f->st, "d", f->f.parts, &ds), 0);
	assert_int_equal(listing_is_empty(&f->st, &ds), 1);
	dirset_close(&ds);
}

static void hide_list_counts_where_its_layer_has_no_directory(void **state)
{
	struct fix *f = *state;
	struct listing *l;

	tree_make(f->tmp, "trunk/lib/d/a=1", "trunk/lib/d/b=1", "trunk/sp/.specfs-hide=/d/a\n",
		  NULL);
	fix_rule(f, RULE_MAP, "lib", "sp");
	fix_settle(f);
	l = list(f, "lib/d");
	assert_int_equal(l->n, 1);
	assert_string_equal(l->v[0].name, "b");
	listing_free(l);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fix_setup, fix_teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(offsets_rise_and_are_above_the_dots),
		TEST(reader_goes_on_with_a_newer_listing),
		TEST(a_directory_of_hidden_names_is_empty),
		TEST(hide_list_counts_where_its_layer_has_no_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
