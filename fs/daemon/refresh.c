/* SPDX-License-Identifier: MIT */
/* Refreshing what the kernel knows: see refresh.h. */
#include "daemon/refresh_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/path.h"
#include "layer/listing.h"
#include "layout/supply.h"
#include "ops/entry.h"
#include "ops/place.h"

/* A look that came too late is taken again; see entry.c. */
enum { MAX_TRIES = 100 };

void outcome_clear(struct outcome *o)
{
	node_unref(o->child);
	*o = (struct outcome){ 0 };
}

/* Look at a name in an open directory and correct the table. */
static int look(struct place *p, const char *name, struct outcome *o)
{
	struct table *t = p->srv->table;
	struct found now;
	struct found then;
	int r;

	o->child = table_child(t, p->dir, name);
	r = place_child(p, name, &now);
	if (r < 0 && r != -ENOENT)
		return r;
	o->absent = r == -ENOENT;
	o->type = r ? 0 : now.st.st_mode & S_IFMT;
	if (!o->child)
		return 0;
	if (!r && table_is_same(t, o->child, &now)) {
		node_found(o->child, &then);
		o->same = true;
		/* where it was changed by this name, the table knows that already */
		o->new_parts = now.parts != then.parts || !object_same(&now.obj, &then.obj);
		table_refresh(t, o->child, p->dir, name, p->seq, &now);
		return 0;
	}
	if (table_is_changing(t, o->child))
		return -EBUSY; /* our own change is giving it another object */
	return entry_absent(p, name);
}

static int look_once(const struct refresh *r, uint64_t dir, const char *name, struct outcome *o)
{
	cleanup_place struct place p = PLACE_INIT;
	int ret = place_open(r->srv, dir, &p);

	return ret < 0 ? ret : look(&p, name, o);
}

int refresh_look(const struct refresh *r, uint64_t dir, const char *name, struct outcome *o)
{
	int ret = -EAGAIN;

	for (int i = 0; i < MAX_TRIES && ret == -EAGAIN; i++) {
		outcome_clear(o);
		ret = look_once(r, dir, name, o);
		if (ret == -EBUSY) {
			node_begin(o->child);
			node_end(o->child);
			ret = -EAGAIN;
		}
	}
	return ret;
}

static void refresh_tree(const struct refresh *r, struct node *dir);

bool refresh_is_held(const struct refresh *r, struct node *n)
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT;

	return n && n->type == S_IFDIR && redirect_holds_mount(r->srv->view->redirects, "") &&
	       table_path(r->srv->table, n, &path) == 0 &&
	       redirect_holds_mount(r->srv->view->redirects, path.buf);
}

/*
 * Who watches hears of what has gone while the kernel still has it. Returns whether the kernel has
 * got the name anew by that.
 */
static bool repeat_name(const struct refresh *r, uint64_t dir, const char *name,
			const struct outcome *o)
{
	struct events *v = inval_events(r->inval);

	if (o->child || !o->type)
		events_tell(v, ECHO_GONE, dir, name, o->child ? o->child->type : S_IFREG, o->child);
	return o->type && events_tell(v, ECHO_CAME, dir, name, o->type, NULL);
}

void refresh_drop(const struct refresh *r, uint64_t dir, const char *name, const struct outcome *o)
{
	bool was_dir = o->child && o->child->type == S_IFDIR;

	if (was_dir || (!o->child && (!o->type || o->type == S_IFDIR)))
		inval_dir_entry(r->inval, dir, name, was_dir ? o->child->id : 0);
	else
		inval_entry(r->inval, dir, name);
}

/* Tell the kernel about a name that leads elsewhere than it thinks. */
static void tell_name(const struct refresh *r, uint64_t dir, const char *name,
		      const struct outcome *o)
{
	if (!refresh_is_held(r, o->child) && !repeat_name(r, dir, name, o))
		refresh_drop(r, dir, name, o);
	inval_listing(r->inval, dir);
	if (o->child)
		inval_attr(r->inval, o->child->id);
}

/* The name still leads to the node: say what of it may have changed. */
static void tell_node(const struct refresh *r, const struct node *n, unsigned what)
{
	if (n->type == S_IFDIR || !(what & (WATCH_DATA | WATCH_NAME)))
		inval_attr(r->inval, n->id);
	else
		inval_pages(r->inval, n->id);
}

