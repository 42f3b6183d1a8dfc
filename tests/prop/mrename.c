/* SPDX-License-Identifier: MIT */
/* What renaming does to the model: see model.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "mmove.h"

static struct mnode *parent_in(const struct moving *mv, unsigned layer, const char *path)
{
	return mnode_parent(mv->m->layers[layer].root, model_below_at(mv->m, layer, path));
}

static struct mnode *take(const struct moving *mv, unsigned layer, const char *path)
{
	return mnode_take(parent_in(mv, layer, path), path_base(path));
}

/* Put @n at the new name of @layer. */
static void settle(const struct moving *mv, unsigned layer, struct mnode *n)
{
	(void)snprintf(n->name, sizeof(n->name), "%s", path_base(mv->to));
	mnode_put(model_parents(mv->m, layer, mv->to), n);
}

/* Scratch has nothing at the new name that could be mixed up with what comes there. */
static void clear_scratch(const struct moving *mv)
{
	model_take_scratch(mv->m, mv->to);
	model_drop_whiteout(mv->m, mv->to);
}

/* The layer's own rename. Scratch's part of a directory goes along. */
static void move_in_place(const struct moving *mv)
{
	unsigned layer = mv->remove.layer;
	bool below = model_has_below(mv->m, mv->from, layer);
	bool below_to = model_has_below(mv->m, mv->to, 0); /* the parent may go with @from */
	struct mnode *n;

	/* parents first: their attributes are those of the view as it is */
	model_parents(mv->m, mv->dest, mv->to);
	n = take(mv, layer, mv->from);
	if (layer != mv->dest)
		n->data->ino = 0;
	if (!mv->dest && mv->is_dir) {
		n->opaque |= below_to;
		n->implied = false;
	}
	clear_scratch(mv);
	settle(mv, mv->dest, n);
	if (layer && mv->is_dir && mv->s.parts & 1) {
		model_parents(mv->m, 0, mv->to);
		settle(mv, 0, take(mv, 0, mv->from));
	}
	if (below)
		model_hide_below(mv->m, mv->from, mv->is_dir, layer);
}

static struct mdata *copy_data(struct mcopies *c, struct mdata *d)
{
	if (d->kind != KIND_FILE || d->names == 1)
		return mdata_copy(d);
	for (size_t i = 0; i < c->n; i++)
		if (c->v[i].from == d)
			return c->v[i].to;
	return mcopies_add(c, d);
}

/* Copy what the view shows at @path. Fails if a rule denies the removal of any of it. */
static int copy_visible(const struct moving *mv, const char *path, const struct seen *s,
			struct mcopies *c, struct mnode **ret)
{
	char names[NAMES_MAX][NAME_SIZE];
	struct mroute way;
	struct mnode *n;
	size_t count = mnode_is_dir(s->node) ? model_names(mv->m, path, s, names) : 0;
	int r = model_route(mv->m, path, s, TO_REMOVE, &way);

	if (r < 0)
		return r;
	n = mnode_new(path_base(path), copy_data(c, s->node->data));
	if (n->data->kind == KIND_LINK && mv->to) {
		char target[PATH_SIZE];

		(void)snprintf(target, sizeof(target), "%s%s", mv->to, path + strlen(mv->from));
		model_made(mv->m, mv->dest, target, n->data);
	}
	for (size_t i = 0; !r && i < count; i++) {
		char sub[PATH_SIZE];
		struct mnode *below;
		struct seen k;

		(void)snprintf(sub, sizeof(sub), "%s/%s", path, names[i]);
		r = model_lookup(mv->m, sub, &k);
		if (!r)
			r = copy_visible(mv, sub, &k, c, &below);
		if (!r)
			mnode_put(n, below);
	}
	if (r < 0)
		mnode_free(n);
	else
		*ret = n;
	return r;
}

int mmove_check(const struct moving *mv)
{
	struct mcopies c = { .n = 0 };
	struct mnode *n = NULL;
	int r = copy_visible(mv, mv->from, &mv->s, &c, &n);

	free(c.v);
	mnode_free(n);
	return r;
}

