/* SPDX-License-Identifier: MIT */
/* What own changes make untrue: see own.h. All of this only takes note. */
#include "daemon/own.h"

static void on_moved(void *arg, struct node *dir)
{
	follow_again(inval_follow(arg), dir);
	/* names that the kernel knows to be absent may be there now, and nobody else knows them */
	inval_node(arg, dir->id, "/");
}

static void on_emptied(void *arg, struct node *dir)
{
	inval_node(arg, dir->id, "");
}

static void on_renumbered(void *arg, uint64_t id)
{
	inval_pages(arg, id);
}

static void on_strayed(void *arg, uint64_t dir, const char *name)
{
	inval_node(arg, dir, name);
}

void own_attach(struct server *srv, struct inval *i)
{
	srv->on_moved = on_moved;
	srv->on_emptied = on_emptied;
	table_on_change(srv->table, on_renumbered, on_strayed, i);
}

void own_detach(struct server *srv)
{
	srv->on_moved = NULL;
	srv->on_emptied = NULL;
	table_on_change(srv->table, NULL, NULL, NULL);
}
