/* SPDX-License-Identifier: MIT */
/*
 * A command of specfs: one file cmd_*.c that defines one of these, and one row in the table of
 * main.c. Options are read, --help is answered and the number of words is checked before it runs.
 */
#ifndef SPECFS_CLI_COMMAND_H
#define SPECFS_CLI_COMMAND_H

#include <stdbool.h>

#include "cli/options.h"

enum { EXIT_OK = 0, EXIT_FOUND = 1, EXIT_FAULT = 2 };

enum { WORDS_ANY = 1 << 20 };

struct command {
	const char *name;
	const char *words;              /* what it takes besides options: "[ROOT [MOUNTPOINT]]" */
	const char *summary;            /* one line, for the list of commands */
	const char *about;              /* a paragraph for --help; may be NULL */
	struct option_table options;
	struct option_table list;       /* -o: rows of its list; n 0 if it has none */
	unsigned min_words;
	unsigned max_words;
	bool runs_program;              /* what follows "--" goes to command_args.program */
	size_t args_size;               /* of its struct, which begins with struct command_args */
	/**
	 * run - do it
	 * @args: the filled struct
	 *
	 * Returns EXIT_OK, EXIT_FOUND or EXIT_FAULT; a fault has been told.
	 */
	int (*run)(void *args, const struct strv *words);
};

/* How every command's struct begins. */
struct command_args {
	bool help;
	bool json;
	char **program; /* its words, for runs_program; ends with NULL; NULL without "--" */
};

/* The rows that every command has, and every one that tells facts. */
#define OPTION_ROW_HELP                                                                            \
	{                                                                                          \
		.long_name = "help", .short_name = 'h', .type = OPTION_FLAG,                       \
		.help = "show this text and exit", .field = offsetof(struct command_args, help),   \
	}
#define OPTION_ROW_JSON                                                                            \
	{                                                                                          \
		.long_name = "json", .type = OPTION_FLAG, .help = "print JSON instead of text",    \
		.field = offsetof(struct command_args, json),                                      \
	}

/** commands - every command, in the order in which they are listed; ends with NULL */
extern const struct command *const commands[];

/** command_find - the command of that name, or NULL */
const struct command *command_find(const char *name);

/** command_main - read @argv (without the command's name) and run it; an exit status */
int command_main(const struct command *c, int argc, char **argv);

/** command_print_help - what `specfs NAME --help` shows */
void command_print_help(const struct command *c, FILE *out);

#endif
