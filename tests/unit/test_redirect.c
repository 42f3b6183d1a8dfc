/* SPDX-License-Identifier: MIT */
/* Redirected directories without a mount: which may be, and what the view shows then. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "layer/redirect.h"
#include "tree.h"
#include "viewfix.h"

#define TEST(t) cmocka_unit_test_setup_teardown(t, viewfix_setup, viewfix_teardown)

/* Redirect; the reason of a refusal goes to f->text. */
static int begin(struct viewfix *f, const char *dir, enum redirect_form form)
{
	struct diag d = DIAG_INIT;
	int r = redirect_begin(f->v, dir, form, false, &d);

	(void)snprintf(f->text, sizeof(f->text), "%s", d.lines.n ? d.lines.v[0] : "");
	diag_clear(&d);
	return r;
}

static void missing_directory_is_made_and_goes_again(void **state)
{
	struct viewfix *f = *state;

	vf_open(f, "b");
	assert_int_equal(begin(f, "s", REDIRECT_BIND), 0);
	assert_true(tree_exists(f->tmp, "scratch/upper/s"));
	assert_string_equal(vf_names(f, "s"), "");
	assert_int_equal(redirect_end(f->v, "s"), 0);
	assert_false(tree_exists(f->tmp, "scratch/upper/s"));
	assert_false(tree_exists(f->tmp, "scratch/redirects"));
	assert_int_equal(redirect_end(f->v, "s"), -ENOENT);
}

static void content_is_kept(void **state)
{
	struct viewfix *f = *state;

	vf_open(f, "b");
	assert_int_equal(begin(f, "s", REDIRECT_BIND), 0);
	assert_int_equal(vf_put(f, "s/x", "new"), 0);
	redirect_end_all(f->v);
	assert_string_equal(vf_text(f, "s/x"), "new");
	assert_int_equal(begin(f, "s", REDIRECT_BIND), 0);
	assert_string_equal(vf_text(f, "s/x"), "new");
	assert_int_equal(redirect_end(f->v, "s"), 0);
	assert_int_equal(vf_rm(f, "s/x"), 0);
	/* it was there before: whoever made it may want it, empty or not */
	assert_int_equal(begin(f, "s", REDIRECT_BIND), 0);
	assert_int_equal(redirect_end(f->v, "s"), 0);
	assert_true(tree_exists(f->tmp, "scratch/upper/s"));
}

static void only_what_is_scratchs_alone_is_redirected(void **state)
{
	struct viewfix *f = *state;
	static const struct {
		const char *dir;
		int r;
		const char *why;
	} cases[] = {
		{ "", -EINVAL, "below the root" },
		{ "../s", -EINVAL, "below the root" },
		{ "/s", -EINVAL, "below the root" },
		{ "s//x", -EINVAL, "below the root" },
		{ "s\nx", -EINVAL, "line break" },
		{ ".specfs/x", -EINVAL, "control directory" },
		{ "lib", -EBUSY, "b map lib has a part in it" },
		{ "src", -EBUSY, "trunk has a part in it" },
		{ "src/deep", -EPERM, "@any = owner" },
		{ "lib/new", -EPERM, "@mapped = spec" },
		{ "other", -EPERM, "@any = owner" },
		{ "t", -EPERM, "/t = trunk" },
		{ "deny-this", -EPERM, "/deny* = deny" },
		{ "s/f", -ENOTDIR, "it is no directory" },
		{ "s/l", -ENOTDIR, "it is a symlink" },
		{ "s/l/x", -ENOTDIR, "'s/l' is a symlink" },
		{ "s/f/x", -ENOTDIR, "'s/f' is no directory" },
		{ "nowhere/x", -ENOENT, "'nowhere'" },
		{ "s/copies", -EBUSY, "trunk has a part in it" },
	};

	tree_make(f->tmp, "trunk/lib/t.c=t", "trunk/spec/b/lib/s.c=s", "trunk/src/m.c=m",
		  "trunk/s/copies/a=a", NULL);
	vf_open(f, "b");
	assert_int_equal(vf_put(f, "s/f", "file"), 0);
	assert_int_equal(vf_symlink(f, "s/l", "../src"), 0);
	assert_int_equal(vf_put(f, "s/copies/a", "changed"), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int r = begin(f, cases[i].dir, REDIRECT_BIND);

		check_int(cases[i].dir, r, cases[i].r);
		check_str(cases[i].dir, strstr(f->text, cases[i].why) ? cases[i].why : f->text,
			  cases[i].why);
	}
	assert_false(redirect_holds(f->v->redirects, ""));
}

static void copies_whose_original_has_gone_are_not_redirected(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/s/copies/a=a", NULL);
	vf_open(f, "b");
	assert_int_equal(vf_put(f, "s/copies/a", "changed"), 0);
	{
		char *s = NULL;

		assert_true(asprintf(&s, "%s/s", f->trunk) > 0);
		tree_remove(s);
		free(s);
	}
	assert_string_equal(vf_text(f, "s/copies/a"), "changed");
	assert_int_equal(begin(f, "s/copies", REDIRECT_BIND), -EBUSY);
	assert_non_null(strstr(f->text, "changed copies"));
}

static void one_in_another_is_refused(void **state)
{
	struct viewfix *f = *state;

	vf_open(f, "b");
	assert_int_equal(vf_mkdir(f, "s"), 0);
	assert_int_equal(vf_mkdir(f, "s/a b"), 0);
	assert_int_equal(begin(f, "s/a b", REDIRECT_BIND), 0);
	assert_int_equal(begin(f, "s/a b", REDIRECT_SYMLINK), -EEXIST);
	assert_int_equal(begin(f, "s/a b/c", REDIRECT_BIND), -EEXIST);
	assert_non_null(strstr(f->text, "lies in 's/a b'"));
	assert_int_equal(begin(f, "s", REDIRECT_BIND), -EBUSY);
	assert_non_null(strstr(f->text, "'s/a b', which lies in it"));
	assert_int_equal(begin(f, "s/a", REDIRECT_BIND), 0);
}

