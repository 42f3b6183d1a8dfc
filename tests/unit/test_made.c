/* SPDX-License-Identifier: MIT */
/* What was made through a view can be taken back, below a graft, too; and its links are links. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "check.h"
#include "tree.h"
#include "viewfix.h"

#define TEST(t) cmocka_unit_test_setup_teardown(t, viewfix_setup, viewfix_teardown)

#define BACK "trunk/spec/b/back/"

/* Rename below T. */
static void move(struct viewfix *f, const char *from, const char *to)
{
	char a[300];
	char b[300];

	(void)snprintf(a, sizeof(a), "%s/%s", f->tmp, from);
	(void)snprintf(b, sizeof(b), "%s/%s", f->tmp, to);
	assert_int_equal(rename(a, b), 0);
}

static void open_view(struct viewfix *f)
{
	struct found found;

	tree_make(f->tmp, BACK "f=f", BACK "g=g", BACK "d/x=x", "trunk/lib/f=lib", "trunk/src/m=m",
		  "trunk/spec/b/lib/committed->f", "trunk/spec/b/lib/f=spec", NULL);
	vf_open(f, "b");
	found = vf_look(f, "gr/b/f");
	if (!found.obj.btime_nsec) {
		print_message("no birth times here\n");
		skip();
	}
}

static void what_was_made_below_a_graft_goes_for_good(void **state)
{
	struct viewfix *f = *state;

	open_view(f);
	for (int mount = 0; mount < 2; mount++) {
		assert_int_equal(vf_put(f, "gr/b/new", "n"), 0);
		assert_int_equal(vf_mkdir(f, "gr/b/dir"), 0);
		assert_int_equal(vf_put(f, "gr/b/dir/x", "x"), 0);
		assert_int_equal(vf_symlink(f, "gr/b/.#lock", "me@here"), 0);
		assert_int_equal(vf_rename(f, "gr/b/new", "gr/b/newer", 0), 0);
		assert_string_equal(vf_on_disk(f, BACK "newer"), "n");
		if (mount)
			vf_remount(f);
		assert_int_equal(vf_rm(f, "gr/b/newer"), 0);
		assert_int_equal(vf_rm(f, "gr/b/.#lock"), 0);
		assert_int_equal(vf_rm(f, "gr/b/dir/x"), 0);
		assert_int_equal(vf_rmdir(f, "gr/b/dir"), 0);
		assert_false(tree_exists(f->tmp, BACK "newer"));
		assert_false(tree_exists(f->tmp, BACK ".#lock"));
		assert_false(tree_exists(f->tmp, BACK "dir"));
		assert_string_equal(vf_names(f, "gr/b"), "d f g");
		/* no mark hides what comes there later */
		assert_false(tree_exists(f->tmp, "scratch/upper/gr/b/newer"));
	}
	assert_true(vf_is_clean(f));
}

static void second_name_elsewhere_does_not_keep_it(void **state)
{
	struct viewfix *f = *state;

	open_view(f);
	assert_int_equal(vf_put(f, "gr/b/new", "new"), 0);
	assert_int_equal(vf_link(f, "gr/b/new", "src/other"), 0);
	assert_int_equal(vf_rm(f, "src/other"), 0);
	assert_int_equal(vf_rm(f, "gr/b/new"), 0);
	assert_string_equal(vf_on_disk(f, "trunk/spec/b/back/new"), "-");
}

