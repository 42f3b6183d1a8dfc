/* SPDX-License-Identifier: MIT */
/* What a directory shows, read at once: each name with what is there, and no descriptor stays. */
#include <dirent.h>
#include <stdio.h>

#include "check.h"
#include "layer/children.h"
#include "stackfix.h"
#include "tree.h"

#define TEST(t) cmocka_unit_test_setup_teardown(t, fix_setup, fix_teardown)

static size_t count_open(void)
{
	DIR *d = opendir("/proc/self/fd");
	size_t n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static const struct child *find(const struct children *c, const char *name)
{
	for (size_t i = 0; i < c->n; i++)
		if (!strcmp(c->v[i].name, name))
			return &c->v[i];
	return NULL;
}

static void each_name_comes_with_what_the_view_shows_there(void **state)
{
	struct fix *f = *state;
	struct children c = { 0 };
	size_t before;

	tree_make(f->tmp, "trunk/lib/both=trunk", "trunk/lib/low=low", "trunk/lib/gone=gone",
		  "trunk/lib/d/x=x", "trunk/sp/both=spec", "trunk/sp/d/y=y", "scratch/lib/", NULL);
	fix_rule(f, RULE_MAP, "lib", "sp");
	fix_settle(f);
	fix_whiteout(f, "lib/gone");
	assert_int_equal(fix_lookup(f, "lib"), 0);
	before = count_open();
	assert_int_equal(children_read(&f->st, "lib", &f->f, &c), 0);
	assert_int_equal(count_open(), before);
	assert_int_equal(c.n, 3);
	for (size_t i = 0; i < c.n; i++) {
		char path[64];

		(void)snprintf(path, sizeof(path), "lib/%s", c.v[i].name);
		assert_int_equal(fix_lookup(f, path), 0);
		check_int(path, c.v[i].f.layer, f->f.layer);
		check_int(path, c.v[i].f.parts, f->f.parts);
		check_int(path, object_same(&c.v[i].f.obj, &f->f.obj), true);
	}
	assert_non_null(find(&c, "both"));
	assert_true(S_ISDIR(find(&c, "d")->f.obj.st.st_mode));
	assert_non_null(find(&c, "low"));
	children_clear(&c);
	assert_int_equal(c.n, 0);
}

static void an_empty_directory_has_none(void **state)
{
	struct fix *f = *state;
	struct children c = { 0 };

	tree_make(f->tmp, "trunk/e/", NULL);
	fix_settle(f);
	assert_int_equal(fix_lookup(f, "e"), 0);
	assert_int_equal(children_read(&f->st, "e", &f->f, &c), 0);
	assert_int_equal(c.n, 0);
	children_clear(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_name_comes_with_what_the_view_shows_there),
		TEST(an_empty_directory_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
