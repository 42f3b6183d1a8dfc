/* SPDX-License-Identifier: MIT */
/* Steps made up at random: see gen.h. */
#include "gen.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/path.h"

enum { PATHS_MAX = 256, DEPTH_MAX = 4, NAMES = 16 };

const char *const gen_names[] = { "a", "b", "c", "d", "e", "ig", "hd", "ro", "m", NULL };

/* Paths that the view shows, or that a layer has. */
struct paths {
	char v[PATHS_MAX][PATH_SIZE];
	bool is_dir[PATHS_MAX];
	size_t n;
};

static void paths_add(struct paths *p, const char *path, bool is_dir)
{
	if (p->n == PATHS_MAX)
		return;
	(void)snprintf(p->v[p->n], PATH_SIZE, "%s", path);
	p->is_dir[p->n++] = is_dir;
}

/* False if that is longer than a step's path may be. */
static bool join(const char *path, const char *name, char ret[PATH_SIZE])
{
	return snprintf(ret, PATH_SIZE, "%s%s%s", path, *path ? "/" : "", name) < PATH_SIZE;
}

static void view_paths(const struct model *m, const char *path, const struct seen *dir,
		       struct paths *p)
{
	char names[NAMES_MAX][NAME_SIZE];
	size_t n = model_names(m, path, dir, names);

	for (size_t i = 0; i < n; i++) {
		char sub[PATH_SIZE];
		struct seen s;

		if (!join(path, names[i], sub) || model_lookup(m, sub, &s) < 0)
			continue;
		paths_add(p, sub, mnode_is_dir(s.node));
		if (mnode_is_dir(s.node))
			view_paths(m, sub, &s, p);
	}
}

static void layer_paths(const struct mnode *dir, const char *path, struct paths *p)
{
	for (const struct mnode *c = dir->child; c; c = c->next) {
		char sub[PATH_SIZE];

		if (!join(path, c->name, sub))
			continue;
		paths_add(p, sub, mnode_is_dir(c));
		layer_paths(c, sub, p);
	}
}

/* What one step is made from. */
struct maker {
	struct gen *g;
	const struct arena *a;
	int layer;
	struct paths paths;
};

static unsigned pick(struct maker *k, unsigned n)
{
	return rng_below(&k->g->rng, n);
}

/* A name; those at the top end in the arena's digit. */
static void pick_name(struct maker *k, bool top, char name[NAME_SIZE])
{
	static const char *const names[NAMES] = {
		"a", "b", "c", "d", "a", "b", "c", "d", "a", "b", "c", "d", "e", "ig", "hd", "ro",
	};
	/* the last ones are special */
	const char *base = names[NAMES - k->g->names + pick(k, k->g->names)];

	if (top && pick(k, 2))
		base = "m"; /* the place of a map */
	else if (top && k->layer == IN_VIEW && k->a->m.setup->made && !pick(k, 4))
		base = pick(k, 2) ? "l" : "f";
	(void)snprintf(name, NAME_SIZE, "%s%c", base, top ? k->a->suffix : '\0');
}

static bool at_top(const struct maker *k, const char *dir)
{
	return !*dir && (k->layer == IN_VIEW || !*k->a->m.layers[k->layer].at);
}

static size_t depth_of(const char *path)
{
	size_t n = *path ? 1 : 0;

	for (const char *p = path; *p; p++)
		n += *p == '/';
	return n;
}

/* A new name in a directory that is there, mostly. */
static void pick_new(struct maker *k, char path[PATH_SIZE])
{
	char dir[PATH_SIZE] = "";
	char name[NAME_SIZE];

	for (unsigned i = 0; i < 4 && k->paths.n; i++) {
		size_t at = pick(k, (unsigned)k->paths.n);

		if ((k->paths.is_dir[at] || !pick(k, 12)) && depth_of(k->paths.v[at]) < DEPTH_MAX) {
			(void)snprintf(dir, sizeof(dir), "%s", k->paths.v[at]);
			break;
		}
	}
	if (!pick(k, 40) && depth_of(dir) + 1 < DEPTH_MAX) {
		pick_name(k, at_top(k, dir), name);
		(void)snprintf(dir + strlen(dir), sizeof(dir) - strlen(dir), "%s%s",
			       *dir ? "/" : "", name);
	}
	pick_name(k, at_top(k, dir), name);
	if (snprintf(path, PATH_SIZE, "%s%s%s", dir, *dir ? "/" : "", name) >= PATH_SIZE)
		abort();
}

/* A path that is there, mostly. */
static void pick_old(struct maker *k, char path[PATH_SIZE])
{
	if (k->paths.n && pick(k, 12))
		(void)snprintf(path, PATH_SIZE, "%s", k->paths.v[pick(k, (unsigned)k->paths.n)]);
	else
		pick_new(k, path);
}

