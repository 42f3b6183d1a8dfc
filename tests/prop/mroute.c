/* SPDX-License-Identifier: MIT */
/* Where the model sends a change: the rows of [write] and what comes before them. See model.h. */
#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "model.h"

struct facts {
	const char *path;
	bool ignored;
	bool backend;
	bool mapped;
};

static const struct mrule *first_rule(const struct model *m, const struct facts *f)
{
	for (const struct mrule *r = m->setup->rules; r && r->what; r++) {
		char start[8];

		(void)snprintf(start, sizeof(start), "%.*s", (int)strcspn(r->what, "*"), r->what);
		if (!strcmp(r->what, "@any") || (!strcmp(r->what, "@ignored") && f->ignored) ||
		    (!strcmp(r->what, "@backend") && f->backend) ||
		    (!strcmp(r->what, "@mapped") && f->mapped) ||
		    (r->what[0] != '@' && model_has_name(f->path, start)))
			return r;
	}
	return NULL;
}

/* A pattern that denies the path decides over everything but --scratch-all. */
static bool is_denied(const struct model *m, const struct facts *f)
{
	const struct mrule *r = first_rule(m, f);

	return r && r->what[0] != '@' && r->to == TO_NOBODY;
}

int model_map_of(const struct model *m, const char *path)
{
	for (unsigned i = 0; i < m->n; i++)
		if (m->layers[i].role == ROLE_MAP && model_below_at(m, i, path) &&
		    model_shown(m, i, path, true) && model_covers(m, i, path))
			return (int)i;
	return -1;
}

/* Has the layer something else, hidden, where @path needs a directory? */
static bool is_blocked(const struct model *m, unsigned layer, const char *path)
{
	const char *rel = model_below_at(m, layer, path);

	for (const char *slash = strchr(rel, '/'); slash; slash = strchr(slash + 1, '/')) {
		char above[PATH_SIZE];
		struct mnode *n;

		(void)snprintf(above, sizeof(above), "%.*s", (int)(slash - rel), rel);
		n = mnode_find(m->layers[layer].root, above);
		if (n && !mnode_is_dir(n))
			return true;
	}
	return false;
}

static bool overlays_go_to_scratch(const struct model *m)
{
	return !m->setup->rules && !m->setup->write_owner;
}

int model_route(const struct model *m, const char *path, const struct seen *s, enum what what,
		struct mroute *ret)
{
	const struct mlayer *l = &m->layers[s->layer];
	int map = model_map_of(m, path);
	struct facts f = {
		.path = path,
		.ignored = l->in_root && model_has_name(path, "ig"),
		.backend = l->role == ROLE_MAP || l->role == ROLE_GRAFT,
		.mapped = map >= 0,
	};
	const struct mrule *r = first_rule(m, &f);
	enum where to = r ? r->to : TO_OWNER;

	if (m->setup->readonly || (!m->setup->scratch_all && is_denied(m, &f)))
		return -EROFS;
	if (m->setup->scratch_all || l->role == ROLE_SCRATCH || l->role == ROLE_MADE ||
	    overlays_go_to_scratch(m))
		to = TO_SCRATCH;
	if (to == TO_NOBODY || (to == TO_SPEC && (map < 0 || (unsigned)map > s->layer)))
		return -EROFS;
	if (to == TO_SPEC && is_blocked(m, (unsigned)map, path))
		return -EROFS;
	ret->layer = to == TO_SCRATCH ? 0 : to == TO_SPEC ? (unsigned)map : s->layer;
	ret->in_place = ret->layer == s->layer;
	/* what people have there is not taken away from them */
	if (what == TO_REMOVE && ret->in_place && l->role == ROLE_GRAFT &&
	    !model_may_go(m, s->layer, path, s->node->data))
		*ret = (struct mroute){ .layer = 0 };
	return 0;
}

int model_graft_of(const struct model *m, const char *path, const struct seen *dir)
{
	for (unsigned i = 0; i < m->n; i++)
		if (m->layers[i].role == ROLE_GRAFT && dir->parts & 1u << i &&
		    model_below_at(m, i, path))
			return (int)i;
	return -1;
}

/* The layer that the rules name for a new name; -1 if there is none. */
static int layer_of_new(const struct model *m, enum where to, int graft, int map)
{
	switch (to) {
	case TO_SPEC:
		return map;
	case TO_OWNER:
		if (graft >= 0)
			return graft;
		if (m->layers[1].role == ROLE_OVERLAY)
			return 1;
		return map >= 0 ? map : (int)m->n - 1;
	case TO_TRUNK:
		return (int)m->n - 1;
	case TO_SCRATCH:
	case TO_NOBODY:
		break;
	}
	return 0;
}

/* Is there a whiteout whose removal would bring old things to light? */
static bool would_uncover(const struct model *m, const char *path, bool is_dir, unsigned to)
{
	struct mnode *n = model_in_layer(m, 0, path);

	if (!n || n->data->kind != KIND_WHITEOUT)
		return false;
	if (is_dir)
		return model_has_below(m, path, 0);
	for (unsigned i = 1; i < to; i++)
		if (model_in_layer(m, i, path))
			return true;
	return false;
}

/* Would a new name in layer @to not be seen, or be mixed up with what the view hides? */
static bool is_barred(const struct model *m, const char *path, bool is_dir, const struct seen *dir,
		      unsigned to)
{
	if (!model_shown(m, to, path, is_dir) || model_is_hidden(m, to, path, is_dir))
		return true;
	if (m->layers[to].role == ROLE_CHECKOUT && !(dir->parts & 1u << to))
		return true;
	return is_blocked(m, to, path) || model_in_layer(m, to, path) ||
	       would_uncover(m, path, is_dir, to);
}

int model_route_new(const struct model *m, const char *path, bool is_dir, const struct seen *dir,
		    unsigned *ret)
{
	int graft = model_graft_of(m, path, dir);
	int map = graft < 0 ? model_map_of(m, path) : -1;
	struct facts f = {
		.path = path,
		.ignored = model_has_name(path, "ig") || !model_shown(m, m->n - 1, path, is_dir),
		.mapped = map >= 0,
	};
	const struct mrule *r = first_rule(m, &f);
	enum where to = r ? r->to : TO_OWNER;
	int layer;

	*ret = 0;
	if (m->setup->readonly)
		return -EROFS;
	if (m->setup->scratch_all)
		return 0;
	if (is_denied(m, &f))
		return -EROFS;
	if (dir->parts == 1 || model_is_made_place(m, path) || overlays_go_to_scratch(m) ||
	    to == TO_SCRATCH)
		return 0;
	layer = layer_of_new(m, to, graft, map);
	if (to == TO_NOBODY || layer < 0)
		return -EROFS;
	if (graft >= 0 && layer != graft)
		return 0;
	if (layer && !is_barred(m, path, is_dir, dir, (unsigned)layer))
		*ret = (unsigned)layer;
	return 0;
}
