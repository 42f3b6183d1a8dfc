/* SPDX-License-Identifier: MIT */
/* Rulesets: a chain of backends filled into a profile, map places, hiding, write rules. */
#include "layout/ruleset.h"

#include <errno.h>
#include <stdio.h>

#include "check.h"
#include "tree.h"

struct fix {
	struct diag d;
	struct profile *p;
	struct strv chain;
	struct ruleset *rs;
};

static int setup(void **state)
{
	static struct fix f;

	f = (struct fix){ .d = DIAG_INIT };
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fix *f = *state;

	ruleset_free(f->rs);
	profile_free(f->p);
	strv_clear(&f->chain);
	diag_clear(&f->d);
	return 0;
}

static int make(struct fix *f, const char *text, const char *chain)
{
	char *root = tree_tmp();
	char file[256];
	FILE *out;

	snprintf(file, sizeof(file), "%s/t.ini", root);
	out = fopen(file, "w");
	assert_non_null(out);
	assert_true(fputs(text, out) >= 0);
	fclose(out);
	assert_int_equal(profile_load(file, &f->d, &f->p), 0);
	tree_remove(root);
	free(root);
	assert_int_equal(strv_add_words(&f->chain, chain, " "), 0);
	return ruleset_new(f->p, &f->chain, &f->d, &f->rs);
}

static const char all_kinds[] = "[map low]\nat = .\nfrom = all\n"
				"[map m]\nat = lib\nfrom = s/${backend}/lib\n"
				"[map n]\nat = lib\nfrom = s/${backend}/more\nonly = *.td\n"
				"[graft g]\nat = g/${backend}\nfrom = s/${backend}/g\n"
				"[link l]\nat = extra\nto = s/${backend}/l/[ab]*\n"
				"[file f]\nat = MARK\ncontent = ${backend}\n"
				"[file own]\nat = m/${backend}\n";

static void a_chain_is_filled_in_order(void **state)
{
	static const char *const want[] = {
		"link l|x|extra|s/x/l|[ab]*", "file f|x|MARK||",       "file own|x|m/x||",
		"link l|y|extra|s/y/l|[ab]*", "file own|y|m/y||",      "graft g|x|g/x|s/x/g|",
		"graft g|y|g/y|s/y/g|",       "map m|x|lib|s/x/lib|",  "map n|x|lib|s/x/more|",
		"map m|y|lib|s/y/lib|",       "map n|y|lib|s/y/more|", "map low|-||all|",
	};
	struct fix *f = *state;

	assert_int_equal(make(f, all_kinds, "x y"), 0);
	assert_int_equal(f->rs->n_rules, ARRAY_SIZE(want));
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		const struct rule *r = &f->rs->rules[i];
		char text[200];

		snprintf(text, sizeof(text), "%s|%s|%s|%s|%s", r->name,
			 r->backend ? r->backend : "-", r->at, r->from ? r->from : "",
			 r->glob ? r->glob : "");
		check_str(want[i], text, want[i]);
	}
	assert_string_equal(f->rs->rules[1].content, "x");
}

static void without_a_backend_only_general_rules_are_left(void **state)
{
	struct fix *f = *state;

	assert_int_equal(make(f, all_kinds, ""), 0);
	assert_int_equal(f->rs->n_rules, 1);
	assert_string_equal(f->rs->rules[0].name, "map low");
}

static void bad_chains_and_places(void **state)
{
	static const struct {
		const char *text;
		const char *chain;
		const char *told;
	} cases[] = {
		{ "[hide]\n", "a/b", "'a/b' is no backend's name" },
		{ "[hide]\n", "..", "'..' is no backend's name" },
		{ "[hide]\n", "a b a", "backend 'a' stands twice in the chain" },
		{ "[file a]\nat = x\n[link b]\nat = x\nto = y\n", "b",
		  "[file a] and [link b] are both at 'x', expected one" },
		{ "[file a]\nat = x\n[graft b]\nat = x/${backend}\nfrom = y\n", "b",
		  "[graft b] at 'x/b' lies below [file a] at 'x', which is no directory" },
		{ "[graft a]\nat = x/b\nfrom = z\n[graft b]\nat = x/${backend}\nfrom = y\n", "b",
		  "[graft b] and [graft a] are both at 'x/b'" },
	};
	struct fix *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		check_int(cases[i].told, make(f, cases[i].text, cases[i].chain), -EINVAL);
		assert_null(f->rs);
		check_int(cases[i].told, f->d.lines.n, 1);
		if (!strstr(f->d.lines.v[0], cases[i].told))
			fail_msg("told '%s', not '%s'", f->d.lines.v[0], cases[i].told);
		teardown(state);
		setup(state);
	}
}

