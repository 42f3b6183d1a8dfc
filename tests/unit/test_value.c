/* SPDX-License-Identifier: MIT */
/* Typed values. */
#include "config/value.h"

#include <errno.h>

#include "check.h"

static const struct config_key *row(const char *kind, const char *name)
{
	const struct config_key *k = config_key_find(kind, name);

	assert_non_null(k);
	return k;
}

static void rule_clear(struct profile_rule *r)
{
	free(r->at);
	free(r->from);
	free(r->content);
	free(r->unless);
	strv_clear(&r->only);
}

static void good_paths(void **state)
{
	static const char *const cases[][3] = {
		{ "at", ".", "" },
		{ "at", "python/triton", "python/triton" },
		{ "at", "./a//b/", "a/b" },
		{ "at", "a/${backend}", "a/${backend}" },
		{ "from", "third_party/${backend}/spec/", "third_party/${backend}/spec" },
		{ "from", "/opt//x/", "/opt/x" },
		{ "from", "/", "/" },
		{ "unless", "CMakeLists.txt", "CMakeLists.txt" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct diag d = DIAG_INIT;
		struct ini_place at = { &d, "x.ini", 3 };
		struct profile_rule rule = { 0 };
		const struct config_key *k = row("map", cases[i][0]);

		check_int(cases[i][1], value_parse(k, cases[i][1], false, &at, &rule), 0);
		check_str(cases[i][1], *(char **)((char *)&rule + k->offset), cases[i][2]);
		rule_clear(&rule);
		diag_clear(&d);
	}
}

static void bad_values(void **state)
{
	static const struct {
		const char *kind;
		const char *key;
		const char *text;
		const char *told;
	} cases[] = {
		{ "map", "from", "../x",
		  "x.ini:3: '..' in '../x', expected a path below the checkout, "
		  "or absolute" },
		{ "map", "from", "a/../x", "x.ini:3: '..' in" },
		{ "map", "from", "", "x.ini:3: 'from' is empty, expected a path" },
		{ "map", "at", "/abs",
		  "x.ini:3: '/abs' begins with a slash, expected a path of the view" },
		{ "map", "at", "a/${bakend}",
		  "x.ini:3: unknown variable '${bakend}', expected "
		  "'${backend}'" },
		{ "map", "at", "a/${backend", "x.ini:3: '${backend' has no closing brace" },
		{ "link", "to", "/abs", "x.ini:3: '/abs' begins with a slash, expected a" },
		{ "map", "only", "${backend}",
		  "x.ini:3: unknown variable '${backend}', expected none" },
		{ "map", "only", "a //",
		  "x.ini:3: '//' is an empty pattern, expected a gitignore" },
		{ "map", "only", "a/../b", "x.ini:3: 'a/../b' is a pattern with '.' or '..'" },
		{ "map", "role", "shade",
		  "x.ini:3: 'shade' for 'role', expected shadow or provider" },
		{ "map", "opaque", "true", "x.ini:3: 'true' for 'opaque', expected no or yes" },
		{ "profile", "packages", "",
		  "x.ini:3: '' for 'packages', expected merge or opaque" },
		{ "profile", "detect", "/a",
		  "x.ini:3: '/a' for 'detect', expected a path without a slash" },
		{ "profile", "detect", "a/**",
		  "x.ini:3: 'a/**' for 'detect', expected a path without '**'" },
		{ "redirect", "dirs", "a/*",
		  "x.ini:3: 'a/*' for 'dirs', expected a path of the view" },
		{ "redirect", "dirs", "../a", "x.ini:3: '../a' for 'dirs', expected" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct diag d = DIAG_INIT;
		struct ini_place at = { &d, "x.ini", 3 };
		union {
			struct profile profile;
			struct profile_rule rule;
		} object = { 0 };
		int r = value_parse(row(cases[i].kind, cases[i].key), cases[i].text, false, &at,
				    &object);

		check_int(cases[i].text, r, -EINVAL);
		check_int(cases[i].text, d.lines.n, 1);
		if (strncmp(d.lines.v[0], cases[i].told, strlen(cases[i].told)))
			fail_msg("'%s' told '%s'", cases[i].text, d.lines.v[0]);
		if (!strcmp(cases[i].kind, "map") || !strcmp(cases[i].kind, "link"))
			rule_clear(&object.rule);
		diag_clear(&d);
	}
}

static void lists_and_content_go_on(void **state)
{
	struct diag d = DIAG_INIT;
	struct ini_place at = { &d, "x.ini", 3 };
	struct profile_rule rule = { 0 };

	assert_int_equal(value_parse(row("map", "only"), "a  b", false, &at, &rule), 0);
	assert_int_equal(value_parse(row("map", "only"), "c", true, &at, &rule), 0);
	assert_int_equal(rule.only.n, 3);
	assert_string_equal(rule.only.v[2], "c");
	assert_int_equal(value_parse(row("file", "content"), "one", false, &at, &rule), 0);
	assert_int_equal(value_parse(row("file", "content"), "${backend}", true, &at, &rule), 0);
	assert_string_equal(rule.content, "one\n${backend}");
	assert_int_equal(value_parse(row("map", "at"), "a", true, &at, &rule), -EINVAL);
	assert_string_equal(d.lines.v[0],
			    "x.ini:3: 'at' goes on in an indented line, expected one line");
	rule_clear(&rule);
	diag_clear(&d);
}

static void write_rules(void **state)
{
	static const struct {
		const char *pattern;
		const char *dest;
		enum write_class class;
		enum dest want;
		const char *told; /* NULL: fine */
	} cases[] = {
		{ "@ignored", "scratch", WRITE_IGNORED, DEST_SCRATCH, NULL },
		{ "@backend", "owner", WRITE_BACKEND, DEST_OWNER, NULL },
		{ "@mapped", "spec", WRITE_MAPPED, DEST_SPEC, NULL },
		{ "@any", "trunk", WRITE_ANY, DEST_TRUNK, NULL },
		{ "/.git", "deny", WRITE_GLOB, DEST_DENY, NULL },
		{ "@all", "deny", WRITE_ANY, DEST_DENY, "unknown class '@all', expected @ignored" },
		{ "a", "ro", WRITE_GLOB, DEST_DENY,
		  "unknown destination 'ro', expected scratch, owner" },
		{ "!a", "deny", WRITE_GLOB, DEST_DENY, "'!a' is a pattern that negates" },
		{ "a b", "deny", WRITE_GLOB, DEST_DENY, "'a b' is a pattern with blanks" },
		{ "", "deny", WRITE_GLOB, DEST_DENY, "'' is an empty pattern" },
		{ "${backend}", "deny", WRITE_GLOB, DEST_DENY, "unknown variable '${backend}'" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct diag d = DIAG_INIT;
		struct ini_place at = { &d, "x.ini", 3 };
		struct write_rule rule = { 0 };
		int r = value_parse_write(cases[i].pattern, cases[i].dest, &at, &rule);

		check_int(cases[i].pattern, r, cases[i].told ? -EINVAL : 0);
		if (cases[i].told) {
			if (!strstr(d.lines.v[0], cases[i].told))
				fail_msg("'%s' told '%s'", cases[i].pattern, d.lines.v[0]);
		} else {
			check_int(cases[i].pattern, rule.class, cases[i].class);
			check_int(cases[i].pattern, rule.dest, cases[i].want);
			check_int(cases[i].pattern, rule.line, 3);
		}
		free(rule.pattern);
		diag_clear(&d);
	}
}

static void destinations_have_names(void **state)
{
	for (enum dest dest = DEST_SCRATCH; dest <= DEST_DENY; dest++) {
		enum dest back;

		assert_int_equal(dest_parse(dest_name(dest), &back), 0);
		assert_int_equal(back, dest);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_paths),
		cmocka_unit_test(bad_values),
		cmocka_unit_test(lists_and_content_go_on),
		cmocka_unit_test(write_rules),
		cmocka_unit_test(destinations_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
