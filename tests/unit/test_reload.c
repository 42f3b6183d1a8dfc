/* SPDX-License-Identifier: MIT */
/* A profile that is edited while its view is open: what is read, refused and exchanged. */
#include "layer/reload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "tree.h"
#include "viewfix.h"

#define TEST(t) cmocka_unit_test_setup_teardown(t, viewfix_setup, viewfix_teardown)

#define HEAD  "trunk/.specfs.ini=[profile]\nname = t\nbackends = spec/*/\n"
#define LIB   "[map lib]\nat = lib\nfrom = spec/${backend}/lib\n"
#define EXTRA "[map extra]\nat = extra\nfrom = spec/${backend}/extra\n"
#define WRITE "[write]\n@backend = owner\n@mapped = spec\n@any = owner\n"

static unsigned map[STACK_ALL];

/* Edit the profile, and have the view go by it if it may. @text: the edit, for tree_make() */
static int edit(struct viewfix *f, const char *text)
{
	struct diag d = DIAG_INIT;
	struct reload *r = NULL;
	int err;

	tree_make(f->tmp, text, NULL);
	err = reload_read(f->v, &d, &r);
	(void)snprintf(f->text, sizeof(f->text), "%s", d.lines.n ? d.lines.v[0] : "");
	diag_clear(&d);
	if (!err)
		reload_swap(f->v, r, map);
	reload_free(r);
	return err;
}

static void begin(struct viewfix *f)
{
	tree_make(f->tmp, HEAD LIB EXTRA WRITE, "trunk/lib/a=trunk a", "trunk/lib/b=trunk b",
		  "trunk/spec/b/lib/a=spec a", "trunk/spec/b/inc/i=spec i",
		  "trunk/spec/b/lib/.specfs-hide=/b\n", NULL);
	vf_open(f, "b");
	assert_string_equal(vf_text(f, "lib/a"), "spec a");
	assert_string_equal(vf_text(f, "lib/b"), "ENOENT");
}

static void rules_and_layers_are_exchanged(void **state)
{
	struct viewfix *f = *state;
	unsigned generation;

	begin(f);
	generation = f->v->stack.generation;
	assert_int_equal(edit(f, HEAD EXTRA "[map inc]\nat = inc\nfrom = spec/${backend}/inc\n"
			      "[file m]\nat = made\ncontent = text\n" WRITE), 0);
	assert_int_not_equal(f->v->stack.generation, generation);
	assert_string_equal(vf_text(f, "lib/a"), "trunk a");
	assert_string_equal(vf_text(f, "lib/b"), "trunk b");
	assert_string_equal(vf_text(f, "inc/i"), "spec i");
	assert_string_equal(vf_text(f, "made"), "text");
	assert_int_equal(vf_put(f, "inc/new", "n"), 0);
	assert_string_equal(vf_on_disk(f, "trunk/spec/b/inc/new"), "n");
	assert_int_equal(vf_put(f, "lib/a", "changed"), 0);
	assert_string_equal(vf_on_disk(f, "trunk/lib/a"), "changed");
	/* and back, with the hide list */
	assert_int_equal(edit(f, HEAD LIB EXTRA WRITE), 0);
	assert_string_equal(vf_text(f, "lib/a"), "spec a");
	assert_string_equal(vf_text(f, "lib/b"), "ENOENT");
	assert_string_equal(vf_text(f, "inc/i"), "ENOENT");
	assert_string_equal(vf_text(f, "made"), "ENOENT");
	assert_int_equal(vf_rm(f, "lib/a"), 0);
	assert_string_equal(vf_on_disk(f, "trunk/spec/b/lib/.specfs-hide"), "/b\n/a\n");
	assert_string_equal(vf_text(f, "lib/a"), "ENOENT");
}

static void every_layer_is_found_again(void **state)
{
	struct viewfix *f = *state;

	begin(f); /* scratch, lib, extra, trunk */
	assert_int_equal(f->v->stack.n, 4);
	assert_int_equal(edit(f, HEAD "[file m]\nat = made\n" EXTRA WRITE), 0);
	assert_int_equal(f->v->stack.n, 4); /* scratch, made, extra, trunk */
	assert_int_equal(map[0], 0);
	assert_int_equal(map[1], STACK_MAX);
	assert_int_equal(map[2], 2);
	assert_int_equal(map[3], 3);
	assert_int_equal(f->v->stack.n_former, 1);
	assert_string_equal(f->v->stack.layers[STACK_MAX].label, "b map lib");
	assert_int_equal(edit(f, HEAD EXTRA WRITE), 0);
	assert_int_equal(map[0], 0);
	assert_int_equal(map[1], STACK_MAX);
	assert_int_equal(map[2], 1);
	assert_int_equal(map[3], 2);
	assert_int_equal(map[STACK_MAX], 2); /* forgotten */
	assert_string_equal(f->v->stack.layers[STACK_MAX].label, "file m");
	assert_int_equal(edit(f, HEAD EXTRA "\n" WRITE), 0);
	assert_int_equal(f->v->stack.n_former, 0);
}

static void what_was_found_in_a_former_layer_can_be_opened(void **state)
{
	struct viewfix *f = *state;
	struct found a;
	char buf[8] = "";
	int fd;

	begin(f);
	a = vf_look(f, "lib/a");
	assert_int_equal(edit(f, HEAD EXTRA WRITE), 0);
	a.layer = map[a.layer];
	assert_true(a.layer >= STACK_MAX);
	fd = stack_open_file(&f->v->stack, "lib/a", &a, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, buf, sizeof(buf)), 6);
	close(fd);
	assert_string_equal(buf, "spec a");
	reload_forget(f->v, map);
	a.layer = map[a.layer];
	assert_int_equal(a.layer, f->v->stack.n - 1);
	assert_int_equal(stack_open_file(&f->v->stack, "lib/a", &a, O_RDONLY), -ESTALE);
}

