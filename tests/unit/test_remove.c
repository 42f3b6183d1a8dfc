/* SPDX-License-Identifier: MIT */
/* Removing names: gone from the view for good, and nothing lost that was to stay. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "tree.h"
#include "viewfix.h"

/* With the directories that a request has open, and without. */
#define TEST(t)                                                              \
	cmocka_unit_test_setup_teardown(t, viewfix_setup, viewfix_teardown), \
		cmocka_unit_test_setup_teardown(t, viewfix_setup_by_path, viewfix_teardown)

static void removed_file_stays_gone(void **state)
{
	struct viewfix *f = *state;
	static const struct {
		const char *path;
		const char *kept; /* below T; must still be there, or NULL */
		const char *gone; /* must not be there any more, or NULL */
	} cases[] = {
		{ "src/m.c", NULL, "trunk/src/m.c" },
		{ "lib/t.c", "trunk/lib/t.c", NULL },
		{ "lib/both.c", "trunk/lib/both.c", "trunk/spec/b/lib/both.c" },
		{ "lib/only.c", NULL, "trunk/spec/b/lib/only.c" },
		{ "lib/low.c", NULL, "trunk/spec/c/lib/low.c" },
		{ "lib/three.c", "trunk/lib/three.c", "trunk/spec/b/lib/three.c" },
		{ "gr/b/g.py", "trunk/spec/b/back/g.py", NULL },
		{ "MARKER", NULL, NULL },
		{ "s/x", "trunk/s/x", NULL },
		{ "s/link", "trunk/s/link", NULL },
	};

	tree_make(f->tmp, "trunk/src/m.c=m", "trunk/lib/t.c=t", "trunk/lib/both.c=t",
		  "trunk/spec/b/lib/both.c=s", "trunk/spec/b/lib/only.c=s",
		  "trunk/spec/c/lib/low.c=s", "trunk/lib/three.c=1", "trunk/spec/c/lib/three.c=2",
		  "trunk/spec/b/lib/three.c=3", "trunk/spec/b/back/g.py=g", "trunk/s/x=x",
		  "trunk/s/link->x", NULL);
	vf_open(f, "b,c");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		check_int(cases[i].path, vf_rm(f, cases[i].path), 0);
		check_str(cases[i].path, vf_text(f, cases[i].path), "ENOENT");
	}
	vf_remount(f);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		check_str(cases[i].path, vf_text(f, cases[i].path), "ENOENT");
		if (cases[i].kept)
			check_int(cases[i].kept, tree_exists(f->tmp, cases[i].kept), true);
		if (cases[i].gone)
			check_int(cases[i].gone, tree_exists(f->tmp, cases[i].gone), false);
	}
	assert_string_equal(vf_on_disk(f, "trunk/spec/b/.specfs-hide"), "-");
	assert_string_equal(vf_on_disk(f, "trunk/spec/b/lib/.specfs-hide"),
			    "/t.c\n/both.c\n/three.c\n");
	assert_true(vf_is_clean(f));
}

static void removal_in_scratch_uncovers_nothing(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/s/x=trunk", NULL);
	vf_open(f, "b");
	assert_int_equal(vf_put(f, "s/x", "mine"), 0);
	assert_int_equal(vf_rm(f, "s/x"), 0);
	assert_string_equal(vf_text(f, "s/x"), "ENOENT");
	assert_int_equal(vf_put(f, "s/new", "n"), 0);
	assert_int_equal(vf_rm(f, "s/new"), 0);
	/* a name that only scratch had leaves no mark: a later trunk file is seen */
	tree_make(f->tmp, "trunk/s/new=later", NULL);
	assert_string_equal(vf_text(f, "s/new"), "later");
}

static void mark_hides_one_name_only(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/s/test=1", "trunk/s/d/test=2", "trunk/lib/test=3",
		  "trunk/lib/d/test=4", NULL);
	vf_open(f, "b");
	assert_int_equal(vf_rm(f, "s/test"), 0);
	assert_int_equal(vf_rm(f, "lib/test"), 0);
	vf_remount(f);
	assert_string_equal(vf_text(f, "s/d/test"), "2");
	assert_string_equal(vf_text(f, "lib/d/test"), "4");
	assert_string_equal(vf_names(f, "lib"), "d");
}

