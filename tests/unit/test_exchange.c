/* SPDX-License-Identifier: MIT */
/* Exchanging names: each shows the other's object, whatever it is and wherever it lies. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "check.h"
#include "layer/swap.h"
#include "tree.h"
#include "viewfix.h"

#define TEST(t) cmocka_unit_test_setup_teardown(t, viewfix_setup, viewfix_teardown)

static void make_checkout(struct viewfix *f)
{
	tree_make(f->tmp, "trunk/src/f=src", "trunk/src/d/in/x=srcx", "trunk/lib/f=lib",
		  "trunk/lib/d/in/x=libx", "trunk/lib/both=trunk", "trunk/spec/b/lib/both=spec",
		  "trunk/spec/b/lib/only=only", "trunk/spec/b/lib/m/s=ms", "trunk/lib/m/t=mt",
		  "trunk/spec/b/back/f=back", "trunk/spec/b/back/d/in/x=backx", "trunk/s/f=s",
		  "trunk/s/d/in/x=sx", "trunk/src/l->gone", "trunk/lib/l->nowhere", NULL);
}

/* Another checkout for another case. */
static struct viewfix *fresh(void **state)
{
	viewfix_teardown(state);
	viewfix_setup(state);
	return *state;
}

/* Sources of every kind, with what a tree's inner file holds. */
static const struct {
	const char *path;
	const char *inner; /* of a directory, else "" */
	const char *text;
	bool scratch; /* made in scratch first */
} sources[] = {
	{ "src/f", "", "src", false },	     { "src/d", "/in/x", "srcx", false },
	{ "src/l", "", "->gone", false },    { "lib/f", "", "lib", false },
	{ "lib/d", "/in/x", "libx", false }, { "lib/l", "", "->nowhere", false },
	{ "lib/both", "", "spec", false },   { "lib/only", "", "only", false },
	{ "lib/m", "/t", "mt", false },	     { "lib/m", "/s", "ms", false },
	{ "gr/b/f", "", "back", false },     { "gr/b/d", "/in/x", "backx", false },
	{ "s/f", "", "s", false },	     { "s/d", "/in/x", "sx", false },
	{ "MARKER", "", "b", false },	     { "s/new", "", "made", true },
};

/* The directory is there only for the name that is exchanged. */
static void exchange_in_a_directory_that_lives_by_it(void **state)
{
	struct viewfix *f = *state;
	char gone[PATH_MAX];

	make_checkout(f);
	tree_make(f->tmp, "trunk/s/p/old=old", NULL);
	vf_open(f, "b");
	assert_int_equal(vf_put(f, "s/p/new", "new"), 0);
	(void)snprintf(gone, sizeof(gone), "%s/trunk/s/p", f->tmp);
	tree_remove(gone);
	assert_int_equal(vf_rename(f, "s/p/new", "src/d", RENAME_EXCHANGE), 0);
	assert_string_equal(vf_text(f, "s/p/new/in/x"), "srcx");
	assert_string_equal(vf_text(f, "src/d"), "new");
	vf_remount(f);
	assert_string_equal(vf_text(f, "s/p/new/in/x"), "srcx");
	/* a lower file would show in the meantime */
	tree_make(f->tmp, "trunk/s/p=file", NULL);
	assert_int_equal(vf_rename(f, "src/l", "s/p/new", RENAME_EXCHANGE), 0);
	assert_string_equal(vf_text(f, "s/p/new"), "->gone");
	assert_string_equal(vf_text(f, "src/l/in/x"), "srcx");
}

