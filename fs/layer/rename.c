/* SPDX-License-Identifier: MIT */
/* Renaming: change_rename() of change.h. It is judged and routed here; move.h, exchange.h do it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "layer/change.h"
#include "layer/exchange.h"
#include "layer/listing.h"
#include "layer/move.h"

static bool is_dir(const struct found *f)
{
	return S_ISDIR(f->obj.st.st_mode);
}

/* One and the same object of a layer at two places of the view: an alias, or hard links. */
static bool is_same(const struct found *a, const struct found *b)
{
	return !a->virtual && !b->virtual && object_same(&a->obj, &b->obj);
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
	r = listing_is_empty_at(&v->stack, to, to_f->parts);
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
			      : route_new(m->v, m->to, m->from_f->obj.st.st_mode, to_parent, &r);
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
	int r = route_move(m, to_parent);

	return r < 0 ? r : move_do(m);
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

int change_rename(struct view *v, const struct change_name *from, const struct change_name *to,
		  const struct found *to_parent, unsigned flags)
{
	struct move m = {
		.v = v,
		.from = from->path,
		.from_f = from->f,
		.from_in = from->in,
		.to = to->path,
		.to_f = to->f,
		.to_in = to->in,
		.is_dir = is_dir(from->f),
	};
	int r = check_paths(m.from, m.to, m.to_f, flags);

	if (r < 0)
		return r;
	/* a mount of a directory below would stay with what is left behind */
	if (redirect_holds(v->redirects, m.from) || redirect_holds(v->redirects, m.to))
		return -EBUSY;
	if (!strcmp(m.from, m.to) || (m.to_f && is_same(m.from_f, m.to_f)))
		return 0;
	if (flags == RENAME_EXCHANGE)
		return exchange(v, m.from, m.from_f, m.to, m.to_f);
	if (!m.to_f)
		return move(&m, to_parent);
	r = check_replace(v, m.from_f, m.to, m.to_f);
	if (r < 0)
		return r;
	return m.is_dir ? move_over_dir(&m, m.to_f, to_parent) : move(&m, to_parent);
}
