/* SPDX-License-Identifier: MIT */
/* specfs status: one mounted view: who serves it, how, and what it differs in (differ.h). */
#include <errno.h>
#include <string.h>

#include "cli/command.h"
#include "cli/differ.h"
#include "cli/look.h"
#include "cli/place.h"
#include "cli/probe.h"
#include "cli/redirects.h"
#include "cli/report.h"

enum { STATUS_LIMIT_MS = 10000 };

struct status_args {
	struct command_args common;
	bool all;
};

static const struct option_row rows[] = {
	{ "all", 'a', OPTION_FLAG, .help = "list every file of new directories too",
	  .field = offsetof(struct status_args, all) },
	OPTION_ROW_JSON,
	OPTION_ROW_HELP,
};

/* The only view of this machine, for who is in none; NULL if there is none or a choice. */
static const struct mount_entry *only_view(const struct mount_table *t)
{
	const struct mount_entry *only = NULL;

	for (size_t i = 0; i < t->n; i++) {
		if (!mount_is_view(&t->v[i]))
			continue;
		if (only)
			return NULL;
		only = &t->v[i];
	}
	return only;
}

/* Where the view that is meant lies: named, around the working directory, or the only one. */
static int locate(const struct mount_table *t, const struct strv *words, struct diag *d,
		  struct strbuf *ret)
{
	const struct mount_entry *m;
	int r = place_locate(t, "mountpoint", words->n ? words->v[0] : ".", d, ret);

	if (r < 0 || words->n)
		return r;
	m = mount_around(t, ret->buf);
	if (m && mount_is_view(m))
		return 0;
	m = only_view(t);
	if (!m)
		return diag_add(d, -ENOENT, NULL, 0,
				"'%s' is in no mounted view: name one; 'specfs list' tells which "
				"there are", ret->buf);
	strbuf_reset(ret);
	strbuf_adds(ret, m->at);
	return strbuf_failed(ret);
}

/* What the daemon itself tells, laid over @o. An older one may tell less, or nothing. */
static int add_daemon_facts(const char *at, struct diag *d, json_t *o)
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	cleanup_json json_t *facts = NULL;
	int r;

	strbuf_addf(&path, "%s/.specfs/status", at);
	r = strbuf_failed(&path);
	r = r < 0 ? r : probe_read(path.buf, STATUS_LIMIT_MS, &text);
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return diag_add(d, r, NULL, 0, "'%s': %s", path.buf, strerror(-r));
	facts = json_loads(text.buf, 0, NULL);
	if (!json_is_object(facts))
		return diag_add(d, -EINVAL, NULL, 0, "'%s' is no JSON object", path.buf);
	return json_object_update(o, facts) ? -ENOMEM : 0;
}

/* A directory that is empty and there for its redirect only is no change. */
static void drop_redirected(const json_t *redirects, json_t *changes)
{
	for (size_t i = json_array_size(changes); i-- > 0;) {
		const json_t *c = json_array_get(changes, i);
		const json_t *files = json_object_get(c, "files");
		const char *path = json_get_text(c, "path");

		if (path && json_is_integer(files) && !json_integer_value(files) &&
		    redirects_find(redirects, path))
			(void)json_array_remove(changes, i); /* it is there */
	}
}

static int add_differences(const struct serving *s, bool all, struct diag *d, json_t *o)
{
	cleanup_view struct view *v = NULL;
	json_t *changes = json_array(), *specs = json_array();
	int r = json_object_set_new(o, "changes", changes);

	r |= json_object_set_new(o, "specializations", specs);
	r = r ? -ENOMEM : look_open_record(s->record, d, &v);
	r = r < 0 ? r : differ_scratch(v, all, changes);
	drop_redirected(json_object_get(o, "redirects"), changes);
	r = r < 0 ? r : differ_specializations(v, specs);
	if (r == -EACCES)
		note("what the view differs in is its owner's to see: %s",
		     d->lines.n ? d->lines.v[0] : strerror(-r));
	else if (r < 0 && json_is_true(json_object_get(o, "profile_changed")))
		note("what the view differs in cannot be told, its profile is faulty now: %s",
		     d->lines.n ? d->lines.v[0] : strerror(-r));
	else
		return r;
	diag_clear(d);
	return 0;
}

