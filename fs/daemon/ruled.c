/* SPDX-License-Identifier: MIT */
/*
 * Telling the kernel after an exchange of the rules: refresh_rules() of refresh.h. Only names and
 * what is shown of them can differ by that; the pages of a file are the file's.
 */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "daemon/refresh_impl.h"
#include "ops/place.h"

/* Does the view show the same of a node that still stands for the same object? */
static bool shows_same(const struct found *a, const struct found *b)
{
	return a->st.st_ino == b->st.st_ino && a->st.st_mode == b->st.st_mode &&
	       a->st.st_uid == b->st.st_uid && a->st.st_gid == b->st.st_gid &&
	       a->st.st_nlink == b->st.st_nlink && a->st.st_size == b->st.st_size;
}

static bool is_selective(const struct layer *l)
{
	return l->kind == LAYER_SPEC && l->rule->only.n;
}

static bool any_is_selective(const struct stack *st)
{
	for (unsigned i = 0; i < st->n; i++)
		if (is_selective(&st->layers[i]))
			return true;
	return false;
}

/* May the name of what is no directory lead elsewhere without anybody telling? */
static bool is_loose(const struct refresh *r, struct node *dir, const char *name,
		     const struct outcome *o)
{
	cleanup_place struct place p = PLACE_INIT;
	struct found f;

	if (o->child->type == S_IFDIR || !any_is_selective(&r->srv->view->stack) ||
	    place_open(r->srv, dir->id, &p) < 0)
		return false;
	node_found(o->child, &f);
	return stack_is_loose(&r->srv->view->stack, &p.parts, name, &f);
}

/*
 * One name, after an exchange of the rules. Requests may have met the new ones already, and been
 * answered by them.
 */
static void refresh_ruled(const struct refresh *r, struct node *dir, const char *name)
{
	struct node *before = table_child(r->srv->table, dir, name);
	struct outcome o = { 0 };
	struct found then = { 0 };
	struct found now;

	if (before)
		node_found(before, &then);
	if (refresh_look(r, dir->id, name, &o) < 0 || !o.same || is_loose(r, dir, name, &o)) {
		if (!refresh_is_held(r, o.child))
			refresh_drop(r, dir->id, name, &o);
		if (o.child)
			inval_attr(r->inval, o.child->id);
	} else if (o.child->type == S_IFLNK) {
		inval_barrier(r->inval, dir->id);
		inval_pages(r->inval, o.child->id); /* the text depends on the rule, too */
	} else {
		node_found(o.child, &now);
		if (o.child != before || !shows_same(&then, &now)) {
			inval_barrier(r->inval, dir->id);
			inval_attr(r->inval, o.child->id);
		}
	}
	node_unref(before);
	outcome_clear(&o);
}

static void add_directories(int dir_fd, struct strv *ret)
{
	cleanup_fd int fd = fd_reopen(dir_fd, O_RDONLY | O_DIRECTORY);
	cleanup_dir DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	if (!d)
		return; /* what can't be read shows nothing either */
	(void)steal_fd(&fd); /* the stream's now */
	while ((e = readdir(d)))
		if (e->d_type == DT_DIR || e->d_type == DT_UNKNOWN)
			(void)strv_add(ret, e->d_name); /* without memory: until it is told of */
}

/*
 * Names that are not shown yet, for there is nothing to be seen in their directories: from now on
 * the kernel must ask for them each time, see stack_is_loose().
 */
static void add_unseen(const struct refresh *r, uint64_t dir, struct strv *ret)
{
	const struct stack *st = &r->srv->view->stack;
	cleanup_place struct place p = PLACE_INIT;

	if (!any_is_selective(st) || place_open(r->srv, dir, &p) < 0)
		return;
	for (uint64_t left = p.parts.parts; left; left &= left - 1) {
		int i = __builtin_ctzll(left);

		if (is_selective(&st->layers[i]) && p.parts.fd[i] >= 0)
			add_directories(p.parts.fd[i], ret);
	}
}

/* All of a directory, after an exchange of the rules. */
static void refresh_ruled_dir(const struct refresh *r, struct node *dir)
{
	cleanup_strv struct strv names = STRV_INIT;

	/* one that can't be read, or is no more: what is known of it */
	(void)refresh_names(r, dir->id, &names);
	add_unseen(r, dir->id, &names);
	strv_sort(&names);
	for (size_t i = 0; i < names.n && !inval_is_stopping(r->inval); i++)
		if (!i || strcmp(names.v[i], names.v[i - 1]) != 0)
			refresh_ruled(r, dir, names.v[i]);
	inval_barrier(r->inval, dir->id);
	inval_listing(r->inval, dir->id);
}

/* One place of a rule, and the way there, which may be there for it alone. */
static void refresh_place(const struct refresh *r, const char *path)
{
	struct node *n = NULL;

	if (table_get(r->srv->table, NODE_ROOT, &n) < 0)
		return;
	while (n && n->type == S_IFDIR && *path) {
		size_t len = strcspn(path, "/");
		cleanup_free char *name = strndup(path, len);
		struct node *child = name ? table_child(r->srv->table, n, name) : NULL;

		if (name)
			refresh_ruled(r, n, name);
		inval_barrier(r->inval, n->id);
		inval_listing(r->inval, n->id);
		node_unref(n);
		n = child; /* known, so that what is known below it is looked at, too */
		path += len + (path[len] == '/');
	}
	if (n && n->type == S_IFDIR)
		refresh_each_dir(r, n, refresh_ruled_dir);
	node_unref(n);
}

void refresh_rules(const struct refresh *r, const struct strv *places)
{
	if (strv_has(places, "")) {
		refresh_place(r, "");
		return;
	}
	for (size_t i = 0; i < places->n; i++)
		refresh_place(r, places->v[i]);
}
