/* SPDX-License-Identifier: MIT */
/* Files of whose changes nobody tells: see refresh.h. */
#include "daemon/refresh.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "ops/entry.h"
#include "ops/place.h"

/* Has the file another size or other times than the kernel was told last? */
static bool differs(struct server *srv, struct node *n)
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	cleanup_fd int fd = -1;
	struct found f;
	struct stat st;
	uint64_t before;
	uint64_t now;

	tree_read(srv);
	if (table_where(srv->table, n, &path, &f) == 0 && !f.virtual)
		fd = server_open_file(srv, path.buf, &f, O_PATH);
	tree_done(srv);
	if (fd < 0 || fstat(fd, &st) < 0)
		return false; /* gone or replaced: that is an event's business */
	now = entry_stamp(&st);
	before = atomic_exchange(&n->stamp, now);
	return now != (before ? before : entry_stamp(&f.obj.st));
}

bool refresh_file(const struct refresh *r, uint64_t id)
{
	cleanup_node struct node *n = NULL;

	if (table_get(r->srv->table, id, &n) < 0)
		return false;
	if (differs(r->srv, n))
		inval_pages(r->inval, id);
	return true;
}

void refresh_files(const struct refresh *r)
{
	cleanup_node struct node *root = NULL;
	struct node **below = NULL;
	size_t n = 0;

	if (table_get(r->srv->table, NODE_ROOT, &root) < 0 ||
	    table_below(r->srv->table, root, &below, &n) < 0)
		return;
	for (size_t i = 0; i < n; i++) {
		if (below[i]->type != S_IFDIR && differs(r->srv, below[i]))
			inval_pages(r->inval, below[i]->id);
		node_unref(below[i]);
	}
	free(below);
}