/* The same for who watches. A new name may have been looked up before we heard of it. */
static void repeat_node(const struct refresh *r, uint64_t dir, const char *name, unsigned what,
			const struct outcome *o)
{
	struct events *v = inval_events(r->inval);

	if (what & WATCH_NAME && o->type != S_IFDIR)
		events_tell(v, ECHO_CAME, dir, name, o->type, o->child);
	else if (what & WATCH_DATA)
		events_tell(v, ECHO_DATA, dir, name, o->type, o->child);
	else if (what & WATCH_ATTR)
		events_tell(v, ECHO_ATTR, dir, name, o->type, o->child);
}

/*
 * Is what the kernel has of a directory of another one? That need not show in what was found, since
 * a request may have been there before: it shows in what is watched.
 */
static bool is_turned(const struct refresh *r, const struct outcome *o)
{
	bool followed;

	if (o->new_parts)
		return true;
	tree_read(r->srv);
	followed = place_is_followed(r->srv, o->child);
	tree_done(r->srv);
	return !followed;
}

/* One name in one directory of the view. */
static void refresh_name(const struct refresh *r, uint64_t dir, const char *name, unsigned what)
{
	struct outcome o = { 0 };
	bool own_name = (what & WATCH_OWN) && (what & WATCH_NAME);
	int ret;

	if (own_name)
		inval_barrier(r->inval, dir); /* the request that did it, if it was made here */
	ret = refresh_look(r, dir, name, &o);
	if (ret < 0 && ret != -EAGAIN && ret != -ENOENT && ret != -ESTALE)
		log_debug("watch", "cannot look at '%s': %s", name, strerror(-ret));
	if (!ret && own_name && o.absent && !o.child) {
		/* the kernel knows; by now somebody may work in a new directory of that name */
		inval_listing(r->inval, dir);
	} else if (ret < 0 || !o.same) {
		if (o.child || what & WATCH_NAME)
			tell_name(r, dir, name, &o);
	} else if (o.child->type == S_IFDIR && (o.new_parts || (what & WATCH_NAME))) {
		/* another directory of that name, or one more part: nothing in it is certain */
		if (!(what & WATCH_OWN) || is_turned(r, &o)) {
			inval_listing(r->inval, dir);
			refresh_tree(r, o.child);
		}
	} else if (!(what & WATCH_OWN) || o.child->type == S_IFDIR) {
		inval_barrier(r->inval, dir);
		tell_node(r, o.child, what);
		if (!(what & WATCH_OWN))
			repeat_node(r, dir, name, what, &o);
		if (what & WATCH_NAME)
			inval_listing(r->inval, dir);
	} else if (what & WATCH_NAME) {
		/* a copy-up: no new name in the view, but a new time of the directory's part */
		inval_attr(r->inval, dir);
	}
	if (!ret && !o.child && !(what & (WATCH_NAME | WATCH_OWN))) {
		/* not known when we looked, but a look-up may have been under way */
		struct node *n;
		cleanup_node struct node *d = NULL;

		inval_barrier(r->inval, dir);
		if (table_get(r->srv->table, dir, &d) == 0) {
			n = table_child(r->srv->table, d, name);
			if (n)
				tell_node(r, n, what);
			node_unref(n);
		}
		if (o.type) /* the kernel need not know a file whose directory is watched */
			repeat_node(r, dir, name, what, &o);
	}
	outcome_clear(&o);
}

int refresh_names(const struct refresh *r, uint64_t dir, struct strv *ret)
{
	cleanup_place struct place p = PLACE_INIT;
	cleanup_listing struct listing *l = NULL;
	int ret_code = place_open(r->srv, dir, &p);

	if (!ret_code)
		ret_code = listing_read(&r->srv->view->stack, &p.parts, &l);
	for (size_t i = 0; !ret_code && i < l->n; i++)
		ret_code = strv_add(ret, l->v[i].name);
	if (p.dir && ret_code != -ENOMEM) {
		int k = table_kids(r->srv->table, p.dir, ret);

		ret_code = k < 0 ? k : ret_code;
	}
	return ret_code;
}

