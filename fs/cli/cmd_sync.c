/* SPDX-License-Identifier: MIT */
/* specfs sync: return when every change of the layers made so far is seen in the mount. */
#include <string.h>

#include "cli/ask.h"
#include "cli/command.h"
#include "cli/look.h"
#include "cli/place.h"
#include "cli/report.h"

struct sync_args {
	struct command_args common;
};

static const struct option_row rows[] = {
	OPTION_ROW_HELP,
};

static int sync_view(const struct mount_entry *m, const struct serving *s)
{
	cleanup_diag struct diag d = DIAG_INIT;
	int r = ask_daemon(json_get_text(s->record, "scratch"), "sync", &d);

	return r < 0 ? fault("'%s' could not be brought up to date: %s", m->at,
			     d.lines.n ? d.lines.v[0] : strerror(-r)) : EXIT_OK;
}

static int run(void *args, const struct strv *words)
{
	cleanup_mount_table struct mount_table t = { 0 };
	cleanup_diag struct diag d = DIAG_INIT;
	cleanup_strbuf struct strbuf at = STRBUF_INIT;
	cleanup_serving struct serving s = { 0 };
	const struct mount_entry *m;
	int r = mount_table_read(&t);

	(void)args;
	if (r < 0)
		return fault("cannot read the mount table: %s", strerror(-r));
	r = place_locate(&t, "mountpoint", words->v[0], &d, &at);
	r = r < 0 ? r : look_find_view(&t, at.buf, &d, &m, &s);
	return r < 0 ? fault_diag(&d, r) : sync_view(m, &s);
}

const struct command cmd_sync = {
	.name = "sync",
	.words = "MOUNTPOINT",
	.summary = "return when every change made to the layers is seen",
	.about = "Changes are seen by themselves, on a quiet machine within 50 milliseconds. Those "
		 "that no watch can see, through shared maps or another name of a hard link, are "
		 "looked for too.",
	.options = OPTION_TABLE(rows),
	.min_words = 1,
	.max_words = 1,
	.args_size = sizeof(struct sync_args),
	.run = run,
};
