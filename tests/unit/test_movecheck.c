/* SPDX-License-Identifier: MIT */
/*
 * Renaming where patterns and hide lists name paths: what a directory showed it shows at its new
 * name, and nothing else, whatever they say of the new place.
 */
#include <stdio.h>
#include <sys/resource.h>

#include "check.h"
#include "tree.h"
#include "viewfix.h"

#define TEST(t) cmocka_unit_test_setup_teardown(t, viewfix_setup, viewfix_teardown)

static void open_with(struct viewfix *f, const char *map_keys, const char *hide_keys)
{
	char profile[512];

	(void)snprintf(profile, sizeof(profile),
		       "trunk/.specfs.ini=[profile]\nname = t\nbackends = spec/*/\n"
		       "[map lib]\nat = lib\nfrom = spec/${backend}/lib\n%s"
		       "[hide]\n%s[write]\n*.o = scratch\n@any = owner\n",
		       map_keys, hide_keys);
	tree_make(f->tmp, profile, "trunk/spec/b/lib/", NULL);
	vf_open(f, "b");
}

static void name_that_a_map_leaves_out_stays_in_view(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/spec/b/lib/d/no=no", "trunk/spec/b/lib/d/in/x=x",
		  "trunk/spec/b/lib/e/y=y", NULL);
	open_with(f, "except = /t/no /u/in/\n", "");
	assert_int_equal(vf_rename(f, "lib/d", "lib/t", 0), 0);
	assert_string_equal(vf_names(f, "lib/t"), "in no");
	assert_string_equal(vf_text(f, "lib/t/no"), "no");
	assert_string_equal(vf_text(f, "lib/d"), "ENOENT");
	assert_int_equal(vf_rename(f, "lib/t", "lib/u", 0), 0);
	assert_string_equal(vf_text(f, "lib/u/in/x"), "x");
	/* where no pattern names anything, the layer does it */
	assert_int_equal(vf_rename(f, "lib/e", "lib/v", 0), 0);
	assert_string_equal(vf_on_disk(f, "trunk/spec/b/lib/v/y"), "y");
	vf_remount(f);
	assert_string_equal(vf_text(f, "lib/u/in/x"), "x");
	assert_string_equal(vf_names(f, "lib"), "u v");
}

static void left_over_names_of_the_new_place_hide_nothing(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/src/d/in/x=x", "trunk/src/d/in/l->x", "trunk/src/k->d",
		  "trunk/src/file=file", "trunk/src/deep/d/in/x=deep", NULL);
	open_with(f, "", "names = /src/t/in/x /src/**/u/in/\nlinks = /src/v/*/l /src/file\n");
	assert_int_equal(vf_rename(f, "src/d", "src/t", 0), 0);
	assert_string_equal(vf_text(f, "src/t/in/x"), "x");
	assert_int_equal(vf_rename(f, "src/t", "src/v", 0), 0);
	assert_string_equal(vf_text(f, "src/v/in/l"), "->x");
	assert_int_equal(vf_rename(f, "src/deep/d", "src/deep/u", 0), 0);
	assert_string_equal(vf_text(f, "src/deep/u/in/x"), "deep");
	assert_int_equal(vf_rename(f, "src/k", "src/file", 0), 0);
	assert_string_equal(vf_text(f, "src/file"), "->d");
	assert_string_equal(vf_names(f, "src"), "deep file v");
}

static void hidden_name_does_not_come_to_light(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/src/d/left=left", "trunk/src/d/x=x", "trunk/lib/d/x=x",
		  "trunk/lib/d/y=y", "trunk/spec/b/lib/.specfs-hide=/d/y\n", NULL);
	open_with(f, "", "names = /src/d/left\n");
	assert_string_equal(vf_names(f, "src/d"), "x");
	assert_int_equal(vf_rename(f, "src/d", "src/t", 0), 0);
	assert_string_equal(vf_names(f, "src/t"), "x");
	assert_string_equal(vf_names(f, "src"), "t");
	assert_string_equal(vf_on_disk(f, "trunk/src/d/left"), "left");
	assert_string_equal(vf_names(f, "lib/d"), "x");
	assert_int_equal(vf_rename(f, "lib/d", "lib/t", 0), 0);
	assert_string_equal(vf_names(f, "lib/t"), "x");
	assert_string_equal(vf_names(f, "lib"), "t");
	assert_string_equal(vf_on_disk(f, "trunk/lib/d/y"), "y");
}

/* Below a directory that `only` names everything is shown. */
static void file_that_no_view_showed_does_not_either(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/spec/b/lib/a/x=x", "trunk/spec/b/lib/d/a1=one",
		  "trunk/spec/b/lib/d/b1=two", NULL);
	open_with(f, "only = a*\n", "");
	assert_string_equal(vf_names(f, "lib/d"), "a1");
	assert_int_equal(vf_rename(f, "lib/d", "lib/a/d", 0), 0);
	assert_string_equal(vf_names(f, "lib/a/d"), "a1");
	assert_string_equal(vf_on_disk(f, "trunk/spec/b/lib/d/b1"), "two");
	/* a hide list counts below its map only, whatever its lines name */
	tree_make(f->tmp, "trunk/spec/b/lib/.specfs-hide=z\n", "trunk/src/u/z=z",
		  "trunk/lib/", NULL);
	assert_int_equal(vf_rename(f, "src/u", "lib/u", 0), 0);
	assert_string_equal(vf_text(f, "lib/u/z"), "z");
}

static void exchanged_directories_keep_their_names(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/src/d/a=a", "trunk/src/d/b=b", "trunk/src/e/a=1",
		  "trunk/src/e/b=2", NULL);
	open_with(f, "", "names = /src/d/b\n");
	assert_int_equal(vf_rename(f, "src/d", "src/e", RENAME_EXCHANGE), 0);
	assert_string_equal(vf_names(f, "src/e"), "a");
	assert_string_equal(vf_names(f, "src/d"), "a b");
	assert_string_equal(vf_text(f, "src/d/b"), "2");
	assert_string_equal(vf_text(f, "src/e/a"), "a");
}

/* Each level is in two layers. A copy takes a descriptor for each level, nothing else does. */
static void deep_directory_takes_few_descriptors(void **state)
{
	enum { LEVELS = 100, LIMIT = 160 };
	struct viewfix *f = *state;
	char deep[2 * LEVELS + 1];
	char low[300];
	char high[300];
	struct rlimit was;
	struct rlimit few;
	int r;

	for (int i = 0; i < LEVELS; i++)
		(void)snprintf(deep + (size_t)i * 2, 3, "/d");
	(void)snprintf(low, sizeof(low), "trunk/lib/d%s/low=low", deep);
	(void)snprintf(high, sizeof(high), "trunk/spec/b/lib/d%s/spec=spec", deep);
	tree_make(f->tmp, low, high, NULL);
	open_with(f, "", "");
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	few = (struct rlimit){ .rlim_cur = LIMIT, .rlim_max = was.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	r = vf_rename(f, "lib/d", "t", 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	assert_int_equal(r, 0);
	(void)snprintf(low, sizeof(low), "t%s", deep);
	assert_string_equal(vf_names(f, low), "low spec");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(name_that_a_map_leaves_out_stays_in_view),
		TEST(left_over_names_of_the_new_place_hide_nothing),
		TEST(hidden_name_does_not_come_to_light),
		TEST(file_that_no_view_showed_does_not_either),
		TEST(exchanged_directories_keep_their_names),
		TEST(deep_directory_takes_few_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
