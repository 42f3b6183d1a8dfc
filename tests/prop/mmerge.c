/* SPDX-License-Identifier: MIT */
/* How the model's layers merge: see model.h. */
#include <errno.h>
#include <string.h>

#include "base/glob.h"
#include "base/path.h"
#include "model.h"

static void layer_add(struct model *m, enum role role, const char *at, bool in_root)
{
	struct mlayer *l = &m->layers[m->n++];

	*l = (struct mlayer){ .role = role, .in_root = in_root };
	(void)snprintf(l->at, sizeof(l->at), "%s", at);
	l->root = mnode_new("", mdata_new(KIND_DIR, 0755, ""));
}

/* What the profile makes at the top: file f0, and link l0 to c0 of the trunk. */
static void add_made(struct model *m, char suffix)
{
	const char file[] = { 'f', suffix, '\0' };
	const char link[] = { 'l', suffix, '\0' };
	const char target[] = { 'c', suffix, '\0' };
	struct mnode *root;

	layer_add(m, ROLE_MADE, "", false);
	root = m->layers[m->n - 1].root;
	root->implied = true;
	mnode_put(root, mnode_new(file, mdata_new(KIND_FILE, 0644, "made")));
	mnode_put(root, mnode_new(link, mdata_new(KIND_LINK, 0777, target)));
}

void model_init(struct model *m, const struct setup *s, char suffix)
{
	char at[8] = { 'm', suffix };

	*m = (struct model){ .setup = s };
	layer_add(m, ROLE_SCRATCH, "", false);
	m->layers[0].root->implied = true;
	for (int i = 0; i < 2; i++) {
		if (s->rules)
			layer_add(m, ROLE_MAP, s->whole ? "" : at, !s->external);
		else
			layer_add(m, ROLE_OVERLAY, "", false);
	}
	for (unsigned i = 1; i <= 2 && s->graft; i++) {
		char place[8] = { 'g', "?ab"[i], suffix };

		layer_add(m, ROLE_GRAFT, place, !s->external);
		mnode_free(m->layers[m->n - 1].root);
		m->layers[m->n - 1].root = m->layers[i].root;
		m->layers[m->n - 1].alias = true;
	}
	if (s->made)
		add_made(m, suffix);
	layer_add(m, ROLE_CHECKOUT, "", true);
}

void model_init_plain(struct model *m, struct mlayer *l)
{
	static const struct mrule rules[] = { { "@any", TO_OWNER }, { NULL, TO_OWNER } };
	static const struct setup plain = { .name = "plain", .rules = rules };

	*m = (struct model){ .setup = &plain };
	layer_add(m, ROLE_SCRATCH, "", false);
	m->layers[0].root->implied = true;
	/* no patterns: what lies in the directory is there */
	m->layers[1] = (struct mlayer){ .role = ROLE_OVERLAY, .root = l->root };
	m->n = 2;
}

void model_clear(struct model *m)
{
	for (unsigned i = 0; i < m->n; i++) {
		if (!m->layers[i].alias)
			mnode_free(m->layers[i].root);
		strv_clear(&m->layers[i].hide);
	}
	m->n = 0;
	free(m->made.v);
	m->made = (struct mmade){ .n = 0 };
}

bool model_has_dir(const struct model *m, unsigned i)
{
	return m->layers[i].role != ROLE_MADE && !m->layers[i].alias;
}

bool model_is_made_place(const struct model *m, const char *path)
{
	for (unsigned i = 0; i < m->n; i++)
		if (m->layers[i].role == ROLE_MADE && *path &&
		    mnode_find(m->layers[i].root, path))
			return true;
	return false;
}

bool model_spreads(const struct model *m)
{
	return m->setup->graft || m->setup->made;
}

const char *model_below_at(const struct model *m, unsigned i, const char *path)
{
	return path_below(path, m->layers[i].at);
}

struct mnode *model_in_layer(const struct model *m, unsigned i, const char *path)
{
	const char *rel = model_below_at(m, i, path);

	return rel ? mnode_find(m->layers[i].root, rel) : NULL;
}

bool model_has_name(const char *path, const char *start)
{
	size_t len = strlen(start);

	for (const char *p = path; p; p = strchr(p, '/')) {
		p += *p == '/';
		if (!strncmp(p, start, len))
			return true;
	}
	return false;
}

bool model_covers(const struct model *m, unsigned i, const char *path)
{
	const char *rel = model_below_at(m, i, path);

	return !m->setup->only || model_has_name(rel, "a") || model_has_name(rel, "c");
}

/* [hide] of the profile: names that begin with "hd", and what is below them. */
bool model_shown(const struct model *m, unsigned i, const char *path, bool is_dir)
{
	enum role role = m->layers[i].role;

	/* never a dangling link */
	if (role == ROLE_MADE) {
		const struct mdata *d = mnode_find(m->layers[i].root, path)->data;

		return d->kind != KIND_LINK || mnode_find(m->layers[m->n - 1].root, d->bytes);
	}
	if (!m->setup->rules || (role != ROLE_MAP && role != ROLE_CHECKOUT && role != ROLE_GRAFT))
		return true;
	if (role == ROLE_MAP && m->setup->except && model_below_at(m, i, path) &&
	    model_has_name(model_below_at(m, i, path), "d"))
		return false;
	/* a directory may have something in it that is covered */
	if (role == ROLE_MAP && !is_dir && !model_covers(m, i, path))
		return false;
	return !model_has_name(path, "hd");
}