static void directory_goes_only_when_the_view_is_empty(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/src/d/x=x", "trunk/src/h/hidden.txt=h", "trunk/lib/d/t.c=t",
		  "trunk/spec/b/lib/d/s.c=s", "trunk/s/d/x=x", NULL);
	vf_open(f, "b");
	assert_int_equal(vf_rmdir(f, "src/d"), -ENOTEMPTY);
	assert_int_equal(vf_rmdir(f, "lib/d"), -ENOTEMPTY);
	assert_int_equal(vf_rmdir(f, "s/d"), -ENOTEMPTY);
	assert_int_equal(vf_rmdir(f, "src/d/x"), -ENOTDIR);
	assert_int_equal(vf_rm(f, "src/d"), -EISDIR);

	assert_int_equal(vf_rm(f, "src/d/x"), 0);
	assert_int_equal(vf_rmdir(f, "src/d"), 0);
	assert_false(tree_exists(f->tmp, "trunk/src/d"));
	/* names that the view hides keep the directory on disk, not in the view */
	assert_int_equal(vf_rmdir(f, "src/h"), 0);
	assert_string_equal(vf_on_disk(f, "trunk/src/h/hidden.txt"), "h");
	assert_string_equal(vf_names(f, "src"), "");

	assert_int_equal(vf_rm(f, "lib/d/t.c"), 0);
	assert_int_equal(vf_rm(f, "lib/d/s.c"), 0);
	assert_int_equal(vf_rmdir(f, "lib/d"), 0);
	assert_string_equal(vf_names(f, "lib"), "");
	assert_string_equal(vf_on_disk(f, "trunk/lib/d/t.c"), "t");
	assert_false(tree_exists(f->tmp, "trunk/spec/b/lib/d"));

	assert_int_equal(vf_rm(f, "s/d/x"), 0);
	assert_int_equal(vf_rmdir(f, "s/d"), 0);
	vf_remount(f);
	assert_string_equal(vf_names(f, "s"), "");
	assert_string_equal(vf_names(f, "lib"), "");
	assert_string_equal(vf_names(f, "src"), "");
	assert_true(vf_is_clean(f));
}

static void directory_made_and_removed_leaves_no_mark(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/s/", "trunk/src/", NULL);
	vf_open(f, "b");
	assert_int_equal(vf_mkdir(f, "s/n"), 0);
	assert_int_equal(vf_rmdir(f, "s/n"), 0);
	assert_int_equal(vf_mkdir(f, "src/n"), 0);
	assert_int_equal(vf_rmdir(f, "src/n"), 0);
	tree_make(f->tmp, "trunk/s/n/f=f", "trunk/src/n/f=f", NULL);
	assert_string_equal(vf_text(f, "s/n/f"), "f");
	assert_string_equal(vf_text(f, "src/n/f"), "f");
}

static void scratch_part_of_a_directory_goes_with_it(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/src/d/x=x", "trunk/src/d/__pycache__/", NULL);
	vf_open(f, "b");
	assert_int_equal(vf_put(f, "src/d/hidden.txt", "cache"), 0);
	assert_string_equal(vf_layer(f, "src/d/hidden.txt"), "scratch");
	assert_int_equal(vf_rm(f, "src/d/hidden.txt"), 0);
	assert_int_equal(vf_rm(f, "src/d/x"), 0);
	assert_int_equal(vf_rmdir(f, "src/d"), 0);
	assert_string_equal(vf_names(f, "src"), "");
	assert_int_equal(vf_mkdir(f, "src/d"), 0);
	assert_string_equal(vf_names(f, "src/d"), "");
}

