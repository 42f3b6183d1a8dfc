/* SPDX-License-Identifier: MIT */
/*
 * Interim names: see workdir.h. What a daemon that died has left is cleared when the next one opens
 * the workdir: its content, and the interim objects elsewhere that notes in it name.
 */
#include "layer/workdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/strbuf.h"

#define WORK_DIR "work"
#define NOTE_PREFIX "note."

static bool is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

/* A directory, opened for its removal: the tree is walked with a list, not by recursion. */
struct level {
	DIR *dir;
	char name[NAME_MAX + 1]; /* of this directory in the level above */
};

static int level_open(int dir_fd, const char *name, dev_t dev, struct level *ret)
{
	cleanup_fd int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 && errno == EACCES) {
		/* one of ours without permissions for its owner: it is to be removed anyway */
		if (fchmodat(dir_fd, name, 0700, 0) < 0)
			return -errno;
		fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	}
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (st.st_dev != dev)
		return -EXDEV;
	if ((st.st_mode & 0700) != 0700 && fchmod(fd, 0700) < 0 && errno != EPERM)
		return -errno;
	ret->dir = fdopendir(fd);
	if (!ret->dir)
		return -errno;
	(void)steal_fd(&fd); /* the stream's now */
	snprintf(ret->name, sizeof(ret->name), "%s", name);
	return 0;
}

/* Remove what is in the innermost level; stops with 1 at a directory, named in @sub. */
static int level_empty(struct level *l, char sub[NAME_MAX + 1])
{
	int fd = dirfd(l->dir);

	rewinddir(l->dir);
	for (;;) {
		struct dirent *e;

		errno = 0;
		e = readdir(l->dir);
		if (!e)
			return -errno;
		if (is_dots(e->d_name))
			continue;
		if (!unlinkat(fd, e->d_name, 0) || errno == ENOENT)
			continue;
		if (errno != EISDIR && errno != EPERM)
			return -errno;
		if (!unlinkat(fd, e->d_name, AT_REMOVEDIR) || errno == ENOENT)
			continue;
		if (errno != ENOTEMPTY && errno != EEXIST)
			return -errno;
		snprintf(sub, NAME_MAX + 1, "%s", e->d_name);
		return 1;
	}
}

static int remove_levels(int dir_fd, const char *name, dev_t dev, struct level **levels, size_t *n)
{
	char sub[NAME_MAX + 1];
	size_t cap = 0;
	int r;

	snprintf(sub, sizeof(sub), "%s", name);
	for (bool deeper = true;;) {
		int up;

		if (deeper) {
			if (*n == cap) {
				struct level *more =
					realloc(*levels, (cap + 16) * sizeof(**levels));

				if (!more)
					return -ENOMEM;
				*levels = more;
				cap += 16;
			}
			up = *n ? dirfd((*levels)[*n - 1].dir) : dir_fd;
			(*levels)[*n].dir = NULL;
			r = level_open(up, sub, dev, &(*levels)[*n]);
			if (r < 0)
				return r;
			(*n)++;
		}
		r = level_empty(&(*levels)[*n - 1], sub);
		if (r < 0)
			return r;
		deeper = r > 0;
		if (deeper)
			continue;
		(*n)--;
		up = *n ? dirfd((*levels)[*n - 1].dir) : dir_fd;
		closedir((*levels)[*n].dir);
		if (unlinkat(up, (*levels)[*n].name, AT_REMOVEDIR) < 0 && errno != ENOENT)
			return -errno;
		if (!*n)
			return 0;
	}
}

int workdir_remove_tree(int dir_fd, const char *name)
{
	struct level *levels = NULL;
	struct stat st;
	size_t n = 0;
	int r;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISDIR(st.st_mode))
		return unlinkat(dir_fd, name, 0) < 0 && errno != ENOENT ? -errno : 0;
	if (!unlinkat(dir_fd, name, AT_REMOVEDIR))
		return 0;
	r = remove_levels(dir_fd, name, st.st_dev, &levels, &n);
	while (n)
		closedir(levels[--n].dir);
	free(levels);
	return r;
}

