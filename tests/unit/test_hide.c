/* SPDX-License-Identifier: MIT */
/* Hide lists of spec directories. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "layer/hide.h"
#include "tree.h"

struct fix {
	char *tmp;
	char *text;
	struct layer layer;
	struct hide *hide;
};

static int setup(void **state)
{
	struct fix *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	f->tmp = tree_tmp();
	tree_make(f->tmp, "sp/", NULL);
	f->layer = (struct layer){ .kind = LAYER_SPEC, .dir = strdup("sp"), .base_fd = -1 };
	f->layer.base_fd = open(f->tmp, O_PATH | O_DIRECTORY | O_CLOEXEC);
	*state = f;
	return hide_new(&f->layer, &f->hide);
}

static int teardown(void **state)
{
	struct fix *f = *state;

	hide_free(f->hide);
	layer_clear(&f->layer);
	tree_remove(f->tmp);
	free(f->text);
	free(f->tmp);
	free(f);
	return 0;
}

static void absent_list_hides_nothing(void **state)
{
	struct fix *f = *state;

	assert_false(hide_covers(f->hide, "a", false));
	assert_true(hide_is_empty(f->hide));
}

static void edits_of_the_list_are_seen(void **state)
{
	struct fix *f = *state;

	assert_false(hide_covers(f->hide, "a", false));
	tree_make(f->tmp, "sp/.specfs-hide=# c\n\n/a  \nd/\n", NULL);
	assert_true(hide_covers(f->hide, "a", false));
	assert_false(hide_covers(f->hide, "x/a", false));
	assert_false(hide_is_empty(f->hide));
	assert_true(hide_covers(f->hide, "x/d/below", false));
	assert_int_equal(unlinkat(f->layer.base_fd, "sp/.specfs-hide", 0), 0);
	assert_false(hide_covers(f->hide, "a", false));
}

static void added_lines_hide_exactly_that_name(void **state)
{
	static const char *const names[] = {
		"a", "we*ird[1]?", "#hash", "!bang", "trailing ", "back\\slash",
	};
	struct fix *f = *state;

	tree_make(f->tmp, "sp/.specfs-hide=old", NULL);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		assert_false(hide_covers(f->hide, names[i], false));
		assert_int_equal(hide_add(f->hide, names[i], false), 0);
		assert_true(hide_covers(f->hide, names[i], false));
		assert_int_equal(hide_add(f->hide, names[i], false), 0);
	}
	assert_true(hide_covers(f->hide, "old", false));
	assert_false(hide_covers(f->hide, "we1ird1x", false));
	f->text = tree_content(f->tmp, "sp/.specfs-hide");
	assert_non_null(strstr(f->text, "old\n/a\n"));
	assert_null(strstr(f->text, "/a\n/a"));
}

static void a_name_that_no_line_can_hold_is_refused(void **state)
{
	struct fix *f = *state;

	assert_int_equal(hide_add(f->hide, "a\nb", false), -EINVAL);
	assert_false(tree_exists(f->tmp, "sp/.specfs-hide"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static void dropped_line_leaves_the_others(void **state)
{
	struct fix *f = *state;

	assert_int_equal(hide_add(f->hide, "a*b", false), 0);
	assert_int_equal(hide_add(f->hide, "keep", false), 0);
	assert_int_equal(hide_drop(f->hide, "a*b", false), 0);
	assert_false(hide_covers(f->hide, "a*b", false));
	assert_true(hide_covers(f->hide, "keep", false));
	assert_true(hide_names_below(f->hide, "keep"));
	assert_false(hide_names_below(f->hide, "other"));
	assert_int_equal(hide_drop(f->hide, "other", false), 0);
	assert_true(hide_covers(f->hide, "keep", false));
	/* an empty list is no file */
	assert_int_equal(hide_drop(f->hide, "keep", false), 0);
	assert_false(hide_covers(f->hide, "keep", false));
	assert_false(tree_exists(f->tmp, "sp/" HIDE_FILE));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(absent_list_hides_nothing),
		TEST(edits_of_the_list_are_seen),
		TEST(added_lines_hide_exactly_that_name),
		TEST(a_name_that_no_line_can_hold_is_refused),
		TEST(dropped_line_leaves_the_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
