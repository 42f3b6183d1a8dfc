/* SPDX-License-Identifier: MIT */
/* The table of keys: its rows are sound. tests/docs compares it with the manual. */
#include "config/keys.h"

#include "base/cleanup.h"

#include "check.h"

static void rows_are_sound(void **state)
{
	for (size_t i = 0; i < n_config_keys; i++) {
		const struct config_key *k = &config_keys[i];
		const struct config_section *s = config_section_find(k->section);

		assert_non_null(s);
		check_int(k->name, s->free_keys, false);
		check_int(k->name, *k->unit != '\0' && *k->help != '\0', true);
		check_int(k->name, k->help[strlen(k->help) - 1], '.');
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_sound),
		cmocka_unit_test(every_section_has_keys_or_takes_any),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
