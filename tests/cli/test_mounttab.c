/* SPDX-License-Identifier: MIT */
/* The mount table: its form, and finding paths in it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/mounttab.h"

static const char sample[] =
	"22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw\n"
	"23 22 0:5 / /dev rw - devtmpfs none rw,size=4k\n"
	"not a line\n"
	"40 22 0:51 / /m/one rw,nosuid - fuse.specfs /src/a\\040b rw,user_id=1000,group_id=7\n"
	"41 22 0:52 / /m/one rw - fuse.specfs /src/upper rw,user_id=0,group_id=0\n"
	"42 40 0:53 / /m/with\\012line rw master:3 propagate_from:2 - fuse.other x rw,user_id=9\n"
	"43 22 0:54 / /m/empty rw - fuse.specfs  rw,user_id=5\n";

struct fix {
	struct mount_table t;
	struct strbuf at;
	char dir[64];
};

static int setup(void **state)
{
	struct fix *f = calloc(1, sizeof(*f));
	char *text = strdup(sample);

	*state = f;
	if (!f || !text)
		return -1;
	strbuf_init(&f->at);
	strcpy(f->dir, "/tmp/specfs-mounttab-XXXXXX");
	return mount_table_parse(text, &f->t) < 0 || !mkdtemp(f->dir) ? -1 : (free(text), 0);
}

static int teardown(void **state)
{
	struct fix *f = *state;

	mount_table_clear(&f->t);
	strbuf_clear(&f->at);
	rmdir(f->dir);
	free(f);
	return 0;
}

static void lines_are_read(void **state)
{
	struct fix *f = *state;
	const struct mount_entry *m = &f->t.v[2];

	assert_int_equal(f->t.n, 6);
	assert_string_equal(m->at, "/m/one");
	assert_string_equal(m->source, "/src/a b");
	assert_string_equal(m->type, "fuse.specfs");
	assert_int_equal(m->minor, 51);
	assert_int_equal(m->user, 1000);
	assert_true(mount_is_view(m));
	assert_string_equal(f->t.v[4].at, "/m/with\nline");
	assert_false(mount_is_view(&f->t.v[4]));
	assert_string_equal(f->t.v[5].source, "");
	assert_int_equal(f->t.v[5].user, 5);
}

static void the_topmost_mount_counts(void **state)
{
	struct fix *f = *state;

	assert_string_equal(mount_at(&f->t, "/m/one")->source, "/src/upper");
	assert_null(mount_at(&f->t, "/m"));
	assert_null(mount_at(&f->t, "/m/one/x"));
}

static void the_mount_around_a_path(void **state)
{
	struct fix *f = *state;

	assert_string_equal(mount_around(&f->t, "/m/one/a/b")->source, "/src/upper");
	assert_string_equal(mount_around(&f->t, "/m/one")->source, "/src/upper");
	assert_string_equal(mount_around(&f->t, "/m/onetwo")->source, "/dev/root");
	assert_string_equal(mount_around(&f->t, "/")->source, "/dev/root");
}

static void below_goes_by_components(void **state)
{
	(void)state;
	assert_string_equal(abs_below("/a/b", "/a"), "b");
	assert_string_equal(abs_below("/a", "/a"), "");
	assert_string_equal(abs_below("/a", "/"), "a");
	assert_null(abs_below("/ab", "/a"));
	assert_null(abs_below("/", "/a"));
}

static void a_path_in_a_view_is_not_touched(void **state)
{
	struct fix *f = *state;

	/* none of it exists: had anything been looked at, it would be missing */
	f->t.v[2].at[0] = '/';
	assert_int_equal(path_locate(&f->t, "/m/one", &f->at), -ENOENT);
	free(f->t.v[2].at);
	f->t.v[2].at = strdup(f->dir);
	strbuf_addf(&f->at, "%s/no/such/../dir/./x", f->dir);
	assert_int_equal(path_locate(&f->t, f->at.buf, &f->at), 0);
	assert_string_equal(abs_below(f->at.buf, f->dir), "no/dir/x");
}

static void links_are_followed_outside(void **state)
{
	struct fix *f = *state;
	char link[128], path[160];

	snprintf(link, sizeof(link), "%s/link", f->dir);
	snprintf(path, sizeof(path), "%s//./missing", link);
	assert_int_equal(symlink(".", link), 0);
	assert_int_equal(path_locate(&f->t, path, &f->at), 0);
	assert_string_equal(abs_below(f->at.buf, f->dir), "missing");
	snprintf(path, sizeof(path), "%s/missing/too", f->dir);
	assert_int_equal(path_locate(&f->t, path, &f->at), -ENOENT);
	assert_int_equal(path_locate_new(&f->t, path, &f->at), 0);
	assert_string_equal(abs_below(f->at.buf, f->dir), "missing/too");
	unlink(link);
	assert_int_equal(symlink("link", link), 0);
	assert_int_equal(path_locate(&f->t, link, &f->at), -ELOOP);
	unlink(link);
}

static void too_long_a_path_is_refused(void **state)
{
	struct fix *f = *state;
	char path[5001];

	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(path_locate(&f->t, path, &f->at), -ENAMETOOLONG);
	for (size_t i = 0; i < sizeof(path) - 1; i += 50)
		path[i] = '/';
	assert_true(path_locate(&f->t, path, &f->at) < 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(lines_are_read),
		TEST(the_topmost_mount_counts),
		TEST(the_mount_around_a_path),
		TEST(below_goes_by_components),
		TEST(a_path_in_a_view_is_not_touched),
		TEST(links_are_followed_outside),
		TEST(too_long_a_path_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
