/* SPDX-License-Identifier: MIT */
/* Looking through what is to move: see movecheck.h. */
#include "layer/movecheck.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/glob.h"
#include "base/path.h"
#include "layer/children.h"

bool move_is_shown(const struct view *v, unsigned layer, const char *path, mode_t mode)
{
	return stack_layer_shows(&v->stack, layer, path, mode) &&
	       !stack_hides(&v->stack, layer, path, S_ISDIR(mode));
}

/* A walk through what moves. */
struct check {
	struct view *v;
	unsigned dest; /* layer that it is for; 0: whatever comes is shown */
	bool is_shown; /* all of it, there */
};

/* @target: view path of the new place, if there is one */
static int check_any(struct check *c, const char *path, const char *target, const struct found *f);

static int check_child(struct check *c, const char *path, const char *target, const struct child *k)
{
	cleanup_strbuf struct strbuf sub = STRBUF_INIT;
	cleanup_strbuf struct strbuf to = STRBUF_INIT;
	int r = path_join(&sub, path, k->name);

	if (!r)
		r = path_join(&to, target, k->name);
	if (r < 0)
		return r;
	if (c->dest && !move_is_shown(c->v, c->dest, to.buf, k->f.obj.st.st_mode))
		c->is_shown = false;
	return check_any(c, sub.buf, to.buf, &k->f);
}

static int check_children(struct check *c, const char *path, const char *target,
			  const struct found *f)
{
	cleanup_children struct children l = { 0 };
	int r = children_read(&c->v->stack, path, f, &l);

	for (size_t i = 0; !r && i < l.n; i++)
		r = check_child(c, path, target, &l.v[i]);
	return r;
}

static int check_any(struct check *c, const char *path, const char *target, const struct found *f)
{
	struct route route;
	int r = route_existing(c->v, path, f, ROUTE_REMOVE, &route);

	return r < 0 || !S_ISDIR(f->obj.st.st_mode) ? r : check_children(c, path, target, f);
}

int move_check(const struct move *m)
{
	struct check c = { .v = m->v };

	return check_any(&c, m->from, "", m->from_f);
}

int move_check_shown(const struct move *m)
{
	struct check c = { .v = m->v, .dest = m->dest, .is_shown = true };
	int r = check_any(&c, m->from, m->to, m->from_f);

	return r < 0 ? r : c.is_shown ? 0 : -EXDEV;
}

int move_check_copied(const struct move *m, const struct copied_list *list)
{
	cleanup_strbuf struct strbuf to = STRBUF_INIT;
	size_t len = strlen(m->from);

	for (size_t i = 0; m->dest && i < list->n; i++) {
		const struct copied *c = &list->v[i];

		if (!c->path[len])
			continue; /* the directory itself */
		strbuf_truncate(&to, 0);
		strbuf_addf(&to, "%s%s", m->to, c->path + len);
		if (strbuf_failed(&to) < 0)
			return -ENOMEM;
		if (!move_is_shown(m->v, m->dest, to.buf, c->obj.st.st_mode))
			return -EXDEV;
	}
	return 0;
}

/* Do patterns name the directory, or what may be in it? */
static bool names_below(const struct stack *st, unsigned layer, const char *path)
{
	const struct rule *rule = st->layers[layer].rule;
	const char *rel;

	if (st->rules && ruleset_names_below(st->rules, path))
		return true;
	return rule && rule_place(rule, path, &rel) == RULE_INSIDE && rule_names_below(rule, rel);
}

/* May a hide list above @layer hide other names at one place than at the other? */
static bool lists_differ(const struct stack *st, unsigned layer, const char *from, const char *to)
{
	for (unsigned i = 0; i < layer; i++) {
		const struct rule *rule = st->layers[i].rule;
		const char *a = NULL;
		const char *b = NULL;

		if (!st->hides[i] || hide_is_empty(st->hides[i]))
			continue;
		(void)rule_place(rule, from, &a); /* set only inside */
		(void)rule_place(rule, to, &b);
		if (!a != !b)
			return true;
		if (a && (hide_names_below(st->hides[i], a) || hide_names_below(st->hides[i], b)))
			return true;
	}
	return false;
}

static int dir_is_alike(const struct view *v, unsigned layer, const char *from, const char *to);

/* Is @name shown at both places, with the same names in it, or at none? 1, 0 or an errno */
static int name_is_alike(const struct view *v, unsigned layer, const char *from, const char *to,
			 const struct dirent *e)
{
	cleanup_strbuf struct strbuf a = STRBUF_INIT;
	cleanup_strbuf struct strbuf b = STRBUF_INIT;
	mode_t mode = DTTOIF(e->d_type);
	bool shown;
	int r = path_join(&a, from, e->d_name);

	if (!r)
		r = path_join(&b, to, e->d_name);
	if (r < 0)
		return r;
	if (e->d_type == DT_UNKNOWN) {
		cleanup_fd int fd = layer_open(&v->stack.layers[layer], a.buf, O_PATH, 0);
		struct object o;

		if (fd < 0 || object_stat(fd, "", &o) < 0)
			return 1; /* it has just gone */
		mode = o.st.st_mode;
	}
	shown = move_is_shown(v, layer, a.buf, mode);
	if (shown != move_is_shown(v, layer, b.buf, mode))
		return 0;
	return shown && S_ISDIR(mode) ? dir_is_alike(v, layer, a.buf, b.buf) : 1;
}

static int dir_is_alike(const struct view *v, unsigned layer, const char *from, const char *to)
{
	cleanup_dir DIR *d = NULL;
	int fd = layer_open(&v->stack.layers[layer], from, O_RDONLY | O_DIRECTORY, 0);
	int r = 1;

	if (fd < 0)
		return fd == -EACCES || fd == -ENOENT ? 1 : fd; /* nobody sees what is in it */
	d = fdopendir(fd);
	if (!d) {
		close(fd);
		return -ENOMEM;
	}
	while (r > 0) {
		const struct dirent *e;

		errno = 0;
		e = readdir(d);
		if (!e)
			return errno ? -errno : 1;
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			r = name_is_alike(v, layer, from, to, e);
	}
	return r;
}

/* Does `only` speak of the directory, so that all that is in it is shown? */
static bool is_covered(const struct stack *st, unsigned layer, const char *path)
{
	const struct rule *rule = st->layers[layer].rule;
	const char *rel;

	return rule && rule_place(rule, path, &rel) == RULE_INSIDE &&
	       glob_covers(&rule->only, rel, true);
}

int move_is_alike(const struct view *v, unsigned layer, const char *from, const char *to)
{
	const struct stack *st = &v->stack;

	if (!layer || (!names_below(st, layer, from) && !names_below(st, layer, to) &&
		       !lists_differ(st, layer, from, to) &&
		       is_covered(st, layer, from) == is_covered(st, layer, to)))
		return 1;
	return dir_is_alike(v, layer, from, to);
}
