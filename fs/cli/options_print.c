/* SPDX-License-Identifier: MIT */
/* An option table as people read it: --help and the manual's lists. See options.h. */
#include <string.h>

#include "cli/options.h"

enum { HELP_COLUMN = 26, HELP_WIDTH = 80 };

/* The sentence of a row with its unit and default. */
static void row_sentence(const struct option_row *row, struct strbuf *sb)
{
	strbuf_adds(sb, row->help);
	if (row->unit)
		strbuf_addf(sb, ", in %s", row->unit);
	if (row->type == OPTION_LIST || row->type == OPTION_WORDS)
		strbuf_adds(sb, "; may be repeated");
	if (row->fallback)
		strbuf_addf(sb, " (default: %s)", row->fallback);
}

/* Prints @text wrapped, from column @col on; the cursor is at column @at. */
static void print_wrapped(FILE *out, const char *text, int at, int col)
{
	for (const char *w = text + strspn(text, " "); *w; w += strspn(w, " ")) {
		int len = (int)strcspn(w, " ");

		if (at > col && at + 1 + len > HELP_WIDTH) {
			fprintf(out, "\n");
			at = 0;
		}
		if (at < col) {
			fprintf(out, "%*s", col - at, "");
			at = col;
		} else if (at > col) {
			fprintf(out, " ");
			at++;
		}
		fprintf(out, "%.*s", len, w);
		at += len;
		w += len;
	}
	fprintf(out, "\n");
}

/* Prints one row: @left, and the sentence beside or below it. */
static void print_row(const struct option_row *row, const struct strbuf *left, FILE *out)
{
	cleanup_strbuf struct strbuf right = STRBUF_INIT;
	int at = fprintf(out, "%s", left->buf);

	row_sentence(row, &right);
	if (at > HELP_COLUMN - 2) {
		fprintf(out, "\n");
		at = 0;
	}
	print_wrapped(out, right.buf, at, HELP_COLUMN);
}

void options_print_help(const struct option_table *t, FILE *out)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct option_row *row = &t->rows[i];
		cleanup_strbuf struct strbuf left = STRBUF_INIT;

		if (row->short_name)
			strbuf_addf(&left, "  -%c, --%s", row->short_name, row->long_name);
		else
			strbuf_addf(&left, "      --%s", row->long_name);
		if (row->arg)
			strbuf_addf(&left, " %s", row->arg);
		print_row(row, &left, out);
	}
}

void options_print_list_help(const struct option_table *t, FILE *out)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct option_row *row = &t->rows[i];
		cleanup_strbuf struct strbuf left = STRBUF_INIT;

		strbuf_addf(&left, "  %s%s%s", row->long_name, row->arg ? "=" : "",
			    row->arg ? row->arg : "");
		print_row(row, &left, out);
	}
}

/* One word of mdoc text: nothing in it may be taken for an escape. */
static void mdoc_word(const char *w, size_t len, struct strbuf *ret)
{
	for (; len; len--, w++) {
		if (*w == '\\')
			strbuf_adds(ret, "\\e");
		else if (*w == '-')
			strbuf_adds(ret, "\\-");
		else
			strbuf_addc(ret, *w);
	}
}

/* Text in lines; none of them may be taken for a macro. */
static void mdoc_text(FILE *out, const char *s)
{
	cleanup_strbuf struct strbuf line = STRBUF_INIT;

	for (s += strspn(s, " "); *s; s += strspn(s, " ")) {
		size_t len = strcspn(s, " ");

		if (line.len && line.len + 1 + len > HELP_WIDTH - 4) {
			fprintf(out, "%s\n", line.buf);
			strbuf_reset(&line);
		}
		if (line.len)
			strbuf_addc(&line, ' ');
		else if (*s == '.' || *s == '\'')
			strbuf_adds(&line, "\\&");
		mdoc_word(s, len, &line);
		s += len;
	}
	fprintf(out, "%s.\n", line.buf);
}

/* "BACKEND[,BACKEND...]" or "auto|strict" is set as one literal argument. */
static void mdoc_item(const struct option_row *row, bool as_list, FILE *out)
{
	if (as_list) {
		fprintf(out, ".It Cm %s", row->long_name);
		if (row->arg)
			fprintf(out, " Ns = Ns Ar %s", row->arg);
	} else {
		fprintf(out, ".It Fl ");
		if (row->short_name)
			fprintf(out, "%c , Fl ", row->short_name);
		fprintf(out, "\\-%s", row->long_name);
		if (row->arg)
			fprintf(out, " Ar %s", row->arg);
	}
	fprintf(out, "\n");
}

void options_print_mdoc(const struct option_table *t, bool as_list, FILE *out)
{
	fprintf(out, ".Bl -tag -width Ds\n");
	for (size_t i = 0; i < t->n; i++) {
		cleanup_strbuf struct strbuf text = STRBUF_INIT;

		mdoc_item(&t->rows[i], as_list, out);
		row_sentence(&t->rows[i], &text);
		mdoc_text(out, text.buf);
	}
	fprintf(out, ".El\n");
}
