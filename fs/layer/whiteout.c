/* SPDX-License-Identifier: MIT */
/* Whiteouts in scratch: see whiteout.h and mark.h. */
#include "layer/whiteout.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "layer/copyup.h"
#include "layer/interim.h"
#include "layer/mark.h"

bool whiteout_is(int dir_fd, const char *name)
{
	struct object o;

	return object_stat(dir_fd, name, &o) == 0 && mark_is_whiteout(dir_fd, name, &o);
}

static int make(const struct interim *i)
{
	cleanup_fd int fd = openat(i->dir_fd, i->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0 || fchmod(fd, MARK_WHITEOUT_MODE & 07777) < 0)
		return -errno;
	return mark_set(fd, MARK_WHITEOUT);
}

static int put(struct view *v, const char *path, struct whiteout_try *t)
{
	int r;

	t->parent = copyup_parents(v, path, 0, &t->name);
	if (t->parent < 0)
		return t->parent;
	t->was_there = whiteout_is(t->parent, t->name);
	if (t->was_there)
		return 0;
	r = interim_begin(v, 0, path, t->parent, &t->i);
	if (!r)
		r = make(&t->i);
	return r < 0 ? r : interim_publish_over(&t->i, t->parent, t->name);
}

int whiteout_try(struct view *v, const char *path, struct whiteout_try *ret)
{
	int r = put(v, path, ret);

	if (!r)
		atomic_fetch_add(&v->marks, 1);
	return r;
}

/* For file systems without RENAME_EXCHANGE: there is nothing at the name for a moment. */
static int put_back(struct whiteout_try *t)
{
	if (unlinkat(t->parent, t->name, 0) < 0)
		return -errno;
	return interim_publish_new(&t->i, t->parent, t->name);
}

int whiteout_undo(struct whiteout_try *t)
{
	int r;

	if (t->was_there)
		return 0;
	if (!t->i.live) /* there was nothing in its place */
		return unlinkat(t->parent, t->name, 0) < 0 ? -errno : 0;
	r = interim_swap(&t->i, t->parent, t->name);
	return r == -EINVAL || r == -ENOSYS ? put_back(t) : r;
}

void whiteout_try_end(struct whiteout_try *t)
{
	interim_end(&t->i);
	if (t->parent >= 0)
		close(t->parent);
	t->parent = -1;
}

int whiteout_put(struct view *v, const char *path)
{
	cleanup_whiteout_try struct whiteout_try t = WHITEOUT_TRY_INIT;

	return whiteout_try(v, path, &t);
}

/* Scratch's own directory of @path's parent; -ENOENT if it has none. */
static int open_parent(const struct view *v, const char *path, const char **ret_name)
{
	const struct layer *l = &v->stack.layers[0];

	return l->base_fd < 0 ? -ENOENT : fd_open_parent(l->base_fd, path, ret_name);
}

int whiteout_drop(struct view *v, const char *path)
{
	const char *name;
	cleanup_fd int parent = open_parent(v, path, &name);

	if (parent == -ENOENT || parent == -ENOTDIR)
		return 0;
	if (parent < 0)
		return parent;
	if (!whiteout_is(parent, name))
		return 0;
	return unlinkat(parent, name, 0) < 0 && errno != ENOENT ? -errno : 0;
}

bool whiteout_at(const struct view *v, const char *path)
{
	const char *name;
	cleanup_fd int parent = open_parent(v, path, &name);

	return parent >= 0 && whiteout_is(parent, name);
}

/* Has a layer above @below, not scratch, a directory at @path? */
static bool has_dir_above(const struct stack *st, const char *path, unsigned below)
{
	for (unsigned i = 1; i < below; i++) {
		cleanup_fd int fd = layer_open_dir(&st->layers[i], path);

		if (fd >= 0 && stack_layer_shows(st, i, path, S_IFDIR))
			return true;
	}
	return false;
}

int whiteout_dir_hides(const struct view *v, const char *path, const struct found *f)
{
	const struct stack *st = &v->stack;
	cleanup_fd int fd = layer_open_dir(&st->layers[0], path);

	if (fd < 0)
		return 0;
	return f ? has_dir_above(st, path, f->layer) : stack_has_below(st, path, 0);
}

int whiteout_take_dir(struct view *v, const char *path)
{
	const char *name;
	cleanup_fd int parent = open_parent(v, path, &name);
	cleanup_interim struct interim i = INTERIM_INIT;
	int r;

	if (parent < 0)
		return parent == -ENOENT || parent == -ENOTDIR ? 0 : parent;
	if (!unlinkat(parent, name, AT_REMOVEDIR)) {
		view_changed(v);
		return 0;
	}
	if (errno == ENOENT)
		return 0;
	if (errno != ENOTEMPTY && errno != EEXIST)
		return -errno;
	r = interim_begin(v, 0, path, parent, &i);
	if (r < 0)
		return r;
	return interim_take(&i, parent, name);
}

int whiteout_replace_dir(struct view *v, const char *path)
{
	int r = stack_has_below(&v->stack, path, 0);

	if (r < 0)
		return r;
	return r ? whiteout_put(v, path) : whiteout_take_dir(v, path);
}

int whiteout_clear(struct view *v, const char *path)
{
	int r = whiteout_drop(v, path);

	return r < 0 ? r : whiteout_take_dir(v, path);
}
