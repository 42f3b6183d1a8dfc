/* SPDX-License-Identifier: MIT */
/* The files in .specfs: see control.h. */
#include "daemon/control.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "daemon/reread.h"
#include "ops/place.h"
#include "specfs/version.h"

static const char *const kind_names[] = {
	[LAYER_SCRATCH] = "scratch", [LAYER_GENERATED] = "generated", [LAYER_GRAFT] = "graft",
	[LAYER_SPEC] = "spec",	     [LAYER_SUPPLIED] = "supplied",   [LAYER_OVERLAY] = "overlay",
	[LAYER_TRUNK] = "trunk",
};

static const char *const cache_names[] = {
	[CACHE_AUTO] = "auto",
	[CACHE_STRICT] = "strict",
	[CACHE_TTL] = "ttl",
};

/* Paths may hold any bytes; JSON may not. What is no UTF-8 is shown with "?" for each such byte. */
static json_t *text(const char *s)
{
	cleanup_free char *copy = NULL;
	json_t *j;

	if (!s)
		return json_null();
	j = json_string(s);
	if (j)
		return j;
	copy = strdup(s);
	for (char *p = copy; p && *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	return copy ? json_string(copy) : NULL;
}

static json_t *layers_json(const struct stack *st)
{
	json_t *all = json_array();

	for (unsigned i = 0; i < st->n; i++) {
		const struct layer *l = &st->layers[i];

		json_array_append_new(all,
				      json_pack("{s:o, s:s, s:o, s:o}", "label", text(l->label),
						"kind", kind_names[l->kind], "path", text(l->path),
						"at", text(l->rule ? l->rule->at : "")));
	}
	return all;
}

static json_t *backends_json(const struct view *v)
{
	json_t *all = json_array();

	for (size_t i = 0; v->rules && i < v->rules->backends.n; i++)
		json_array_append_new(all, text(v->rules->backends.v[i]));
	return all;
}

static json_t *requests_json(struct server *srv)
{
	json_t *all = json_object();

	for (int k = 0; k < REQ_KINDS; k++) {
		uint64_t n = atomic_load_explicit(&srv->requests[k], memory_order_relaxed);

		if (n)
			json_object_set_new(all, request_kind_name((enum request_kind)k),
					    json_integer((json_int_t)n));
	}
	return all;
}

/* What the watcher saw and the kernel was told. */
static json_t *watch_json(const struct session *s)
{
	struct inval_stats i;
	struct watch_stats w;

	if (!s->inval)
		return json_null();
	inval_stats(s->inval, &i, &w);
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
			 "mechanism", w.mechanism, "directories", (json_int_t)w.dirs, "refused",
			 (json_int_t)w.refused, "remote", (json_int_t)w.remote, "rechecked_files",
			 (json_int_t)i.loose, "events", (json_int_t)w.events, "own_events",
			 (json_int_t)w.own, "overflows", (json_int_t)w.overflows, "entries",
			 (json_int_t)i.entries, "attributes", (json_int_t)i.attrs, "pages",
			 (json_int_t)i.pages, "trees", (json_int_t)i.trees, "pending",
			 (json_int_t)i.pending);
}

static json_t *events_json(const struct session *s)
{
	struct events_stats v;

	if (!s->events)
		return json_null();
	events_stats(s->events, &v);
	return json_pack("{s:I, s:I, s:I}", "watched", (json_int_t)v.watched, "told",
			 (json_int_t)v.told, "dropped", (json_int_t)v.dropped);
}

static uint64_t invalidations(const struct session *s)
{
	struct inval_stats i = { 0 };

	if (s->inval)
		inval_stats(s->inval, &i, NULL);
	return i.entries + i.attrs + i.pages;
}

static json_t *caches_json(const struct session *s)
{
	size_t pinned;
	size_t open_files = slots_count(s->srv->slots, &pinned);

	return json_pack("{s:s, s:f, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "mode",
			 cache_names[s->cache], "ttl_sec", s->cache == CACHE_TTL ? s->ttl_sec : 0.0,
			 "nodes", (json_int_t)table_count(s->srv->table), "open_files",
			 (json_int_t)open_files, "pinned_files", (json_int_t)pinned, "max_files",
			 (json_int_t)s->limits.files, "listing_bytes",
			 (json_int_t)snapshots_bytes(s->srv->snaps), "invalidations",
			 (json_int_t)invalidations(s), "watch", watch_json(s));
}

