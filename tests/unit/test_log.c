/* SPDX-License-Identifier: MIT */
/* The log: one event, one line. */
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

/* What has been logged since the last call; the caller frees nothing. */
static const char *take(int fd)
{
	static char text[4096];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	assert_true(n >= 0);
	text[n] = '\0';
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return text;
}

static void levels_and_topics(void **state)
{
	int fd = memfd_create("log", MFD_CLOEXEC);

	assert_true(fd >= 0);
	unsetenv("SPECFS_DEBUG");
	log_open("specfs");
	log_to_fd(fd);
	assert_int_equal(log_err(-ENOENT, "cannot open '%s'", "x"), -ENOENT);
	assert_string_equal(take(fd),
			    "specfs: error: cannot open 'x': No such file or directory\n");
	log_warn("slow");
	assert_string_equal(take(fd), "specfs: warning: slow\n");
	log_info("mounted");
	assert_string_equal(take(fd), "specfs: mounted\n");
	log_debug("ops", "hidden");
	assert_string_equal(take(fd), "");

	log_set_level(LOG_LEVEL_WARN);
	log_info("mounted");
	assert_string_equal(take(fd), "");
	log_set_level(LOG_LEVEL_INFO);

	assert_int_equal(setenv("SPECFS_DEBUG", "ops,watch", 1), 0);
	log_open("specfs");
	log_debug("ops", "seen %d", 1);
	log_debug("op", "hidden");
	assert_string_equal(take(fd), "specfs: debug: ops: seen 1\n");
	assert_int_equal(setenv("SPECFS_DEBUG", "all", 1), 0);
	log_open("specfs");
	assert_true(log_topic("anything"));
	unsetenv("SPECFS_DEBUG");
	log_open("specfs");
	assert_false(log_topic("anything"));
	log_to_fd(-1);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(levels_and_topics) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