/* What was removed in scratch only is still on disk, and no name that others have just made. */
static void directory_goes_with_the_whiteouts_in_it(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/.specfs.ini=[profile]\nname = t\nbackends = spec/*/\n"
		  "[map lib]\nat = lib\nfrom = spec/${backend}/lib\n"
		  "[write]\n*.o = scratch\n@any = owner\n",
		  "trunk/spec/b/lib/", "trunk/src/d/x.o=x", "trunk/src/d/e/y.o=y", NULL);
	vf_open(f, "b");
	assert_int_equal(vf_rm(f, "src/d/x.o"), 0);
	assert_int_equal(vf_rm(f, "src/d/e/y.o"), 0);
	assert_int_equal(vf_rmdir(f, "src/d/e"), 0);
	assert_int_equal(vf_rmdir(f, "src/d"), 0);
	assert_string_equal(vf_names(f, "src"), "");
	vf_remount(f);
	assert_string_equal(vf_names(f, "src"), "");
	assert_string_equal(vf_on_disk(f, "trunk/src/d/x.o"), "x");
	assert_int_equal(vf_mkdir(f, "src/d"), 0);
	assert_string_equal(vf_names(f, "src/d"), "");
	assert_true(vf_is_clean(f));
}

/* What another layer has in it and the view hides for a whiteout does not come back. */
static void removed_directory_takes_no_mark_away(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/.specfs.ini=[profile]\nname = t\nbackends = spec/*/\n"
		  "[map lib]\nat = lib\nfrom = spec/${backend}/lib\nonly = a*\n"
		  "[hide]\nnames = hidden.txt\n[write]\n@any = owner\n",
		  "trunk/lib/d/", "trunk/spec/b/lib/d/a/hidden.txt=h", NULL);
	vf_open(f, "b");
	assert_string_equal(vf_names(f, "lib/d"), "a");
	assert_int_equal(vf_rmdir(f, "lib/d/a"), 0);
	assert_int_equal(vf_rmdir(f, "lib/d"), 0);
	assert_string_equal(vf_names(f, "lib"), "");
	assert_int_equal(vf_mkdir(f, "lib/d"), 0);
	assert_string_equal(vf_names(f, "lib/d"), "");
	vf_remount(f);
	assert_string_equal(vf_names(f, "lib/d"), "");
	assert_string_equal(vf_on_disk(f, "trunk/spec/b/lib/d/a/hidden.txt"), "h");
}

static void whole_graft_can_be_removed_and_the_backend_stays(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/spec/b/back/g.py=g", "trunk/spec/b/back/d/h.py=h", NULL);
	vf_open(f, "b");
	assert_int_equal(vf_put(f, "gr/b/g.py", "edited"), 0);
	assert_int_equal(vf_rm(f, "gr/b/d/h.py"), 0);
	assert_int_equal(vf_rmdir(f, "gr/b/d"), 0);
	assert_int_equal(vf_rm(f, "gr/b/g.py"), 0);
	assert_int_equal(vf_rmdir(f, "gr/b"), 0);
	assert_string_equal(vf_text(f, "gr/b"), "ENOENT");
	assert_string_equal(vf_on_disk(f, "trunk/spec/b/back/g.py"), "edited");
	assert_string_equal(vf_on_disk(f, "trunk/spec/b/back/d/h.py"), "h");
}

static void changed_meanwhile_is_not_removed(void **state)
{
	struct viewfix *f = *state;
	struct found found;

	tree_make(f->tmp, "trunk/lib/t.c=t", "trunk/spec/b/lib/both.c=s", "trunk/src/m.c=m", NULL);
	vf_open(f, "b");
	found = vf_look(f, "lib/both.c");
	tree_make(f->tmp, "trunk/src/new=other", NULL);
	{
		char a[300];
		char b[300];

		(void)snprintf(a, sizeof(a), "%s/src/new", f->trunk);
		(void)snprintf(b, sizeof(b), "%s/spec/b/lib/both.c", f->trunk);
		assert_int_equal(rename(a, b), 0);
	}
	assert_int_equal(change_unlink(f->v, "lib/both.c", &found, NULL), -ESTALE);
	assert_string_equal(vf_text(f, "lib/both.c"), "other");
	found = vf_look(f, "lib/both.c");
	assert_int_equal(change_unlink(f->v, "lib/both.c", &found, NULL), 0);
}

static void failed_mark_leaves_the_file(void **state)
{
	struct viewfix *f = *state;
	char spec[300];

	tree_make(f->tmp, "trunk/lib/both.c=t", "trunk/spec/b/lib/both.c=s",
		  "trunk/spec/b/lib/.specfs-hide/", NULL);
	vf_open(f, "b");
	(void)snprintf(spec, sizeof(spec), "%s/spec/b/lib/both.c", f->trunk);
	assert_true(vf_rm(f, "lib/both.c") < 0);
	assert_string_equal(vf_text(f, "lib/both.c"), "s");
	assert_int_equal(access(spec, F_OK), 0);
}

static void spec_directory_is_made_for_its_hide_list(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/lib/d/t.c=t", NULL);
	vf_open(f, "b");
	assert_false(tree_exists(f->tmp, "trunk/spec/b/lib"));
	assert_int_equal(vf_rm(f, "lib/d/t.c"), 0);
	assert_string_equal(vf_on_disk(f, "trunk/spec/b/lib/.specfs-hide"), "/d/t.c\n");
	assert_string_equal(vf_names(f, "lib/d"), "");
	assert_int_equal(vf_put(f, "lib/d/t.c", "again"), 0);
	assert_string_equal(vf_text(f, "lib/d/t.c"), "again");
	assert_string_equal(vf_on_disk(f, "trunk/lib/d/t.c"), "t");
}

/* A hide list hides lower layers only: what the profile makes in the directory stays hidden too. */
static void check_directory_with_link_goes(struct viewfix *f, const char *file)
{
	tree_make(f->tmp, "trunk/spec/b/tools/x/", file, NULL);
	vf_open(f, "b");
	check_str(file, vf_names(f, "py/tools"), "t.py x");
	check_int(file, vf_rm(f, "py/tools/t.py"), 0);
	check_int(file, vf_rm(f, "py/tools/x"), 0);
	check_int(file, vf_rmdir(f, "py/tools"), 0);
	check_str(file, vf_text(f, "py/tools"), "ENOENT");
	vf_remount(f);
	check_str(file, vf_text(f, "py/tools"), "ENOENT");
	check_int(file, vf_mkdir(f, "py/tools"), 0);
	check_str(file, vf_names(f, "py/tools"), "");
}

static void trunk_directory_goes_with_the_links_in_it(void **state)
{
	check_directory_with_link_goes(*state, "trunk/py/tools/t.py=t");
}

static void spec_directory_goes_with_the_links_in_it(void **state)
{
	check_directory_with_link_goes(*state, "trunk/spec/b/py/tools/t.py=s");
}

/* rm -rf compares the numbers when it climbs out of a directory. */
static void directory_of_the_profile_keeps_its_number(void **state)
{
	struct viewfix *f = *state;
	ino_t links;
	ino_t grafts;

	tree_make(f->tmp, "trunk/spec/b/tools/x/", "trunk/spec/b/tools/y/", "trunk/spec/b/back/g=g",
		  NULL);
	vf_open(f, "b");
	links = vf_look(f, "py/tools").st.st_ino;
	grafts = vf_look(f, "gr").st.st_ino;
	assert_int_equal(vf_rm(f, "py/tools/x"), 0);
	assert_int_equal(vf_rm(f, "gr/b/g"), 0);
	assert_int_equal(vf_look(f, "py/tools").st.st_ino, links);
	assert_int_equal(vf_look(f, "gr").st.st_ino, grafts);
	assert_int_equal(vf_rmdir(f, "gr/b"), 0);
	assert_int_equal(vf_chmod(f, "py/tools", 0700), 0);
	assert_int_equal(vf_look(f, "py/tools").st.st_ino, links);
}

static void directory_over_a_file_leaves_no_file_behind(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/lib/d=file", "trunk/lib/e=file", "trunk/spec/b/lib/d/",
		  "trunk/spec/b/lib/e/", NULL);
	vf_open(f, "b");
	assert_int_equal(vf_rmdir(f, "lib/d"), 0);
	assert_string_equal(vf_text(f, "lib/d"), "ENOENT");
	assert_int_equal(vf_rename(f, "lib/e", "lib/n", 0), 0);
	assert_string_equal(vf_text(f, "lib/e"), "ENOENT");
	assert_string_equal(vf_names(f, "lib"), "n");
	assert_string_equal(vf_on_disk(f, "trunk/lib/d"), "file");
	vf_remount(f);
	assert_string_equal(vf_names(f, "lib"), "n");
}

static void what_a_map_does_not_show_needs_no_mark(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/.specfs.ini=[profile]\nname = t\nbackends = spec/*/\n"
		  "[map lib]\nat = lib\nfrom = spec/${backend}/lib\nonly = a*\n"
		  "[write]\n@mapped = spec\n@any = scratch\n",
		  "trunk/lib/", "trunk/spec/b/lib/d/no=no", NULL);
	vf_open(f, "b");
	assert_int_equal(vf_put(f, "lib/d", "d"), 0);
	assert_int_equal(vf_rm(f, "lib/d"), 0);
	assert_string_equal(vf_text(f, "lib/d"), "ENOENT");
	tree_make(f->tmp, "trunk/spec/b/lib/d/a1=one", NULL);
	assert_string_equal(vf_text(f, "lib/d/a1"), "one");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(removed_file_stays_gone),
		TEST(removal_in_scratch_uncovers_nothing),
		TEST(mark_hides_one_name_only),
		TEST(directory_goes_only_when_the_view_is_empty),
		TEST(directory_made_and_removed_leaves_no_mark),
		TEST(scratch_part_of_a_directory_goes_with_it),
		TEST(directory_goes_with_the_whiteouts_in_it),
		TEST(removed_directory_takes_no_mark_away),
		TEST(whole_graft_can_be_removed_and_the_backend_stays),
		TEST(changed_meanwhile_is_not_removed),
		TEST(failed_mark_leaves_the_file),
		TEST(spec_directory_is_made_for_its_hide_list),
		TEST(trunk_directory_goes_with_the_links_in_it),
		TEST(spec_directory_goes_with_the_links_in_it),
		TEST(directory_of_the_profile_keeps_its_number),
		TEST(directory_over_a_file_leaves_no_file_behind),
		TEST(what_a_map_does_not_show_needs_no_mark),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
