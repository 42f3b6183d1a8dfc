/* SPDX-License-Identifier: MIT */
/* New objects and edits of existing ones: where they land and what they look like there. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "tree.h"
#include "viewfix.h"

#define TEST(t) cmocka_unit_test_setup_teardown(t, viewfix_setup, viewfix_teardown)

static void new_names_go_where_the_rules_say(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/lib/a.c=a", "trunk/src/m.c=m", "trunk/s/x=x", "trunk/deny/x=x",
		  "trunk/spec/b/back/g.py=g", "trunk/t/x=x", NULL);
	vf_open(f, "b");
	assert_int_equal(vf_put(f, "lib/new.c", "n"), 0);
	assert_string_equal(vf_on_disk(f, "trunk/spec/b/lib/new.c"), "n");
	assert_int_equal(vf_put(f, "src/new.c", "n"), 0);
	assert_string_equal(vf_on_disk(f, "trunk/src/new.c"), "n");
	assert_int_equal(vf_put(f, "s/new", "n"), 0);
	assert_string_equal(vf_on_disk(f, "scratch/upper/s/new"), "n");
	assert_int_equal(vf_put(f, "t/new", "n"), 0);
	assert_string_equal(vf_on_disk(f, "trunk/t/new"), "n");
	assert_int_equal(vf_put(f, "gr/b/new.py", "n"), 0);
	assert_string_equal(vf_on_disk(f, "trunk/spec/b/back/new.py"), "n");
	assert_int_equal(vf_put(f, "deny/new", "n"), -EROFS);
	assert_string_equal(vf_names(f, "deny"), "x");
	assert_true(vf_is_clean(f));
}

static void scratch_only_directory_keeps_its_names(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/s/", NULL);
	vf_open(f, "b");
	assert_int_equal(vf_mkdir(f, "s/out"), 0);
	assert_int_equal(vf_mkdir(f, "s/out/lib"), 0);
	assert_int_equal(vf_put(f, "s/out/lib/x.o", "o"), 0);
	assert_string_equal(vf_text(f, "s/out/lib/x.o"), "o");
	assert_string_equal(vf_layer(f, "s/out/lib/x.o"), "scratch");
	assert_int_equal(vf_put(f, "s/out/lib/x.o", "o2"), 0);
	assert_string_equal(vf_on_disk(f, "scratch/upper/s/out/lib/x.o"), "o2");
	vf_remount(f);
	assert_string_equal(vf_text(f, "s/out/lib/x.o"), "o2");
}

static void name_that_a_hide_list_hides_is_made_in_scratch(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp,
		  "trunk/.specfs.ini=[profile]\nname = t\nbackends = spec/*/\n"
		  "[map lib]\nat = lib\nfrom = spec/${backend}/lib\n"
		  "[write]\n@any = trunk\n",
		  "trunk/lib/x=x", "trunk/spec/b/lib/.specfs-hide=k\n", NULL);
	vf_open(f, "b");
	assert_int_equal(vf_put(f, "lib/k", "k"), 0);
	assert_string_equal(vf_text(f, "lib/k"), "k");
	assert_string_equal(vf_layer(f, "lib/k"), "scratch");
	assert_int_equal(vf_mkdir(f, "lib/d"), 0);
	assert_string_equal(vf_layer(f, "lib/d"), "trunk");
}

static void hidden_name_is_made_in_scratch(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/src/hidden.txt=old", "trunk/src/__pycache__/a.pyc=old", NULL);
	vf_open(f, "b");
	assert_string_equal(vf_names(f, "src"), "");
	assert_int_equal(vf_put(f, "src/hidden.txt", "new"), 0);
	assert_int_equal(vf_mkdir(f, "src/__pycache__"), 0);
	assert_int_equal(vf_put(f, "src/__pycache__/b.pyc", "new"), 0);
	assert_string_equal(vf_names(f, "src/__pycache__"), "b.pyc");
	assert_string_equal(vf_text(f, "src/hidden.txt"), "new");
	assert_string_equal(vf_on_disk(f, "trunk/src/hidden.txt"), "old");
	assert_string_equal(vf_on_disk(f, "trunk/src/__pycache__/b.pyc"), "-");
}

