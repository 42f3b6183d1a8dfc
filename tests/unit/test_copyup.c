/* SPDX-License-Identifier: MIT */
/* Copies are whole, look like the original, and nothing but them changes. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"
#include "check.h"
#include "layer/copyup.h"
#include "layer/mark.h"
#include "tree.h"
#include "viewfix.h"

#define TEST(t) cmocka_unit_test_setup_teardown(t, viewfix_setup, viewfix_teardown)

static const struct timespec old_times[2] = {
	{ .tv_sec = 1000000007, .tv_nsec = 123456789 },
	{ .tv_sec = 1000000009, .tv_nsec = 987654321 },
};

static void age(struct viewfix *f, const char *path)
{
	char full[4096];

	assert_true(snprintf(full, sizeof(full), "%s/%s", f->tmp, path) < (int)sizeof(full));
	assert_int_equal(utimensat(AT_FDCWD, full, old_times, AT_SYMLINK_NOFOLLOW), 0);
}

static struct stat on_disk(struct viewfix *f, const char *path)
{
	char full[4096];
	struct stat st;

	assert_true(snprintf(full, sizeof(full), "%s/%s", f->tmp, path) < (int)sizeof(full));
	if (lstat(full, &st) < 0)
		fail_msg("no '%s'", path);
	return st;
}

static void attributes_are_kept(void **state)
{
	struct viewfix *f = *state;
	static const char *const paths[] = { "s/x", "lib/x", "s/l", "lib/l", "s/d", "s/p" };
	char full[4096];

	tree_make(f->tmp, "trunk/s/x=data", "trunk/lib/x=data", "trunk/s/l->../x y",
		  "trunk/lib/l->../x y", "trunk/s/d/c=c", NULL);
	(void)snprintf(full, sizeof(full), "%s/s/p", f->trunk);
	assert_int_equal(mkfifo(full, 0640), 0);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		(void)snprintf(full, sizeof(full), "%s/%s", f->trunk, paths[i]);
		if (geteuid() == 0)
			assert_int_equal(lchown(full, 11, 22), 0);
		if (paths[i][strlen(paths[i]) - 1] != 'l')
			assert_int_equal(chmod(full, 06751), 0);
		if (paths[i][strlen(paths[i]) - 1] == 'x')
			assert_int_equal(setxattr(full, "user.note", "kept", 4, 0), 0);
	}
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		(void)snprintf(full, sizeof(full), "trunk/%s", paths[i]);
		age(f, full);
	}
	vf_open(f, "b");
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct found before = vf_look(f, paths[i]);
		struct found now = before;
		struct found again;

		check_int(paths[i], change_prepare(f->v, paths[i], &now, -1), 0);
		again = vf_look(f, paths[i]);
		check_int(paths[i], again.layer, now.layer);
		check_int(paths[i], again.layer != before.layer, true);
		check_int(paths[i], now.st.st_mode, before.st.st_mode);
		check_int(paths[i], now.st.st_uid, before.st.st_uid);
		check_int(paths[i], now.st.st_gid, before.st.st_gid);
		check_int(paths[i], now.st.st_mtim.tv_sec, old_times[1].tv_sec);
		check_int(paths[i], now.st.st_mtim.tv_nsec, old_times[1].tv_nsec);
		check_int(paths[i], again.st.st_ino == now.st.st_ino, true);
		check_int(paths[i], object_same(&again.obj, &now.obj), true);
	}
	assert_string_equal(vf_text(f, "s/x"), "data");
	assert_string_equal(vf_text(f, "lib/x"), "data");
	assert_string_equal(vf_text(f, "s/l"), "->../x y");
	assert_string_equal(vf_text(f, "lib/l"), "->../x y");
	assert_string_equal(vf_names(f, "s/d"), "c");
	(void)snprintf(full, sizeof(full), "%s/spec/b/lib/x", f->trunk);
	assert_int_equal(getxattr(full, "user.note", NULL, 0), 4);
	assert_true(vf_is_clean(f));
}

static void number_is_kept_in_scratch(void **state)
{
	struct viewfix *f = *state;
	ino_t before;
	ino_t dir;

	tree_make(f->tmp, "trunk/s/x=data", "trunk/s/d/c=c", NULL);
	vf_open(f, "b");
	before = vf_look(f, "s/x").st.st_ino;
	dir = vf_look(f, "s/d").st.st_ino;
	assert_int_equal(vf_put(f, "s/x", "new"), 0);
	assert_int_equal(vf_chmod(f, "s/d", 0700), 0);
	assert_true(vf_look(f, "s/x").st.st_ino == before);
	assert_true(vf_look(f, "s/d").st.st_ino == dir);
	vf_remount(f);
	assert_true(vf_look(f, "s/x").st.st_ino == before);
	assert_true(vf_look(f, "s/d").st.st_ino == dir);
	assert_int_equal(vf_look(f, "s/d").st.st_mode, S_IFDIR | 0700);
}

static void hard_links_copy_is_a_file_of_its_own(void **state)
{
	struct viewfix *f = *state;
	char a[4096];
	char b[4096];

	tree_make(f->tmp, "trunk/s/l1=old", NULL);
	(void)snprintf(a, sizeof(a), "%s/s/l1", f->trunk);
	(void)snprintf(b, sizeof(b), "%s/s/l2", f->trunk);
	assert_int_equal(link(a, b), 0);
	vf_open(f, "b");
	assert_int_equal(vf_put(f, "s/l1", "new"), 0);
	assert_string_equal(vf_text(f, "s/l1"), "new");
	assert_string_equal(vf_text(f, "s/l2"), "old");
	assert_true(vf_look(f, "s/l1").st.st_ino != vf_look(f, "s/l2").st.st_ino);
	assert_int_equal(vf_look(f, "s/l1").st.st_nlink, 1);
}

static void parents_look_like_the_views(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/s/a/b/x=x", "trunk/lib/a/b/x=x", NULL);
	vf_open(f, "b");
	assert_int_equal(chmod(f->trunk, 0751), 0);
	for (unsigned i = 0; i < 2; i++) {
		const char *top = i ? "lib" : "s";
		char path[64];
		char full[400];

		(void)snprintf(full, sizeof(full), "%s/%s/a", f->trunk, top);
		assert_int_equal(chmod(full, 0750), 0);
		if (geteuid() == 0)
			assert_int_equal(chown(full, 33, 44), 0);
		(void)snprintf(path, sizeof(path), "trunk/%s/a", top);
		age(f, path);
		(void)snprintf(path, sizeof(path), "trunk/%s/a/b", top);
		age(f, path);
		(void)snprintf(path, sizeof(path), "%s/a/b/x", top);
		assert_int_equal(vf_put(f, path, "y"), 0);
	}
	assert_int_equal(on_disk(f, "scratch/upper/s/a").st_mode, S_IFDIR | 0750);
	assert_int_equal(on_disk(f, "trunk/spec/b/lib/a").st_mode, S_IFDIR | 0750);
	if (geteuid() == 0)
		assert_int_equal(on_disk(f, "trunk/spec/b/lib/a").st_uid, 33);
	/* a copy in scratch is no new name: the directory's time is the trunk's */
	assert_int_equal(vf_look(f, "s/a/b").st.st_mtim.tv_sec, old_times[1].tv_sec);
	assert_int_equal(vf_look(f, "s/a").st.st_mtim.tv_nsec, old_times[1].tv_nsec);
	/* and such a directory vanishes with the trunk's */
	assert_false(vf_look(f, "s/a").implied);
}

