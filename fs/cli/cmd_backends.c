/* SPDX-License-Identifier: MIT */
/* specfs backends: which backends a checkout has, as its profile sees it. Needs no mount. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "cli/command.h"
#include "cli/place.h"
#include "cli/report.h"
#include "layout/backend.h"

struct backends_args {
	struct command_args common;
	const char *profile;
};

static const struct option_row rows[] = {
	{ "profile", 'p', OPTION_STRING, "PROFILE|FILE", .fallback = "found from the checkout",
	  .help = "how the checkout is laid out: a profile's name, or an INI file",
	  .field = offsetof(struct backends_args, profile) },
	OPTION_ROW_JSON,
	OPTION_ROW_HELP,
};

/* What is told. */
struct facts {
	struct strbuf root;
	struct profile *profile;
	char *why;
	struct backend_info *list;
	size_t n;
};

static void facts_clear(struct facts *f)
{
	strbuf_clear(&f->root);
	if (f->profile)
		profile_free(f->profile);
	free(f->why);
	backend_list_free(f->list, f->n);
}

static int gather(const struct backends_args *a, const struct strv *words, struct diag *d,
		  struct facts *ret)
{
	cleanup_mount_table struct mount_table t = { 0 };
	cleanup_fd int root = -1;
	int r = mount_table_read(&t);

	r = r < 0 ? r : place_root(&t, words->n ? words->v[0] : NULL, d, &ret->root);
	if (r < 0)
		return r;
	root = open(ret->root.buf, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return diag_add(d, -errno, NULL, 0, "checkout '%s': %s", ret->root.buf,
				strerror(errno));
	r = profile_find(ret->root.buf, a->profile, d, &ret->profile, &ret->why);
	return r < 0 ? r : backend_list(root, ret->profile, d, &ret->list, &ret->n);
}

static json_t *backend_json(const struct backend_info *b)
{
	return json_pack("{s:o, s:o, s:I, s:I}", "name", json_text(b->name), "directory",
			 json_text(b->dir), "specializations", (json_int_t)b->n_specializations,
			 "providers", (json_int_t)b->n_providers);
}

static int tell_json(const struct facts *f)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < f->n; i++)
		if (json_array_append_new(list, backend_json(&f->list[i])))
			return fault("out of memory");
	return print_json(json_pack("{s:o, s:o, s:o, s:o, s:o}", "root", json_text(f->root.buf),
				    "profile", json_text(f->profile->name), "profile_file",
				    json_text(f->profile->file), "why", json_text(f->why),
				    "backends", list));
}

static int add_row(struct columns *c, const char *name, const char *shown, const char *providers,
		   const char *dir)
{
	int r = columns_add(c, name);

	r = r < 0 ? r : columns_add(c, shown);
	r = r < 0 ? r : columns_add(c, providers);
	return r < 0 ? r : columns_add(c, dir);
}

static int tell_text(const struct facts *f)
{
	struct columns c = { .n = 4 };
	int r = add_row(&c, "BACKEND", "SPECIALIZATIONS", "PROVIDERS", "DIRECTORY");

	print_text(f->root.buf);
	printf(": ");
	print_text(f->why);
	printf("\n");
	for (size_t i = 0; i < f->n && r >= 0; i++) {
		char shown[24], providers[24];

		snprintf(shown, sizeof(shown), "%zu", f->list[i].n_specializations);
		snprintf(providers, sizeof(providers), "%zu", f->list[i].n_providers);
		r = add_row(&c, f->list[i].name, shown, providers, f->list[i].dir);
	}
	if (!f->n)
		printf("no backends\n");
	else if (r >= 0)
		columns_print(&c);
	columns_clear(&c);
	return r < 0 ? fault("%s", strerror(-r)) : EXIT_OK;
}

static int run(void *args, const struct strv *words)
{
	const struct backends_args *a = args;
	cleanup_diag struct diag d = DIAG_INIT;
	struct facts f = { .root = STRBUF_INIT };
	int r = gather(a, words, &d, &f);

	if (r < 0)
		r = fault_diag(&d, r);
	else
		r = a->common.json ? tell_json(&f) : tell_text(&f);
	facts_clear(&f);
	return r;
}

const struct command cmd_backends = {
	.name = "backends",
	.words = "[ROOT]",
	.summary = "list the backends of a checkout",
	.about = "ROOT is the checkout, by default the one around the working directory.\n"
		 "Tells for each backend how many files it puts into a view, and how many\n"
		 "serve hooks only.",
	.options = OPTION_TABLE(rows),
	.max_words = 1,
	.args_size = sizeof(struct backends_args),
	.run = run,
};
