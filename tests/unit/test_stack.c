/* SPDX-License-Identifier: MIT */
/* How layers merge: every rule of the view that needs no mount. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "layer/mark.h"
#include "stackfix.h"
#include "tree.h"

#define MAP_AT "python/triton"
#define MAP_FROM "third_party/b/spec/triton"

static void spec_file_shadows_trunk_file(void **state)
{
	struct fix *f = *state;

	tree_make(f->tmp, "trunk/lib/a.c=trunk", "trunk/lib/t.c=only", "trunk/sp/a.c=spec",
		  "trunk/sp/new.c=new", NULL);
	fix_rule(f, RULE_MAP, "lib", "sp");
	fix_settle(f);
	assert_string_equal(fix_text(f, "lib/a.c"), "spec");
	assert_string_equal(fix_text(f, "lib/t.c"), "only");
	assert_string_equal(fix_text(f, "lib/new.c"), "new");
	assert_string_equal(fix_names(f, "lib"), "a.c new.c t.c");
	assert_string_equal(fix_names(f, ""), "lib sp");
	assert_int_equal(fix_lookup(f, "lib/none"), -ENOENT);
	assert_int_equal(fix_lookup(f, "lib/a.c/x"), -ENOTDIR);
}

static void edits_underneath_show_at_once(void **state)
{
	struct fix *f = *state;

	tree_make(f->tmp, "trunk/lib/a.c=trunk", NULL);
	fix_rule(f, RULE_MAP, "lib", "sp");
	fix_settle(f);
	assert_string_equal(fix_text(f, "lib/a.c"), "trunk");
	tree_make(f->tmp, "trunk/sp/a.c=spec", NULL);
	assert_string_equal(fix_text(f, "lib/a.c"), "spec");
	assert_int_equal(unlinkat(f->st.root_fd, "sp/a.c", 0), 0);
	assert_string_equal(fix_text(f, "lib/a.c"), "trunk");
}

static void place_of_a_map_exists_without_trunk(void **state)
{
	struct fix *f = *state;

	tree_make(f->tmp, "trunk/" MAP_FROM "/x.py=x", NULL);
	fix_rule(f, RULE_MAP, MAP_AT, MAP_FROM);
	fix_rule(f, RULE_MAP, "gone/far", "no/such");
	fix_settle(f);
	assert_string_equal(fix_text(f, MAP_AT "/x.py"), "x");
	assert_string_equal(fix_names(f, "python"), "triton");
	assert_int_equal(fix_lookup(f, "gone"), -ENOENT);
	assert_string_equal(fix_names(f, ""), "python third_party");
}

static void kinds_hide_each_other(void **state)
{
	struct fix *f = *state;

	tree_make(f->tmp, "trunk/lib/d/x=trunk", "trunk/lib/f=trunk", "trunk/sp/d=file",
		  "trunk/sp/f/y=dir", NULL);
	fix_rule(f, RULE_MAP, "lib", "sp");
	fix_settle(f);
	assert_string_equal(fix_text(f, "lib/d"), "file");
	assert_string_equal(fix_names(f, "lib/f"), "y");
}

static void directory_over_file_over_directory_does_not_merge(void **state)
{
	struct fix *f = *state;

	tree_make(f->tmp, "trunk/lib/d/low=1", "trunk/sp2/d=file", "trunk/sp1/d/high=1", NULL);
	fix_rule(f, RULE_MAP, "lib", "sp1");
	fix_rule(f, RULE_MAP, "lib", "sp2");
	fix_settle(f);
	assert_string_equal(fix_names(f, "lib/d"), "high");
}

static void chain_takes_the_most_special(void **state)
{
	struct fix *f = *state;

	tree_make(f->tmp, "trunk/lib/a=0", "trunk/sp1/a=1", "trunk/sp2/a=2", "trunk/sp2/b=2", NULL);
	fix_rule(f, RULE_MAP, "lib", "sp1");
	fix_rule(f, RULE_MAP, "lib", "sp2");
	fix_settle(f);
	assert_string_equal(fix_text(f, "lib/a"), "1");
	assert_string_equal(fix_text(f, "lib/b"), "2");
}

static void whiteout_hides_lower_name(void **state)
{
	struct fix *f = *state;

	tree_make(f->tmp, "trunk/d/a=1", "trunk/d/b=2", "scratch/d/", NULL);
	fix_whiteout(f, "d/a");
	fix_settle(f);
	assert_int_equal(fix_lookup(f, "d/a"), -ENOENT);
	assert_string_equal(fix_names(f, "d"), "b");
	assert_int_equal(stack_has_below(&f->st, "d/a", 0), 1);
	assert_int_equal(stack_has_below(&f->st, "d/none", 0), 0);
}

static void only_a_marked_file_is_a_whiteout(void **state)
{
	struct fix *f = *state;

	tree_make(f->tmp, "trunk/d/a=1", "scratch/d/a=", NULL);
	fix_settle(f);
	assert_int_equal(fchmodat(f->st.layers[0].base_fd, "d/a", 01600, 0), 0);
	assert_int_equal(fix_lookup(f, "d/a"), 0);
	assert_int_equal(f->f.layer, 0);
}

static void opaque_directory_stops_the_merge(void **state)
{
	struct fix *f = *state;

	tree_make(f->tmp, "trunk/d/a=1", "scratch/d/n=2", NULL);
	fix_mark(f, "d", MARK_OPAQUE);
	fix_settle(f);
	assert_string_equal(fix_names(f, "d"), "n");
	assert_int_equal(fix_lookup(f, "d/a"), -ENOENT);
}

static void implied_directory_takes_attributes_from_below(void **state)
{
	struct fix *f = *state;

	tree_make(f->tmp, "trunk/d/a=1", "scratch/d/n=2", NULL);
	fix_mark(f, "d", MARK_IMPLIED);
	fix_settle(f);
	assert_int_equal(fchmodat(f->st.root_fd, "d", 0711, 0), 0);
	assert_int_equal(fix_lookup(f, "d"), 0);
	assert_int_equal(f->f.st.st_mode & 0777, 0711);
	assert_string_equal(fix_names(f, "d"), "a n");
}

static void hollow_implied_directory_is_not_shown(void **state)
{
	struct fix *f = *state;

	tree_make(f->tmp, "scratch/d/e/", NULL);
	fix_mark(f, "d", MARK_IMPLIED);
	fix_mark(f, "d/e", MARK_IMPLIED);
	fix_settle(f);
	assert_int_equal(fix_lookup(f, "d"), -ENOENT);
	assert_string_equal(fix_names(f, ""), "");
	tree_make(f->tmp, "scratch/d/e/x=1", NULL);
	assert_int_equal(fix_lookup(f, "d/e"), 0);
}

static void hollow_implied_directory_hides_no_file(void **state)
{
	struct fix *f = *state;

	tree_make(f->tmp, "trunk/d=file", "scratch/d/e/", NULL);
	fix_mark(f, "d", MARK_IMPLIED);
	fix_mark(f, "d/e", MARK_IMPLIED);
	fix_settle(f);
	assert_string_equal(fix_text(f, "d"), "file");
	assert_int_equal(f->f.parts, 0);
	assert_string_equal(fix_names(f, ""), "d");
	tree_make(f->tmp, "scratch/d/e/x=1", NULL);
	assert_string_equal(fix_names(f, "d"), "e");
}

static void hide_list_hides_lower_layers_only(void **state)
{
	struct fix *f = *state;

	tree_make(f->tmp, "trunk/lib/a=t", "trunk/lib/b=t", "trunk/lib/sub/c=t", "trunk/sp/b=s",
		  "trunk/sp/.specfs-hide=# gone here\n/a\n/b\nsub/\n", NULL);
	fix_rule(f, RULE_MAP, "lib", "sp");
	fix_settle(f);
	assert_int_equal(fix_lookup(f, "lib/a"), -ENOENT);
	assert_string_equal(fix_text(f, "lib/b"), "s");
	assert_string_equal(fix_names(f, "lib"), "b");
	assert_int_equal(stack_has_below(&f->st, "lib/b", 1), 0);
	assert_string_equal(fix_names(f, "sp"), ".specfs-hide b");
}

static void who_has_listed_asks_no_hide_list(void **state)
{
	struct fix *f = *state;
	cleanup_dirset struct dirset dir;
	struct found found;

	tree_make(f->tmp, "trunk/lib/a=t", "trunk/sp/b=s", "trunk/sp/.specfs-hide=/a\n", NULL);
	fix_rule(f, RULE_MAP, "lib", "sp");
	fix_settle(f);
	dirset_init(&dir);
	assert_int_equal(fix_lookup(f, "lib"), 0);
	assert_int_equal(stack_open_dir(&f->st, "lib", f->f.parts, &dir), 0);
	assert_int_equal(stack_child(&f->st, &dir, "a", &found), -ENOENT);
	assert_int_equal(stack_child_alone(&f->st, &dir, "a", f->st.n - 1, &found), 0);
}

static void hide_patterns_keep_leftovers_out(void **state)
{
	struct fix *f = *state;

	tree_make(f->tmp, "trunk/p/__pycache__/x=1", "trunk/p/a=1",
		  "scratch/p/__pycache__/y=2", NULL);
	assert_int_equal(strv_add(&f->profile.hide, "__pycache__/"), 0);
	fix_settle(f);
	assert_string_equal(fix_names(f, "p"), "__pycache__ a");
	assert_string_equal(fix_names(f, "p/__pycache__"), "y");
}

static void hide_patterns_count_below_a_graft(void **state)
{
	struct fix *f = *state;

	tree_make(f->tmp, "trunk/tp/b/a=1", "trunk/tp/b/__pycache__/x=1",
		  "trunk/tp/b/deep/__pycache__/x=1", NULL);
	assert_int_equal(strv_add(&f->profile.hide, "__pycache__/"), 0);
	fix_rule(f, RULE_GRAFT, "p/spec/b", "tp/b");
	fix_settle(f);
	assert_string_equal(fix_names(f, "p/spec/b"), "a deep");
	assert_string_equal(fix_names(f, "p/spec/b/deep"), "");
	assert_int_equal(fix_lookup(f, "p/spec/b/__pycache__/x"), -ENOENT);
}

static void hide_patterns_spare_a_grafts_own_place(void **state)
{
	struct fix *f = *state;
	struct rule *r;

	tree_make(f->tmp, "trunk/p/spec/old/x=1", "trunk/p/extra/old/x=1", "trunk/tp/b/a=1",
		  "trunk/tp/l/x1/f=2", NULL);
	assert_int_equal(strv_add(&f->profile.hide, "/p/*/*"), 0);
	fix_rule(f, RULE_GRAFT, "p/spec/b", "tp/b");
	r = fix_rule(f, RULE_GRAFT, "p/extra", "tp/l");
	r->glob = strdup("*");
	fix_settle(f);
	assert_string_equal(fix_names(f, "p/spec"), "b");
	assert_string_equal(fix_names(f, "p/spec/b"), "a");
	assert_string_equal(fix_names(f, "p/extra"), "x1");
	assert_string_equal(fix_text(f, "p/extra/x1/f"), "2");
}

