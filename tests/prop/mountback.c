/* SPDX-License-Identifier: MIT */
/*
 * A real mount: see backend.h. $SPECFS_BIN mounts and unmounts it; what is done in it is done by
 * system calls, as in any directory.
 */
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <sched.h>
#include <spawn.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/strv.h"
#include "site.h"

enum { ARGS_MAX = 24 };

struct args {
	const char *v[ARGS_MAX];
	size_t n;
};

static void args_add(struct args *a, const char *s)
{
	if (a->n + 1 >= ARGS_MAX)
		abort();
	a->v[a->n++] = s;
}

/* Run a program to its end: 0, or -EIO if it does not succeed; it says why itself. */
static int run_program(struct args *a)
{
	pid_t pid;
	int status;
	int r = posix_spawn(&pid, a->v[0], NULL, NULL, (char **)a->v, environ);

	if (r)
		return -r;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EIO;
}

static int mount_it(const struct view_options *o, const char *mnt)
{
	struct args a = { .v = { getenv("SPECFS_BIN"), "mount", "-q" }, .n = 3 };

	for (size_t i = 0; i < o->backends.n; i++) {
		args_add(&a, "-b");
		args_add(&a, o->backends.v[i]);
	}
	for (size_t i = 0; i < o->overlays.n; i++) {
		args_add(&a, "-l");
		args_add(&a, o->overlays.v[i]);
	}
	if (o->profile) {
		args_add(&a, "-p");
		args_add(&a, o->profile);
	}
	if (o->readonly)
		args_add(&a, "-r");
	if (o->scratch_all)
		args_add(&a, "--scratch-all");
	if (o->write_owner) {
		args_add(&a, "-o");
		args_add(&a, "write=owner");
	}
	args_add(&a, "-s");
	args_add(&a, o->scratch);
	args_add(&a, o->root);
	args_add(&a, mnt);
	return run_program(&a);
}

static int mount_start(struct site *s)
{
	struct view_options o;
	char mnt[PATH_MAX];
	int r = site_options(s, &o);

	(void)snprintf(mnt, sizeof(mnt), "%s/mnt", s->tmp);
	if (!r)
		r = mount_it(&o, mnt);
	site_options_clear(&o);
	if (r < 0)
		return r;
	s->mount_fd = open(mnt, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return s->mount_fd < 0 ? -errno : 0;
}

static void mount_stop(struct site *s)
{
	char mnt[PATH_MAX];
	struct args a = { .v = { getenv("SPECFS_BIN"), "umount", mnt }, .n = 3 };

	(void)snprintf(mnt, sizeof(mnt), "%s/mnt", s->tmp);
	if (s->mount_fd >= 0)
		close(s->mount_fd);
	s->mount_fd = -1;
	if (run_program(&a) < 0)
		abort(); /* nothing is to be removed below a mount that stays */
}

/* What `specfs sync` asks the daemon. */
static int mount_settle(struct site *s)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	cleanup_strbuf struct strbuf reply = STRBUF_INIT;
	char scratch[PATH_MAX];
	cleanup_fd int dir = -1;
	cleanup_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int r;

	(void)snprintf(scratch, sizeof(scratch), "%s/scratch", s->tmp);
	dir = open(scratch, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || fd < 0)
		return -errno;
	(void)snprintf(to.sun_path, sizeof(to.sun_path), "/proc/self/fd/%d/control", dir);
	if (connect(fd, (const struct sockaddr *)&to, sizeof(to)) < 0)
		return -errno;
	r = fd_write_all(fd, "sync\n", 5);
	if (!r)
		r = fd_read_all(fd, 256, &reply);
	if (!r && strcmp(reply.buf, "ok\n") != 0) {
		(void)snprintf(s->note, sizeof(s->note), "sync: %s", reply.buf);
		r = -EIO;
	}
	return r;
}

static int mount_apply(struct site *s, const struct op *o)
{
	return posix_apply(s->mount_fd, o);
}

static int mount_list(struct site *s, const char *dir, struct shown_list *ret)
{
	return posix_list(s->mount_fd, dir, ret);
}

static int mount_look(struct site *s, const char *path, struct shown *ret)
{
	return posix_look(s->mount_fd, path, ret);
}

bool mount_is_possible(void)
{
	const char *bin = getenv("SPECFS_BIN");

	return bin && access(bin, X_OK) == 0 && access("/dev/fuse", R_OK | W_OK) == 0;
}

/* Let go of the views that came with the namespace: they would live on in here. */
static void drop_views(void)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct strv views = STRV_INIT;
	const struct mntent *m;

	if (!mounts)
		return;
	while ((m = getmntent(mounts)))
		if (!strcmp(m->mnt_type, "fuse.specfs"))
			(void)strv_add(&views, m->mnt_dir); /* short of memory: that one stays */
	endmntent(mounts);
	for (size_t i = views.n; i > 0; i--)
		(void)umount2(views.v[i - 1], MNT_DETACH); /* it may just have gone by itself */
	strv_clear(&views);
}

void mount_apart(void)
{
	if (unshare(CLONE_NEWNS) < 0)
		return;
	(void)mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL); /* see backend.h */
	drop_views();
}

const struct backend mount_backend = {
	.start = mount_start,
	.stop = mount_stop,
	.apply = mount_apply,
	.list = mount_list,
	.look = mount_look,
	.settle = mount_settle,
};
