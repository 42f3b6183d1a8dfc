/* SPDX-License-Identifier: MIT */
/* What rules ask of the checkout. */
#include "layout/checkout.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "check.h"
#include "tree.h"

static void calls_of_spec_path(void **state)
{
	static const struct {
		const char *text;
		bool hijacks;
	} cases[] = {
		{ "spec_path(__path__)\n", true },
		{ "import x\n\nspec_path(__path__)", true },
		{ "if a:\n    spec_path( __path__ )\n", true },
		{ "\tspec_path (__path__, 1)\n", true },
		{ "spec_path(__path__)\r\n", true },
		{ "", false },
		{ "# spec_path(__path__)\n", false },
		{ "from x import spec_path\n", false },
		{ "spec_path(path)\n", false },
		{ "spec_paths(__path__)\n", false },
		{ "my_spec_path(__path__)\n", false },
		{ "spec_path(__path__.copy())\n", false },
		{ "spec_path(\n__path__)\n", false },
		{ "spec_path(__path_", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_int(cases[i].text,
			  checkout_text_hijacks(cases[i].text, strlen(cases[i].text)),
			  cases[i].hijacks);
}

static void packages_of_a_checkout(void **state)
{
	char *root = tree_tmp();
	int fd;

	tree_make(root, "p/__init__.py=spec_path(__path__)\n", "q/__init__.py=", "r/",
		  "s/__init__.py/", "t/__init__.py->../p/__init__.py", NULL);
	fd = open(root, O_PATH | O_DIRECTORY);
	assert_true(fd >= 0);
	assert_true(checkout_hijacks(fd, "p"));
	assert_false(checkout_hijacks(fd, "q"));
	assert_false(checkout_hijacks(fd, "r"));
	assert_false(checkout_hijacks(fd, "s"));
	assert_false(checkout_hijacks(fd, "t"));
	assert_false(checkout_hijacks(fd, "none"));
	assert_false(checkout_hijacks(fd, ""));
	close(fd);
	tree_remove(root);
	free(root);
}

static void rules_that_do_not_apply_go(void **state)
{
	char *root = tree_tmp();
	char file[256];
	struct diag d = DIAG_INIT;
	struct profile *p = NULL;
	struct strv none = STRV_INIT;
	struct ruleset *rs = NULL;
	int fd;

	tree_make(root, "lib/CMakeLists.txt=", "here=", "link->lib",
		  "t.ini=[map off]\nat = a\nfrom = lib\nunless = CMakeLists.txt\n"
		  "[map on]\nat = b\nfrom = lib\nunless = other\n"
		  "[map absent]\nat = c\nfrom = nowhere\nunless = x\n"
		  "[map behind-link]\nat = d\nfrom = link\nunless = CMakeLists.txt\n"
		  "[file yes]\nat = y\nif = here\n[file no]\nat = n\nif = there\n"
		  "[file below-file]\nat = z\nif = here/x\n",
		  NULL);
	snprintf(file, sizeof(file), "%s/t.ini", root);
	fd = open(root, O_PATH | O_DIRECTORY);
	assert_true(fd >= 0);
	assert_int_equal(profile_load(file, &d, &p), 0);
	assert_int_equal(ruleset_new(p, &none, &d, &rs), 0);
	assert_int_equal(checkout_settle(fd, rs), 0);
	assert_int_equal(rs->n_rules, 4);
	assert_string_equal(rs->rules[0].name, "file yes");
	assert_string_equal(rs->rules[1].name, "map on");
	assert_string_equal(rs->rules[2].name, "map absent");
	assert_string_equal(rs->rules[3].name, "map behind-link");
	ruleset_free(rs);
	profile_free(p);
	diag_clear(&d);
	close(fd);
	tree_remove(root);
	free(root);
}

static void directories_of_rules(void **state)
{
	char *root = tree_tmp();
	struct rule relative = { .from = (char *)"dir" };
	struct rule absolute = { .from = root };
	struct rule linked = { .from = (char *)"link" };
	int fd, dir;

	tree_make(root, "dir/", "link->dir", NULL);
	fd = open(root, O_PATH | O_DIRECTORY);
	dir = checkout_open_from(fd, &relative);
	assert_true(dir >= 0);
	close(dir);
	dir = checkout_open_from(fd, &absolute);
	assert_true(dir >= 0);
	assert_int_equal(faccessat(dir, "dir", F_OK, 0), 0);
	close(dir);
	assert_true(checkout_open_from(fd, &linked) < 0);
	close(fd);
	tree_remove(root);
	free(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_of_spec_path),
		cmocka_unit_test(packages_of_a_checkout),
		cmocka_unit_test(rules_that_do_not_apply_go),
		cmocka_unit_test(directories_of_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