static void exchange_in_one_layer(void **state)
{
	struct viewfix *f = *state;

	make_checkout(f);
	tree_make(f->tmp, "trunk/src/g=other", NULL);
	vf_open(f, "b");
	assert_int_equal(vf_rename(f, "src/f", "src/g", RENAME_EXCHANGE), 0);
	assert_string_equal(vf_text(f, "src/f"), "other");
	assert_string_equal(vf_text(f, "src/g"), "src");
	assert_int_equal(vf_rename(f, "src/f", "src/d", RENAME_EXCHANGE), 0);
	assert_string_equal(vf_text(f, "src/f/in/x"), "srcx");
	assert_string_equal(vf_text(f, "src/d"), "other");
	assert_int_equal(vf_rename(f, "lib/f", "lib/only", RENAME_EXCHANGE), 0);
	assert_string_equal(vf_text(f, "lib/f"), "only");
	assert_string_equal(vf_text(f, "lib/only"), "lib");
	assert_string_equal(vf_on_disk(f, "trunk/lib/f"), "lib");
	assert_int_equal(vf_put(f, "s/new", "n"), 0);
	assert_int_equal(vf_rename(f, "s/f", "s/new", RENAME_EXCHANGE), 0);
	assert_string_equal(vf_text(f, "s/f"), "n");
	assert_string_equal(vf_text(f, "s/new"), "s");
	assert_int_equal(vf_rename(f, "src/g", "src/none", RENAME_EXCHANGE), -ENOENT);
	assert_int_equal(vf_rename(f, "src/f", "src/f/in", RENAME_EXCHANGE), -EINVAL);
	assert_int_equal(vf_rename(f, "src/f/in", "src/f", RENAME_EXCHANGE), -EINVAL);
	assert_string_equal(vf_text(f, "src/g"), "src");
	vf_remount(f);
	assert_string_equal(vf_text(f, "s/f"), "n");
	assert_string_equal(vf_text(f, "lib/f"), "only");
	assert_true(vf_is_clean(f));
}

static void check_source(struct viewfix *f, const char *what, const char *at, size_t source)
{
	char inner[64];

	(void)snprintf(inner, sizeof(inner), "%s%s", at, sources[source].inner);
	check_str(what, vf_text(f, inner), sources[source].text);
}

/* What has stayed in its layer is not said to be a copy, nor the other way round. */
static void check_exchange(struct viewfix *f, const char *what, const char *a, const char *b)
{
	struct found was_a = vf_look(f, a);
	struct found was_b = vf_look(f, b);

	check_int(what, vf_rename(f, a, b, RENAME_EXCHANGE), 0);
	check_int(what, f->copied, !vf_shows(f, a, &was_b) || !vf_shows(f, b, &was_a));
}

static void everything_is_exchanged_with_everything(void **state)
{
	enum { N = sizeof(sources) / sizeof(sources[0]) };
	struct viewfix *f;
	char what[128];

	for (size_t a = 0; a < N; a++)
		for (size_t b = 0; b < N; b++) {
			const char *pa = sources[a].path;
			const char *pb = sources[b].path;

			if (!strcmp(pa, pb))
				continue;
			f = fresh(state);
			make_checkout(f);
			vf_open(f, "b");
			assert_int_equal(vf_put(f, "s/new", "made"), 0);
			(void)snprintf(what, sizeof(what), "%s with %s", pa, pb);
			check_exchange(f, what, pa, pb);
			check_source(f, what, pb, a);
			check_source(f, what, pa, b);
			check_int(what, vf_is_clean(f), true);
			vf_remount(f);
			check_source(f, what, pb, a);
			check_source(f, what, pa, b);
			check_str(what, vf_on_disk(f, "trunk/lib/f"), "lib");
			if (strncmp(pa, "gr/", 3) || strncmp(pb, "gr/", 3))
				check_str(what, vf_on_disk(f, "trunk/spec/b/back/f"), "back");
			/* and back again */
			check_int(what, vf_rename(f, pb, pa, RENAME_EXCHANGE), 0);
			check_source(f, what, pa, a);
			check_source(f, what, pb, b);
			check_int(what, vf_is_clean(f), true);
		}
}

