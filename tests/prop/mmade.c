/* SPDX-License-Identifier: MIT */
/*
 * What a view has made below a graft, as far as the model remembers it: see model.h. An item says
 * which object was made at which path, and which name of people's it stands for, if any.
 */
#include <stdlib.h>
#include <string.h>

#include "model.h"

static bool is_graft(const struct model *m, unsigned layer)
{
	return m->layers[layer].role == ROLE_GRAFT;
}

static struct mitem *find(const struct mmade *made, const struct mdata *d)
{
	for (size_t i = 0; i < made->n; i++)
		if (made->v[i].id == d->id)
			return &made->v[i];
	return NULL;
}

static struct mitem *find_at(const struct mmade *made, const char *path, const struct mdata *d)
{
	struct mitem *i = find(made, d);

	return i && !strcmp(i->path, path) ? i : NULL;
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
	struct mitem *i = find(made, d);
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

void model_made_moved(struct model *m, unsigned layer, const char *from, const char *to,
		      const struct mdata *d, const struct mdata *replaced)
{
	const struct mitem *i = find_at(&m->made, from, d);
	const struct mitem *old = replaced ? find_at(&m->made, to, replaced) : NULL;
	char theirs[PATH_SIZE];

	if (!is_graft(m, layer))
		return;
	if ((replaced && (!old || *old->theirs)) || is_theirs(&m->made, to))
		(void)snprintf(theirs, sizeof(theirs), "%s", to);
	else
		(void)snprintf(theirs, sizeof(theirs), "%s", i ? i->theirs : from);
	set(&m->made, d, to, theirs);
}

void model_made_gone(struct model *m, const char *path, const struct mdata *d)
{
	struct mitem *i = find(&m->made, d);
	bool last = d->kind == KIND_DIR || d->names == 1;

	if (i && (last || !strcmp(i->path, path)))
		*i = m->made.v[--m->made.n];
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