static void what_people_had_stays_in_the_checkout(void **state)
{
	struct viewfix *f = *state;

	open_view(f);
	assert_int_equal(vf_rm(f, "gr/b/f"), 0);
	assert_string_equal(vf_on_disk(f, BACK "f"), "f");
	assert_int_equal(vf_rename(f, "gr/b/g", "gr/b/moved", 0), 0);
	assert_int_equal(vf_rm(f, "gr/b/moved"), 0);
	assert_string_equal(vf_text(f, "gr/b/moved"), "ENOENT");
	assert_string_equal(vf_on_disk(f, BACK "moved"), "g");
	assert_int_equal(vf_rm(f, "gr/b/d/x"), 0);
	assert_int_equal(vf_rmdir(f, "gr/b/d"), 0);
	assert_string_equal(vf_on_disk(f, BACK "d/x"), "x");
	/* made here, replaced underneath: people's */
	assert_int_equal(vf_put(f, "gr/b/new", "n"), 0);
	tree_make(f->tmp, BACK "theirs=theirs", NULL);
	move(f, BACK "theirs", BACK "new");
	assert_int_equal(vf_rm(f, "gr/b/new"), 0);
	assert_string_equal(vf_on_disk(f, BACK "new"), "theirs");
	/* made here, renamed underneath */
	assert_int_equal(vf_put(f, "gr/b/n2", "n"), 0);
	move(f, BACK "n2", BACK "n3");
	assert_int_equal(vf_rm(f, "gr/b/n3"), 0);
	assert_string_equal(vf_on_disk(f, BACK "n3"), "n");
}

static void editors_leave_nothing(void **state)
{
	struct viewfix *f = *state;

	open_view(f);
	for (int i = 0; i < 3; i++) {
		/* moved aside, made anew, the old one removed */
		assert_int_equal(vf_rename(f, "gr/b/f", "gr/b/f~", 0), 0);
		assert_int_equal(vf_put(f, "gr/b/f", "saved"), 0);
		assert_int_equal(vf_rm(f, "gr/b/f~"), 0);
		assert_false(tree_exists(f->tmp, BACK "f~"));
		assert_string_equal(vf_on_disk(f, BACK "f"), "saved");
		/* a new file renamed over the old one */
		assert_int_equal(vf_put(f, "gr/b/f.tmp", "again"), 0);
		assert_int_equal(vf_rename(f, "gr/b/f.tmp", "gr/b/f", 0), 0);
		assert_string_equal(vf_on_disk(f, BACK "f"), "again");
		if (i == 1)
			vf_remount(f);
	}
	assert_string_equal(vf_names(f, "gr/b"), "d f g");
	/* whoever wrote it last: the name is people's */
	assert_int_equal(vf_rm(f, "gr/b/f"), 0);
	assert_string_equal(vf_on_disk(f, BACK "f"), "again");
	/* aside, and never made anew: it is the only one */
	assert_int_equal(vf_rename(f, "gr/b/g", "gr/b/g~", 0), 0);
	assert_int_equal(vf_rm(f, "gr/b/g~"), 0);
	assert_string_equal(vf_on_disk(f, BACK "g~"), "g");
	assert_true(vf_is_clean(f));
}

static void links_that_were_made_are_links(void **state)
{
	struct viewfix *f = *state;

	open_view(f);
	assert_int_equal(vf_symlink(f, "lib/l", "f"), 0);
	assert_int_equal(vf_symlink(f, "lib/out", "../src/m"), 0);
	assert_int_equal(vf_symlink(f, "gr/b/l", "f"), 0);
	assert_int_equal(vf_symlink(f, "s2", "src/m"), 0);
	assert_int_equal(vf_rename(f, "s2", "lib/came", 0), 0);
	for (int mount = 0; mount < 2; mount++) {
		assert_string_equal(vf_text(f, "lib/l"), "->f");
		assert_string_equal(vf_text(f, "lib/out"), "->../src/m");
		assert_string_equal(vf_text(f, "gr/b/l"), "->f");
		assert_string_equal(vf_text(f, "lib/came"), "->src/m");
		assert_string_equal(vf_text(f, "lib/committed"), "spec");
		vf_remount(f);
	}
	assert_int_equal(vf_rename(f, "lib/l", "lib/l2", 0), 0);
	assert_string_equal(vf_text(f, "lib/l2"), "->f");
	assert_int_equal(vf_rename(f, "lib/l2", "lib/f", RENAME_EXCHANGE), 0);
	assert_string_equal(vf_text(f, "lib/f"), "->f");
	assert_string_equal(vf_text(f, "lib/l2"), "spec");
	assert_int_equal(vf_rm(f, "lib/f"), 0);
	/* one that is replaced underneath is a file as any that is committed */
	tree_make(f->tmp, "trunk/spec/b/lib/other->l2", NULL);
	move(f, "trunk/spec/b/lib/other", "trunk/spec/b/lib/out");
	assert_string_equal(vf_text(f, "lib/out"), "spec");
}

