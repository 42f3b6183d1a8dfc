/* SPDX-License-Identifier: MIT */
/* Hard links: two names, one file, wherever the names lie; and no way round a rule. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "tree.h"
#include "viewfix.h"

#define TEST(t) cmocka_unit_test_setup_teardown(t, viewfix_setup, viewfix_teardown)

static void make_checkout(struct viewfix *f)
{
	tree_make(f->tmp, "trunk/src/f=src", "trunk/lib/f=lib", "trunk/lib/both=trunk",
		  "trunk/spec/b/lib/both=spec", "trunk/spec/b/lib/only=only",
		  "trunk/spec/b/back/f=back", "trunk/s/f=s", "trunk/deny/x=x",
		  "trunk/src/l->gone", "trunk/src/up->../s/f", NULL);
}

/* Sources of every kind; where a write to each goes on disk. */
static const struct {
	const char *path;
	const char *text;
	const char *disk;
} sources[] = {
	{ "src/f", "src", "trunk/src/f" },
	{ "lib/f", "lib", "trunk/spec/b/lib/f" },
	{ "lib/both", "spec", "trunk/spec/b/lib/both" },
	{ "lib/only", "only", "trunk/spec/b/lib/only" },
	{ "gr/b/f", "back", "trunk/spec/b/back/f" },
	{ "s/f", "s", "scratch/upper/s/f" },
	{ "s/new", "new", "scratch/upper/s/new" },
	{ "MARKER", "b", "scratch/upper/MARKER" },
};

static const struct {
	const char *path;
	const char *disk;
} targets[] = {
	{ "src/t", "trunk/src/t" },
	{ "lib/t", "trunk/spec/b/lib/t" },
	{ "gr/b/t", "trunk/spec/b/back/t" },
	{ "s/t", "scratch/upper/s/t" },
	{ "s/in/t", "scratch/upper/s/in/t" },
};

static void check_shared(struct viewfix *f, const char *what, const char *a, const char *b)
{
	struct found x = vf_look(f, a);
	struct found y = vf_look(f, b);

	check_int(what, (long long)x.st.st_ino, (long long)y.st.st_ino);
	check_int(what, object_same(&x.obj, &y.obj), true);
	check_int(what, (long long)x.st.st_nlink, 2);
	check_int(what, (long long)y.st.st_nlink, 2);
}

static void every_file_to_every_place(void **state)
{
	struct viewfix *f;
	char what[128];

	for (size_t s = 0; s < sizeof(sources) / sizeof(sources[0]); s++)
		for (size_t t = 0; t < sizeof(targets) / sizeof(targets[0]); t++) {
			const char *a = sources[s].path;
			const char *b = targets[t].path;

			viewfix_teardown(state);
			viewfix_setup(state);
			f = *state;
			make_checkout(f);
			vf_open(f, "b");
			assert_int_equal(vf_put(f, "s/new", "new"), 0);
			assert_int_equal(vf_mkdir(f, "s/in"), 0);
			(void)snprintf(what, sizeof(what), "%s to %s", a, b);
			check_int(what, vf_link(f, a, b), 0);
			check_str(what, vf_text(f, b), sources[s].text);
			check_shared(f, what, a, b);
			check_int(what, vf_is_clean(f), true);
			vf_remount(f);
			check_shared(f, what, a, b);
			check_int(what, vf_put(f, b, "changed"), 0);
			check_str(what, vf_text(f, a), "changed");
			check_str(what, vf_on_disk(f, sources[s].disk), "changed");
			check_str(what, vf_on_disk(f, targets[t].disk), "changed");
			check_str(what, vf_on_disk(f, "trunk/lib/f"), "lib");
			check_str(what, vf_on_disk(f, "trunk/s/f"), "s");
			check_shared(f, what, a, b);
			check_int(what, vf_rm(f, b), 0);
			check_str(what, vf_text(f, b), "ENOENT");
			if (strncmp(b, "gr/", 3)) /* there the name is only hidden */
				check_int(what, (long long)vf_look(f, a).st.st_nlink, 1);
			check_str(what, vf_text(f, a), "changed");
		}
}

