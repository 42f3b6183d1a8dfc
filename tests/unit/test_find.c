/* SPDX-License-Identifier: MIT */
/* Finding a profile: by name, by file, by what the checkout looks like. */
#include "config/profile.h"

#include <errno.h>
#include <stdio.h>

#include "check.h"
#include "tree.h"

struct fix {
	char *root;
	struct diag d;
	struct profile *p;
	char *why;
};

static int setup(void **state)
{
	static struct fix f;

	f = (struct fix){ .root = tree_tmp(), .d = DIAG_INIT };
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fix *f = *state;

	profile_free(f->p);
	free(f->why);
	diag_clear(&f->d);
	tree_remove(f->root);
	free(f->root);
	return 0;
}

static void find_again(struct fix *f, const char *which, const char *name, const char *why)
{
	profile_free(f->p);
	f->p = NULL;
	free(f->why);
	f->why = NULL;
	assert_int_equal(profile_find(f->root, which, &f->d, &f->p, &f->why), 0);
	assert_string_equal(f->p->name, name);
	assert_string_equal(f->why, why);
}

static void the_checkout_tells(void **state)
{
	struct fix *f = *state;

	find_again(f, NULL, "generic", "profile 'generic' because no other one fits this checkout");
	tree_make(f->root, "third_party/b/backend/spec/", NULL);
	find_again(f, NULL, "flagtree-backend-spec",
		   "profile 'flagtree-backend-spec' because third_party/b/backend/spec exists");
	tree_make(f->root, "third_party/a/spec_cpp/", NULL);
	find_again(
		f, NULL, "flagtree",
		"profile 'flagtree' because third_party/a/spec_cpp exists; 'flagtree-backend-spec' "
		"would fit as well, because third_party/b/backend/spec exists");
	tree_make(f->root, ".specfs.ini=[profile]\nname = own\n", NULL);
	find_again(f, NULL, "own", "profile 'own' because the checkout has its own .specfs.ini");
}

static void a_file_named_spec_is_no_sign(void **state)
{
	struct fix *f = *state;

	tree_make(f->root, "third_party/a/spec=text", NULL);
	find_again(f, NULL, "generic", "profile 'generic' because no other one fits this checkout");
}

static void left_overs_are_no_sign(void **state)
{
	struct fix *f = *state;

	tree_make(f->root, "third_party/a/spec/triton/__pycache__/x.cpython-311.pyc=",
		  "third_party/a/spec/triton/ops/y.pyc=", NULL);
	find_again(f, NULL, "generic",
		   "profile 'generic' because no other one fits this checkout");
	tree_make(f->root, "third_party/c/spec/triton/ops/y.py=", NULL);
	find_again(f, NULL, "flagtree", "profile 'flagtree' because third_party/c/spec exists");
}

static void the_user_asks(void **state)
{
	struct fix *f = *state;
	char file[256], why[400];

	tree_make(f->root, ".specfs.ini=[profile]\nname = own\n", "x.ini=[profile]\nname = x\n",
		  NULL);
	find_again(f, "flagtree", "flagtree", "profile 'flagtree' because it was asked for");
	snprintf(file, sizeof(file), "%s/x.ini", f->root);
	snprintf(why, sizeof(why), "profile 'x' because '%s' was asked for", file);
	find_again(f, file, "x", why);
}

static void what_cannot_be_found_is_told(void **state)
{
	struct fix *f = *state;

	assert_int_equal(profile_find(f->root, "flagtre", &f->d, &f->p, &f->why), -ENOENT);
	assert_string_equal(f->d.lines.v[0],
			    "no profile 'flagtre', expected flagtree, "
			    "flagtree-backend-spec, generic or the path of an INI file");
	assert_int_equal(profile_find(f->root, "none.ini", &f->d, &f->p, &f->why), -ENOENT);
	assert_string_equal(f->d.lines.v[1], "none.ini: cannot read: No such file or directory");
	assert_int_equal(profile_find("/nowhere", NULL, &f->d, &f->p, &f->why), -ENOENT);
	assert_string_equal(f->d.lines.v[2], "/nowhere: cannot open the checkout: No such file or "
					     "directory");
	tree_make(f->root, ".specfs.ini=[oops]\n", NULL);
	assert_int_equal(profile_find(f->root, NULL, &f->d, &f->p, &f->why), -EINVAL);
	assert_non_null(strstr(f->d.lines.v[3], ".specfs.ini:1: unknown section"));
	assert_null(f->p);
	assert_null(f->why);
}

static void profiles_of_the_environment_come_first(void **state)
{
	struct fix *f = *state;
	const char *before = getenv("SPECFS_PROFILE_DIR");
	char *saved = before ? strdup(before) : NULL;
	char dir[256];

	tree_make(f->root, "p/generic.ini=[profile]\nname = mine\n",
		  "p/aaa.ini=[profile]\ndetect = p/\n", NULL);
	snprintf(dir, sizeof(dir), "%s/p", f->root);
	assert_int_equal(setenv("SPECFS_PROFILE_DIR", dir, 1), 0);
	find_again(f, "generic", "mine", "profile 'mine' because it was asked for");
	find_again(f, "flagtree", "flagtree", "profile 'flagtree' because it was asked for");
	find_again(f, NULL, "aaa", "profile 'aaa' because p exists");
	if (saved)
		setenv("SPECFS_PROFILE_DIR", saved, 1);
	else
		unsetenv("SPECFS_PROFILE_DIR");
	free(saved);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_checkout_tells, setup, teardown),
		cmocka_unit_test_setup_teardown(a_file_named_spec_is_no_sign, setup, teardown),
		cmocka_unit_test_setup_teardown(left_overs_are_no_sign, setup, teardown),
		cmocka_unit_test_setup_teardown(the_user_asks, setup, teardown),
		cmocka_unit_test_setup_teardown(what_cannot_be_found_is_told, setup, teardown),
		cmocka_unit_test_setup_teardown(profiles_of_the_environment_come_first, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
