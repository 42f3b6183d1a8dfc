/* SPDX-License-Identifier: MIT */
/*
 * Hard links: change_link() of change.h. The new name is made where new names go there, and shares
 * the object with the old one as any hard link does: also between layers, of one file system.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "layer/base.h"
#include "layer/change.h"
#include "layer/copyup.h"
#include "layer/interim.h"
#include "layer/kept.h"
#include "layer/linktext.h"
#include "layer/made.h"
#include "layer/mark.h"
#include "layer/remove.h"
#include "layer/scratch.h"
#include "layer/whiteout.h"

static int link_object(int fd, int dir_fd, const char *name)
{
	char path[32];

	return linkat(AT_FDCWD, fd_proc_path(fd, path), dir_fd, name, AT_SYMLINK_FOLLOW) < 0
		       ? -errno
		       : 0;
}

/* The same over a whiteout, or over something that scratch has but the view does not show. */
static int link_over(struct view *v, int fd, const char *path, int dir_fd, const char *name)
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
		r = link_object(fd, i.dir_fd, i.name);
	return r < 0 ? r : interim_publish_over(&i, dir_fd, name);
}

/* May a symlink's text stand in layer @layer at @path, too? */
static int check_text(const struct stack *st, const char *from, const struct found *f,
		      const char *path, unsigned layer)
{
	cleanup_strbuf struct strbuf shown = STRBUF_INIT;
	cleanup_strbuf struct strbuf here = STRBUF_INIT;
	cleanup_strbuf struct strbuf there = STRBUF_INIT;
	int r = stack_readlink(st, from, f, &shown);

	if (!r)
		r = linktext_for(&st->layers[f->layer], from, shown.buf, &here);
	if (!r)
		r = linktext_for(&st->layers[layer], path, shown.buf, &there);
	if (r < 0)
		return r;
	return strcmp(here.buf, there.buf) ? -EXDEV : 0;
}

/* An object of scratch is about to be another layer's as well, or the other way round. */
static int share_with_scratch(struct view *v, const char *from, struct found *f)
{
	cleanup_fd int fd = -1;
	int r = scratch_note_links(v);

	if (r < 0 || f->layer || !S_ISREG(f->obj.st.st_mode))
		return r;
	/* the number that scratch alone kept for it is not the other name's */
	fd = stack_open_file(&v->stack, from, f, O_PATH);
	if (fd < 0)
		return fd;
	r = mark_remove(fd, MARK_INO);
	if (!r)
		f->st.st_ino = kept_shown(&v->stack, &f->obj);
	return r;
}

static int prepare_other_layer(struct view *v, const char *from, struct found *f, const char *path,
			       unsigned layer)
{
	cleanup_fd int dir = -1;
	struct stat st;
	const char *name;
	int r = S_ISLNK(f->obj.st.st_mode) ? check_text(&v->stack, from, f, path, layer) : 0;

	if (r < 0)
		return r;
	dir = copyup_parents(v, path, layer, &name);
	if (dir < 0)
		return dir;
	if (fstat(dir, &st) < 0)
		return -errno;
	if (st.st_dev != f->obj.st.st_dev)
		return -EXDEV;
	return layer && f->layer ? 0 : share_with_scratch(v, from, f);
}

/* Give the object that @fd (O_PATH) refers to, and @f describes, a name in @layer. */
static int make_link(struct view *v, int fd, struct found *f, const char *path, unsigned layer)
{
	const char *name;
	cleanup_fd int dir = copyup_parents(v, path, layer, &name);
	struct object o;
	int r = S_ISREG(f->obj.st.st_mode) ? base_record_new(&v->stack, layer, path) : 0;

	if (dir < 0)
		return dir;
	if (!r)
		r = link_object(fd, dir, name);
	if (r == -EEXIST && !layer)
		r = link_over(v, fd, path, dir, name);
	if (!r && layer)
		r = whiteout_drop(v, path);
	if (!r)
		r = object_stat(fd, "", &o); /* by the name it may be another one by now */
	if (r < 0)
		return r;
	if (layer)
		remove_undo_hide(v, path, layer, &o);
	f->obj = o;
	o.st.st_ino = f->st.st_ino;
	f->st = o.st;
	return 0;
}

/* Where a new name of @f goes, and that it is free. */
static int route_name(struct view *v, const struct found *f, const char *dir,
		      const struct found *parent, const char *name, struct strbuf *ret_path,
		      struct route *ret)
{
	struct found there;
	int r = path_join(ret_path, dir, name);

	if (!r && stack_lookup(&v->stack, ret_path->buf, &there) == 0)
		r = -EEXIST;
	if (!r)
		r = route_new(v, ret_path->buf, f->obj.st.st_mode, parent, ret);
	return !r && !v->work ? -EROFS : r;
}

int change_link_nameless(struct view *v, int fd, const struct found *f, const char *dir,
			 const struct found *parent, const char *name, struct found *ret)
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	struct found made = *f;
	struct route add = { 0 };
	int r = route_name(v, f, dir, parent, name, &path, &add);

	if (!r)
		r = make_link(v, fd, &made, path.buf, add.layer);
	if (r < 0)
		return r;
	made_add(&v->stack, add.layer, path.buf, &made.obj);
	made.layer = add.layer;
	*ret = made;
	return 0;
}

int change_link(struct view *v, const char *from, struct found *from_f, const char *dir,
		const struct found *parent, const char *name, struct found *ret)
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	cleanup_fd int fd = -1;
	struct route edit = { 0 };
	struct route add = { 0 };
	int r;

	if (S_ISDIR(from_f->obj.st.st_mode))
		return -EPERM;
	r = route_name(v, from_f, dir, parent, name, &path, &add);
	if (!r)
		r = route_existing(v, from, from_f, ROUTE_EDIT, &edit);
	if (!r && !edit.in_place)
		r = copyup(v, from, from_f, edit.layer, -1);
	if (!r && edit.layer != add.layer)
		r = prepare_other_layer(v, from, from_f, path.buf, add.layer);
	if (r < 0)
		return r;
	/* a spec directory's symlink that is served as a file means that file */
	fd = stack_open_file(&v->stack, from, from_f, O_PATH);
	r = fd < 0 ? fd : make_link(v, fd, from_f, path.buf, add.layer);
	if (r < 0)
		return r;
	made_add(&v->stack, add.layer, path.buf, &from_f->obj);
	*ret = *from_f;
	ret->layer = add.layer;
	ret->via_link = false;
	return 0;
}