/* [hide] links: in the checkout it would not be seen. */
static void link_that_would_be_hidden_goes_to_scratch(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/.specfs.ini=[profile]\nname = t\nbackends = spec/*/\n"
		  "[map lib]\nat = lib\nfrom = spec/${backend}/lib\n"
		  "[hide]\nlinks = /src/l* /lib/t/*\n[write]\n@any = owner\n",
		  "trunk/spec/b/lib/", "trunk/src/k->one", "trunk/src/d/k->two", NULL);
	vf_open(f, "b");
	assert_int_equal(vf_symlink(f, "src/l1", "new"), 0);
	assert_string_equal(vf_text(f, "src/l1"), "->new");
	assert_string_equal(vf_layer(f, "src/l1"), "scratch");
	assert_int_equal(vf_rename(f, "src/k", "src/l2", 0), 0);
	assert_string_equal(vf_text(f, "src/l2"), "->one");
	assert_int_equal(vf_link(f, "src/d/k", "src/l3"), 0);
	assert_string_equal(vf_text(f, "src/l3"), "->two");
	assert_int_equal(vf_rename(f, "src/d", "lib/t", 0), 0);
	assert_string_equal(vf_text(f, "lib/t/k"), "->two");
	assert_int_equal(vf_put(f, "src/l", "file"), 0);
	assert_string_equal(vf_on_disk(f, "trunk/src/l"), "file");
}

static void places_of_the_profile_take_changes_in_scratch(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/spec/b/back/g.py=g", "trunk/gr/other/x=x", NULL);
	vf_open(f, "b");
	assert_string_equal(vf_text(f, "MARKER"), "b");
	assert_int_equal(vf_put(f, "MARKER", "mine"), 0);
	assert_string_equal(vf_text(f, "MARKER"), "mine");
	assert_int_equal(vf_rm(f, "MARKER"), 0);
	assert_string_equal(vf_text(f, "MARKER"), "ENOENT");
	assert_int_equal(vf_put(f, "MARKER", "again"), 0);
	assert_string_equal(vf_on_disk(f, "trunk/MARKER"), "-");
	assert_int_equal(vf_rm(f, "gr/b/g.py"), 0);
	assert_int_equal(vf_rmdir(f, "gr/b"), 0);
	assert_int_equal(vf_symlink(f, "gr/b", "../spec/b/back"), 0);
	assert_string_equal(vf_text(f, "gr/b"), "->../spec/b/back");
	assert_string_equal(vf_on_disk(f, "trunk/spec/b/back/g.py"), "g");
	assert_string_equal(vf_on_disk(f, "trunk/gr/b"), "-");
	vf_remount(f);
	assert_string_equal(vf_text(f, "gr/b"), "->../spec/b/back");
}

static void name_that_appears_underneath_is_refused(void **state)
{
	struct viewfix *f = *state;
	struct cred who = { geteuid(), getegid() };
	struct found parent;
	struct found made;
	int fd;

	tree_make(f->tmp, "trunk/src/x=x", NULL);
	vf_open(f, "b");
	parent = vf_look(f, "src");
	tree_make(f->tmp, "trunk/src/y=other", NULL);
	assert_int_equal(change_create(f->v, "src", &parent, "y", 0644, &who, &made, &fd), -EEXIST);
	assert_string_equal(vf_text(f, "src/y"), "other");
	assert_string_equal(vf_layer(f, "src/y"), "trunk");
}

static void existing_name_is_refused(void **state)
{
	struct viewfix *f = *state;
	struct cred who = { geteuid(), getegid() };
	struct found parent;
	struct found made;
	int fd;

	tree_make(f->tmp, "trunk/s/x=x", NULL);
	vf_open(f, "b");
	assert_int_equal(vf_put(f, "s/y", "y"), 0);
	parent = vf_look(f, "s");
	assert_int_equal(change_create(f->v, "s", &parent, "y", 0644, &who, &made, &fd), -EEXIST);
	assert_int_equal(vf_mkdir(f, "s/y"), -EEXIST);
	assert_int_equal(change_symlink(f->v, "s", &parent, "y", "t", &who, &made), -EEXIST);
	assert_string_equal(vf_text(f, "s/y"), "y");
}

static void new_file_over_whiteout_shows_nothing_old(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/s/file=old", "trunk/s/dir/old=old", "trunk/s/other/old=old", NULL);
	vf_open(f, "b");
	assert_int_equal(vf_rm(f, "s/file"), 0);
	assert_int_equal(vf_rm(f, "s/dir/old"), 0);
	assert_int_equal(vf_rmdir(f, "s/dir"), 0);
	assert_string_equal(vf_names(f, "s"), "other");
	assert_int_equal(vf_put(f, "s/file", "new"), 0);
	assert_int_equal(vf_mkdir(f, "s/dir"), 0);
	assert_string_equal(vf_text(f, "s/file"), "new");
	assert_string_equal(vf_names(f, "s/dir"), "");
	vf_remount(f);
	assert_string_equal(vf_names(f, "s/dir"), "");
	assert_int_equal(vf_put(f, "s/dir/old", "new"), 0);
	assert_string_equal(vf_text(f, "s/dir/old"), "new");
	assert_string_equal(vf_on_disk(f, "trunk/s/dir/old"), "old");
	assert_true(vf_is_clean(f));
}

static void modes_are_exact_and_descriptor_is_writable(void **state)
{
	struct viewfix *f = *state;
	struct cred who = { geteuid(), getegid() };
	struct found parent;
	struct found made;
	struct stat st;
	int fd;

	tree_make(f->tmp, "trunk/s/", "trunk/src/", NULL);
	vf_open(f, "b");
	for (unsigned i = 0; i < 2; i++) {
		const char *dir = i ? "src" : "s";

		parent = vf_look(f, dir);
		assert_int_equal(change_create(f->v, dir, &parent, "ro", 0444, &who, &made, &fd),
				 0);
		assert_int_equal(write(fd, "x", 1), 1);
		assert_int_equal(fstat(fd, &st), 0);
		close(fd);
		assert_int_equal(st.st_mode, S_IFREG | 0444);
		assert_int_equal(made.st.st_mode, S_IFREG | 0444);
		assert_int_equal(change_mkdir(f->v, dir, &parent, "d", 01777, &who, &made), 0);
		assert_int_equal(made.st.st_mode, S_IFDIR | 01777);
		assert_int_equal(
			change_mknod(f->v, dir, &parent, "p", S_IFIFO | 0640, 0, &who, &made), 0);
		assert_int_equal(made.st.st_mode, S_IFIFO | 0640);
		assert_int_equal(
			change_mknod(f->v, dir, &parent, "k", S_IFSOCK | 0600, 0, &who, &made), 0);
		assert_int_equal(made.st.st_mode, S_IFSOCK | 0600);
	}
}

static void new_objects_belong_to_the_caller(void **state)
{
	struct viewfix *f = *state;
	struct cred who = { .uid = 1234, .gid = 2345 };
	struct found parent;
	struct found made;
	int fd;

	if (geteuid() != 0)
		skip();
	tree_make(f->tmp, "trunk/s/", "trunk/src/", "trunk/src/sg/", NULL);
	vf_open(f, "b");
	parent = vf_look(f, "s");
	assert_int_equal(change_create(f->v, "s", &parent, "f", 04755, &who, &made, &fd), 0);
	close(fd);
	assert_int_equal(made.st.st_uid, 1234);
	assert_int_equal(made.st.st_gid, 2345);
	assert_int_equal(made.st.st_mode, S_IFREG | 04755);
	parent = vf_look(f, "src");
	assert_int_equal(change_symlink(f->v, "src", &parent, "l", "x", &who, &made), 0);
	assert_int_equal(made.st.st_uid, 1234);
	assert_int_equal(vf_chmod(f, "src/sg", 02775), 0);
	parent = vf_look(f, "src/sg");
	assert_int_equal(change_mkdir(f->v, "src/sg", &parent, "d", 0755, &who, &made), 0);
	assert_int_equal(made.st.st_uid, 1234);
	assert_int_equal(made.st.st_gid, parent.st.st_gid);
	assert_int_equal(made.st.st_mode, S_IFDIR | 02755);
}

static void edits_go_where_the_rules_say(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/lib/a.c=trunk", "trunk/lib/b.c=trunk", "trunk/spec/b/lib/b.c=spec",
		  "trunk/src/m.c=m", "trunk/s/x=x", "trunk/deny.txt=d", "trunk/spec/b/back/g.py=g",
		  NULL);
	vf_open(f, "b");
	assert_int_equal(vf_put(f, "lib/a.c", "edit"), 0);
	assert_string_equal(vf_on_disk(f, "trunk/lib/a.c"), "trunk");
	assert_string_equal(vf_on_disk(f, "trunk/spec/b/lib/a.c"), "edit");
	assert_int_equal(vf_put(f, "lib/b.c", "edit"), 0);
	assert_string_equal(vf_on_disk(f, "trunk/spec/b/lib/b.c"), "edit");
	assert_string_equal(vf_on_disk(f, "trunk/lib/b.c"), "trunk");
	assert_int_equal(vf_put(f, "src/m.c", "edit"), 0);
	assert_string_equal(vf_on_disk(f, "trunk/src/m.c"), "edit");
	assert_int_equal(vf_put(f, "s/x", "edit"), 0);
	assert_string_equal(vf_on_disk(f, "trunk/s/x"), "x");
	assert_string_equal(vf_on_disk(f, "scratch/upper/s/x"), "edit");
	assert_int_equal(vf_put(f, "gr/b/g.py", "edit"), 0);
	assert_string_equal(vf_on_disk(f, "trunk/spec/b/back/g.py"), "edit");
	assert_int_equal(vf_put(f, "deny.txt", "edit"), -EROFS);
	assert_string_equal(vf_text(f, "deny.txt"), "d");
}

static void attributes_are_set_in_order(void **state)
{
	struct viewfix *f = *state;
	struct attr_change c = {
		.valid = CHANGE_UID | CHANGE_GID | CHANGE_MODE | CHANGE_ATIME | CHANGE_MTIME,
		.mode = 06755,
		.uid = geteuid() ? geteuid() : 77,
		.gid = geteuid() ? getegid() : 78,
		.atime = { .tv_sec = -5, .tv_nsec = 123456789 },
		.mtime = { .tv_sec = 4294967300, .tv_nsec = 987654321 },
	};
	struct found found;
	int fd;

	tree_make(f->tmp, "trunk/src/x=x", "trunk/src/l->x", NULL);
	vf_open(f, "b");
	found = vf_look(f, "src/x");
	fd = stack_open_file(&f->v->stack, "src/x", &found, O_PATH);
	assert_true(fd >= 0);
	assert_int_equal(change_attrs(fd, &c), 0);
	close(fd);
	found = vf_look(f, "src/x");
	assert_int_equal(found.st.st_mode, S_IFREG | 06755);
	assert_int_equal(found.st.st_uid, c.uid);
	assert_true(found.st.st_atim.tv_sec == -5 && found.st.st_atim.tv_nsec == 123456789);
	assert_true(found.st.st_mtim.tv_sec == 4294967300 && found.st.st_mtim.tv_nsec == 987654321);

	/* a link's own times; its file is left alone */
	c.valid = CHANGE_MTIME;
	c.mtime = (struct timespec){ .tv_sec = 1000 };
	found = vf_look(f, "src/l");
	fd = stack_open_file(&f->v->stack, "src/l", &found, O_PATH);
	assert_true(fd >= 0);
	assert_int_equal(change_attrs(fd, &c), 0);
	close(fd);
	assert_int_equal(vf_look(f, "src/l").st.st_mtim.tv_sec, 1000);
	assert_true(vf_look(f, "src/x").st.st_mtim.tv_sec == 4294967300);
}

