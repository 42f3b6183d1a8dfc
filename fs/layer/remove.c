/* SPDX-License-Identifier: MIT */
/*
 * Removing names: see change.h and remove.h. What would come to light is hidden first, so that at
 * no moment, and after no crash, a deleted name shows what lies below it.
 */
#include "layer/remove.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "layer/change.h"
#include "layer/copyup.h"
#include "layer/listing.h"
#include "layer/made.h"
#include "layer/whiteout.h"

/* Add the line. One for a directory hides directories only: a file below takes another one. */
static int add_line(struct view *v, const char *path, const char *rel, bool is_dir, unsigned spec)
{
	struct hide *h = v->stack.hides[spec];
	bool was_there = is_dir && hide_covers(h, rel, true);
	int r = hide_add(h, rel, is_dir);

	if (r < 0 || !is_dir)
		return r;
	r = stack_has_below(&v->stack, path, spec);
	if (r > 0)
		r = hide_add(h, rel, false);
	if (r < 0 && !was_there)
		(void)hide_drop(h, rel, true); /* @r tells what failed */
	return r;
}

int remove_hide(struct view *v, const char *path, bool is_dir, unsigned spec)
{
	const struct layer *l = &v->stack.layers[spec];
	const char *rel;
	const char *name;
	int r;
	int fd;

	if (rule_place(l->rule, path, &rel) != RULE_INSIDE || !*rel || strchr(rel, '\n'))
		return whiteout_put(v, path);
	r = add_line(v, path, rel, is_dir, spec);
	if (r != -ENOENT)
		return r;
	fd = copyup_parents(v, path, spec, &name); /* the spec directory itself is missing */
	if (fd < 0)
		return fd;
	close(fd);
	return add_line(v, path, rel, is_dir, spec);
}

int remove_hide_below(struct view *v, const struct dirset *in, const char *path, bool is_dir,
		      unsigned layer, bool *ret_whiteout)
{
	int spec;
	int r = stack_has_below_in(&v->stack, in, path, layer);

	*ret_whiteout = false;
	if (r <= 0)
		return r;
	spec = v->stack.hides[layer] ? (int)layer : route_map_of(v, path, is_dir);
	if (spec >= 0 && (unsigned)spec <= layer && layer)
		return remove_hide(v, path, is_dir, (unsigned)spec);
	*ret_whiteout = true;
	return whiteout_put(v, path);
}

void remove_undo_hide(struct view *v, const char *path, unsigned layer, const struct object *o)
{
	const struct layer *l = &v->stack.layers[layer];
	const char *rel;

	/* a line that stays hides nothing as long as the object is there */
	if (v->stack.hides[layer] && rule_place(l->rule, path, &rel) == RULE_INSIDE && *rel &&
	    !S_ISDIR(o->st.st_mode))
		(void)hide_drop(v->stack.hides[layer], rel, false);
}

/* Could layer @i have anything at @path? */
static bool may_have(const struct stack *st, const struct dirset *in, unsigned i, const char *path)
{
	struct object o;

	if (!in)
		return stack_layer_may_have(st, i, path) != 0;
	if (!(in->parts & UINT64_C(1) << i))
		return false;
	return in->fd[i] < 0 || object_stat(in->fd[i], path_base(path), &o) != -ENOENT;
}

static int stat_in(const struct stack *st, const struct dirset *in, unsigned i, const char *path,
		   struct object *ret)
{
	cleanup_fd int fd = -1;

	if (in && in->fd[i] >= 0)
		return object_stat(in->fd[i], path_base(path), ret);
	fd = layer_open(&st->layers[i], path, O_PATH, 0);
	return fd < 0 ? fd : object_stat(fd, "", ret);
}

/* Has no layer above the owner anything at @path, and the owner still the same object? */
static bool is_plainly_there(const struct stack *st, const struct dirset *in, const char *path,
			     const struct found *f)
{
	struct object o;

	for (unsigned i = 0; i < f->layer; i++)
		if (may_have(st, in, i, path))
			return false;
	return stat_in(st, in, f->layer, path, &o) == 0 && object_same(&o, &f->obj);
}

