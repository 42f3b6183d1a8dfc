/* SPDX-License-Identifier: MIT */
/* Touching a mount with a limit: see probe.h. The child tells an errno byte, then the data. */
#include "cli/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"

enum { CONTENT_MAX = 16 << 20 };

/* What the kernel has cached it would tell of a dead mount, too. */
static int do_stat(const char *path, struct strbuf *ret)
{
	struct statx st;

	(void)ret;
	return statx(AT_FDCWD, path, AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, &st) < 0 ? -errno : 0;
}

static int do_read(const char *path, struct strbuf *ret)
{
	return fd_read_file(AT_FDCWD, path, CONTENT_MAX, ret);
}

static void child_main(int (*work)(const char *, struct strbuf *), const char *path, int fd)
{
	struct strbuf sb = STRBUF_INIT;
	unsigned char code = (unsigned char)-work(path, &sb);

	if (fd_write_all(fd, &code, 1) == 0)
		(void)fd_write_all(fd, sb.buf, sb.len); /* nobody reads any more: nothing to tell */
	_exit(0);
}

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000L + t.tv_nsec / 1000000;
}

/* Everything from @fd until its end. */
static int drain(int fd, int limit_ms, struct strbuf *ret)
{
	long end = now_ms() + limit_ms;
	char buf[4096];

	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		long left = end - now_ms();
		int r = left > 0 ? poll(&p, 1, (int)left) : 0;
		ssize_t n;

		if (r == 0)
			return -ETIMEDOUT;
		n = r < 0 ? -1 : read(fd, buf, sizeof(buf));
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			return strbuf_failed(ret);
		if (n > 0)
			strbuf_add(ret, buf, (size_t)n);
	}
}

static int probe(int (*work)(const char *, struct strbuf *), const char *path, int limit_ms,
		 struct strbuf *ret)
{
	cleanup_strbuf struct strbuf told = STRBUF_INIT;
	cleanup_fd int out = -1;
	int ends[2], r;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	out = ends[0];
	pid = fork();
	if (pid < 0) {
		r = -errno;
		close(ends[1]);
		return r;
	}
	if (!pid)
		child_main(work, path, ends[1]);
	close(ends[1]);
	r = drain(out, limit_ms, &told);
	if (r == -ETIMEDOUT)
		kill(pid, SIGKILL); /* it may not even die before the mount is gone */
	(void)waitpid(pid, NULL, r == -ETIMEDOUT ? WNOHANG : 0);
	if (r < 0)
		return r;
	if (!told.len)
		return -EIO;
	strbuf_add(ret, told.buf + 1, told.len - 1);
	return strbuf_failed(ret) ? -ENOMEM : -(int)(unsigned char)told.buf[0];
}

int probe_stat(const char *path, int limit_ms)
{
	cleanup_strbuf struct strbuf none = STRBUF_INIT;

	return probe(do_stat, path, limit_ms, &none);
}

int probe_read(const char *path, int limit_ms, struct strbuf *ret)
{
	return probe(do_read, path, limit_ms, ret);
}
