/* SPDX-License-Identifier: MIT */
/* Interim names, and what a daemon that died has left. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "layer/workdir.h"
#include "tree.h"

struct fix {
	char *tmp;
	int fd;
	struct workdir *w;
	unsigned recovered;
};

static int setup(void **state)
{
	struct fix *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->tmp = tree_tmp();
	f->fd = open(f->tmp, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(f->fd >= 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fix *f = *state;

	workdir_free(f->w);
	close(f->fd);
	tree_remove(f->tmp);
	free(f->tmp);
	free(f);
	return 0;
}

static void reopen(struct fix *f)
{
	workdir_free(f->w);
	f->w = NULL;
	assert_int_equal(workdir_open(f->fd, &f->w, &f->recovered), 0);
}

static void names_are_never_the_same(void **state)
{
	struct fix *f = *state;
	char a[WORKDIR_NAME_MAX];
	char b[WORKDIR_NAME_MAX];

	reopen(f);
	workdir_name(f->w, "", a);
	workdir_name(f->w, "", b);
	assert_string_not_equal(a, b);
	workdir_name(f->w, WORKDIR_PREFIX, a);
	assert_memory_equal(a, WORKDIR_PREFIX, strlen(WORKDIR_PREFIX));
}

static void left_overs_are_cleared_and_counted(void **state)
{
	struct fix *f = *state;

	reopen(f);
	assert_int_equal(f->recovered, 0);
	tree_make(f->tmp, "work/1.0=x", "work/1.1/a/b/c=x", "work/1.1/a/l->/etc", "work/1.2->gone",
		  NULL);
	reopen(f);
	assert_int_equal(f->recovered, 3);
	assert_false(tree_exists(f->tmp, "work/1.0"));
	assert_false(tree_exists(f->tmp, "work/1.1"));
	reopen(f);
	assert_int_equal(f->recovered, 0);
}

static void noted_objects_are_removed_elsewhere(void **state)
{
	struct fix *f = *state;
	char note[WORKDIR_NAME_MAX];
	char path[256];

	reopen(f);
	tree_make(f->tmp, "t/" WORKDIR_PREFIX "9/x/y=1", "t/keep=1", NULL);
	(void)snprintf(path, sizeof(path), "%s/t/" WORKDIR_PREFIX "9", f->tmp);
	assert_int_equal(workdir_note(f->w, path, note), 0);
	reopen(f);
	assert_int_equal(f->recovered, 1);
	assert_false(tree_exists(f->tmp, "t/" WORKDIR_PREFIX "9"));
	assert_true(tree_exists(f->tmp, "t/keep"));
}

static void note_about_another_name_removes_nothing(void **state)
{
	struct fix *f = *state;
	char note[WORKDIR_NAME_MAX];
	char path[256];

	reopen(f);
	tree_make(f->tmp, "t/keep=1", NULL);
	(void)snprintf(path, sizeof(path), "%s/t/keep", f->tmp);
	assert_int_equal(workdir_note(f->w, path, note), 0);
	reopen(f);
	assert_int_equal(f->recovered, 0);
	assert_true(tree_exists(f->tmp, "t/keep"));
}

static void taken_back_note_is_gone(void **state)
{
	struct fix *f = *state;
	char note[WORKDIR_NAME_MAX];

	reopen(f);
	assert_int_equal(workdir_note(f->w, "/t/" WORKDIR_PREFIX "9", note), 0);
	workdir_unnote(f->w, note);
	reopen(f);
	assert_int_equal(f->recovered, 0);
}

/* The number of a writer that died may belong to another process by now, or wait to be reaped. */
static void lists_of_dead_writers_are_cleared(void **state)
{
	struct fix *f = *state;
	char mine[WORKDIR_NAME_MAX];
	char text[80];
	int fd;

	workdir_list_tmp(".specfs-hide", mine);
	(void)snprintf(text, sizeof(text), "%s=x", mine);
	tree_make(f->tmp, text, ".specfs-tmp.1.2=x", ".specfs-tmp.list.1.specfs-base=x", NULL);
	fd = openat(f->fd, mine, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX), 0); /* as fd_replace_file() does */
	assert_int_equal(workdir_clear_lists(f->fd), 1);
	assert_true(tree_exists(f->tmp, mine));
	assert_true(tree_exists(f->tmp, ".specfs-tmp.1.2"));
	close(fd);
	assert_int_equal(workdir_clear_lists(f->fd), 1);
	assert_false(tree_exists(f->tmp, mine));
}

static void trees_go_without_following_links(void **state)
{
	struct fix *f = *state;
	char path[256];

	tree_make(f->tmp, "keep/x=1", "d/e/f/g=1", "d/e/h=2", "d/k->../keep", "file=1", NULL);
	(void)snprintf(path, sizeof(path), "%s/d/e", f->tmp);
	assert_int_equal(chmod(path, 0), 0);
	assert_int_equal(workdir_remove_tree(f->fd, "d"), 0);
	assert_false(tree_exists(f->tmp, "d"));
	assert_true(tree_exists(f->tmp, "keep/x"));
	assert_int_equal(workdir_remove_tree(f->fd, "file"), 0);
	assert_false(tree_exists(f->tmp, "file"));
	assert_int_equal(workdir_remove_tree(f->fd, "absent"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_are_never_the_same, setup, teardown),
		cmocka_unit_test_setup_teardown(left_overs_are_cleared_and_counted, setup,
						teardown),
		cmocka_unit_test_setup_teardown(noted_objects_are_removed_elsewhere, setup,
						teardown),
		cmocka_unit_test_setup_teardown(note_about_another_name_removes_nothing, setup,
						teardown),
		cmocka_unit_test_setup_teardown(taken_back_note_is_gone, setup, teardown),
		cmocka_unit_test_setup_teardown(lists_of_dead_writers_are_cleared, setup, teardown),
		cmocka_unit_test_setup_teardown(trees_go_without_following_links, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
