/* SPDX-License-Identifier: MIT */
/* Profiles: what a whole file gives, and what is told about a faulty one. */
#include "config/profile.h"

#include <errno.h>
#include <stdio.h>

#include "check.h"
#include "tree.h"

/* Load a profile from its text; messages have the directory cut off. */
static int load(const char *text, struct diag *d, struct profile **ret)
{
	char *root = tree_tmp();
	char file[256];
	FILE *f;
	int r;

	snprintf(file, sizeof(file), "%s/my.ini", root);
	f = fopen(file, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	fclose(f);
	r = profile_load(file, d, ret);
	for (size_t i = 0; i < d->lines.n; i++) {
		char *line = d->lines.v[i];

		if (!strncmp(line, root, strlen(root)))
			memmove(line, line + strlen(root) + 1, strlen(line + strlen(root)));
	}
	tree_remove(root);
	free(root);
	return r;
}

static void everything_in_one_file(void **state)
{
	static const char text[] =
		"[profile]\nname = mine\ndescription = a test\ndetect = a/*/b c\n\td\n"
		"backends = x/*/\npackages = opaque\n"
		"[map one]\nat = .\nfrom = x/${backend}\nonly = /p/\n\t/q/\nexcept = *.txt\n"
		"opaque = yes\nhijack = yes\nunless = stop\nif = go\n"
		"[map two]\nrole = provider\nat = p\nfrom = /abs\n"
		"[graft g]\nat = g/${backend}\nfrom = x/${backend}/g\n"
		"[link l]\nat = extra\nto = x/${backend}/l/*\n"
		"[file f]\nat = MARK\ncontent = ${backend}\n\tsecond\n"
		"[hide]\nnames = *.pyc\nnames = /build/\nlinks = /l/*\n"
		"[redirect]\ndirs = build python/build\n"
		"[write]\n/.git = deny\n@any = owner\n"
		"[hooks]\nsupply = yes\nimport = no\n";
	struct diag d = DIAG_INIT;
	struct profile *p = NULL;
	struct profile_rule *r;

	assert_int_equal(load(text, &d, &p), 0);
	assert_int_equal(d.lines.n, 0);
	assert_string_equal(p->name, "mine");
	assert_string_equal(p->description, "a test");
	assert_int_equal(p->detect.n, 3);
	assert_int_equal(p->backends.n, 1);
	assert_true(p->packages_opaque);
	assert_int_equal(p->n_rules, 5);
	r = &p->rules[0];
	assert_int_equal(r->kind, RULE_MAP);
	assert_int_equal(r->role, ROLE_SHADOW);
	assert_string_equal(r->name, "one");
	assert_int_equal(r->line, 8);
	assert_string_equal(r->at, "");
	assert_string_equal(r->from, "x/${backend}");
	assert_int_equal(r->only.n, 2);
	assert_int_equal(r->except.n, 1);
	assert_true(r->opaque && r->hijack);
	assert_string_equal(r->unless, "stop");
	assert_string_equal(r->when, "go");
	assert_int_equal(p->rules[1].role, ROLE_PROVIDER);
	assert_string_equal(p->rules[1].from, "/abs");
	assert_int_equal(p->rules[2].kind, RULE_GRAFT);
	assert_int_equal(p->rules[3].kind, RULE_LINK);
	assert_string_equal(p->rules[3].from, "x/${backend}/l/*");
	assert_int_equal(p->rules[4].kind, RULE_FILE);
	assert_string_equal(p->rules[4].content, "${backend}\nsecond");
	assert_int_equal(p->hide.n, 2);
	assert_int_equal(p->hide_links.n, 1);
	assert_int_equal(p->redirect.n, 2);
	assert_int_equal(p->n_writes, 2);
	assert_int_equal(p->writes[0].dest, DEST_DENY);
	assert_true(p->hooks_supply);
	assert_false(p->hooks_import);
	profile_free(p);
	diag_clear(&d);
}

static void defaults(void **state)
{
	struct diag d = DIAG_INIT;
	struct profile *p = NULL;

	assert_int_equal(load("[file f]\nat = x\n", &d, &p), 0);
	assert_string_equal(p->name, "my");
	assert_string_equal(p->description, "");
	assert_string_equal(p->rules[0].content, "");
	assert_false(p->packages_opaque || p->hooks_supply || p->hooks_import);
	assert_int_equal(p->n_writes, 0);
	profile_free(p);
	diag_clear(&d);
}

static void faults_say_where_and_what(void **state)
{
	static const struct {
		const char *text;
		const char *told;
	} cases[] = {
		{ "[mop x]\n",
		  "my.ini:1: unknown section '[mop]', expected profile, map, graft, link, file, "
		  "hide, redirect, write or hooks" },
		{ "[map]\n", "my.ini:1: section '[map]' has no name, expected '[map NAME]'" },
		{ "[hide x]\n", "my.ini:1: section '[hide x]' has a name, expected '[hide]'" },
		{ "[hide]\n[hide]\n", "my.ini:2: a second section '[hide]', expected one" },
		{ "[map a]\nat=.\nfrom=x\n[map a]\nat=.\nfrom=y\n",
		  "my.ini:4: [map a] stands in line 1 already, expected another name" },
		{ "[link l]\nat = x\nfrom = y\n",
		  "my.ini:3: unknown key 'from' in [link], expected at, to "
		  "or if" },
		{ "[map a]\nat=.\nat=x\nfrom=x\n",
		  "my.ini:3: a second 'at' in this section, expected one" },
		{ "[map a]\nat = .\n",
		  "my.ini:1: [map a] has no 'from', expected a path below the checkout, "
		  "or absolute" },
		{ "[map a]\nat = x*\nfrom = y\n", "my.ini:1: a glob in 'at = x*' of [map a]" },
		{ "[map a]\nat = x\nfrom = y/*\n",
		  "my.ini:1: a glob in 'y/*' of [map a], expected none" },
		{ "[link a]\nat = x\nto = */y\n",
		  "my.ini:1: a glob in '*/y' of [link a], expected one in "
		  "the last component only" },
		{ "[graft a]\nat = .\nfrom = y\n",
		  "my.ini:1: [graft a] is at the root of the view" },
		{ "[file a]\nat = .specfs/x\n",
		  "my.ini:1: [file a] is at '.specfs/x', which is the view's "
		  "control directory" },
		{ "[write]\n@any = owner\na = deny\n", "my.ini:3: a rule below '@any'" },
		{ "[write]\na = deny\n\tb\n", "my.ini:3: an indented line in [write]" },
		{ "[map a]\nat = .\nfrom = ../x\n", "my.ini:3: '..' in '../x'" },
		{ "[map a]\nat = ${name}\nfrom = x\n", "my.ini:2: unknown variable '${name}'" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct diag d = DIAG_INIT;
		struct profile *p = NULL;

		check_int(cases[i].text, load(cases[i].text, &d, &p), -EINVAL);
		assert_null(p);
		if (!d.lines.n || strncmp(d.lines.v[0], cases[i].told, strlen(cases[i].told)))
			fail_msg("'%s' told '%s'", cases[i].text,
				 d.lines.n ? d.lines.v[0] : "nothing");
		diag_clear(&d);
	}
}

static void every_fault_is_told_once(void **state)
{
	struct diag d = DIAG_INIT;
	struct profile *p = NULL;

	assert_int_equal(load("[map a]\nat = .\nfrom = x\nx = 1\n\t2\nrole = y\n[z]\nq = 1\n\t2\n",
			      &d, &p),
			 -EINVAL);
	assert_int_equal(d.lines.n, 3);
	assert_non_null(strstr(d.lines.v[0], "my.ini:4: unknown key 'x'"));
	assert_non_null(strstr(d.lines.v[1], "my.ini:6: 'y' for 'role'"));
	assert_non_null(strstr(d.lines.v[2], "my.ini:7: unknown section '[z]'"));
	diag_clear(&d);
}

static void examples_of_the_manual_load(void **state)
{
	static const char begin[] = ".Bd -literal -offset indent\n";
	const char *source = getenv("SPECFS_SOURCE");
	char *manual;
	size_t n = 0;

	assert_non_null(source);
	manual = tree_content(source, "fs/man/specfs.ini.5");
	for (char *p = strstr(manual, begin); p; p = strstr(p, begin)) {
		struct diag d = DIAG_INIT;
		struct profile *profile = NULL;
		char *end;

		p += strlen(begin);
		end = strstr(p, ".Ed\n");
		assert_non_null(end);
		*end = '\0';
		if (load(p, &d, &profile) < 0)
			fail_msg("example %zu: %s", n + 1, d.lines.n ? d.lines.v[0] : "no memory");
		profile_free(profile);
		diag_clear(&d);
		p = end + 1;
		n++;
	}
	assert_int_equal(n, 3);
	free(manual);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_in_one_file),
		cmocka_unit_test(defaults),
		cmocka_unit_test(faults_say_where_and_what),
		cmocka_unit_test(every_fault_is_told_once),
		cmocka_unit_test(examples_of_the_manual_load),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
