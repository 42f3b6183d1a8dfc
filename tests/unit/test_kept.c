/* SPDX-License-Identifier: MIT */
/* A specialization shows the number of the trunk file it comes from, and never anybody else's. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "layer/listing.h"
#include "tree.h"
#include "viewfix.h"

#define TEST(t) cmocka_unit_test_setup_teardown(t, viewfix_setup, viewfix_teardown)

#define COPY "spec/b/lib/f"

static uint64_t number(struct viewfix *f, const char *path)
{
	return vf_look(f, path).st.st_ino;
}

static uint64_t own_number(struct viewfix *f, const char *path)
{
	struct stat st;
	char full[300];

	(void)snprintf(full, sizeof(full), "%s/%s", f->trunk, path);
	assert_int_equal(lstat(full, &st), 0);
	return st.st_ino;
}

/* What a listing says of it. */
static uint64_t listed(struct viewfix *f, const char *dir, const char *name)
{
	struct found found = vf_look(f, dir);
	struct listing *l = NULL;
	struct dirset ds;
	uint64_t ino = 0;

	dirset_init(&ds);
	assert_int_equal(stack_open_dir(&f->v->stack, dir, found.parts, &ds), 0);
	assert_int_equal(listing_read(&f->v->stack, &ds, &l), 0);
	dirset_close(&ds);
	for (size_t i = 0; i < l->n; i++)
		if (!strcmp(l->v[i].name, name))
			ino = l->v[i].ino;
	listing_free(l);
	return ino;
}

/* Run a shell command in the trunk. */
static void sh(struct viewfix *f, const char *command)
{
	char line[600];

	(void)snprintf(line, sizeof(line), "cd '%s' && %s", f->trunk, command);
	assert_int_equal(system(line), 0); /* NOLINT(cert-env33-c): a test's own words */
}

/* Open the view and specialize lib/f; returns the number it has to show. */
static uint64_t specialize(struct viewfix *f)
{
	uint64_t before;

	tree_make(f->tmp, "trunk/lib/f=lib", "trunk/lib/g=g", "trunk/spec/b/lib/only=only", NULL);
	vf_open(f, "b");
	before = number(f, "lib/f");
	assert_true(before == own_number(f, "lib/f"));
	assert_int_equal(vf_put(f, "lib/f", "mine"), 0);
	assert_string_equal(vf_layer(f, "lib/f"), "b map lib");
	if (number(f, "lib/f") == own_number(f, COPY)) {
		print_message("no birth times here\n");
		skip();
	}
	return before;
}

static void copy_shows_the_number_of_the_original(void **state)
{
	struct viewfix *f = *state;
	uint64_t before = specialize(f);

	for (int mount = 0; mount < 3; mount++) {
		check_int("lib/f", (long long)number(f, "lib/f"), (long long)before);
		check_int("listed", (long long)listed(f, "lib", "f"), (long long)before);
		check_int("alias", (long long)number(f, COPY), (long long)before);
		check_int("listed alias", (long long)listed(f, "spec/b/lib", "f"),
			  (long long)before);
		vf_remount(f);
	}
	assert_int_equal(vf_put(f, "lib/f", "again"), 0);
	assert_true(number(f, "lib/f") == before);
	assert_int_equal(vf_rename(f, "lib/f", "lib/h", 0), 0);
	assert_true(number(f, "lib/h") == before);
	vf_remount(f);
	assert_true(number(f, "lib/h") == before);
	assert_true(listed(f, "lib", "h") == before);
}

static void number_goes_with_the_copy(void **state)
{
	struct viewfix *f = *state;
	uint64_t before = specialize(f);

	/* replaced underneath, as editors do */
	sh(f, "echo new > spec/b/lib/new && mv spec/b/lib/new " COPY);
	assert_true(number(f, "lib/f") == own_number(f, COPY));
	assert_true(listed(f, "lib", "f") == own_number(f, COPY));
	/* removed: the trunk's shows again, and nobody else has its number */
	sh(f, "rm " COPY);
	assert_true(number(f, "lib/f") == before);
	vf_remount(f);
	assert_true(number(f, "lib/f") == before);
}

