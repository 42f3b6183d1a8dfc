/* SPDX-License-Identifier: MIT */
/* Descriptors: see fd.h. */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"

enum {
	COPY_CHUNK = 1 << 17,
	INTERIM_FLAGS = O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC,
};

/* One component at a time, for kernels and sandboxes without openat2(2). */
static int open_by_walk(int root_fd, const char *path, int flags, mode_t mode)
{
	cleanup_fd int owned = -1;
	int dir = root_fd;

	for (;;) {
		char name[NAME_MAX + 1];
		size_t len = strcspn(path, "/");
		int fd;

		if (len > NAME_MAX)
			return -ENAMETOOLONG;
		memcpy(name, path, len);
		name[len] = '\0';
		path += len;
		path += *path == '/';
		fd = *path ? openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
			   : openat(dir, name, flags, mode);
		if (fd < 0)
			return -errno;
		if (!*path)
			return fd;
		if (owned >= 0)
			close(owned);
		owned = fd;
		dir = fd;
	}
}

static int open_once(int dir_fd, const char *path, int flags, mode_t mode)
{
	struct open_how how = {
		.flags = (unsigned)flags,
		.mode = flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY)) ? mode : 0,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	long fd;

	do
		fd = syscall(SYS_openat2, dir_fd, path, &how, sizeof(how));
	while (fd < 0 && errno == EAGAIN);
	if (fd >= 0)
		return (int)fd;
	if (errno == ENOSYS || errno == EPERM || errno == E2BIG)
		return open_by_walk(dir_fd, path, flags, mode);
	return -errno;
}

