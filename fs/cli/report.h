/* SPDX-License-Identifier: MIT */
/*
 * What the user reads: facts on stdout, as text or JSON, and faults on stderr, one line each.
 * Whatever comes from outside is made printable, so that a line stays a line.
 */
#ifndef SPECFS_CLI_REPORT_H
#define SPECFS_CLI_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/strbuf.h"

/** report_open - faults begin with "specfs COMMAND: " from now on; NULL: with "specfs: " */
void report_open(const char *command);

/** fault - say in one line what could not be done; returns EXIT_FAULT */
int fault(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** fault_diag - say the first line of @d, or what errno @r means; returns EXIT_FAULT */
int fault_diag(const struct diag *d, int r);

/** note - tell something on stderr that is no fault */
void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/** printable - append @s with control characters, broken UTF-8 left alone, written as escapes */
void printable(struct strbuf *sb, const char *s);

/** print_text - @s, printable, on stdout */
void print_text(const char *s);

/**
 * json_text - a JSON string of any bytes
 *
 * What is no UTF-8 becomes U+FFFD. Returns json null for NULL.
 */
json_t *json_text(const char *s);

/** json_strv - an array of texts */
json_t *json_strv(const struct strv *sv);

/** json_get_text - member @key of @o if it is a string, else NULL; @o may be NULL */
const char *json_get_text(const json_t *o, const char *key);

/** json_get_strv - append the strings of the array @key; 0 or -ENOMEM */
int json_get_strv(const json_t *o, const char *key, struct strv *ret);

/** print_json - @o on stdout; returns EXIT_OK, or EXIT_FAULT when out of memory. Takes @o */
int print_json(json_t *o);

/** A table of columns, each as wide as its widest cell. */
struct columns {
	struct strv cells;
	unsigned n;             /* columns a row */
};

/** columns_add - one cell, made printable; NULL and "" become "-" */
int columns_add(struct columns *c, const char *cell);
void columns_print(const struct columns *c);
void columns_clear(struct columns *c);

#endif