int remove_check(struct view *v, const struct dirset *in, const char *path, const struct found *f)
{
	struct found now;
	int r;

	if (!f->parts && !f->via_link && f->layer < v->stack.n &&
	    is_plainly_there(&v->stack, in, path, f))
		return 0;
	r = stack_lookup(&v->stack, path, &now);
	if (r == -ENOENT || r == -ENOTDIR)
		return -ESTALE;
	if (r < 0)
		return r;
	return now.layer == f->layer && object_same(&now.obj, &f->obj) ? 0 : -ESTALE;
}

static int unlink_in(struct view *v, const struct dirset *in, unsigned layer, const char *path,
		     int flags)
{
	cleanup_parent_dir struct parent_dir dir = { .fd = -1 };
	int r = copyup_find_parent(v, in, path, layer, &dir);

	if (r < 0)
		return r;
	if (unlinkat(dir.fd, dir.name, flags) < 0)
		return -errno;
	if (flags & AT_REMOVEDIR)
		view_changed(v);
	return 0;
}

int remove_file(struct view *v, const struct dirset *in, const char *path, const struct found *f,
		const struct route *route)
{
	bool whiteout = false;
	int r;

	if (!route->in_place)
		return route->layer ? remove_hide(v, path, false, route->layer)
				    : whiteout_put(v, path);
	if (!route->layer) {
		r = stack_has_below_in(&v->stack, in, path, 0);
		if (r)
			return r < 0 ? r : whiteout_put(v, path);
		return unlink_in(v, in, 0, path, 0);
	}
	r = remove_hide_below(v, in, path, false, route->layer, &whiteout);
	if (r < 0)
		return r;
	r = unlink_in(v, in, route->layer, path, 0);
	if (!r)
		made_gone(&v->stack, path, &f->obj);
	if (r < 0 && whiteout)
		(void)whiteout_drop(v, path); /* the file is still there: show it; @r tells */
	return r;
}

int change_unlink(struct view *v, const char *path, const struct found *f, const struct dirset *in)
{
	struct route route;
	int r;

	if (S_ISDIR(f->obj.st.st_mode))
		return -EISDIR;
	r = route_existing(v, path, f, ROUTE_REMOVE, &route);
	if (!r && !v->work)
		r = -EROFS;
	if (!r && route.in_place && route.layer)
		r = remove_check(v, in, path, f);
	return r < 0 ? r : remove_file(v, in, path, f, &route);
}

/*
 * Does the view hide a name that is on disk in the open directory @fd, a part of @ds? It must have
 * been there all the time. Returns 1, 0 if it has gone, -ENOTEMPTY if it is shown, or an errno.
 */
static int is_hidden(const struct stack *st, const struct dirset *ds, int fd, const char *name)
{
	struct object before;
	struct object after;
	struct found f;
	int r = object_stat(fd, name, &before);

	if (!r)
		r = stack_child(st, ds, name, &f);
	else if (r == -ENOENT)
		return 0;
	if (r != -ENOENT)
		return r < 0 ? r : -ENOTEMPTY;
	r = object_stat(fd, name, &after);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	return object_same(&before, &after);
}

/*
 * Does @layer's directory, a part of @ds, hold names that the view hides? What others have just
 * made in it is no such name: a mark would hide that, and all that is made there later. Returns 1,
 * 0 if nothing is in it, -ENOTEMPTY, or another errno.
 */
static int holds_hidden(const struct stack *st, const struct dirset *ds, unsigned layer)
{
	cleanup_dir DIR *d = NULL;
	const struct dirent *de;
	int hidden = 0;
	int r = ds->fd[layer] < 0 ? -ENOENT : fd_reopen(ds->fd[layer], O_RDONLY | O_DIRECTORY);

	if (r < 0)
		return r;
	d = fdopendir(r);
	if (!d) {
		close(r);
		return -ENOMEM;
	}
	errno = 0;
	while ((de = readdir(d))) {
		if (!strcmp(de->d_name, ".") || !strcmp(de->d_name, ".."))
			continue;
		r = is_hidden(st, ds, dirfd(d), de->d_name);
		if (r < 0)
			return r;
		hidden |= r;
		errno = 0;
	}
	return errno ? -errno : hidden;
}

