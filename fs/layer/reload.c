/* SPDX-License-Identifier: MIT */
/* A profile that was edited while its view is open: see reload.h. */
#include "layer/reload.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "layer/hide.h"

struct reload {
	struct rules rules;
	struct hide *hides[STACK_MAX]; /* of the rules' layers */
	struct difference difference;
};

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

int reload_mark(const struct view *v, struct reload_mark *ret)
{
	cleanup_strbuf struct strbuf own = STRBUF_INIT;

	*ret = (struct reload_mark){ 0 };
	if (!v->profile)
		return 0;
	ret->st = v->profile->st;
	ret->file = strdup(v->profile->file);
	if (!ret->file || profile_own_path(v->root, &own) < 0) {
		reload_mark_clear(ret);
		return -ENOMEM;
	}
	if (!v->profile_asked && strcmp(own.buf, ret->file) != 0)
		ret->own = strbuf_detach(&own);
	return 0;
}

void reload_mark_clear(struct reload_mark *m)
{
	free(m->file);
	free(m->own);
	*m = (struct reload_mark){ 0 };
}

bool reload_is_due(const struct reload_mark *m)
{
	struct stat now;

	if (!m->file)
		return false;
	return stat(m->file, &now) < 0 || !same_file(&now, &m->st) ||
	       (m->own && access(m->own, F_OK) == 0);
}

void reload_free(struct reload *r)
{
	if (!r)
		return;
	for (unsigned i = 0; i < STACK_MAX; i++)
		hide_free(r->hides[i]);
	rules_clear(&r->rules);
	difference_clear(&r->difference);
	free(r);
}

static unsigned count_others(const struct stack *st)
{
	unsigned n = 0;

	for (unsigned i = 0; i < st->n; i++)
		n += !st->layers[i].rule;
	return n;
}

static int make_hides(struct reload *r)
{
	int err = 0;

	for (unsigned i = 0; i < r->rules.n_layers && !err; i++)
		if (r->rules.layers[i].kind == LAYER_SPEC)
			err = hide_new(&r->rules.layers[i], &r->hides[i]);
	return err;
}

/*
 * Should the file in force be read again, although nobody asked for it? Yes, if it was found by
 * what the checkout looked like: a branch that is checked out, say, takes that away for a moment.
 */
static bool stays(const struct view *v, const char *own)
{
	return !v->profile_asked && strcmp(own, v->profile->file) != 0 && access(own, F_OK) < 0 &&
	       access(v->profile->file, F_OK) == 0;
}

static int read_rules(const struct view *v, struct diag *d, struct rules *ret)
{
	cleanup_strbuf struct strbuf own = STRBUF_INIT;
	struct rules_source src = {
		.root = v->root,
		.root_fd = v->stack.root_fd,
		.which = v->profile_asked,
		.backends = &v->rules->backends,
	};
	bool same;
	int err = profile_own_path(v->root, &own);

	if (err < 0)
		return err;
	same = stays(v, own.buf);
	if (same)
		src.which = v->profile->file;
	err = rules_read(&src, d, ret);
	if (err < 0 || !same)
		return err;
	free(ret->why);
	ret->why = strdup(v->profile_why);
	return ret->why ? 0 : -ENOMEM;
}

static int read_all(const struct view *v, struct diag *d, struct reload *r)
{
	int err = read_rules(v, d, &r->rules);

	if (!err)
		err = rules_check_scratch(&r->rules, v->scratch, d);
	if (!err && r->rules.n_layers + count_others(&v->stack) > STACK_MAX)
		err = stack_too_many(d);
	if (!err)
		err = make_hides(r);
	return err ? err : difference_find(v->rules, r->rules.set, &r->difference);
}

int reload_read(const struct view *v, struct diag *d, struct reload **ret)
{
	cleanup_reload struct reload *r = NULL;
	int err;

	if (!v->profile)
		return diag_add(d, -ENOENT, NULL, 0, "the view has no profile");
	r = calloc(1, sizeof(*r));
	err = r ? read_all(v, d, r) : -ENOMEM;
	if (err < 0)
		return d->lines.n ? err
				  : diag_add(d, err, v->profile->file, 0, "%s", strerror(-err));
	*ret = steal_ptr(&r);
	return 0;
}

int reload_reaches(const struct reload *r, const char *path)
{
	for (unsigned i = 0; i < r->rules.n_layers; i++) {
		const char *other = r->rules.layers[i].path;

		if (*other && (path_below(path + 1, other + 1) || path_below(other + 1, path + 1)))
			return (int)i;
	}
	return -1;
}

