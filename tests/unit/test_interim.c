/* SPDX-License-Identifier: MIT */
/* Interim objects: published whole over anything, or gone. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "layer/copyup.h"
#include "layer/interim.h"
#include "layer/whiteout.h"
#include "tree.h"
#include "viewfix.h"

static bool no_flags; /* as on file systems that know none */

int __real_renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags);
int __wrap_renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags);

int __wrap_renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
	if (flags && no_flags) {
		errno = EINVAL;
		return -1;
	}
	return __real_renameat2(from_dir, from, to_dir, to, flags);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, viewfix_setup, viewfix_teardown)

/* Begin an interim object for s/n in scratch or src/n in trunk; a directory or a file. */
static void begin(struct viewfix *f, unsigned to, bool dir, struct interim *i, int *parent,
		  const char **name)
{
	const char *path = to ? "src/n" : "s/n";
	int fd;

	*parent = copyup_parents(f->v, path, to, name);
	assert_true(*parent >= 0);
	assert_int_equal(interim_begin(f->v, to, path, *parent, i), 0);
	if (dir) {
		assert_int_equal(mkdirat(i->dir_fd, i->name, 0755), 0);
		return;
	}
	fd = openat(i->dir_fd, i->name, O_WRONLY | O_CREAT | O_EXCL, 0644);
	assert_int_equal(write(fd, "new", 3), 3);
	close(fd);
}

static void new_one_needs_a_free_name(void **state)
{
	struct viewfix *f = *state;
	const char *name;
	struct interim i;
	int parent;

	tree_make(f->tmp, "trunk/src/n=old", "trunk/s/", NULL);
	vf_open(f, "b");
	for (unsigned dir = 0; dir < 2; dir++) {
		begin(f, f->v->stack.n - 1, dir, &i, &parent, &name);
		assert_false(vf_is_clean(f));
		assert_int_equal(interim_publish_new(&i, parent, name), -EEXIST);
		interim_end(&i);
		assert_true(vf_is_clean(f));
		assert_string_equal(vf_on_disk(f, "trunk/src/n"), "old");
		close(parent);
	}
	assert_int_equal(vf_rm(f, "src/n"), 0);
	begin(f, f->v->stack.n - 1, false, &i, &parent, &name);
	assert_int_equal(interim_publish_new(&i, parent, name), 0);
	interim_end(&i);
	close(parent);
	assert_string_equal(vf_on_disk(f, "trunk/src/n"), "new");
	assert_true(vf_is_clean(f));
}

static void anything_is_published_over_anything(void **state)
{
	struct viewfix *f;
	static const char *const old[] = { "scratch/upper/s/n=old", "scratch/upper/s/n/",
					   "scratch/upper/s/n/full/x=x", "scratch/upper/s/n->old" };

	for (unsigned dir = 0; dir < 2; dir++)
		for (size_t o = 0; o < sizeof(old) / sizeof(old[0]); o++) {
			const char *name;
			struct interim i;
			int parent;

			viewfix_teardown(state);
			viewfix_setup(state);
			f = *state;
			tree_make(f->tmp, "trunk/s/", old[o], NULL);
			vf_open(f, "b");
			begin(f, 0, dir, &i, &parent, &name);
			check_int(old[o], interim_publish_over(&i, parent, name), 0);
			interim_end(&i);
			close(parent);
			if (dir)
				check_str(old[o], vf_names(f, "s/n"), "");
			else
				check_str(old[o], vf_text(f, "s/n"), "new");
			check_int(old[o], vf_is_clean(f), true);
		}
}

/* Begin, and take what trunk has at src/n. */
static int take(struct viewfix *f, struct interim *i, const char **name)
{
	unsigned trunk = f->v->stack.n - 1;
	int parent = copyup_parents(f->v, "src/n", trunk, name);

	assert_true(parent >= 0);
	assert_int_equal(interim_begin(f->v, trunk, "src/n", parent, i), 0);
	assert_int_equal(interim_take(i, parent, *name), 0);
	assert_string_equal(vf_on_disk(f, "trunk/src/n"), "-");
	return parent;
}

static void what_was_taken_can_go_back(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/src/n=theirs", NULL);
	vf_open(f, "b");
	for (unsigned k = 0; k < 2; k++) {
		const char *name;
		struct interim i;
		int parent;

		no_flags = k;
		parent = take(f, &i, &name);
		interim_put_back(&i, parent, name);
		interim_end(&i);
		close(parent);
		assert_string_equal(vf_on_disk(f, "trunk/src/n"), "theirs");
		assert_true(vf_is_clean(f));
	}
	no_flags = false;
}

static void what_was_taken_replaces_nothing(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/src/", NULL);
	vf_open(f, "b");
	for (unsigned k = 0; k < 2; k++) {
		char kept[WORKDIR_NAME_MAX + sizeof("trunk/src/")];
		const char *name;
		struct interim i;
		int parent;

		tree_make(f->tmp, "trunk/src/n=theirs", NULL);
		no_flags = k;
		parent = take(f, &i, &name);
		tree_make(f->tmp, "trunk/src/n=newer", NULL);
		(void)snprintf(kept, sizeof(kept), "trunk/src/%s", i.name);
		interim_put_back(&i, parent, name);
		interim_end(&i);
		assert_string_equal(vf_on_disk(f, "trunk/src/n"), "newer");
		assert_string_equal(vf_on_disk(f, kept), "theirs");
		assert_int_equal(unlinkat(parent, name, 0), 0);
		close(parent);
	}
	no_flags = false;
}

static void whiteout_hides_and_can_be_dropped(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/src/d/x=x", "trunk/src/y=y", "scratch/upper/src/d/own=own", NULL);
	vf_open(f, "b");
	assert_string_equal(vf_names(f, "src/d"), "own x");
	assert_int_equal(whiteout_put(f->v, "src/d"), 0);
	assert_int_equal(whiteout_put(f->v, "src/d"), 0);
	assert_string_equal(vf_names(f, "src"), "y");
	assert_int_equal(whiteout_drop(f->v, "src/d"), 0);
	assert_int_equal(whiteout_drop(f->v, "src/d"), 0);
	assert_string_equal(vf_names(f, "src/d"), "x");
	/* what is no whiteout is not dropped */
	assert_int_equal(vf_put(f, "s", "file"), 0);
	assert_int_equal(whiteout_drop(f->v, "s"), 0);
	assert_string_equal(vf_text(f, "s"), "file");
	assert_int_equal(whiteout_take_dir(f->v, "none/at/all"), 0);
	assert_true(vf_is_clean(f));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(new_one_needs_a_free_name),
		TEST(anything_is_published_over_anything),
		TEST(what_was_taken_can_go_back),
		TEST(what_was_taken_replaces_nothing),
		TEST(whiteout_hides_and_can_be_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