static void the_highest_covering_map(void **state)
{
	static const struct {
		const char *path;
		bool is_dir;
		const char *map; /* NULL: none */
	} cases[] = {
		{ "lib", true, "map all" },
		{ "lib/a.td", false, "map td" },
		{ "lib/a.cpp", false, "map all" },
		{ "lib/sub", true, "map all" },
		{ "lib/CMakeLists.txt", false, NULL },
		{ "lib/__pycache__", true, NULL },
		{ "lib/__pycache__/x.pyc", false, NULL },
		{ "prov/x.py", false, NULL },
		{ "other", false, NULL },
		{ "", true, NULL },
	};
	struct fix *f = *state;

	assert_int_equal(make(f,
			      "[map td]\nat = lib\nfrom = a\nonly = *.td\n"
			      "[map all]\nat = lib\nfrom = b\nexcept = CMakeLists.txt\n"
			      "[map prov]\nat = prov\nfrom = c\nrole = provider\n"
			      "[hide]\nnames = __pycache__/\n",
			      ""),
			 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct rule *r = ruleset_map_of(f->rs, cases[i].path, cases[i].is_dir, NULL,
						      NULL);

		check_int(cases[i].path, r != NULL, cases[i].map != NULL);
		if (r)
			check_str(cases[i].path, r->name, cases[i].map);
	}
}

static void left_overs_are_hidden(void **state)
{
	static const struct {
		const char *path;
		bool is_dir;
		bool is_link;
		bool hidden;
	} cases[] = {
		{ "b/x", false, true, true },        { "b/x", true, false, false },
		{ "b/x.py", false, false, false },   { "b/x/y", false, true, false },
		{ "build", true, false, true },      { "build/a/b", false, false, true },
		{ "sub/build", true, false, false }, { "x.pyc", false, true, true },
	};
	struct fix *f = *state;

	assert_int_equal(make(f, "[hide]\nnames = /build/ *.pyc\nlinks = /b/*\n", ""), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_int(cases[i].path,
			  ruleset_hides(f->rs, cases[i].path, cases[i].is_dir, cases[i].is_link),
			  cases[i].hidden);
}

static void the_first_write_rule_that_matches(void **state)
{
	static const struct {
		struct write_facts facts;
		int dest; /* -1: no rule */
	} cases[] = {
		{ { .path = ".git", .is_dir = true }, DEST_DENY },
		{ { .path = ".git/config", .ignored = true }, DEST_DENY },
		{ { .path = "sub/.git/config" }, -1 },
		{ { .path = "a", .ignored = true, .mapped = true }, DEST_SCRATCH },
		{ { .path = "x.pyc", .is_new = true, .mapped = true }, DEST_SCRATCH },
		{ { .path = "l/x", .is_new = true, .is_link = true }, DEST_SCRATCH },
		{ { .path = "l/x", .is_new = true }, -1 },
		{ { .path = "a", .backend_owned = true, .mapped = true }, DEST_OWNER },
		{ { .path = "a", .backend_owned = true, .mapped = true, .is_new = true },
		  DEST_SPEC },
		{ { .path = "a", .mapped = true }, DEST_SPEC },
		{ { .path = "docs/a" }, DEST_TRUNK },
		{ { .path = "docs", .is_dir = true }, DEST_TRUNK },
		{ { .path = "docs" }, -1 },
		{ { .path = "a" }, -1 },
	};
	struct fix *f = *state;

	assert_int_equal(make(f,
			      "[hide]\nnames = *.pyc\nlinks = /l/*\n"
			      "[write]\n/.git = deny\n@ignored = scratch\n@backend = owner\n"
			      "@mapped = spec\ndocs/ = trunk\n",
			      ""),
			 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct write_rule *w = ruleset_write_rule(f->rs, &cases[i].facts);

		check_int(cases[i].facts.path, w ? (int)w->dest : -1, cases[i].dest);
	}
	ruleset_free(f->rs);
	f->rs = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_chain_is_filled_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(without_a_backend_only_general_rules_are_left,
						setup, teardown),
		cmocka_unit_test_setup_teardown(bad_chains_and_places, setup, teardown),
		cmocka_unit_test_setup_teardown(the_highest_covering_map, setup, teardown),
		cmocka_unit_test_setup_teardown(left_overs_are_hidden, setup, teardown),
		cmocka_unit_test_setup_teardown(the_first_write_rule_that_matches, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
