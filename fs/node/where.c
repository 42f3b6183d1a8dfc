/* SPDX-License-Identifier: MIT */
/* Where a node is in the view: see table.h. */
#include <errno.h>
#include <string.h>

#include "node/table_impl.h"

static int path_locked(const struct node *n, struct strbuf *ret)
{
	size_t len = 0;
	size_t start = ret->len;
	const struct node *at;
	char *end;

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

int table_path(struct table *t, const struct node *n, struct strbuf *ret)
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

int table_place(struct table *t, const struct node *n, struct strbuf *ret_path,
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
