/* SPDX-License-Identifier: MIT */
/*
 * The three processes of `specfs run`: the command waits; a child serves the view (serve.c) from
 * the namespace that we are in; another one makes the namespace, mounts, hands the mount over and
 * becomes the program. See run.h.
 */
#include "cli/run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "cli/handover.h"
#include "cli/namespace.h"
#include "cli/process.h"
#include "cli/redirects.h"
#include "cli/report.h"
#include "cli/serve.h"

enum { EXIT_NOT_RUN = 126, EXIT_NOT_FOUND = 127, EXIT_SIGNAL = 128 };
enum { POLL_MS = 50, STRAGGLER_MS = 500, END_LIMIT_MS = 60000 };

struct run {
	const struct plan *p;
	char **program;
	pid_t daemon;
	pid_t child;            /* the program */
	int sockets[2];         /* daemon's, program's */
	int pipe[2];            /* the program's namespace tells its mount's device */
	int signal_fd;
	sigset_t old_mask;
};

static void close_ends(struct run *r)
{
	int *fds[] = { &r->sockets[0], &r->sockets[1], &r->pipe[0], &r->pipe[1], &r->signal_fd };

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		if (*fds[i] >= 0)
			close(steal_fd(fds[i]));
}

/* Signals to us are read from a descriptor, as the end of children is. */
static int catch_signals(struct run *r)
{
	sigset_t set;

	signal(SIGCHLD, SIG_DFL); /* our caller may ignore it */
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &set, &r->old_mask) < 0)
		return -errno;
	r->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return r->signal_fd < 0 ? -errno : 0;
}

static int make_ends(struct run *r)
{
	int r_signals = catch_signals(r);

	if (r_signals < 0)
		return r_signals;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, r->sockets) < 0)
		return -errno;
	return pipe2(r->pipe, O_CLOEXEC) < 0 ? -errno : 0;
}

/* The daemon must not keep what our caller left open: a lock, the end of a pipe. */
static void keep_only(int fd)
{
	if (fd > STDERR_FILENO + 1)
		close_range(STDERR_FILENO + 1, (unsigned)fd - 1, 0);
	close_range((unsigned)fd + 1, ~0U, 0);
}

static void daemon_main(struct run *r)
{
	int fd = r->sockets[0];

	keep_only(fd);
	sigprocmask(SIG_SETMASK, &r->old_mask, NULL);
	exit(serve(r->p, -1, fd));
}

/* Makes the namespace and waits until the view answers. */
static int enter_view(const struct run *r)
{
	cleanup_fd int fd = -1;
	dev_t device;
	int status;

	if (handover_wait(r->sockets[1]) < 0)
		return EXIT_FAULT; /* the daemon has said why */
	status = namespace_enter();
	status = status ? status : namespace_mount(r->p, &fd, &device);
	if (status)
		return status;
	if (handover_give(r->sockets[1], fd, device) < 0)
		return fault("cannot hand the mount to the daemon");
	close(steal_fd(&fd));
	if (handover_wait(r->sockets[1]) < 0)
		return EXIT_FAULT;
	if (handover_wait(r->sockets[1]) < 0)
		return fault("the daemon ended at once; its log is '%s/log'", r->p->scratch.buf);
	redirects_bind_here(r->p);
	if (fd_write_all(r->pipe[1], &device, sizeof(device)) < 0)
		return fault("'specfs run' is gone");
	return EXIT_OK;
}

/* A working directory in the checkout is still the checkout's: go there again by its name. */
static int enter_directory(const struct plan *p, const char *cwd)
{
	if (!cwd || !abs_below(cwd, p->root.buf) || chdir(cwd) == 0)
		return EXIT_OK;
	return fault("the working directory '%s' is not in the view: %s", cwd, strerror(errno));
}

static int child_main(struct run *r)
{
	cleanup_free char *cwd = getcwd(NULL, 0); /* NULL: it was removed; stay there */
	int status, err;

	close(steal_fd(&r->sockets[0]));
	/* until the program is there, a signal ends us as it would end it */
	sigprocmask(SIG_SETMASK, &r->old_mask, NULL);
	status = enter_view(r);
	status = status ? status : enter_directory(r->p, cwd);
	if (status)
		return status;
	execvp(r->program[0], r->program);
	err = errno;
	(void)fault("cannot run '%s': %s", r->program[0], strerror(err));
	return err == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUN;
}