static int gather(const struct status_args *a, const struct strv *words, struct diag *d,
		  json_t **ret)
{
	cleanup_mount_table struct mount_table t = { 0 };
	cleanup_strbuf struct strbuf at = STRBUF_INIT;
	cleanup_serving struct serving s = { 0 };
	cleanup_json json_t *o = NULL;
	const struct mount_entry *m = NULL;
	int r = mount_table_read(&t);

	r = r < 0 ? r : locate(&t, words, d, &at);
	r = r < 0 ? r : look_find_view(&t, at.buf, d, &m, &s);
	if (r < 0)
		return r;
	o = json_copy(s.record);
	if (!o || json_object_set_new(o, "state", json_string(serving_word(&s))))
		return -ENOMEM;
	r = add_daemon_facts(m->at, d, o);
	r = r < 0 ? r : add_differences(&s, a->all, d, o);
	if (r < 0)
		return r;
	*ret = steal_ptr(&o);
	return 0;
}

static void print_line(const char *key, const char *value)
{
	if (!value)
		return;
	printf("  %-10s ", key);
	print_text(value);
	printf("\n");
}

static void print_number(const char *key, const json_t *o)
{
	if (json_is_integer(o))
		printf("  %-10s %" JSON_INTEGER_FORMAT "\n", key, json_integer_value(o));
}

static void print_layers(const json_t *layers)
{
	for (size_t i = 0; i < json_array_size(layers); i++) {
		const json_t *l = json_array_get(layers, i);
		const char *label = json_is_string(l) ? json_string_value(l)
						      : json_get_text(l, "label");
		const char *path = json_get_text(l, "path");
		const char *kind = json_get_text(l, "kind");

		printf("  %-10s ", i ? "" : "layers");
		print_text(label ? label : "?");
		if (path && *path) {
			printf(": ");
			print_text(path);
		}
		/* one file of the installation is shown under several names, each a layer */
		if (kind && !strcmp(kind, "supplied") && json_get_text(l, "at")) {
			printf(", as ");
			print_text(json_get_text(l, "at"));
		}
		printf("\n");
	}
}

/* "redirected  build: bind, /scratch/upper/build" */
static void print_redirects(const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *o = json_array_get(list, i);
		const char *dir = json_get_text(o, "dir");
		const char *why_not = json_get_text(o, "why_not");
		const char *form = json_get_text(o, "form");

		printf("  %-10s ", i ? "" : "redirected");
		print_text(dir ? dir : "?");
		printf(": %s", why_not ? "no, " : form ? form : "?");
		if (why_not)
			print_text(why_not);
		printf("\n");
	}
}

/* Whatever numbers the daemon keeps under @key: "requests  lookup 12, getattr 3" */
static void print_numbers(const char *key, json_t *numbers)
{
	const char *name;
	json_t *value;
	bool first = true;

	json_object_foreach(numbers, name, value) {
		if (!json_is_integer(value))
			continue;
		printf(first ? "  %-10s " : ", ", key);
		print_text(name);
		printf(" %" JSON_INTEGER_FORMAT, json_integer_value(value));
		first = false;
	}
	if (!first)
		printf("\n");
}

/* A kind of item: its "change", and what is said of their number. */
struct kind {
	const char *change;
	const char *sum;
};

/* "changes in scratch: 2 new, 1 changed" */
static void print_sums(const char *head, const json_t *list, const struct kind *kinds)
{
	const char *sep = " ";

	printf("%s:", head);
	for (; kinds->change; kinds++) {
		size_t n = 0;

		for (size_t i = 0; i < json_array_size(list); i++)
			n += !strcmp(json_get_text(json_array_get(list, i), "change"),
				     kinds->change);
		if (n)
			printf("%s%zu %s", sep, n, kinds->sum);
		if (n)
			sep = ", ";
	}
	printf(json_array_size(list) ? "\n" : " none\n");
}

