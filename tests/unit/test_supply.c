/* SPDX-License-Identifier: MIT */
/* Files of the installation in a view: when they are shown, and what changes of them do. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "tree.h"
#include "viewfix.h"

#define DIR    "python/triton/"
#define TRUNK  "trunk/" DIR
#define HOOKS  DIR "_flagtree_spec.abi3.so"
#define OLDER  DIR "flagtree_spec.abi3.so"
#define INIT   DIR "__init__.abi3.so"
#define PARTS                                                                    \
	"trunk/.specfs.ini=[profile]\nname = t\nbackends = spec/*/\n"            \
	"[map py]\nat = python/triton\nfrom = spec/${backend}/py\n"              \
	"[map extra]\nat = extra\nfrom = spec/${backend}/extra\n"                \
	"[write]\n/.git = deny\n@backend = owner\n@mapped = spec\n@any = owner\n"

#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, viewfix_teardown)

/* The installation is T/lib. */
static int setup(void **state)
{
	struct viewfix *f;
	char dir[512];

	if (viewfix_setup(state))
		return -1;
	f = *state;
	tree_make(f->tmp, "lib/_flagtree_spec.abi3.so=extension", "lib/other.abi3.so=x",
		  TRUNK "__init__.py=trunk", PARTS "[hooks]\nsupply = yes\nimport = yes\n", NULL);
	(void)snprintf(dir, sizeof(dir), "%s/lib", f->tmp);
	return setenv("SPECFS_HOOKS_DIR", dir, 1);
}

static const char *package_of(struct viewfix *f, const char *backends)
{
	vf_open(f, backends);
	return vf_names(f, "python/triton");
}

static void trunk_that_lacks_the_module_gets_it(void **state)
{
	struct viewfix *f = *state;

	assert_string_equal(package_of(f, "b"), "__init__.abi3.so __init__.py "
						"_flagtree_spec.abi3.so flagtree_spec.abi3.so");
	assert_string_equal(vf_text(f, HOOKS), "extension");
	assert_string_equal(vf_text(f, OLDER), "extension");
	assert_string_equal(vf_text(f, INIT), "extension");
	assert_string_equal(vf_layer(f, HOOKS), "hooks");
	assert_string_equal(vf_text(f, HOOKS "/x"), "ENOTDIR");
}

static void origin_names_the_file_of_the_installation(void **state)
{
	struct viewfix *f = *state;
	struct strbuf s = STRBUF_INIT;
	struct found found;
	char want[512];

	vf_open(f, "b");
	found = vf_look(f, INIT);
	(void)snprintf(want, sizeof(want), "hooks %s/lib/_flagtree_spec.abi3.so", f->tmp);
	assert_int_equal(view_origin(f->v, INIT, &found, &s), 0);
	assert_string_equal(s.buf, want);
	strbuf_clear(&s);
}

static void trunk_with_the_module_keeps_its_own(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, TRUNK "_flagtree_spec.py=own", NULL);
	assert_string_equal(package_of(f, "b"),
			    "__init__.abi3.so __init__.py _flagtree_spec.py");
	assert_string_equal(vf_text(f, HOOKS), "ENOENT");
	assert_int_equal(unlinkat(f->v->stack.root_fd, DIR "_flagtree_spec.py", 0), 0);
	assert_string_equal(vf_text(f, HOOKS), "extension");
	tree_make(f->tmp, TRUNK "flagtree_spec.py=older", NULL);
	assert_string_equal(vf_names(f, "python/triton"),
			    "__init__.abi3.so __init__.py flagtree_spec.py");
}

static void module_of_a_spec_directory_counts_as_well(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/spec/b/py/_flagtree_spec.py=spec", NULL);
	assert_string_equal(package_of(f, "b"),
			    "__init__.abi3.so __init__.py _flagtree_spec.py");
}

static void checkout_file_of_that_name_comes_first(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, TRUNK "_flagtree_spec.abi3.so=trunk",
		  "trunk/spec/b/py/__init__.abi3.so=spec", NULL);
	vf_open(f, "b");
	assert_string_equal(vf_text(f, HOOKS), "trunk");
	assert_string_equal(vf_text(f, INIT), "spec");
}

static void profile_says_what_is_supplied(void **state)
{
	static const struct {
		const char *keys, *backends, *names;
	} cases[] = {
		{ "", "b", "__init__.py" },
		{ "[hooks]\nsupply = no\nimport = no\n", "b", "__init__.py" },
		{ "[hooks]\nimport = yes\n", "b", "__init__.abi3.so __init__.py" },
		{ "[hooks]\nimport = yes\n", "", "__init__.py" },
		{ "[hooks]\nsupply = yes\n", "",
		  "__init__.py _flagtree_spec.abi3.so flagtree_spec.abi3.so" },
	};
	struct viewfix *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char profile[1024];

		(void)snprintf(profile, sizeof(profile), "%s%s", PARTS, cases[i].keys);
		tree_make(f->tmp, profile, NULL);
		check_str(cases[i].keys, package_of(f, cases[i].backends), cases[i].names);
		view_free(f->v);
		f->v = NULL;
		strv_clear(&f->o.backends);
	}
}

