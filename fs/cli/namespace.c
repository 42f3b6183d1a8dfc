/* SPDX-License-Identifier: MIT */
/*
 * A namespace with a view: see namespace.h. Source: user_namespaces(7), mount_namespaces(7), and
 * for the mount's data the kernel's Documentation/filesystems/fuse.
 */
#include "cli/namespace.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/fd.h"
#include "cli/report.h"
#include "daemon/mounted.h"

enum { SETTING_MAX_BYTES = 64 };

/* Is the kernel's setting there, and this? */
static bool is_set(const char *file, const char *value)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;

	if (fd_read_file(AT_FDCWD, file, SETTING_MAX_BYTES, &sb) < 0)
		return false;
	sb.buf[strcspn(sb.buf, "\n")] = '\0';
	return !strcmp(sb.buf, value);
}

/* Which setting forbids an ordinary user a namespace, as a half-sentence; "" if none is known. */
static const char *forbidding_setting(void)
{
	if (is_set("/proc/sys/kernel/unprivileged_userns_clone", "0"))
		return " (sysctl kernel.unprivileged_userns_clone is 0)";
	if (is_set("/proc/sys/user/max_user_namespaces", "0"))
		return " (sysctl user.max_user_namespaces is 0)";
	if (is_set("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"))
		return " (sysctl kernel.apparmor_restrict_unprivileged_userns is 1)";
	return "";
}

static int write_setting(const char *file, const char *text)
{
	cleanup_fd int fd = open(file, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd_write_all(fd, text, strlen(text));
}

/* Inside we are who we were. */
static int map_ids(uid_t uid, gid_t gid)
{
	char users[48], groups[48];
	int r;

	snprintf(users, sizeof(users), "%u %u 1", uid, uid);
	snprintf(groups, sizeof(groups), "%u %u 1", gid, gid);
	r = write_setting("/proc/self/uid_map", users);
	/* without this an ordinary user may map no group: it could leave one that denies access */
	r = r < 0 ? r : write_setting("/proc/self/setgroups", "deny");
	r = r < 0 ? r : write_setting("/proc/self/gid_map", groups);
	if (r < 0)
		return fault("cannot stay user %u in a namespace: %s", uid, strerror(-r));
	return EXIT_OK;
}

static int enter_as_user(void)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0) {
		int err = errno;

		return fault("you may make no user namespace here%s: %s; 'specfs mount' does "
			     "without", forbidding_setting(), strerror(err));
	}
	return map_ids(uid, gid);
}

int namespace_enter(void)
{
	int r = EXIT_OK;

	if (geteuid() != 0 || (unshare(CLONE_NEWNS) < 0 && errno == EPERM))
		r = enter_as_user(); /* root of a container may not be root enough */
	if (r)
		return r;
	/* a slave lets go of what is unmounted outside; a private one would hold it */
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return fault("cannot keep the mount to ourselves%s: %s", forbidding_setting(),
			     strerror(errno));
	return EXIT_OK;
}

int namespace_mount(const struct plan *p, int *ret_fd, dev_t *ret_device)
{
	const struct session_options *o = &p->session;
	unsigned long flags = MS_NOSUID | MS_NODEV | (o->readonly ? MS_RDONLY : 0) |
			      (o->noexec ? MS_NOEXEC : 0);
	cleanup_diag struct diag d = DIAG_INIT;
	cleanup_fd int fd = session_open_device(&d);
	char data[160];

	if (fd < 0)
		return fault_diag(&d, fd);
	/* allow_root is allow_other for the kernel; the daemon refuses the rest */
	snprintf(data, sizeof(data), "fd=%d,rootmode=40000,user_id=%u,group_id=%u,"
		 "default_permissions%s", fd, geteuid(), getegid(),
		 o->allow_other || o->allow_root ? ",allow_other" : "");
	if (mount(o->source, o->mountpoint, "fuse.specfs", flags, data) < 0) {
		int err = errno;

		return fault("cannot mount over '%s'%s: %s", o->mountpoint,
			     geteuid() ? forbidding_setting() : "", strerror(err));
	}
	*ret_device = mounted_device(o->mountpoint);
	if (!*ret_device)
		return fault("'%s' is not in the mount table although it was mounted",
			     o->mountpoint);
	*ret_fd = steal_fd(&fd);
	return EXIT_OK;
}