static void pick_data(struct maker *k, struct op *o)
{
	(void)snprintf(o->data, sizeof(o->data), "<%u>", k->g->n);
}

static void pick_link_text(struct maker *k, struct op *o)
{
	static const char *const texts[] = { "/no/where", "nothing", "no/thing" };

	(void)snprintf(o->data, sizeof(o->data), "%s.%u", texts[pick(k, 3)], k->g->n % 100);
}

static mode_t pick_mode(struct maker *k, bool is_dir)
{
	static const mode_t files[] = { 0644, 0755, 0600, 0664, 01600 };
	static const mode_t dirs[] = { 0755, 0700, 0775, 01777, 0755 };

	return (is_dir ? dirs : files)[pick(k, 5)];
}

/* Lines for a hide list, of names that are there and of others. */
static void pick_hide(struct maker *k, struct op *o)
{
	static const char *const forms[] = { "/%s\n", "/%s/\n", "%s\n", "/%s/*\n", "!/%s\n" };
	unsigned n = pick(k, 3);

	for (unsigned i = 0; i < n; i++) {
		char path[PATH_SIZE];
		char line[PATH_SIZE + 8];
		size_t used = strlen(o->data);
		size_t len;

		pick_old(k, path);
		(void)snprintf(line, sizeof(line), forms[pick(k, 8) % 5], path);
		len = strlen(line);
		if (used + len < sizeof(o->data))
			memcpy(o->data + used, line, len + 1);
	}
	if (!*o->data)
		(void)snprintf(o->data, sizeof(o->data), "# nothing\n");
}

static enum op_kind pick_kind(struct maker *k)
{
	int col = k->layer != IN_VIEW;
	unsigned sum = 0;
	unsigned left;

	for (int i = 0; i < OP_REMOUNT; i++)
		sum += k->g->weights[i][col];
	left = pick(k, sum);
	if (k->paths.n > k->g->many && pick(k, 3) == 0)
		return col ? OP_PURGE : pick(k, 2) ? OP_UNLINK : OP_RMDIR;
	for (int i = 0; i < OP_REMOUNT; i++) {
		if (left < k->g->weights[i][col])
			return (enum op_kind)i;
		left -= k->g->weights[i][col];
	}
	return OP_CREATE;
}

/*
 * The root of a map outside the checkout can't go, and a rename of one is two things at once. So
 * is one of a directory to another place where the view shows it.
 */
static bool is_place(const struct maker *k, const char *path)
{
	for (unsigned i = 1; i < k->a->m.n && k->layer == IN_VIEW; i++)
		if (*k->a->m.layers[i].at && !strcmp(path, k->a->m.layers[i].at))
			return true;
	return false;
}

static bool is_dir(const struct model *m, const char *path)
{
	struct seen s;

	return model_lookup(m, path, &s) == 0 && mnode_is_dir(s.node);
}

static bool is_in(const struct model *m, enum role role, const char *path)
{
	for (unsigned i = 0; i < m->n; i++)
		if (m->layers[i].role == role && model_below_at(m, i, path))
			return true;
	return false;
}

static bool is_to_itself(const struct maker *k, const struct op *o)
{
	const struct model *m = &k->a->m;

	return k->layer == IN_VIEW && o->kind == OP_RENAME && m->setup->graft &&
	       ((is_in(m, ROLE_MAP, o->path) && is_in(m, ROLE_GRAFT, o->to)) ||
		(is_in(m, ROLE_GRAFT, o->path) && is_in(m, ROLE_MAP, o->to))) &&
	       (is_dir(m, o->path) || is_dir(m, o->to));
}

static void make_op(struct maker *k, struct op *o)
{
	o->kind = pick_kind(k);
	switch (o->kind) {
	case OP_CREATE:
	case OP_MKDIR:
	case OP_SYMLINK:
		pick_new(k, o->path);
		break;
	case OP_HIDE:
		pick_hide(k, o);
		return;
	default:
		pick_old(k, o->path);
		break;
	}
	if (o->kind == OP_LINK || (o->kind == OP_RENAME && pick(k, 3)))
		pick_new(k, o->to);
	else if (o->kind == OP_RENAME)
		pick_old(k, o->to);
	if (o->kind == OP_RENAME && !pick(k, 5))
		o->flags = RENAME_NOREPLACE;
	else if (o->kind == OP_RENAME && !pick(k, 6))
		o->flags = RENAME_EXCHANGE;
	o->mode = pick_mode(k, o->kind == OP_MKDIR);
	o->offset = pick(k, 40);
	if (o->kind == OP_UTIMENS)
		o->offset = k->g->n; /* a time that nothing has yet */
	if (o->kind == OP_SYMLINK)
		pick_link_text(k, o);
	else
		pick_data(k, o);
}

