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
	if (r < 0)
		return r;
	if (to)
		openup_begin(parent_fd, OPENUP_WRITE, &i.parent);
	*ret = i;
	return 0;
}

/*
 * Rename. Directories of scratch may deny their owner to write, and yet have to be moved, or take a
 * copy: see openup.h.
 */
static int try_rename_at(const struct interim *i, int from_dir, const char *from, int to_dir,
			 const char *to, unsigned flags)
{
	cleanup_fd int a = -1;
	cleanup_fd int b = -1;
	struct openup open[3];
	int r = renameat2(from_dir, from, to_dir, to, flags) < 0 ? -errno : 0;

	if (r != -EACCES || i->dir_fd != i->view->work->fd)
		return r;
	a = openat(from_dir, from, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (flags & RENAME_EXCHANGE)
		b = openat(to_dir, to, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	openup_begin(from_dir == i->dir_fd ? to_dir : from_dir, OPENUP_WRITE, &open[0]);
	openup_begin(a, OPENUP_WRITE, &open[1]);
	openup_begin(b, OPENUP_WRITE, &open[2]);
	r = renameat2(from_dir, from, to_dir, to, flags) < 0 ? -errno : 0;
	for (size_t k = ARRAY_SIZE(open); k > 0; k--)
		openup_end(&open[k - 1]);
	return r;
}

/* The same, and whoever keeps directories open learns of it. */
static int rename_at(const struct interim *i, int from_dir, const char *from, int to_dir,
		     const char *to, unsigned flags)
{
	int r = try_rename_at(i, from_dir, from, to_dir, to, flags);

	view_changed(i->view);
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

void interim_put_back(struct interim *i, int parent_fd, const char *name)
{
	if (interim_publish_new(i, parent_fd, name) < 0)
		i->live = false; /* not to be removed */
}

void interim_end(struct interim *i)
{
	int r = 0;

	if (i->live)
		r = workdir_remove_tree(i->dir_fd, i->name);
	/* what can't be removed now stays noted, or in the workdir, and goes at the next start */
	if (i->noted && !r)
		workdir_unnote(i->view->work, i->note);
	openup_end(&i->parent);
	*i = (struct interim)INTERIM_INIT;
}
