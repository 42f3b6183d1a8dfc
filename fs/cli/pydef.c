/* SPDX-License-Identifier: MIT */
/* Definitions in Python text: see pydef.h. */
#include "cli/pydef.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void pydef_clear(struct pydef *d)
{
	free(d->module);
	free(d->name);
	*d = (struct pydef){ 0 };
}

/* The quotes that @p begins with: one or three of a kind; 0 if none. */
static size_t quotes_at(const char *p)
{
	if (*p != '"' && *p != '\'')
		return 0;
	return p[1] == *p && p[2] == *p ? 3 : 1;
}

/* Blank a string from after its opening quotes; returns where it ends, after the closing ones. */
static char *blank_string(char *p, char quote, size_t n)
{
	while (*p) {
		if (*p == '\\' && p[1]) {
			*p++ = ' ';
			*p = *p == '\n' ? '\n' : ' ';
		} else if (*p == quote && (n == 1 || quotes_at(p) == 3)) {
			return p + n;
		} else if (*p == '\n' && n == 1) {
			return p; /* not closed: no valid Python */
		} else if (*p != '\n') {
			*p = ' ';
		}
		p++;
	}
	return p;
}

/* A copy in which comments and what strings hold are blanks; positions stay. */
static char *code_of(const char *text)
{
	char *code = strdup(text);
	char *p = code;

	while (p && *p) {
		size_t n = quotes_at(p);

		if (n) {
			p = blank_string(p + n, *p, n);
		} else if (*p == '#') {
			size_t len = strcspn(p, "\n");

			memset(p, ' ', len);
			p += len;
		} else {
			p++;
		}
	}
	return code;
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static const char *skip_blanks(const char *p)
{
	return p + strspn(p, " \t");
}

/* After @word at @p, if it stands there as a whole; else NULL. */
static const char *after_word(const char *p, const char *word)
{
	size_t len = strlen(word);

	return !strncmp(p, word, len) && !is_name_char(p[len]) ? p + len : NULL;
}

/* The end of the logical line at @p: the line end outside of brackets and not continued. */
static const char *line_end(const char *p)
{
	int depth = 0;

	for (; *p; p++) {
		if (strchr("([{", *p))
			depth++;
		else if (strchr(")]}", *p))
			depth -= depth > 0;
		else if (*p == '\\' && p[1] == '\n')
			p++;
		else if (*p == '\n' && !depth)
			break;
	}
	return p;
}

static int note(struct pydef *d, enum pydef_kind kind, unsigned line)
{
	if (kind >= d->kind) {
		pydef_clear(d);
		d->kind = kind;
		d->line = line;
	}
	return 0;
}

/* Blanks of all kinds that may stand between names in brackets. */
static const char *skip_space(const char *p, const char *end)
{
	while (p < end && (isspace((unsigned char)*p) || *p == '\\' || *p == '(' || *p == ')'))
		p++;
	return p;
}

static size_t name_len(const char *p)
{
	size_t n = 0;

	while (is_name_char(p[n]))
		n++;
	return n;
}

/* One of the names of an import, at @p: "NAME" or "NAME as OTHER". *@ret_as is what it defines. */
static const char *import_item(const char *p, const char *end, const char **ret_as)
{
	const char *as;

	*ret_as = p;
	p = skip_space(p + name_len(p), end);
	as = after_word(p, "as");
	if (as) {
		*ret_as = skip_space(as, end);
		p = *ret_as + name_len(*ret_as);
	}
	p = skip_space(p, end);
	return p < end && *p == ',' ? skip_space(p + 1, end) : end;
}

/* "from MODULE import ..." up to @end; @p is after "from". */
static int take_import(struct pydef *d, const char *p, const char *end, const char *name,
		       unsigned line)
{
	const char *module = skip_blanks(p);
	size_t len = strcspn(module, " \t\n\\");

	p = after_word(skip_space(module + len, end), "import");
	for (p = p ? skip_space(p, end) : end; p < end && name_len(p);) {
		const char *item = p;
		const char *as;

		p = import_item(item, end, &as);
		if (!after_word(as, name))
			continue;
		(void)note(d, PYDEF_IMPORT, line); /* it has no way to fail */
		if (d->kind != PYDEF_IMPORT)
			return 0;
		d->module = strndup(module, len);
		d->name = strndup(item, name_len(item));
		if (!d->module || !d->name)
			return -ENOMEM;
	}
	return 0;
}

/* One logical line at the top level. */
static int take_line(struct pydef *d, const char *p, const char *end, const char *name,
		     unsigned line)
{
	const char *rest = after_word(p, "async");

	if (rest)
		p = skip_blanks(rest);
	rest = after_word(p, "def");
	if (rest)
		return after_word(skip_blanks(rest), name) ? note(d, PYDEF_FUNCTION, line) : 0;
	rest = after_word(p, "class");
	if (rest)
		return after_word(skip_blanks(rest), name) ? note(d, PYDEF_CLASS, line) : 0;
	rest = after_word(p, "from");
	if (rest)
		return take_import(d, rest, end, name, line);
	rest = after_word(p, name);
	rest = rest ? skip_blanks(rest) : "";
	if (*rest == ':' || (*rest == '=' && rest[1] != '='))
		return note(d, PYDEF_VALUE, line);
	return 0;
}

int pydef_find(const char *text, const char *name, struct pydef *ret)
{
	cleanup_free char *code = code_of(text);
	cleanup_pydef struct pydef d = { 0 };
	unsigned line = 1;
	int r = code ? 0 : -ENOMEM;

	for (const char *p = code; !r && *p;) {
		const char *end = line_end(p);

		r = take_line(&d, p, end, name, line);
		for (; p < end; p++)
			line += *p == '\n';
		line += *p == '\n';
		p += *p == '\n';
	}
	if (r < 0)
		return r;
	*ret = d;
	d = (struct pydef){ 0 };
	return 0;
}

/* Is @p, after a callee, the beginning of a call whose first argument is the string @name? */
static bool is_call_for(const char *p, const char *name)
{
	size_t len = strlen(name);

	p = skip_blanks(p);
	if (*p++ != '(')
		return false;
	while (isspace((unsigned char)*p))
		p++;
	return (*p == '"' || *p == '\'') && !strncmp(p + 1, name, len) && p[1 + len] == *p;
}

const char *pydef_asks(const char *text, const char *name, unsigned *ret_line)
{
	static const char *const callees[] = { "spec_func", "spec_call", "spec" };
	cleanup_free char *code = code_of(text);
	unsigned line = 1;

	for (const char *p = code; p && *p; p++) {
		line += *p == '\n';
		if (p > code && (is_name_char(p[-1]) || p[-1] == '.'))
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(callees); i++) {
			const char *rest = after_word(p, callees[i]);

			if (rest && is_call_for(text + (rest - code), name)) {
				*ret_line = line;
				return callees[i];
			}
		}
	}
	return NULL;
}
