/* SPDX-License-Identifier: MIT */
/* Opening a view: which layers it has, and the mistakes that are found. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "check.h"
#include "layer/mark.h"
#include "tree.h"
#include "viewfix.h"

#define TEST(t) cmocka_unit_test_setup_teardown(t, viewfix_setup, viewfix_teardown)

static const char *labels(struct viewfix *f)
{
	size_t used = 0;

	for (unsigned i = 0; i < f->v->stack.n; i++)
		used += (size_t)snprintf(f->text + used, sizeof(f->text) - used, "%s%s",
					 i ? ", " : "", f->v->stack.layers[i].label);
	return f->text;
}

/* The first line of what view_open() says; "" if it succeeds. */
static const char *complaint(struct viewfix *f, int want)
{
	struct diag d = DIAG_INIT;
	int r = view_open(&f->o, &d, &f->v);

	assert_int_equal(r, want);
	(void)snprintf(f->text, sizeof(f->text), "%s", d.lines.n ? d.lines.v[0] : "");
	diag_clear(&d);
	return f->text;
}

static void layers_stand_in_order(void **state)
{
	struct viewfix *f = *state;
	char over[256];

	(void)snprintf(over, sizeof(over), "%s/over", f->tmp);
	tree_make(f->tmp, "over/", "trunk/src/x=x", NULL);
	assert_int_equal(strv_add(&f->o.overlays, over), 0);
	vf_open(f, "b,c");
	assert_string_equal(labels(f),
			    "scratch, b link tools, b file marker, c link tools, "
			    "b graft back, c graft back, "
			    "b map lib, b map py, b map extra, c map lib, c map py, c map extra, "
			    "overlay, trunk");
	assert_string_equal(f->v->stack.layers[0].path + strlen(f->tmp), "/scratch/upper");
	assert_true(f->v->stack.layers[f->v->stack.n - 1].in_root);
	assert_string_equal(f->v->stack.layers[6].dir, "spec/b/lib");
	assert_true(f->v->stack.layers[6].in_root);
}

static void view_without_scratch_is_looked_at_only(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/src/x=x", NULL);
	free((char *)f->o.scratch);
	f->o.scratch = NULL;
	vf_open(f, "b");
	assert_int_equal(f->v->stack.layers[0].kind, LAYER_SCRATCH);
	assert_int_equal(f->v->stack.layers[0].base_fd, -1);
	assert_string_equal(vf_text(f, "src/x"), "x");
	assert_int_equal(vf_put(f, "src/x", "y"), -EROFS);
	assert_int_equal(vf_put(f, "src/new", "y"), -EROFS);
	assert_int_equal(vf_rm(f, "src/x"), -EROFS);
}

static void overlays_need_no_profile(void **state)
{
	struct viewfix *f = *state;
	char over[256];

	(void)snprintf(over, sizeof(over), "%s/over", f->tmp);
	tree_make(f->tmp, "over/a=over", "trunk/a=trunk", "trunk/b=trunk", NULL);
	assert_int_equal(strv_add(&f->o.overlays, over), 0);
	vf_open(f, "");
	assert_null(f->v->rules);
	assert_string_equal(labels(f), "scratch, overlay, trunk");
	assert_string_equal(vf_text(f, "a"), "over");
	assert_int_equal(vf_put(f, "a", "n"), 0);
	assert_int_equal(vf_put(f, "b", "n"), 0);
	assert_int_equal(vf_put(f, "c", "n"), 0);
	assert_string_equal(vf_on_disk(f, "over/a"), "over");
	assert_string_equal(vf_on_disk(f, "trunk/b"), "trunk");
	assert_string_equal(vf_on_disk(f, "scratch/upper/c"), "n");
}

static void overlays_take_changes_when_asked(void **state)
{
	struct viewfix *f = *state;
	char over[256];

	(void)snprintf(over, sizeof(over), "%s/over", f->tmp);
	tree_make(f->tmp, "over/a=over", "trunk/a=trunk", "trunk/d/b=trunk", NULL);
	assert_int_equal(strv_add(&f->o.overlays, over), 0);
	f->o.write_owner = true;
	vf_open(f, "");
	assert_int_equal(vf_put(f, "a", "n"), 0);
	assert_string_equal(vf_on_disk(f, "over/a"), "n");
	assert_int_equal(vf_put(f, "d/b", "n"), 0);
	assert_string_equal(vf_on_disk(f, "trunk/d/b"), "n");
	assert_int_equal(vf_put(f, "d/c", "n"), 0);
	assert_string_equal(vf_on_disk(f, "over/d/c"), "n");
	/* what the overlay hid stays hidden, in the view alone */
	assert_int_equal(vf_rm(f, "a"), 0);
	assert_string_equal(vf_on_disk(f, "over/a"), "-");
	assert_string_equal(vf_text(f, "a"), "ENOENT");
	assert_string_equal(vf_on_disk(f, "trunk/a"), "trunk");
	/* and a new one is the overlay's again */
	assert_int_equal(vf_put(f, "a", "again"), 0);
	assert_string_equal(vf_on_disk(f, "over/a"), "again");
	assert_string_equal(vf_text(f, "a"), "again");
}

static void spec_directory_may_be_a_link_inside_the_checkout(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/real/a.c=spec", "trunk/lib/a.c=trunk",
		  "trunk/spec/b/lib->../../real", NULL);
	vf_open(f, "b");
	assert_string_equal(vf_text(f, "lib/a.c"), "spec");
	assert_int_equal(vf_put(f, "lib/new", "n"), 0);
	assert_string_equal(vf_on_disk(f, "trunk/real/new"), "n");
}

