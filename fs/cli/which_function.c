/* SPDX-License-Identifier: MIT */
/* One function of a view: see which_function.h. */
#include "cli/which_function.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/fd.h"
#include "base/path.h"
#include "cli/pydef.h"
#include "cli/record.h"
#include "cli/report.h"
#include "cli/which.h"

enum {
	SOURCE_MAX_BYTES = 16 << 20,
	IMPORTS_FOLLOWED = 8,   /* from a package to the module that really defines a name */
};

/* A Python file of the view. */
struct source {
	struct strbuf path;
	struct strbuf text;
	struct found f;
	unsigned line;          /* of the definition that was looked for; 0: none */
};

/* What is known of the function. */
struct answer {
	const struct view *v;
	struct strbuf package;  /* "python/triton" */
	struct strbuf rest;     /* the module below it, with slashes; "" is the package itself */
	const char *name;
	struct strbuf backend;  /* "" is none */
	struct source trunk;
	struct source provider;
	const char *bound_by;   /* NULL: nothing binds it */
	unsigned asked_line;    /* in the trunk's module */
};

#define SOURCE_INIT { .path = STRBUF_INIT, .text = STRBUF_INIT }

static void source_clear(struct source *s)
{
	strbuf_clear(&s->path);
	strbuf_clear(&s->text);
}

static void answer_clear(struct answer *a)
{
	strbuf_clear(&a->package);
	strbuf_clear(&a->rest);
	strbuf_clear(&a->backend);
	source_clear(&a->trunk);
	source_clear(&a->provider);
}

#define cleanup_source CLEANUP(source_clear)
#define cleanup_answer CLEANUP(answer_clear)

bool function_is_name(const char *word)
{
	size_t module = strcspn(word, ":");
	bool begins = true;

	if (!module || word[module] != ':' || !word[module + 1])
		return false;
	for (const char *p = word; *p; p++) {
		unsigned char c = (unsigned char)*p;

		if (c == ':' && p != word + module)
			return false;
		if (c == ':' || c == '.') {
			if (begins || (c == '.' && p > word + module))
				return false;
			begins = true;
			continue;
		}
		if (!(isalpha(c) || c == '_' || c >= 0x80 || (isdigit(c) && !begins)))
			return false;
		begins = false;
	}
	return true;
}

static int read_found(const struct view *v, const char *path, const struct found *f,
		      struct strbuf *ret)
{
	cleanup_fd int fd = -1;

	if (f->virtual) {
		strbuf_adds(ret, stack_virtual_content(&v->stack, f));
		return strbuf_failed(ret);
	}
	fd = stack_open_file(&v->stack, path, f, O_RDONLY);
	return fd < 0 ? fd : fd_read_all(fd, SOURCE_MAX_BYTES, ret);
}

/* Read a file of the view: 1, 0 if it is not there or cannot be read, or -ENOMEM. */
static int source_read(const struct view *v, const char *path, struct source *s)
{
	int r = stack_lookup(&v->stack, path, &s->f);

	strbuf_reset(&s->path);
	strbuf_reset(&s->text);
	s->line = 0;
	strbuf_adds(&s->path, path);
	if (!r && S_ISREG(s->f.st.st_mode))
		r = read_found(v, path, &s->f, &s->text);
	else if (!r)
		r = -ENOENT;
	if (r == -ENOMEM || strbuf_failed(&s->path) < 0)
		return -ENOMEM;
	return r == 0;
}

/* The same for the module @rest (with slashes) in @dir: a package, else a file. */
static int module_read(const struct view *v, const char *dir, const char *rest, bool is_top,
		       struct source *s)
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	int r;

	strbuf_addf(&path, "%s%s%s/__init__.py", dir, *rest ? "/" : "", rest);
	r = strbuf_failed(&path);
	r = r < 0 ? r : source_read(v, path.buf, s);
	if (r || !*rest || !is_top)
		return r;
	strbuf_reset(&path);
	strbuf_addf(&path, "%s/%s.py", dir, rest);
	r = strbuf_failed(&path);
	return r < 0 ? r : source_read(v, path.buf, s);
}

/* The directory and the module that "..a.b" in the file at @path means. */
static int resolve_import(const char *path, const char *module, struct strbuf *ret_dir,
			  struct strbuf *ret_rest)
{
	if (*module != '.') {
		strbuf_adds(ret_dir, "python");
	} else {
		strbuf_adds(ret_dir, path);
		for (; *module == '.' && !strbuf_failed(ret_dir); module++)
			strbuf_truncate(ret_dir, path_parent_len(ret_dir->buf));
	}
	for (; *module; module++)
		strbuf_addc(ret_rest, (char)(*module == '.' ? '/' : *module));
	return strbuf_failed(ret_dir) | strbuf_failed(ret_rest);
}

