/* SPDX-License-Identifier: MIT */
/* specfs mount: options, and what is said of a mounted view. The work is in plan.c and serve.c. */
#include <string.h>

#include "cli/fstab.h"
#include "cli/report.h"
#include "cli/serve.h"

#define FIELD(f) .field = offsetof(struct mount_args, f)

static const struct option_row rows[] = {
	{ "backend", 'b', OPTION_WORDS, "BACKEND[,BACKEND...]",
	  .help = "backends of the checkout, most special first", FIELD(backends) },
	{ "profile", 'p', OPTION_STRING, "PROFILE|FILE", .fallback = "found from the checkout",
	  .help = "how the checkout is laid out: a profile's name, or an INI file",
	  FIELD(profile) },
	{ "layer", 'l', OPTION_LIST, "DIR",
	  .help = "lay DIR over the root of the view, the first one highest; needs no backend",
	  FIELD(overlays) },
	{ "scratch", 's', OPTION_STRING, "DIR",
	  .fallback = "a directory per view in $XDG_CACHE_HOME/specfs",
	  .help = "where the view keeps what belongs neither to trunk nor to a backend",
	  FIELD(scratch) },
	{ "read-only", 'r', OPTION_FLAG, .help = "refuse every change", FIELD(readonly) },
	{ "foreground", 'f', OPTION_FLAG,
	  .help = "serve the view from this process and log to stderr", FIELD(foreground) },
	{ "scratch-all", 0, OPTION_FLAG,
	  .help = "send every change to scratch: a throw-away workspace", FIELD(scratch_all) },
	{ "quiet", 'q', OPTION_FLAG, .help = "say nothing on success", FIELD(quiet) },
	{ "options", 'o', OPTION_LIST, "OPTION[=VALUE][,...]", .help = "mount options, see below",
	  FIELD(lists) },
	OPTION_ROW_JSON,
	OPTION_ROW_HELP,
};

static const struct option_row list_rows[] = {
	{ "cache", 0, OPTION_STRING, "auto|strict|ttl=SECONDS", .fallback = "auto",
	  .help = "keep what was read until a layer changes, never without asking, or for a time",
	  FIELD(cache) },
	{ "write", 0, OPTION_STRING, "owner",
	  .help = "with -l: change files where they are, make new ones in the highest layer",
	  FIELD(write) },
	{ "allow_other", 0, OPTION_FLAG, .help = "let other users in", FIELD(allow_other) },
	{ "allow_root", 0, OPTION_FLAG, .help = "let root in", FIELD(allow_root) },
	{ "noexec", 0, OPTION_FLAG, .help = "run no program from the view", FIELD(noexec) },
	{ "max_threads", 0, OPTION_UINT, "N", .fallback = "by the number of CPUs", .max = 1024,
	  .help = "how many threads answer", FIELD(max_threads) },
	{ "debug", 0, OPTION_FLAG, .help = "log every request", FIELD(debug) },
	{ "ro", 0, OPTION_FLAG, .help = "as --read-only", FIELD(readonly) },
	{ "backend", 0, OPTION_WORDS, "BACKEND",
	  .help = "as --backend, for fstab; name it again for a chain", FIELD(backends) },
	{ "profile", 0, OPTION_STRING, "PROFILE|FILE", .help = "as --profile", FIELD(profile) },
	{ "layer", 0, OPTION_LIST, "DIR", .help = "as --layer", FIELD(overlays) },
	{ "scratch", 0, OPTION_STRING, "DIR", .help = "as --scratch", FIELD(scratch) },
	{ "scratch_all", 0, OPTION_FLAG, .help = "as --scratch-all", FIELD(scratch_all) },
	{ "remount", 0, OPTION_FLAG, .help = "refused: unmount and mount again", FIELD(remount) },
};

static const struct option_table list_table = OPTION_TABLE(list_rows);

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

static int read_lists(struct mount_args *a)
{
	for (size_t i = 0; i < a->lists.n; i++) {
		cleanup_diag struct diag d = DIAG_INIT;
		int r = options_parse_list(&list_table, a->lists.v[i], fstab_ignores, a, &d);

		if (r < 0)
			return d.lines.n ? fault("%s; see 'specfs mount --help'", d.lines.v[0])
					 : fault_diag(&d, r);
	}
	return EXIT_OK;
}

static int run(void *args, const struct strv *words)
{
	struct mount_args *a = args;
	struct plan p;
	int r = read_lists(a);

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