static void exchange_shows_nothing_old(void **state)
{
	struct viewfix *f = *state;

	make_checkout(f);
	tree_make(f->tmp, "trunk/lib/two/t=t", "trunk/spec/b/lib/two/s=s", "trunk/lib/own/o=o",
		  NULL);
	vf_open(f, "b");
	assert_int_equal(vf_rename(f, "lib/two", "lib/own", RENAME_EXCHANGE), 0);
	assert_string_equal(vf_names(f, "lib/two"), "o");
	assert_string_equal(vf_names(f, "lib/own"), "s t");
	assert_int_equal(vf_rename(f, "lib/two", "src/d", RENAME_EXCHANGE), 0);
	assert_string_equal(vf_names(f, "lib/two"), "in");
	assert_string_equal(vf_names(f, "src/d"), "o");
	vf_remount(f);
	assert_string_equal(vf_names(f, "lib/two"), "in");
	assert_string_equal(vf_names(f, "lib/own"), "s t");
	assert_string_equal(vf_on_disk(f, "trunk/lib/two/t"), "t");
	assert_string_equal(vf_on_disk(f, "trunk/lib/own/o"), "o");
	assert_true(vf_is_clean(f));
}

static void refused_exchange_changes_nothing(void **state)
{
	struct viewfix *f = *state;

	make_checkout(f);
	tree_make(f->tmp, "trunk/deny/x=x", "trunk/src/l2->there", NULL);
	vf_open(f, "b");
	assert_int_equal(vf_rename(f, "deny/x", "src/f", RENAME_EXCHANGE), -EROFS);
	assert_int_equal(vf_rename(f, "src/d", "deny", RENAME_EXCHANGE), -EROFS);
	assert_int_equal(vf_rename(f, "s/d", "deny/x", RENAME_EXCHANGE), -EROFS);
	assert_string_equal(vf_text(f, "deny/x"), "x");
	assert_string_equal(vf_text(f, "src/f"), "src");
	assert_string_equal(vf_text(f, "s/d/in/x"), "sx");
	assert_string_equal(vf_names(f, "s"), "d f");
	assert_true(vf_is_clean(f));
	/* no hide line can be written: what was done is undone */
	tree_make(f->tmp, "trunk/spec/b/lib/.specfs-hide/", NULL);
	assert_true(vf_rename(f, "src/l", "lib/d", RENAME_EXCHANGE) < 0);
	assert_string_equal(vf_text(f, "lib/d/in/x"), "libx");
	assert_string_equal(vf_text(f, "src/l"), "->gone");
	assert_true(vf_rename(f, "s/d", "lib/l", RENAME_EXCHANGE) < 0);
	assert_string_equal(vf_text(f, "lib/l"), "->nowhere");
	assert_string_equal(vf_text(f, "s/d/in/x"), "sx");
	assert_true(vf_is_clean(f));
}

static void exchanged_directory_shows_nothing_old(void **state)
{
	struct viewfix *f = *state;

	make_checkout(f);
	vf_open(f, "b");
	assert_int_equal(vf_rm(f, "s/d/in/x"), 0);
	assert_int_equal(vf_rmdir(f, "s/d/in"), 0);
	assert_int_equal(vf_rmdir(f, "s/d"), 0);
	assert_int_equal(vf_mkdir(f, "s/d"), 0);
	assert_int_equal(vf_put(f, "s/d/one", "1"), 0);
	assert_int_equal(vf_mkdir(f, "s/e"), 0);
	assert_int_equal(vf_put(f, "s/e/two", "2"), 0);
	assert_int_equal(vf_rename(f, "s/e", "s/d", RENAME_EXCHANGE), 0);
	assert_string_equal(vf_names(f, "s/d"), "two");
	assert_string_equal(vf_names(f, "s/e"), "one");
	vf_remount(f);
	assert_string_equal(vf_names(f, "s/d"), "two");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(exchange_in_a_directory_that_lives_by_it),
		TEST(exchange_in_one_layer),
		TEST(everything_is_exchanged_with_everything),
		TEST(exchange_shows_nothing_old),
		TEST(refused_exchange_changes_nothing),
		TEST(exchanged_directory_shows_nothing_old),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