static void patterns_of_a_map_are_obeyed(void **state)
{
	struct fix *f = *state;
	struct rule *r;

	tree_make(f->tmp, "trunk/" MAP_AT "/__init__.py=t",
		  "trunk/" MAP_AT "/language/__init__.py=t",
		  "trunk/" MAP_FROM "/__init__.py=s", "trunk/" MAP_FROM "/language/__init__.py=s",
		  "trunk/" MAP_FROM "/language/core.py=s", NULL);
	r = fix_rule(f, RULE_MAP, MAP_AT, MAP_FROM);
	assert_int_equal(strv_add(&r->only, "/language/"), 0);
	assert_int_equal(strv_add(&r->except, "/language/__init__.py"), 0);
	fix_settle(f);
	assert_string_equal(fix_text(f, MAP_AT "/__init__.py"), "t");
	assert_string_equal(fix_text(f, MAP_AT "/language/__init__.py"), "t");
	assert_string_equal(fix_text(f, MAP_AT "/language/core.py"), "s");
	assert_string_equal(fix_names(f, MAP_AT), "__init__.py language");
}

static void hijack_follows_the_trunk_as_it_is_now(void **state)
{
	struct fix *f = *state;
	struct rule *r;

	tree_make(f->tmp, "trunk/" MAP_AT "/language/__init__.py=import os\n",
		  "trunk/" MAP_AT "/language/core.py=t",
		  "trunk/" MAP_FROM "/language/core.py=s", NULL);
	r = fix_rule(f, RULE_MAP, MAP_AT, MAP_FROM);
	r->hijack = true;
	fix_settle(f);
	assert_string_equal(fix_text(f, MAP_AT "/language/core.py"), "t");
	tree_make(f->tmp, "trunk/" MAP_AT "/language/__init__.py=spec_path(__path__)\n", NULL);
	assert_string_equal(fix_text(f, MAP_AT "/language/core.py"), "s");
}

