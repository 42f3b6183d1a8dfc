/* SPDX-License-Identifier: MIT */
/* Interim objects: see interim.h. */
#include "layer/interim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"

/* Note an interim object beside @path's place in the layer, for the next start. */
static int add_note(struct interim *i, unsigned to, const char *path)
{
	cleanup_strbuf struct strbuf full = STRBUF_INIT;
	int r = layer_real_path(&i->view->stack.layers[to], path, &full);

	if (r < 0)
		return r;
	strbuf_truncate(&full, path_parent_len(full.buf));
	strbuf_addf(&full, "/%s", i->name);
	r = strbuf_failed(&full);
	if (!r)
		r = workdir_note(i->view->work, full.buf, i->note);
	/* a path too long for a link's text: the object is made without a note */
	if (r == -ENAMETOOLONG)
		return 0;
	i->noted = !r;
	return r;
}

int interim_begin(struct view *v, unsigned to, const char *path, int parent_fd, struct interim *ret)
{
	struct interim i = { .view = v, .live = true };
	int r = 0;

	if (!v->work)
		return -EROFS;
	i.dir_fd = to ? parent_fd : v->work->fd;
	workdir_name(v->work, to ? WORKDIR_PREFIX : "", i.name);
	if (to)
		r = add_note(&i, to, path);
	if (!r)
		*ret = i;
	return r;
}

/* A directory of scratch that is writable for a moment. */
struct opened {
	int fd;	     /* borrowed or owned by the caller */
	mode_t mode; /* to be given back; 0: nothing was changed */
};

static void open_up(int fd, struct opened *ret)
{
	char path[32];
	struct stat st;

	*ret = (struct opened){ .fd = fd };
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISDIR(st.st_mode) || (st.st_mode & 0300) == 0300)
		return;
	if (!chmod(fd_proc_path(fd, path), (st.st_mode & 07777) | 0300))
		ret->mode = st.st_mode;
}

static void close_again(const struct opened *o)
{
	char path[32];

	if (o->mode)
		(void)chmod(fd_proc_path(o->fd, path), o->mode & 07777); /* what was done counts */
}

/*
 * Rename. Directories of scratch may deny their owner to write, and yet have to be moved, or take a
 * copy, by an ordinary user's daemon: the kernel has judged the caller.
 */
static int rename_at(const struct interim *i, int from_dir, const char *from, int to_dir,
		     const char *to, unsigned flags)
{
	cleanup_fd int fd = -1;
	struct opened parent;
	struct opened self;
	int r = renameat2(from_dir, from, to_dir, to, flags) < 0 ? -errno : 0;

	if (r != -EACCES || i->dir_fd != i->view->work->fd)
		return r;
	fd = openat(from_dir, from, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	open_up(from_dir == i->dir_fd ? to_dir : from_dir, &parent);
	open_up(fd, &self);
	r = renameat2(from_dir, from, to_dir, to, flags) < 0 ? -errno : 0;
	close_again(&self);
	close_again(&parent);
	return r;
}

static int rename_flags(const struct interim *i, int parent_fd, const char *name, unsigned flags)
{
	return rename_at(i, i->dir_fd, i->name, parent_fd, name, flags);
}

int interim_take(struct interim *i, int parent_fd, const char *name)
{
	return rename_at(i, parent_fd, name, i->dir_fd, i->name, 0);
}

int interim_swap(const struct interim *i, int parent_fd, const char *name)
{
	return rename_flags(i, parent_fd, name, RENAME_EXCHANGE);
}

/* For file systems without RENAME_NOREPLACE. */
static int publish_by_link(struct interim *i, int parent_fd, const char *name)
{
	struct stat st;

	if (fstatat(i->dir_fd, i->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return linkat(i->dir_fd, i->name, parent_fd, name, 0) < 0 ? -errno : 0;
	/* a directory can't replace anything but an empty directory */
	if (!fstatat(parent_fd, name, &st, AT_SYMLINK_NOFOLLOW))
		return -EEXIST;
	return rename_flags(i, parent_fd, name, 0);
}

int interim_publish_new(struct interim *i, int parent_fd, const char *name)
{
	int r = rename_flags(i, parent_fd, name, RENAME_NOREPLACE);

	if (r == -EINVAL || r == -ENOSYS)
		return publish_by_link(i, parent_fd, name);
	i->live = r < 0;
	return r;
}

/* For file systems without RENAME_EXCHANGE: the old one is moved away first. */
static int publish_after_moving(struct interim *i, int parent_fd, const char *name)
{
	char old[WORKDIR_NAME_MAX + 4];
	int r;

	snprintf(old, sizeof(old), "%s.old", i->name);
	if (renameat(parent_fd, name, i->dir_fd, old) < 0)
		return -errno;
	r = rename_flags(i, parent_fd, name, 0);
	if (r < 0) {
		(void)renameat(i->dir_fd, old, parent_fd, name); /* back; @r tells what failed */
		return r;
	}
	return renameat(i->dir_fd, old, i->dir_fd, i->name) < 0 ? -errno : 0;
}

int interim_publish_over(struct interim *i, int parent_fd, const char *name)
{
	int r = rename_flags(i, parent_fd, name, 0);

	if (!r) {
		i->live = false;
		return 0;
	}
	if (r != -EISDIR && r != -ENOTDIR && r != -ENOTEMPTY && r != -EEXIST)
		return r;
	r = rename_flags(i, parent_fd, name, RENAME_EXCHANGE);
	if (r == -EINVAL || r == -ENOSYS)
		r = publish_after_moving(i, parent_fd, name);
	return r;
}

void interim_end(struct interim *i)
{
	int r = 0;

	if (i->live)
		r = workdir_remove_tree(i->dir_fd, i->name);
	/* what can't be removed now stays noted, or in the workdir, and goes at the next start */
	if (i->noted && !r)
		workdir_unnote(i->view->work, i->note);
	i->live = false;
	i->noted = false;
}
