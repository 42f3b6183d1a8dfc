/* SPDX-License-Identifier: MIT */
/* From one ruleset to another: the places that an edit of a profile is about. */
#include "layout/difference.h"

#include <stdio.h>

#include "check.h"
#include "tree.h"

#define MAP(name, from) "[map " name "]\nat = lib\nfrom = " from "\n"
#define FILE_A          "[file a]\nat = made/a\ncontent = x\n"

static void load(const char *text, struct profile **ret_p, struct ruleset **ret_rs)
{
	char *root = tree_tmp();
	struct strv chain = STRV_INIT;
	struct diag d = DIAG_INIT;
	char file[256];
	FILE *out;

	snprintf(file, sizeof(file), "%s/t.ini", root);
	out = fopen(file, "w");
	assert_non_null(out);
	assert_true(fputs(text, out) >= 0);
	fclose(out);
	assert_int_equal(profile_load(file, &d, ret_p), 0);
	assert_int_equal(strv_add(&chain, "b"), 0);
	assert_int_equal(ruleset_new(*ret_p, &chain, &d, ret_rs), 0);
	strv_clear(&chain);
	tree_remove(root);
	free(root);
}

static void places_of_edits(void **state)
{
	static const struct {
		const char *was;
		const char *is;
		const char *places; /* with a blank after each; "." is all */
		bool writes;
		bool redirects;
	} cases[] = {
		{ MAP("m", "x") FILE_A, MAP("m", "x") FILE_A, "", false, false },
		{ MAP("m", "x"), "; a comment\n\n" MAP("m", "x"), "", false, false },
		{ MAP("m", "x"), MAP("m", "x") FILE_A, "made/a ", false, false },
		{ MAP("m", "x") FILE_A, MAP("m", "x"), "made/a ", false, false },
		{ MAP("m", "x"), MAP("m", "y"), "lib ", false, false },
		{ MAP("m", "x"), "[map m]\nat = inc\nfrom = x\n", "lib inc ", false, false },
		{ MAP("m", "x"), MAP("m", "x") "opaque = yes\n", "lib ", false, false },
		{ MAP("m", "x") "only = a b\n", MAP("m", "x") "only = b a\n", "lib ", false,
		  false },
		{ MAP("m", "x") MAP("n", "y"), MAP("n", "y") MAP("m", "x"), "lib ", false, false },
		{ FILE_A, "[file a]\nat = made/a\ncontent = y\n", "made/a ", false, false },
		{ "[graft g]\nat = g\nfrom = x\n", "[link g]\nat = g\nto = x\n", "g ", false,
		  false },
		{ MAP("m", "${backend}"), MAP("m", "b"), "lib ", false, false },
		{ "[hide]\nnames = a\n", "[hide]\nnames = a b\n", ". ", false, false },
		{ "[hide]\nnames = a\n", "[hide]\nlinks = a\n", ". ", false, false },
		{ "[write]\n@any = owner\n", "[write]\n@any = deny\n", "", true, false },
		{ "[write]\n/a = deny\n/b = owner\n", "[write]\n/b = owner\n/a = deny\n", "", true,
		  false },
		{ "[write]\n/a = deny\n", "[write]\n/a = deny\n/b = deny\n", "", true, false },
		{ "[redirect]\ndirs = build\n", "[redirect]\ndirs = out\n", "", false, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct difference d = DIFFERENCE_INIT;
		struct profile *p[2] = { NULL, NULL };
		struct ruleset *rs[2] = { NULL, NULL };
		char places[256] = "";
		size_t used = 0;

		load(cases[i].was, &p[0], &rs[0]);
		load(cases[i].is, &p[1], &rs[1]);
		check_int(cases[i].is, difference_find(rs[0], rs[1], &d), 0);
		for (size_t k = 0; k < d.places.n; k++)
			used += (size_t)snprintf(places + used, sizeof(places) - used, "%s ",
						 *d.places.v[k] ? d.places.v[k] : ".");
		check_str(cases[i].is, places, cases[i].places);
		check_int(cases[i].is, d.writes, cases[i].writes);
		check_int(cases[i].is, d.redirects, cases[i].redirects);
		check_int(cases[i].is, difference_is_none(&d),
			  !*cases[i].places && !cases[i].writes && !cases[i].redirects);
		difference_clear(&d);
		for (int k = 0; k < 2; k++) {
			ruleset_free(rs[k]);
			profile_free(p[k]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_of_edits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