static void directory_on_the_way_to_nothing_is_not_shown(void **state)
{
	struct fix *f = *state;
	struct rule *r;

	tree_make(f->tmp, "trunk/" MAP_AT "/x=t", "trunk/" MAP_FROM "/experimental/README=s", NULL);
	r = fix_rule(f, RULE_MAP, MAP_AT, MAP_FROM);
	assert_int_equal(strv_add(&r->only, "/experimental/gluon/"), 0);
	fix_settle(f);
	assert_string_equal(fix_names(f, MAP_AT), "x");
	tree_make(f->tmp, "trunk/" MAP_FROM "/experimental/gluon/a=s", NULL);
	assert_string_equal(fix_names(f, MAP_AT), "experimental x");
	assert_string_equal(fix_names(f, MAP_AT "/experimental"), "gluon");
}

static void graft_hides_what_was_there(void **state)
{
	struct fix *f = *state;

	tree_make(f->tmp, "trunk/p/spec/b/old=1", "trunk/p/spec/other->x",
		  "trunk/tp/b/new=2", NULL);
	fix_rule(f, RULE_GRAFT, "p/spec/b", "tp/b");
	fix_settle(f);
	assert_string_equal(fix_names(f, "p/spec/b"), "new");
	assert_string_equal(fix_names(f, "p/spec"), "b other");
}

