/* SPDX-License-Identifier: MIT */
/* specfs mount: options, and what is said of a mounted view. The work is in plan.c and serve.c. */
#include <string.h>

#include "cli/fstab.h"
#include "cli/mountrows.h"
#include "cli/report.h"
#include "cli/serve.h"

#define FIELD(f) MOUNT_FIELD(f)

static const struct option_row rows[] = {
	OPTION_ROWS_VIEW,
	{ "foreground", 'f', OPTION_FLAG,
	  .help = "serve the view from this process and log to stderr", FIELD(foreground) },
	{ "quiet", 'q', OPTION_FLAG, .help = "say nothing on success", FIELD(quiet) },
	OPTION_ROW_JSON,
	OPTION_ROW_HELP,
};

static const struct option_row list_rows[] = {
	OPTION_ROWS_VIEW_LIST,
	{ "backend", 0, OPTION_WORDS, "BACKEND",
	  .help = "as --backend, for fstab; name it again for a chain", FIELD(backends) },
	{ "profile", 0, OPTION_STRING, "PROFILE|FILE", .help = "as --profile", FIELD(profile) },
	{ "layer", 0, OPTION_LIST, "DIR", .help = "as --layer", FIELD(overlays) },
	{ "scratch", 0, OPTION_STRING, "DIR", .help = "as --scratch", FIELD(scratch) },
	{ "scratch_all", 0, OPTION_FLAG, .help = "as --scratch-all", FIELD(scratch_all) },
	{ "remount", 0, OPTION_FLAG, .help = "refused: unmount and mount again", FIELD(remount) },
};

/* "profile 'x' because y exists" */
static void tell_text(const json_t *record)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;
	cleanup_strv struct strv backends = STRV_INIT;
	cleanup_strv struct strv overlays = STRV_INIT;
	const char *why = json_get_text(record, "why");

	/* what cannot be had for lack of memory is left out of the sentence */
	(void)json_get_strv(record, "backends", &backends);
	(void)json_get_strv(record, "overlays", &overlays);
	strbuf_addf(&sb, "mounted '%s'", json_get_text(record, "root"));
	for (size_t i = 0; i < backends.n; i++)
		strbuf_addf(&sb, "%s%s", i ? "," : " as ", backends.v[i]);
	for (size_t i = 0; i < overlays.n; i++)
		strbuf_addf(&sb, "%s'%s'", i ? ", " : " under ", overlays.v[i]);
	strbuf_addf(&sb, " at '%s'", json_get_text(record, "mountpoint"));
	if (why)
		strbuf_addf(&sb, "; %s", why);
	strbuf_addf(&sb, "; scratch '%s'", json_get_text(record, "scratch"));
	if (json_get_text(record, "log"))
		strbuf_addf(&sb, ", log '%s'", json_get_text(record, "log"));
	print_text(sb.buf);
	putchar('\n');
}

int serve_tell(const struct plan *p, const json_t *record)
{
	if (p->json)
		return print_json(json_deep_copy(record));
	if (!p->quiet)
		tell_text(record);
	return EXIT_OK;
}

static const struct option_table list_table = OPTION_TABLE(list_rows);

static int run(void *args, const struct strv *words)
{
	struct mount_args *a = args;
	struct plan p;
	int r = plan_read_lists(&list_table, "mount", fstab_ignores, a);

	if (r)
		return r;
	r = plan_make(a, words, &p);
	if (!r)
		r = p.foreground ? serve(&p, -1, -1) : launch(&p);
	plan_clear(&p);
	return r;
}

const struct command cmd_mount = {
	.name = "mount",
	.words = "[ROOT [MOUNTPOINT]]",
	.summary = "mount a checkout as one backend sees it",
	.about = "ROOT is the checkout, by default the one around the working directory.\n"
		 "MOUNTPOINT is ROOT-BACKEND beside it by default; it is made if it is missing,\n"
		 "and removed again when the view is unmounted.",
	.options = OPTION_TABLE(rows),
	.list = { .rows = list_rows, .n = ARRAY_SIZE(list_rows) },
	.max_words = 2,
	.args_size = sizeof(struct mount_args),
	.run = run,
};
