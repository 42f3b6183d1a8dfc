/* SPDX-License-Identifier: MIT */
/* Growth: see growth.h. */
#include "ops/growth.h"

#include "ops/attr.h"
#include "ops/entry.h"
#include "ops/reply.h"

void growth_told(struct node *n, off_t size)
{
	atomic_store(&n->told_end, (uint64_t)size + 1);
}

void growth_own(struct node *n, off_t end)
{
	uint64_t told = atomic_load(&n->told_end);

	while (told && told < (uint64_t)end + 1 &&
	       !atomic_compare_exchange_weak(&n->told_end, &told, (uint64_t)end + 1))
		;
}

bool growth_is_news(const struct server *srv, const struct node *n, const struct stat *st)
{
	uint64_t told = atomic_load(&n->told_end);

	return n->type == S_IFREG && srv->stale_data && told && told < (uint64_t)st->st_size + 1;
}

void growth_tell(struct server *srv, struct node *n, struct stat *st, double *timeout_sec)
{
	if (n->type != S_IFREG)
		return;
	if (!growth_is_news(srv, n, st)) {
		growth_told(n, st->st_size);
		return;
	}
	st->st_size = (off_t)(atomic_load(&n->told_end) - 1);
	*timeout_sec = 0;
	srv->stale_data(srv->watch_arg, n->id);
}

void growth_settle(struct server *srv, uint64_t id, void (*drop)(void *arg, uint64_t id),
		   void *arg, fuse_req_t *waiting, size_t n_waiting)
{
	cleanup_node struct node *n = NULL;
	struct stat st = { 0 };
	int r = table_get(srv->table, id, &n);

	/* first: what is read after the drop has at least this size */
	if (!r && n->type == S_IFREG)
		r = attr_get(srv, n, &st);
	drop(arg, id);
	if (!r && n->type == S_IFREG)
		growth_told(n, st.st_size);
	for (size_t i = 0; i < n_waiting; i++)
		reply_attr(waiting[i], r, &st, r < 0 ? 0 : entry_timeout(srv, n));
}
