/* SPDX-License-Identifier: MIT */
/* Hard links: change_link() of change.h. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "layer/change.h"
#include "layer/copyup.h"
#include "layer/interim.h"
#include "layer/remove.h"
#include "layer/whiteout.h"

/* Link the object itself: a spec directory's symlink that is served as a file means that file. */
static int link_object(struct view *v, const char *from, const struct found *f, int dir_fd,
		       const char *name)
{
	cleanup_fd int fd = stack_open_file(&v->stack, from, f, O_PATH);
	char path[32];

	if (fd < 0)
		return fd;
	return linkat(AT_FDCWD, fd_proc_path(fd, path), dir_fd, name, AT_SYMLINK_FOLLOW) < 0
		       ? -errno
		       : 0;
}

/* The same over a whiteout, or over something that scratch has but the view does not show. */
static int link_over(struct view *v, const char *from, const struct found *f, const char *path,
		     int dir_fd, const char *name)
{
	cleanup_interim struct interim i = INTERIM_INIT;
	struct found there;
	int r;

	if (!whiteout_is(dir_fd, name)) {
		r = stack_lookup(&v->stack, path, &there);
		if (r != -ENOENT)
			return r < 0 ? r : -EEXIST;
	}
	r = interim_begin(v, 0, path, dir_fd, &i);
	if (!r)
		r = link_object(v, from, f, i.dir_fd, i.name);
	return r < 0 ? r : interim_publish_over(&i, dir_fd, name);
}

static int make_link(struct view *v, const char *from, struct found *f, const char *path,
		     unsigned layer)
{
	const char *name;
	cleanup_fd int dir = copyup_parents(v, path, layer, &name);
	struct object o;
	int r;

	if (dir < 0)
		return dir;
	r = link_object(v, from, f, dir, name);
	if (r == -EEXIST && !layer)
		r = link_over(v, from, f, path, dir, name);
	if (!r && layer)
		r = whiteout_drop(v, path);
	if (!r)
		r = object_stat(dir, name, &o);
	if (r < 0)
		return r;
	if (layer)
		remove_undo_hide(v, path, layer, &o);
	f->obj = o;
	o.st.st_ino = f->st.st_ino;
	f->st = o.st;
	return 0;
}

int change_link(struct view *v, const char *from, struct found *from_f, const char *dir,
		const struct found *parent, const char *name, struct found *ret)
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	struct route edit;
	struct route add;
	int r;

	if (S_ISDIR(from_f->obj.st.st_mode))
		return -EPERM;
	r = path_join(&path, dir, name);
	if (!r)
		r = route_existing(v, from, from_f, ROUTE_EDIT, &edit);
	if (!r)
		r = route_new(v, path.buf, false, parent, &add);
	if (!r && edit.layer != add.layer)
		r = -EXDEV;
	if (!r && !v->work)
		r = -EROFS;
	if (!r && !edit.in_place)
		r = copyup(v, from, from_f, edit.layer, -1);
	if (!r)
		r = make_link(v, from, from_f, path.buf, add.layer);
	if (r < 0)
		return r;
	*ret = *from_f;
	ret->via_link = false;
	return 0;
}