static void rules_hold_for_links(void **state)
{
	struct viewfix *f = *state;

	make_checkout(f);
	vf_open(f, "b");
	assert_int_equal(vf_link(f, "deny/x", "s/x"), -EROFS);
	assert_int_equal(vf_link(f, "deny/x", "src/x"), -EROFS);
	assert_int_equal(vf_link(f, "src/f", "deny/y"), -EROFS);
	assert_string_equal(vf_on_disk(f, "scratch/linked"), "-");
	/* where trunk is not to be changed, the copy is linked */
	assert_int_equal(vf_link(f, "lib/f", "s/x"), 0);
	assert_int_equal(vf_put(f, "s/x", "changed"), 0);
	assert_string_equal(vf_on_disk(f, "trunk/lib/f"), "lib");
	assert_int_equal(vf_link(f, "s/f", "src/x"), 0);
	assert_int_equal(vf_put(f, "src/x", "changed"), 0);
	assert_string_equal(vf_on_disk(f, "trunk/s/f"), "s");
	assert_string_equal(vf_text(f, "s/f"), "changed");
}

static void scratch_with_links_serves_no_view_that_keeps_trunk(void **state)
{
	struct viewfix *f = *state;
	struct diag d = DIAG_INIT;

	make_checkout(f);
	f->o.scratch_all = true;
	vf_open(f, "b");
	assert_int_equal(vf_link(f, "src/f", "s/x"), 0);
	assert_int_equal(vf_put(f, "s/x", "changed"), 0);
	assert_string_equal(vf_text(f, "src/f"), "changed");
	assert_string_equal(vf_on_disk(f, "trunk/src/f"), "src");
	vf_remount(f); /* nothing of scratch is trunk's so far */
	f->o.scratch_all = false;
	vf_remount(f);
	tree_make(f->tmp, "trunk/src/g=g", NULL);
	assert_int_equal(vf_link(f, "src/g", "s/g"), 0);
	view_free(f->v);
	f->v = NULL;
	f->o.scratch_all = true;
	assert_int_equal(view_open(&f->o, &d, &f->v), -EINVAL);
	assert_int_equal(d.lines.n, 1);
	assert_non_null(strstr(d.lines.v[0], "hard links"));
	diag_clear(&d);
}

static void symlinks_are_linked_where_their_text_holds(void **state)
{
	struct viewfix *f = *state;

	make_checkout(f);
	vf_open(f, "b");
	assert_int_equal(vf_symlink(f, "s/l", "x"), 0);
	assert_int_equal(vf_link(f, "s/l", "src/l2"), 0);
	assert_string_equal(vf_text(f, "src/l2"), "->x");
	assert_int_equal(vf_look(f, "s/l").st.st_nlink, 2);
	assert_int_equal(vf_link(f, "src/l", "s/l2"), 0);
	assert_string_equal(vf_text(f, "s/l2"), "->gone");
	/* from a spec directory it would lead elsewhere */
	assert_int_equal(vf_link(f, "src/up", "lib/up"), -EXDEV);
	assert_string_equal(vf_text(f, "lib/up"), "ENOENT");
	assert_true(vf_is_clean(f));
}

