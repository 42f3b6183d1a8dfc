/* SPDX-License-Identifier: MIT */
/*
 * Opening a view: see view.h. Options and profile become layers, highest first; every directory is
 * opened here once and by its real path, since no symlink is followed later.
 */
#include "layer/view.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "layer/exchange.h"
#include "layer/kept.h"
#include "layer/made.h"
#include "layer/rules.h"
#include "layer/scratch.h"

/* Append a layer; takes @l's strings and descriptor, also on failure. */
static int add_layer(struct view *v, struct layer *l, struct diag *d)
{
	int r = l->label && l->path && l->dir ? stack_add(&v->stack, l) : -ENOMEM;

	if (r >= 0)
		return 0;
	layer_clear(l);
	return r == -E2BIG ? stack_too_many(d) : r;
}

static int add_scratch(struct view *v, struct diag *d)
{
	struct layer l = {
		.kind = LAYER_SCRATCH,
		.label = strdup("scratch"),
		.dir = strdup(""),
		.base_fd = -1,
	};
	cleanup_strbuf struct strbuf path = STRBUF_INIT;

	if (v->scratch) {
		l.base_fd = scratch_open(v, d);
		if (l.base_fd < 0) {
			int r = l.base_fd;

			layer_clear(&l);
			return r;
		}
		strbuf_addf(&path, "%s/upper", v->scratch);
	}
	l.path = strbuf_failed(&path) < 0 ? NULL : strdup(path.buf);
	return add_layer(v, &l, d);
}

static int add_rules(struct view *v, struct rules *rules, struct diag *d)
{
	for (unsigned i = 0; i < rules->n_layers; i++) {
		struct layer l = rules_take_layer(rules, i);
		int r = add_layer(v, &l, d);

		if (r < 0)
			return r;
	}
	return 0;
}

static int add_directory(struct view *v, enum layer_kind kind, const char *label, const char *path,
			 struct diag *d)
{
	struct layer l = {
		.kind = kind,
		.label = strdup(label),
		.path = realpath(path, NULL),
		.dir = strdup(""),
		.in_root = kind == LAYER_TRUNK,
		.base_fd = -1,
	};

	if (l.path)
		l.base_fd = open(l.path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (l.base_fd < 0) {
		int r = -errno;

		layer_clear(&l);
		return diag_add(d, r, NULL, 0, "%s '%s': %s, expected a directory", label, path,
				strerror(-r));
	}
	return add_layer(v, &l, d);
}

/* Scratch and the other layers must not contain one another. */
static int check_scratch_place(const struct view *v, const struct view_options *o, struct diag *d)
{
	for (size_t i = 0; i < o->overlays.n + 1; i++) {
		const char *other = i < o->overlays.n ? o->overlays.v[i] : v->root;
		cleanup_free char *real = other ? realpath(other, NULL) : NULL;

		if (real &&
		    (path_below(v->scratch + 1, real + 1) || path_below(real + 1, v->scratch + 1)))
			return diag_add(d, -EINVAL, NULL, 0,
					"scratch directory '%s' and layer '%s' "
					"contain one another, expected separate directories",
					v->scratch, real);
	}
	return 0;
}

static int open_scratch_path(struct view *v, const struct view_options *o, struct diag *d)
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	int r;

	if (!o->scratch)
		return 0;
	r = scratch_settle_path(o->scratch, d, &path);
	if (r < 0)
		return r;
	v->scratch = strbuf_detach(&path);
	return v->scratch ? check_scratch_place(v, o, d) : -ENOMEM;
}

/* Overlays alone ask for no profile: they lie over any tree. */
static bool wants_profile(const struct view_options *o)
{
	return o->profile || o->backends.n || !o->overlays.n;
}

static int open_rules(struct view *v, const struct view_options *o, struct diag *d,
		      struct rules *ret)
{
	struct rules_source src = {
		.root = v->root,
		.root_fd = v->stack.root_fd,
		.which = o->profile,
		.backends = &o->backends,
	};
	int r = rules_read(&src, d, ret);

	if (r < 0)
		return r;
	if (o->profile) {
		v->profile_asked = strdup(o->profile);
		if (!v->profile_asked)
			return -ENOMEM;
	}
	v->profile = steal_ptr(&ret->profile);
	v->profile_why = steal_ptr(&ret->why);
	v->rules = steal_ptr(&ret->set);
	v->stack.rules = v->rules;
	return 0;
}

static int open_root(struct view *v, const struct view_options *o, struct diag *d,
		     struct rules *rules)
{
	int r;

	if (!o->root) {
		if (o->overlays.n && !o->profile && !o->backends.n)
			return 0;
		return diag_add(d, -EINVAL, NULL, 0, "no checkout given, expected one%s",
				o->overlays.n ? " with a profile or backend" : ", or overlays");
	}
	v->root = realpath(o->root, NULL);
	if (v->root)
		v->stack.root_fd = open(v->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (v->stack.root_fd < 0)
		return diag_add(d, -errno, NULL, 0, "checkout '%s': %s, expected a directory",
				o->root, strerror(errno));
	r = ignore_open(v->root, d, &v->ignore);
	if (r < 0)
		return r;
	return wants_profile(o) ? open_rules(v, o, d, rules) : 0;
}

static int add_layers(struct view *v, const struct view_options *o, struct rules *rules,
		      struct diag *d)
{
	int r = rules_check_scratch(rules, v->scratch, d);

