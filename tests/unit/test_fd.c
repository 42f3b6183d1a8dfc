/* SPDX-License-Identifier: MIT */
/* Descriptors. */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "check.h"
#include "tree.h"

struct fix {
	char *root;
	int fd;
};

static int setup(void **state)
{
	static struct fix f;

	f.root = tree_tmp();
	tree_make(f.root, "dir/sub/file=text", "link->dir", "dir/up->../dir/sub", "plain=abc",
		  NULL);
	f.fd = open(f.root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	*state = &f;
	return f.fd < 0;
}

static int teardown(void **state)
{
	struct fix *f = *state;

	close(f->fd);
	tree_remove(f->root);
	free(f->root);
	return 0;
}

static void opens_beneath_and_never_out(void **state)
{
	static const struct {
		const char *path;
		int flags;
		int r;
	} cases[] = {
		{ "", O_RDONLY | O_DIRECTORY, 0 },
		{ "", O_PATH | O_DIRECTORY, 0 },
		{ "dir/sub/file", O_RDONLY, 0 },
		{ "dir/sub", O_PATH | O_DIRECTORY, 0 },
		{ "dir/sub/none", O_RDONLY, -ENOENT },
		{ "plain/x", O_RDONLY, -ENOTDIR },
		{ "plain", O_RDONLY | O_DIRECTORY, -ENOTDIR },
		{ "link", O_RDONLY, -ELOOP },
		{ "link", O_PATH, 0 },
		{ "link/sub/file", O_RDONLY, -ELOOP },
		{ "dir/up/file", O_RDONLY, -ELOOP },
	};
	struct fix *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int fd = fd_open_beneath(f->fd, cases[i].path, cases[i].flags, 0);

		check_int(cases[i].path, fd < 0 ? fd : 0, cases[i].r);
		if (fd >= 0) {
			check_int(cases[i].path, fcntl(fd, F_GETFD), FD_CLOEXEC);
			close(fd);
		}
	}
}