int reload_refuse_layer(const struct reload *r, int i, const char *what, struct diag *d)
{
	const struct layer *l = &r->rules.layers[i];

	return diag_add(d, -EINVAL, r->rules.profile->file, l->rule->line, "[%s] '%s' %s",
			l->rule->name, l->path, what);
}

const struct difference *reload_difference(const struct reload *r)
{
	return &r->difference;
}

bool reload_is_same(const struct view *v, const struct reload *r)
{
	return difference_is_none(&r->difference) &&
	       same_file(&v->profile->st, &r->rules.profile->st) &&
	       !strcmp(v->profile->file, r->rules.profile->file);
}

/* Are both one directory, seen by the same rule? An absolute path may lead to another one now. */
static bool same_layer(const struct layer *a, const struct layer *b)
{
	struct object x;
	struct object y;

	if (!rule_equal(a->rule, b->rule) || strcmp(a->path, b->path) || strcmp(a->dir, b->dir) ||
	    a->in_root != b->in_root)
		return false;
	if (a->base_fd < 0 || b->base_fd < 0)
		return a->base_fd == b->base_fd;
	return object_stat(a->base_fd, "", &x) == 0 && object_stat(b->base_fd, "", &y) == 0 &&
	       object_same(&x, &y);
}

static void drop_former(struct view *v)
{
	struct stack *st = &v->stack;

	while (st->n_former)
		layer_clear(&st->layers[STACK_MAX + --st->n_former]);
	rules_clear(&v->former);
}

/* Put the layers in their new order. @was: all there were, moved out of the stack. */
static void lay(struct stack *st, struct reload *r, const struct layer *was, unsigned n_was,
		unsigned map[STACK_ALL])
{
	st->n = 0;
	for (unsigned i = 0; i < n_was; i++) {
		if (was[i].kind != LAYER_SCRATCH)
			continue;
		map[i] = st->n;
		st->layers[st->n++] = was[i];
	}
	for (unsigned i = 0; i < r->rules.n_layers; i++) {
		st->layers[st->n] = rules_take_layer(&r->rules, i);
		st->hides[st->n] = steal_ptr(&r->hides[i]);
		if (st->hides[st->n])
			hide_move(st->hides[st->n], &st->layers[st->n]);
		st->n++;
	}
	for (unsigned i = 0; i < n_was; i++) {
		if (was[i].rule || was[i].kind == LAYER_SCRATCH)
			continue;
		map[i] = st->n;
		st->layers[st->n++] = was[i];
	}
}

/* Where the layer of a rule is now; it is closed, or among the former ones. */
static unsigned find_new_place(struct stack *st, struct layer *was)
{
	for (unsigned i = 0; i < st->n; i++) {
		if (st->layers[i].rule && same_layer(was, &st->layers[i])) {
			layer_clear(was);
			return i;
		}
	}
	st->layers[STACK_MAX + st->n_former] = *was;
	return STACK_MAX + st->n_former++;
}

static void swap_layers(struct stack *st, struct reload *r, unsigned map[STACK_ALL])
{
	struct layer was[STACK_MAX];
	unsigned n_was = st->n;

	for (unsigned i = 0; i < n_was; i++) {
		was[i] = st->layers[i];
		st->layers[i] = (struct layer){ .base_fd = -1 };
		hide_free(st->hides[i]);
		st->hides[i] = NULL;
	}
	lay(st, r, was, n_was, map);
	for (unsigned i = 0; i < n_was; i++)
		if (was[i].rule)
			map[i] = find_new_place(st, &was[i]);
	for (unsigned i = n_was; i < STACK_ALL; i++)
		map[i] = st->n - 1;
	st->rules = r->rules.set;
	st->generation++;
}

void reload_swap(struct view *v, struct reload *r, unsigned map[STACK_ALL])
{
	drop_former(v);
	swap_layers(&v->stack, r, map);
	v->former = (struct rules){ .profile = v->profile, .why = v->profile_why, .set = v->rules };
	v->profile = steal_ptr(&r->rules.profile);
	v->profile_why = steal_ptr(&r->rules.why);
	v->rules = steal_ptr(&r->rules.set);
}

void reload_forget(struct view *v, unsigned map[STACK_ALL])
{
	for (unsigned i = 0; i < STACK_ALL; i++)
		map[i] = i < v->stack.n ? i : v->stack.n - 1;
	drop_former(v);
}
