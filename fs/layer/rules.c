/* SPDX-License-Identifier: MIT */
/*
 * What a profile makes of a checkout: see rules.h. Every directory is opened by its real path,
 * since no symlink is followed later.
 */
#include "layer/rules.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "layout/backend.h"
#include "layout/checkout.h"
#include "layout/supply.h"

static char *rule_label(const struct rule *r)
{
	cleanup_strbuf struct strbuf s = STRBUF_INIT;

	strbuf_addf(&s, "%s%s%s", r->backend ? r->backend : "", r->backend ? " " : "", r->name);
	return strbuf_detach(&s);
}

static enum layer_kind kind_of(const struct rule *r)
{
	switch (r->kind) {
	case RULE_MAP:
		return LAYER_SPEC;
	case RULE_GRAFT:
		return LAYER_GRAFT;
	case RULE_LINK:
	case RULE_FILE:
		break;
	case RULE_SUPPLY:
		return LAYER_SUPPLIED;
	}
	return LAYER_GENERATED;
}

/* The real path of a rule's directory, or what it would be if it is not there yet. */
static int resolve_from(const struct rules_source *src, const struct rule *r, struct strbuf *ret)
{
	cleanup_strbuf struct strbuf full = STRBUF_INIT;
	cleanup_free char *real = NULL;

	if (r->from[0] == '/')
		strbuf_adds(&full, r->from);
	else
		strbuf_addf(&full, "%s/%s", src->root, r->from);
	if (strbuf_failed(&full) < 0)
		return -ENOMEM;
	real = realpath(full.buf, NULL);
	if (!real && errno != ENOENT)
		return -errno;
	strbuf_adds(ret, real ? real : full.buf);
	return strbuf_failed(ret);
}

/* Open what a map's or graft's paths start at: ROOT for what lies in it, else the directory. */
static int open_rule_dir(const struct rules_source *src, const char *file, const struct rule *r,
			 struct diag *d, struct layer *l)
{
	cleanup_strbuf struct strbuf real = STRBUF_INIT;
	const char *below;
	int err = resolve_from(src, r, &real);

	if (err < 0)
		return diag_add(d, err, file, r->line, "[%s] '%s': %s", r->name, r->from,
				strerror(-err));
	below = path_below(real.buf + 1, src->root + 1);
	l->in_root = below != NULL;
	if (!below && r->from[0] != '/')
		return diag_add(d, -EXDEV, file, r->line,
				"[%s] '%s' leads to '%s', expected a "
				"directory inside the checkout",
				r->name, r->from, real.buf);
	l->path = strdup(real.buf);
	l->dir = strdup(below ? below : "");
	if (!l->path || !l->dir)
		return -ENOMEM;
	l->base_fd = below ? fcntl(src->root_fd, F_DUPFD_CLOEXEC, 0)
			   : open(real.buf, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (l->base_fd < 0)
		return diag_add(d, -errno, file, r->line, "[%s] '%s' can't be opened: %s",
				r->name, real.buf, strerror(errno));
	return 0;
}

/* The same for a file of the installation: its directory, and its name there. */
static int open_supplied(const struct rule *r, struct diag *d, struct layer *l)
{
	cleanup_free char *dir = strndup(r->from, path_parent_len(r->from));

	l->path = strdup(r->from);
	l->dir = strdup(path_base(r->from));
	if (!dir || !l->path || !l->dir)
		return -ENOMEM;
	l->base_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return l->base_fd < 0 ? diag_add(d, -errno, r->from, 0, "[%s]: %s", r->name,
					 strerror(errno))
			      : 0;
}

static int open_layer(const struct rules_source *src, const char *file, const struct rule *r,
		      struct diag *d, struct layer *ret)
{
	struct layer l = { .kind = kind_of(r), .rule = r, .base_fd = -1, .label = rule_label(r) };
	int err = 0;

	if (l.kind == LAYER_GENERATED) {
		l.path = strdup("");
		l.dir = strdup("");
	} else if (l.kind == LAYER_SUPPLIED) {
		err = open_supplied(r, d, &l);
	} else {
		err = open_rule_dir(src, file, r, d, &l);
	}
	if (!err && !(l.label && l.path && l.dir))
		err = -ENOMEM;
	if (err < 0)
		layer_clear(&l);
	else
		*ret = l;
	return err;
}

static int open_layers(const struct rules_source *src, struct diag *d, struct rules *r)
{
	r->layers = calloc(r->set->n_rules + 1, sizeof(*r->layers));
	if (!r->layers)
		return -ENOMEM;
	for (size_t i = 0; i < r->set->n_rules; i++) {
		const struct rule *rule = &r->set->rules[i];
		int err;

		if (rule->kind == RULE_MAP && rule->role == ROLE_PROVIDER)
			continue;
		err = open_layer(src, r->profile->file, rule, d, &r->layers[r->n_layers]);
		if (err < 0)
			return err;
		r->n_layers++;
	}
	return 0;
}

static int read_set(const struct rules_source *src, struct diag *d, struct rules *r)
{
	int err = profile_find(src->root, src->which, d, &r->profile, &r->why);

	for (size_t i = 0; !err && i < src->backends->n; i++)
		err = backend_check(src->root_fd, r->profile, src->backends->v[i], d);
	if (!err)
		err = ruleset_new(r->profile, src->backends, d, &r->set);
	if (!err)
		err = supply_add(r->set, src->root_fd, d);
	if (err < 0)
		return err;
	err = checkout_settle(src->root_fd, r->set);
	return err < 0 ? diag_add(d, err, NULL, 0, "checkout '%s': %s", src->root, strerror(-err))
		       : 0;
}

int rules_read(const struct rules_source *src, struct diag *d, struct rules *ret)
{
	cleanup_rules struct rules r = { 0 };
	int err = read_set(src, d, &r);

	if (!err)
		err = open_layers(src, d, &r);
	if (err < 0)
		return err;
	*ret = r;
	r = (struct rules){ 0 };
	return 0;
}

int rules_check_scratch(const struct rules *r, const char *scratch, struct diag *d)
{
	for (unsigned i = 0; scratch && i < r->n_layers; i++) {
		const char *path = r->layers[i].path;

		if (*path &&
		    (path_below(scratch + 1, path + 1) || path_below(path + 1, scratch + 1)))
			return diag_add(d, -EINVAL, r->profile->file, r->layers[i].rule->line,
					"scratch directory '%s' and layer '%s' "
					"contain one another, expected separate directories",
					scratch, path);
	}
	return 0;
}

struct layer rules_take_layer(struct rules *r, unsigned i)
{
	struct layer l = r->layers[i];

	r->layers[i] = (struct layer){ .base_fd = -1 };
	return l;
}

void rules_clear(struct rules *r)
{
	for (unsigned i = 0; i < r->n_layers; i++)
		layer_clear(&r->layers[i]);
	free(r->layers);
	ruleset_free(r->set);
	profile_free(r->profile);
	free(r->why);
	*r = (struct rules){ 0 };
}
