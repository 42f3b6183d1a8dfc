/* SPDX-License-Identifier: MIT */
/* Reading options by their table: see options.h. What is printed of them: options_print.c. */
#include "cli/options.h"

#include <errno.h>
#include <string.h>

/* One command line being read. */
struct parse {
	const struct option_table *t;
	void *args;
	struct diag *d;
	bool *seen;     /* by row */
	bool last_wins; /* -o */
};

static void *field_of(const struct parse *p, const struct option_row *row)
{
	return (char *)p->args + row->field;
}

static int set_uint(const struct parse *p, const struct option_row *row, const char *name,
		    const char *value)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(value, &end, 10);
	if (errno || *end || value[0] < '0' || value[0] > '9' || n < 1 || n > row->max)
		return diag_add(p->d, -EINVAL, NULL, 0,
				"option '%s': '%s' is not a number from 1 to %u", name, value,
				row->max);
	*(unsigned *)field_of(p, row) = n;
	return 0;
}

static int set_words(const struct parse *p, const struct option_row *row, const char *name,
		     const char *value)
{
	size_t len = strlen(value);

	if (value[0] == ',' || value[len - 1] == ',' || strstr(value, ",,"))
		return diag_add(p->d, -EINVAL, NULL, 0,
				"option '%s': '%s' has an empty word; expected %s", name, value,
				row->arg);
	return strv_add_words(field_of(p, row), value, ",");
}

static void set_flag(const struct parse *p, const struct option_row *row)
{
	*(bool *)field_of(p, row) = true;
}

/* @name: the option as the user wrote it */
static int set_value(const struct parse *p, const struct option_row *row, const char *name,
		     char *value)
{
	bool again = p->seen[row - p->t->rows];

	p->seen[row - p->t->rows] = true;
	if (!*value)
		return diag_add(p->d, -EINVAL, NULL, 0,
				"option '%s' has an empty value; expected %s", name, row->arg);
	if (row->type == OPTION_LIST)
		return strv_add(field_of(p, row), value);
	if (row->type == OPTION_WORDS)
		return set_words(p, row, name, value);
	if (again && !p->last_wins)
		return diag_add(p->d, -EINVAL, NULL, 0, "option '%s' is given twice", name);
	if (row->type == OPTION_UINT)
		return set_uint(p, row, name, value);
	*(char **)field_of(p, row) = value;
	return 0;
}

static const struct option_row *row_by_long(const struct option_table *t, const char *name,
					    size_t len)
{
	for (size_t i = 0; i < t->n; i++)
		if (strlen(t->rows[i].long_name) == len && !memcmp(t->rows[i].long_name, name, len))
			return &t->rows[i];
	return NULL;
}

static const struct option_row *row_by_short(const struct option_table *t, char c)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->rows[i].short_name && t->rows[i].short_name == c)
			return &t->rows[i];
	return NULL;
}

static int needs_value(const struct parse *p, const struct option_row *row, const char *name)
{
	return diag_add(p->d, -EINVAL, NULL, 0, "option '%s' needs a value: %s", name, row->arg);
}

/* Returns how many words of @argv were used, or a negative errno. */
static int parse_long(const struct parse *p, int argc, char **argv)
{
	char *body = argv[0] + 2;
	size_t len = strcspn(body, "=");
	char *value = body[len] ? body + len + 1 : NULL;
	const struct option_row *row = row_by_long(p->t, body, len);
	cleanup_strbuf struct strbuf name = STRBUF_INIT;
	int r;

	strbuf_add(&name, argv[0], len + 2);
	if (strbuf_failed(&name))
		return -ENOMEM;
	if (!row)
		return diag_add(p->d, -EINVAL, NULL, 0, "unknown option '%s'", name.buf);
	if (row->type == OPTION_FLAG) {
		if (value)
			return diag_add(p->d, -EINVAL, NULL, 0, "option '%s' takes no value",
					name.buf);
		set_flag(p, row);
		return 1;
	}
	if (!value && argc < 2)
		return needs_value(p, row, name.buf);
	r = set_value(p, row, name.buf, value ? value : argv[1]);
	return r < 0 ? r : value ? 1 : 2;
}