static void read_only_view_refuses_everything(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/src/x=x", "trunk/s/y=y", NULL);
	f->o.readonly = true;
	vf_open(f, "b");
	assert_int_equal(vf_put(f, "src/x", "n"), -EROFS);
	assert_int_equal(vf_put(f, "src/new", "n"), -EROFS);
	assert_int_equal(vf_mkdir(f, "s/d"), -EROFS);
	assert_int_equal(vf_rm(f, "s/y"), -EROFS);
	assert_int_equal(vf_chmod(f, "src/x", 0600), -EROFS);
	assert_string_equal(vf_text(f, "src/x"), "x");
}

static void everything_goes_to_scratch_when_asked(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/src/x=x", "trunk/lib/a.c=a", "trunk/.git/HEAD=h", NULL);
	f->o.scratch_all = true;
	vf_open(f, "b");
	assert_int_equal(vf_put(f, "src/x", "n"), 0);
	assert_int_equal(vf_put(f, "lib/a.c", "n"), 0);
	assert_int_equal(vf_put(f, ".git/index", "n"), 0);
	assert_int_equal(vf_rm(f, ".git/HEAD"), 0);
	assert_string_equal(vf_names(f, ".git"), "index");
	assert_string_equal(vf_on_disk(f, "trunk/src/x"), "x");
	assert_string_equal(vf_on_disk(f, "trunk/.git/HEAD"), "h");
	assert_string_equal(vf_on_disk(f, "trunk/spec/b/lib"), "-");
}