/* What is to go from its own layer: noted before anything changes, children first. */
struct listed {
	char path[PATH_SIZE];
	struct mnode *node;
};

struct list {
	struct listed v[256];
	size_t n;
};

static void list_own(const struct moving *mv, const char *path, const struct seen *s,
		     unsigned layer, struct list *l)
{
	char names[NAMES_MAX][NAME_SIZE];
	struct mroute way;
	size_t count = mnode_is_dir(s->node) ? model_names(mv->m, path, s, names) : 0;

	for (size_t i = 0; i < count; i++) {
		char sub[PATH_SIZE];
		struct seen k;

		(void)snprintf(sub, sizeof(sub), "%s/%s", path, names[i]);
		if (model_lookup(mv->m, sub, &k) == 0)
			list_own(mv, sub, &k, layer, l);
	}
	if (s->layer != layer || model_route(mv->m, path, s, TO_REMOVE, &way) < 0 ||
	    !way.in_place ||
	    l->n == sizeof(l->v) / sizeof(l->v[0]))
		return;
	l->v[l->n].node = s->node;
	(void)snprintf(l->v[l->n++].path, PATH_SIZE, "%s", path);
}

/* Is @n the tree @top, or in it? */
static bool is_in(const struct mnode *n, const struct mnode *top)
{
	if (n == top)
		return true;
	for (const struct mnode *c = top->child; c; c = c->next)
		if (is_in(n, c))
			return true;
	return false;
}

/* @copy: what the new name has now; the old one may show it, too */
static void remove_old_dir(const struct moving *mv, const struct mnode *copy)
{
	unsigned layer = mv->remove.layer;
	bool whiteout = false;
	struct list l = { .n = 0 };
	struct seen left;

	if (!mv->remove.in_place && !layer) {
		model_whiteout(mv->m, mv->from);
		return;
	}
	if (!mv->remove.in_place) {
		model_hide(mv->m, mv->from, true, layer);
	} else if (layer) {
		list_own(mv, mv->from, &mv->s, layer, &l);
		whiteout = model_hide_below(mv->m, mv->from, true, layer);
	}
	for (size_t i = 0; i < l.n; i++)
		if (!l.v[i].node->child)
			mnode_drop(parent_in(mv, layer, l.v[i].path), path_base(l.v[i].path));
	if (whiteout)
		return;
	model_replace_scratch(mv->m, mv->from, &mv->s);
	if (model_lookup(mv->m, mv->from, &left) == 0 && !is_in(left.node, copy))
		model_whiteout(mv->m, mv->from);
}

/* Would the layer that takes it show all that is in it? */
static bool is_shown_there(const struct moving *mv, const char *path, const struct seen *s)
{
	char names[NAMES_MAX][NAME_SIZE];
	size_t count = mnode_is_dir(s->node) ? model_names(mv->m, path, s, names) : 0;

	for (size_t i = 0; i < count; i++) {
		char sub[PATH_SIZE];
		char to[PATH_SIZE];
		struct seen k;

		(void)snprintf(sub, sizeof(sub), "%s/%s", path, names[i]);
		(void)snprintf(to, sizeof(to), "%s%s", mv->to, sub + strlen(mv->from));
		if (model_lookup(mv->m, sub, &k) < 0)
			continue;
		if (!model_shown(mv->m, mv->dest, to, mnode_is_dir(k.node)) ||
		    model_is_hidden(mv->m, mv->dest, to, mnode_is_dir(k.node)) ||
		    !is_shown_there(mv, sub, &k))
			return false;
	}
	return true;
}

static int move_by_copy(const struct moving *mv)
{
	struct mcopies c = { .n = 0 };
	struct mnode *n;
	int r = copy_visible(mv, mv->from, &mv->s, &c, &n);

	free(c.v);
	if (r < 0)
		return r;
	model_parents(mv->m, mv->dest, mv->to);
	n->opaque = mv->is_dir && !mv->dest && model_has_below(mv->m, mv->to, 0);
	clear_scratch(mv);
	settle(mv, mv->dest, n);
	if (mv->is_dir)
		remove_old_dir(mv, n);
	else
		model_remove(mv->m, mv->from, &mv->s, &mv->remove);
	return 0;
}

