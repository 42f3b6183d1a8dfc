/* SPDX-License-Identifier: MIT */
/* Copying one object: see copyobj.h. */
#include "layer/copyobj.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "layer/mark.h"

int copyobj_chown(int dir_fd, const char *name, const struct stat *now, uid_t uid, gid_t gid)
{
	int flags = AT_SYMLINK_NOFOLLOW | (*name ? 0 : AT_EMPTY_PATH);

	if (now->st_uid == uid && now->st_gid == gid)
		return 0;
	if (!fchownat(dir_fd, name, uid, gid, flags))
		return 0;
	if (errno != EPERM || geteuid() == 0)
		return -errno;
	/* an ordinary user may still be allowed to give it to one of his groups */
	(void)fchownat(dir_fd, name, (uid_t)-1, gid, flags);
	return 0;
}

void copyobj_set_times(int fd, const struct stat *st)
{
	struct timespec times[2] = { st->st_atim, st->st_mtim };

	(void)utimensat(fd, "", times, AT_EMPTY_PATH); /* a later time does no harm */
}

int copyobj_attrs(int from, const struct stat *st, int to)
{
	struct timespec times[2] = { st->st_atim, st->st_mtim };
	struct stat now;
	int r;

	if (fstat(to, &now) < 0)
		return -errno;
	r = copyobj_chown(to, "", &now, st->st_uid, st->st_gid);
	if (!r && from >= 0)
		r = fd_copy_xattrs(from, to, MARK_PREFIX);
	/* after the owner, whose change drops set-id bits, and the ACL, which sets bits too */
	if (!r && fchmod(to, st->st_mode & 07777) < 0)
		r = -errno;
	if (!r && futimens(to, times) < 0)
		r = -errno;
	return r;
}

int copyobj_file(int from, const struct stat *st, off_t size, int to)
{
	struct stat now;
	int r;

	if (fstat(from, &now) < 0)
		return -errno;
	r = fd_copy_data(from, to, size >= 0 && size < now.st_size ? size : now.st_size);
	return r < 0 ? r : copyobj_attrs(from, st, to);
}

int copyobj_other(const struct stat *st, const char *text, int dir_fd, const char *name)
{
	struct timespec times[2] = { st->st_atim, st->st_mtim };
	struct stat now;
	int r;

	if (S_ISLNK(st->st_mode)
		    ? symlinkat(text, dir_fd, name)
		    : mknodat(dir_fd, name, st->st_mode & (S_IFMT | 07777), st->st_rdev))
		return -errno;
	if (fstatat(dir_fd, name, &now, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	r = copyobj_chown(dir_fd, name, &now, st->st_uid, st->st_gid);
	if (!r && !S_ISLNK(st->st_mode) && fchmodat(dir_fd, name, st->st_mode & 07777, 0) < 0)
		r = -errno;
	if (!r && utimensat(dir_fd, name, times, AT_SYMLINK_NOFOLLOW) < 0)
		r = -errno;
	return r;
}