/*
 * Hide a directory that holds hidden names, unless others have just made one that is not. @ds: its
 * parts; the whiteouts in that of scratch count also where the new one has taken its place.
 */
static int hide_dir(struct view *v, const char *path, const struct dirset *ds, unsigned layer)
{
	cleanup_whiteout_try struct whiteout_try t = WHITEOUT_TRY_INIT;
	int r = whiteout_try(v, path, &t);
	int shown;

	if (r < 0)
		return r;
	r = holds_hidden(&v->stack, ds, layer);
	if (r > 0)
		return 0;
	shown = whiteout_undo(&t);
	if (shown < 0)
		return shown;
	return r < 0 ? r : -ESTALE; /* nothing is in it any more: once again */
}

int remove_hide_dir(struct view *v, const char *path, const struct found *f, unsigned layer)
{
	cleanup_dirset struct dirset ds;
	int r;

	dirset_init(&ds);
	r = stack_open_dir(&v->stack, path, f->parts, &ds);
	if (!r)
		r = holds_hidden(&v->stack, &ds, layer);
	if (r <= 0)
		return r;
	r = hide_dir(v, path, &ds, layer);
	return r < 0 ? r : 1;
}

/* In its own layer, not scratch. A directory with names that the view hides is hidden itself. */
static int remove_dir_in_place(struct view *v, const char *path, const struct found *f,
			       unsigned layer)
{
	bool whiteout = false;
	int r = remove_check(v, NULL, path, f);

	if (!r)
		r = remove_hide_dir(v, path, f, layer);
	if (r > 0 || (r < 0 && r != -EACCES)) /* what can't be read, the layer itself judges */
		return r < 0 ? r : 0;
	r = remove_hide_below(v, NULL, path, true, layer, &whiteout);
	if (!r)
		r = unlink_in(v, NULL, layer, path, AT_REMOVEDIR);
	if (!r)
		made_gone(&v->stack, path, &f->obj);
	if (r == -ENOTEMPTY || r == -EEXIST) {
		/* something has just been made in it */
		if (whiteout)
			(void)whiteout_drop(v, path); /* the caller hears of it */
		return -ENOTEMPTY;
	}
	if (r < 0 && whiteout)
		(void)whiteout_drop(v, path); /* the directory is still there: show it; @r tells */
	if (r < 0 || whiteout || !(f->parts & 1))
		return r;
	return whiteout_replace_dir(v, path); /* scratch may hide what the profile makes in it */
}

int remove_empty_dir(struct view *v, const char *path, const struct found *f,
		     const struct route *route)
{
	int r;

	if (route->in_place && route->layer)
		return remove_dir_in_place(v, path, f, route->layer);
	if (route->in_place)
		return whiteout_replace_dir(v, path);
	if (!route->layer)
		return whiteout_put(v, path);
	r = remove_hide(v, path, true, route->layer);
	if (!r && f->parts & 1)
		r = whiteout_replace_dir(v, path); /* a hide list hides lower layers only */
	return r;
}

/* Will the layer refuse to remove it unless it is empty? */
static bool is_judged_by_layer(const struct found *f, const struct route *route)
{
	return route->in_place && route->layer && f->parts == UINT64_C(1) << route->layer;
}

int change_rmdir(struct view *v, const char *path, const struct found *f)
{
	struct route route;
	int empty;
	int r;

	if (!S_ISDIR(f->obj.st.st_mode))
		return -ENOTDIR;
	if (!*path)
		return -EBUSY;
	empty = listing_is_empty_at(&v->stack, path, f->parts);
	if (!empty || (empty < 0 && empty != -EACCES))
		return empty < 0 ? empty : -ENOTEMPTY;
	r = route_existing(v, path, f, ROUTE_REMOVE, &route);
	if (!r && empty < 0 && !is_judged_by_layer(f, &route))
		r = empty;
	if (r < 0)
		return r;
	return v->work ? remove_empty_dir(v, path, f, &route) : -EROFS;
}