/* Find the line that defines @name in a source, or in what it imports it from. */
static int define(const struct view *v, struct source *s, const char *name)
{
	cleanup_free char *wanted = strdup(name);

	for (int i = 0; wanted && i < IMPORTS_FOLLOWED; i++) {
		cleanup_pydef struct pydef d = { 0 };
		cleanup_source struct source next = SOURCE_INIT;
		cleanup_strbuf struct strbuf dir = STRBUF_INIT;
		cleanup_strbuf struct strbuf rest = STRBUF_INIT;
		int r = pydef_find(s->text.buf, wanted, &d);

		if (r < 0)
			return r;
		s->line = d.line;
		if (d.kind != PYDEF_IMPORT)
			return 0;
		r = resolve_import(s->path.buf, d.module, &dir, &rest);
		r = r < 0 ? r : module_read(v, dir.buf, rest.buf, true, &next);
		if (r <= 0)
			return r; /* the import itself is all that can be told */
		source_clear(s);
		*s = next;
		next = (struct source)SOURCE_INIT;
		free(wanted);
		wanted = steal_ptr(&d.name);
	}
	return wanted ? 0 : -ENOMEM;
}

/* Where a backend's modules may be, below the package; by module only in the first two. */
static const struct {
	const char *before, *after;     /* the backend's name */
} places[] = {
	{ "spec", "triton" },
	{ "backends", "spec/triton" },
	{ "backends", "spec" },
};
enum { PLACES_BY_MODULE = 2 };

static int place_dir(const struct answer *a, size_t i, struct strbuf *ret)
{
	strbuf_addf(ret, "%s/%s/%s/%s", a->package.buf, places[i].before, a->backend.buf,
		    places[i].after);
	return strbuf_failed(ret);
}

/* The import hook's provider: the module of the same name. 1 if it binds the function. */
static int find_by_module(struct answer *a)
{
	bool is_top = !strchr(a->rest.buf, '/');
	int r = 0;

	if (!a->v->profile || !a->v->profile->hooks_import || !a->trunk.line)
		return 0;
	for (size_t i = 0; r == 0 && i < PLACES_BY_MODULE; i++) {
		cleanup_strbuf struct strbuf dir = STRBUF_INIT;

		r = place_dir(a, i, &dir);
		r = r < 0 ? r : module_read(a->v, dir.buf, a->rest.buf, is_top, &a->provider);
	}
	if (r > 0) {
		cleanup_pydef struct pydef d = { 0 };

		if (object_same(&a->provider.f.obj, &a->trunk.f.obj))
			return 0; /* the trunk's module is that very file */
		r = pydef_find(a->provider.text.buf, a->name, &d);
		if (!r && (d.kind == PYDEF_FUNCTION || d.kind == PYDEF_VALUE)) {
			a->provider.line = d.line;
			a->bound_by = "import hook";
			r = 1;
		}
	}
	return r;
}

/* What spec_func() gives: the name in the backend's top module. */
static int find_by_name(struct answer *a)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(places); i++) {
		cleanup_strbuf struct strbuf dir = STRBUF_INIT;

		r = place_dir(a, i, &dir);
		r = r < 0 ? r : module_read(a->v, dir.buf, "", false, &a->provider);
	}
	if (r > 0)
		r = define(a->v, &a->provider, a->name);
	if (r || !a->provider.line)
		return r;
	a->bound_by = pydef_asks(a->trunk.text.buf ? a->trunk.text.buf : "", a->name,
				 &a->asked_line);
	if (a->asked_line && a->asked_line == a->trunk.line)
		a->trunk.line = 0; /* the trunk has what the hook gives, and none of its own */
	return 0;
}

/* The backend that the marker names, as the hooks read it; without one the most special. */
static int find_backend(struct answer *a)
{
	cleanup_source struct source marker = SOURCE_INIT;
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	const struct ruleset *rs = a->v->rules;
	const char *text;
	int r = path_join(&path, a->package.buf, "FLAGTREE_BACKEND");

	r = r < 0 ? r : source_read(a->v, path.buf, &marker);
	if (r < 0)
		return r;
	if (r > 0) {
		text = marker.text.buf + strspn(marker.text.buf, " \t\r\n");
		strbuf_add(&a->backend, text, strcspn(text, " \t\r\n"));
	} else if (rs && rs->backends.n) {
		strbuf_adds(&a->backend, rs->backends.v[0]);
	}
	return strbuf_failed(&a->backend);
}