static bool has_node_of(const struct mnode *dir, const struct mdata *d)
{
	for (const struct mnode *c = dir->child; c; c = c->next)
		if (c->data == d || has_node_of(c, d))
			return true;
	return false;
}

/* Hard links in two layers are one object of the view: none of their names says whose it is. */
static bool is_split(const struct maker *k, const char *path)
{
	const struct model *m = &k->a->m;
	unsigned layers = 0;
	struct seen s;

	if (k->layer != IN_VIEW || model_lookup(m, path, &s) < 0 || s.node->data->names == 1)
		return false;
	for (unsigned i = 0; i < m->n; i++)
		layers += !m->layers[i].alias && has_node_of(m->layers[i].root, s.node->data);
	return layers > 1;
}

/* A file's mode must not be a directory's: it would lose its execute bits. */
static void fix_mode(struct maker *k, struct op *o)
{
	for (size_t i = 0; i < k->paths.n && o->kind == OP_CHMOD; i++)
		if (k->paths.is_dir[i] && !strcmp(k->paths.v[i], o->path))
			o->mode = pick_mode(k, true);
}

/* Has the layer a hide list of its own, which is nobody else's? */
static bool has_hide_list(const struct maker *k)
{
	return k->a->m.layers[k->layer].role == ROLE_MAP &&
	       (k->a->site->arenas == 1 || !k->a->m.setup->whole);
}

void gen_init(struct gen *g, uint64_t seed)
{
	static const unsigned char weights[OP_REMOUNT][2] = {
		[OP_CREATE] = { 18, 20 }, [OP_WRITE] = { 12, 10 }, [OP_TRUNCATE] = { 4, 4 },
		[OP_MKDIR] = { 13, 16 },  [OP_SYMLINK] = { 4, 4 }, [OP_LINK] = { 6, 4 },
		[OP_UNLINK] = { 11, 9 },  [OP_RMDIR] = { 8, 4 },   [OP_RENAME] = { 16, 10 },
		[OP_CHMOD] = { 5, 4 },	  [OP_UTIMENS] = { 3, 2 }, [OP_PURGE] = { 0, 7 },
		[OP_HIDE] = { 0, 6 },
	};
	struct rng how = { .state = seed >> 32 };

	*g = (struct gen){ .rng = { .state = seed }, .below = 3, .names = NAMES, .many = 60 };
	memcpy(g->weights, weights, sizeof(weights));
	if (!how.state)
		return;
	for (int i = 0; i < OP_REMOUNT; i++) {
		for (int col = 0; col < 2; col++) {
			static const unsigned char factors[] = { 0, 1, 1, 2, 4 };
			bool needed = i == OP_CREATE || i == OP_MKDIR;
			unsigned factor = factors[rng_below(&how, 5)];

			g->weights[i][col] *= needed && !factor ? 1 : factor;
		}
	}
	g->below = 1 + rng_below(&how, 6);
	g->names = 6 + rng_below(&how, NAMES - 6 + 1);
	g->many = 10 + rng_below(&how, 50);
}

/* One that has a directory of its own. */
static int pick_layer(struct gen *g, const struct model *m)
{
	int own[MODEL_LAYERS];
	unsigned n = 0;

	for (unsigned i = 1; i < m->n; i++)
		if (model_has_dir(m, i))
			own[n++] = (int)i;
	return own[rng_below(&g->rng, n)];
}

void gen_next(struct gen *g, const struct arena *a, struct op *ret)
{
	struct maker k = { .g = g, .a = a, .layer = IN_VIEW };
	const struct model *m = &a->m;
	struct seen root;

	g->n++;
	if (rng_below(&g->rng, 10) < (m->setup->readonly ? 8 : g->below) || g->n < 30)
		k.layer = pick_layer(g, m);
	if (k.layer == IN_VIEW) {
		if (model_lookup(m, "", &root) == 0)
			view_paths(m, "", &root, &k.paths);
	} else {
		layer_paths(m->layers[k.layer].root, "", &k.paths);
	}
	for (;;) {
		*ret = (struct op){ .layer = k.layer };
		make_op(&k, ret);
		if ((ret->kind == OP_RMDIR || ret->kind == OP_RENAME) &&
		    (is_place(&k, ret->path) || is_place(&k, ret->to)))
			continue;
		if (is_to_itself(&k, ret))
			continue;
		if (ret->kind == OP_LINK && is_split(&k, ret->path))
			continue;
		if (ret->kind != OP_HIDE || has_hide_list(&k))
			break;
	}
	fix_mode(&k, ret);
}
