/* SPDX-License-Identifier: MIT */
/*
 * Options of a command. An option exists once, as a row: parsing, --help and the manual's option
 * lists come from it. A row's field says where in the command's own struct the value goes.
 */
#ifndef SPECFS_CLI_OPTIONS_H
#define SPECFS_CLI_OPTIONS_H

#include <stddef.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "base/strv.h"

enum option_type {
	OPTION_FLAG,    /* bool; takes no value */
	OPTION_STRING,  /* const char *: points into argv; given once */
	OPTION_LIST,    /* struct strv: may be repeated */
	OPTION_WORDS,   /* struct strv: words parted by commas; may be repeated */
	OPTION_UINT,    /* unsigned: 1 to max */
};

struct option_row {
	const char *long_name;
	char short_name;        /* 0: none */
	enum option_type type;
	const char *arg;        /* what the value is called: "DIR"; NULL for a flag */
	const char *fallback;   /* what holds without it, for people; NULL: nothing to say */
	const char *unit;       /* of a number; NULL: a count or no number */
	unsigned max;           /* OPTION_UINT */
	const char *help;       /* one sentence, lower case, no full stop */
	size_t field;           /* offset in the struct that is filled */
};

struct option_table {
	const struct option_row *rows;
	size_t n;
};

#define OPTION_TABLE(rows_) { .rows = (rows_), .n = ARRAY_SIZE(rows_) }

/**
 * options_parse - read a command line
 * @argv:  without the command's own name
 * @args:  the command's struct, zeroed; release with options_clear()
 * @words: gets what is no option; "--" ends the options
 *
 * Returns 0, or -EINVAL with one line in @d.
 */
int options_parse(const struct option_table *t, int argc, char **argv, void *args,
		  struct strv *words, struct diag *d);

/**
 * options_parse_list - read "name,name=value,..." as -o takes it; the last one counts
 * @list:   changed by it: values stay in it as strings; "\," is a comma in a value
 * @ignore: says of a name (without its value) that it is somebody else's; not NULL
 *
 * Returns 0, or -EINVAL with one line in @d.
 */
int options_parse_list(const struct option_table *t, char *list, bool (*ignore)(const char *name),
		       void *args, struct diag *d);

/** options_clear - release the lists in @args */
void options_clear(const struct option_table *t, void *args);

/** options_print_help - the option list of --help, 80 columns wide */
void options_print_help(const struct option_table *t, FILE *out);

/** options_print_list_help - the same for the rows of -o */
void options_print_list_help(const struct option_table *t, FILE *out);

/** options_print_mdoc - the same list for the manual; @as_list: rows of -o, without dashes */
void options_print_mdoc(const struct option_table *t, bool as_list, FILE *out);

#endif
