/* SPDX-License-Identifier: MIT */
/* The watcher: every kind of foreign change is reported, own ones are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "daemon/remote.h"
#include "daemon/watch.h"
#include "tree.h"

enum { LIMIT_SEC = 40, SEEN_MAX = 4096 };

struct seen {
	uint64_t dir;
	unsigned what;
	char name[64];
};

struct fix {
	char *tmp;
	int dir;
	struct watch *w;
	uint64_t id;
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct seen seen[SEEN_MAX];
	size_t n;
};

static void note(void *arg, const struct watch_event *e)
{
	struct fix *f = arg;

	pthread_mutex_lock(&f->lock);
	if (f->n < SEEN_MAX) {
		struct seen *s = &f->seen[f->n++];

		s->dir = e->dir;
		s->what = e->what;
		snprintf(s->name, sizeof(s->name), "%s", e->name);
	}
	pthread_cond_broadcast(&f->more);
	pthread_mutex_unlock(&f->lock);
}

static int setup(void **state)
{
	struct fix *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->more, NULL);
	f->tmp = tree_tmp();
	tree_make(f->tmp, "d/file=1", "d/sub/", NULL);
	f->dir = open(f->tmp, O_PATH | O_DIRECTORY | O_CLOEXEC);
	*state = f;
	if (watch_new(note, f, f->dir, &f->w) < 0)
		return -1;
	{
		int fd = openat(f->dir, "d", O_PATH | O_CLOEXEC);
		int r = watch_add(f->w, fd, false, &f->id);

		close(fd);
		return r;
	}
}

static int teardown(void **state)
{
	struct fix *f = *state;

	watch_free(f->w);
	close(f->dir);
	tree_remove(f->tmp);
	free(f->tmp);
	pthread_cond_destroy(&f->more);
	pthread_mutex_destroy(&f->lock);
	free(f);
	return 0;
}

static bool has(const struct fix *f, unsigned what, const char *name)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->seen[i].dir == f->id && (f->seen[i].what & what) &&
		    !strcmp(f->seen[i].name, name))
			return true;
	return false;
}

/* Wait until such an event has come; false after the limit. */
static bool comes(struct fix *f, unsigned what, const char *name)
{
	struct timespec until;
	bool hit;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += LIMIT_SEC;
	pthread_mutex_lock(&f->lock);
	while (!(hit = has(f, what, name)))
		if (pthread_cond_timedwait(&f->more, &f->lock, &until) == ETIMEDOUT)
			break;
	pthread_mutex_unlock(&f->lock);
	return hit;
}

/* Let another process run a shell command in the temporary directory. */
static void foreign(struct fix *f, const char *command)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		if (fchdir(f->dir) == 0)
			execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void foreign_changes_are_reported(void **state)
{
	static const struct {
		const char *command;
		unsigned what;
		const char *name;
	} cases[] = {
		{ "echo x >> d/file", WATCH_DATA, "file" },
		{ "chmod 600 d/file", WATCH_ATTR, "file" },
		{ "touch -d @1 d/file", WATCH_ATTR, "file" },
		{ "touch d/new", WATCH_NAME, "new" },
		{ "rm d/new", WATCH_NAME, "new" },
		{ "mkdir d/made", WATCH_NAME, "made" },
		{ "rmdir d/made", WATCH_NAME, "made" },
		{ "ln -s nowhere d/link", WATCH_NAME, "link" },
		{ "mv d/link d/moved", WATCH_NAME, "link" },
		{ "mv d/moved d/again", WATCH_NAME, "again" },
		{ "chmod 700 d", WATCH_ATTR, "" },
		{ "mv d away", WATCH_SELF, "" },
	};
	struct fix *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		pthread_mutex_lock(&f->lock);
		f->n = 0;
		pthread_mutex_unlock(&f->lock);
		foreign(f, cases[i].command);
		if (!comes(f, cases[i].what, cases[i].name))
			fail_msg("no event after '%s'", cases[i].command);
	}
}

static void own_changes_are_left_out(void **state)
{
	struct fix *f = *state;
	struct watch_stats s;

	watch_stats(f->w, &s);
	if (strcmp(s.mechanism, "fanotify") != 0)
		skip();
	tree_make(f->tmp, "d/mine=1", NULL);
	assert_int_equal(unlinkat(f->dir, "d/mine", 0), 0);
	foreign(f, "touch d/theirs");
	assert_true(comes(f, WATCH_NAME, "theirs"));
	assert_false(has(f, WATCH_NAME | WATCH_DATA, "mine"));
}

static void own_changes_are_reported_on_request(void **state)
{
	struct fix *f = *state;
	uint64_t id;
	int fd = openat(f->dir, "d", O_PATH | O_CLOEXEC);

	assert_int_equal(watch_add(f->w, fd, true, &id), 0);
	close(fd);
	assert_int_equal(id, f->id);
	tree_make(f->tmp, "d/mine=1", NULL);
	assert_true(comes(f, WATCH_NAME, "mine"));
}

static void a_removed_watch_is_silent(void **state)
{
	struct fix *f = *state;
	uint64_t other;
	int fd = openat(f->dir, "d/sub", O_PATH | O_CLOEXEC);

	assert_int_equal(watch_add(f->w, fd, false, &other), 0);
	assert_int_not_equal(other, f->id);
	watch_remove(f->w, other, fd);
	close(fd);
	foreign(f, "touch d/sub/x d/after");
	assert_true(comes(f, WATCH_NAME, "after"));
	for (size_t i = 0; i < f->n; i++)
		assert_int_not_equal(f->seen[i].dir, other);
}

static void a_moved_directory_keeps_its_watch(void **state)
{
	struct fix *f = *state;

	foreign(f, "mv d away && touch away/x");
	assert_true(comes(f, WATCH_NAME, "x"));
}

static void file_systems_that_others_may_change_are_known(void **state)
{
	struct fix *f = *state;

	assert_string_equal(remote_name(0x6969), "nfs");
	assert_string_equal(remote_name(0xff534d42), "cifs");
	assert_string_equal(remote_name(0x01021997), "9p");
	assert_string_equal(remote_name(0x65735546), "fuse");
	assert_null(remote_name(0xef53));     /* ext4 */
	assert_null(remote_name(0x01021994)); /* tmpfs */
	assert_null(remote_name(0x794c7630)); /* overlayfs, as in containers */
	assert_null(remote_of(f->dir));
	assert_null(remote_of(-1));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(foreign_changes_are_reported),
		TEST(own_changes_are_left_out),
		TEST(own_changes_are_reported_on_request),
		TEST(a_removed_watch_is_silent),
		TEST(a_moved_directory_keeps_its_watch),
		TEST(file_systems_that_others_may_change_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