static void graft_with_glob_takes_each_match(void **state)
{
	struct fix *f = *state;
	struct rule *r;

	tree_make(f->tmp, "trunk/p/extra/own=1", "trunk/tp/b/language/x1/f=2",
		  "trunk/tp/b/language/skip/f=3", NULL);
	r = fix_rule(f, RULE_GRAFT, "p/extra", "tp/b/language");
	r->glob = strdup("x*");
	fix_settle(f);
	assert_string_equal(fix_names(f, "p/extra"), "own x1");
	assert_string_equal(fix_text(f, "p/extra/x1/f"), "2");
	assert_string_equal(fix_text(f, "p/extra/own"), "1");
}

static void links_are_relative_and_never_dangle(void **state)
{
	struct fix *f = *state;
	struct rule *r;

	tree_make(f->tmp, "trunk/tp/b/language/x1/f=2", "trunk/p/extra/", NULL);
	r = fix_rule(f, RULE_LINK, "p/extra", "tp/b/language");
	r->glob = strdup("*");
	fix_rule(f, RULE_LINK, "p/one", "tp/b/none");
	fix_settle(f);
	assert_string_equal(fix_names(f, "p/extra"), "x1");
	assert_string_equal(fix_names(f, "p"), "extra");
	assert_int_equal(fix_lookup(f, "p/extra/x1"), 0);
	strbuf_reset(&f->out);
	assert_int_equal(stack_readlink(&f->st, "p/extra/x1", &f->f, &f->out), 0);
	assert_string_equal(f->out.buf, "../../tp/b/language/x1");
	assert_int_equal(f->f.st.st_size, f->out.len);
}

static void generated_file_has_its_content(void **state)
{
	struct fix *f = *state;
	struct rule *r;

	tree_make(f->tmp, "trunk/p/MARK=wrong", NULL);
	r = fix_rule(f, RULE_FILE, "p/MARK", NULL);
	r->content = strdup("b");
	fix_settle(f);
	assert_string_equal(fix_text(f, "p/MARK"), "b");
	assert_int_equal(f->f.st.st_size, 1);
	assert_string_equal(fix_names(f, "p"), "MARK");
}

static void spec_links_are_served_as_files(void **state)
{
	struct fix *f = *state;

	tree_make(f->tmp, "trunk/src/ir.h=text", "trunk/sp/ir.h->../src/ir.h",
		  "trunk/sp/out->../src", "trunk/sp/in->ir.h", "trunk/sp/dangle->nowhere", NULL);
	fix_rule(f, RULE_MAP, "deep/er", "sp");
	fix_settle(f);
	assert_string_equal(fix_text(f, "deep/er/ir.h"), "text");
	assert_true(S_ISREG(f->f.st.st_mode));
	assert_string_equal(fix_text(f, "deep/er/in"), "text");
	assert_int_equal(fix_lookup(f, "deep/er/out"), 0);
	strbuf_reset(&f->out);
	assert_int_equal(stack_readlink(&f->st, "deep/er/out", &f->f, &f->out), 0);
	assert_string_equal(f->out.buf, "../../src");
	assert_int_equal(fix_lookup(f, "deep/er/dangle"), 0);
	assert_true(S_ISLNK(f->f.st.st_mode));
}