static void a_symlink_stands_for_it(void **state)
{
	struct viewfix *f = *state;
	char want[4096];

	vf_open(f, "b");
	assert_int_equal(vf_mkdir(f, "s"), 0);
	assert_int_equal(vf_mkdir(f, "s/d"), 0);
	assert_int_equal(vf_put(f, "s/d/x", "kept"), 0);
	assert_int_equal(begin(f, "s/d", REDIRECT_SYMLINK), 0);
	(void)snprintf(want, sizeof(want), "->%s/upper/s/d", f->v->scratch);
	assert_string_equal(vf_text(f, "s/d"), want);
	assert_string_equal(vf_names(f, "s"), "d");
	assert_string_equal(vf_text(f, "s/d/x"), "ENOTDIR");
	assert_int_equal(vf_chmod(f, "s/d", 0700), -EPERM);
	assert_int_equal(redirect_end(f->v, "s/d"), 0);
	assert_string_equal(vf_text(f, "s/d/x"), "kept");
}

static void what_is_redirected_stays_where_it_is(void **state)
{
	static const enum redirect_form forms[] = { REDIRECT_BIND, REDIRECT_SYMLINK };
	struct viewfix *f = *state;

	vf_open(f, "b");
	assert_int_equal(vf_mkdir(f, "s"), 0);
	assert_int_equal(vf_mkdir(f, "s/d"), 0);
	assert_int_equal(vf_put(f, "s/x", "x"), 0);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(begin(f, "s/d", forms[i]), 0);
		assert_int_equal(forms[i] == REDIRECT_BIND ? vf_rmdir(f, "s/d") : vf_rm(f, "s/d"),
				 -EBUSY);
		assert_int_equal(vf_rename(f, "s/d", "s/e", 0), -EBUSY);
		assert_int_equal(vf_rename(f, "s", "s2", 0), -EBUSY);
		assert_int_equal(vf_rename(f, "s/x", "s/d", RENAME_EXCHANGE), -EBUSY);
		assert_int_equal(vf_rename(f, "s/x", "s/y", 0), 0);
		assert_int_equal(vf_rename(f, "s/y", "s/x", 0), 0);
		assert_int_equal(redirect_end(f->v, "s/d"), 0);
	}
	assert_int_equal(vf_rename(f, "s/d", "s/e", 0), 0);
	assert_int_equal(vf_rmdir(f, "s/e"), 0);
}

static void a_killed_daemons_directories_go(void **state)
{
	struct viewfix *f = *state;

	vf_open(f, "b");
	assert_int_equal(vf_mkdir(f, "s"), 0);
	assert_int_equal(begin(f, "s/empty", REDIRECT_BIND), 0);
	assert_int_equal(begin(f, "s/full", REDIRECT_BIND), 0);
	assert_int_equal(vf_put(f, "s/full/x", "x"), 0);
	vf_remount(f); /* nothing ends them */
	redirect_recover(f->v);
	assert_string_equal(vf_names(f, "s"), "full");
	assert_string_equal(vf_text(f, "s/full/x"), "x");
	assert_false(tree_exists(f->tmp, "scratch/redirects"));
}

static void a_wanted_one_waits(void **state)
{
	struct viewfix *f = *state;
	struct redirect *list = NULL;
	size_t n = 0;

	vf_open(f, "b");
	assert_int_equal(redirect_want(f->v, "s", REDIRECT_BIND), 0);
	assert_true(redirect_is_wanted(f->v->redirects, "s"));
	assert_int_equal(redirect_is_apart(f->v->redirects, "s"), REDIRECT_APART_SOON);
	assert_false(redirect_holds(f->v->redirects, "s"));
	assert_int_equal(vf_mkdir(f, "s"), 0);
	assert_int_equal(begin(f, "s", REDIRECT_BIND), 0);
	assert_false(redirect_is_wanted(f->v->redirects, "s"));
	assert_int_equal(redirect_is_apart(f->v->redirects, "s"), REDIRECT_APART_NOW);
	assert_int_equal(redirect_refuse(f->v, "s", REDIRECT_BIND, "no more"), 0);
	assert_int_equal(redirect_is_apart(f->v->redirects, "s"), REDIRECT_APART_NOT);
	assert_false(redirect_holds(f->v->redirects, ""));
	assert_int_equal(redirect_list(f->v->redirects, &list, &n), 0);
	assert_int_equal(n, 1);
	assert_string_equal(list[0].why_not, "no more");
	redirect_list_free(list, n);
}

static void a_read_only_view_has_none(void **state)
{
	struct viewfix *f = *state;

	f->o.readonly = true;
	vf_open(f, "b");
	assert_int_equal(begin(f, "s", REDIRECT_BIND), -EROFS);
	assert_string_equal(f->text, "the view is read-only");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(missing_directory_is_made_and_goes_again),
		TEST(content_is_kept),
		TEST(only_what_is_scratchs_alone_is_redirected),
		TEST(copies_whose_original_has_gone_are_not_redirected),
		TEST(one_in_another_is_refused),
		TEST(a_symlink_stands_for_it),
		TEST(what_is_redirected_stays_where_it_is),
		TEST(a_killed_daemons_directories_go),
		TEST(a_wanted_one_waits),
		TEST(a_read_only_view_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
