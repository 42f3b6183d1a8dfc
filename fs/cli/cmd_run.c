/* SPDX-License-Identifier: MIT */
/* specfs run: options. The work is in plan.c, run.c and serve.c. */
#include "cli/mountrows.h"
#include "cli/report.h"
#include "cli/run.h"

static const struct option_row rows[] = {
	OPTION_ROWS_VIEW,
	{ "quiet", 'q', OPTION_FLAG, .help = "no word about what a view without -b is",
	  MOUNT_FIELD(quiet) },
	OPTION_ROW_HELP,
};

static const struct option_row list_rows[] = {
	OPTION_ROWS_VIEW_LIST,
};

static const struct option_table list_table = OPTION_TABLE(list_rows);

static bool ignore_none(const char *name)
{
	(void)name;
	return false;
}

static int run(void *args, const struct strv *words)
{
	struct mount_args *a = args;
	struct plan p;
	int r;

	if (!a->common.program)
		return fault("no command given: it goes after '--', as in 'specfs run -b B ROOT -- "
			     "make'");
	if (!a->common.program[0] || !*a->common.program[0])
		return fault("the command after '--' is empty");
	if (words->n > 1)
		return fault("one argument too many before '--': '%s'", words->v[1]);
	a->over_root = true;
	r = plan_read_lists(&list_table, "run", ignore_none, a);
	if (r)
		return r;
	r = plan_make(a, words, &p);
	if (!r)
		r = run_program(&p, a->common.program);
	plan_clear(&p);
	return r;
}

const struct command cmd_run = {
	.name = "run",
	.words = "[ROOT] -- COMMAND [ARGUMENT]...",
	.summary = "run a command that sees a view in place of the checkout",
	.about = "COMMAND and what it starts see the view at ROOT itself; for everybody else ROOT\n"
		 "stays as it is. No rights are needed where users may make namespaces. The exit\n"
		 "status is the command's, 128 and the signal's number if a signal ended it.",
	.options = OPTION_TABLE(rows),
	.list = { .rows = list_rows, .n = ARRAY_SIZE(list_rows) },
	.max_words = WORDS_ANY,
	.runs_program = true,
	.args_size = sizeof(struct mount_args),
	.run = run,
};
