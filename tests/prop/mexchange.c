/* SPDX-License-Identifier: MIT */
/* What exchanging two names does to the model: see mmove.h. */
#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "mmove.h"

/* One of the two, with the route of an edit of it. */
struct end {
	const char *path;
	struct seen s;
	struct mroute edit;
};

static bool is_whole(const struct end *e)
{
	if (!mnode_is_dir(e->s.node))
		return true;
	return e->s.parts == 1u << e->s.layer && e->edit.in_place;
}

/* May it leave the layer it is in? */
static bool may_leave(const struct model *m, const struct end *e)
{
	struct mroute r;

	return !e->edit.in_place ||
	       (model_route(m, e->path, &e->s, TO_REMOVE, &r) == 0 && r.in_place);
}

static bool keeps_names(const struct model *m, const struct end *e, const struct end *other)
{
	return !mnode_is_dir(e->s.node) ||
	       mmove_is_alike(m, e->edit.layer, e->path, other->path);
}

/* Could one rename do it, once both are where edits of them go? */
static bool is_simple(const struct model *m, const struct end *a, const struct end *b)
{
	if (!is_whole(a) || !is_whole(b))
		return false;
	if (a->edit.layer == b->edit.layer)
		return keeps_names(m, a, b) && keeps_names(m, b, a);
	return a->s.node->data->kind == KIND_FILE && b->s.node->data->kind == KIND_FILE &&
	       may_leave(m, a) && may_leave(m, b);
}

static struct mnode *take(struct model *m, const struct end *e)
{
	const char *rel = model_below_at(m, e->edit.layer, e->path);

	return mnode_take(mnode_parent(m->layers[e->edit.layer].root, rel), path_base(e->path));
}

static void put(struct model *m, const struct end *e, struct mnode *n)
{
	const char *rel = model_below_at(m, e->edit.layer, e->path);

	(void)snprintf(n->name, sizeof(n->name), "%s", path_base(e->path));
	mnode_put(mnode_parent(m->layers[e->edit.layer].root, rel), n);
}

/* Nothing old may show in a directory of scratch at its new name. */
static void make_opaque(struct model *m, const struct end *e, const char *other)
{
	if (!e->edit.layer && mnode_is_dir(e->s.node) && model_has_below(m, other, 0))
		e->s.node->opaque = true;
}

static void exchange_at_once(struct model *m, struct end *a, struct end *b)
{
	struct mdata *d;
	struct mnode *x;
	struct mnode *y;

	(void)model_prepare(m, a->path, &a->s, &d); /* it is routed already */
	(void)model_prepare(m, b->path, &b->s, &d);
	make_opaque(m, a, b->path);
	make_opaque(m, b, a->path);
	x = take(m, a);
	y = take(m, b);
	if (a->edit.layer == b->edit.layer) {
		model_made_swapped(m, a->edit.layer, a->path, b->path, x->data, y->data);
	} else {
		x->data->ino = 0;
		y->data->ino = 0;
	}
	put(m, a, y);
	put(m, b, x);
}

static int check_end(struct model *m, const struct end *e, const struct end *comes)
{
	struct moving mv = { .m = m, .from = e->path, .s = e->s };
	struct seen dir;
	unsigned to;
	int r = mmove_check(&mv);

	if (!r)
		r = model_parent(m, e->path, &dir);
	return r < 0 ? r : model_route_new(m, e->path, mnode_is_dir(comes->s.node), &dir, &to);
}

/* The name in scratch by which one of the two goes round the other. */
static const char aside[] = "aside";

static int shift(struct model *m, const char *from, const char *to)
{
	struct moving mv = { .m = m, .from = from, .to = to, .remove = { .in_place = true } };
	struct seen dir;
	int r = model_lookup(m, from, &mv.s);

	if (r < 0)
		return r;
	mv.is_dir = mnode_is_dir(mv.s.node);
	if (from != aside)
		r = model_route(m, from, &mv.s, TO_REMOVE, &mv.remove);
	/* where the parent has gone with what was in it, scratch has it again with what comes */
	if (!r && to != aside && model_parent(m, to, &dir) == 0)
		r = model_route_new(m, to, mv.is_dir, &dir, &mv.dest);
	return r < 0 ? r : mmove_do(&mv);
}

static bool is_scratch_only(const struct end *e)
{
	return !e->s.layer && (!mnode_is_dir(e->s.node) || e->s.parts == 1);
}

static int swap_names(struct model *m, const struct end *a, const struct end *b)
{
	int r = check_end(m, a, b);

	if (!r)
		r = check_end(m, b, a);
	if (!r)
		r = shift(m, a->path, aside);
	if (!r)
		r = shift(m, b->path, a->path);
	return r < 0 ? r : shift(m, aside, b->path);
}

int mexchange(struct model *m, const char *a, const char *b)
{
	struct end x = { .path = a };
	struct end y = { .path = b };
	int r = model_lookup(m, a, &x.s);

	if (!r)
		r = model_lookup(m, b, &y.s);
	if (!r)
		r = model_route(m, a, &x.s, TO_EDIT, &x.edit);
	if (!r)
		r = model_route(m, b, &y.s, TO_EDIT, &y.edit);
	if (r < 0)
		return r;
	if (is_simple(m, &x, &y)) {
		exchange_at_once(m, &x, &y);
		return 0;
	}
	return is_scratch_only(&y) && !is_scratch_only(&x) ? swap_names(m, &y, &x)
							   : swap_names(m, &x, &y);
}