/* Everything in one directory of the view, but not what is below its directories. */
static void refresh_dir(const struct refresh *r, struct node *dir)
{
	cleanup_strv struct strv names = STRV_INIT;

	follow_again(r->follow, dir);
	inval_barrier(r->inval, dir->id); /* requests in what it was before */
	/* a directory that can't be read: what is known of it */
	(void)refresh_names(r, dir->id, &names);
	strv_sort(&names);
	for (size_t i = 0; i < names.n; i++) {
		struct outcome o = { 0 };

		if (i && !strcmp(names.v[i], names.v[i - 1]))
			continue;
		if (refresh_look(r, dir->id, names.v[i], &o) < 0 || !o.same) {
			if (!refresh_is_held(r, o.child))
				refresh_drop(r, dir->id, names.v[i], &o);
			if (o.child)
				inval_attr(r->inval, o.child->id);
		} else {
			inval_barrier(r->inval, dir->id);
			tell_node(r, o.child, WATCH_DATA);
		}
		outcome_clear(&o);
	}
	inval_listing(r->inval, dir->id);
}

void refresh_each_dir(const struct refresh *r, struct node *dir,
		      void (*fn)(const struct refresh *r, struct node *dir))
{
	struct node **below = NULL;
	size_t n = 0;

	fn(r, dir);
	if (table_below(r->srv->table, dir, &below, &n) < 0)
		return;
	for (size_t i = 0; i < n; i++) {
		if (below[i]->type == S_IFDIR && !inval_is_stopping(r->inval))
			fn(r, below[i]);
		node_unref(below[i]);
	}
	free(below);
}

static void refresh_tree(const struct refresh *r, struct node *dir)
{
	refresh_each_dir(r, dir, refresh_dir);
}

/* The node at a view path, or the last one on the way to it that is known; referenced. */
static struct node *known_on_the_way(struct server *srv, const char *path)
{
	struct node *n = NULL;

	if (table_get(srv->table, NODE_ROOT, &n) < 0)
		return NULL;
	while (*path) {
		cleanup_free char *name = strndup(path, strcspn(path, "/"));
		struct node *child = name ? table_child(srv->table, n, name) : NULL;

		if (!child || child->type != S_IFDIR) {
			node_unref(child);
			break;
		}
		node_unref(n);
		n = child;
		path += strcspn(path, "/");
		path += *path == '/';
	}
	return n;
}

/* Look again at a directory, not the root, under its name; returns the number of its parent or 0 */
static uint64_t refresh_in_parent(const struct refresh *r, struct node *dir)
{
	cleanup_place struct place p = PLACE_INIT;
	char name[NAME_MAX + 1];
	uint64_t parent = 0;

	tree_read(r->srv);
	if (place_open_parent(r->srv, dir, &p, name) == 0)
		parent = p.dir->id;
	place_close(&p);
	tree_done(r->srv);
	if (parent)
		refresh_name(r, parent, name, WATCH_NAME);
	return parent;
}

static void refresh_emptied(const struct refresh *r, uint64_t id)
{
	while (id && id != NODE_ROOT) {
		cleanup_node struct node *dir = NULL;
		struct found f;

		if (table_get(r->srv->table, id, &dir) < 0)
			return;
		node_found(dir, &f);
		if (!f.implied)
			return;
		id = refresh_in_parent(r, dir);
		if (!atomic_load(&dir->nameless))
			return;
	}
}

/* Even where the name still leads to the node, the kernel has to look it up to count its names. */
static void refresh_strayed(const struct refresh *r, uint64_t id, const char *name)
{
	cleanup_node struct node *dir = NULL;
	cleanup_node struct node *child = NULL;

	refresh_name(r, id, name, WATCH_NAME);
	if (table_get(r->srv->table, id, &dir) == 0)
		child = table_child(r->srv->table, dir, name);
	if (child && child->type != S_IFDIR)
		inval_entry(r->inval, id, name);
}

/* What was done to its directories while it was watched anew was not heard. */
static void refresh_all_in(const struct refresh *r, uint64_t id)
{
	cleanup_strv struct strv names = STRV_INIT;
	cleanup_node struct node *dir = NULL;

	if (table_get(r->srv->table, id, &dir) < 0)
		return;
	refresh_dir(r, dir);
	(void)table_kids(r->srv->table, dir, &names); /* without memory: none */
	for (size_t i = 0; i < names.n; i++) {
		struct outcome o = { .child = table_child(r->srv->table, dir, names.v[i]) };

		if (o.child && o.child->type == S_IFDIR && is_turned(r, &o))
			refresh_tree(r, o.child);
		outcome_clear(&o);
	}
}

void refresh_node(const struct refresh *r, uint64_t id, const char *name)
{
	if (!strcmp(name, "/"))
		refresh_all_in(r, id);
	else if (*name)
		refresh_strayed(r, id, name);
	else
		refresh_emptied(r, id);
}

