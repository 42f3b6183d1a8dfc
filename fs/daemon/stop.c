/* SPDX-License-Identifier: MIT */
/* Ending by a signal: see stop.h. */
#include "daemon/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mount.h>
#include <sys/signalfd.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "daemon/inval.h"
#include "daemon/mounted.h"
#include "layer/bind.h"

enum {
	GRACE_MSEC = 10000, /* for those who still use a mount that was detached */
	POKE_MSEC = 50,
	TELLING_MSEC = 2000, /* for what is being told to the kernel */
};

static void signal_set(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGHUP);
}

static void nothing(int sig)
{
}

/* Let fusermount3 do what only root may. */
static int run_fusermount(char *mountpoint, bool lazy)
{
	char program[] = "fusermount3";
	char unmount_opt[] = "-u";
	char how[] = "-qz";
	char end[] = "--";
	char *argv[] = { program, unmount_opt, how, end, mountpoint, NULL };
	pid_t pid;
	int status;
	int r;

	if (!lazy)
		how[2] = '\0';
	r = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);

	if (r)
		return -r;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EBUSY;
}

/* What is to be taken down. The thread that does it may outlive the session. */
struct target {
	dev_t device;
	char mountpoint[];
};

static int unmount(struct target *s, bool lazy)
{
	if (mounted_device(s->mountpoint) != s->device)
		return -ENOENT; /* somebody else's by now, or nothing */
	if (umount2(s->mountpoint, UMOUNT_NOFOLLOW | (lazy ? MNT_DETACH : 0)) == 0)
		return 0;
	return errno == EPERM ? run_fusermount(s->mountpoint, lazy) : -errno;
}

/* Write out what shared maps have changed. Our own workers answer; this thread is none of them. */
static void flush(const struct target *s)
{
	cleanup_fd int fd = open(s->mountpoint, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0 && syncfs(fd) < 0)
		log_warn("could not write everything out before unmounting '%s'", s->mountpoint);
}

/* Mounts in it would hold it. They are of scratch, which needs no daemon: who works there may go on
 * until it lets go. */
static void take_down_binds(const struct target *s)
{
	cleanup_strv struct strv dirs = STRV_INIT;
	int r = bind_list(s->mountpoint, &dirs);

	for (size_t i = 0; i < dirs.n && !r; i++)
		r = bind_undo(s->mountpoint, dirs.v[i], true);
	if (r < 0)
		log_warn("cannot unmount what is redirected in '%s': %s", s->mountpoint,
			 strerror(-r));
}

static void *take_down(void *arg)
{
	cleanup_free struct target *s = arg;
	int r;

	if (mounted_device(s->mountpoint) == s->device)
		take_down_binds(s);
	r = unmount(s, false);

	if (!r || r == -ENOENT)
		return NULL;
	log_info("'%s' is in use: detaching it", s->mountpoint);
	flush(s);
	if (unmount(s, true) < 0)
		log_warn("cannot unmount '%s'", s->mountpoint);
	return NULL;
}

static int start_taking_down(const struct session *s, pthread_t *ret)
{
	size_t len = strlen(s->mountpoint) + 1;
	cleanup_free struct target *t = malloc(sizeof(*t) + len);
	int r;

	if (!t)
		return -ENOMEM;
	t->device = s->device;
	memcpy(t->mountpoint, s->mountpoint, len);
	r = pthread_create(ret, NULL, take_down, t);
	if (!r)
		(void)steal_ptr(&t); /* the thread's */
	return -r;
}

/* Wait for the end or a signal. Has it ended? */
static bool ends_within(const struct session *s, int timeout_msec)
{
	struct pollfd p[] = {
		{ .fd = s->end_fd, .events = POLLIN },
		{ .fd = s->signal_fd, .events = POLLIN },
	};

	while (poll(p, 2, timeout_msec) < 0 && errno == EINTR)
		;
	return p[0].revents;
}

/* Make all that waits in the connection fail, where the control file system lets us. */
static void abort_connection(const struct session *s)
{
	char path[64];
	cleanup_fd int fd = -1;

	snprintf(path, sizeof(path), "/sys/fs/fuse/connections/%u/abort", minor(s->device));
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "1", 1) != 1)
		log_warn("something waits in '%s' and does not end: 'umount -f' helps",
			 s->mountpoint);
}

/*
 * What is being told to the kernel may wait for an answer of ours. Once nobody answers it would
 * wait for ever, and we with it.
 */
static void stop_telling(const struct session *s)
{
	if (!inval_stop(session_teller(s), TELLING_MSEC))
		abort_connection(s);
}

static void *watch(void *arg)
{
	struct session *s = arg;
	struct signalfd_siginfo info;
	pthread_t helper;
	bool taking_down, ended = false;

	if (ends_within(s, -1))
		return NULL;
	(void)!read(s->signal_fd, &info, sizeof(info)); /* only that it came matters */
	/* in another namespace we cannot: there it ends with its last process */
	taking_down = s->mounted && start_taking_down(s, &helper) == 0;
	if (taking_down || !s->mounted)
		ended = ends_within(s, GRACE_MSEC);
	if (ended) {
		if (taking_down)
			pthread_join(helper, NULL);
		return NULL;
	}
	if (taking_down)
		pthread_detach(helper); /* it may hang as long as the mount does */
	/* nobody let go in time, or a second signal came */
	stop_telling(s);
	fuse_session_exit(s->fuse);
	while (!atomic_load(&s->ended)) {
		pthread_kill(s->main, SIGUSR1);
		(void)poll(NULL, 0, POKE_MSEC);
	}
	return NULL;
}

int stop_begin(struct session *s)
{
	struct sigaction wake = { .sa_handler = nothing };
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigaction(SIGUSR1, &wake, NULL);
	signal_set(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	s->main = pthread_self();
	s->signal_fd = signalfd(-1, &set, SFD_CLOEXEC);
	s->end_fd = eventfd(0, EFD_CLOEXEC);
	if (s->signal_fd < 0 || s->end_fd < 0)
		return -errno;
	return -pthread_create(&s->watcher, NULL, watch, s);
}

void stop_end(struct session *s)
{
	atomic_store(&s->ended, true);
	(void)eventfd_write(s->end_fd, 1); /* cannot fail: nobody else writes */
	pthread_join(s->watcher, NULL);
	close(s->end_fd);
	close(s->signal_fd);
}
