/* SPDX-License-Identifier: MIT */
/* Refused changes: see refusal.h. */
#include "ops/refusal.h"

#include <errno.h>
#include <time.h>

#include "base/log.h"

enum { QUIET_SEC = 10 };

static const char *const words[] = {
	[ROUTE_EDIT] = "change",
	[ROUTE_CREATE] = "creation",
	[ROUTE_REMOVE] = "removal",
};

/* May a line be written now? */
static bool is_due(struct server *srv)
{
	struct timespec now;
	int64_t last = atomic_load(&srv->refused_sec);

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (!last || now.tv_sec - last >= QUIET_SEC) &&
	       atomic_compare_exchange_strong(&srv->refused_sec, &last, now.tv_sec);
}

int refusal_note(struct server *srv, int r, const char *path, const struct found *f,
		 enum route_op op)
{
	struct route rt = { .rule = "" };
	int why;

	if (r != -EROFS || srv->config.readonly)
		return r;
	why = op == ROUTE_CREATE ? route_new(srv->view, path, S_IFREG, f, &rt)
				 : route_existing(srv->view, path, f, op, &rt);
	if (why == -EROFS && is_due(srv))
		log_warn("%s of '%s' refused: %s", words[op], path, rt.rule);
	return r;
}