static void taken_and_deleted_names(void **state)
{
	struct viewfix *f = *state;

	make_checkout(f);
	vf_open(f, "b");
	assert_int_equal(vf_link(f, "src/f", "s/f"), -EEXIST);
	assert_int_equal(vf_link(f, "src/f", "lib/f"), -EEXIST);
	assert_int_equal(vf_link(f, "src", "s/d"), -EPERM);
	assert_int_equal(vf_rm(f, "s/f"), 0);
	assert_int_equal(vf_link(f, "src/f", "s/f"), 0);
	assert_string_equal(vf_text(f, "s/f"), "src");
	assert_int_equal(vf_rm(f, "lib/f"), 0);
	assert_int_equal(vf_link(f, "s/f", "lib/f"), 0);
	assert_string_equal(vf_text(f, "lib/f"), "src");
	assert_int_equal(vf_look(f, "src/f").st.st_nlink, 3);
	assert_int_equal(vf_rm(f, "s/f"), 0);
	assert_string_equal(vf_text(f, "s/f"), "ENOENT");
	assert_int_equal(vf_look(f, "src/f").st.st_nlink, 2);
	vf_remount(f);
	assert_string_equal(vf_text(f, "s/f"), "ENOENT");
	assert_string_equal(vf_text(f, "lib/f"), "src");
	/* renamed over one another: nothing happens, as POSIX has it */
	assert_int_equal(vf_rename(f, "src/f", "lib/f", 0), 0);
	assert_string_equal(vf_text(f, "src/f"), "src");
	assert_true(vf_is_clean(f));
}

/* Make a file without a name in @dir, then give it @name there. */
static int put_nameless(struct viewfix *f, const char *dir, const char *name, const char *text)
{
	const struct cred who = { .uid = geteuid(), .gid = getegid() };
	struct found parent = vf_look(f, dir);
	struct found found;
	struct found made;
	int fd = -1;
	int r = change_tmpfile(f->v, dir, &parent, 0640, &who, &found, &fd);

	if (r < 0)
		return r;
	assert_int_equal(found.st.st_nlink, 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	parent = vf_look(f, dir);
	r = change_link_nameless(f->v, fd, &found, dir, &parent, name, &made);
	close(fd);
	if (!r)
		assert_int_equal(made.st.st_nlink, 1);
	return r;
}

static void nameless_file_gets_a_name(void **state)
{
	static const struct {
		const char *dir;
		const char *name;
		const char *path;
		const char *disk;
	} cases[] = {
		{ "src", "t", "src/t", "trunk/src/t" },
		{ "lib", "t", "lib/t", "trunk/spec/b/lib/t" },
		{ "gr/b", "t", "gr/b/t", "trunk/spec/b/back/t" },
		{ "s", "t", "s/t", "scratch/upper/s/t" },
		{ "s", "f", "s/f", "scratch/upper/s/f" }, /* over a deleted one */
		{ "lib", "f", "lib/f", "trunk/spec/b/lib/f" },
	};
	struct viewfix *f = *state;

	make_checkout(f);
	vf_open(f, "b");
	if (put_nameless(f, "src", "probe", "x") == -EOPNOTSUPP)
		skip();
	assert_int_equal(vf_rm(f, "s/f"), 0);
	assert_int_equal(vf_rm(f, "lib/f"), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		check_int(cases[i].path, put_nameless(f, cases[i].dir, cases[i].name, "text"), 0);
		check_str(cases[i].path, vf_text(f, cases[i].path), "text");
		check_str(cases[i].path, vf_on_disk(f, cases[i].disk), "text");
		check_int(cases[i].path, vf_look(f, cases[i].path).st.st_mode & 0777, 0640);
		check_int(cases[i].path, put_nameless(f, cases[i].dir, cases[i].name, "2"),
			  -EEXIST);
	}
	assert_int_equal(put_nameless(f, "deny", "t", "x"), -EROFS);
	assert_string_equal(vf_on_disk(f, "trunk/lib/f"), "lib");
	assert_true(vf_is_clean(f));
	vf_remount(f);
	assert_string_equal(vf_text(f, "s/f"), "text");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_file_to_every_place),
		TEST(nameless_file_gets_a_name),
		TEST(rules_hold_for_links),
		TEST(scratch_with_links_serves_no_view_that_keeps_trunk),
		TEST(symlinks_are_linked_where_their_text_holds),
		TEST(taken_and_deleted_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
