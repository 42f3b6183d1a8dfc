/* SPDX-License-Identifier: MIT */
/* Marks in scratch: see mark.h. They are set through /proc/self/fd, which takes any descriptor. */
#include "layer/mark.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"

enum { MARK_LIST_MAX = 1024 };

/* Does a list of names hold @name? */
static bool list_has(const char *list, ssize_t n, const char *name)
{
	for (const char *p = list; p < list + n; p += strlen(p) + 1)
		if (!strcmp(p, name))
			return true;
	return false;
}

static bool has_mark(int dir_fd, const char *name, const char *mark)
{
	return fd_get_xattr(dir_fd, name, mark, NULL, 0) >= 0;
}

bool mark_is_whiteout(int dir_fd, const char *name, const struct object *o)
{
	return o->st.st_mode == MARK_WHITEOUT_MODE && !o->st.st_size &&
	       has_mark(dir_fd, name, MARK_WHITEOUT);
}

void mark_read_dir(int dir_fd, const char *name, bool *ret_opaque, bool *ret_implied)
{
	char list[MARK_LIST_MAX];
	ssize_t n = fd_list_xattr(dir_fd, name, list, sizeof(list));

	*ret_opaque = false;
	*ret_implied = false;
	if (n > 0) {
		*ret_opaque = list_has(list, n, MARK_OPAQUE);
		*ret_implied = list_has(list, n, MARK_IMPLIED);
	} else if (n == -ERANGE) {
		*ret_opaque = has_mark(dir_fd, name, MARK_OPAQUE);
		*ret_implied = has_mark(dir_fd, name, MARK_IMPLIED);
	}
}

uint64_t mark_read_ino(int dir_fd, const char *name)
{
	char text[24];
	ssize_t n = fd_get_xattr(dir_fd, name, MARK_INO, text, sizeof(text) - 1);

	if (n <= 0)
		return 0;
	text[n] = '\0';
	return strtoull(text, NULL, 10);
}

static int change(const char *path, const char *name, const char *value)
{
	int r = value ? setxattr(path, name, value, strlen(value), 0) : removexattr(path, name);

	if (r < 0 && !value && errno == ENODATA)
		return 0;
	return r < 0 ? -errno : 0;
}

/*
 * Set a mark, or remove it with @value NULL. Only who may write to an object may change its marks:
 * an ordinary user's daemon makes its own read-only objects writable for that moment.
 */
static int set(int fd, const char *name, const char *value)
{
	char buf[32];
	const char *path = fd_proc_path(fd, buf);
	struct stat st;
	int r = change(path, name, value);

	if (r != -EACCES || fstat(fd, &st) < 0 || st.st_mode & 0200)
		return r;
	if (chmod(path, (st.st_mode & 07777) | 0200) < 0)
		return -errno;
	r = change(path, name, value);
	if (chmod(path, st.st_mode & 07777) < 0 && !r)
		r = -errno;
	return r;
}

int mark_set(int fd, const char *name)
{
	return set(fd, name, "y");
}

int mark_set_ino(int fd, uint64_t ino)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)ino);
	return set(fd, MARK_INO, text);
}

int mark_remove(int fd, const char *name)
{
	return set(fd, name, NULL);
}

int mark_supported(int dir_fd)
{
	cleanup_fd int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return -errno;
	r = mark_set(fd, MARK_PREFIX "probe");
	return r < 0 ? r : mark_remove(fd, MARK_PREFIX "probe");
}
