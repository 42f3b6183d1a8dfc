/* SPDX-License-Identifier: MIT */
/* What gitignore files say, without any repository. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "layer/ignorefile.h"
#include "tree.h"

static void nearest_file_decides(void **state)
{
	static const struct {
		const char *path;
		bool is_dir;
		bool ignored;
	} cases[] = {
		{ "a.o", false, true },		{ "keep.o", false, false },
		{ "d/keep.o", false, true },	{ "d/a.o", false, true },
		{ "d/e/a.o", false, false },	{ "x.log", false, true },
		{ "d/x.log", false, false },	{ "g.bak", false, true },
		{ "out", true, true },		{ "out", false, false },
		{ "out/keep.o", false, true },	{ "d/trailing ", false, true },
		{ "d/trailing", false, false }, { "#hash", false, true },
		{ "d/crlf", false, true },	{ "", true, false },
	};
	char *tmp = tree_tmp();
	struct ignorefiles *f = NULL;
	char exclude[300];
	char global[300];

	(void)state;
	tree_make(tmp, "r/.gitignore=\xef\xbb\xbf*.o\n# comment\n!/keep.o\nout/\n\\#hash\n",
		  "r/d/.gitignore=!*.log\ntrailing\\ \ncrlf\r\nblank   \n",
		  "r/d/e/.gitignore=!a.o\n", "exclude=*.log\n", "dotfiles/global=*.bak\n", NULL);
	(void)snprintf(exclude, sizeof(exclude), "%s/exclude", tmp);
	(void)snprintf(global, sizeof(global), "%s/global", tmp);
	/* as those do who keep such files elsewhere; git follows it */
	assert_int_equal(symlink("dotfiles/global", global), 0);
	{
		char root[300];

		(void)snprintf(root, sizeof(root), "%s/r", tmp);
		assert_int_equal(ignorefiles_new(root, exclude, global, &f), 0);
	}
	for (unsigned round = 0; round < 2; round++)
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
			if (*cases[i].path)
				check_int(cases[i].path,
					  ignorefiles_cover(f, cases[i].path, cases[i].is_dir),
					  cases[i].ignored);
	/* a changed outer file counts for what is remembered of inner directories */
	tree_make(tmp, "r/.gitignore=d/\n", NULL);
	assert_true(ignorefiles_cover(f, "d/e/x", false));
	tree_make(tmp, "r/.gitignore=\n\n", NULL);
	assert_false(ignorefiles_cover(f, "d/e/x", false));
	ignorefiles_free(f);
	tree_remove(tmp);
	free(tmp);
}

/* "d/d/.../d/" of so many levels and @name in it; valid until the next call */
static const char *at_depth(unsigned levels, const char *name)
{
	static char path[400];
	size_t len = 0;

	while (levels--)
		len += (size_t)snprintf(path + len, sizeof(path) - len, "d/");
	(void)snprintf(path + len, sizeof(path) - len, "%s", name);
	return path;
}

static void make_at_depth(const char *root, unsigned levels, const char *name)
{
	tree_make(root, at_depth(levels, name), NULL);
}

static void files_count_at_any_depth(void **state)
{
	char *tmp = tree_tmp();
	struct ignorefiles *f = NULL;

	(void)state;
	make_at_depth(tmp, 20, ".gitignore=*.o\n");
	make_at_depth(tmp, 37, ".gitignore=!keep.o\nout/\n");
	make_at_depth(tmp, 60, "x=");
	assert_int_equal(ignorefiles_new(tmp, NULL, NULL, &f), 0);
	for (unsigned round = 0; round < 2; round++) {
		assert_false(ignorefiles_cover(f, at_depth(19, "a.o"), false));
		assert_true(ignorefiles_cover(f, at_depth(20, "a.o"), false));
		assert_true(ignorefiles_cover(f, at_depth(36, "keep.o"), false));
		assert_false(ignorefiles_cover(f, at_depth(60, "keep.o"), false));
		assert_true(ignorefiles_cover(f, at_depth(60, "a.o"), false));
		assert_true(ignorefiles_cover(f, at_depth(60, "out"), true));
		assert_true(ignorefiles_cover(f, at_depth(60, "out/none/x"), false));
		/* directories that only a view has */
		assert_true(ignorefiles_cover(f, at_depth(80, "a.o"), false));
		assert_false(ignorefiles_cover(f, at_depth(80, "keep.o"), false));
	}
	make_at_depth(tmp, 60, ".gitignore=!*.o\n");
	assert_false(ignorefiles_cover(f, at_depth(60, "a.o"), false));
	make_at_depth(tmp, 60, ".gitignore=\n");
	assert_true(ignorefiles_cover(f, at_depth(60, "a.o"), false));
	ignorefiles_free(f);
	tree_remove(tmp);
	free(tmp);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nearest_file_decides),
		cmocka_unit_test(files_count_at_any_depth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
