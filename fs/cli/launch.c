/* SPDX-License-Identifier: MIT */
/*
 * The command's side of a mount in the background: it waits for the daemon, tells what came of it,
 * and leaves nothing half done when it is interrupted. See serve.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "cli/detach.h"
#include "cli/probe.h"
#include "cli/process.h"
#include "cli/report.h"
#include "cli/serve.h"

enum { READY_LIMIT_MS = 120000, ANSWER_LIMIT_MS = 30000, END_LIMIT_MS = 10000 };
enum { FACTS_MAX_BYTES = 1 << 20 };

/* The daemon, seen from the command. */
struct child {
	pid_t pid;
	uint64_t start;
	int facts_fd;
	int ready_fd;
	int signal_fd;
	sigset_t old_mask;
};

static void child_clear(struct child *c)
{
	if (c->facts_fd >= 0)
		close(c->facts_fd);
	if (c->ready_fd >= 0)
		close(c->ready_fd);
	if (c->signal_fd >= 0)
		close(c->signal_fd);
}

/* SIGINT and its like are read from a descriptor meanwhile, so that the daemon can be ended too. */
static int catch_signals(struct child *c)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, &c->old_mask) < 0)
		return -errno;
	c->signal_fd = signalfd(-1, &set, SFD_CLOEXEC);
	return c->signal_fd < 0 ? -errno : 0;
}

static int start_child(const struct plan *p, struct child *c)
{
	cleanup_fd int facts = -1, ready = -1;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	c->facts_fd = ends[0];
	facts = ends[1];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	c->ready_fd = ends[0];
	ready = ends[1];
	c->pid = fork();
	if (c->pid < 0)
		return -errno;
	if (c->pid == 0) {
		child_clear(c);
		sigprocmask(SIG_SETMASK, &c->old_mask, NULL);
		exit(serve(p, steal_fd(&facts), steal_fd(&ready)));
	}
	c->start = process_start(c->pid);
	return 0;
}

/* Waits until @fd can be read or has ended. Returns 0, -EINTR (a signal says stop), -ETIMEDOUT. */
static int wait_readable(const struct child *c, int fd, int limit_ms)
{
	struct pollfd p[] = {
		{ .fd = fd, .events = POLLIN },
		{ .fd = c->signal_fd, .events = POLLIN },
	};
	int r;

	do
		r = poll(p, ARRAY_SIZE(p), limit_ms);
	while (r < 0 && errno == EINTR);
	if (r < 0)
		return -errno;
	if (p[1].revents)
		return -EINTR;
	return r ? 0 : -ETIMEDOUT;
}

/* Ends the daemon and whatever it has mounted. */
static void stop_child(const struct plan *p, const struct child *c)
{
	cleanup_mount_table struct mount_table t = { 0 };
	const struct mount_entry *m;

	kill(c->pid, SIGTERM);
	if (!process_wait(c->pid, c->start, END_LIMIT_MS))
		kill(c->pid, SIGKILL);
	(void)waitpid(c->pid, NULL, WNOHANG); /* init takes it otherwise */
	if (mount_table_read(&t) < 0)
		return;
	m = mount_at(&t, p->mountpoint.buf);
	if (m && mount_is_view(m)) {
		cleanup_serving struct serving s = { 0 };

		serving_find(m, &s);
		if (s.pid == c->pid || !s.pid)
			(void)detach_lost(m, &s); /* the fault is told already */
	}
}

/* The daemon has ended before it answered; it has said why, unless it was killed. */
static int child_ended(const struct child *c, const struct plan *p, bool mounted)
{
	int status;

	if (waitpid(c->pid, &status, 0) < 0)
		return fault("the daemon is lost: %s", strerror(errno));
	if (WIFSIGNALED(status))
		return fault("the daemon was ended by signal %d; its log is '%s/log'",
			     WTERMSIG(status), p->scratch.buf);
	if (mounted)
		return fault("the daemon ended at once; its log is '%s/log'", p->scratch.buf);
	return WEXITSTATUS(status) ? WEXITSTATUS(status) : EXIT_FAULT;
}

static int give_up(const struct plan *p, const struct child *c, int r)
{
	stop_child(p, c);
	if (r == -EINTR)
		return fault("interrupted; nothing is mounted");
	if (r == -ETIMEDOUT)
		return fault("the view at '%s' did not answer in time; its log is '%s/log'",
			     p->mountpoint.buf, p->scratch.buf);
	return fault("the view at '%s' does not answer: %s", p->mountpoint.buf, strerror(-r));
}

/* From the start of the daemon until its mount answers. */
static int wait_for_mount(const struct plan *p, const struct child *c, json_t **ret)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	char byte;
	int r = wait_readable(c, c->facts_fd, READY_LIMIT_MS);

	if (r < 0)
		return give_up(p, c, r);
	r = fd_read_all(c->facts_fd, FACTS_MAX_BYTES, &text);
	*ret = r < 0 ? NULL : json_loads(text.buf, 0, NULL);
	if (!*ret)
		return child_ended(c, p, false);
	r = wait_readable(c, c->ready_fd, READY_LIMIT_MS);
	if (r < 0)
		return give_up(p, c, r);
	if (read(c->ready_fd, &byte, 1) != 1)
		return child_ended(c, p, true);
	r = probe_stat(p->mountpoint.buf, ANSWER_LIMIT_MS);
	return r < 0 ? give_up(p, c, r) : EXIT_OK;
}

int launch(const struct plan *p)
{
	struct child c = { .facts_fd = -1, .ready_fd = -1, .signal_fd = -1 };
	cleanup_json json_t *record = NULL;
	int r;

	/* the daemon must not keep what our caller left open: a lock, the end of a pipe */
	close_range(STDERR_FILENO + 1, ~0U, 0);
	r = catch_signals(&c);
	r = r < 0 ? r : start_child(p, &c);
	if (r < 0)
		r = fault("cannot start the daemon: %s", strerror(-r));
	else
		r = wait_for_mount(p, &c, &record);
	child_clear(&c);
	return r ? r : serve_tell(p, record);
}
