/* SPDX-License-Identifier: MIT */
/* Operations by system calls in any directory: see backend.h. No symlink is ever followed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend.h"
#include "base/path.h"

enum { DIR_FLAGS = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC };

/* Open directory @path; -ENOTDIR also where a component is a symlink. */
static int open_dir(int root_fd, const char *path)
{
	int fd = openat(root_fd, ".", DIR_FLAGS);

	while (fd >= 0 && *path) {
		size_t len = strcspn(path, "/");
		char name[NAME_MAX + 1];
		int next;

		(void)snprintf(name, sizeof(name), "%.*s", (int)len, path);
		next = openat(fd, name, DIR_FLAGS);
		if (next < 0)
			next = -errno;
		close(fd);
		fd = next;
		path += len;
		path += *path == '/';
	}
	return fd == -1 ? -errno : fd;
}

static int open_parent(int root_fd, const char *path, const char **ret_name)
{
	char dir[PATH_SIZE];

	(void)snprintf(dir, sizeof(dir), "%.*s", (int)path_parent_len(path), path);
	*ret_name = path_base(path);
	return open_dir(root_fd, dir);
}

static int failed(int r)
{
	return r < 0 ? -errno : 0;
}

static int write_at(int fd, const char *data, long offset)
{
	size_t len = strlen(data);
	ssize_t n = pwrite(fd, data, len, offset);

	return n < 0 ? -errno : (size_t)n == len ? 0 : -EIO;
}

static int do_create(int dir, const char *name, const struct op *o)
{
	cleanup_fd int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, o->mode);

	return fd < 0 ? -errno : write_at(fd, o->data, 0);
}

static int do_write(int dir, const char *name, const struct op *o)
{
	cleanup_fd int fd = openat(dir, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return o->kind == OP_WRITE ? write_at(fd, o->data, o->offset)
				   : failed(ftruncate(fd, o->offset));
}

static int do_chmod(int dir, const char *name, const struct op *o)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return S_ISLNK(st.st_mode) ? -EOPNOTSUPP : failed(fchmodat(dir, name, o->mode, 0));
}

static int do_utimens(int dir, const char *name, const struct op *o)
{
	struct timespec t[2] = {
		{ .tv_nsec = UTIME_OMIT },
		{ .tv_sec = o->offset, .tv_nsec = op_mtime_nsec(o) },
	};

	return failed(utimensat(dir, name, t, AT_SYMLINK_NOFOLLOW));
}

static int do_one(int dir, const char *name, const struct op *o)
{
	switch (o->kind) {
	case OP_CREATE:
		return do_create(dir, name, o);
	case OP_WRITE:
	case OP_TRUNCATE:
		return do_write(dir, name, o);
	case OP_MKDIR:
		return failed(mkdirat(dir, name, o->mode));
	case OP_SYMLINK:
		return failed(symlinkat(o->data, dir, name));
	case OP_UNLINK:
		return failed(unlinkat(dir, name, 0));
	case OP_RMDIR:
		return failed(unlinkat(dir, name, AT_REMOVEDIR));
	case OP_CHMOD:
		return do_chmod(dir, name, o);
	case OP_UTIMENS:
		return do_utimens(dir, name, o);
	default:
		return -ENOSYS;
	}
}

int posix_apply(int root_fd, const struct op *o)
{
	const char *name;
	const char *to;
	cleanup_fd int dir = open_parent(root_fd, o->path, &name);
	cleanup_fd int to_dir = -1;

	if (dir < 0)
		return dir;
	if (o->kind != OP_LINK && o->kind != OP_RENAME)
		return do_one(dir, name, o);
	to_dir = open_parent(root_fd, o->to, &to);
	if (to_dir < 0)
		return to_dir;
	if (o->kind == OP_LINK)
		return failed(linkat(dir, name, to_dir, to, 0));
	return failed(renameat2(dir, name, to_dir, to, o->flags));
}

int posix_list(int root_fd, const char *path, struct shown_list *ret)
{
	cleanup_fd int at = open_dir(root_fd, path);
	cleanup_dir DIR *d = NULL;
	int fd = at < 0 ? at : openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return at < 0 ? at : -errno;
	d = fdopendir(fd);
	if (!d) {
		close(fd);
		return -ENOMEM;
	}
	ret->n = 0;
	for (;;) {
		struct shown_name *s = &ret->v[ret->n];
		const struct dirent *e;

		errno = 0;
		e = readdir(d);
		if (!e)
			return -errno;
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (ret->n == NAMES_MAX)
			return -E2BIG;
		(void)snprintf(s->name, sizeof(s->name), "%s", e->d_name);
		s->ino = e->d_ino;
		s->type = e->d_type;
		ret->n++;
	}
}

static int read_bytes(int dir, const char *name, struct shown *ret)
{
	cleanup_fd int fd = -1;
	ssize_t n;

	if (ret->kind == KIND_LINK) {
		n = readlinkat(dir, name, ret->bytes, sizeof(ret->bytes));
	} else {
		fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			return -errno;
		n = read(fd, ret->bytes, sizeof(ret->bytes));
	}
	if (n < 0)
		return -errno;
	ret->len = (size_t)n;
	return 0;
}

int posix_look(int root_fd, const char *path, struct shown *ret)
{
	const char *name;
	cleanup_fd int dir = open_parent(root_fd, path, &name);
	struct stat st;

	if (dir < 0)
		return dir;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	*ret = (struct shown){
		.kind = S_ISDIR(st.st_mode)   ? KIND_DIR
			: S_ISLNK(st.st_mode) ? KIND_LINK
					      : KIND_FILE,
		.mode = st.st_mode & 07777,
		.ino = st.st_ino,
		.nlink = st.st_nlink,
		.mtime = st.st_mtim,
	};
	return ret->kind == KIND_DIR ? 0 : read_bytes(dir, name, ret);
}

static int purge_in(int dir, const char *name)
{
	struct shown_list *l;
	cleanup_fd int fd = -1;
	int r;

	if (!unlinkat(dir, name, 0))
		return 0;
	if (errno != EISDIR)
		return -errno;
	fd = openat(dir, name, DIR_FLAGS);
	if (fd < 0)
		return -errno;
	l = malloc(sizeof(*l));
	r = l ? posix_list(fd, "", l) : -ENOMEM;
	for (size_t i = 0; !r && i < l->n; i++)
		r = purge_in(fd, l->v[i].name);
	free(l);
	return r < 0 ? r : failed(unlinkat(dir, name, AT_REMOVEDIR));
}

int posix_purge(int root_fd, const char *path)
{
	const char *name;
	cleanup_fd int dir = open_parent(root_fd, path, &name);

	return dir < 0 ? dir : purge_in(dir, name);
}