/* A directory may have got or lost a part, and so what is in it. */
static void refresh_parts(const struct refresh *r, struct node *dir)
{
	struct found root;

	if (dir->id == NODE_ROOT) {
		if (stack_root(&r->srv->view->stack, &root) == 0)
			table_refresh(r->srv->table, dir, NULL, NULL, 0, &root);
		refresh_tree(r, dir);
		return;
	}
	(void)refresh_in_parent(r, dir);
}

/* Whatever these layers show may have come or gone. */
static void refresh_layers(const struct refresh *r, uint64_t layers)
{
	for (; layers; layers &= layers - 1) {
		const struct layer *l = &r->srv->view->stack.layers[__builtin_ctzll(layers)];
		cleanup_node struct node *n =
			l->rule ? known_on_the_way(r->srv, l->rule->at) : NULL;

		if (n)
			refresh_parts(r, n);
	}
}

/* A hide list says what else its map shows: the layers it is about. */
static uint64_t governed_layers(const struct refresh *r, const char *name)
{
	const struct stack *st = &r->srv->view->stack;
	uint64_t layers = 0;

	for (unsigned i = 0; !strcmp(name, HIDE_FILE) && i < st->n; i++)
		if (st->layers[i].kind == LAYER_SPEC)
			layers |= UINT64_C(1) << i;
	return layers;
}

/* Does a map show more or less of a directory by what its __init__.py is? */
static bool is_governed(const struct refresh *r, struct node *dir)
{
	const struct stack *st = &r->srv->view->stack;
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	bool governed = false;

	if (table_path(r->srv->table, dir, &path) < 0)
		return false;
	for (unsigned i = 0; i < st->n && !governed; i++) {
		const struct layer *l = &st->layers[i];
		const char *rel;

		governed = l->kind == LAYER_SPEC && (l->rule->hijack || l->rule->packages_opaque) &&
			   rule_place(l->rule, path.buf, &rel) == RULE_INSIDE;
	}
	return governed;
}

/* A package has another __init__.py: it alone is looked at, not all of its map. */
static void refresh_package(const struct refresh *r, uint64_t id)
{
	cleanup_node struct node *dir = NULL;

	if (table_get(r->srv->table, id, &dir) == 0 && is_governed(r, dir))
		refresh_parts(r, dir);
}

/* Files of the installation come and go with what is beside them. */
static void refresh_beside(const struct refresh *r, uint64_t dir, const char *name)
{
	const struct stack *st = &r->srv->view->stack;

	for (unsigned i = 0; i < st->n; i++)
		if (st->layers[i].rule && supply_depends(st->layers[i].rule, name))
			refresh_name(r, dir, path_base(st->layers[i].rule->at), WATCH_NAME);
}

void refresh_event(const struct refresh *r, uint64_t watch_id, const char *name, unsigned what)
{
	cleanup_free uint64_t *nodes = NULL;
	bool profile;
	uint64_t layers = follow_way(r->follow, watch_id, name, &profile);
	size_t n = 0;

	if (profile)
		inval_profile(r->inval);
	if (!(what & WATCH_OWN))
		layers |= governed_layers(r, name);
	if (follow_nodes(r->follow, watch_id, &nodes, &n) < 0) {
		refresh_all(r); /* whom it concerns can't be told: then everybody */
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (!*name) {
			inval_attr(r->inval, nodes[i]);
			continue;
		}
		refresh_name(r, nodes[i], name, what);
		if (what & WATCH_NAME)
			refresh_beside(r, nodes[i], name);
		if (!(what & WATCH_OWN) && !strcmp(name, "__init__.py"))
			refresh_package(r, nodes[i]);
	}
	refresh_layers(r, layers);
}

void refresh_path(const struct refresh *r, const char *path)
{
	cleanup_free char *parent = strndup(path, path_parent_len(path));
	cleanup_strbuf struct strbuf at = STRBUF_INIT;
	cleanup_node struct node *n = parent ? known_on_the_way(r->srv, parent) : NULL;

	/* a directory that the kernel does not know has no names that it knows */
	if (n && table_path(r->srv->table, n, &at) == 0 && !strcmp(at.buf, parent))
		refresh_name(r, n->id, path_base(path), WATCH_NAME);
}

void refresh_all(const struct refresh *r)
{
	cleanup_node struct node *root = NULL;

	if (table_get(r->srv->table, NODE_ROOT, &root) == 0)
		refresh_tree(r, root);
	inval_attr(r->inval, NODE_ROOT);
}
