/* SPDX-License-Identifier: MIT */
/* Facts and faults for people and programs: see report.h. */
#include "cli/report.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "cli/command.h"

/* A longer line keeps its two ends: an argument of 5000 characters must not bury the reason. */
enum { LINE_MAX_BYTES = 1500, LINE_HEAD = 700, LINE_TAIL = 700 };

static const char *prefix_command;

void report_open(const char *command)
{
	prefix_command = command;
}

void printable(struct strbuf *sb, const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '\n')
			strbuf_adds(sb, "\\n");
		else if (c == '\t')
			strbuf_adds(sb, "\\t");
		else if (c < 0x20 || c == 0x7f)
			strbuf_addf(sb, "\\x%02x", c);
		else
			strbuf_addc(sb, (char)c);
	}
}

static void say(const char *fmt, va_list ap)
{
	cleanup_strbuf struct strbuf raw = STRBUF_INIT;
	cleanup_strbuf struct strbuf line = STRBUF_INIT;

	strbuf_vaddf(&raw, fmt, ap);
	strbuf_addf(&line, "specfs%s%s: ", prefix_command ? " " : "",
		    prefix_command ? prefix_command : "");
	printable(&line, raw.buf);
	if (line.len > LINE_MAX_BYTES)
		fprintf(stderr, "%.*s [...] %s\n", LINE_HEAD, line.buf,
			line.buf + line.len - LINE_TAIL);
	else
		fprintf(stderr, "%s\n", line.buf);
}

int fault(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
	return EXIT_FAULT;
}

void note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(fmt, ap);
	va_end(ap);
}

int fault_diag(const struct diag *d, int r)
{
	if (d->lines.n > 1)
		return fault("%s (and %zu more like it)", d->lines.v[0], d->lines.n - 1);
	if (d->lines.n == 1)
		return fault("%s", d->lines.v[0]);
	return fault("%s", strerror(-r));
}

void print_text(const char *s)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;

	printable(&sb, s);
	fputs(sb.buf, stdout);
}

/* Bytes of the UTF-8 sequence at @s that jansson takes, or 0. */
static size_t utf8_len(const char *s)
{
	size_t left = strnlen(s, 4);

	for (size_t n = 1; n <= left; n++) {
		json_t *probe = json_stringn(s, n);

		if (probe) {
			json_decref(probe);
			return n;
		}
	}
	return 0;
}

json_t *json_text(const char *s)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;
	json_t *plain;

	if (!s)
		return json_null();
	plain = json_string(s);
	if (plain)
		return plain;
	while (*s) {
		size_t n = utf8_len(s);

		strbuf_add(&sb, n ? s : "\xef\xbf\xbd", n ? n : 3);
		s += n ? n : 1;
	}
	return strbuf_failed(&sb) ? NULL : json_string(sb.buf);
}

json_t *json_strv(const struct strv *sv)
{
	json_t *a = json_array();

	for (size_t i = 0; a && i < sv->n; i++)
		(void)json_array_append_new(a, json_text(sv->v[i])); /* print_json() sees the gap */
	return a;
}

const char *json_get_text(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

int json_get_strv(const json_t *o, const char *key, struct strv *ret)
{
	const json_t *a = json_object_get(o, key);

	for (size_t i = 0; i < json_array_size(a); i++) {
		const char *s = json_string_value(json_array_get(a, i));

		if (s && strv_add(ret, s) < 0)
			return -ENOMEM;
	}
	return 0;
}

int print_json(json_t *o)
{
	int r = o ? json_dumpf(o, stdout, JSON_INDENT(2)) : -1;

	json_decref(o);
	if (r < 0)
		return fault("cannot print JSON: out of memory or the output is gone");
	putchar('\n');
	return EXIT_OK;
}

int columns_add(struct columns *c, const char *cell)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;

	printable(&sb, cell && *cell ? cell : "-");
	return strbuf_failed(&sb) ? -ENOMEM : strv_add(&c->cells, sb.buf);
}

void columns_print(const struct columns *c)
{
	for (size_t i = 0; i < c->cells.n; i++) {
		bool last = i % c->n == c->n - 1;
		size_t width = 0;

		for (size_t k = i % c->n; k < c->cells.n; k += c->n)
			if (strlen(c->cells.v[k]) > width)
				width = strlen(c->cells.v[k]);
		if (last)
			printf("%s\n", c->cells.v[i]);
		else
			printf("%-*s  ", (int)width, c->cells.v[i]);
	}
}

void columns_clear(struct columns *c)
{
	strv_clear(&c->cells);
}
