/* SPDX-License-Identifier: MIT */
/* Directories that deny their owner. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "layer/openup.h"
#include "tree.h"

enum { USER = 1234 };

struct fix {
	char *tmp;
	char path[300];
};

static int setup(void **state)
{
	static struct fix f;

	f = (struct fix){ .tmp = tree_tmp() };
	tree_make(f.tmp, "d/", "d/f=text", NULL);
	(void)snprintf(f.path, sizeof(f.path), "%s/d", f.tmp);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fix *f = *state;

	(void)chmod(f->path, 0700);
	tree_remove(f->tmp);
	free(f->tmp);
	return 0;
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	return stat(path, &st) < 0 ? 0 : st.st_mode & 07777;
}

/* Returns 0, or which of the promises does not hold. */
static int check(const struct fix *f, mode_t mode, mode_t need, mode_t meanwhile)
{
	int fd = open(f->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct openup o;

	if (fd < 0 || chmod(f->path, mode) < 0)
		return 1;
	openup_begin(fd, need, &o);
	if (mode_of(f->path) != meanwhile)
		return 2;
	openup_end(&o);
	close(fd);
	return mode_of(f->path) == mode ? 0 : 3;
}

static int as_user(const struct fix *f)
{
	static const struct {
		mode_t mode, need, meanwhile;
	} cases[] = {
		{ 0555, OPENUP_WRITE, 0755 },	{ 0000, OPENUP_WRITE, 0300 },
		{ 0000, OPENUP_READ, 0500 },	{ 0311, OPENUP_READ, 0711 },
		{ 03555, OPENUP_WRITE, 03755 }, { 0700, OPENUP_WRITE, 0700 },
		{ 0500, OPENUP_READ, 0500 },
	};
	char file[310];
	struct openup o;
	int fd;
	int r = 0;

	for (size_t i = 0; !r && i < sizeof(cases) / sizeof(cases[0]); i++)
		r = check(f, cases[i].mode, cases[i].need, cases[i].meanwhile);
	/* what is no directory, or not ours, is left alone */
	(void)chmod(f->path, 0700);
	(void)snprintf(file, sizeof(file), "%s/f", f->path);
	fd = open(file, O_PATH | O_CLOEXEC);
	openup_begin(fd, OPENUP_WRITE, &o);
	r = r ? r : o.mode ? 4 : 0;
	close(fd);
	fd = open("/", O_PATH | O_CLOEXEC);
	openup_begin(fd, OPENUP_WRITE, &o);
	openup_end(&o);
	close(fd);
	openup_begin(-1, OPENUP_WRITE, &o);
	openup_end(&o);
	return r ? r : o.mode ? 5 : 0;
}

static void user_gets_it_for_a_moment(void **state)
{
	struct fix *f = *state;
	char command[400];
	int status;
	pid_t pid;

	if (geteuid() != 0) {
		assert_int_equal(as_user(f), 0);
		return;
	}
	(void)snprintf(command, sizeof(command), "chown -R %d:%d %s", USER, USER, f->tmp);
	assert_int_equal(system(command), 0);
	pid = fork();
	if (!pid) {
		if (setgroups(0, NULL) < 0 || setgid(USER) < 0 || setuid(USER) < 0)
			_exit(99);
		_exit(as_user(f));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void root_changes_nothing(void **state)
{
	struct fix *f = *state;

	if (geteuid() != 0)
		skip();
	assert_int_equal(check(f, 0000, OPENUP_WRITE, 0000), 0);
	assert_int_equal(check(f, 0555, OPENUP_READ, 0555), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(user_gets_it_for_a_moment, setup, teardown),
		cmocka_unit_test_setup_teardown(root_changes_nothing, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
