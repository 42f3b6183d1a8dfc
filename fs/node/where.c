/* SPDX-License-Identifier: MIT */
/* Where a node is in the view, and what is known below it: see table.h. */
#include <errno.h>
#include <string.h>

#include "node/table_impl.h"

static bool leads_nowhere(const struct name *nm)
{
	const struct node *at = nm->parent;

	while (at->id != NODE_ROOT && at->names)
		at = at->names->parent;
	return at->id != NODE_ROOT;
}

/* One of its names may be in a directory that has lost its own: then go by another one. */
static void choose_name(struct node *n)
{
	struct name *nm = n->names;

	if (!nm || !nm->next) /* as it mostly is */
		return;
	while (nm && leads_nowhere(nm))
		nm = nm->next;
	if (nm && nm != n->names)
		table_make_first(n, nm);
}

static int path_locked(struct node *n, struct strbuf *ret)
{
	size_t len = 0;
	size_t start = ret->len;
	const struct node *at;
	char *end;

	choose_name(n);
	for (at = n; at->id != NODE_ROOT; at = at->names->parent) {
		if (!at->names)
			return -ESTALE;
		len += strlen(at->names->text) + 1;
	}
	if (!len)
		return 0;
	for (size_t i = 0; i < len - 1; i++)
		strbuf_addc(ret, '/');
	if (strbuf_failed(ret) < 0)
		return -ENOMEM;
	end = ret->buf + start + len - 1;
	for (at = n; at->id != NODE_ROOT; at = at->names->parent) {
		size_t part = strlen(at->names->text);

		end -= part;
		memcpy(end, at->names->text, part);
		end--;
	}
	return 0;
}

int table_path(struct table *t, struct node *n, struct strbuf *ret)
{
	int r;

	pthread_mutex_lock(&t->lock);
	r = path_locked(n, ret);
	pthread_mutex_unlock(&t->lock);
	return r;
}

int table_where(struct table *t, struct node *n, struct strbuf *ret_path, struct found *ret_found)
{
	int r;

	pthread_mutex_lock(&t->lock);
	r = path_locked(n, ret_path);
	seen_get(&n->seen, ret_found);
	pthread_mutex_unlock(&t->lock);
	return r;
}

int table_place(struct table *t, struct node *n, struct strbuf *ret_path,
		struct node **ret_parent)
{
	int r = -ESTALE;

	pthread_mutex_lock(&t->lock);
	if (n->names)
		r = path_locked(n, ret_path);
	if (!r) {
		*ret_parent = n->names->parent;
		(*ret_parent)->refs++;
	}
	pthread_mutex_unlock(&t->lock);
	return r;
}

int table_kids(struct table *t, struct node *dir, struct strv *ret)
{
	int r = 0;

	pthread_mutex_lock(&t->lock);
	for (const struct name *nm = dir->kids; nm && !r; nm = nm->kid_next)
		r = strv_add(ret, nm->text);
	pthread_mutex_unlock(&t->lock);
	return r;
}

static int push(struct node ***v, size_t *n, size_t *cap, struct node *node)
{
	if (*n == *cap) {
		size_t more = *cap ? *cap * 2 : 64;
		struct node **p = reallocarray(*v, more, sizeof(struct node *));

		if (!p)
			return -ENOMEM;
		*v = p;
		*cap = more;
	}
	node->refs++;
	(*v)[(*n)++] = node;
	return 0;
}

int table_below(struct table *t, struct node *dir, struct node ***ret, size_t *ret_n)
{
	struct node **v = NULL;
	size_t n = 0;
	size_t cap = 0;
	int r = 0;

	pthread_mutex_lock(&t->lock);
	for (struct name *nm = dir->kids; nm && !r; nm = nm->kid_next)
		r = push(&v, &n, &cap, nm->node);
	for (size_t i = 0; i < n && !r; i++) {
		for (struct name *nm = v[i]->kids; nm && !r; nm = nm->kid_next)
			r = push(&v, &n, &cap, nm->node);
	}
	pthread_mutex_unlock(&t->lock);
	if (r < 0) {
		for (size_t i = 0; i < n; i++)
			node_unref(v[i]);
		free(v);
		return r;
	}
	*ret = v;
	*ret_n = n;
	return 0;
}