static void directory_that_only_holds_copies_is_no_directory(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/s/a/x=x", NULL);
	vf_open(f, "b");
	assert_int_equal(vf_rm(f, "s/a/x"), 0);
	assert_string_equal(vf_names(f, "s"), "a");
	{
		char a[4096];

		(void)snprintf(a, sizeof(a), "%s/s/a", f->trunk);
		tree_remove(a);
	}
	assert_string_equal(vf_names(f, "s"), "");
	/* what is made at its name then is new */
	assert_int_equal(vf_put(f, "s/a", "file"), 0);
	assert_string_equal(vf_text(f, "s/a"), "file");
	assert_true(vf_is_clean(f));
}

static void big_sparse_file_stays_sparse(void **state)
{
	/* for a spec directory all of it is read, for the id of its base */
	static const off_t sizes[] = { (off_t)5 << 30, 64 << 20 };
	struct viewfix *f = *state;
	struct found found;
	char path[4096];
	char byte;
	int fd;

	tree_make(f->tmp, "trunk/s/big=", "trunk/lib/big=", NULL);
	for (unsigned i = 0; i < 2; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s/big", f->trunk, i ? "lib" : "s");
		fd = open(path, O_WRONLY);
		assert_true(fd >= 0);
		assert_int_equal(ftruncate(fd, sizes[i]), 0);
		assert_int_equal(pwrite(fd, "z", 1, sizes[i] - 4097), 1);
		close(fd);
	}
	vf_open(f, "b");
	for (unsigned i = 0; i < 2; i++) {
		const char *name = i ? "lib/big" : "s/big";

		found = vf_look(f, name);
		assert_int_equal(change_prepare(f->v, name, &found, -1), 0);
		assert_true(found.st.st_size == sizes[i]);
		assert_true(found.st.st_blocks * 512 < 1 << 20);
		fd = stack_open_file(&f->v->stack, name, &found, O_RDONLY);
		assert_true(fd >= 0);
		assert_int_equal(pread(fd, &byte, 1, sizes[i] - 4097), 1);
		assert_int_equal(byte, 'z');
		close(fd);
	}
}

