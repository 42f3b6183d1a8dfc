/* SPDX-License-Identifier: MIT */
/* Redirected directories for the commands: see redirects.h. */
#include "cli/redirects.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "cli/ask.h"
#include "cli/probe.h"
#include "cli/process.h"
#include "cli/record.h"
#include "cli/report.h"
#include "layer/bind.h"

enum { STATUS_LIMIT_MS = 10000, BUSY_TRIES = 20, BUSY_PAUSE_MS = 20 };

int redirects_read(const char *at, struct diag *d, json_t **ret)
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	cleanup_json json_t *facts = NULL;
	int r;

	strbuf_addf(&path, "%s/.specfs/status", at);
	r = strbuf_failed(&path);
	r = r < 0 ? r : probe_read(path.buf, STATUS_LIMIT_MS, &text);
	if (r < 0)
		return diag_add(d, r, NULL, 0, "'%s' does not tell its status: %s", at,
				strerror(-r));
	facts = json_loads(text.buf, 0, NULL);
	if (!json_is_array(json_object_get(facts, "redirects")))
		return diag_add(d, -EPROTO, NULL, 0, "'%s' does not tell what is redirected", at);
	*ret = json_incref(json_object_get(facts, "redirects"));
	return 0;
}

const json_t *redirects_find(const json_t *list, const char *dir)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *o = json_array_get(list, i);
		const char *name = json_get_text(o, "dir");

		if (name && !strcmp(name, dir) && !json_get_text(o, "why_not"))
			return o;
	}
	return NULL;
}

/* It could not be mounted: the daemon must not believe that it is. */
static void give_up(const char *scratch, const char *dir, int err)
{
	cleanup_strbuf struct strbuf line = STRBUF_INIT;
	cleanup_diag struct diag d = DIAG_INIT;

	strbuf_addf(&line, "redirect end %s", dir);
	note("'%s' is served through the mount, it cannot be mounted from scratch: %s", dir,
	     strerror(-err));
	if (strbuf_failed(&line) < 0 || ask_daemon(scratch, line.buf, &d) < 0)
		note("%s", d.lines.n ? d.lines.v[0] : "out of memory");
}

void redirects_bind_here(const struct plan *p)
{
	cleanup_json json_t *list = NULL;
	cleanup_diag struct diag d = DIAG_INIT;

	if (redirects_read(p->mountpoint.buf, &d, &list) < 0) {
		note("nothing is redirected: %s", d.lines.n ? d.lines.v[0] : "out of memory");
		return;
	}
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *o = json_array_get(list, i);
		const char *dir = json_get_text(o, "dir");
		const char *form = json_get_text(o, "form");
		int r;

		if (!dir || !form || strcmp(form, "bind") || json_get_text(o, "why_not"))
			continue;
		r = bind_make(p->mountpoint.buf, p->scratch.buf, dir);
		if (r < 0)
			give_up(p->scratch.buf, dir, r);
	}
}

void redirects_redo(const char *at, const char *scratch, const struct strv *dirs)
{
	for (size_t i = 0; i < dirs->n; i++) {
		int r = bind_make(at, scratch, dirs->v[i]);

		if (r < 0)
			give_up(scratch, dirs->v[i], r);
	}
}

int redirects_undo_one(const char *at, const char *dir)
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	int r = bind_undo(at, dir, false);

	strbuf_addf(&path, "%s/%s", at, dir);
	for (unsigned i = 0; r == -EBUSY && i < BUSY_TRIES; i++) {
		struct timespec pause = { .tv_nsec = BUSY_PAUSE_MS * 1000000L };
		cleanup_strbuf struct strbuf users = STRBUF_INIT;

		if (strbuf_failed(&path) < 0 || process_list_users(path.buf, 0, &users))
			break;
		(void)nanosleep(&pause, NULL); /* cut short by a signal: then we try sooner */
		r = bind_undo(at, dir, false);
	}
	return r;
}

int redirects_undo(const char *at, const char *scratch, struct strv *ret_undone,
		   struct strbuf *ret_busy)
{
	cleanup_strv struct strv dirs = STRV_INIT;
	int r = bind_list(at, &dirs);

	for (size_t i = 0; i < dirs.n && !r; i++) {
		r = redirects_undo_one(at, dirs.v[i]);
		if (!r)
			r = strv_add(ret_undone, dirs.v[i]);
		else
			strbuf_addf(ret_busy, "%s/%s", at, dirs.v[i]);
	}
	if (r < 0)
		redirects_redo(at, scratch, ret_undone);
	return r;
}
