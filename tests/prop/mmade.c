/* SPDX-License-Identifier: MIT */
/*
 * What a view has made below a graft, as far as the model remembers it: see model.h. An item says
 * which object was made at which path, and which name of people's it stands for, if any.
 */
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "model.h"

static bool is_graft(const struct model *m, unsigned layer)
{
	return m->layers[layer].role == ROLE_GRAFT;
}

static struct mitem *find_at(const struct mmade *made, const char *path, const struct mdata *d)
{
	for (size_t i = 0; i < made->n; i++)
		if (made->v[i].id == d->id && !strcmp(made->v[i].path, path))
			return &made->v[i];
	return NULL;
}

/* Forget one name of @d, or with NULL all. */
static void unset(struct mmade *made, const struct mdata *d, const char *path)
{
	size_t n = 0;

	for (size_t i = 0; i < made->n; i++)
		if (made->v[i].id != d->id || (path && strcmp(made->v[i].path, path) != 0))
			made->v[n++] = made->v[i];
	made->n = n;
}

static bool is_theirs(const struct mmade *made, const char *path)
{
	for (size_t i = 0; i < made->n; i++)
		if (!strcmp(made->v[i].theirs, path))
			return true;
	return false;
}

static void set(struct mmade *made, const struct mdata *d, const char *path, const char *theirs)
{
	struct mitem *i = find_at(made, path, d);
	struct mitem item = { .id = d->id };

	(void)snprintf(item.path, sizeof(item.path), "%s", path);
	(void)snprintf(item.theirs, sizeof(item.theirs), "%s", theirs);
	if (!i) {
		made->v = realloc(made->v, (made->n + 1) * sizeof(*made->v));
		if (!made->v)
			abort();
		i = &made->v[made->n++];
	}
	*i = item;
}

void model_made(struct model *m, unsigned layer, const char *path, const struct mdata *d)
{
	if (is_graft(m, layer))
		set(&m->made, d, path, is_theirs(&m->made, path) ? path : "");
}

/* The name of people's that @d stands for, or comes from, once it has been renamed. */
static void theirs_after(const struct mmade *made, const char *from, const char *to,
			 const struct mdata *d, const struct mdata *replaced, char ret[PATH_SIZE])
{
	const struct mitem *i = find_at(made, from, d);
	const struct mitem *old = replaced ? find_at(made, to, replaced) : NULL;
	const char *theirs = i ? i->theirs : from;

	if ((replaced && (!old || *old->theirs)) || is_theirs(made, to))
		theirs = to;
	(void)snprintf(ret, PATH_SIZE, "%s", theirs);
}

static bool follow(char path[PATH_SIZE], const char *from, const char *to)
{
	const char *rest = path_below(path, from);
	char now[2 * PATH_SIZE];

	if (!rest || !*rest)
		return false;
	(void)snprintf(now, sizeof(now), "%s/%s", to, rest);
	(void)snprintf(path, PATH_SIZE, "%.*s", PATH_SIZE - 1, now);
	return true;
}

static void move_below(struct mmade *made, const char *from, const char *to, bool swapped)
{
	for (size_t i = 0; i < made->n; i++) {
		struct mitem *k = &made->v[i];

		if (!follow(k->path, from, to) && swapped)
			(void)follow(k->path, to, from);
		if (!follow(k->theirs, from, to) && swapped)
			(void)follow(k->theirs, to, from);
	}
}

static void move_one(struct mmade *made, const char *from, const char *to, const struct mdata *d,
		     const char *theirs)
{
	unset(made, d, from);
	set(made, d, to, theirs);
}

void model_made_moved(struct model *m, unsigned layer, const char *from, const char *to,
		      const struct mdata *d, const struct mdata *replaced)
{
	char theirs[PATH_SIZE];

	if (!is_graft(m, layer))
		return;
	theirs_after(&m->made, from, to, d, replaced, theirs);
	if (d->kind == KIND_DIR && strcmp(from, to) != 0)
		move_below(&m->made, from, to, false);
	move_one(&m->made, from, to, d, theirs);
}

void model_made_swapped(struct model *m, unsigned layer, const char *a, const char *b,
			const struct mdata *at_a, const struct mdata *at_b)
{
	char theirs_a[PATH_SIZE];
	char theirs_b[PATH_SIZE];

	if (!is_graft(m, layer))
		return;
	theirs_after(&m->made, a, b, at_a, at_b, theirs_a);
	theirs_after(&m->made, b, a, at_b, at_a, theirs_b);
	move_below(&m->made, a, b, true);
	move_one(&m->made, a, b, at_a, theirs_a);
	move_one(&m->made, b, a, at_b, theirs_b);
}

void model_made_gone(struct model *m, const char *path, const struct mdata *d)
{
	bool last = d->kind == KIND_DIR || d->names == 1;

	unset(&m->made, d, last ? NULL : path);
}

bool model_may_go(const struct model *m, unsigned layer, const char *path, const struct mdata *d)
{
	const struct mitem *i = find_at(&m->made, path, d);

	return i && (!*i->theirs ||
		     (strcmp(i->theirs, path) != 0 && model_in_layer(m, layer, i->theirs)));
}

static bool is_still_there(const struct model *m, const struct mitem *i)
{
	for (unsigned k = 0; k < m->n; k++) {
		struct mnode *n = is_graft(m, k) ? model_in_layer(m, k, i->path) : NULL;

		if (n && n->data->id == i->id)
			return true;
	}
	return false;
}

void model_reopen(struct model *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->made.n; i++)
		if (is_still_there(m, &m->made.v[i]))
			m->made.v[n++] = m->made.v[i];
	m->made.n = n;
}