/* Remove the interim object that note @name is about; false if the note says nothing usable. */
static bool clear_noted(int fd, const char *name)
{
	char text[PATH_MAX];
	cleanup_fd int dir = -1;
	ssize_t len = readlinkat(fd, name, text, sizeof(text) - 1);
	struct stat st;
	char *slash;

	if (len <= 0)
		return false;
	text[len] = '\0';
	slash = strrchr(text, '/');
	if (!slash || slash == text || text[0] != '/' ||
	    strncmp(slash + 1, WORKDIR_PREFIX, strlen(WORKDIR_PREFIX)))
		return false;
	*slash = '\0';
	dir = open(text, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || fstatat(dir, slash + 1, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	return workdir_remove_tree(dir, slash + 1) == 0;
}

bool workdir_is_swap(const char *name)
{
	return *name >= '1' && *name <= '3' &&
	       !strncmp(name + 1, WORKDIR_SWAP_PREFIX, strlen(WORKDIR_SWAP_PREFIX));
}

static int clear_leftovers(int fd, unsigned *ret_n)
{
	cleanup_dir DIR *d = NULL;
	cleanup_fd int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	unsigned n = 0;

	if (again < 0)
		return -errno;
	d = fdopendir(again);
	if (!d)
		return -errno;
	(void)steal_fd(&again); /* the stream's now */
	for (;;) {
		struct dirent *e;
		int r;

		errno = 0;
		e = readdir(d);
		if (!e && errno)
			return -errno;
		if (!e)
			break;
		if (is_dots(e->d_name) || workdir_is_swap(e->d_name))
			continue;
		if (!strncmp(e->d_name, NOTE_PREFIX, strlen(NOTE_PREFIX)))
			n += clear_noted(fd, e->d_name);
		else
			n++;
		r = workdir_remove_tree(fd, e->d_name);
		if (r < 0)
			return r;
	}
	*ret_n = n;
	return 0;
}

int workdir_open(int scratch_fd, struct workdir **ret, unsigned *ret_recovered)
{
	cleanup_workdir struct workdir *w = calloc(1, sizeof(*w));
	unsigned n = 0;
	int r;

	if (!w)
		return -ENOMEM;
	w->fd = -1;
	if (mkdirat(scratch_fd, WORK_DIR, 0700) < 0 && errno != EEXIST)
		return -errno;
	w->fd = openat(scratch_fd, WORK_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (w->fd < 0)
		return -errno;
	r = clear_leftovers(w->fd, &n);
	if (r < 0)
		return r;
	*ret_recovered = n;
	*ret = steal_ptr(&w);
	return 0;
}

void workdir_free(struct workdir *w)
{
	if (!w)
		return;
	if (w->fd >= 0)
		close(w->fd);
	free(w);
}

void workdir_name(struct workdir *w, const char *prefix, char ret[WORKDIR_NAME_MAX])
{
	static unsigned long without_workdir;
	unsigned long n = __atomic_fetch_add(w ? &w->next : &without_workdir, 1, __ATOMIC_RELAXED);

	snprintf(ret, WORKDIR_NAME_MAX, "%s%lx.%lx", prefix, (unsigned long)getpid(), n);
}

#define LIST_PREFIX WORKDIR_PREFIX "list."

void workdir_list_tmp(const char *list, char ret[WORKDIR_NAME_MAX])
{
	snprintf(ret, WORKDIR_NAME_MAX, LIST_PREFIX "%d%s", (int)getpid(), list);
}

unsigned workdir_clear_lists(int dir_fd)
{
	cleanup_fd int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_dir DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	unsigned n = 0;

	if (!d)
		return 0;
	(void)steal_fd(&fd); /* the stream's now */
	while ((e = readdir(d)))
		if (!strncmp(e->d_name, LIST_PREFIX, strlen(LIST_PREFIX)))
			n += fd_remove_left(dir_fd, e->d_name);
	return n;
}

int workdir_note(struct workdir *w, const char *path, char ret[WORKDIR_NAME_MAX])
{
	char name[WORKDIR_NAME_MAX];

	workdir_name(w, NOTE_PREFIX, name);
	if (symlinkat(path, w->fd, name) < 0)
		return -errno;
	memcpy(ret, name, sizeof(name));
	return 0;
}

void workdir_unnote(struct workdir *w, const char *note)
{
	(void)unlinkat(w->fd, note, 0); /* a note about nothing is cleared at the next start */
}
