/* SPDX-License-Identifier: MIT */
/*
 * specfs which: where paths of a view come from. Of a mounted view by paths inside it; without a
 * mount by -b and -C, by paths of the view or of the checkout. Which facts: see which.h; of Python
 * functions, see which_function.h.
 */
#include "cli/which.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "cli/command.h"
#include "cli/look.h"
#include "cli/place.h"
#include "cli/report.h"
#include "cli/which_function.h"

struct which_args {
	struct command_args common;
	struct strv backends;
	const char *profile;
	struct strv overlays;
	const char *root;
};

#define FIELD(f) .field = offsetof(struct which_args, f)

static const struct option_row rows[] = {
	{ "backend", 'b', OPTION_WORDS, "BACKEND[,BACKEND...]",
	  .help = "look at the view of these backends, mounted or not", FIELD(backends) },
	{ "root", 'C', OPTION_STRING, "ROOT",
	  .fallback = "the checkout around the working directory",
	  .help = "the checkout of a view that need not be mounted", FIELD(root) },
	{ "profile", 'p', OPTION_STRING, "PROFILE|FILE", .fallback = "found from the checkout",
	  .help = "with -b, -l or -C: how the checkout is laid out", FIELD(profile) },
	{ "layer", 'l', OPTION_LIST, "DIR", .help = "with -C: lay DIR over the root of the view",
	  FIELD(overlays) },
	OPTION_ROW_JSON,
	OPTION_ROW_HELP,
};

/* One run: the view that the last path was in stays open for the next one. */
struct which {
	struct mount_table t;
	struct view *v;
	struct strbuf at;       /* where it is mounted; "" for one that is not */
	json_t *list;           /* --json */
	bool absent;            /* a path was not in its view */
};

static int report_one(struct which *w, json_t *o)
{
	if (!o)
		return fault("out of memory");
	if (w->list)
		return json_array_append_new(w->list, o) ? fault("out of memory") : EXIT_OK;
	if (json_object_get(o, "bound_by"))
		function_print(o);
	else
		which_print(o);
	json_decref(o);
	return EXIT_OK;
}

/* @r: what look_resolve() said */
static int report_resolved(struct which *w, const char *shown, const char *path,
			   const struct found *f, int r)
{
	if (r == -ENOENT || r == -ENOTDIR || r == -EXDEV)
		w->absent = true;
	else if (r < 0)
		return fault("'%s': %s", shown, strerror(-r));
	if (r == -ENOTDIR || r == -EXDEV)
		return report_one(w, which_absent_json(shown));
	return report_one(w, which_json(w->v, shown, path, r < 0 ? NULL : f));
}

static int report_function(struct which *w, const char *word)
{
	bool is_provided = false;
	json_t *o = function_json(w->v, word, &is_provided);

	w->absent |= !is_provided;
	return report_one(w, o);
}

static int look_up(struct which *w, const char *shown, const char *path)
{
	cleanup_strbuf struct strbuf at = STRBUF_INIT;
	struct found f;
	int r = look_resolve(w->v, path, &at, &f);

	if ((r == -ENOENT || r == -ENOTDIR) && function_is_name(shown))
		return report_function(w, shown);
	return report_resolved(w, shown, at.buf, &f, r);
}

/* Opens the view of mount @m unless it is open already. */
static int enter_mount(struct which *w, const char *path)
{
	cleanup_diag struct diag d = DIAG_INIT;
	cleanup_serving struct serving s = { 0 };
	const struct mount_entry *m = mount_around(&w->t, path);
	int r;

	if (w->v && m && !strcmp(w->at.buf, m->at))
		return EXIT_OK;
	if (!m || !mount_is_view(m))
		return fault("'%s' is in no mounted view; -b BACKEND, with -C ROOT if need be, "
			     "looks at one that is not mounted", path);
	view_free(w->v);
	w->v = NULL;
	r = look_find_view(&w->t, path, &d, &m, &s);
	r = r < 0 ? r : look_open_record(s.record, &d, &w->v);
	strbuf_reset(&w->at);
	strbuf_adds(&w->at, m->at);
	return r < 0 ? fault_diag(&d, r) : EXIT_OK;
}

