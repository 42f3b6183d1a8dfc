/* SPDX-License-Identifier: MIT */
/* What all commands have in common, before they run: see command.h. */
#include "cli/command.h"

#include <string.h>

#include "cli/report.h"

const struct command *command_find(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

void command_print_help(const struct command *c, FILE *out)
{
	fprintf(out, "usage: specfs %s [OPTION]...%s%s\n%s\n", c->name, *c->words ? " " : "",
		c->words, c->summary);
	if (c->about)
		fprintf(out, "\n%s\n", c->about);
	fprintf(out, "\noptions:\n");
	options_print_help(&c->options, out);
	if (c->list.n) {
		fprintf(out, "\nmount options (-o):\n");
		options_print_list_help(&c->list, out);
	}
}

static int usage(const struct command *c, const char *what)
{
	return fault("%s; see 'specfs %s --help'", what, c->name);
}

static int check_words(const struct command *c, const struct strv *words)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; i < words->n; i++)
		if (!*words->v[i])
			return usage(c, "an argument is empty");
	if (words->n < c->min_words)
		strbuf_addf(&sb, "an argument is missing, expected %s", c->words);
	else if (words->n > c->max_words)
		strbuf_addf(&sb, "one argument too many: '%s'", words->v[c->max_words]);
	if (strbuf_failed(&sb) || sb.len)
		return usage(c, sb.len ? sb.buf : "wrong number of arguments");
	return EXIT_OK;
}

/* Puts what follows the first "--" apart. Returns how many words are before it. */
static int cut_program(int argc, char **argv, struct command_args *args)
{
	for (int i = 0; i < argc; i++) {
		if (!strcmp(argv[i], "--")) {
			args->program = argv + i + 1;
			return i;
		}
	}
	return argc;
}

static int read_and_run(const struct command *c, int argc, char **argv, void *args)
{
	cleanup_strv struct strv words = STRV_INIT;
	cleanup_diag struct diag d = DIAG_INIT;
	struct command_args *common = args;
	int r;

	if (c->runs_program)
		argc = cut_program(argc, argv, common);
	r = options_parse(&c->options, argc, argv, args, &words, &d);
	if (common->help) {
		command_print_help(c, stdout);
		return EXIT_OK;
	}
	if (r < 0)
		return d.lines.n ? usage(c, d.lines.v[0]) : fault_diag(&d, r);
	r = check_words(c, &words);
	return r ? r : c->run(args, &words);
}

int command_main(const struct command *c, int argc, char **argv)
{
	void *args = calloc(1, c->args_size);
	int r;

	report_open(c->name);
	if (!args)
		return fault("out of memory");
	r = read_and_run(c, argc, argv, args);
	options_clear(&c->options, args);
	if (c->list.n)
		options_clear(&c->list, args);
	free(args);
	return r;
}
