/* SPDX-License-Identifier: MIT */
/* What changes do to the model, but for renaming: see model.h. */
#include <errno.h>
#include <string.h>

#include "base/glob.h"
#include "base/path.h"
#include "model.h"

struct mnode *model_parents(struct model *m, unsigned to, const char *path)
{
	struct mlayer *l = &m->layers[to];
	const char *rel = model_below_at(m, to, path);
	struct mnode *dir = l->root;

	for (const char *slash = strchr(rel, '/'); slash; slash = strchr(slash + 1, '/')) {
		char above[PATH_SIZE];
		struct mnode *next;
		struct seen s;

		(void)snprintf(above, sizeof(above), "%.*s", (int)(slash - path), path);
		next = mnode_child(dir, path_base(above));
		if (!next) {
			bool there = model_lookup(m, above, &s) == 0;

			next = mnode_new(
				path_base(above),
				mdata_new(KIND_DIR, there ? s.node->data->mode : 0755, ""));
			next->implied = !to;
			mnode_put(dir, next);
		}
		dir = next;
	}
	return dir;
}

void model_whiteout(struct model *m, const char *path)
{
	mnode_put(model_parents(m, 0, path),
		  mnode_new(path_base(path), mdata_new(KIND_WHITEOUT, 0, "")));
}

void model_drop_whiteout(struct model *m, const char *path)
{
	struct mnode *n = mnode_find(m->layers[0].root, path);

	if (n && n->data->kind == KIND_WHITEOUT)
		mnode_drop(mnode_parent(m->layers[0].root, path), path_base(path));
}

void model_take_scratch(struct model *m, const char *path)
{
	struct mnode *n = mnode_find(m->layers[0].root, path);

	if (n && mnode_is_dir(n))
		mnode_drop(mnode_parent(m->layers[0].root, path), path_base(path));
}

static void add_line(struct mlayer *l, const char *rel, bool is_dir)
{
	char line[PATH_SIZE + 2];

	if (glob_covers(&l->hide, rel, is_dir))
		return;
	(void)snprintf(line, sizeof(line), "/%s%s", rel, is_dir ? "/" : "");
	if (strv_add(&l->hide, line) < 0)
		abort();
	l->has_hide = true;
}

void model_hide(struct model *m, const char *path, bool is_dir, unsigned spec)
{
	struct mlayer *l = &m->layers[spec];
	const char *rel = model_below_at(m, spec, path);

	if (!*rel) {
		model_whiteout(m, path);
		return;
	}
	add_line(l, rel, is_dir);
	/* the name must be gone: a line for a directory hides no file */
	if (is_dir && model_has_below(m, path, spec))
		add_line(l, rel, false);
}

bool model_hide_below(struct model *m, const char *path, bool is_dir, unsigned layer)
{
	int spec;

	if (!model_has_below(m, path, layer))
		return false;
	spec = m->layers[layer].role == ROLE_MAP ? (int)layer : model_map_of(m, path);
	if (layer && spec >= 0 && (unsigned)spec <= layer) {
		model_hide(m, path, is_dir, (unsigned)spec);
		return false;
	}
	model_whiteout(m, path);
	return true;
}

void model_undo_hide(struct model *m, const char *path, unsigned layer)
{
	struct mlayer *l = &m->layers[layer];
	const char *rel = model_below_at(m, layer, path);
	size_t n = 0;

	if (l->role != ROLE_MAP || !*rel || !glob_covers(&l->hide, rel, false))
		return;
	for (size_t i = 0; i < l->hide.n; i++) {
		if (l->hide.v[i][0] == '/' && !strcmp(l->hide.v[i] + 1, rel))
			free(l->hide.v[i]);
		else
			l->hide.v[n++] = l->hide.v[i];
	}
	if (!n && l->hide.n)
		l->has_hide = false;
	if (l->hide.n)
		l->hide.v[n] = NULL;
	l->hide.n = n;
}

static struct mnode *parent_in(struct model *m, unsigned layer, const char *path)
{
	return mnode_parent(m->layers[layer].root, model_below_at(m, layer, path));
}

/* Of a non-directory. */
void model_remove(struct model *m, const char *path, const struct seen *s, const struct mroute *r)
{
	if (!r->in_place) {
		if (r->layer)
			model_hide(m, path, false, r->layer);
		else
			model_whiteout(m, path);
		return;
	}
	if (!r->layer && model_has_below(m, path, 0)) {
		model_whiteout(m, path);
		return;
	}
	model_hide_below(m, path, false, r->layer);
	if (r->layer)
		model_made_gone(m, path, s->node->data);
	mnode_drop(parent_in(m, r->layer, path), path_base(path));
}

