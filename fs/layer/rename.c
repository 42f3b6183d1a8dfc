/* SPDX-License-Identifier: MIT */
/* Renaming: change_rename() of change.h. It is judged and routed here; move.h does it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "layer/change.h"
#include "layer/copyup.h"
#include "layer/listing.h"
#include "layer/mark.h"
#include "layer/move.h"
#include "layer/remove.h"

static bool is_dir(const struct found *f)
{
	return S_ISDIR(f->obj.st.st_mode);
}

/* One and the same object of a layer at two places of the view: an alias, or hard links. */
static bool is_same(const struct found *a, const struct found *b)
{
	return !a->virtual && !b->virtual && object_same(&a->obj, &b->obj);
}

static int is_empty(struct view *v, const char *path, const struct found *f)
{
	cleanup_dirset struct dirset ds;
	int r;

	dirset_init(&ds);
	r = stack_open_dir(&v->stack, path, f->parts, &ds);
	return r < 0 ? r : listing_is_empty(&v->stack, &ds);
}

/* May @to_f be replaced by @from_f? */
static int check_replace(struct view *v, const struct found *from_f, const char *to,
			 const struct found *to_f)
{
	int r;

	if (!is_dir(from_f))
		return is_dir(to_f) ? -EISDIR : 0;
	if (!is_dir(to_f))
		return -ENOTDIR;
	r = is_empty(v, to, to_f);
	return r < 0 ? r : r ? 0 : -ENOTEMPTY;
}

/* Is @path strictly below the root of the graft that is layer @l? */
static bool is_below_graft_root(const struct layer *l, const char *path)
{
	const char *rel;

	return l->kind == LAYER_GRAFT && rule_place(l->rule, path, &rel) == RULE_INSIDE && *rel &&
	       !(l->rule->glob && !strchr(rel, '/'));
}

static int route_move(struct move *m, const struct found *to_parent)
{
	const struct layer *owner = &m->v->stack.layers[m->from_f->layer];
	struct route r = { 0 };
	int err = route_existing(m->v, m->from, m->from_f, ROUTE_REMOVE, &m->remove);

	if (!err)
		err = m->to_f ? route_existing(m->v, m->to, m->to_f, ROUTE_EDIT, &r)
			      : route_new(m->v, m->to, m->is_dir, to_parent, &r);
	if (err < 0)
		return err;
	m->dest = r.layer;
	/* a new name in the same graft takes nothing away from the checkout */
	if (m->dest == m->from_f->layer && is_below_graft_root(owner, m->from) &&
	    is_below_graft_root(owner, m->to)) {
		m->remove.layer = m->dest;
		m->remove.in_place = true;
	}
	return 0;
}

static int move(struct move *m, const struct found *to_parent)
{
	struct found now;
	int r = route_move(m, to_parent);

	if (!r && !m->v->work)
		r = -EROFS;
	if (!r && m->remove.in_place && m->remove.layer)
		r = remove_check(m->v, m->from, m->from_f);
	if (!r && m->to_f && m->dest)
		r = remove_check(m->v, m->to, m->to_f);
	if (r < 0)
		return r;
	r = m->remove.in_place && !m->from_f->via_link ? move_in_place(m) : -EXDEV;
	if (r == -EXDEV)
		r = move_by_copy(m);
	if (!r && m->dest && stack_lookup(&m->v->stack, m->to, &now) == 0 && now.layer == m->dest)
		remove_undo_hide(m->v, m->to, m->dest, &now.obj);
	return r;
}

/* Replace an empty directory: it goes first, and comes back if the rename fails. */
static int move_over_dir(struct move *m, const struct found *to_f, const struct found *to_parent)
{
	cleanup_free char *dir = strndup(m->to, path_parent_len(m->to));
	struct cred who = { .uid = to_f->st.st_uid, .gid = to_f->st.st_gid };
	struct found made;
	struct route route;
	int r = dir ? route_existing(m->v, m->to, to_f, ROUTE_REMOVE, &route) : -ENOMEM;

	if (!r)
		r = route_existing(m->v, m->from, m->from_f, ROUTE_REMOVE, &m->remove);
	if (!r)
		r = move_check(m); /* nothing must be refused once it is gone */
	if (!r)
		r = change_rmdir(m->v, m->to, to_f);
	if (r < 0)
		return r;
	m->to_f = NULL;
	r = move(m, to_parent);
	if (r < 0)
		(void)change_mkdir(m->v, dir, to_parent, path_base(m->to), to_f->st.st_mode & 07777,
				   &who, &made); /* @r tells what failed */
	return r;
}

