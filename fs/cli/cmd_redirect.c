/* SPDX-License-Identifier: MIT */
/*
 * specfs redirect: take directories of a mounted view out of the mount, and back. The daemon judges
 * and remembers; bind mounts are made here, in the mount namespace of who asks.
 */
#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "cli/ask.h"
#include "cli/look.h"
#include "cli/place.h"
#include "cli/process.h"
#include "cli/redirects.h"
#include "cli/report.h"
#include "layer/bind.h"

struct redirect_args {
	struct command_args common;
	const char *form;
};

static const struct option_row rows[] = {
	{ "form", 0, OPTION_STRING, "bind|symlink", .fallback = "bind for who may mount",
	  .help = "with add: by a bind mount, or by a symlink to scratch",
	  .field = offsetof(struct redirect_args, form) },
	OPTION_ROW_JSON,
	OPTION_ROW_HELP,
};

/* The view that is meant, and what is known of it. */
struct target {
	const struct mount_entry *m;
	struct serving serving;
	const char *scratch;
	json_t *list;           /* what the daemon says */
};

/* The view path that @given names: a path of the view, or an absolute one that lies in it. */
static int view_path(const struct mount_entry *m, const char *given, struct strbuf *ret)
{
	const char *below = given[0] == '/' ? abs_below(given, m->at) : given;
	int r = below ? path_normalize(below + strspn(below, "/"), ret) : -EXDEV;

	if (r == -EXDEV)
		return fault("'%s' is not in the view at '%s'", given, m->at);
	if (r < 0)
		return fault("%s", strerror(-r));
	return *ret->buf ? EXIT_OK : fault("'%s' is the view itself: name a directory in it",
					   given);
}

static int tell_users(const char *at)
{
	cleanup_strbuf struct strbuf users = STRBUF_INIT;
	unsigned n = process_list_users(at, 0, &users);

	if (!n)
		return fault("'%s' is in use by something that cannot be seen from here; nothing "
			     "is changed", at);
	return fault("'%s' is in use by process%s %s; nothing is changed", at, n > 1 ? "es" : "",
		     users.buf);
}

static bool is_used(const char *at)
{
	cleanup_strbuf struct strbuf users = STRBUF_INIT;

	return process_list_users(at, 0, &users) > 0;
}

/* "redirect WHAT DIR" */
static int tell_daemon(const struct target *t, const char *what, const char *dir)
{
	cleanup_strbuf struct strbuf line = STRBUF_INIT;
	cleanup_diag struct diag d = DIAG_INIT;
	int r;

	if (strchr(dir, '\n'))
		return fault("'%s' cannot be redirected: its name has a line break", dir);
	strbuf_addf(&line, "redirect %s %s", what, dir);
	r = strbuf_failed(&line);
	r = r < 0 ? r : ask_daemon(t->scratch, line.buf, &d);
	if (r == -ECOMM)
		return fault("'%s' %s: %s", dir, !strcmp(what, "end") ? "cannot be put back"
								   : "cannot be redirected",
			     d.lines.v[0]);
	return r < 0 ? fault_diag(&d, r) : EXIT_OK;
}

/* Who works in it would go on with another directory than those who come. */
static int check_unused(const char *at, const char *dir)
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT;

	strbuf_addf(&path, "%s/%s", at, dir);
	if (strbuf_failed(&path) < 0)
		return fault("out of memory");
	return is_used(path.buf) ? tell_users(path.buf) : EXIT_OK;
}

static int add(const struct redirect_args *a, const struct target *t, const char *dir)
{
	bool bind = a->form ? !strcmp(a->form, "bind") : bind_may();
	int r;

	if (a->form && !bind && strcmp(a->form, "symlink"))
		return fault("option '--form': '%s' is none of bind, symlink", a->form);
	if (bind && !bind_may())
		return fault("a bind mount is for who may mount; '--form symlink' does without");
	r = check_unused(t->m->at, dir);
	r = r ? r : tell_daemon(t, bind ? "begin bind" : "begin symlink", dir);
	if (r || !bind)
		return r;
	r = bind_make(t->m->at, t->scratch, dir);
	if (r < 0) {
		(void)tell_daemon(t, "end", dir); /* what failed is told below */
		return fault("'%s/%s' cannot be mounted from scratch: %s", t->m->at, dir,
			     strerror(-r));
	}
	return EXIT_OK;
}

static int remove_bind(const struct target *t, const char *dir)
{
	cleanup_strv struct strv bound = STRV_INIT;
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	int r = bind_list(t->m->at, &bound);

	strbuf_addf(&path, "%s/%s", t->m->at, dir);
	r = r < 0 ? r : strbuf_failed(&path);
	if (r >= 0 && strv_has(&bound, dir))
		r = redirects_undo_one(t->m->at, dir);
	if (r == -EBUSY)
		return tell_users(path.buf);
	if (r < 0)
		return fault("'%s' cannot be unmounted: %s", path.buf, strerror(-r));
	return tell_daemon(t, "end", dir);
}

