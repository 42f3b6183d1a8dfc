/* SPDX-License-Identifier: MIT */
/* Attributes: see attr.h. */
#include "ops/attr.h"

#include <errno.h>
#include <fcntl.h>

#include "ops/entry.h"
#include "ops/park.h"
#include "ops/place.h"

/* From a descriptor that the node has anyway. False if it has none. */
static bool from_handle(struct server *srv, struct node *n, const struct found *f, struct stat *ret)
{
	struct stat st;

	for (int k = 0; k < HANDLE_KINDS; k++) {
		cleanup_handle struct handle *h = handle_get(srv->slots, n, (enum handle_kind)k);

		if (!h || fstat(h->fd, &st) < 0)
			continue;
		entry_attr(f, &st, ret);
		return true;
	}
	return false;
}

static bool from_park(struct server *srv, struct node *n, const struct found *f, struct stat *ret)
{
	cleanup_fd int fd = park_open(srv, n, O_PATH);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return false;
	entry_attr(f, &st, ret);
	return true;
}

/* What is left of a node that has no name: the last that was seen of it. */
static void from_memory(struct server *srv, struct node *n, const struct found *f, struct stat *ret)
{
	if (!from_handle(srv, n, f, ret) && !from_park(srv, n, f, ret)) {
		*ret = f->st;
		ret->st_nlink = n->type == S_IFDIR || !f->st.st_nlink ? 0 : f->st.st_nlink - 1;
	} else if (atomic_load(&n->parked) && ret->st_nlink) {
		ret->st_nlink--;
	}
	if (table_orphan(srv->table, n) == ORPHAN_HIDDEN)
		ret->st_nlink = 0;
}

/*
 * Of a directory that one layer alone has nothing but that layer's own can have changed, where it
 * is heard if another one gets the name.
 */
static bool look_at_only_part(struct place *p, const char *name, const struct found *then,
			      struct found *ret)
{
	unsigned i = then->layer;

	if (!place_in(p) || then->generation != p->srv->view->stack.generation || then->virtual ||
	    then->implied || then->parts != UINT64_C(1) << i || p->parts.fd[i] < 0)
		return false;
	*ret = *then;
	if (object_stat(p->parts.fd[i], name, &ret->obj) < 0 || !object_same(&ret->obj, &then->obj))
		return false;
	ret->st = ret->obj.st;
	ret->st.st_ino = then->st.st_ino;
	return true;
}

/* By name, through the directory that it is in: directories, and what no layer has on disk. */
static int from_parent(struct server *srv, struct node *n, struct stat *ret)
{
	cleanup_place struct place p = PLACE_INIT;
	char name[NAME_MAX + 1];
	struct found now;
	struct found then;
	int r = place_open_parent(srv, n, &p, name);

	node_found(n, &then);
	if (!r && !look_at_only_part(&p, name, &then, &now))
		r = place_child(&p, name, &now);
	if (r < 0)
		return r == -ENOENT ? -ESTALE : r;
	if ((now.st.st_mode & S_IFMT) != n->type ||
	    (n->type != S_IFDIR && !now.virtual && !object_same(&now.obj, &then.obj)))
		return -ESTALE;
	table_refresh(srv->table, n, p.dir, name, p.seq, &now);
	*ret = now.st;
	return 0;
}

/* Of the owner's object itself: it stays this node's even if a higher layer hides it meanwhile. */
static int from_owner(struct server *srv, struct node *n, struct stat *ret)
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	cleanup_fd int fd = -1;
	struct found f;
	struct stat st;
	int r = table_where(srv->table, n, &path, &f);

	if (r < 0)
		return r;
	fd = server_open_file(srv, path.buf, &f, O_PATH);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	entry_attr(&f, &st, ret);
	return 0;
}

int attr_get_held(struct server *srv, struct node *n, struct stat *ret)
{
	struct found f;
	int r;

	if (n->id == NODE_ROOT) {
		r = stack_root(&srv->view->stack, &f);
		if (r < 0)
			return r;
		table_refresh(srv->table, n, NULL, NULL, 0, &f);
		*ret = f.st;
		return 0;
	}
	node_found(n, &f);
	if (atomic_load(&n->nameless)) {
		from_memory(srv, n, &f, ret);
		return 0;
	}
	if (n->type == S_IFDIR || f.virtual)
		return from_parent(srv, n, ret);
	if (n->type == S_IFREG && from_handle(srv, n, &f, ret))
		return 0;
	r = from_owner(srv, n, ret);
	/* its layer may have renamed it or copied it up just now: look it up as anybody would */
	return r == -ESTALE ? from_parent(srv, n, ret) : r;
}

int attr_get(struct server *srv, struct node *n, struct stat *ret)
{
	int r;

	tree_read(srv);
	r = attr_get_held(srv, n, ret);
	tree_done(srv);
	return r;
}