static void mistakes_are_told_in_one_line(void **state)
{
	struct viewfix *f = *state;
	char scratch[300];
	const char *keep = f->o.scratch;

	tree_make(f->tmp, "trunk/spec/b/extra/", "trunk/spec/b/lib->../../../out", "out/", "file=x",
		  NULL);
	assert_int_equal(strv_add(&f->o.backends, "b"), 0);
	assert_non_null(strstr(complaint(f, -EXDEV), "inside the checkout"));

	strv_clear(&f->o.backends);
	assert_int_equal(strv_add(&f->o.backends, "nobody"), 0);
	assert_non_null(strstr(complaint(f, -ENOENT), "nobody"));
	strv_clear(&f->o.backends);

	(void)snprintf(scratch, sizeof(scratch), "%s/trunk/new/scratch", f->tmp);
	f->o.scratch = scratch;
	assert_non_null(strstr(complaint(f, -EINVAL), "contain one another"));
	assert_false(tree_exists(f->tmp, "trunk/new"));
	f->o.scratch = f->tmp;
	assert_non_null(strstr(complaint(f, -EINVAL), "contain one another"));
	(void)snprintf(scratch, sizeof(scratch), "%s/file/x", f->tmp);
	f->o.scratch = scratch;
	assert_non_null(strstr(complaint(f, -ENOTDIR), "scratch directory"));
	f->o.scratch = keep;

	f->o.root = NULL;
	assert_non_null(strstr(complaint(f, -EINVAL), "no checkout"));
	f->o.root = "/nonexistent/never";
	assert_non_null(strstr(complaint(f, -ENOENT), "/nonexistent/never"));
}

static void scratch_belongs_to_one_view(void **state)
{
	struct viewfix *f = *state;
	struct view *first;

	tree_make(f->tmp, "trunk/src/x=x", NULL);
	vf_open(f, "b");
	first = f->v;
	assert_non_null(strstr(complaint(f, -EBUSY), "in use"));
	f->v = first;
	vf_remount(f);
}

static void left_overs_of_a_crash_are_counted(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/src/x=x", NULL);
	vf_open(f, "b");
	assert_int_equal(f->v->n_recovered, 0);
	assert_int_equal(mkdirat(f->v->work->fd, "9.9", 0700), 0);
	assert_int_equal(mknodat(f->v->work->fd, "9.9/half", S_IFREG | 0600, 0), 0);
	vf_remount(f);
	assert_int_equal(f->v->n_recovered, 1);
	assert_true(vf_is_clean(f));
}

static void root_of_the_view_is_the_checkouts(void **state)
{
	struct viewfix *f = *state;
	struct stat st;

	assert_int_equal(chmod(f->trunk, 0750), 0);
	assert_int_equal(stat(f->trunk, &st), 0);
	vf_open(f, "b");
	assert_int_equal(vf_look(f, "").st.st_mode, S_IFDIR | 0750);
	assert_true(vf_look(f, "").st.st_ino == st.st_ino);
	assert_int_equal(vf_mkdir(f, "s"), 0);
	assert_int_equal(vf_look(f, "").st.st_mode, S_IFDIR | 0750);
	assert_true(vf_look(f, "").st.st_ino == st.st_ino);
}

static void default_scratch_differs_by_view(void **state)
{
	struct viewfix *f = *state;
	struct strbuf a = STRBUF_INIT;
	struct strbuf b = STRBUF_INIT;

	assert_int_equal(setenv("XDG_CACHE_HOME", "/cache", 1), 0);
	assert_int_equal(view_default_scratch(&f->o, &a), 0);
	assert_memory_equal(a.buf, "/cache/specfs/", 14);
	assert_int_equal(view_default_scratch(&f->o, &b), 0);
	assert_string_equal(a.buf, b.buf);
	strbuf_reset(&b);
	assert_int_equal(strv_add(&f->o.backends, "b"), 0);
	assert_int_equal(view_default_scratch(&f->o, &b), 0);
	assert_string_not_equal(a.buf, b.buf);
	assert_int_equal(setenv("XDG_CACHE_HOME", "relative", 1), 0);
	assert_int_equal(setenv("HOME", "/h/x", 1), 0);
	strbuf_reset(&b);
	assert_int_equal(view_default_scratch(&f->o, &b), 0);
	assert_memory_equal(b.buf, "/h/x/.cache/specfs/", 19);
	strbuf_clear(&a);
	strbuf_clear(&b);
}

static void origin_names_layer_and_path(void **state)
{
	struct viewfix *f = *state;
	struct strbuf s = STRBUF_INIT;
	struct found found;
	char want[300];

	tree_make(f->tmp, "trunk/spec/b/lib/a.c=s", NULL);
	vf_open(f, "b");
	found = vf_look(f, "lib/a.c");
	assert_int_equal(view_origin(f->v, "lib/a.c", &found, &s), 0);
	(void)snprintf(want, sizeof(want), "b map lib %s/trunk/spec/b/lib/a.c", f->tmp);
	assert_string_equal(s.buf, want);
	strbuf_reset(&s);
	found = vf_look(f, "MARKER");
	assert_int_equal(view_origin(f->v, "MARKER", &found, &s), 0);
	assert_string_equal(s.buf, "b file marker");
	strbuf_clear(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(layers_stand_in_order),
		TEST(view_without_scratch_is_looked_at_only),
		TEST(overlays_need_no_profile),
		TEST(overlays_take_changes_when_asked),
		TEST(spec_directory_may_be_a_link_inside_the_checkout),
		TEST(mistakes_are_told_in_one_line),
		TEST(scratch_belongs_to_one_view),
		TEST(left_overs_of_a_crash_are_counted),
		TEST(root_of_the_view_is_the_checkouts),
		TEST(default_scratch_differs_by_view),
		TEST(origin_names_layer_and_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