static void replaced_link_is_stale(void **state)
{
	struct fix *f = *state;

	tree_make(f->tmp, "trunk/link->x", NULL);
	fix_settle(f);
	assert_int_equal(fix_lookup(f, "link"), 0);
	assert_int_equal(unlinkat(f->st.layers[f->f.layer].base_fd, "link", 0), 0);
	assert_int_equal(stack_readlink(&f->st, "link", &f->f, &f->out), -ESTALE);
	tree_make(f->tmp, "trunk/link=file", NULL);
	assert_int_equal(stack_readlink(&f->st, "link", &f->f, &f->out), -ESTALE);
}

static void replaced_file_is_stale(void **state)
{
	struct fix *f = *state;

	tree_make(f->tmp, "trunk/a=1", "trunk/b=2", NULL);
	fix_settle(f);
	assert_int_equal(fix_lookup(f, "a"), 0);
	assert_int_equal(renameat(f->st.root_fd, "b", f->st.root_fd, "a"), 0);
	assert_int_equal(stack_open_file(&f->st, "a", &f->f, O_RDONLY), -ESTALE);
}

static void numbers_are_the_layers_own(void **state)
{
	struct fix *f = *state;
	struct stat st;

	tree_make(f->tmp, "trunk/lib/a=t", "trunk/sp/a=s", "trunk/sp/d/x=1", NULL);
	fix_rule(f, RULE_MAP, "lib", "sp");
	fix_settle(f);
	assert_int_equal(fstatat(f->st.root_fd, "sp/a", &st, 0), 0);
	assert_int_equal(fix_lookup(f, "lib/a"), 0);
	assert_int_equal(f->f.st.st_ino, st.st_ino);
	assert_int_equal(fstatat(f->st.root_fd, "lib", &st, 0), 0);
	assert_int_equal(fix_lookup(f, "lib"), 0);
	assert_int_equal(f->f.st.st_ino, st.st_ino);
	assert_int_equal(fstatat(f->st.root_fd, "sp/d", &st, 0), 0);
	assert_int_equal(fix_lookup(f, "lib/d"), 0);
	assert_int_not_equal(f->f.st.st_ino, st.st_ino);
}

static void layer_that_vanishes_is_left_out(void **state)
{
	struct fix *f = *state;

	tree_make(f->tmp, "trunk/lib/a=t", "trunk/sp/a=s", NULL);
	fix_rule(f, RULE_MAP, "lib", "sp");
	fix_settle(f);
	assert_int_equal(renameat(f->st.root_fd, "sp", f->st.root_fd, "away"), 0);
	assert_string_equal(fix_text(f, "lib/a"), "t");
	assert_int_equal(renameat(f->st.root_fd, "away", f->st.root_fd, "sp"), 0);
	assert_string_equal(fix_text(f, "lib/a"), "s");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fix_setup, fix_teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(spec_file_shadows_trunk_file),
		TEST(edits_underneath_show_at_once),
		TEST(place_of_a_map_exists_without_trunk),
		TEST(kinds_hide_each_other),
		TEST(directory_over_file_over_directory_does_not_merge),
		TEST(chain_takes_the_most_special),
		TEST(whiteout_hides_lower_name),
		TEST(only_a_marked_file_is_a_whiteout),
		TEST(opaque_directory_stops_the_merge),
		TEST(implied_directory_takes_attributes_from_below),
		TEST(hollow_implied_directory_is_not_shown),
		TEST(hollow_implied_directory_hides_no_file),
		TEST(hide_list_hides_lower_layers_only),
		TEST(who_has_listed_asks_no_hide_list),
		TEST(hide_patterns_keep_leftovers_out),
		TEST(hide_patterns_count_below_a_graft),
		TEST(hide_patterns_spare_a_grafts_own_place),
		TEST(patterns_of_a_map_are_obeyed),
		TEST(hijack_follows_the_trunk_as_it_is_now),
		TEST(directory_on_the_way_to_nothing_is_not_shown),
		TEST(graft_hides_what_was_there),
		TEST(graft_with_glob_takes_each_match),
		TEST(links_are_relative_and_never_dangle),
		TEST(generated_file_has_its_content),
		TEST(spec_links_are_served_as_files),
		TEST(replaced_link_is_stale),
		TEST(replaced_file_is_stale),
		TEST(numbers_are_the_layers_own),
		TEST(layer_that_vanishes_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