static bool is_shown(const struct model *m, unsigned layer, const char *path, bool is_dir)
{
	return model_shown(m, layer, path, is_dir) && !model_is_hidden(m, layer, path, is_dir);
}

bool mmove_is_alike(const struct model *m, unsigned layer, const char *from, const char *to)
{
	const struct mnode *dir = model_in_layer(m, layer, from);

	for (const struct mnode *c = layer ? dir->child : NULL; c; c = c->next) {
		bool is_dir = mnode_is_dir(c);
		char a[PATH_SIZE + NAME_SIZE];
		char b[PATH_SIZE + NAME_SIZE];
		bool shown;

		(void)snprintf(a, sizeof(a), "%s/%s", from, c->name);
		(void)snprintf(b, sizeof(b), "%s/%s", to, c->name);
		shown = is_shown(m, layer, a, is_dir);
		if (shown != is_shown(m, layer, b, is_dir) ||
		    (shown && is_dir && !mmove_is_alike(m, layer, a, b)))
			return false;
	}
	return true;
}

static bool is_movable(const struct moving *mv)
{
	unsigned own = 1u << mv->remove.layer;

	if (!mv->remove.in_place)
		return false;
	if (mv->remove.layer == mv->dest)
		return !mv->is_dir || (!(mv->s.parts & ~(own | 1)) &&
				       mmove_is_alike(mv->m, mv->dest, mv->from, mv->to));
	return mv->s.node->data->kind == KIND_FILE;
}

static void note_made(const struct moving *mv, bool copied)
{
	const struct mnode *n = model_in_layer(mv->m, mv->dest, mv->to);
	bool moved = !copied && mv->remove.layer == mv->dest;

	if (moved || mv->over)
		model_made_moved(mv->m, mv->dest, moved ? mv->from : mv->to, mv->to, n->data,
				 mv->over ? &mv->replaced : NULL);
}

/* Has scratch a directory there that is not seen, and hides what others have? */
static bool is_marked(const struct moving *mv)
{
	const struct model *m = mv->m;
	const struct mnode *n = mnode_find(m->layers[0].root, mv->to);
	struct seen there;

	if (!n || !mnode_is_dir(n))
		return false;
	if (model_lookup(m, mv->to, &there) < 0)
		return model_has_below(m, mv->to, 0);
	for (unsigned i = 1; i < there.layer; i++) {
		n = model_below_at(m, i, mv->to) ? model_in_layer(m, i, mv->to) : NULL;
		if (n && mnode_is_dir(n) && model_shown(m, i, mv->to, true))
			return true;
	}
	return false;
}

int mmove_do(const struct moving *asked)
{
	struct moving now = *asked;
	const struct moving *mv = &now;
	bool copied;
	int r = 0;

	if (now.dest && is_marked(mv))
		now.dest = 0;
	copied = !is_movable(mv);
	if (copied && now.dest && !is_shown_there(asked, asked->from, &asked->s)) {
		r = mmove_check(mv);
		now.dest = 0;
		copied = !is_movable(mv);
	}
	if (r < 0)
		return r;
	if (copied)
		r = move_by_copy(mv);
	else
		move_in_place(mv);
	if (!r && mv->dest)
		note_made(mv, copied);
	if (!r && !mv->is_dir)
		model_undo_hide(mv->m, mv->to, mv->dest);
	return r;
}

static bool is_below(const char *path, const char *dir)
{
	const char *rest = path_below(path, dir);

	return rest && *rest;
}

