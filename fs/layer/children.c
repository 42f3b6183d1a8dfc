/* SPDX-License-Identifier: MIT */
/* What a directory shows: see children.h. */
#include "layer/children.h"

#include <errno.h>
#include <stdlib.h>

void children_clear(struct children *c)
{
	free(c->v);
	listing_free(c->listing);
	*c = (struct children){ 0 };
}

static int look_up_all(const struct stack *st, const struct dirset *ds, struct children *c)
{
	const struct listing *l = c->listing;

	c->v = calloc(l->n + 1, sizeof(*c->v));
	if (!c->v)
		return -ENOMEM;
	for (size_t i = 0; i < l->n; i++) {
		struct child *k = &c->v[c->n];
		int r = stack_child(st, ds, l->v[i].name, &k->f);

		if (r == -ENOENT)
			continue; /* removed meanwhile */
		if (r < 0)
			return r;
		k->name = l->v[i].name;
		c->n++;
	}
	return 0;
}

int children_read(const struct stack *st, const char *path, const struct found *dir,
		  struct children *ret)
{
	cleanup_children struct children c = { 0 };
	cleanup_dirset struct dirset ds;
	int r;

	dirset_init(&ds);
	r = stack_open_dir(st, path, dir->parts, &ds);
	if (!r)
		r = listing_read(st, &ds, &c.listing);
	if (!r)
		r = look_up_all(st, &ds, &c);
	if (r < 0)
		return r;
	*ret = c;
	c = (struct children){ 0 };
	return 0;
}