static void make(struct model *m, const char *path, unsigned to, struct mdata *d)
{
	struct mnode *dir = model_parents(m, to, path);
	struct mnode *old = mnode_child(dir, path_base(path));
	struct mnode *n = mnode_new(path_base(path), d);

	/* in scratch: a whiteout, or a directory that the view does not show */
	n->opaque = old && d->kind == KIND_DIR;
	mnode_put(dir, n);
	if (to)
		model_drop_whiteout(m, path);
	if (d->kind != KIND_DIR)
		model_undo_hide(m, path, to);
}

static int make_new(struct model *m, const struct op *o, enum kind kind, mode_t mode)
{
	struct seen dir;
	struct seen s;
	struct mdata *d;
	unsigned to;
	int r = model_parent(m, o->path, &dir);

	if (r < 0)
		return r;
	if (model_lookup(m, o->path, &s) == 0)
		return -EEXIST;
	r = model_route_new(m, o->path, kind == KIND_DIR, &dir, &to);
	if (r < 0)
		return r;
	d = mdata_new(kind, mode, kind == KIND_DIR ? "" : o->data);
	make(m, o->path, to, d);
	model_made(m, to, o->path, d);
	return 0;
}

int model_prepare(struct model *m, const char *path, struct seen *s, struct mdata **ret)
{
	struct mroute to;
	int r = model_route(m, path, s, TO_EDIT, &to);

	if (r < 0)
		return r;
	if (!to.in_place) {
		struct mdata *d = s->node->data;
		struct mnode *dir = model_parents(m, to.layer, path);
		struct mnode *old = mnode_child(dir, path_base(path));
		struct mdata *copy = mdata_copy(d);

		if (!to.layer && d->kind == KIND_FILE && d->names == 1)
			copy->ino = d->ino;
		copy->lent_ino = to.layer && d->kind == KIND_FILE;
		if (old && d->kind == KIND_DIR) { /* implied by now */
			*old->data = *copy;
			old->data->names = 1;
			old->implied = false;
			free(copy);
		} else {
			mnode_put(dir, mnode_new(path_base(path), copy));
		}
		if (d->kind != KIND_DIR)
			model_undo_hide(m, path, to.layer);
		s->layer = to.layer;
		s->node = mnode_child(dir, path_base(path));
	}
	*ret = s->node->data;
	return 0;
}

static int write_data(struct model *m, const struct op *o)
{
	struct mdata *d;
	struct seen s;
	size_t len = strlen(o->data);
	size_t at = (size_t)o->offset;
	int r = model_lookup(m, o->path, &s);

	if (r < 0)
		return r;
	if (s.node->data->kind != KIND_FILE)
		return mnode_is_dir(s.node) ? -EISDIR : -ELOOP;
	r = model_prepare(m, o->path, &s, &d);
	if (r < 0)
		return r;
	d->timed = false;
	if (o->kind == OP_TRUNCATE) {
		if (at < d->len)
			memset(d->bytes + at, 0, d->len - at);
		d->len = at;
		return 0;
	}
	memcpy(d->bytes + at, o->data, len);
	if (at + len > d->len)
		d->len = at + len;
	return 0;
}

static int set_attr(struct model *m, const struct op *o)
{
	struct mroute to;
	struct mdata *d;
	struct seen s;
	int r = model_lookup(m, o->path, &s);

	if (r < 0)
		return r;
	if (o->kind == OP_CHMOD && s.node->data->kind == KIND_LINK)
		return -EOPNOTSUPP;
	/* nothing is copied to set what is set */
	if (o->kind == OP_CHMOD && o->mode == s.node->data->mode &&
	    model_route(m, o->path, &s, TO_EDIT, &to) == 0 && !to.in_place)
		return 0;
	r = model_prepare(m, o->path, &s, &d);
	if (r < 0)
		return r;
	if (o->kind == OP_CHMOD) {
		d->mode = o->mode;
		return 0;
	}
	d->timed = d->kind != KIND_DIR;
	d->mtime_sec = o->offset;
	d->mtime_nsec = op_mtime_nsec(o);
	return 0;
}