/* The same for a word of short options; flags may be bundled. */
static int parse_short(const struct parse *p, int argc, char **argv)
{
	for (char *c = argv[0] + 1; *c; c++) {
		const char name[] = { '-', *c, '\0' };
		const struct option_row *row = row_by_short(p->t, *c);
		int r;

		if (!row)
			return diag_add(p->d, -EINVAL, NULL, 0, "unknown option '%s'", name);
		if (row->type == OPTION_FLAG) {
			set_flag(p, row);
			continue;
		}
		if (!c[1] && argc < 2)
			return needs_value(p, row, name);
		r = set_value(p, row, name, c[1] ? c + 1 : argv[1]);
		return r < 0 ? r : c[1] ? 1 : 2;
	}
	return 1;
}

int options_parse(const struct option_table *t, int argc, char **argv, void *args,
		  struct strv *words, struct diag *d)
{
	cleanup_free bool *seen = calloc(t->n + 1, sizeof(*seen));
	struct parse p = { .t = t, .args = args, .d = d, .seen = seen };
	bool plain = false;
	int r;

	if (!seen)
		return -ENOMEM;
	for (int i = 0; i < argc; i += r) {
		if (!plain && !strcmp(argv[i], "--")) {
			plain = true;
			r = 1;
		} else if (!plain && !strncmp(argv[i], "--", 2)) {
			r = parse_long(&p, argc - i, argv + i);
		} else if (!plain && argv[i][0] == '-' && argv[i][1]) {
			r = parse_short(&p, argc - i, argv + i);
		} else {
			r = strv_add(words, argv[i]);
			r = r < 0 ? r : 1;
		}
		if (r < 0)
			return r;
	}
	return 0;
}

/* Cuts the first option off a list: its end becomes NUL, "\," becomes ",". Returns what follows. */
static char *cut_option(char *s)
{
	char *out = s;

	for (; *s && *s != ','; s++) {
		if (s[0] == '\\' && (s[1] == ',' || s[1] == '\\'))
			s++;
		*out++ = *s;
	}
	if (*s)
		s++;
	*out = '\0';
	return s;
}

static int parse_list_item(const struct parse *p, char *item, bool (*ignore)(const char *name))
{
	size_t len = strcspn(item, "=");
	char *value = item[len] ? item + len + 1 : NULL;
	const struct option_row *row = row_by_long(p->t, item, len);

	item[len] = '\0';
	if (row && row->type == OPTION_FLAG && value)
		return diag_add(p->d, -EINVAL, NULL, 0, "mount option '%s' takes no value", item);
	if (row && row->type != OPTION_FLAG && !value)
		return diag_add(p->d, -EINVAL, NULL, 0, "mount option '%s' needs a value: %s=%s",
				item, item, row->arg);
	if (row && value)
		return set_value(p, row, item, value);
	if (row)
		set_flag(p, row);
	if (row || ignore(item))
		return 0;
	return diag_add(p->d, -EINVAL, NULL, 0, "unknown mount option '%s'", item);
}

int options_parse_list(const struct option_table *t, char *list, bool (*ignore)(const char *name),
		       void *args, struct diag *d)
{
	cleanup_free bool *seen = calloc(t->n + 1, sizeof(*seen));
	struct parse p = { .t = t, .args = args, .d = d, .seen = seen, .last_wins = true };

	if (!seen)
		return -ENOMEM;
	while (*list) {
		char *item = list;
		int r;

		list = cut_option(list);
		r = *item ? parse_list_item(&p, item, ignore) : 0;
		if (r < 0)
			return r;
	}
	return 0;
}

void options_clear(const struct option_table *t, void *args)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->rows[i].type == OPTION_LIST || t->rows[i].type == OPTION_WORDS)
			strv_clear((struct strv *)((char *)args + t->rows[i].field));
}
