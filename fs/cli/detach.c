/* SPDX-License-Identifier: MIT */
/* Taking mounts down: see detach.h. */
#include "cli/detach.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "cli/process.h"
#include "cli/report.h"

enum { DYING_LIMIT_MS = 10000, HELPER_TEXT_MAX = 4096 };

/* Starts fusermount3 with its stderr in @err_fd. Returns a pid or a negative errno. */
static pid_t start_helper(const char *at, bool lazy, int err_fd)
{
	char *argv[] = { (char *)"fusermount3", (char *)(lazy ? "-uz" : "-u"), (char *)"--",
			 (char *)at, NULL };
	posix_spawn_file_actions_t fa;
	pid_t pid = -1;
	int r = posix_spawn_file_actions_init(&fa);

	if (r)
		return -r;
	r = posix_spawn_file_actions_adddup2(&fa, err_fd, STDERR_FILENO);
	if (!r)
		r = posix_spawnp(&pid, "fusermount3", &fa, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	return r ? -r : pid;
}

/* What the helper's complaint means; it has no other way to tell. */
static int errno_of_text(const char *text)
{
	if (strstr(text, "busy"))
		return -EBUSY;
	if (strstr(text, "not permitted") || strstr(text, "not found in"))
		return -EPERM;
	return -EIO;
}

static int detach_by_helper(const char *at, bool lazy)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	cleanup_fd int out = -1, err = -1;
	int ends[2], status, r;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	out = ends[0];
	err = ends[1];
	pid = start_helper(at, lazy, err);
	if (pid < 0)
		return pid;
	close(steal_fd(&err));
	r = fd_read_all(out, HELPER_TEXT_MAX, &text);
	if (waitpid(pid, &status, 0) < 0)
		return -errno;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return -ENOENT;
	return r < 0 ? -EIO : errno_of_text(text.buf);
}

int detach(const char *at, bool lazy)
{
	int r = umount2(at, UMOUNT_NOFOLLOW | (lazy ? MNT_DETACH : 0)) < 0 ? -errno : 0;

	return r == -EPERM ? detach_by_helper(at, lazy) : r;
}

/* Makes every request that waits in the connection fail, and lets a killed daemon die. The user who
 * mounted may do it, where the control file system is mounted; root may also force it, which aborts
 * even where it says busy. Returns true if the mount is gone with it. */
static bool abort_connection(const struct mount_entry *m)
{
	char path[64];
	cleanup_fd int fd = -1;

	snprintf(path, sizeof(path), "/sys/fs/fuse/connections/%u/abort", m->minor);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0 && fd_write_all(fd, "1", 1) == 0)
		return false;
	return umount2(m->at, MNT_FORCE | UMOUNT_NOFOLLOW) == 0;
}

int detach_lost(const struct mount_entry *m, const struct serving *s)
{
	const char *made_at = s->record ? json_get_text(s->record, "mountpoint") : NULL;
	int r = abort_connection(m) ? 0 : detach(m->at, true);

	if (r < 0)
		return r;
	/* a record of another user's making may name any place: ours is the one that was mounted */
	if (made_at && !strcmp(made_at, m->at))
		record_withdraw(s->record, -1);
	return s->pid && !process_wait(s->pid, s->start, DYING_LIMIT_MS) ? -ETIMEDOUT : 0;
}