static int judge(struct moving *mv, unsigned flags, struct seen *ret_dir, struct seen *ret_there,
		 bool *ret_exists)
{
	int r = model_parent(mv->m, mv->from, ret_dir);

	if (!r)
		r = model_parent(mv->m, mv->to, ret_dir);
	if (!r)
		r = model_lookup(mv->m, mv->from, &mv->s);
	if (r < 0)
		return r;
	mv->is_dir = mnode_is_dir(mv->s.node);
	*ret_exists = model_lookup(mv->m, mv->to, ret_there) == 0;
	if (*ret_exists && flags == RENAME_NOREPLACE)
		return -EEXIST;
	if (!*ret_exists && flags == RENAME_EXCHANGE)
		return -ENOENT;
	if (is_below(mv->to, mv->from) || (flags == RENAME_EXCHANGE && is_below(mv->from, mv->to)))
		return -EINVAL;
	if (is_below(mv->from, mv->to))
		return -ENOTEMPTY;
	if (!*ret_exists || flags == RENAME_EXCHANGE ||
	    ret_there->node->data == mv->s.node->data)
		return 0;
	if (mnode_is_dir(ret_there->node) != mv->is_dir)
		return mv->is_dir ? -ENOTDIR : -EISDIR;
	return mv->is_dir && !model_is_empty(mv->m, mv->to, ret_there) ? -ENOTEMPTY : 0;
}

/* Do what has been judged. On failure the model may have changed. */
static int carry_out(struct moving *mv, const struct seen *dir, const struct seen *there)
{
	struct mroute way;
	int r = model_route(mv->m, mv->from, &mv->s, TO_REMOVE, &mv->remove);

	if (!r && there && mv->is_dir)
		r = model_rmdir(mv->m, mv->to);
	if (!r && there && !mv->is_dir) {
		r = model_route(mv->m, mv->to, there, TO_EDIT, &way);
		mv->dest = way.layer;
		mv->over = there->layer == mv->dest;
		mv->replaced = *there->node->data;
	} else if (!r) {
		r = model_route_new(mv->m, mv->to, mv->is_dir, dir, &mv->dest);
	}
	if (r < 0)
		return r;
	/* a new name in the same graft takes nothing away from the checkout */
	if (mv->m->layers[mv->dest].role == ROLE_GRAFT && mv->dest == mv->s.layer)
		mv->remove = (struct mroute){ .layer = mv->dest, .in_place = true };
	return mmove_do(mv);
}

/* A model like it, whose objects have the same numbers. */
static void copy_model(const struct model *m, struct model *ret)
{
	struct mcopies c = { .n = 0 };

	*ret = (struct model){ .setup = m->setup, .n = m->n };
	for (unsigned i = 0; i < m->n; i++) {
		const struct mlayer *l = &m->layers[i];

		ret->layers[i] = *l;
		for (unsigned k = 0; l->alias && k < i; k++)
			if (m->layers[k].root == l->root)
				ret->layers[i].root = ret->layers[k].root;
		if (!l->alias)
			ret->layers[i].root = mnode_clone(l->root, &c);
		ret->layers[i].hide = (struct strv)STRV_INIT;
		for (size_t k = 0; k < l->hide.n; k++)
			if (strv_add(&ret->layers[i].hide, l->hide.v[k]) < 0)
				abort();
	}
	free(c.v);
	ret->made.n = m->made.n;
	ret->made.v = calloc(m->made.n + 1, sizeof(*m->made.v));
	if (!ret->made.v)
		abort();
	if (m->made.n)
		memcpy(ret->made.v, m->made.v, m->made.n * sizeof(*m->made.v));
}

/* An empty directory is replaced in two steps: would the second one fail, after the first? */
static int try_replacing(struct moving *mv, unsigned flags)
{
	struct model trial;
	struct moving try = { .m = &trial, .from = mv->from, .to = mv->to };
	struct seen dir;
	struct seen there;
	bool exists;
	int r;

	copy_model(mv->m, &trial);
	r = judge(&try, flags, &dir, &there, &exists);
	if (!r)
		r = mmove_check(&try);
	if (!r)
		r = carry_out(&try, &dir, &there);
	model_clear(&trial);
	return r;
}

int model_rename(struct model *m, const struct op *o)
{
	struct moving mv = { .m = m, .from = o->path, .to = o->to };
	struct seen dir;
	struct seen there;
	bool exists;
	int r = judge(&mv, o->flags, &dir, &there, &exists);

	if (r < 0 || (exists && there.node->data == mv.s.node->data))
		return r;
	if (o->flags == RENAME_EXCHANGE)
		return mexchange(m, o->path, o->to);
	if (exists && mv.is_dir)
		r = try_replacing(&mv, o->flags);
	return r < 0 ? r : carry_out(&mv, &dir, exists ? &there : NULL);
}