static int add_link(struct model *m, const struct op *o)
{
	struct mroute edit = { 0 };
	struct mdata *d = NULL;
	struct seen dir;
	struct seen s = { 0 };
	struct seen there;
	unsigned to = 0;
	int r = model_parent(m, o->path, &dir);

	if (!r)
		r = model_parent(m, o->to, &dir);
	if (!r)
		r = model_lookup(m, o->path, &s);
	if (r < 0)
		return r;
	if (model_lookup(m, o->to, &there) == 0)
		return -EEXIST;
	if (mnode_is_dir(s.node))
		return -EPERM;
	r = model_route(m, o->path, &s, TO_EDIT, &edit);
	if (!r)
		r = model_route_new(m, o->to, false, &dir, &to);
	if (!r)
		r = model_prepare(m, o->path, &s, &d);
	if (r < 0)
		return r;
	/* below a graft the copy may have made a directory of that name, to be in */
	if (to && model_in_layer(m, to, o->to))
		return -EEXIST;
	if (!edit.layer && to)
		d->ino = 0; /* scratch's mark goes */
	make(m, o->to, to, d);
	model_made(m, to, o->to, d);
	return r;
}

static int unlink_file(struct model *m, const struct op *o)
{
	struct mroute way;
	struct seen s;
	int r = model_lookup(m, o->path, &s);

	if (r < 0)
		return r;
	if (mnode_is_dir(s.node))
		return -EISDIR;
	r = model_route(m, o->path, &s, TO_REMOVE, &way);
	if (!r)
		model_remove(m, o->path, &s, &way);
	return r;
}

void model_replace_scratch(struct model *m, const char *path, const struct seen *s)
{
	if (!(s->parts & 1))
		return;
	if (model_has_below(m, path, 0))
		model_whiteout(m, path);
	else
		model_take_scratch(m, path);
}

/* In its own layer, not scratch. With names in it that the view hides, it is hidden itself. */
static void rmdir_in_place(struct model *m, const char *path, const struct seen *s)
{
	bool whiteout;

	if (s->node->child) {
		model_whiteout(m, path);
		return;
	}
	whiteout = model_hide_below(m, path, true, s->layer);
	model_made_gone(m, path, s->node->data);
	mnode_drop(parent_in(m, s->layer, path), path_base(path));
	if (!whiteout)
		model_replace_scratch(m, path, s);
}

int model_rmdir(struct model *m, const char *path)
{
	struct mroute way;
	struct seen s;
	int r = model_lookup(m, path, &s);

	if (r < 0)
		return r;
	if (!mnode_is_dir(s.node))
		return -ENOTDIR;
	if (!model_is_empty(m, path, &s))
		return -ENOTEMPTY;
	r = model_route(m, path, &s, TO_REMOVE, &way);
	if (r < 0)
		return r;
	if (way.in_place && way.layer) {
		rmdir_in_place(m, path, &s);
	} else if (way.in_place) {
		model_replace_scratch(m, path, &s);
	} else if (!way.layer) {
		model_whiteout(m, path);
	} else {
		model_hide(m, path, true, way.layer);
		model_replace_scratch(m, path, &s);
	}
	return 0;
}

int model_apply(struct model *m, const struct op *o)
{
	switch (o->kind) {
	case OP_CREATE:
		return make_new(m, o, KIND_FILE, o->mode);
	case OP_MKDIR:
		return make_new(m, o, KIND_DIR, o->mode);
	case OP_SYMLINK:
		return make_new(m, o, KIND_LINK, 0777);
	case OP_WRITE:
	case OP_TRUNCATE:
		return write_data(m, o);
	case OP_CHMOD:
	case OP_UTIMENS:
		return set_attr(m, o);
	case OP_LINK:
		return add_link(m, o);
	case OP_UNLINK:
		return unlink_file(m, o);
	case OP_RMDIR:
		return model_rmdir(m, o->path);
	case OP_RENAME:
		return model_rename(m, o);
	case OP_PURGE:
	case OP_HIDE:
	case OP_REMOUNT:
		break;
	}
	abort();
}

int model_apply_below(struct model *m, const struct op *o)
{
	struct mlayer *l = &m->layers[o->layer];
	struct model plain;
	struct seen s;
	int r;

	if (o->kind == OP_HIDE) {
		strv_clear(&l->hide);
		l->has_hide = true;
		if (strv_add_words(&l->hide, o->data, "\n") < 0)
			abort();
		return 0;
	}
	model_init_plain(&plain, l);
	r = o->kind == OP_PURGE ? model_lookup(&plain, o->path, &s) : model_apply(&plain, o);
	if (!r && o->kind == OP_PURGE)
		mnode_drop(mnode_parent(l->root, o->path), path_base(o->path));
	mnode_free(plain.layers[0].root);
	return r;
}
