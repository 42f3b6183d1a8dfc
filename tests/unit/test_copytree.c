/* SPDX-License-Identifier: MIT */
/* Copies of visible trees: what the view shows, and nothing else. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "layer/copytree.h"
#include "layer/copyup.h"
#include "tree.h"
#include "viewfix.h"

#define TEST(t) cmocka_unit_test_setup_teardown(t, viewfix_setup, viewfix_teardown)

static int open_out(struct viewfix *f)
{
	char path[300];
	int fd;

	tree_make(f->tmp, "out/", NULL);
	(void)snprintf(path, sizeof(path), "%s/out", f->tmp);
	fd = open(path, O_PATH | O_DIRECTORY);
	assert_true(fd >= 0);
	return fd;
}

static void visible_tree_is_copied(void **state)
{
	struct viewfix *f = *state;
	struct copied_list list = { 0 };
	struct found found;
	int out;

	tree_make(f->tmp, "trunk/lib/d/t=trunk", "trunk/lib/d/both=trunk",
		  "trunk/spec/b/lib/d/both=spec", "trunk/lib/d/gone=g", "trunk/lib/d/hidden.txt=h",
		  "trunk/lib/d/in/l->t", "trunk/spec/b/lib/d/.specfs-hide=no list here", NULL);
	vf_open(f, "b");
	assert_int_equal(vf_rm(f, "lib/d/gone"), 0);
	out = open_out(f);
	found = vf_look(f, "lib/d");
	assert_int_equal(copytree(f->v, "lib/d", &found, "lib/d", 0, out, "c", &list), 0);
	assert_string_equal(vf_on_disk(f, "out/c/t"), "trunk");
	assert_string_equal(vf_on_disk(f, "out/c/both"), "spec");
	assert_false(tree_exists(f->tmp, "out/c/gone"));
	assert_false(tree_exists(f->tmp, "out/c/hidden.txt"));
	assert_false(tree_exists(f->tmp, "out/c/.specfs-hide"));
	assert_true(tree_exists(f->tmp, "out/c/in/l"));
	/* children come before their directory; what lives in the spec directory may go there */
	assert_int_equal(list.n, 5);
	assert_string_equal(list.v[4].path, "lib/d");
	for (size_t i = 0; i < list.n; i++)
		if (!strcmp(list.v[i].path, "lib/d/both"))
			assert_true(list.v[i].removable);
		else if (!strcmp(list.v[i].path, "lib/d/t"))
			assert_false(list.v[i].removable);
	copied_list_clear(&list);
	close(out);
}

static void denied_child_stops_a_move_not_a_copy(void **state)
{
	struct viewfix *f = *state;
	struct copied_list list = { 0 };
	struct found found;
	int out;

	tree_make(f->tmp, "trunk/deny/x=x", NULL);
	vf_open(f, "b");
	out = open_out(f);
	found = vf_look(f, "deny");
	assert_int_equal(copytree(f->v, "deny", &found, "t", 0, out, "a", &list), -EROFS);
	copied_list_clear(&list);
	assert_int_equal(copyup_tree(f->v, "deny", &found, 0, out, "b"), 0);
	assert_string_equal(vf_on_disk(f, "out/b/x"), "x");
	close(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(visible_tree_is_copied),
		TEST(denied_child_stops_a_move_not_a_copy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