static void links_stay_links_in_a_directory_that_moves(void **state)
{
	struct viewfix *f = *state;

	open_view(f);
	assert_int_equal(vf_mkdir(f, "lib/d"), 0);
	assert_int_equal(vf_mkdir(f, "lib/d/d"), 0);
	assert_int_equal(vf_mkdir(f, "lib/e"), 0);
	assert_int_equal(vf_put(f, "lib/d/file", "file"), 0);
	assert_int_equal(vf_symlink(f, "lib/d/l", "file"), 0);
	assert_int_equal(vf_symlink(f, "lib/d/d/deep", "../file"), 0);
	assert_int_equal(vf_symlink(f, "lib/e/other", "../f"), 0);
	assert_int_equal(vf_rename(f, "lib/d", "lib/moved", 0), 0);
	assert_string_equal(vf_text(f, "lib/moved/l"), "->file");
	assert_int_equal(vf_rename(f, "lib/moved", "lib/e", RENAME_EXCHANGE), 0);
	for (int mount = 0; mount < 2; mount++) {
		assert_string_equal(vf_text(f, "lib/e/l"), "->file");
		assert_string_equal(vf_text(f, "lib/e/d/deep"), "->../file");
		assert_string_equal(vf_text(f, "lib/moved/other"), "->../f");
		vf_remount(f);
	}
	/* the name alone is not enough */
	tree_make(f->tmp, "trunk/spec/b/lib/d/", "trunk/spec/b/lib/d/l->../f", NULL);
	assert_string_equal(vf_text(f, "lib/d/l"), "spec");
}

static void each_hard_link_of_a_link_is_one(void **state)
{
	struct viewfix *f = *state;

	open_view(f);
	assert_int_equal(vf_symlink(f, "lib/a", "f"), 0);
	assert_int_equal(vf_link(f, "lib/a", "lib/b"), 0);
	assert_int_equal(vf_link(f, "lib/b", "lib/c"), 0);
	for (int mount = 0; mount < 2; mount++) {
		assert_string_equal(vf_text(f, "lib/a"), "->f");
		assert_string_equal(vf_text(f, "lib/b"), "->f");
		assert_string_equal(vf_text(f, "lib/c"), "->f");
		vf_remount(f);
	}
	assert_int_equal(vf_rm(f, "lib/a"), 0);
	assert_int_equal(vf_rename(f, "lib/b", "lib/d", 0), 0);
	for (int mount = 0; mount < 2; mount++) {
		assert_string_equal(vf_text(f, "lib/c"), "->f");
		assert_string_equal(vf_text(f, "lib/d"), "->f");
		vf_remount(f);
	}
	assert_int_equal(vf_rm(f, "lib/c"), 0);
	assert_int_equal(vf_rm(f, "lib/d"), 0);
	assert_string_equal(vf_text(f, "lib/f"), "spec");
	/* a second name for one that is served as a file is a name of the file */
	assert_int_equal(vf_link(f, "lib/committed", "lib/second"), 0);
	assert_string_equal(vf_text(f, "lib/second"), "spec");
}

