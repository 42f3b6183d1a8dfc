/* SPDX-License-Identifier: MIT */
/* Reading INI files: what is reported, and what inih would have cut silently. */
#include "config/ini.h"

#include "base/strbuf.h"

#include <errno.h>
#include <stdio.h>

#include "check.h"
#include "tree.h"

static int note_section(void *arg, const struct ini_place *at, const char *kind, const char *name)
{
	strbuf_addf(arg, "[%u %s|%s]", at->line, kind, name);
	return 0;
}

static int note_value(void *arg, const struct ini_place *at, const char *key, const char *value,
		      bool more)
{
	strbuf_addf(arg, "(%u %s%s%s)", at->line, key, more ? "+" : "=", value);
	return strcmp(key, "oom") ? 0 : -ENOMEM;
}

static const struct ini_handler handler = { note_section, note_value };

static int read_bytes(const char *data, size_t len, struct diag *d, struct strbuf *events)
{
	char *root = tree_tmp();
	char file[256];
	FILE *f;
	int r;

	snprintf(file, sizeof(file), "%s/x.ini", root);
	f = fopen(file, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	fclose(f);
	r = ini_read_file(file, d, &handler, events);
	tree_remove(root);
	free(root);
	return r;
}

static void what_is_reported(void **state)
{
	static const char *const cases[][2] = {
		{ "", "" },
		{ "\n; only\n# comments\n", "" },
		{ "[a]", "[1 a|]" },
		{ "[a b]\n[ a  b c ]\n", "[1 a|b][2 a|b c]" },
		{ "[a] ; note\nk=v\n", "[1 a|](2 k=v)" },
		{ "[a]\nk = v w ; note\n", "[1 a|](2 k=v w)" },
		{ "[a]\nk =\n", "[1 a|](2 k=)" },
		{ "[a]\nk = a\n\tb\n\n  c\n", "[1 a|](2 k=a)(3 k+b)(5 k+c)" },
		{ "[a]\nk = a\n\t; note\n\t[x]\n\ty = z\n", "[1 a|](2 k=a)(4 k+[x])(5 k+y = z)" },
		{ "[a]\nk = v#x;y\n", "[1 a|](2 k=v#x;y)" },
		{ "[a]\n@any = b\n/.git = c\n", "[1 a|](2 @any=b)(3 /.git=c)" },
		{ "[a]\nk=1\n[b]\nk=2", "[1 a|](2 k=1)[3 b|](4 k=2)" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct diag d = DIAG_INIT;
		struct strbuf events = STRBUF_INIT;
		int r = read_bytes(cases[i][0], strlen(cases[i][0]), &d, &events);

		check_int(cases[i][0], r, 0);
		check_int(cases[i][0], d.lines.n, 0);
		check_str(cases[i][0], events.buf, cases[i][1]);
		strbuf_clear(&events);
		diag_clear(&d);
	}
}

#define X50 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

static void long_keys_survive_a_continuation(void **state)
{
	struct diag d = DIAG_INIT;
	struct strbuf events = STRBUF_INIT;

	assert_int_equal(read_bytes("[a]\n" X50 X50 " = 1\n 2\n", 112, &d, &events), 0);
	assert_string_equal(events.buf, "[1 a|](2 " X50 X50 "=1)(3 " X50 X50 "+2)");
	strbuf_clear(&events);
	diag_clear(&d);
}

static void faults(void **state)
{
	static const struct {
		const char *text;
		const char *told; /* every line of it, without the file's name */
	} cases[] = {
		{ "k = v\n", ":1: 'k' stands before the first section" },
		{ "[a\n", ":1: a section header without its ']'" },
		{ "[a] x\n", ":1: 'x' after the section header" },
		{ "[a " X50 "]\nk = v\n", ":1: a section header of 52 bytes, expected at most 49" },
		{ "[a]\nword\n", ":2: neither a '[section]' nor a comment" },
		{ "[a]\n k = v\n", ":2: an indented line with no value above it" },
		{ "[a]\r\nk = v\r\n", ":1: the line ends with a carriage return" },
		{ "\xef\xbb\xbf[a]\n", ":1: a byte order mark" },
		{ "[a]\nk = " X50 X50 X50 X50 "\n",
		  ":2: a line of 204 bytes, expected at most 198" },
		{ "[a]\nk = v\n\t" X50 X50 X50 X50 "\n", ":3: a line of 201 bytes" },
		{ "; " X50 X50 X50 X50 "\n", ":1: a line of 202 bytes" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct diag d = DIAG_INIT;
		struct strbuf events = STRBUF_INIT;
		int r = read_bytes(cases[i].text, strlen(cases[i].text), &d, &events);

		check_int(cases[i].text, r, -EINVAL);
		check_int(cases[i].text, d.lines.n, 1);
		if (!strstr(d.lines.v[0], cases[i].told))
			fail_msg("'%s' told '%s'", cases[i].text, d.lines.v[0]);
		strbuf_clear(&events);
		diag_clear(&d);
	}
}

static void lines_up_to_the_limit_are_whole(void **state)
{
	char text[256] = "[a]\nk=";
	struct diag d = DIAG_INIT;
	struct strbuf events = STRBUF_INIT;

	memset(text + 6, 'v', 196); /* "k=" and 196: 198 bytes */
	assert_int_equal(read_bytes(text, strlen(text), &d, &events), 0);
	assert_int_equal(events.len, strlen("[1 a|](2 k=)") + 196);
	strbuf_clear(&events);
	diag_clear(&d);
}

static void a_nul_byte_is_told(void **state)
{
	struct diag d = DIAG_INIT;
	struct strbuf events = STRBUF_INIT;

	assert_int_equal(read_bytes("[a]\nk = a\0b\nl = c\n", 18, &d, &events), -EINVAL);
	assert_int_equal(d.lines.n, 1);
	assert_non_null(strstr(d.lines.v[0], ":2: a NUL byte"));
	assert_string_equal(events.buf, "[1 a|](3 l=c)");
	strbuf_clear(&events);
	diag_clear(&d);
}

static void reading_ends_when_memory_does(void **state)
{
	struct diag d = DIAG_INIT;
	struct strbuf events = STRBUF_INIT;
	const char *text = "[a]\noom = 1\nk = 2\n";

	assert_int_equal(read_bytes(text, strlen(text), &d, &events), -ENOMEM);
	assert_string_equal(events.buf, "[1 a|](2 oom=1)");
	strbuf_clear(&events);
	diag_clear(&d);
}

static void unreadable_files(void **state)
{
	struct diag d = DIAG_INIT;
	struct strbuf events = STRBUF_INIT;

	assert_int_equal(ini_read_file("/nowhere/x.ini", &d, &handler, &events), -ENOENT);
	assert_int_equal(ini_read_file("/", &d, &handler, &events), -EISDIR);
	assert_int_equal(d.lines.n, 2);
	assert_string_equal(d.lines.v[0], "/nowhere/x.ini: cannot read: No such file or directory");
	diag_clear(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_reported),
		cmocka_unit_test(long_keys_survive_a_continuation),
		cmocka_unit_test(faults),
		cmocka_unit_test(lines_up_to_the_limit_are_whole),
		cmocka_unit_test(a_nul_byte_is_told),
		cmocka_unit_test(reading_ends_when_memory_does),
		cmocka_unit_test(unreadable_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
