/* SPDX-License-Identifier: MIT */
/* Where a change goes and by which rule, for every kind of object and place. */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "check.h"
#include "tree.h"
#include "viewfix.h"

#define TEST(t) cmocka_unit_test_setup_teardown(t, viewfix_setup, viewfix_teardown)

/* "LABEL", with "*" before it where it is in place, or "deny"; then the rule, if @with_rule. */
static const char *say(struct viewfix *f, int r, const struct route *route, bool with_rule)
{
	assert_int_equal(r, route->dest == DEST_DENY ? -EROFS : 0);
	(void)snprintf(f->text, sizeof(f->text), "%s%s%s%s", route->in_place ? "*" : "",
		       r < 0 ? "deny" : f->v->stack.layers[route->layer].label,
		       with_rule ? " | " : "", with_rule ? route->rule : "");
	return f->text;
}

static const char *existing(struct viewfix *f, const char *path, enum route_op op)
{
	struct found found = vf_look(f, path);
	struct route route;
	int r = route_existing(f->v, path, &found, op, &route);

	return say(f, r, &route, false);
}

static const char *fresh(struct viewfix *f, const char *path)
{
	char *dir = strndup(path, path_parent_len(path));
	struct found parent = vf_look(f, dir);
	struct route route;
	int r = route_new(f->v, path, S_IFREG, &parent, &route);

	free(dir);
	return say(f, r, &route, false);
}

static void make_checkout(struct viewfix *f)
{
	tree_make(f->tmp, "trunk/lib/t.c=t", "trunk/lib/both.c=t", "trunk/spec/b/lib/both.c=s",
		  "trunk/spec/b/lib/only.c=s", "trunk/spec/c/lib/low.c=s",
		  "trunk/spec/b/back/g.py=g", "trunk/src/m.c=m", "trunk/s/x=x", "trunk/t/x=x",
		  "trunk/deny1=d", "trunk/gr/other/x=x", "trunk/.git/HEAD=x", NULL);
}

static void existing_objects(void **state)
{
	struct viewfix *f = *state;
	static const struct {
		const char *path;
		const char *edit;
		const char *remove;
	} cases[] = {
		{ "src/m.c", "*trunk", "*trunk" },
		{ "src", "*trunk", "*trunk" },
		{ "lib/t.c", "b map lib", "b map lib" },
		{ "lib/both.c", "*b map lib", "*b map lib" },
		{ "lib/only.c", "*b map lib", "*b map lib" },
		{ "lib/low.c", "*c map lib", "*c map lib" },
		{ "spec/b/lib/only.c", "*trunk", "*trunk" },
		{ "gr/b/g.py", "*b graft back", "scratch" },
		{ "gr/b", "*b graft back", "scratch" },
		{ "MARKER", "scratch", "scratch" },
		{ "s/x", "scratch", "scratch" },
		{ "t/x", "*trunk", "*trunk" },
		{ "deny1", "deny", "deny" },
		{ ".git/HEAD", "deny", "deny" },
	};

	make_checkout(f);
	vf_open(f, "b,c");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		check_str(cases[i].path, existing(f, cases[i].path, ROUTE_EDIT), cases[i].edit);
		check_str(cases[i].path, existing(f, cases[i].path, ROUTE_REMOVE), cases[i].remove);
	}
}

static void new_names(void **state)
{
	struct viewfix *f = *state;
	static const struct {
		const char *path;
		const char *want;
	} cases[] = {
		{ "new", "trunk" },
		{ "src/new", "trunk" },
		{ "lib/new", "b map lib" },
		{ "gr/b/new", "b graft back" },
		{ "gr/new", "trunk" },
		{ "gr/c", "scratch" },
		{ "s/new", "scratch" },
		{ "t/new", "trunk" },
		{ "src/hidden.txt", "scratch" },
		{ "lib/hidden.txt", "scratch" },
		{ "src/.specfs-tmp.1", "scratch" },
		{ "lib/.specfs-hide", "trunk" },
		{ "deny9", "deny" },
		{ ".git/new", "deny" },
	};

	make_checkout(f);
	vf_open(f, "b,c");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_str(cases[i].path, fresh(f, cases[i].path), cases[i].want);
}

static void what_scratch_has_stays_there(void **state)
{
	struct viewfix *f = *state;

	make_checkout(f);
	vf_open(f, "b,c");
	assert_int_equal(vf_mkdir(f, "s/d"), 0);
	assert_int_equal(vf_put(f, "s/d/f", "f"), 0);
	assert_string_equal(existing(f, "s/d/f", ROUTE_EDIT), "*scratch");
	assert_string_equal(existing(f, "s/d", ROUTE_REMOVE), "*scratch");
	assert_string_equal(fresh(f, "s/d/g"), "scratch");
}

static void denied_pattern_counts_in_scratch_too(void **state)
{
	struct viewfix *f = *state;

	make_checkout(f);
	tree_make(f->tmp, "scratch/upper/deny/f=f", NULL);
	vf_open(f, "b");
	assert_string_equal(vf_layer(f, "deny/f"), "scratch");
	assert_string_equal(existing(f, "deny/f", ROUTE_EDIT), "deny");
	assert_string_equal(fresh(f, "deny/g"), "deny");
}

