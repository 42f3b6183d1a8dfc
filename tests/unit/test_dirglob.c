/* SPDX-License-Identifier: MIT */
/* Paths by pattern. */
#include "base/dirglob.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>

#include "check.h"
#include "tree.h"

static void what_patterns_find(void **state)
{
	static const struct {
		const char *pattern;
		const char *hits; /* joined by blanks */
	} cases[] = {
		{ "third_party/*/spec",
		  "third_party/a/spec third_party/b/spec third_party/link/spec" },
		{ "third_party/*/spec/", "third_party/a/spec" },
		{ "third_party/*", "third_party/.hid third_party/a third_party/b third_party/file "
				   "third_party/link" },
		{ "third_party/*/",
		  "third_party/.hid third_party/a third_party/b third_party/link" },
		{ "third_party/[ab]/", "third_party/a third_party/b" },
		{ "*", "other third_party" },
		{ "other/dangling", "other/dangling" },
		{ "other/loop", "other/loop" },
		{ "other/loop/", "" },
		{ "other/loop/other", "" },
		{ "none/*", "" },
		{ "third_party/file/*", "" },
	};
	char *root = tree_tmp();
	int fd;

	tree_make(root, "third_party/a/spec/x=", "third_party/b/spec=a file",
		  "third_party/file=", "third_party/.hid/", "third_party/link/spec->../a/spec",
		  "other/dangling->nowhere", "other/loop->..", NULL);
	fd = open(root, O_PATH | O_DIRECTORY);
	assert_true(fd >= 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct strv hits = STRV_INIT;
		struct strbuf text = STRBUF_INIT;

		check_int(cases[i].pattern, dirglob(fd, cases[i].pattern, &hits), 0);
		for (size_t j = 0; j < hits.n; j++)
			strbuf_addf(&text, "%s%s", j ? " " : "", hits.v[j]);
		check_str(cases[i].pattern, text.buf, cases[i].hits);
		strbuf_clear(&text);
		strv_clear(&hits);
	}
	close(fd);
	tree_remove(root);
	free(root);
}

static void malformed_patterns(void **state)
{
	static const char *const bad[] = { "",   "/",  "/a",   ".",    "./a", "a/../b",
					   "..", "!a", "a//b", "a/**", "**" };
	static const char *const good[] = { "a", "a/", "*/x", ".git", "a/*/b/" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		check_int(bad[i], dirglob_check(bad[i]) != NULL, true);
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		check_int(good[i], dirglob_check(good[i]) != NULL, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_patterns_find),
		cmocka_unit_test(malformed_patterns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
