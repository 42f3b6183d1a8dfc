/* SPDX-License-Identifier: MIT */
/* What git ignores, with a repository as git itself makes it. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "check.h"
#include "layer/route.h"
#include "tree.h"

struct fix {
	char *tmp;
	struct ignore *ig;
};

static int setup(void **state)
{
	struct fix *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->tmp = tree_tmp();
	assert_int_equal(setenv("GIT_CONFIG_NOSYSTEM", "1", 1), 0);
	assert_int_equal(setenv("HOME", f->tmp, 1), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fix *f = *state;

	ignore_free(f->ig);
	tree_remove(f->tmp);
	free(f->tmp);
	free(f);
	return 0;
}

static void git(struct fix *f, const char *dir, const char *args)
{
	char cmd[1024];

	(void)snprintf(
		cmd, sizeof(cmd),
		"cd %s/%s && git -c user.name=t -c user.email=t@t -c init.defaultBranch=m "
		"-c protocol.file.allow=always -c advice.addIgnoredFile=false %s >/dev/null 2>&1",
		f->tmp, dir, args);
	if (system(cmd) != 0)
		fail_msg("%s", cmd);
}

static void look_at(struct fix *f, const char *root)
{
	struct diag d = DIAG_INIT;
	char path[512];

	ignore_free(f->ig);
	f->ig = NULL;
	(void)snprintf(path, sizeof(path), "%s/%s", f->tmp, root);
	assert_int_equal(ignore_open(path, &d, &f->ig), 0);
	diag_clear(&d);
}

static void patterns_count_as_git_says(void **state)
{
	struct fix *f = *state;
	static const struct {
		const char *path;
		bool is_dir;
		bool ignored;
	} cases[] = {
		{ "a.o", false, true },		{ "sub/a.o", false, true },
		{ "sub/keep.o", false, false }, { "sub/x.txt", false, true },
		{ "x.txt", false, false },	{ "build", true, true },
		{ "build", false, false },	{ "build/any/thing", false, true },
		{ "sub/build", true, true },	{ "info.log", false, true },
		{ "global.swp", false, true },	{ "tracked.o", false, false },
		{ "gen", true, false },		{ "gen/tracked.c", false, false },
		{ "gen/new.c", false, true },	{ "src/new.c", false, false },
	};

	tree_make(f->tmp, "r/.gitignore=*.o\nbuild/\ngen/\n", "r/sub/.gitignore=!keep.o\n*.txt\n",
		  "r/tracked.o=x", "r/gen/tracked.c=x", ".config/git/ignore=*.swp\n", "r/src/a.c=a",
		  NULL);
	git(f, "r", "init");
	tree_make(f->tmp, "r/.git/info/exclude=*.log\n", NULL);
	git(f, "r", "add -f tracked.o gen/tracked.c");
	look_at(f, "r");
	assert_non_null(f->ig);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_int(cases[i].path, ignore_covers(f->ig, cases[i].path, cases[i].is_dir),
			  cases[i].ignored);
}

static void changes_are_seen_at_once(void **state)
{
	struct fix *f = *state;

	tree_make(f->tmp, "r/.gitignore=*.o\n", "r/sub/x=x", NULL);
	git(f, "r", "init");
	look_at(f, "r");
	assert_false(ignore_covers(f->ig, "a.tmp", false));
	tree_make(f->tmp, "r/.gitignore=*.o\n*.tmp\n", NULL);
	assert_true(ignore_covers(f->ig, "a.tmp", false));
	assert_false(ignore_covers(f->ig, "sub/y", false));
	tree_make(f->tmp, "r/sub/.gitignore=y\n", NULL);
	assert_true(ignore_covers(f->ig, "sub/y", false));
	tree_make(f->tmp, "r/b.o=x", NULL);
	assert_true(ignore_covers(f->ig, "b.o", false));
	git(f, "r", "add -f b.o");
	assert_false(ignore_covers(f->ig, "b.o", false));
	git(f, "r", "rm --cached b.o");
	assert_true(ignore_covers(f->ig, "b.o", false));
}

static void root_below_the_repository_works(void **state)
{
	struct fix *f = *state;

	tree_make(f->tmp, "r/.gitignore=/in/a/x\n*.o\nskip/\n", "r/in/a/f=f", "r/skip/in/f=f",
		  NULL);
	git(f, "r", "init");
	look_at(f, "r/in");
	assert_true(ignore_covers(f->ig, "a/x", false));
	assert_true(ignore_covers(f->ig, "b.o", false));
	assert_false(ignore_covers(f->ig, "x", false));
	/* a root that the repository ignores has no repository */
	look_at(f, "r/skip/in");
	assert_null(f->ig);
}

static void linked_worktree_and_submodule_work(void **state)
{
	struct fix *f = *state;

	tree_make(f->tmp, "r/.gitignore=*.o\n", "sub/.gitignore=*.sub\n", NULL);
	git(f, "sub", "init");
	git(f, "sub", "add .");
	git(f, "sub", "commit -m s");
	git(f, "r", "init");
	git(f, "r", "add .");
	git(f, "r", "commit -m r");
	git(f, "r", "worktree add ../wt");
	git(f, "r", "submodule add ../sub mod");
	tree_make(f->tmp, "r/.git/info/exclude=*.log\n", NULL);
	look_at(f, "wt");
	assert_true(ignore_covers(f->ig, "a.o", false));
	assert_true(ignore_covers(f->ig, "a.log", false));
	assert_false(ignore_covers(f->ig, ".gitignore", false));
	look_at(f, "r/mod");
	assert_true(ignore_covers(f->ig, "a.sub", false));
	assert_false(ignore_covers(f->ig, "a.o", false));
}

static void no_repository_ignores_nothing(void **state)
{
	struct fix *f = *state;

	tree_make(f->tmp, "plain/.gitignore=*\n", NULL);
	look_at(f, "plain");
	assert_null(f->ig);
	assert_false(ignore_covers(f->ig, "x", false));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(patterns_count_as_git_says, setup, teardown),
		cmocka_unit_test_setup_teardown(changes_are_seen_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(root_below_the_repository_works, setup, teardown),
		cmocka_unit_test_setup_teardown(linked_worktree_and_submodule_work, setup,
						teardown),
		cmocka_unit_test_setup_teardown(no_repository_ignores_nothing, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