static int remove_one(const struct target *t, const char *dir)
{
	const json_t *o = redirects_find(t->list, dir);
	const char *form = json_get_text(o, "form");
	const char *place = json_get_text(o, "place");

	if (!o)
		return fault("'%s' is not redirected in '%s'", dir, t->m->at);
	if (form && !strcmp(form, "bind"))
		return remove_bind(t, dir);
	return place && is_used(place) ? tell_users(place) : tell_daemon(t, "end", dir);
}

/* "bind", "symlink", "lost" (somebody else has unmounted it), "no" */
static const char *state_of(const json_t *o, const struct strv *bound)
{
	const char *form = json_get_text(o, "form");
	const char *dir = json_get_text(o, "dir");

	if (json_get_text(o, "why_not"))
		return "no";
	if (form && !strcmp(form, "bind") && dir && !strv_has(bound, dir))
		return "lost";
	return form ? form : "?";
}

static int list_text(const json_t *list)
{
	struct columns c = { .n = 3 };
	int r = columns_add(&c, "DIRECTORY");

	r = r < 0 ? r : columns_add(&c, "REDIRECTED");
	r = r < 0 ? r : columns_add(&c, "PLACE");
	for (size_t i = 0; i < json_array_size(list) && r >= 0; i++) {
		const json_t *o = json_array_get(list, i);
		const char *why = json_get_text(o, "why_not");

		r = columns_add(&c, json_get_text(o, "dir"));
		r = r < 0 ? r : columns_add(&c, json_get_text(o, "state"));
		r = r < 0 ? r : columns_add(&c, why ? why : json_get_text(o, "place"));
	}
	if (r >= 0 && json_array_size(list))
		columns_print(&c);
	columns_clear(&c);
	return r < 0 ? fault("%s", strerror(-r)) : EXIT_OK;
}

static int list(const struct redirect_args *a, const struct target *t)
{
	cleanup_strv struct strv bound = STRV_INIT;
	int r = bind_list(t->m->at, &bound);

	for (size_t i = 0; i < json_array_size(t->list) && r >= 0; i++) {
		json_t *o = json_array_get(t->list, i);

		r = json_object_set_new(o, "state", json_string(state_of(o, &bound))) ? -ENOMEM : 0;
	}
	if (r < 0)
		return fault("%s", strerror(-r));
	return a->common.json ? print_json(json_incref(t->list)) : list_text(t->list);
}

static int run_on(const struct redirect_args *a, const struct strv *words, const struct target *t)
{
	cleanup_strbuf struct strbuf dir = STRBUF_INIT;
	const char *what = words->v[0];
	int r = EXIT_OK;

	if (!strcmp(what, "list"))
		return list(a, t);
	for (size_t i = 2; i < words->n && !r; i++) {
		strbuf_reset(&dir);
		r = view_path(t->m, words->v[i], &dir);
		if (!r)
			r = !strcmp(what, "add") ? add(a, t, dir.buf) : remove_one(t, dir.buf);
	}
	return r;
}

static int check_words(const struct strv *words)
{
	const char *what = words->v[0];
	bool is_list = !strcmp(what, "list");

	if (!is_list && strcmp(what, "add") && strcmp(what, "remove"))
		return fault("'%s' is none of add, list, remove; see 'specfs redirect --help'",
			     what);
	if (is_list && words->n > 2)
		return fault("one argument too many: '%s'; see 'specfs redirect --help'",
			     words->v[2]);
	if (!is_list && words->n < 3)
		return fault("'%s' needs a mountpoint and a directory; see 'specfs redirect "
			     "--help'", what);
	return EXIT_OK;
}

static int run(void *args, const struct strv *words)
{
	cleanup_mount_table struct mount_table t = { 0 };
	cleanup_diag struct diag d = DIAG_INIT;
	cleanup_strbuf struct strbuf at = STRBUF_INIT;
	struct target target = { 0 };
	int r = check_words(words);

	if (r)
		return r;
	r = mount_table_read(&t);
	if (r < 0)
		return fault("cannot read the mount table: %s", strerror(-r));
	r = place_locate(&t, "mountpoint", words->n > 1 ? words->v[1] : ".", &d, &at);
	r = r < 0 ? r : look_find_view(&t, at.buf, &d, &target.m, &target.serving);
	r = r < 0 ? r : redirects_read(target.m->at, &d, &target.list);
	target.scratch = json_get_text(target.serving.record, "scratch");
	r = r < 0 ? fault_diag(&d, r) : run_on(args, words, &target);
	json_decref(target.list);
	serving_clear(&target.serving);
	return r;
}

const struct command cmd_redirect = {
	.name = "redirect",
	.words = "add|list|remove [MOUNTPOINT [DIR...]]",
	.summary = "take directories that scratch alone has out of the mount",
	.about = "In DIR, a path of the view, no request reaches the daemon any more: builds run\n"
		 "at the speed of the file system that scratch is on. It lasts until 'remove' or\n"
		 "the end of the mount; what the profile lists in [redirect] needs no command.",
	.options = OPTION_TABLE(rows),
	.min_words = 1,
	.max_words = WORDS_ANY,
	.args_size = sizeof(struct redirect_args),
	.run = run,
};