static void truncation_copies_only_what_stays(void **state)
{
	struct viewfix *f = *state;
	struct found found;

	tree_make(f->tmp, "trunk/s/x=0123456789", "trunk/lib/x=0123456789", NULL);
	vf_open(f, "b");
	found = vf_look(f, "s/x");
	assert_int_equal(change_prepare(f->v, "s/x", &found, 4), 0);
	assert_string_equal(vf_text(f, "s/x"), "0123");
	found = vf_look(f, "lib/x");
	assert_int_equal(change_prepare(f->v, "lib/x", &found, 100), 0);
	assert_string_equal(vf_text(f, "lib/x"), "0123456789");
	assert_string_equal(vf_on_disk(f, "trunk/s/x"), "0123456789");
}

static void base_is_recorded(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/lib/z.c=hello\n", "trunk/lib/d/a b.c=hello\n",
		  "trunk/spec/c/lib/low.c=low", "trunk/lib/low.c=hello\n",
		  "trunk/lib/gone.c=hello\n", "trunk/lib/saved.c=hello\n", "trunk/s/tmp=saved",
		  NULL);
	vf_open(f, "b,c");
	assert_int_equal(vf_put(f, "lib/z.c", "1"), 0);
	assert_int_equal(vf_put(f, "lib/d/a b.c", "2"), 0);
	assert_int_equal(vf_put(f, "lib/new.c", "3"), 0);
	/* made anew where the trunk's was deleted */
	assert_int_equal(vf_rm(f, "lib/gone.c"), 0);
	assert_int_equal(vf_put(f, "lib/gone.c", "4"), 0);
	/* saved the way editors do */
	assert_int_equal(vf_put(f, "lib/saved.c~", "5"), 0);
	assert_int_equal(vf_rename(f, "lib/saved.c~", "lib/saved.c", 0), 0);
	/* id as git hash-object gives it */
#define HELLO "\tce013625030ba8dba906f756967f9e9ca394464a\n"
	assert_string_equal(vf_on_disk(f, "trunk/spec/b/lib/.specfs-base"),
			    "d/a b.c" HELLO "gone.c" HELLO "saved.c" HELLO "z.c" HELLO);
	/* the base list never shows */
	assert_string_equal(vf_text(f, "lib/.specfs-base"), "ENOENT");
	assert_string_equal(vf_text(f, "lib/saved.c"), "5");
}

static void nothing_is_left_when_it_fails(void **state)
{
	struct viewfix *f = *state;
	struct found found;

	tree_make(f->tmp, "trunk/lib/d/x=x", "trunk/spec/b/lib/d=file in the way", NULL);
	vf_open(f, "b");
	assert_string_equal(vf_text(f, "lib/d"), "file in the way");
	assert_int_equal(vf_rm(f, "lib/d"), 0);
	tree_make(f->tmp, "trunk/lib/e/x=x", NULL);
	found = vf_look(f, "lib/e/x");
	tree_make(f->tmp, "trunk/spec/b/lib/e=in the way", NULL);
	assert_int_equal(change_prepare(f->v, "lib/e/x", &found, -1), -ENOTDIR);
	assert_string_equal(vf_on_disk(f, "trunk/lib/e/x"), "x");
	assert_true(vf_is_clean(f));
}

static void replaced_original_is_stale(void **state)
{
	struct viewfix *f = *state;
	struct found found;
	char a[4096];
	char b[4096];

	tree_make(f->tmp, "trunk/s/x=x", "trunk/s/y=y", NULL);
	vf_open(f, "b");
	found = vf_look(f, "s/x");
	(void)snprintf(a, sizeof(a), "%s/s/y", f->trunk);
	(void)snprintf(b, sizeof(b), "%s/s/x", f->trunk);
	assert_int_equal(rename(a, b), 0);
	assert_int_equal(change_prepare(f->v, "s/x", &found, -1), -ESTALE);
	assert_string_equal(vf_text(f, "s/x"), "y");
}