bool model_is_hidden(const struct model *m, unsigned i, const char *path, bool is_dir)
{
	for (unsigned above = 0; above < i; above++) {
		const struct mlayer *l = &m->layers[above];
		const char *rel = l->role == ROLE_MAP ? model_below_at(m, above, path) : NULL;

		if (rel && *rel && l->hide.n && glob_covers(&l->hide, rel, is_dir))
			return true;
	}
	return false;
}

static bool shows_nothing(const struct model *m, const char *path, unsigned parts);

/*
 * What layers @from and lower show under @path, whose directory has @parts. A directory of scratch
 * that is only implied, with nothing to be seen in it, is not there.
 */
static bool search(const struct model *m, const char *path, unsigned parts, unsigned from,
		   struct seen *ret)
{
	struct seen s = { 0 };

	for (unsigned i = from; i < m->n; i++) {
		const char *rel = model_below_at(m, i, path);
		struct mnode *n;
		bool is_dir;

		if (!(parts & 1u << i))
			continue;
		n = rel ? mnode_find(m->layers[i].root, rel) : NULL;
		is_dir = n && mnode_is_dir(n);
		if (!n || !model_shown(m, i, path, is_dir))
			continue;
		if (n->data->kind == KIND_WHITEOUT)
			break;
		if (model_is_hidden(m, i, path, is_dir))
			break;
		if (!is_dir) {
			if (s.node && !(s.implied && shows_nothing(m, path, s.parts)))
				break;
			*ret = (struct seen){ .layer = i, .node = n };
			return true;
		}
		if (!s.node || s.implied) {
			s.layer = i;
			s.node = n;
			s.implied = n->implied ||
				    (m->layers[i].role == ROLE_MAP && !model_covers(m, i, path));
		}
		s.parts |= 1u << i;
		if (n->opaque || (m->layers[i].role == ROLE_GRAFT && !*rel))
			break;
	}
	if (!s.node || (s.implied && *path && shows_nothing(m, path, s.parts)))
		return false;
	*ret = s;
	return true;
}

/* Names of all layers that have a part in the directory, visible or not. */
static size_t all_names(const struct model *m, const char *path, unsigned parts,
			char names[NAMES_MAX][NAME_SIZE])
{
	size_t n = 0;

	for (unsigned i = 0; i < m->n; i++) {
		struct mnode *dir = parts & 1u << i ? model_in_layer(m, i, path) : NULL;

		if (parts & 1u << i && !dir) /* on the way to a map's place */
			(void)snprintf(names[n++], NAME_SIZE, "%s", m->layers[i].at);
		for (struct mnode *c = dir ? dir->child : NULL; c; c = c->next)
			(void)snprintf(names[n++], NAME_SIZE, "%s", c->name);
	}
	return n;
}

static bool child(const struct model *m, const char *dir, unsigned parts, const char *name,
		  unsigned from, struct seen *ret)
{
	char path[PATH_SIZE];

	(void)snprintf(path, sizeof(path), "%s%s%s", dir, *dir ? "/" : "", name);
	return search(m, path, parts, from, ret);
}

static bool shows_nothing(const struct model *m, const char *path, unsigned parts)
{
	char names[NAMES_MAX][NAME_SIZE];
	size_t n = all_names(m, path, parts, names);
	struct seen s;

	for (size_t i = 0; i < n; i++)
		if (child(m, path, parts, names[i], 0, &s))
			return false;
	return true;
}

bool model_is_empty(const struct model *m, const char *path, const struct seen *dir)
{
	return shows_nothing(m, path, dir->parts);
}

size_t model_names(const struct model *m, const char *path, const struct seen *dir,
		   char names[NAMES_MAX][NAME_SIZE])
{
	size_t n = all_names(m, path, dir->parts, names);
	size_t kept = 0;
	struct seen s;

	qsort(names, n, NAME_SIZE, (int (*)(const void *, const void *))strcmp);
	for (size_t i = 0; i < n; i++) {
		if (kept && !strcmp(names[kept - 1], names[i]))
			continue;
		if (child(m, path, dir->parts, names[i], 0, &s))
			memmove(names[kept++], names[i], NAME_SIZE);
	}
	return kept;
}

int model_lookup(const struct model *m, const char *path, struct seen *ret)
{
	struct seen s = { .parts = 0 };
	size_t done = 0;
	char walked[PATH_SIZE] = "";

	/* the root: every layer is part of it, if only on the way to a map's place */
	s.parts = (1u << m->n) - 1;
	s.layer = m->n - 1;
	s.node = m->layers[m->n - 1].root;
	for (unsigned i = m->n; i-- > 0;) {
		if (*m->layers[i].at || m->layers[i].root->implied)
			continue;
		s.layer = i;
		s.node = m->layers[i].root;
	}
	while (path[done]) {
		if (!mnode_is_dir(s.node))
			return -ENOTDIR;
		done += strcspn(path + done, "/");
		(void)snprintf(walked, sizeof(walked), "%.*s", (int)done, path);
		if (!search(m, walked, s.parts, 0, &s))
			return -ENOENT;
		done += path[done] == '/';
	}
	*ret = s;
	return 0;
}

int model_parent(const struct model *m, const char *path, struct seen *ret)
{
	char dir[PATH_SIZE];
	struct seen s;
	int r;

	(void)snprintf(dir, sizeof(dir), "%.*s", (int)path_parent_len(path), path);
	r = model_lookup(m, dir, &s);
	if (r < 0)
		return r;
	if (!mnode_is_dir(s.node))
		return -ENOTDIR;
	*ret = s;
	return 0;
}

bool model_has_below(const struct model *m, const char *path, unsigned above)
{
	struct seen parent;
	struct seen s;

	return model_parent(m, path, &parent) == 0 && search(m, path, parent.parts, above + 1, &s);
}