static int start(struct run *r)
{
	int e = make_ends(r);

	if (e < 0)
		return e;
	r->daemon = fork();
	if (r->daemon < 0)
		return -errno;
	if (!r->daemon)
		daemon_main(r);
	r->child = fork();
	if (r->child < 0)
		return -errno; /* the daemon sees the end of its socket */
	if (!r->child)
		exit(child_main(r));
	close(steal_fd(&r->sockets[0]));
	close(steal_fd(&r->sockets[1]));
	close(steal_fd(&r->pipe[1]));
	return 0;
}

/* What has come: passed on to the program unless it got it from the terminal, as we did. */
static bool pass_signals(const struct run *r, pid_t to)
{
	struct signalfd_siginfo info;
	bool asked_to_end = false;

	while (read(r->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		asked_to_end = true;
		if (to > 0 && info.ssi_code != SI_KERNEL)
			kill(to, (int)info.ssi_signo);
	}
	return asked_to_end;
}

static void wait_for_signal(const struct run *r, int limit_ms)
{
	struct pollfd p = { .fd = r->signal_fd, .events = POLLIN };

	(void)poll(&p, 1, limit_ms); /* interrupted or not, the caller looks again */
}

static int wait_for_program(const struct run *r, int *ret)
{
	pid_t pid;

	while ((pid = waitpid(r->child, ret, WNOHANG)) == 0) {
		wait_for_signal(r, -1);
		pass_signals(r, r->child);
	}
	pass_signals(r, 0); /* what ended the program must not end our waiting */
	return pid < 0 ? -errno : 0;
}

static int judge_daemon(const struct run *r, int how, bool answered)
{
	if (WIFSIGNALED(how))
		return fault("the daemon was ended by signal %d; its log is '%s/log'",
			     WTERMSIG(how), r->p->scratch.buf);
	if (WEXITSTATUS(how) && answered)
		return fault("the daemon broke off; its log is '%s/log'", r->p->scratch.buf);
	return EXIT_OK; /* what was wrong before that is told */
}

/* Somebody whom the program has left behind lives there. */
static bool is_used(dev_t device)
{
	cleanup_strbuf struct strbuf names = STRBUF_INIT;

	return device && process_list_namespaces(major(device), minor(device), &names) > 0;
}

/* Until everything is written and scratch is free. */
static int wait_for_daemon(const struct run *r)
{
	dev_t device = 0;
	bool answered = read(r->pipe[0], &device, sizeof(device)) == sizeof(device);
	int how;

	for (int waited_ms = 0;; waited_ms += POLL_MS) {
		pid_t pid = waitpid(r->daemon, &how, WNOHANG);

		if (pid)
			return pid < 0 ? EXIT_OK : judge_daemon(r, how, answered);
		if (waited_ms >= STRAGGLER_MS && waited_ms % STRAGGLER_MS == 0 && is_used(device))
			return EXIT_OK;
		if (waited_ms >= END_LIMIT_MS)
			return fault("the daemon (process %ld) does not end; its log is '%s/log'",
				     (long)r->daemon, r->p->scratch.buf);
		wait_for_signal(r, POLL_MS);
		if (pass_signals(r, 0))
			return EXIT_OK;
	}
}

int run_program(const struct plan *p, char **program)
{
	struct run r = { .p = p, .program = program, .sockets = { -1, -1 }, .pipe = { -1, -1 },
			 .signal_fd = -1 };
	int how, status;
	int e = start(&r);

	e = e < 0 ? e : wait_for_program(&r, &how);
	if (e < 0) {
		close_ends(&r);
		return fault("cannot start or follow the command: %s", strerror(-e));
	}
	status = wait_for_daemon(&r);
	close_ends(&r);
	if (WIFSIGNALED(how))
		return EXIT_SIGNAL + WTERMSIG(how);
	return WEXITSTATUS(how) ? WEXITSTATUS(how) : status;
}