	if (!r)
		r = add_scratch(v, d);
	if (!r)
		r = add_rules(v, rules, d);
	for (size_t i = 0; !r && i < o->overlays.n; i++)
		r = add_directory(v, LAYER_OVERLAY, "overlay", o->overlays.v[i], d);
	if (!r && v->root)
		r = add_directory(v, LAYER_TRUNK, "trunk", v->root, d);
	if (r < 0)
		return r;
	r = stack_settle(&v->stack);
	return r < 0 ? diag_add(d, r, NULL, 0, "the lowest layer can't be read: %s", strerror(-r))
		     : 0;
}

/* A process that died while it wrote a list of a spec directory has left its interim file. */
static void clear_lists(struct view *v)
{
	for (unsigned i = 0; v->work && i < v->stack.n; i++) {
		const struct layer *l = &v->stack.layers[i];
		cleanup_fd int fd = -1;

		if (l->kind == LAYER_SPEC)
			fd = fd_open_beneath(l->base_fd, l->dir, O_PATH | O_DIRECTORY, 0);
		if (fd >= 0)
			v->n_recovered += workdir_clear_lists(fd);
	}
}

static int open_memory(struct view *v)
{
	cleanup_fd int fd = -1;
	int r;

	if (!v->work)
		return 0;
	fd = open(v->scratch, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = kept_open(&v->stack, fd);
	return r < 0 ? r : made_open(&v->stack, fd);
}

int view_open(const struct view_options *o, struct diag *d, struct view **ret)
{
	cleanup_view struct view *v = calloc(1, sizeof(*v));
	cleanup_rules struct rules rules = { 0 };
	int r;

	if (!v)
		return -ENOMEM;
	v->lock_fd = -1;
	stack_init(&v->stack);
	v->readonly = o->readonly;
	v->scratch_all = o->scratch_all;
	v->write_owner = o->write_owner;
	r = open_root(v, o, d, &rules);
	if (!r)
		r = open_scratch_path(v, o, d);
	if (!r)
		r = add_layers(v, o, &rules, d);
	if (!r)
		r = open_memory(v);
	if (!r)
		r = scratch_check_links(v, v->scratch_all || (o->overlays.n && !v->write_owner), d);
	if (r < 0)
		return d->lines.n ? r
				  : diag_add(d, r, NULL, 0, "the view can't be opened: %s",
					     strerror(-r));
	clear_lists(v);
	v->n_recovered += exchange_recover(v);
	r = v->scratch ? redirects_new(v->scratch, &v->redirects) : 0;
	if (r < 0)
		return r;
	v->stack.redirects = v->redirects;
	*ret = steal_ptr(&v);
	return 0;
}

void view_free(struct view *v)
{
	if (!v)
		return;
	stack_clear(&v->stack);
	rules_clear(&v->former);
	redirects_free(v->redirects);
	workdir_free(v->work);
	ignore_free(v->ignore);
	ruleset_free(v->rules);
	profile_free(v->profile);
	if (v->lock_fd >= 0)
		close(v->lock_fd);
	free(v->profile_why);
	free(v->profile_asked);
	free(v->root);
	free(v->scratch);
	free(v);
}

/* FNV-1a over a string and its NUL. Source: draft-eastlake-fnv. */
static uint64_t hash_add(uint64_t h, const char *s)
{
	do
		h = (h ^ (unsigned char)*s) * 0x100000001b3u;
	while (*s++);
	return h;
}

static uint64_t hash_path(uint64_t h, const char *path)
{
	cleanup_free char *real = realpath(path, NULL);

	return hash_add(h, real ? real : path);
}

/* The user's home directory: HOME, else what the user data base says; "" if neither does. */
static int home_dir(struct strbuf *ret)
{
	const char *home = getenv("HOME");
	struct passwd entry, *found = NULL;
	char buf[4096];

	if (!home || *home != '/') {
		(void)getpwuid_r(geteuid(), &entry, buf, sizeof(buf), &found); /* found tells */
		home = found ? found->pw_dir : NULL;
	}
	if (home && *home == '/')
		strbuf_adds(ret, home);
	return strbuf_failed(ret);
}

int view_cache_dir(struct strbuf *ret)
{
	cleanup_strbuf struct strbuf home = STRBUF_INIT;
	const char *cache = getenv("XDG_CACHE_HOME");
	int r;

	if (cache && *cache == '/') {
		strbuf_addf(ret, "%s/specfs", cache);
		return strbuf_failed(ret);
	}
	r = home_dir(&home);
	if (r < 0 || !home.len)
		return r < 0 ? r : -ENOENT;
	strbuf_addf(ret, "%s/.cache/specfs", home.buf);
	return strbuf_failed(ret);
}

int view_default_scratch(const struct view_options *o, struct strbuf *ret)
{
	uint64_t h = 0xcbf29ce484222325u;
	int r = view_cache_dir(ret);

	if (r < 0)
		return r;
	h = o->root ? hash_path(h, o->root) : hash_add(h, "");
	h = hash_add(h, o->profile ? o->profile : "");
	for (size_t i = 0; i < o->backends.n; i++)
		h = hash_add(hash_add(h, "b"), o->backends.v[i]);
	for (size_t i = 0; i < o->overlays.n; i++)
		h = hash_path(hash_add(h, "l"), o->overlays.v[i]);
	if (o->scratch_all)
		h = hash_add(h, "all"); /* what is thrown away must not show in the other view */
	strbuf_addf(ret, "/%016llx", (unsigned long long)h);
	return strbuf_failed(ret);
}

int view_origin(const struct view *v, const char *path, const struct found *f, struct strbuf *ret)
{
	const struct layer *l = &v->stack.layers[f->layer];

	strbuf_adds(ret, l->label);
	if (f->virtual || l->kind == LAYER_GENERATED)
		return strbuf_failed(ret);
	strbuf_addc(ret, ' ');
	return layer_real_path(l, path, ret);
}
