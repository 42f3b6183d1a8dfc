/* SPDX-License-Identifier: MIT */
/* Trees in memory: see mtree.h. */
#include "mtree.h"

#include <stdlib.h>
#include <string.h>

#include "base/path.h"

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

/* Arenas have threads of their own. */
static uint64_t next_id(void)
{
	static _Atomic uint64_t last;

	return ++last;
}

struct mdata *mdata_new(enum kind kind, mode_t mode, const char *text)
{
	struct mdata *d = must(calloc(1, sizeof(*d)));

	d->id = next_id();
	d->kind = kind;
	d->mode = mode;
	d->len = strlen(text);
	memcpy(d->bytes, text, d->len);
	return d;
}

struct mdata *mdata_copy(const struct mdata *d)
{
	struct mdata *c = must(malloc(sizeof(*c)));

	*c = *d;
	c->id = next_id();
	c->names = 0;
	c->ino = 0;
	c->lent_ino = false;
	return c;
}

struct mnode *mnode_new(const char *name, struct mdata *d)
{
	struct mnode *n = must(calloc(1, sizeof(*n)));

	(void)snprintf(n->name, sizeof(n->name), "%s", name);
	n->data = d;
	d->names++;
	return n;
}

void mnode_free(struct mnode *n)
{
	if (!n)
		return;
	while (n->child) {
		struct mnode *c = n->child;

		n->child = c->next;
		mnode_free(c);
	}
	if (!--n->data->names)
		free(n->data);
	free(n);
}

struct mnode *mnode_child(const struct mnode *dir, const char *name)
{
	for (struct mnode *c = dir->child; c; c = c->next)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

struct mnode *mnode_find(struct mnode *root, const char *path)
{
	struct mnode *n = root;
	char name[NAME_SIZE];

	while (n && *path) {
		size_t len = strcspn(path, "/");

		(void)snprintf(name, sizeof(name), "%.*s", (int)len, path);
		n = mnode_is_dir(n) ? mnode_child(n, name) : NULL;
		path += len;
		path += *path == '/';
	}
	return n;
}

void mnode_put(struct mnode *dir, struct mnode *n)
{
	struct mnode **p = &dir->child;

	mnode_drop(dir, n->name);
	while (*p && strcmp((*p)->name, n->name) < 0)
		p = &(*p)->next;
	n->next = *p;
	*p = n;
}

struct mnode *mnode_take(struct mnode *dir, const char *name)
{
	for (struct mnode **p = &dir->child; *p; p = &(*p)->next) {
		struct mnode *n = *p;

		if (strcmp(n->name, name) != 0)
			continue;
		*p = n->next;
		n->next = NULL;
		return n;
	}
	return NULL;
}

void mnode_drop(struct mnode *dir, const char *name)
{
	mnode_free(mnode_take(dir, name));
}

struct mnode *mnode_parent(struct mnode *root, const char *path)
{
	char dir[PATH_SIZE];
	struct mnode *n;

	(void)snprintf(dir, sizeof(dir), "%.*s", (int)path_parent_len(path), path);
	n = mnode_find(root, dir);
	return n && mnode_is_dir(n) ? n : NULL;
}

struct mdata *mcopies_add(struct mcopies *c, struct mdata *d)
{
	c->v = must(realloc(c->v, (c->n + 1) * sizeof(*c->v)));
	c->v[c->n] = (struct mcopy){ .from = d, .to = mdata_copy(d) };
	return c->v[c->n++].to;
}

static struct mdata *copy_once(struct mcopies *c, struct mdata *d)
{
	struct mdata *copy;

	for (size_t i = 0; i < c->n; i++)
		if (c->v[i].from == d)
			return c->v[i].to;
	copy = mcopies_add(c, d);
	copy->id = d->id;
	copy->ino = d->ino;
	copy->lent_ino = d->lent_ino;
	return copy;
}

struct mnode *mnode_clone(const struct mnode *n, struct mcopies *c)
{
	struct mnode *copy = mnode_new(n->name, copy_once(c, n->data));
	struct mnode **last = &copy->child;

	copy->opaque = n->opaque;
	copy->implied = n->implied;
	for (const struct mnode *k = n->child; k; k = k->next) {
		*last = mnode_clone(k, c);
		last = &(*last)->next;
	}
	return copy;
}
