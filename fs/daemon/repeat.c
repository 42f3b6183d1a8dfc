/* SPDX-License-Identifier: MIT */
/*
 * The helper process: see repeat.h. It is forked while other threads may hold locks, so it calls
 * the system and nothing else. Every descriptor that it works with is on the mount itself and not
 * on what may lie under or over it: what it removes there is removed by nobody.
 */
#include "daemon/repeat.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

static int open_on(int dir, const char *path, int flags, dev_t device)
{
	struct open_how how = {
		.flags = (uint64_t)flags | O_CLOEXEC,
		.resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH,
	};
	cleanup_fd int fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	return st.st_dev == device ? steal_fd(&fd) : -1;
}

static int open_root(const char *mountpoint, dev_t device)
{
	cleanup_fd int fd = open(mountpoint, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -1;
	return st.st_dev == device ? steal_fd(&fd) : -1;
}

/* MODIFY and CLOSE_WRITE: the size that it has, and nothing written. */
static void touch_data(int dir, const char *name, dev_t device)
{
	cleanup_fd int fd = open_on(dir, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK, device);
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		(void)!ftruncate(fd, st.st_size); /* who may not write raises no event */
}

static void make(int dir, const char *name, mode_t type, dev_t device)
{
	int r;

	if (type == S_IFDIR)
		r = mkdirat(dir, name, 0700);
	else if (type == S_IFLNK)
		r = symlinkat("-", dir, name);
	else
		r = mknodat(dir, name, type | 0600, 0);
	if (!r && type == S_IFREG)
		touch_data(dir, name, device);
}

static void touch_attr(int dir, const char *name)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISLNK(st.st_mode))
		(void)fchmodat(dir, name, st.st_mode & 07777, 0); /* the same */
}

static void do_one(const struct repeat *r, const char *mountpoint, dev_t device)
{
	cleanup_fd int root = open_root(mountpoint, device);
	cleanup_fd int sub = -1;
	int dir = root;
	struct stat st;

	if (root >= 0 && *r->dir) {
		sub = open_on(root, r->dir, O_PATH | O_DIRECTORY, device);
		dir = sub;
	}
	if (dir < 0)
		return;
	/* what fails raises no event: somebody else was there first */
	if (r->kind == ECHO_PROBE)
		(void)fstatat(dir, r->name, &st, AT_SYMLINK_NOFOLLOW);
	else if (r->kind == ECHO_CAME)
		make(dir, r->name, r->type, device);
	else if (r->kind == ECHO_GONE)
		(void)unlinkat(dir, r->name, r->type == S_IFDIR ? AT_REMOVEDIR : 0);
	else if (r->kind == ECHO_DATA)
		touch_data(dir, r->name, device);
	else if (r->kind == ECHO_ATTR)
		touch_attr(dir, r->name);
}

/* The device, locks and logs of the daemon are not ours to keep. */
static void close_others(int keep)
{
	int null = open("/dev/null", O_RDWR);

	for (int fd = 0; fd < 3; fd++)
		(void)dup2(null, fd);
	if (keep > 3)
		(void)syscall(SYS_close_range, 3U, (unsigned)keep - 1, 0U);
	(void)syscall(SYS_close_range, (unsigned)keep + 1, ~0U, 0U);
}

static void serve(int fd, const char *mountpoint, dev_t device, pid_t parent)
{
	static struct repeat r;
	ssize_t n;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)prctl(PR_SET_NAME, "specfs-events");
	close_others(fd);
	umask(0);
	if (getppid() != parent)
		_exit(0);
	while ((n = recv(fd, &r, sizeof(r), 0)) != 0) {
		if (n < (ssize_t)offsetof(struct repeat, dir) + 1)
			continue;
		do_one(&r, mountpoint, device);
		if (send(fd, "", 1, MSG_NOSIGNAL) != 1)
			break;
	}
	_exit(0);
}

pid_t repeat_start(const char *mountpoint, dev_t device, int *ret_fd)
{
	pid_t parent = getpid();
	cleanup_fd int ours = -1;
	cleanup_fd int theirs = -1;
	int ends[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	ours = ends[0];
	theirs = ends[1];
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid)
		serve(theirs, mountpoint, device, parent);
	*ret_fd = steal_fd(&ours);
	return pid;
}