static void opens_paths_longer_than_path_max(void **state)
{
	struct fix *f = *state;
	struct strbuf path = STRBUF_INIT;
	int dir = dup(f->fd);
	int fd;

	for (int i = 0; i < 100; i++) {
		char name[101];
		int next;

		memset(name, 'd', 100);
		name[100] = '\0';
		assert_int_equal(mkdirat(dir, name, 0755), 0);
		next = openat(dir, name, O_PATH | O_DIRECTORY);
		assert_true(next >= 0);
		close(dir);
		dir = next;
		strbuf_addf(&path, "%s%s", i ? "/" : "", name);
	}
	strbuf_adds(&path, "/new");
	fd = fd_open_beneath(f->fd, path.buf, O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(faccessat(dir, "new", F_OK, 0), 0);
	close(dir);
	strbuf_clear(&path);
}

static void finds_a_parent(void **state)
{
	struct fix *f = *state;
	const char *name = NULL;
	int fd = fd_open_parent(f->fd, "dir/sub/file", &name);

	assert_true(fd >= 0);
	assert_string_equal(name, "file");
	assert_int_equal(faccessat(fd, name, F_OK, 0), 0);
	close(fd);
	fd = fd_open_parent(f->fd, "plain", &name);
	assert_true(fd >= 0);
	assert_string_equal(name, "plain");
	close(fd);
	assert_int_equal(fd_open_parent(f->fd, "link/x", &name), -ENOTDIR);
	assert_int_equal(fd_open_parent(f->fd, "link/sub/x", &name), -ELOOP);
	assert_int_equal(fd_open_parent(f->fd, "none/x", &name), -ENOENT);
}

static void reads_whole_files(void **state)
{
	struct fix *f = *state;
	struct strbuf sb = STRBUF_INIT;

	strbuf_adds(&sb, ">");
	assert_int_equal(fd_read_file(f->fd, "plain", 3, &sb), 0);
	assert_string_equal(sb.buf, ">abc");
	assert_int_equal(fd_read_file(f->fd, "plain", 2, &sb), -EFBIG);
	assert_int_equal(fd_read_file(f->fd, "none", 9, &sb), -ENOENT);
	assert_int_equal(fd_read_file(f->fd, "dir", 9, &sb), -EISDIR);
	strbuf_clear(&sb);
}

static void removes_only_what_nobody_works_on(void **state)
{
	struct fix *f = *state;
	int fd;

	tree_make(f->root, ".tmp=x", NULL);
	fd = openat(f->fd, ".tmp", O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_false(fd_remove_left(f->fd, ".tmp"));
	assert_true(tree_exists(f->root, ".tmp"));
	close(fd);
	assert_true(fd_remove_left(f->fd, ".tmp"));
	assert_false(tree_exists(f->root, ".tmp"));
	assert_false(fd_remove_left(f->fd, ".tmp"));
}

static void replaces_a_file_at_once(void **state)
{
	struct fix *f = *state;
	char *text;
	struct stat st;

	assert_int_equal(fchmodat(f->fd, "plain", 0640, 0), 0);
	assert_int_equal(fd_replace_file(f->fd, "plain", ".tmp", 0600, "new", 3), 0);
	text = tree_content(f->root, "plain");
	assert_string_equal(text, "new");
	free(text);
	assert_int_equal(fstatat(f->fd, "plain", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(fd_replace_file(f->fd, "fresh", ".tmp", 0604, "", 0), 0);
	assert_int_equal(fstatat(f->fd, "fresh", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0604);
	assert_int_equal(st.st_size, 0);
	assert_false(tree_exists(f->root, ".tmp"));

	/* a name that cannot be replaced: nothing changes and nothing is left */
	assert_int_equal(fd_replace_file(f->fd, "dir", ".tmp", 0600, "x", 1), -EISDIR);
	assert_false(tree_exists(f->root, ".tmp"));
	tree_make(f->root, ".tmp=taken", NULL);
	assert_int_equal(fd_replace_file(f->fd, "plain", ".tmp", 0600, "x", 1), -EEXIST);
	text = tree_content(f->root, ".tmp");
	assert_string_equal(text, "taken");
	free(text);
}

static int make_sparse(struct fix *f, const char *name, off_t size)
{
	int fd = openat(f->fd, name, O_RDWR | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, size), 0);
	return fd;
}

static void copies_data_with_its_holes(void **state)
{
	struct fix *f = *state;
	const off_t size = 8 << 20;
	int from = make_sparse(f, "from", size);
	int to = make_sparse(f, "to", 0);
	struct stat a, b;
	char buf[5];

	assert_int_equal(pwrite(from, "start", 5, 0), 5);
	assert_int_equal(pwrite(from, "later", 5, 5 << 20), 5);
	assert_int_equal(fd_copy_data(from, to, size), 0);
	assert_int_equal(fstat(from, &a), 0);
	assert_int_equal(fstat(to, &b), 0);
	assert_int_equal(b.st_size, size);
	assert_true(b.st_blocks <= a.st_blocks + 16);
	assert_int_equal(pread(to, buf, 5, 5 << 20), 5);
	assert_memory_equal(buf, "later", 5);
	assert_int_equal(pread(to, buf, 5, 4 << 20), 5);
	assert_memory_equal(buf, "\0\0\0\0\0", 5);
	close(from);
	close(to);
}

static void copies_exactly_the_size_asked_for(void **state)
{
	static const off_t sizes[] = { 0, 3, 6, 100 };
	struct fix *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		int from = make_sparse(f, "from", 0);
		int to = make_sparse(f, "to", 0);
		struct stat st;
		char buf[8] = { 0 };

		assert_int_equal(pwrite(from, "abcdef", 6, 0), 6);
		assert_int_equal(fd_copy_data(from, to, sizes[i]), 0);
		assert_int_equal(fstat(to, &st), 0);
		assert_int_equal(st.st_size, sizes[i]);
		assert_int_equal(pread(to, buf, 6, 0), sizes[i] < 6 ? sizes[i] : 6);
		assert_memory_equal(buf, "abcdef", (size_t)(sizes[i] < 6 ? sizes[i] : 6));
		close(from);
		close(to);
	}
}

/* 0 if what the calls say of "plain" and "link" is right. */
static int check_xattrs(int dir)
{
	char buf[64] = "";
	bool has = fd_get_xattr(dir, "plain", "user.test", buf, sizeof(buf)) == 5 &&
		   !memcmp(buf, "value", 5) &&
		   fd_get_xattr(dir, "plain", "user.test", NULL, 0) == 5 &&
		   fd_list_xattr(dir, "plain", buf, sizeof(buf)) == sizeof("user.test") &&
		   !strcmp(buf, "user.test");
	bool lacks = fd_get_xattr(dir, "plain", "user.none", NULL, 0) == -ENODATA &&
		     fd_get_xattr(dir, "none", "user.test", NULL, 0) == -ENOENT &&
		     fd_get_xattr(dir, "plain", "user.test", buf, 1) == -ERANGE &&
		     fd_list_xattr(dir, "plain", buf, 1) == -ERANGE &&
		     fd_list_xattr(dir, "dir", buf, sizeof(buf)) == 0 &&
		     fd_get_xattr(dir, "link", "user.test", NULL, 0) < 0;

	return has && lacks ? 0 : 1;
}

/* The same in a process whose kernel knows no calls with a directory descriptor. */
static int check_xattrs_of_old(int dir)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 464, 0, 2),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 465, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { .len = sizeof(code) / sizeof(code[0]), .filter = code };
	pid_t pid = fork();
	int status = -1;

	if (!pid) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0)
			_exit(2);
		_exit(check_xattrs(dir));
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void reads_xattrs_at_a_directory(void **state)
{
	struct fix *f = *state;
	int fd = openat(f->fd, "plain", O_RDWR | O_CLOEXEC);
	int r = fsetxattr(fd, "user.test", "value", 5, 0);

	close(fd);
	if (r < 0)
		skip();
	assert_int_equal(check_xattrs_of_old(f->fd), 0);
	assert_int_equal(check_xattrs(f->fd), 0);
}

static void copies_xattrs_but_some(void **state)
{
	struct fix *f = *state;
	int from = make_sparse(f, "from", 0);
	int to = make_sparse(f, "to", 0);
	char buf[8];

	if (fsetxattr(from, "user.keep", "1", 1, 0) < 0)
		skip(); /* no user xattrs in the file system of TMPDIR */
	assert_int_equal(fsetxattr(from, "user.specfs.mark", "2", 1, 0), 0);
	assert_int_equal(fsetxattr(from, "user.empty", "", 0, 0), 0);
	assert_int_equal(fd_copy_xattrs(from, to, "user.specfs."), 0);
	assert_int_equal(fgetxattr(to, "user.keep", buf, sizeof(buf)), 1);
	assert_int_equal(fgetxattr(to, "user.empty", buf, sizeof(buf)), 0);
	assert_int_equal(fgetxattr(to, "user.specfs.mark", buf, sizeof(buf)), -1);
	assert_int_equal(fd_copy_xattrs(from, to, NULL), 0);
	assert_int_equal(fgetxattr(to, "user.specfs.mark", buf, sizeof(buf)), 1);
	close(from);
	close(to);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(opens_beneath_and_never_out, setup, teardown),
		cmocka_unit_test_setup_teardown(opens_paths_longer_than_path_max, setup, teardown),
		cmocka_unit_test_setup_teardown(finds_a_parent, setup, teardown),
		cmocka_unit_test_setup_teardown(reads_whole_files, setup, teardown),
		cmocka_unit_test_setup_teardown(replaces_a_file_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(removes_only_what_nobody_works_on, setup, teardown),
		cmocka_unit_test_setup_teardown(copies_data_with_its_holes, setup, teardown),
		cmocka_unit_test_setup_teardown(copies_exactly_the_size_asked_for, setup, teardown),
		cmocka_unit_test_setup_teardown(reads_xattrs_at_a_directory, setup, teardown),
		cmocka_unit_test_setup_teardown(copies_xattrs_but_some, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
