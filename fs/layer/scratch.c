/* SPDX-License-Identifier: MIT */
/* The scratch directory: see scratch.h. */
#include "layer/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "layer/mark.h"

#define UPPER "upper"
#define LOCK "lock"
#define LINKED "linked"

static int fault(struct diag *d, int r, const char *what, const char *path)
{
	return diag_add(d, r, NULL, 0, "scratch directory '%s': %s: %s", path, what, strerror(-r));
}

int scratch_settle_path(const char *path, struct diag *d, struct strbuf *ret)
{
	cleanup_free char *head = strdup(path);
	cleanup_strbuf struct strbuf tail = STRBUF_INIT;

	if (!head)
		return -ENOMEM;
	for (char *cut = head + strlen(head); cut;) {
		const char *rest = path + (cut - head);
		cleanup_free char *real = NULL;

		*cut = '\0';
		real = realpath(*head ? head : *path == '/' ? "/" : ".", NULL);
		if (real) {
			int r = path_normalize(rest + strspn(rest, "/"), &tail);

			if (r < 0)
				return fault(d, r, "can't be resolved", path);
			strbuf_adds(ret, real);
			if (tail.len)
				strbuf_addf(ret, "%s%s", real[1] ? "/" : "", tail.buf);
			return strbuf_failed(ret);
		}
		if (errno != ENOENT)
			return fault(d, -errno, "can't be resolved", path);
		if (cut == head)
			break;
		cut = strrchr(head, '/');
		if (!cut)
			cut = head;
	}
	return fault(d, -ENOENT, "can't be resolved", path);
}

/* Make the directories of absolute @path that are missing; the last one is its owner's alone. */
static int make_path(const char *path)
{
	cleanup_free char *p = strdup(path);

	if (!p)
		return -ENOMEM;
	for (char *slash = strchr(p + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(p, 0755) < 0 && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return mkdir(p, 0700) < 0 && errno != EEXIST ? -errno : 0;
}

/* Does @name still lead to the file that @fd has open? */
static bool is_still_there(int dir_fd, const char *name, int fd)
{
	struct stat here, there;

	return fstat(fd, &here) == 0 && fstatat(dir_fd, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	       here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

/* A mount that failed may remove its new scratch directory: a lock on a removed file is none. */
static int take_lock(struct view *v, int scratch_fd, struct diag *d)
{
	do {
		if (v->lock_fd >= 0)
			close(v->lock_fd);
		v->lock_fd = openat(scratch_fd, LOCK, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
				    0600);
		if (v->lock_fd < 0)
			return fault(d, -errno, "can't make its lock file", v->scratch);
		if (!flock(v->lock_fd, LOCK_EX | LOCK_NB))
			continue;
		if (errno != EWOULDBLOCK)
			return fault(d, -errno, "can't be locked", v->scratch);
		return diag_add(d, -EBUSY, NULL, 0,
				"scratch directory '%s' is in use by another view, "
				"expected one of its own",
				v->scratch);
	} while (!is_still_there(scratch_fd, LOCK, v->lock_fd));
	return 0;
}

/* The layer's directory. A new one is implied: the root's attributes are the checkout's. */
static int open_upper(struct view *v, int scratch_fd)
{
	cleanup_fd int fd =
		openat(scratch_fd, UPPER, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char tmp[WORKDIR_NAME_MAX];
	int r;

	if (fd >= 0)
		return steal_fd(&fd);
	if (errno != ENOENT)
		return -errno;
	workdir_name(v->work, "", tmp);
	if (mkdirat(v->work->fd, tmp, 0755) < 0)
		return -errno;
	fd = openat(v->work->fd, tmp, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = mark_set(fd, MARK_IMPLIED);
	if (r < 0)
		return r;
	if (renameat(v->work->fd, tmp, scratch_fd, UPPER) < 0)
		return -errno;
	return steal_fd(&fd);
}

int scratch_open(struct view *v, struct diag *d)
{
	cleanup_fd int fd = -1;
	int r = make_path(v->scratch);

	if (r < 0)
		return fault(d, r, "can't be made", v->scratch);
	fd = open(v->scratch, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return fault(d, -errno, "can't be opened", v->scratch);
	r = mark_supported(fd);
	if (r == -ENOTSUP || r == -EPERM)
		return diag_add(d, -ENOTSUP, NULL, 0,
				"scratch directory '%s': its file system has no "
				"user extended attributes, expected one that has",
				v->scratch);
	if (r < 0)
		return fault(d, r, "extended attributes can't be set", v->scratch);
	r = take_lock(v, fd, d);
	if (r < 0)
		return r;
	r = workdir_open(fd, &v->work, &v->n_recovered);
	if (r < 0)
		return fault(d, r, "left-overs can't be cleared", v->scratch);
	r = open_upper(v, fd);
	return r < 0 ? fault(d, r, "can't make '" UPPER "'", v->scratch) : r;
}

int scratch_note_links(const struct view *v)
{
	cleanup_fd int dir = openat(v->work->fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_fd int fd = -1;

	if (dir < 0)
		return -errno;
	fd = openat(dir, LINKED, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	return fd < 0 ? -errno : 0;
}

int scratch_check_links(const struct view *v, bool writes_to_scratch_alone, struct diag *d)
{
	cleanup_fd int dir = -1;

	if (!v->work || !writes_to_scratch_alone)
		return 0;
	dir = openat(v->work->fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || faccessat(dir, LINKED, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return dir < 0 ? -errno : 0;
	return diag_add(d, -EINVAL, NULL, 0,
			"scratch directory '%s' was in use by a view that writes to the checkout "
			"and may hold hard links of its files, expected another one",
			v->scratch);
}
