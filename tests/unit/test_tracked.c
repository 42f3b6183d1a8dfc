/* SPDX-License-Identifier: MIT */
/* What git tracks, by indexes that git itself has written, in all versions. */
#include "base/strbuf.h"
#include "layer/tracked.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "check.h"
#include "tree.h"

enum { FILES = 3000 }; /* of many marks */

struct fix {
	char *tmp;
	struct tracked *t;
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

	tracked_free(f->t);
	tree_remove(f->tmp);
	free(f->tmp);
	free(f);
	return 0;
}

/* A shell command in the temporary directory. */
static void shell(struct fix *f, const char *command)
{
	char cmd[1024];

	(void)snprintf(cmd, sizeof(cmd), "cd %s && { %s; } >/dev/null 2>&1", f->tmp, command);
	if (system(cmd) != 0)
		fail_msg("%s", cmd);
}

static void open_index(struct fix *f)
{
	char path[512];

	(void)snprintf(path, sizeof(path), "%s/.git/index", f->tmp);
	tracked_free(f->t);
	f->t = NULL;
	assert_int_equal(tracked_open(path, &f->t), 0);
}

static void each_version(void **state)
{
	struct fix *f = *state;
	static const struct {
		const char *path;
		bool has;
	} cases[] = {
		{ "a", true },		    { "a/b", true },	    { "a/b/c.c", true },
		{ "a/b/c.c/d", false },	    { "a/b/c", false },	    { "a-b", true },
		{ "a-", false },	    { "dir", true },	    { "dir/f1", true },
		{ "dir/f2999", true },	    { "dir/f3000", false }, { "dir/f", false },
		{ "dir/f1500/x", false },   { "z", true },	    { "zz", false },
		{ "0", false },		    { "late", true },	    { "late/new", true },
		{ "long", true },	    { "di", false },	    { "dirr", false },
	};

	shell(f, "git init -q && mkdir -p a/b dir late && touch a/b/c.c a-b z late/new");
	shell(f, "cd dir && seq -f f%.0f 0 2999 | xargs touch");
	/* entries that cross the edge of what is read at once */
	shell(f, "d=long/$(printf %0200d 1)/$(printf %0200d 2); mkdir -p $d && "
		 "cd $d && seq -f f%.0f 0 200 | xargs touch");
	shell(f, "git add a a-b dir z long && git add -N late/new");
	for (int version = 2; version <= 4; version++) {
		char command[100];

		(void)snprintf(command, sizeof(command), "git update-index --index-version %d",
			       version);
		shell(f, command);
		open_index(f);
		for (size_t round = 0; round < 2; round++)
			for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
				check_int(cases[i].path, tracked_has(f->t, cases[i].path),
					  cases[i].has);
		for (int i = 0; i < FILES; i++) {
			char path[32];

			(void)snprintf(path, sizeof(path), "dir/f%d", i * 7 % FILES);
			check_int(path, tracked_has(f->t, path), true);
		}
	}
}

static void a_new_index_counts_at_once(void **state)
{
	struct fix *f = *state;

	shell(f, "git init -q && touch a b");
	open_index(f);
	assert_false(tracked_has(f->t, "a"));
	shell(f, "git add a");
	assert_true(tracked_has(f->t, "a"));
	assert_false(tracked_has(f->t, "b"));
	shell(f, "git add b && git rm -q --cached a");
	assert_false(tracked_has(f->t, "a"));
	assert_true(tracked_has(f->t, "b"));
	shell(f, "rm .git/index");
	assert_false(tracked_has(f->t, "b"));
}

static void what_makes_no_sense_has_nothing(void **state)
{
	struct fix *f = *state;
	static const char *const spoil[] = {
		"rm -rf .git",
		"mkdir -p .git/index",
		("printf 'DIRC\\0\\0\\0\\004\\0\\0\\0\\001%062d\\377\\377\\377\\377\\377%0100d' 1 "
		 "1 >.git/index"),
		"printf 'DIRC\\0\\0\\0\\002\\377\\377\\377\\377%0100000d' 1 >.git/index",
	};

	for (size_t i = 0; i < ARRAY_SIZE(spoil); i++) {
		shell(f, "rm -rf .git && mkdir .git");
		shell(f, spoil[i]);
		open_index(f);
		check_int(spoil[i], tracked_has(f->t, "a"), false);
	}
}

static void what_is_no_index_is_refused_and_later_has_nothing(void **state)
{
	struct fix *f = *state;
	static const char *const spoil[] = {
		"printf DIRC >.git/index",
		"printf 'DIRC\\0\\0\\0\\011\\0\\0\\0\\001%0100d' 1 >.git/index",
	};
	cleanup_strbuf struct strbuf path = STRBUF_INIT;

	strbuf_addf(&path, "%s/.git/index", f->tmp);
	shell(f, "git init -q && touch a");
	for (size_t i = 0; i < ARRAY_SIZE(spoil); i++) {
		struct tracked *none = NULL;

		shell(f, "rm -f .git/index && git add a");
		open_index(f);
		assert_true(tracked_has(f->t, "a"));
		shell(f, spoil[i]);
		check_int(spoil[i], tracked_open(path.buf, &none), -EINVAL);
		check_int(spoil[i], tracked_has(f->t, "a"), false);
	}
}

static void what_is_whole_before_a_cut_counts(void **state)
{
	struct fix *f = *state;

	shell(f, "git init -q && touch a b c && git add a b c && truncate -s 150 .git/index");
	open_index(f);
	assert_true(tracked_has(f->t, "a"));
	assert_false(tracked_has(f->t, "c"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_version, setup, teardown),
		cmocka_unit_test_setup_teardown(a_new_index_counts_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(what_makes_no_sense_has_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_no_index_is_refused_and_later_has_nothing,
						setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_whole_before_a_cut_counts, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
