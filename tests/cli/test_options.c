/* SPDX-License-Identifier: MIT */
/* Command lines and -o lists, read by a table: values, bundles, and each way to be wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/options.h"

struct args {
	bool flag;
	bool other;
	const char *text;
	struct strv list;
	struct strv words;
	unsigned number;
};

#define FIELD(f) .field = offsetof(struct args, f)

static const struct option_row rows[] = {
	{ "flag", 'f', OPTION_FLAG, .help = "a flag", FIELD(flag) },
	{ "other", 'x', OPTION_FLAG, .help = "another flag", FIELD(other) },
	{ "text", 't', OPTION_STRING, "TEXT", .fallback = "nothing", .help = "a text",
	  FIELD(text) },
	{ "list", 'l', OPTION_LIST, "DIR", .help = "a list", FIELD(list) },
	{ "words", 'w', OPTION_WORDS, "A[,B...]", .help = "words", FIELD(words) },
	{ "number", 0, OPTION_UINT, "N", .unit = "seconds", .max = 100, .help = "a number",
	  FIELD(number) },
};

static const struct option_table table = OPTION_TABLE(rows);

struct fix {
	struct args a;
	struct strv rest;
	struct diag d;
};

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct fix));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	struct fix *f = *state;

	options_clear(&table, &f->a);
	strv_clear(&f->rest);
	diag_clear(&f->d);
	free(f);
	return 0;
}

/* Parses words parted by spaces; "''" is an empty word. */
static int parse(struct fix *f, const char *line)
{
	static char buf[8192];
	char *argv[64], *save = NULL;
	int argc = 0;

	snprintf(buf, sizeof(buf), "%s", line);
	for (char *w = strtok_r(buf, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[argc++] = strcmp(w, "''") ? w : w + 2;
	return options_parse(&table, argc, argv, &f->a, &f->rest, &f->d);
}

static bool ignores_x(const char *name)
{
	return name[0] == 'x';
}

static int parse_list(struct fix *f, const char *line)
{
	static char buf[8192];

	snprintf(buf, sizeof(buf), "%s", line);
	return options_parse_list(&table, buf, ignores_x, &f->a, &f->d);
}

static void every_spelling_is_read(void **state)
{
	struct fix *f = *state;

	assert_int_equal(parse(f, "-fx -tone -l a --list=b --list c --number=7 word -w p,q"), 0);
	assert_true(f->a.flag && f->a.other);
	assert_string_equal(f->a.text, "one");
	assert_int_equal(f->a.list.n, 3);
	assert_string_equal(f->a.list.v[2], "c");
	assert_int_equal(f->a.words.n, 2);
	assert_string_equal(f->a.words.v[1], "q");
	assert_int_equal(f->a.number, 7);
	assert_int_equal(f->rest.n, 1);
	assert_string_equal(f->rest.v[0], "word");
}

static void a_bundle_ends_with_the_option_that_takes_a_value(void **state)
{
	struct fix *f = *state;

	assert_int_equal(parse(f, "-fxt=v"), 0);
	assert_true(f->a.flag && f->a.other);
	assert_string_equal(f->a.text, "=v");
}

static void two_dashes_end_the_options(void **state)
{
	struct fix *f = *state;

	assert_int_equal(parse(f, "-f -- -x - --"), 0);
	assert_false(f->a.other);
	assert_int_equal(f->rest.n, 3);
	assert_string_equal(f->rest.v[0], "-x");
	assert_string_equal(f->rest.v[2], "--");
}

static void one_dash_is_a_word(void **state)
{
	struct fix *f = *state;

	assert_int_equal(parse(f, "-"), 0);
	assert_string_equal(f->rest.v[0], "-");
}

static void mistakes_are_told(void **state)
{
	static const struct {
		const char *line, *told;
	} cases[] = {
		{ "-q", "unknown option '-q'" },
		{ "-fq", "unknown option '-q'" },
		{ "--nope", "unknown option '--nope'" },
		{ "--fla", "unknown option '--fla'" },
		{ "--=x", "unknown option '--'" },
		{ "--flag=yes", "option '--flag' takes no value" },
		{ "--text", "option '--text' needs a value: TEXT" },
		{ "-t", "option '-t' needs a value: TEXT" },
		{ "-t ''", "option '-t' has an empty value; expected TEXT" },
		{ "--list=", "option '--list' has an empty value; expected DIR" },
		{ "-t a --text b", "option '--text' is given twice" },
		{ "--number 0", "option '--number': '0' is not a number from 1 to 100" },
		{ "--number 101", "option '--number': '101' is not a number from 1 to 100" },
		{ "--number -1", "option '--number': '-1' is not a number from 1 to 100" },
		{ "--number 7x", "option '--number': '7x' is not a number from 1 to 100" },
		{ "-w a,,b", "option '-w': 'a,,b' has an empty word; expected A[,B...]" },
		{ "-w ,a", "option '-w': ',a' has an empty word; expected A[,B...]" },
		{ "-w a,", "option '-w': 'a,' has an empty word; expected A[,B...]" },
	};
	struct fix *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_true(parse(f, cases[i].line) < 0);
		assert_int_equal(f->d.lines.n, 1);
		assert_string_equal(f->d.lines.v[0], cases[i].told);
		diag_clear(&f->d);
		options_clear(&table, &f->a);
	}
}

static void a_list_takes_the_last_value(void **state)
{
	struct fix *f = *state;

	assert_int_equal(parse_list(f, "flag,text=a,xyz,text=b=c,,number=3,x=1"), 0);
	assert_true(f->a.flag);
	assert_string_equal(f->a.text, "b=c");
	assert_int_equal(f->a.number, 3);
}

static void a_backslash_keeps_a_comma(void **state)
{
	struct fix *f = *state;

	assert_int_equal(parse_list(f, "list=/a\\,b,list=c\\\\d"), 0);
	assert_string_equal(f->a.list.v[0], "/a,b");
	assert_string_equal(f->a.list.v[1], "c\\d");
}

static void mistakes_in_a_list_are_told(void **state)
{
	static const struct {
		const char *line, *told;
	} cases[] = {
		{ "nope", "unknown mount option 'nope'" },
		{ "nope=1", "unknown mount option 'nope'" },
		{ "=1", "unknown mount option ''" },
		{ "flag=1", "mount option 'flag' takes no value" },
		{ "text", "mount option 'text' needs a value: text=TEXT" },
		{ "text=", "option 'text' has an empty value; expected TEXT" },
	};
	struct fix *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_true(parse_list(f, cases[i].line) < 0);
		assert_string_equal(f->d.lines.v[0], cases[i].told);
		diag_clear(&f->d);
	}
}

/* What a print function makes of the table. */
static char *printed(void (*print)(const struct option_table *, FILE *))
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	print(&table, out);
	fclose(out);
	return text;
}

static void help_tells_every_row(void **state)
{
	char *text = printed(options_print_help);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_non_null(strstr(text, rows[i].long_name));
	assert_non_null(strstr(text, "  -t, --text TEXT"));
	assert_non_null(strstr(text, "a text (default: nothing)"));
	assert_non_null(strstr(text, "a number, in seconds"));
	for (const char *l = text; *l; l += strcspn(l, "\n") + 1)
		assert_true(strcspn(l, "\n") <= 80);
	free(text);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(every_spelling_is_read),
		TEST(a_bundle_ends_with_the_option_that_takes_a_value),
		TEST(two_dashes_end_the_options),
		TEST(one_dash_is_a_word),
		TEST(mistakes_are_told),
		TEST(a_list_takes_the_last_value),
		TEST(a_backslash_keeps_a_comma),
		TEST(mistakes_in_a_list_are_told),
		TEST(help_tells_every_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