static json_t *redirect_json(const struct redirects *rs, const struct redirect *r)
{
	cleanup_strbuf struct strbuf place = STRBUF_INIT;

	if (redirect_place(rs, r->dir, &place) < 0)
		return json_null();
	return json_pack("{s:o, s:s, s:o, s:o}", "dir", text(r->dir), "form",
			 redirect_form_name(r->form), "place", text(place.buf), "why_not",
			 text(r->why_not));
}

/* Directories that are, or should be, out of the mount. */
static json_t *redirects_json(const struct view *v)
{
	json_t *all = json_array();
	struct redirect *list = NULL;
	size_t n = 0;

	if (v->redirects)
		(void)redirect_list(v->redirects, &list, &n); /* none without memory */
	for (size_t i = 0; i < n; i++)
		json_array_append_new(all, redirect_json(v->redirects, &list[i]));
	redirect_list_free(list, n);
	return all;
}

/* The profile, and whether its file says something else by now. */
static void add_profile(const struct view *v, const struct reread_facts *facts, json_t *j)
{
	json_object_set_new(j, "profile", text(v->profile ? v->profile->name : NULL));
	json_object_set_new(j, "profile_file", text(v->profile ? v->profile->file : NULL));
	json_object_set_new(j, "profile_why", text(v->profile_why));
	json_object_set_new(j, "profile_changed", json_boolean(facts->changed));
	json_object_set_new(j, "profile_error", text(facts->error));
	json_object_set_new(j, "profile_redirects_later", json_boolean(facts->redirects));
}

/* The caller holds the tree: the profile and its layers stay. */
static int status(const struct session *s, const struct reread_facts *facts, struct strbuf *ret)
{
	const struct view *v = s->view;
	cleanup_free char *out = NULL;
	json_t *j = json_object();

	json_object_set_new(j, "version", json_string(SPECFS_VERSION));
	json_object_set_new(j, "pid", json_integer(getpid()));
	json_object_set_new(j, "started", json_integer(s->started.tv_sec));
	json_object_set_new(j, "mountpoint", text(s->mountpoint));
	json_object_set_new(j, "root", text(v->root));
	add_profile(v, facts, j);
	json_object_set_new(j, "backends", backends_json(v));
	json_object_set_new(j, "scratch", text(v->scratch));
	json_object_set_new(j, "readonly", json_boolean(s->readonly));
	json_object_set_new(j, "scratch_all", json_boolean(v->scratch_all));
	json_object_set_new(j, "recovered", json_integer((json_int_t)v->n_recovered));
	json_object_set_new(j, "threads", json_integer((json_int_t)s->limits.threads));
	json_object_set_new(j, "transport", json_string(s->io_uring ? "io_uring" : "device"));
	json_object_set_new(j, "layers", layers_json(&v->stack));
	json_object_set_new(j, "redirects", redirects_json(v));
	json_object_set_new(j, "cache", caches_json(s));
	json_object_set_new(j, "events", events_json(s));
	json_object_set_new(j, "requests", requests_json(s->srv));
	out = json_dumps(j, JSON_INDENT(2));
	json_decref(j);
	if (!out)
		return -ENOMEM;
	strbuf_addf(ret, "%s\n", out);
	return strbuf_failed(ret);
}

static int layers(const struct stack *st, struct strbuf *ret)
{
	for (unsigned i = 0; i < st->n; i++)
		strbuf_addf(ret, "%u\t%s\t%s\n", i, st->layers[i].label, st->layers[i].path);
	return strbuf_failed(ret);
}

static int content_held(const struct session *s, const struct reread_facts *facts,
			const char *name, struct strbuf *ret)
{
	if (!strcmp(name, "status"))
		return status(s, facts, ret);
	if (!strcmp(name, "layers"))
		return layers(&s->view->stack, ret);
	if (strcmp(name, "version"))
		return -ENOENT;
	strbuf_adds(ret, SPECFS_VERSION "\n");
	return strbuf_failed(ret);
}

int control_content(const struct session *s, const char *name, struct strbuf *ret)
{
	struct reread_facts facts;
	int r;

	reread_tell(s->reread, &facts);
	tree_read(s->srv);
	r = content_held(s, &facts, name, ret);
	tree_done(s->srv);
	reread_facts_clear(&facts);
	return r;
}