static void a_faulty_profile_changes_nothing(void **state)
{
	static const struct {
		const char *text;
		int err;
		const char *told;
	} cases[] = {
		{ HEAD "[map lib]\nat = lib\nfrm = x\n", -EINVAL, ".ini:6: unknown key 'frm'" },
		{ HEAD LIB "[file x]\nat = y\n[link z]\nat = y\nto = q\n", -EINVAL,
		  ".ini:9: [file x] and [link z] are both at 'y'" },
		{ HEAD LIB "[map out]\nat = out\nfrom = away\n", -EXDEV,
		  ".ini:7: [map out] 'away' leads to" },
		{ HEAD LIB "[map gone]\nat = x\nfrom = /does/not/exist\n", -ENOENT,
		  ".ini:7: [map gone] '/does/not/exist' can't be opened" },
		{ "trunk/.specfs.ini=[profile]\nbackends = none/*/\n", -ENOENT, "no backend 'b'" },
	};
	struct viewfix *f = *state;
	unsigned generation;

	begin(f);
	generation = f->v->stack.generation;
	tree_make(f->tmp, "trunk/away->/", NULL);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int r = edit(f, cases[i].text);

		if (!strstr(f->text, cases[i].told))
			fail_msg("told '%s', not '%s'", f->text, cases[i].told);
		check_int(cases[i].told, r, cases[i].err);
		assert_string_equal(vf_text(f, "lib/a"), "spec a");
		assert_int_equal(f->v->stack.generation, generation);
	}
	tree_make(f->tmp, "trunk/spec/b/lib/more=m", NULL);
	assert_string_equal(vf_text(f, "lib/more"), "m");
}

static void scratch_in_a_layer_is_refused(void **state)
{
	struct viewfix *f = *state;
	char text[512];

	begin(f);
	(void)snprintf(text, sizeof(text), HEAD LIB "[map all]\nat = x\nfrom = %s\n", f->tmp);
	assert_int_equal(edit(f, text), -EINVAL);
	assert_non_null(strstr(f->text, ".ini:7: scratch directory"));
	assert_non_null(strstr(f->text, "expected separate directories"));
	assert_string_equal(vf_text(f, "lib/a"), "spec a");
}

static void a_layer_around_a_path_is_found(void **state)
{
	struct viewfix *f = *state;
	struct diag d = DIAG_INIT;
	struct reload *r = NULL;
	char path[300];

	begin(f);
	assert_int_equal(reload_read(f->v, &d, &r), 0);
	assert_int_equal(reload_reaches(r, f->tmp), 0);
	assert_int_equal(reload_reaches(r, "/elsewhere"), -1);
	(void)snprintf(path, sizeof(path), "%s/trunk/spec/b/lib/in/it", f->tmp);
	assert_int_equal(reload_reaches(r, path), 0);
	assert_int_equal(reload_refuse_layer(r, 0, "is no good", &d), -EINVAL);
	assert_non_null(strstr(d.lines.v[0], ".ini:4: [map lib] '"));
	diag_clear(&d);
	reload_free(r);
}

static bool is_due(struct viewfix *f)
{
	struct reload_mark m = { 0 };
	bool due;

	assert_int_equal(reload_mark(f->v, &m), 0);
	due = reload_is_due(&m);
	reload_mark_clear(&m);
	return due;
}

static void another_file_is_noticed(void **state)
{
	struct viewfix *f = *state;
	char path[300];

	begin(f);
	(void)snprintf(path, sizeof(path), "%s/trunk/.specfs.ini", f->tmp);
	assert_false(is_due(f));
	tree_make(f->tmp, HEAD LIB EXTRA WRITE "; longer\n", NULL);
	assert_true(is_due(f));
	assert_int_equal(edit(f, HEAD LIB EXTRA WRITE "; even longer\n"), 0);
	assert_false(is_due(f));
	assert_int_equal(unlink(path), 0);
	assert_true(is_due(f));
}

static void what_says_the_same_is_the_same(void **state)
{
	struct viewfix *f = *state;
	struct diag d = DIAG_INIT;
	struct reload *r = NULL;

	begin(f);
	assert_int_equal(reload_read(f->v, &d, &r), 0);
	assert_true(reload_is_same(f->v, r));
	reload_free(r);
	tree_make(f->tmp, HEAD LIB EXTRA WRITE "; a comment\n", NULL);
	assert_int_equal(reload_read(f->v, &d, &r), 0);
	assert_true(difference_is_none(reload_difference(r)));
	assert_false(reload_is_same(f->v, r)); /* lines have other numbers, say */
	reload_free(r);
	diag_clear(&d);
}

static void overlays_have_no_profile_to_read(void **state)
{
	struct viewfix *f = *state;
	struct diag d = DIAG_INIT;
	struct reload *r = NULL;
	char over[256];

	(void)snprintf(over, sizeof(over), "%s/over", f->tmp);
	tree_make(f->tmp, "over/a=over", "trunk/a=trunk", NULL);
	assert_int_equal(strv_add(&f->o.overlays, over), 0);
	vf_open(f, "");
	assert_false(is_due(f));
	assert_int_equal(reload_read(f->v, &d, &r), -ENOENT);
	diag_clear(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(rules_and_layers_are_exchanged),
		TEST(every_layer_is_found_again),
		TEST(what_was_found_in_a_former_layer_can_be_opened),
		TEST(a_faulty_profile_changes_nothing),
		TEST(scratch_in_a_layer_is_refused),
		TEST(a_layer_around_a_path_is_found),
		TEST(another_file_is_noticed),
		TEST(what_says_the_same_is_the_same),
		TEST(overlays_have_no_profile_to_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