static void ignored_paths_go_to_scratch(void **state)
{
	struct viewfix *f = *state;
	char cmd[512];

	make_checkout(f);
	(void)snprintf(cmd, sizeof(cmd), "rm -r %s/.git && git -C %s init -q", f->trunk, f->trunk);
	assert_int_equal(system(cmd), 0);
	tree_make(f->tmp, "trunk/.gitignore=*.o\n/spec/b/back/*.so\n/gr/\n", "trunk/src/a.o=o",
		  "trunk/lib/a.o=o", "trunk/spec/b/lib/s.o=o", NULL);
	vf_open(f, "b");
	assert_string_equal(existing(f, "src/a.o", ROUTE_EDIT), "scratch");
	assert_string_equal(existing(f, "lib/a.o", ROUTE_EDIT), "scratch");
	assert_string_equal(existing(f, "lib/s.o", ROUTE_EDIT), "scratch");
	assert_string_equal(fresh(f, "src/b.o"), "scratch");
	assert_string_equal(fresh(f, "src/b.c"), "trunk");
	/* below a graft the path in the checkout decides */
	assert_string_equal(fresh(f, "gr/b/x.so"), "scratch");
	assert_string_equal(fresh(f, "gr/b/x.py"), "b graft back");
}

static void rule_is_named(void **state)
{
	struct viewfix *f = *state;
	struct found found;
	struct route route;

	make_checkout(f);
	vf_open(f, "b");
	found = vf_look(f, "lib/t.c");
	assert_int_equal(route_existing(f->v, "lib/t.c", &found, ROUTE_EDIT, &route), 0);
	assert_memory_equal(route.rule, ".specfs.ini:", 12);
	assert_non_null(strstr(route.rule, ": @mapped = spec"));
	found = vf_look(f, "deny1");
	assert_int_equal(route_existing(f->v, "deny1", &found, ROUTE_EDIT, &route), -EROFS);
	assert_non_null(strstr(route.rule, ": /deny* = deny"));
	found = vf_look(f, "MARKER");
	assert_int_equal(route_existing(f->v, "MARKER", &found, ROUTE_EDIT, &route), 0);
	assert_string_equal(route.rule, "the view makes it");
	f->v->readonly = true;
	assert_int_equal(route_existing(f->v, "MARKER", &found, ROUTE_EDIT, &route), -EROFS);
	assert_string_equal(route.rule, "the view is read-only");
}

static void spec_without_a_map_is_refused(void **state)
{
	struct viewfix *f = *state;
	struct found found;
	struct route route;

	tree_make(f->tmp, "trunk/.specfs.ini=[profile]\nname = t\n[write]\n@any = spec\n",
		  "trunk/src/m.c=m", NULL);
	vf_open(f, "");
	found = vf_look(f, "src/m.c");
	assert_int_equal(route_existing(f->v, "src/m.c", &found, ROUTE_EDIT, &route), -EROFS);
	assert_non_null(strstr(route.rule, "@any = spec, but no map covers this place"));
	found = vf_look(f, "src");
	assert_int_equal(route_new(f->v, "src/n", S_IFREG, &found, &route), -EROFS);
}

static void deleted_name_comes_back_in_scratch(void **state)
{
	struct viewfix *f = *state;

	make_checkout(f);
	tree_make(f->tmp, "scratch/upper/src/", NULL);
	vf_open(f, "b");
	f->v->scratch_all = true;
	assert_int_equal(vf_rm(f, "src/m.c"), 0);
	f->v->scratch_all = false;
	assert_string_equal(fresh(f, "src/m.c"), "scratch");
	assert_string_equal(fresh(f, "src/n.c"), "trunk");
}

/* The map's directory has a file that the view does not show, where trunk has a directory. */
static void hidden_file_in_the_way_of_a_directory(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/.specfs.ini=[profile]\nname = t\nbackends = spec/*/\n"
		  "[map lib]\nat = lib\nfrom = spec/${backend}/lib\nonly = a*\n"
		  "[write]\n@mapped = spec\n@any = owner\n",
		  "trunk/lib/k/a1=one", "trunk/spec/b/lib/k=no", NULL);
	vf_open(f, "b");
	assert_int_equal(vf_put(f, "lib/k/a1", "edit"), -EROFS);
	assert_string_equal(vf_text(f, "lib/k/a1"), "one");
	assert_int_equal(vf_put(f, "lib/k/a2", "two"), 0);
	assert_string_equal(vf_layer(f, "lib/k/a2"), "scratch");
	assert_string_equal(vf_on_disk(f, "trunk/spec/b/lib/k"), "no");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(existing_objects),
		TEST(new_names),
		TEST(what_scratch_has_stays_there),
		TEST(denied_pattern_counts_in_scratch_too),
		TEST(ignored_paths_go_to_scratch),
		TEST(rule_is_named),
		TEST(spec_without_a_map_is_refused),
		TEST(deleted_name_comes_back_in_scratch),
		TEST(hidden_file_in_the_way_of_a_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
