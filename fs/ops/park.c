/* SPDX-License-Identifier: MIT */
/* Files without a name, kept by one in the workdir: see park.h. */
#include "ops/park.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/fd.h"

static void name_of(const struct node *n, char ret[WORKDIR_NAME_MAX])
{
	snprintf(ret, WORKDIR_NAME_MAX, "open.%" PRIu64, n->id);
}

bool park_begin(struct server *srv, struct node *n, const struct handle *kept,
		const char *path, const struct found *f, enum route_op op)
{
	char name[WORKDIR_NAME_MAX];
	char fd_path[32];
	struct route route;

	if (n->type != S_IFREG || !srv->view->work || !slots_are_scarce(srv->slots) ||
	    atomic_load(&n->parked) || route_existing(srv->view, path, f, op, &route) < 0 ||
	    !route.in_place || route.layer != f->layer)
		return false;
	name_of(n, name);
	/* on another file system, or where links are not allowed, the descriptor must do */
	if (linkat(AT_FDCWD, fd_proc_path(kept->fd, fd_path), srv->view->work->fd, name,
		   AT_SYMLINK_FOLLOW) < 0)
		return false;
	atomic_store(&n->parked, true);
	return true;
}

void park_end(struct server *srv, struct node *n, struct handle *kept)
{
	if (!atomic_load(&n->nameless) || table_orphan(srv->table, n) != ORPHAN_OWN)
		park_drop(srv, n);
	handle_pin(kept);
}

int park_open(struct server *srv, struct node *n, int flags)
{
	char name[WORKDIR_NAME_MAX];
	int fd;

	if (!atomic_load(&n->parked))
		return -ESTALE;
	name_of(n, name);
	fd = openat(srv->view->work->fd, name, flags | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

void park_drop(void *srv, struct node *n)
{
	const struct server *s = srv;
	char name[WORKDIR_NAME_MAX];

	if (!atomic_exchange(&n->parked, false))
		return;
	name_of(n, name);
	(void)unlinkat(s->view->work->fd, name, 0); /* the next start clears it otherwise */
}