int fd_open_beneath(int root_fd, const char *path, int flags, mode_t mode)
{
	cleanup_fd int owned = -1;
	int dir = root_fd;

	flags |= O_CLOEXEC | O_NOFOLLOW;
	if (!*path) {
		int fd = openat(root_fd, ".", (flags & ~O_NOFOLLOW) | O_DIRECTORY, mode);

		return fd < 0 ? -errno : fd;
	}
	while (strlen(path) >= PATH_MAX) {
		char piece[PATH_MAX];
		size_t cut = PATH_MAX - 1;
		int fd;

		while (cut && path[cut] != '/')
			cut--;
		if (!cut)
			return -ENAMETOOLONG;
		memcpy(piece, path, cut);
		piece[cut] = '\0';
		path += cut + 1;
		fd = open_once(dir, piece, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
		if (fd < 0)
			return fd;
		if (owned >= 0)
			close(owned);
		owned = fd;
		dir = fd;
	}
	return open_once(dir, path, flags, mode);
}

int fd_open_follow(int root_fd, const char *path, int flags)
{
	struct open_how how = {
		.flags = (unsigned)(flags | O_CLOEXEC),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};
	long fd;

	do
		fd = syscall(SYS_openat2, root_fd, *path ? path : ".", &how, sizeof(how));
	while (fd < 0 && errno == EAGAIN);
	return fd < 0 ? -errno : (int)fd;
}

int fd_open_parent(int root_fd, const char *path, const char **ret_name)
{
	const char *slash = strrchr(path, '/');
	cleanup_free char *dir = NULL;
	int fd;

	dir = slash ? strndup(path, (size_t)(slash - path)) : strdup("");
	if (!dir)
		return -ENOMEM;
	fd = fd_open_beneath(root_fd, dir, O_PATH | O_DIRECTORY, 0);
	if (fd >= 0)
		*ret_name = slash ? slash + 1 : path;
	return fd;
}

/*
 * Linux 6.13 reads attributes at a directory descriptor; before that they are reached through
 * /proc, which takes three times as long. Headers are older. Source: linux/xattr.h, xattr_args.
 */
enum { NR_GETXATTRAT = 464, NR_LISTXATTRAT = 465, XATTR_PATH_MAX = 32 + NAME_MAX + 1 };

struct xattr_at_args {
	uint64_t value __attribute__((aligned(8)));
	uint32_t size;
	uint32_t flags;
};

static _Atomic bool no_xattr_at; /* this kernel, or what filters its calls, knows none */

static const char *xattr_path(int dir_fd, const char *name, char buf[XATTR_PATH_MAX])
{
	snprintf(buf, XATTR_PATH_MAX, "/proc/self/fd/%d/%s", dir_fd, name);
	return buf;
}

/* Has the call failed because there is none? EPERM is what some filters say. */
static bool is_unknown(long n)
{
	if (n >= 0 || (errno != ENOSYS && errno != EPERM))
		return false;
	if (errno == ENOSYS)
		atomic_store(&no_xattr_at, true);
	return true;
}

ssize_t fd_get_xattr(int dir_fd, const char *name, const char *attr, void *buf, size_t size)
{
	struct xattr_at_args a = { .value = (uintptr_t)buf, .size = (uint32_t)size };
	char path[XATTR_PATH_MAX];
	long n = -1;

	errno = ENOSYS;
	if (!atomic_load_explicit(&no_xattr_at, memory_order_relaxed))
		n = syscall(NR_GETXATTRAT, dir_fd, name, AT_SYMLINK_NOFOLLOW, attr, &a, sizeof(a));
	if (is_unknown(n))
		n = lgetxattr(xattr_path(dir_fd, name, path), attr, buf, size);
	return n < 0 ? -errno : n;
}

ssize_t fd_list_xattr(int dir_fd, const char *name, char *buf, size_t size)
{
	char path[XATTR_PATH_MAX];
	long n = -1;

	errno = ENOSYS;
	if (!atomic_load_explicit(&no_xattr_at, memory_order_relaxed))
		n = syscall(NR_LISTXATTRAT, dir_fd, name, AT_SYMLINK_NOFOLLOW, buf, size);
	if (is_unknown(n))
		n = llistxattr(xattr_path(dir_fd, name, path), buf, size);
	return n < 0 ? -errno : n;
}

const char *fd_proc_path(int fd, char buf[32])
{
	snprintf(buf, 32, "/proc/self/fd/%d", fd);
	return buf;
}

int fd_reopen(int fd, int flags)
{
	char path[32];
	int r = open(fd_proc_path(fd, path), (flags & ~O_NOFOLLOW) | O_CLOEXEC);

	return r < 0 ? -errno : r;
}

int fd_read_all(int fd, size_t max, struct strbuf *ret)
{
	char buf[8192];

	for (size_t total = 0;;) {
		ssize_t n = read(fd, buf, sizeof(buf));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return strbuf_failed(ret);
		total += (size_t)n;
		if (total > max)
			return -EFBIG;
		strbuf_add(ret, buf, (size_t)n);
	}
}

int fd_read_file(int dir_fd, const char *path, size_t max, struct strbuf *ret)
{
	cleanup_fd int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	return fd < 0 ? -errno : fd_read_all(fd, max, ret);
}

int fd_write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Who clears left-overs may take it for one before it is locked, and remove it: then once more. */
static int create_locked(int dir_fd, const char *name)
{
	for (;;) {
		cleanup_fd int fd = openat(dir_fd, name, INTERIM_FLAGS | O_CREAT | O_EXCL, 0600);
		struct stat st;

		if (fd < 0)
			return -errno;
		while (flock(fd, LOCK_EX) < 0 && errno == EINTR)
			; /* where there are no locks nobody takes it for a left-over */
		if (fstat(fd, &st) < 0)
			return -errno;
		if (st.st_nlink)
			return steal_fd(&fd);
	}
}

int fd_replace_file(int dir_fd, const char *name, const char *tmp, mode_t mode, const void *data,
		    size_t len)
{
	cleanup_fd int fd = -1;
	struct stat st;
	bool exists = fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	int r;

	fd = create_locked(dir_fd, tmp);
	if (fd < 0)
		return fd;
	r = fd_write_all(fd, data, len);
	if (!r && exists && fchown(fd, st.st_uid, st.st_gid) < 0 && geteuid() == 0)
		r = -errno;
	if (!r && fchmod(fd, exists ? st.st_mode & 07777 : mode) < 0)
		r = -errno;
	if (!r && fsync(fd) < 0)
		r = -errno;
	if (!r && renameat(dir_fd, tmp, dir_fd, name) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(dir_fd, tmp, 0); /* best effort: the failure itself is returned */
	return r;
}

bool fd_remove_left(int dir_fd, const char *tmp)
{
	cleanup_fd int fd = openat(dir_fd, tmp, INTERIM_FLAGS);

	return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && unlinkat(dir_fd, tmp, 0) == 0;
}

static int copy_by_hand(int from, int to, off_t pos, off_t end)
{
	cleanup_free char *buf = malloc(COPY_CHUNK);

	if (!buf)
		return -ENOMEM;
	while (pos < end) {
		size_t want = end - pos < COPY_CHUNK ? (size_t)(end - pos) : COPY_CHUNK;
		ssize_t n = pread(from, buf, want, pos);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return 0;
		for (ssize_t done = 0; done < n;) {
			ssize_t w = pwrite(to, buf + done, (size_t)(n - done), pos + done);

			if (w < 0 && errno == EINTR)
				continue;
			if (w < 0)
				return -errno;
			done += w;
		}
		pos += n;
	}
	return 0;
}

/* Copy one range that holds data. */
static int copy_extent(int from, int to, off_t pos, off_t end)
{
	while (pos < end) {
		off_t in = pos;
		off_t out = pos;
		ssize_t n = copy_file_range(from, &in, to, &out, (size_t)(end - pos), 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EIO && errno != ENOSPC && errno != EDQUOT)
			return copy_by_hand(from, to, pos, end);
		if (n < 0)
			return -errno;
		if (!n)
			return copy_by_hand(from, to, pos, end);
		pos += n;
	}
	return 0;
}

int fd_copy_data(int from, int to, off_t size)
{
	struct file_clone_range whole = { .src_fd = from };
	off_t pos = 0;

	if (ftruncate(to, size) < 0)
		return -errno;
	if (!size)
		return 0;
	if (!ioctl(to, FICLONERANGE, &whole))
		return ftruncate(to, size) < 0 ? -errno : 0;
	while (pos < size) {
		off_t data = lseek(from, pos, SEEK_DATA);
		off_t hole;
		int r;

		if (data < 0 && errno == ENXIO)
			return 0;
		if (data < 0)
			return copy_extent(from, to, pos, size);
		hole = lseek(from, data, SEEK_HOLE);
		if (hole < 0 || hole > size)
			hole = size;
		if (data >= size)
			return 0;
		r = copy_extent(from, to, data, hole);
		if (r < 0)
			return r;
		pos = hole;
	}
	return 0;
}

static bool xattr_refused(int err)
{
	return err == ENOTSUP || err == EPERM || err == EACCES || err == EINVAL;
}

static int copy_xattr(int from, int to, const char *name)
{
	cleanup_free char *value = NULL;
	ssize_t n = fgetxattr(from, name, NULL, 0);

	if (n < 0)
		return errno == ENODATA || xattr_refused(errno) ? 0 : -errno;
	value = malloc((size_t)n + 1);
	if (!value)
		return -ENOMEM;
	n = fgetxattr(from, name, value, (size_t)n);
	if (n < 0)
		return errno == ENODATA || errno == ERANGE || xattr_refused(errno) ? 0 : -errno;
	if (fsetxattr(to, name, value, (size_t)n, 0) < 0 && !xattr_refused(errno))
		return -errno;
	return 0;
}

int fd_copy_xattrs(int from, int to, const char *except)
{
	cleanup_free char *list = NULL;
	ssize_t n = flistxattr(from, NULL, 0);

	if (n <= 0)
		return n < 0 && errno != ENOTSUP ? -errno : 0;
	list = malloc((size_t)n);
	if (!list)
		return -ENOMEM;
	n = flistxattr(from, list, (size_t)n);
	if (n < 0)
		return -errno;
	for (const char *p = list; p < list + n; p += strlen(p) + 1) {
		int r;

		if (!strcmp(p, "security.capability") ||
		    (except && !strncmp(p, except, strlen(except))))
			continue;
		r = copy_xattr(from, to, p);
		if (r < 0)
			return r;
	}
	return 0;
}