static void what_moves_with_its_directory_below_a_graft_may_go(void **state)
{
	struct viewfix *f = *state;

	open_view(f);
	for (int mount = 0; mount < 2; mount++) {
		assert_int_equal(vf_mkdir(f, "gr/b/new"), 0);
		assert_int_equal(vf_put(f, "gr/b/new/x", "x"), 0);
		assert_int_equal(vf_link(f, "gr/b/new/x", "gr/b/new/y"), 0);
		assert_int_equal(vf_rename(f, "gr/b/new", "gr/b/moved", 0), 0);
		if (mount)
			vf_remount(f);
		assert_int_equal(vf_rm(f, "gr/b/moved/x"), 0);
		assert_int_equal(vf_rm(f, "gr/b/moved/y"), 0);
		assert_int_equal(vf_rmdir(f, "gr/b/moved"), 0);
		assert_false(tree_exists(f->tmp, BACK "moved"));
	}
	/* people's, moved with theirs, is not ours */
	assert_int_equal(vf_rename(f, "gr/b/d", "gr/b/e", 0), 0);
	assert_int_equal(vf_rm(f, "gr/b/e/x"), 0);
	assert_string_equal(vf_on_disk(f, BACK "e/x"), "x");
	/* a name of the view's own for what people have: theirs stays */
	assert_int_equal(vf_link(f, "gr/b/f", "gr/b/f2"), 0);
	assert_int_equal(vf_rm(f, "gr/b/f"), 0);
	assert_int_equal(vf_rm(f, "gr/b/f2"), 0);
	assert_string_equal(vf_on_disk(f, BACK "f"), "f");
	assert_false(tree_exists(f->tmp, BACK "f2"));
}

static void two_that_were_made_change_places(void **state)
{
	struct viewfix *f = *state;

	open_view(f);
	assert_int_equal(vf_put(f, "gr/b/one", "1"), 0);
	assert_int_equal(vf_put(f, "gr/b/two", "2"), 0);
	assert_int_equal(vf_rename(f, "gr/b/one", "gr/b/two", RENAME_EXCHANGE), 0);
	assert_int_equal(vf_rename(f, "gr/b/f", "gr/b/g", RENAME_EXCHANGE), 0);
	vf_remount(f);
	assert_int_equal(vf_rm(f, "gr/b/one"), 0);
	assert_int_equal(vf_rm(f, "gr/b/two"), 0);
	assert_false(tree_exists(f->tmp, BACK "one") || tree_exists(f->tmp, BACK "two"));
	assert_int_equal(vf_rm(f, "gr/b/f"), 0);
	assert_string_equal(vf_on_disk(f, BACK "f"), "g");
}

static void damaged_list_is_no_reason_to_fail(void **state)
{
	static const char *const lists[] = {
		"", "\n\n", "x", "+ 1 2", "+ 1 2 a", "+ 1 2 ../a\t../b\n", "- 1\n", "+ 1 2 a\t\n\t",
		"+ 1 2 a\t\n- 1 2 a\n- 1 2 a\n- 1 2\n", "- 1 2 \n",
	};
	struct viewfix *f = *state;

	open_view(f);
	assert_int_equal(vf_put(f, "gr/b/new", "n"), 0);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		char entry[64];

		(void)snprintf(entry, sizeof(entry), "scratch/made=%s", lists[i]);
		tree_make(f->tmp, entry, NULL);
		vf_remount(f);
		assert_string_equal(vf_text(f, "gr/b/new"), "n");
	}
	/* nobody knows any more who made it: it stays */
	assert_int_equal(vf_rm(f, "gr/b/new"), 0);
	assert_string_equal(vf_on_disk(f, BACK "new"), "n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_was_made_below_a_graft_goes_for_good),
		TEST(second_name_elsewhere_does_not_keep_it),
		TEST(what_people_had_stays_in_the_checkout),
		TEST(editors_leave_nothing),
		TEST(links_that_were_made_are_links),
		TEST(links_stay_links_in_a_directory_that_moves),
		TEST(each_hard_link_of_a_link_is_one),
		TEST(what_moves_with_its_directory_below_a_graft_may_go),
		TEST(two_that_were_made_change_places),
		TEST(damaged_list_is_no_reason_to_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
