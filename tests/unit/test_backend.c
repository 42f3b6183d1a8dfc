/* SPDX-License-Identifier: MIT */
/* Backends of a checkout, with the shipped profiles on the sample checkouts. */
#include "layout/backend.h"

#include "base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "check.h"
#include "tree.h"

/* Describe the backends of a checkout: "name=specializations+providers ...". */
static void describe(const char *root, const char *which, struct strbuf *ret)
{
	struct diag d = DIAG_INIT;
	struct profile *p = NULL;
	char *why = NULL;
	struct backend_info *list;
	size_t n;
	int fd = open(root, O_PATH | O_DIRECTORY);

	assert_true(fd >= 0);
	assert_int_equal(profile_find(root, which, &d, &p, &why), 0);
	assert_int_equal(backend_list(fd, p, &d, &list, &n), 0);
	for (size_t i = 0; i < n; i++)
		strbuf_addf(ret, "%s%s=%zu+%zu", i ? " " : "", list[i].name,
			    list[i].n_specializations, list[i].n_providers);
	backend_list_free(list, n);
	free(why);
	profile_free(p);
	diag_clear(&d);
	close(fd);
}

static void sample_checkouts(void **state)
{
	/* numbers of the files that tests/trees/expected.py lists */
	static const char *const cases[][2] = {
		{ "flagtree-mini",
		  "enflame=7+0 everywhere=50+15 iluvatar=4+4 mthreads=15+5 nvidia=0+0 "
		  "ppu=2+2 xpu=3+0" },
		{ "backend-spec-mini", "mthreads=6+3 sunrise=5+0" },
	};
	const char *source = getenv("SPECFS_SOURCE");

	assert_non_null(source);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct strbuf text = STRBUF_INIT;
		char root[512];

		snprintf(root, sizeof(root), "%s/tests/trees/%s", source, cases[i][0]);
		describe(root, NULL, &text);
		check_str(cases[i][0], text.buf, cases[i][1]);
		strbuf_clear(&text);
	}
}

static void only_directories_with_something_of_a_backend(void **state)
{
	char *root = tree_tmp();
	struct strbuf text = STRBUF_INIT;

	tree_make(root, "third_party/lib/README=", "third_party/.hid/spec/x=", "third_party/file=",
		  "third_party/a/backend/", "third_party/b/spec/triton/tools/x.py=",
		  "third_party/b/spec/triton/tools/__pycache__/x.pyc=",
		  "third_party/b/spec/triton/tools/l->x.py",
		  "third_party/b/spec/.specfs-hide=", NULL);
	describe(root, "flagtree", &text);
	assert_string_equal(text.buf, "a=0+0 b=2+0");
	strbuf_clear(&text);
	tree_remove(root);
	free(root);
}

static void overlays_of_any_tree(void **state)
{
	char *root = tree_tmp();
	struct strbuf text = STRBUF_INIT;

	tree_make(root, "a=", "overlays/one/a=", "overlays/two/d/e=", "overlays/two/d/f=", NULL);
	describe(root, NULL, &text);
	assert_string_equal(text.buf, "one=1+0 two=2+0");
	strbuf_clear(&text);
	tree_remove(root);
	free(root);
}

static void a_missing_backend_is_told(void **state)
{
	char *root = tree_tmp();
	struct diag d = DIAG_INIT;
	struct profile *p = NULL;
	char *why = NULL;
	int fd;

	fd = open(root, O_PATH | O_DIRECTORY);
	assert_int_equal(profile_find(root, "generic", &d, &p, &why), 0);
	assert_int_equal(backend_check(fd, p, "x", &d), -ENOENT);
	assert_string_equal(d.lines.v[0],
			    "no backend 'x': profile 'generic' finds none in this checkout");
	tree_make(root, "overlays/c/", "overlays/a/", "overlays/b/", NULL);
	assert_int_equal(backend_check(fd, p, "x", &d), -ENOENT);
	assert_string_equal(d.lines.v[1], "no backend 'x', expected a, b or c");
	assert_int_equal(backend_check(fd, p, "b", &d), 0);
	assert_int_equal(d.lines.n, 2);
	free(why);
	profile_free(p);
	diag_clear(&d);
	close(fd);
	tree_remove(root);
	free(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sample_checkouts),
		cmocka_unit_test(only_directories_with_something_of_a_backend),
		cmocka_unit_test(overlays_of_any_tree),
		cmocka_unit_test(a_missing_backend_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