static void links_of_a_spec_directory_lead_where_they_said(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/lib/a.c=a", "trunk/src/m.c=m", NULL);
	vf_open(f, "b");
	assert_int_equal(vf_symlink(f, "lib/out", "../src/m.c"), 0);
	assert_int_equal(vf_symlink(f, "lib/in", "a.c"), 0);
	assert_int_equal(vf_symlink(f, "lib/abs", "/etc/hosts"), 0);
	assert_string_equal(vf_text(f, "lib/out"), "->../src/m.c");
	assert_string_equal(vf_text(f, "lib/in"), "->a.c");
	assert_string_equal(vf_text(f, "lib/abs"), "->/etc/hosts");
	assert_string_equal(vf_on_disk(f, "trunk/spec/b/lib/out"), "m");
}

static void link_shares_the_file(void **state)
{
	struct viewfix *f = *state;
	struct found a;
	struct found b;

	tree_make(f->tmp, "trunk/src/x=x", "trunk/s/y=y", NULL);
	vf_open(f, "b");
	assert_int_equal(vf_link(f, "src/x", "src/x2"), 0);
	a = vf_look(f, "src/x");
	b = vf_look(f, "src/x2");
	assert_true(a.st.st_ino == b.st.st_ino);
	assert_int_equal(b.st.st_nlink, 2);
	assert_int_equal(vf_link(f, "s/y", "s/y2"), 0);
	assert_string_equal(vf_layer(f, "s/y"), "scratch");
	assert_int_equal(vf_put(f, "s/y2", "both"), 0);
	assert_string_equal(vf_text(f, "s/y"), "both");
	assert_true(vf_look(f, "s/y").st.st_ino == vf_look(f, "s/y2").st.st_ino);
	assert_int_equal(vf_link(f, "src/x", "src/x2"), -EEXIST);
	assert_int_equal(vf_link(f, "src", "src2"), -EPERM);
	assert_int_equal(vf_rm(f, "s/y"), 0);
	assert_int_equal(vf_link(f, "s/y2", "s/y"), 0);
	assert_string_equal(vf_text(f, "s/y"), "both");
	vf_remount(f);
	assert_true(vf_look(f, "s/y").st.st_ino == vf_look(f, "s/y2").st.st_ino);
	assert_true(vf_is_clean(f));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(new_names_go_where_the_rules_say),
		TEST(scratch_only_directory_keeps_its_names),
		TEST(name_that_a_hide_list_hides_is_made_in_scratch),
		TEST(hidden_name_is_made_in_scratch),
		TEST(link_that_would_be_hidden_goes_to_scratch),
		TEST(places_of_the_profile_take_changes_in_scratch),
		TEST(name_that_appears_underneath_is_refused),
		TEST(existing_name_is_refused),
		TEST(new_file_over_whiteout_shows_nothing_old),
		TEST(modes_are_exact_and_descriptor_is_writable),
		TEST(new_objects_belong_to_the_caller),
		TEST(edits_go_where_the_rules_say),
		TEST(attributes_are_set_in_order),
		TEST(read_only_view_refuses_everything),
		TEST(everything_goes_to_scratch_when_asked),
		TEST(links_of_a_spec_directory_lead_where_they_said),
		TEST(link_shares_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