static int which_mounted(struct which *w, const struct strv *words)
{
	for (size_t i = 0; i < words->n; i++) {
		cleanup_diag struct diag d = DIAG_INIT;
		cleanup_strbuf struct strbuf path = STRBUF_INIT;
		int r = place_locate(&w->t, "path", words->v[i], &d, &path);

		if (r < 0)
			return fault_diag(&d, r);
		r = enter_mount(w, path.buf);
		r = r ? r : look_up(w, words->v[i], abs_below(path.buf, w->at.buf));
		if (r)
			return r;
	}
	return EXIT_OK;
}

/*
 * A path without a mount: absolute below the checkout; relative to the working directory if that is
 * in the checkout and the view has such a path; else relative to the root.
 */
static int which_path(struct which *w, const char *shown)
{
	const char *root = w->v->root;
	cleanup_strbuf struct strbuf here = STRBUF_INIT;
	cleanup_strbuf struct strbuf at = STRBUF_INIT;
	const char *below;
	char cwd[PATH_MAX];
	struct found f;
	int r;

	if (shown[0] == '/') {
		below = abs_below(shown, root);
		return below ? look_up(w, shown, below)
			     : fault("'%s' is not in the checkout '%s'", shown, root);
	}
	below = getcwd(cwd, sizeof(cwd)) ? abs_below(cwd, root) : NULL;
	if (!below || !*below)
		return look_up(w, shown, shown);
	strbuf_addf(&here, "%s/%s", below, shown);
	r = strbuf_failed(&here);
	r = r < 0 ? r : look_resolve(w->v, here.buf, &at, &f);
	if (r == 0)
		return report_resolved(w, shown, at.buf, &f, r);
	return look_up(w, shown, shown);
}

static int open_described(struct which *w, const struct which_args *a)
{
	cleanup_diag struct diag d = DIAG_INIT;
	cleanup_strbuf struct strbuf root = STRBUF_INIT;
	struct view_options o = {
		.profile = a->profile,
		.backends = a->backends,
		.overlays = a->overlays,
	};
	int r = place_root(&w->t, a->root, &d, &root);

	o.root = root.buf;
	r = r < 0 ? r : look_open(&o, NULL, &d, &w->v);
	return r < 0 ? fault_diag(&d, r) : EXIT_OK;
}

static int which_described(struct which *w, const struct which_args *a, const struct strv *words)
{
	int r = open_described(w, a);

	for (size_t i = 0; i < words->n && !r; i++)
		r = which_path(w, words->v[i]);
	return r;
}

static int finish(struct which *w, int r)
{
	if (r) {
		json_decref(w->list);
	} else {
		if (w->list)
			r = print_json(w->list);
		if (!r && w->absent)
			r = EXIT_FOUND;
	}
	view_free(w->v);
	mount_table_clear(&w->t);
	strbuf_clear(&w->at);
	return r;
}

static int run(void *args, const struct strv *words)
{
	const struct which_args *a = args;
	struct which w = { .at = STRBUF_INIT, .list = a->common.json ? json_array() : NULL };
	int r = mount_table_read(&w.t);

	if (r < 0)
		r = fault("cannot read the mount table: %s", strerror(-r));
	else if (a->backends.n || a->overlays.n || a->root)
		r = which_described(&w, a, words);
	else if (a->profile)
		r = fault("option '-p' needs -b, -l or -C; see 'specfs which --help'");
	else
		r = which_mounted(&w, words);
	return finish(&w, r);
}

const struct command cmd_which = {
	.name = "which",
	.words = "PATH|MODULE:FUNCTION...",
	.summary = "tell where paths of a view come from and where changes of them go",
	.about = "PATH lies in a mounted view. With -b, -l or -C it is a path of the view that\n"
		 "these describe, or of the checkout; nothing needs to be mounted then. For a\n"
		 "Python function of the trunk, such as triton.testing:nvsmi, it tells who\n"
		 "specializes it. Exit status 1: a path is not in the view, or nobody does.",
	.options = OPTION_TABLE(rows),
	.min_words = 1,
	.max_words = WORDS_ANY,
	.args_size = sizeof(struct which_args),
	.run = run,
};