/* Can it be exchanged by one rename in its layer? */
static bool is_whole(const struct found *f)
{
	return !f->via_link && (!is_dir(f) || f->parts == UINT64_C(1) << f->layer);
}

static int exchange_in(struct view *v, unsigned layer, const char *a, const char *b)
{
	const char *a_name;
	const char *b_name;
	cleanup_fd int a_dir = copyup_parents(v, a, layer, &a_name);
	cleanup_fd int b_dir = a_dir < 0 ? -1 : copyup_parents(v, b, layer, &b_name);

	if (a_dir < 0 || b_dir < 0)
		return a_dir < 0 ? a_dir : b_dir;
	return renameat2(a_dir, a_name, b_dir, b_name, RENAME_EXCHANGE) < 0 ? -errno : 0;
}

/* Nothing old may show in a directory of scratch that comes to @other, which has more below. */
static int make_opaque(struct view *v, const char *path, const struct found *f, const char *other)
{
	cleanup_fd int fd = -1;
	int r;

	if (f->layer || !is_dir(f))
		return 0;
	r = stack_has_below(&v->stack, other, 0);
	if (r <= 0)
		return r;
	fd = layer_open_dir(&v->stack.layers[0], path);
	return fd < 0 ? fd : mark_set(fd, MARK_OPAQUE);
}

static int check_exchanged(struct view *v, unsigned layer, const char *path, const struct found *f)
{
	return layer ? remove_check(v, path, f) : 0;
}

/* Both names are edited: where that means one and the same layer, it swaps them. */
static int exchange(struct view *v, const char *from, const struct found *from_f, const char *to,
		    const struct found *to_f)
{
	struct found a = *from_f;
	struct found b = *to_f;
	struct route ra;
	struct route rb;
	int r = route_existing(v, from, &a, ROUTE_EDIT, &ra);

	if (!r)
		r = route_existing(v, to, &b, ROUTE_EDIT, &rb);
	if (!r && !v->work)
		r = -EROFS;
	if (r < 0)
		return r;
	if (ra.layer != rb.layer || !is_whole(&a) || !is_whole(&b) ||
	    (is_dir(&a) && !ra.in_place) || (is_dir(&b) && !rb.in_place))
		return -EINVAL;
	if (!ra.in_place)
		r = copyup(v, from, &a, ra.layer, -1);
	if (!r && !rb.in_place)
		r = copyup(v, to, &b, rb.layer, -1);
	if (!r)
		r = check_exchanged(v, ra.layer, from, &a);
	if (!r)
		r = check_exchanged(v, rb.layer, to, &b);
	if (!r)
		r = make_opaque(v, from, &a, to);
	if (!r)
		r = make_opaque(v, to, &b, from);
	return r < 0 ? r : exchange_in(v, ra.layer, from, to);
}

/* What rename(2) refuses before anything is looked at. */
static int check_paths(const char *from, const char *to, const struct found *to_f, unsigned flags)
{
	if (flags != 0 && flags != RENAME_NOREPLACE && flags != RENAME_EXCHANGE)
		return -EINVAL;
	if (!*from || !*to)
		return -EBUSY;
	if (flags == RENAME_NOREPLACE && to_f)
		return -EEXIST;
	if (flags == RENAME_EXCHANGE && !to_f)
		return -ENOENT;
	if (path_is_below(to, from) || (flags == RENAME_EXCHANGE && path_is_below(from, to)))
		return -EINVAL;
	return path_is_below(from, to) ? -ENOTEMPTY : 0;
}

int change_rename(struct view *v, const char *from, const struct found *from_f, const char *to,
		  const struct found *to_f, const struct found *to_parent, unsigned flags)
{
	struct move m = {
		.v = v,
		.from = from,
		.from_f = from_f,
		.to = to,
		.to_f = to_f,
		.is_dir = is_dir(from_f),
	};
	int r = check_paths(from, to, to_f, flags);

	if (r < 0)
		return r;
	if (!strcmp(from, to) || (to_f && is_same(from_f, to_f)))
		return 0;
	if (flags == RENAME_EXCHANGE)
		return exchange(v, from, from_f, to, to_f);
	if (!to_f)
		return move(&m, to_parent);
	r = check_replace(v, from_f, to, to_f);
	if (r < 0)
		return r;
	return m.is_dir ? move_over_dir(&m, to_f, to_parent) : move(&m, to_parent);
}