/* @root: sources below it are told relative to it */
static void print_items(const json_t *list, const char *root)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *o = json_array_get(list, i);
		const char *type = json_get_text(o, "type");
		const char *source = json_get_text(o, "source");
		const json_t *files = json_object_get(o, "files");
		const char *below = root && source ? abs_below(source, root) : NULL;

		printf("  %-10s ", json_get_text(o, "change"));
		print_text(json_get_text(o, "path"));
		if (type && !strcmp(type, "directory"))
			printf("/");
		if (files)
			printf(" (%" JSON_INTEGER_FORMAT " file%s)", json_integer_value(files),
			       json_integer_value(files) == 1 ? "" : "s");
		if (source) {
			printf("  from ");
			print_text(below ? below : source);
		}
		printf("\n");
	}
}

static void print_chain(const json_t *o)
{
	const json_t *backends = json_object_get(o, "backends");

	printf("  %-10s ", "backend");
	for (size_t i = 0; i < json_array_size(backends); i++) {
		const char *name = json_string_value(json_array_get(backends, i));

		printf("%s", i ? "," : "");
		print_text(name ? name : "?");
	}
	printf(json_array_size(backends) ? "\n" : "-\n");
}

/* Does the view go by its profile's file as that is now? */
static void tell_profile(const json_t *o)
{
	if (json_is_true(json_object_get(o, "profile_changed")))
		print_line("", "its file has changed since: the view keeps the rules that it had");
	print_line("", json_get_text(o, "profile_error"));
	if (json_is_true(json_object_get(o, "profile_redirects_later")))
		print_line("", "its [redirect] has changed since: that takes effect at the next "
			       "mount");
}

static void tell_text(const json_t *o)
{
	static const struct kind changes[] = {
		{ "new", "new" }, { "changed", "changed" }, { "replaced", "replaced" },
		{ "deleted", "deleted" }, { NULL, NULL },
	};
	static const struct kind specs[] = {
		{ "replaces", "instead of trunk's" }, { "adds", "more than trunk has" },
		{ "covered", "covered by a higher layer" }, { "hides", "hidden" }, { NULL, NULL },
	};
	json_t *cache = json_object_get(o, "cache");
	const char *root = json_get_text(o, "root");
	const char *why = json_get_text(o, "profile_why");

	why = why ? why : json_get_text(o, "why"); /* the record's */

	print_text(json_get_text(o, "mountpoint") ? json_get_text(o, "mountpoint") : "?");
	printf(": %s\n", json_get_text(o, "state"));
	print_line("root", root);
	print_chain(o);
	print_line("profile", why ? why : json_get_text(o, "profile"));
	tell_profile(o);
	print_number("process", json_object_get(o, "pid"));
	print_line("version", json_get_text(o, "version"));
	print_line("scratch", json_get_text(o, "scratch"));
	print_line("log", json_get_text(o, "log"));
	print_line("cache", json_is_string(cache) ? json_string_value(cache)
						  : json_get_text(cache, "mode"));
	print_numbers("", cache);
	print_numbers("requests", json_object_get(o, "requests"));
	print_redirects(json_object_get(o, "redirects"));
	print_layers(json_object_get(o, "layers"));
	print_sums("changes in scratch", json_object_get(o, "changes"), changes);
	print_items(json_object_get(o, "changes"), root);
	print_sums("specializations", json_object_get(o, "specializations"), specs);
	print_items(json_object_get(o, "specializations"), root);
}

static int run(void *args, const struct strv *words)
{
	const struct status_args *a = args;
	cleanup_diag struct diag d = DIAG_INIT;
	cleanup_json json_t *o = NULL;
	int r = gather(a, words, &d, &o);

	if (r < 0)
		return fault_diag(&d, r);
	if (a->common.json)
		return print_json(steal_ptr(&o));
	tell_text(o);
	return EXIT_OK;
}

const struct command cmd_status = {
	.name = "status",
	.words = "[MOUNTPOINT]",
	.summary = "tell about a mounted view and what it differs in",
	.about = "Without MOUNTPOINT: the view around the working directory, else the only one.",
	.options = OPTION_TABLE(rows),
	.max_words = 1,
	.args_size = sizeof(struct status_args),
	.run = run,
};