static void tree_without_the_package_gets_nothing(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, TRUNK "sub/x=1", NULL);
	vf_open(f, "b");
	assert_int_equal(unlinkat(f->v->stack.root_fd, DIR "__init__.py", 0), 0);
	assert_string_equal(vf_names(f, "python/triton"), "sub");
	assert_int_equal(unlinkat(f->v->stack.root_fd, DIR "sub/x", 0), 0);
	assert_int_equal(unlinkat(f->v->stack.root_fd, DIR "sub", AT_REMOVEDIR), 0);
	assert_int_equal(unlinkat(f->v->stack.root_fd, "python/triton", AT_REMOVEDIR), 0);
	assert_int_equal(unlinkat(f->v->stack.root_fd, "python", AT_REMOVEDIR), 0);
	assert_string_equal(vf_text(f, "python"), "ENOENT");
	assert_string_equal(vf_names(f, ""), ".specfs.ini extra spec");
}

static void changes_go_to_scratch(void **state)
{
	struct viewfix *f = *state;

	vf_open(f, "b");
	assert_int_equal(vf_put(f, HOOKS, "mine"), 0);
	assert_string_equal(vf_text(f, HOOKS), "mine");
	assert_string_equal(vf_on_disk(f, "scratch/upper/" HOOKS), "mine");
	assert_int_equal(vf_rm(f, INIT), 0);
	assert_string_equal(vf_text(f, INIT), "ENOENT");
	assert_int_equal(vf_put(f, INIT, "again"), 0);
	assert_string_equal(vf_on_disk(f, "scratch/upper/" INIT), "again");
	assert_int_equal(vf_rename(f, OLDER, DIR "moved.so", 0), 0);
	assert_string_equal(vf_text(f, DIR "moved.so"), "extension");
	assert_string_equal(vf_text(f, OLDER), "ENOENT");
	assert_string_equal(vf_on_disk(f, "lib/_flagtree_spec.abi3.so"), "extension");
	assert_false(tree_exists(f->tmp, TRUNK "moved.so"));
	assert_true(vf_is_clean(f));
}

/* Names of one file are one shared object to the dynamic linker; a changed copy must not be. */
static void names_share_a_number_until_one_is_changed(void **state)
{
	struct viewfix *f = *state;
	ino_t ino;

	vf_open(f, "b");
	ino = vf_look(f, HOOKS).st.st_ino;
	assert_true(vf_look(f, INIT).st.st_ino == ino);
	assert_int_equal(vf_put(f, HOOKS, "mine"), 0);
	assert_true(vf_look(f, HOOKS).st.st_ino != ino);
	assert_true(vf_look(f, INIT).st.st_ino == ino);
}

static void file_is_shown_as_the_checkouts(void **state)
{
	struct viewfix *f = *state;
	struct found found;
	char file[512];

	(void)snprintf(file, sizeof(file), "%s/lib/_flagtree_spec.abi3.so", f->tmp);
	assert_int_equal(chmod(file, 0555), 0);
	if (geteuid() == 0)
		assert_int_equal(chown(file, 1234, 1234), 0);
	vf_open(f, "b");
	found = vf_look(f, HOOKS);
	assert_true(found.lent);
	assert_int_equal(found.st.st_mode & 07777, 0755);
	assert_int_equal(found.st.st_uid, f->v->stack.root_st.st_uid);
	assert_int_equal(vf_chmod(f, HOOKS, 0700), 0);
	assert_int_equal(vf_look(f, HOOKS).st.st_mode & 07777, 0700);
	assert_int_equal(unlink(file), 0);
	assert_string_equal(vf_text(f, INIT), "ENOENT");
}

static void missing_extension_is_told_where_it_is_needed(void **state)
{
	struct viewfix *f = *state;
	struct diag d = DIAG_INIT;

	tree_make(f->tmp, "empty/", PARTS "[hooks]\nsupply = yes\n", NULL);
	assert_int_equal(setenv("SPECFS_HOOKS_DIR", "/nowhere/at/all", 1), 0);
	assert_int_equal(view_open(&f->o, &d, &f->v), -ENOENT);
	assert_int_equal(d.lines.n, 1);
	assert_non_null(strstr(d.lines.v[0], "'/nowhere/at/all'"));
	diag_clear(&d);

	tree_make(f->tmp, TRUNK "_flagtree_spec.py=own", NULL);
	assert_string_equal(package_of(f, ""), "__init__.py _flagtree_spec.py");
	view_free(f->v);
	f->v = NULL;

	tree_make(f->tmp, PARTS "[hooks]\nimport = yes\n", "trunk/spec/b/extra/", NULL);
	assert_int_equal(strv_add(&f->o.backends, "b"), 0);
	assert_int_equal(view_open(&f->o, &d, &f->v), -ENOENT);
	diag_clear(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(trunk_that_lacks_the_module_gets_it),
		TEST(origin_names_the_file_of_the_installation),
		TEST(trunk_with_the_module_keeps_its_own),
		TEST(module_of_a_spec_directory_counts_as_well),
		TEST(checkout_file_of_that_name_comes_first),
		TEST(profile_says_what_is_supplied),
		TEST(tree_without_the_package_gets_nothing),
		TEST(changes_go_to_scratch),
		TEST(names_share_a_number_until_one_is_changed),
		TEST(file_is_shown_as_the_checkouts),
		TEST(missing_extension_is_told_where_it_is_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