static void number_is_shown_once(void **state)
{
	static const char *const changes[] = {
		"mv lib/f lib/h",
		"ln lib/f lib/h",
		"mv lib/f src2",
		"mv " COPY " spec/b/lib/h",
		"mv " COPY " spec/b/back2",
	};

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		static const char *const paths[] = { "lib/f", "lib/h", "src2", "spec/b/back2" };
		struct viewfix *f;
		uint64_t before;

		viewfix_teardown(state);
		viewfix_setup(state);
		f = *state;
		before = specialize(f);
		sh(f, changes[i]);
		for (int mount = 0; mount < 2; mount++) {
			uint64_t object = 0;

			for (size_t p = 0; p < sizeof(paths) / sizeof(paths[0]); p++) {
				struct found found;

				if (stack_lookup(&f->v->stack, paths[p], &found) < 0 ||
				    found.st.st_ino != before)
					continue;
				check_int(changes[i], !object || object == found.obj.st.st_ino,
					  true);
				object = found.obj.st.st_ino;
			}
			vf_remount(f);
		}
	}
}

static void second_copy_of_a_file_takes_its_number(void **state)
{
	struct viewfix *f = *state;
	uint64_t before = specialize(f);

	sh(f, "mv " COPY " spec/b/lib/h");
	assert_true(number(f, "lib/f") == before);
	assert_true(number(f, "lib/h") != before);
	assert_int_equal(vf_put(f, "lib/f", "once more"), 0);
	assert_true(number(f, "lib/f") == before);
	assert_true(number(f, "lib/h") != before);
	vf_remount(f);
	assert_true(number(f, "lib/f") == before);
	assert_true(number(f, "lib/h") != before);
}

static void hard_linked_original_keeps_its_number_itself(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/lib/f=lib", "trunk/spec/b/lib/only=only", NULL);
	sh(f, "ln lib/f lib/l");
	vf_open(f, "b");
	assert_int_equal(vf_put(f, "lib/f", "mine"), 0);
	assert_true(number(f, "lib/f") == own_number(f, COPY));
	assert_true(number(f, "lib/l") == own_number(f, "lib/l"));
}

static void name_may_begin_with_a_blank(void **state)
{
	struct viewfix *f = *state;
	uint64_t before;

	(void)specialize(f); /* or skip */
	tree_make(f->tmp, "trunk/ f=x",
		  "trunk/.specfs.ini=[profile]\nname = t\nbackends = spec/*/\n"
		  "[map all]\nat = .\nfrom = spec/${backend}\n[write]\n@mapped = spec\n", NULL);
	vf_remount(f);
	before = number(f, " f");
	assert_int_equal(vf_put(f, " f", "mine"), 0);
	assert_string_equal(vf_layer(f, " f"), "b map all");
	vf_remount(f);
	assert_true(number(f, " f") == before);
}

static void damaged_list_is_no_reason_to_fail(void **state)
{
	static const char *const lists[] = {
		"", "\n\n", "x", "1 2 3", "1 2 3 4 5 ../../x\n", "1 2 3 4 5 lib/f\n",
		"99999999999999999999999 -1 x 4 5 lib/f\n",
	};
	struct viewfix *f = *state;
	uint64_t before;

	(void)specialize(f); /* the copy is what counts */
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		char entry[128];

		(void)snprintf(entry, sizeof(entry), "scratch/numbers=%s", lists[i]);
		tree_make(f->tmp, entry, NULL);
		vf_remount(f);
		check_int(lists[i], (long long)number(f, "lib/f"),
			  (long long)own_number(f, COPY));
	}
	/* a line that was cut short spoils no later one but its neighbour */
	tree_make(f->tmp, "trunk/lib/k=k", NULL);
	assert_int_equal(vf_put(f, "lib/g", "g2"), 0);
	before = number(f, "lib/k");
	assert_int_equal(vf_put(f, "lib/k", "k2"), 0);
	vf_remount(f);
	assert_true(number(f, "lib/k") == before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(copy_shows_the_number_of_the_original),
		TEST(number_goes_with_the_copy),
		TEST(number_is_shown_once),
		TEST(second_copy_of_a_file_takes_its_number),
		TEST(hard_linked_original_keeps_its_number_itself),
		TEST(name_may_begin_with_a_blank),
		TEST(damaged_list_is_no_reason_to_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