static int find(struct answer *a)
{
	cleanup_pydef struct pydef d = { 0 };
	int r = find_backend(a);

	r = r < 0 ? r : module_read(a->v, a->package.buf, a->rest.buf, true, &a->trunk);
	if (r > 0) {
		r = pydef_find(a->trunk.text.buf, a->name, &d);
		a->trunk.line = d.line;
	}
	if (r < 0 || !a->backend.len)
		return r;
	r = find_by_module(a);
	if (r == 0) {
		a->provider.line = 0;
		r = find_by_name(a);
	}
	return r < 0 ? r : 0;
}

/* "python/triton/testing.py" is triton.testing. */
static json_t *module_name(const char *path)
{
	cleanup_strbuf struct strbuf s = STRBUF_INIT;
	const char *below = path_below(path, "python");
	size_t len;

	if (!below)
		below = path;
	len = strlen(below);
	if (len > 12 && !strcmp(below + len - 12, "/__init__.py"))
		len -= 12;
	else if (len > 3 && !strcmp(below + len - 3, ".py"))
		len -= 3;
	for (size_t i = 0; i < len; i++)
		strbuf_addc(&s, (char)(below[i] == '/' ? '.' : below[i]));
	return strbuf_failed(&s) < 0 ? NULL : json_text(s.buf);
}

/* {"layer", "path", "line", "module"}; null if there is no such line */
static json_t *spot_json(const struct view *v, const struct source *s, unsigned line)
{
	cleanup_json json_t *o = NULL;

	if (!line)
		return json_null();
	o = which_place_json(v, s->f.layer, s->path.buf);
	if (!o || json_object_set_new(o, "line", json_integer(line)) ||
	    json_object_set_new(o, "module", module_name(s->path.buf)))
		return NULL;
	return steal_ptr(&o);
}

json_t *function_json(const struct view *v, const char *word, bool *ret_provided)
{
	size_t module = strcspn(word, ":");
	size_t package = strcspn(word, ".:");
	cleanup_answer struct answer a = {
		.v = v,
		.package = STRBUF_INIT,
		.rest = STRBUF_INIT,
		.name = word + module + 1,
		.backend = STRBUF_INIT,
		.trunk = SOURCE_INIT,
		.provider = SOURCE_INIT,
	};

	strbuf_addf(&a.package, "python/%.*s", (int)package, word);
	for (size_t i = package + 1; i < module; i++)
		strbuf_addc(&a.rest, (char)(word[i] == '.' ? '/' : word[i]));
	strbuf_adds(&a.rest, "");
	if (strbuf_failed(&a.package) < 0 || strbuf_failed(&a.rest) < 0 || find(&a) < 0)
		return NULL;
	*ret_provided = a.provider.line != 0;
	return json_pack("{s:o, s:s, s:b, s:o, s:o, s:o, s:o, s:o}",
			 "path", json_text(word),
			 "type", "function",
			 "provided", *ret_provided,
			 "backend", json_text(a.backend.len ? a.backend.buf : NULL),
			 "provider", spot_json(v, &a.provider, a.provider.line),
			 "replaces", spot_json(v, &a.trunk, a.trunk.line),
			 "bound_by", json_text(a.bound_by),
			 "asked_at", spot_json(v, &a.trunk, a.asked_line));
}

static void print_spot(const char *what, const json_t *o)
{
	printf("  %-12s", what);
	print_text(json_get_text(o, "layer"));
	printf(": ");
	print_text(json_get_text(o, "path"));
	printf(":%lld, module ", (long long)json_integer_value(json_object_get(o, "line")));
	print_text(json_get_text(o, "module"));
	printf("\n");
}

void function_print(const json_t *o)
{
	const json_t *provider = json_object_get(o, "provider");
	const json_t *trunk = json_object_get(o, "replaces");
	const json_t *asked = json_object_get(o, "asked_at");
	const char *by = json_get_text(o, "bound_by");

	print_text(json_get_text(o, "path"));
	if (!json_is_object(provider)) {
		printf(json_is_object(trunk) ? ": function, not specialized\n"
					     : ": no such function, and nobody provides it\n");
		if (json_is_object(trunk))
			print_spot("from", trunk);
		return;
	}
	printf(": function\n");
	print_spot("from", provider);
	if (json_is_object(trunk))
		print_spot("replaces", trunk);
	if (json_is_object(asked))
		print_spot("asked at", asked);
	printf("  bound by    %s\n",
	       by ? by : "nothing: its module in the trunk does not ask for it, and the import "
			 "hook does not bind it");
}
