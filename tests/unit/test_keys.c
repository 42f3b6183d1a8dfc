/* SPDX-License-Identifier: MIT */
/* The table of keys: its rows are sound, and specfs.ini(5) lists what they say, word for word. */
#include "config/keys.h"

#include "base/fd.h"
#include "base/strv.h"

#include <fcntl.h>
#include <stdio.h>

#include "check.h"

enum { LINE_WIDTH = 80, MANUAL_MAX_BYTES = 1 << 20 };

static void rows_are_sound(void **state)
{
	for (size_t i = 0; i < n_config_keys; i++) {
		const struct config_key *k = &config_keys[i];
		const struct config_section *s = config_section_find(k->section);

		assert_non_null(s);
		check_int(k->name, s->free_keys, false);
		check_int(k->name, *k->unit != '\0' && *k->help != '\0', true);
		check_str(k->name, k->help + strlen(k->help) - 1, ".");
		check_int(k->name, k->required && *k->def, false);
		for (size_t j = 0; j < i; j++)
			if (!strcmp(config_keys[j].section, k->section))
				check_int(k->name, strcmp(config_keys[j].name, k->name) != 0, true);
		assert_ptr_equal(config_key_find(k->section, k->name), k);
	}
}

static void every_section_has_keys_or_takes_any(void **state)
{
	for (size_t i = 0; i < n_config_sections; i++) {
		bool any = config_sections[i].free_keys;

		for (size_t j = 0; j < n_config_keys; j++)
			any |= !strcmp(config_keys[j].section, config_sections[i].kind);
		check_int(config_sections[i].kind, any, true);
	}
	assert_null(config_section_find("nothing"));
	assert_null(config_key_find("map", "to"));
}

/* Append @text, broken into lines. */
static void add_wrapped(struct strbuf *sb, const char *text)
{
	struct strv words = STRV_INIT;
	size_t column = 0;

	assert_int_equal(strv_add_words(&words, text, " "), 0);
	for (size_t i = 0; i < words.n; i++) {
		size_t len = strlen(words.v[i]);
		bool breaks = column && column + 1 + len > LINE_WIDTH;

		strbuf_addf(sb, "%s%s", !column ? "" : breaks ? "\n" : " ", words.v[i]);
		column = breaks || !column ? len : column + 1 + len;
	}
	strbuf_addc(sb, '\n');
	strv_clear(&words);
}

/* The manual's text about one row. */
static void add_row(struct strbuf *sb, const struct config_key *k)
{
	strbuf_addf(sb, ".It Cm %s\n.Em %s ;\n", k->name, k->unit);
	if (k->required)
		strbuf_adds(sb, "required.\n.br\n");
	else if (*k->def)
		strbuf_addf(sb, "default\n.Cm %s .\n.br\n", k->def);
	else
		strbuf_adds(sb, "optional.\n.br\n");
	add_wrapped(sb, k->help);
}

static void the_manual_lists_the_rows(void **state)
{
	const char *source = getenv("SPECFS_SOURCE");
	struct strbuf manual = STRBUF_INIT;
	int root;

	assert_non_null(source);
	root = open(source, O_PATH | O_DIRECTORY);
	assert_int_equal(fd_read_file(root, "fs/man/specfs.ini.5", MANUAL_MAX_BYTES, &manual), 0);
	close(root);
	for (size_t i = 0; i < n_config_sections; i++) {
		const struct config_section *s = &config_sections[i];
		struct strbuf want = STRBUF_INIT;

		strbuf_addf(&want, ".Ss [%s%s]\n", s->kind, s->named ? " NAME" : "");
		if (!strstr(manual.buf, want.buf))
			fail_msg("specfs.ini(5) lacks '%s'", want.buf);
		strbuf_reset(&want);
		strbuf_addf(&want, ".\\\" keys of [%s]\n.Bl -tag -width Ds\n", s->kind);
		for (size_t j = 0; j < n_config_keys; j++)
			if (!strcmp(config_keys[j].section, s->kind))
				add_row(&want, &config_keys[j]);
		strbuf_adds(&want, ".El\n");
		if (!s->free_keys && !strstr(manual.buf, want.buf)) {
			fprintf(stderr, "expected in specfs.ini(5):\n%s", want.buf);
			fail_msg("specfs.ini(5) and config_keys[] part in [%s]", s->kind);
		}
		strbuf_clear(&want);
	}
	strbuf_clear(&manual);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_sound),
		cmocka_unit_test(every_section_has_keys_or_takes_any),
		cmocka_unit_test(the_manual_lists_the_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