static void linked_spec_file_becomes_a_file(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/other/real.c=real", "trunk/spec/b/lib/l.c->../../../other/real.c",
		  NULL);
	vf_open(f, "b");
	f->v->scratch_all = true;
	assert_int_equal(vf_put(f, "lib/l.c", "mine"), 0);
	assert_string_equal(vf_text(f, "lib/l.c"), "mine");
	assert_string_equal(vf_on_disk(f, "trunk/other/real.c"), "real");
}

static void root_directory_can_be_changed(void **state)
{
	struct viewfix *f = *state;

	vf_open(f, "b");
	f->v->scratch_all = true;
	assert_int_equal(vf_chmod(f, "", 0711), 0);
	assert_int_equal(vf_look(f, "").st.st_mode, S_IFDIR | 0711);
	assert_int_equal(on_disk(f, "trunk").st_mode & 0777, 0755);
	vf_remount(f);
	assert_int_equal(vf_look(f, "").st.st_mode, S_IFDIR | 0711);
}

/* What an ordinary user's daemon does, in a process of its own. 0, or the number of the failure. */
static int as_user(struct viewfix *f)
{
	struct cred who = { .uid = geteuid(), .gid = getegid() };
	struct found found;
	struct found parent;
	struct diag d = DIAG_INIT;
	ino_t before;
	int fd;

	if (view_open(&f->o, &d, &f->v) < 0 || stack_lookup(&f->v->stack, "s/ro", &found) < 0)
		return 1;
	before = found.st.st_ino;
	if (change_prepare(f->v, "s/ro", &found, -1) < 0 || found.st.st_ino != before ||
	    found.st.st_mode != (S_IFREG | 0444))
		return 2;
	if (vf_put(f, "s/rd/x", "new") < 0 || strcmp(vf_text(f, "s/rd/x"), "new"))
		return 3;
	if (vf_chmod(f, "s/rd", 0500) < 0 || vf_put(f, "s/rd/y", "new") < 0 ||
	    stack_lookup(&f->v->stack, "s/rd", &found) < 0 || found.st.st_mode != (S_IFDIR | 0500))
		return 8;
	if (stack_lookup(&f->v->stack, "s", &parent) < 0 || vf_rm(f, "s/gone") < 0 ||
	    change_mkdir(f->v, "s", &parent, "gone", 0555, &who, &found) < 0)
		return 4;
	if (vf_rename(f, "s/gone", "s/ro2", 0) != -ENOTDIR || vf_rm(f, "s/ro2") < 0)
		return 5;
	if (vf_rename(f, "s/gone", "s/ro2", 0) < 0 ||
	    stack_lookup(&f->v->stack, "s/ro2", &found) < 0 || found.st.st_mode != (S_IFDIR | 0555))
		return 6;
	if (change_create(f->v, "s", &parent, "zero", 0, &who, &found, &fd) < 0 ||
	    write(fd, "x", 1) != 1)
		return 7;
	close(fd);
	view_free(f->v);
	return 0;
}

static void ordinary_user_can_do_it_too(void **state)
{
	struct viewfix *f = *state;
	char path[300];
	int status;
	pid_t pid;

	if (geteuid() != 0)
		skip();
	tree_make(f->tmp, "trunk/s/ro=data", "trunk/s/rd/x=x", "trunk/s/rd/y=y", "trunk/s/gone=g",
		  "trunk/s/ro2=2", NULL);
	(void)snprintf(path, sizeof(path), "%s/s/ro", f->trunk);
	assert_int_equal(chmod(path, 0444), 0);
	(void)snprintf(path, sizeof(path), "chown -R 1234:1234 %s && chmod 0755 %s", f->tmp,
		       f->tmp);
	assert_int_equal(system(path), 0);
	(void)snprintf(path, sizeof(path), "%s/s/rd", f->trunk);
	assert_int_equal(chmod(path, 0555), 0);
	pid = fork();
	if (!pid) {
		if (setgroups(0, NULL) < 0 || setgid(1234) < 0 || setuid(1234) < 0)
			_exit(99);
		_exit(as_user(f));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(attributes_are_kept),
		TEST(number_is_kept_in_scratch),
		TEST(hard_links_copy_is_a_file_of_its_own),
		TEST(parents_look_like_the_views),
		TEST(directory_that_only_holds_copies_is_no_directory),
		TEST(big_sparse_file_stays_sparse),
		TEST(truncation_copies_only_what_stays),
		TEST(base_is_recorded),
		TEST(nothing_is_left_when_it_fails),
		TEST(replaced_original_is_stale),
		TEST(linked_spec_file_becomes_a_file),
		TEST(root_directory_can_be_changed),
		TEST(ordinary_user_can_do_it_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
