/* SPDX-License-Identifier: MIT */
/* Renaming anything to anywhere: the new name has it, the old one is gone, nothing else changes. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "layer/mark.h"
#include "tree.h"
#include "viewfix.h"

/* With the directories that a request has open, and without. */
#define TEST(t)                                                              \
	cmocka_unit_test_setup_teardown(t, viewfix_setup, viewfix_teardown), \
		cmocka_unit_test_setup_teardown(t, viewfix_setup_by_path, viewfix_teardown)

static void make_checkout(struct viewfix *f)
{
	tree_make(f->tmp, "trunk/src/f=src", "trunk/src/d/in/x=srcx", "trunk/lib/f=lib",
		  "trunk/lib/d/in/x=libx", "trunk/lib/both=trunk", "trunk/spec/b/lib/both=spec",
		  "trunk/spec/b/lib/only=only", "trunk/spec/b/lib/m/s=ms", "trunk/lib/m/t=mt",
		  "trunk/spec/b/back/f=back", "trunk/spec/b/back/d/in/x=backx", "trunk/s/f=s",
		  "trunk/s/d/in/x=sx", "trunk/src/l->gone", "trunk/lib/l->nowhere", NULL);
}

/* Another checkout for another case. */
static struct viewfix *fresh(void **state)
{
	viewfix_teardown(state);
	viewfix_setup(state);
	return *state;
}

/* Sources of every kind, with what a tree's inner file holds. */
static const struct {
	const char *path;
	const char *inner; /* of a directory, else "" */
	const char *text;
	bool scratch; /* made in scratch first */
} sources[] = {
	{ "src/f", "", "src", false },	     { "src/d", "/in/x", "srcx", false },
	{ "src/l", "", "->gone", false },    { "lib/f", "", "lib", false },
	{ "lib/d", "/in/x", "libx", false }, { "lib/l", "", "->nowhere", false },
	{ "lib/both", "", "spec", false },   { "lib/only", "", "only", false },
	{ "lib/m", "/t", "mt", false },	     { "lib/m", "/s", "ms", false },
	{ "gr/b/f", "", "back", false },     { "gr/b/d", "/in/x", "backx", false },
	{ "s/f", "", "s", false },	     { "s/d", "/in/x", "sx", false },
	{ "MARKER", "", "b", false },	     { "s/new", "", "made", true },
};

static const char *const targets[] = { "src/t", "lib/t", "gr/b/t", "s/t", "t", "py/t" };

static void every_object_to_every_place(void **state)
{
	struct viewfix *f;
	struct found was;
	char what[128];
	char to[64];

	for (size_t s = 0; s < sizeof(sources) / sizeof(sources[0]); s++)
		for (size_t t = 0; t < sizeof(targets) / sizeof(targets[0]); t++) {
			f = fresh(state);
			make_checkout(f);
			tree_make(f->tmp, "trunk/py/", NULL);
			vf_open(f, "b");
			if (sources[s].scratch)
				assert_int_equal(vf_put(f, sources[s].path, sources[s].text), 0);
			(void)snprintf(what, sizeof(what), "%s to %s", sources[s].path, targets[t]);
			was = vf_look(f, sources[s].path);
			check_int(what, vf_rename(f, sources[s].path, targets[t], 0), 0);
			check_int(what, f->copied, !vf_shows(f, targets[t], &was));
			(void)snprintf(to, sizeof(to), "%s%s", targets[t], sources[s].inner);
			check_str(what, vf_text(f, to), sources[s].text);
			check_str(what, vf_text(f, sources[s].path), "ENOENT");
			check_int(what, vf_is_clean(f), true);
			vf_remount(f);
			check_str(what, vf_text(f, to), sources[s].text);
			check_str(what, vf_text(f, sources[s].path), "ENOENT");
			/* and back again */
			check_int(what, vf_rename(f, targets[t], sources[s].path, 0), 0);
			(void)snprintf(to, sizeof(to), "%s%s", sources[s].path, sources[s].inner);
			check_str(what, vf_text(f, to), sources[s].text);
			check_str(what, vf_text(f, targets[t]), "ENOENT");
			check_int(what, vf_is_clean(f), true);
		}
}

static void every_file_over_every_file(void **state)
{
	static const char *const files[] = { "src/f",  "lib/f", "lib/both", "lib/only",
					     "gr/b/f", "s/f",	"MARKER",   "s/new" };
	static const char *const texts[] = {
		"src", "lib", "spec", "only", "back", "s", "b", "made"
	};
	enum { N = sizeof(files) / sizeof(files[0]) };
	struct viewfix *f;
	char what[128];

	for (unsigned a = 0; a < N; a++)
		for (unsigned b = 0; b < N; b++) {
			if (a == b)
				continue;
			f = fresh(state);
			make_checkout(f);
			vf_open(f, "b");
			assert_int_equal(vf_put(f, "s/new", "made"), 0);
			(void)snprintf(what, sizeof(what), "%s over %s", files[a], files[b]);
			check_int(what, vf_rename(f, files[a], files[b], RENAME_NOREPLACE),
				  -EEXIST);
			check_str(what, vf_text(f, files[b]), texts[b]);
			check_int(what, vf_rename(f, files[a], files[b], 0), 0);
			check_str(what, vf_text(f, files[b]), texts[a]);
			check_str(what, vf_text(f, files[a]), "ENOENT");
			check_int(what, vf_is_clean(f), true);
			vf_remount(f);
			check_str(what, vf_text(f, files[b]), texts[a]);
			check_str(what, vf_text(f, files[a]), "ENOENT");
			/* what was renamed over a name goes away for good, too */
			check_int(what, vf_rm(f, files[b]), 0);
			check_str(what, vf_text(f, files[b]), "ENOENT");
		}
}

static void checkout_changes_only_in_place(void **state)
{
	struct viewfix *f = *state;

	make_checkout(f);
	vf_open(f, "b");
	assert_int_equal(vf_rename(f, "lib/f", "lib/g", 0), 0);
	assert_string_equal(vf_on_disk(f, "trunk/lib/f"), "lib");
	assert_string_equal(vf_on_disk(f, "trunk/spec/b/lib/g"), "lib");
	assert_string_equal(vf_on_disk(f, "trunk/spec/b/lib/.specfs-hide"), "/f\n");
	assert_int_equal(vf_rename(f, "src/f", "src/g", 0), 0);
	assert_string_equal(vf_on_disk(f, "trunk/src/f"), "-");
	assert_string_equal(vf_on_disk(f, "trunk/src/g"), "src");
	assert_int_equal(vf_rename(f, "s/f", "s/g", 0), 0);
	assert_string_equal(vf_on_disk(f, "trunk/s/f"), "s");
	assert_int_equal(vf_rename(f, "lib/m", "lib/n", 0), 0);
	assert_string_equal(vf_names(f, "lib/n"), "s t");
	assert_string_equal(vf_on_disk(f, "trunk/lib/m/t"), "mt");
	assert_false(tree_exists(f->tmp, "trunk/spec/b/lib/m"));
	/* the trunk's later edits at the old place do not appear under the new name */
	tree_make(f->tmp, "trunk/lib/m/u=later", "trunk/lib/m/t=later", NULL);
	assert_string_equal(vf_names(f, "lib/n"), "s t");
	assert_string_equal(vf_text(f, "lib/n/t"), "mt");
	assert_string_equal(vf_text(f, "lib/m"), "ENOENT");
}

static void number_survives_a_rename(void **state)
{
	struct viewfix *f = *state;
	ino_t before;

	make_checkout(f);
	vf_open(f, "b");
	before = vf_look(f, "src/f").st.st_ino;
	assert_int_equal(vf_rename(f, "src/f", "src/g", 0), 0);
	assert_true(vf_look(f, "src/g").st.st_ino == before);
	before = vf_look(f, "s/f").st.st_ino;
	assert_int_equal(vf_rename(f, "s/f", "s/g", 0), 0);
	assert_true(vf_look(f, "s/g").st.st_ino == before);
	tree_make(f->tmp, "trunk/spec/b/lib/n/in/x=x", NULL);
	before = vf_look(f, "lib/n/in").st.st_ino;
	assert_true(vf_look(f, "spec/b/lib/n/in").st.st_ino != before);
	assert_int_equal(vf_rename(f, "lib/n", "lib/o", 0), 0);
	assert_true(vf_look(f, "lib/o/in").st.st_ino == before);
}

static void editors_save_keeps_the_place(void **state)
{
	struct viewfix *f = *state;
	static const char *const files[] = { "src/f", "lib/f", "lib/both", "gr/b/f", "s/f" };
	char tmp[64];
	char old[64];

	make_checkout(f);
	vf_open(f, "b");
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		(void)snprintf(tmp, sizeof(tmp), "%s.tmp", files[i]);
		(void)snprintf(old, sizeof(old), "%s~", files[i]);
		/* new file renamed over the old one */
		check_int(files[i], vf_put(f, tmp, "one"), 0);
		check_int(files[i], vf_rename(f, tmp, files[i], 0), 0);
		check_str(files[i], vf_text(f, files[i]), "one");
		/* old one moved aside, then made anew */
		check_int(files[i], vf_rename(f, files[i], old, 0), 0);
		check_int(files[i], vf_put(f, files[i], "two"), 0);
		check_int(files[i], vf_rm(f, old), 0);
		check_str(files[i], vf_text(f, files[i]), "two");
	}
	assert_string_equal(vf_on_disk(f, "trunk/src/f"), "two");
	assert_string_equal(vf_on_disk(f, "trunk/lib/f"), "lib");
	assert_string_equal(vf_on_disk(f, "trunk/spec/b/lib/f"), "two");
	assert_string_equal(vf_on_disk(f, "trunk/spec/b/lib/both"), "two");
	assert_string_equal(vf_on_disk(f, "trunk/spec/b/back/f"), "two");
	assert_string_equal(vf_on_disk(f, "trunk/s/f"), "s");
	assert_string_equal(vf_names(f, "gr/b"), "d f");
	/* no trace of it in the checkout */
	assert_false(tree_exists(f->tmp, "trunk/spec/b/lib/f~"));
	assert_false(tree_exists(f->tmp, "trunk/spec/b/lib/.specfs-hide"));
	assert_false(tree_exists(f->tmp, "trunk/src/f~"));
	vf_remount(f);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		check_str(files[i], vf_text(f, files[i]), "two");
}

static void directory_over_directory(void **state)
{
	struct viewfix *f = *state;

	make_checkout(f);
	tree_make(f->tmp, "trunk/src/empty/", "trunk/s/empty/", "trunk/src/hid/hidden.txt=h", NULL);
	vf_open(f, "b");
	assert_int_equal(vf_rename(f, "src/d", "lib/m", 0), -ENOTEMPTY);
	assert_string_equal(vf_text(f, "src/d/in/x"), "srcx");
	assert_int_equal(vf_rename(f, "src/d", "src/f", 0), -ENOTDIR);
	assert_int_equal(vf_rename(f, "src/f", "src/d", 0), -EISDIR);
	assert_int_equal(vf_rename(f, "src/d", "src/d/in/y", 0), -EINVAL);
	assert_int_equal(vf_rename(f, "src/d/in", "src/d", 0), -ENOTEMPTY);
	assert_int_equal(vf_rename(f, "src/d", "src/empty", RENAME_NOREPLACE), -EEXIST);
	assert_int_equal(vf_rename(f, "src/d", "src/empty", 0), 0);
	assert_string_equal(vf_text(f, "src/empty/in/x"), "srcx");
	assert_string_equal(vf_text(f, "src/d"), "ENOENT");
	/* empty in the view alone */
	assert_int_equal(vf_rename(f, "src/empty", "src/hid", 0), 0);
	assert_string_equal(vf_names(f, "src/hid"), "in");
	assert_string_equal(vf_on_disk(f, "trunk/src/hid/hidden.txt"), "h");
	assert_int_equal(vf_rename(f, "s/d", "s/empty", 0), 0);
	assert_string_equal(vf_text(f, "s/empty/in/x"), "sx");
	vf_remount(f);
	assert_string_equal(vf_text(f, "s/empty/in/x"), "sx");
	assert_string_equal(vf_names(f, "s"), "empty f");
	assert_string_equal(vf_names(f, "src"), "f hid l");
	assert_true(vf_is_clean(f));
}

static void refused_rename_changes_nothing(void **state)
{
	struct viewfix *f = *state;

	make_checkout(f);
	tree_make(f->tmp, "trunk/deny/x=x", "trunk/s/dd/f=f", NULL);
	vf_open(f, "b");
	assert_int_equal(vf_mkdir(f, "s/a"), 0);
	assert_int_equal(vf_put(f, "s/a/g", "g"), 0);
	/* a merged directory that is refused stays merged */
	assert_int_equal(vf_chmod(f, "s/dd", 0700), 0);
	assert_int_equal(vf_rename(f, "s/dd", "s/a", 0), -ENOTEMPTY);
	assert_string_equal(vf_text(f, "s/dd/f"), "f");
	assert_int_equal(vf_rename(f, "s/a", "deny/y", 0), -EROFS);
	assert_int_equal(vf_rename(f, "deny/x", "s/y", 0), -EROFS);
	assert_int_equal(vf_rename(f, "deny", "s/y", 0), -EROFS);
	assert_string_equal(vf_text(f, "s/a/g"), "g");
	assert_string_equal(vf_text(f, "deny/x"), "x");
	assert_int_equal(vf_rename(f, "s/none", "s/y", 0), -ENOENT);
	assert_int_equal(vf_rename(f, "s/f", "s/y", 8), -EINVAL);
	assert_true(vf_is_clean(f));
}

static void directory_with_a_denied_name_stays_and_leaves_no_trace(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp,
		  "trunk/.specfs.ini=[profile]\nname = t\nbackends = spec/*/\n"
		  "[map lib]\nat = lib\nfrom = spec/${backend}/lib\n"
		  "[write]\nkeep = deny\n@backend = owner\n@mapped = spec\n",
		  "trunk/lib/d/in/keep=keep", "trunk/lib/e/f=f", "trunk/lib/e/empty/",
		  "trunk/spec/b/lib/x=x", "trunk/spec/c/lib/low/keep=keep", NULL);
	vf_open(f, "b,c");
	assert_int_equal(vf_rename(f, "lib/d", "lib/e/t", 0), -EROFS);
	assert_int_equal(vf_rename(f, "lib/d", "lib/e/empty", 0), -EROFS);
	/* the lower backend's own rename would do, but the place is the higher one's */
	assert_int_equal(vf_rename(f, "lib/low", "lib/e/empty", 0), -EROFS);
	assert_string_equal(vf_text(f, "lib/low/keep"), "keep");
	assert_string_equal(vf_text(f, "lib/d/in/keep"), "keep");
	assert_string_equal(vf_names(f, "lib/e"), "empty f");
	assert_string_equal(vf_on_disk(f, "trunk/spec/b/lib/.specfs-hide"), "-");
	assert_false(tree_exists(f->tmp, "trunk/spec/b/lib/e"));
	assert_false(tree_exists(f->tmp, "scratch/upper/lib"));
	assert_true(vf_is_clean(f));
}

/* Remove a directory of the trunk underneath. */
static void remove_below(struct viewfix *f, const char *path)
{
	char full[512];

	(void)snprintf(full, sizeof(full), "%s/%s", f->trunk, path);
	tree_remove(full);
}

static void renamed_directory_shows_what_was_deleted_at_its_new_name(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/src/d/s/x=old", "trunk/src/n/s/x=one", "trunk/lib/n/s/x=two",
		  "trunk/.git/HEAD=x", NULL);
	vf_open(f, "b");
	f->v->scratch_all = true;
	assert_int_equal(vf_rm(f, "src/d/s/x"), 0);
	f->v->scratch_all = false;
	remove_below(f, "src/d");
	assert_string_equal(vf_text(f, "src/d"), "ENOENT");
	assert_int_equal(vf_rename(f, "src/n", "src/d", 0), 0);
	assert_string_equal(vf_text(f, "src/d/s/x"), "one");
	assert_int_equal(vf_rename(f, "src/d", "src/n", 0), 0);
	f->v->scratch_all = true;
	assert_int_equal(vf_rm(f, "src/n/s/x"), 0);
	f->v->scratch_all = false;
	remove_below(f, "src/n");
	assert_int_equal(vf_rename(f, "lib/n", "src/n", 0), 0);
	assert_string_equal(vf_text(f, "src/n/s/x"), "two");
}

static void remove_in(const struct viewfix *f, const char *path)
{
	char full[PATH_MAX];

	(void)snprintf(full, sizeof(full), "%s/%s", f->tmp, path);
	tree_remove(full);
}

static void what_scratch_had_is_no_matter_of_a_renamed_file(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp,
		  "trunk/.specfs.ini=[profile]\nname = t\nbackends = spec/*/\n"
		  "[map lib]\nat = lib\nfrom = spec/${backend}/lib\n"
		  "[write]\nk* = scratch\n@any = owner\n",
		  "trunk/lib/d/f=f", "trunk/spec/b/lib/x=x", NULL);
	vf_open(f, "b");
	assert_int_equal(vf_chmod(f, "lib/d", 0700), 0);
	assert_int_equal(vf_put(f, "lib/d/k", "k"), 0);
	remove_in(f, "trunk/lib/d");
	assert_int_equal(vf_rm(f, "lib/d/k"), 0);
	assert_string_equal(vf_text(f, "lib/d"), "ENOENT");
	assert_int_equal(vf_rename(f, "lib/x", "lib/d", 0), 0);
	assert_int_equal(vf_rm(f, "lib/d"), 0);
	/* a new directory, made only for what is in it */
	tree_make(f->tmp, "trunk/lib/d/", NULL);
	assert_int_equal(vf_put(f, "lib/d/k", "k"), 0);
	remove_in(f, "trunk/lib/d");
	assert_int_equal(vf_look(f, "lib/d").st.st_mode & 07777, 0755);
}

static void file_takes_the_place_of_one_over_what_scratch_had(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp, "trunk/s/a/x=x", "trunk/s/b/x=x", "trunk/src/c/x=x", "trunk/src/f=f",
		  "trunk/.git/HEAD=x", NULL);
	vf_open(f, "b");
	f->v->scratch_all = true;
	assert_int_equal(vf_rm(f, "s/a/x"), 0);
	assert_int_equal(vf_rm(f, "s/b/x"), 0);
	assert_int_equal(vf_rm(f, "src/c/x"), 0);
	/* scratch still has a directory of each name, with nothing to show */
	remove_in(f, "trunk/s/a");
	remove_in(f, "trunk/s/b");
	remove_in(f, "trunk/src/c");
	tree_make(f->tmp, "trunk/s/a=old", "trunk/s/b=old", "trunk/src/c=old", NULL);
	assert_int_equal(vf_put(f, "s/new", "new"), 0);
	assert_int_equal(vf_rename(f, "s/new", "src/c", 0), 0);
	assert_string_equal(vf_text(f, "src/c"), "new");
	f->v->scratch_all = false;
	assert_int_equal(vf_put(f, "s/new", "new"), 0);
	assert_int_equal(vf_rename(f, "s/new", "s/a", 0), 0);
	assert_string_equal(vf_text(f, "s/a"), "new");
	assert_int_equal(vf_rename(f, "src/f", "s/b", 0), 0);
	assert_string_equal(vf_text(f, "s/b"), "f");
}

static void deleted_name_takes_a_renamed_one(void **state)
{
	struct viewfix *f = *state;

	make_checkout(f);
	vf_open(f, "b");
	assert_int_equal(vf_put(f, "s/z", "z"), 0);
	assert_int_equal(vf_rm(f, "s/f"), 0);
	assert_int_equal(vf_rename(f, "s/z", "s/f", RENAME_NOREPLACE), 0);
	assert_string_equal(vf_text(f, "s/f"), "z");
	/* the old one does not come back */
	assert_int_equal(vf_rm(f, "s/f"), 0);
	vf_remount(f);
	assert_string_equal(vf_text(f, "s/f"), "ENOENT");

	/* a directory at a deleted directory's name shows nothing old */
	assert_int_equal(vf_mkdir(f, "s/e"), 0);
	assert_int_equal(vf_rm(f, "s/d/in/x"), 0);
	assert_int_equal(vf_rmdir(f, "s/d/in"), 0);
	assert_int_equal(vf_rmdir(f, "s/d"), 0);
	assert_int_equal(vf_rename(f, "s/e", "s/d", 0), 0);
	assert_string_equal(vf_names(f, "s/d"), "");
	/* made again and renamed away: gone */
	assert_int_equal(vf_rename(f, "s/d", "s/e2", 0), 0);
	vf_remount(f);
	assert_string_equal(vf_names(f, "s"), "e2");
	assert_string_equal(vf_names(f, "s/e2"), "");
	assert_true(vf_is_clean(f));
}

static void alias_of_a_file_is_never_lost(void **state)
{
	struct viewfix *f = *state;

	make_checkout(f);
	vf_open(f, "b");
	assert_int_equal(vf_rename(f, "lib/only", "spec/b/lib/only", 0), 0);
	assert_string_equal(vf_text(f, "lib/only"), "only");
	assert_int_equal(vf_rename(f, "spec/b/lib/only", "lib/only", 0), 0);
	assert_string_equal(vf_on_disk(f, "trunk/spec/b/lib/only"), "only");
	assert_int_equal(vf_rename(f, "gr/b/f", "spec/b/back/f", 0), 0);
	assert_string_equal(vf_on_disk(f, "trunk/spec/b/back/f"), "back");
	assert_int_equal(vf_rename(f, "gr/b", "spec/b/back", 0), 0);
	assert_string_equal(vf_text(f, "gr/b/d/in/x"), "backx");
	/* a trunk file to where its specialization would be */
	assert_int_equal(vf_rename(f, "lib/f", "spec/b/lib/f", 0), 0);
	assert_string_equal(vf_on_disk(f, "trunk/lib/f"), "lib");
	assert_string_equal(vf_on_disk(f, "trunk/spec/b/lib/f"), "lib");
	/* hard links of one file */
	assert_int_equal(vf_link(f, "src/f", "src/f2"), 0);
	assert_int_equal(vf_rename(f, "src/f", "src/f2", 0), 0);
	assert_string_equal(vf_text(f, "src/f"), "src");
	assert_string_equal(vf_text(f, "src/f2"), "src");
}

/* A directory of a map with `only` is not seen at the new name, for what is in it was deleted. */
static void nothing_deleted_comes_back_at_the_new_name(void **state)
{
	static const char *const from[] = { "src/d", "src/f", "src/l", "x.o" };
	static const char *const texts[] = { "EISDIR", "f", "->f", "o" };

	for (size_t i = 0; i < sizeof(from) / sizeof(from[0]); i++) {
		struct viewfix *f = fresh(state);

		tree_make(f->tmp,
			  "trunk/.specfs.ini=[profile]\nname = t\nbackends = spec/*/\n"
			  "[map lib]\nat = lib\nfrom = spec/${backend}/lib\nonly = a*\n"
			  "[hide]\nnames = hidden.txt\n[write]\n*.o = scratch\n@any = owner\n",
			  "trunk/spec/b/lib/t/a/hidden.txt=h", "trunk/lib/", "trunk/src/d/y=y",
			  "trunk/src/f=f", "trunk/src/l->f", NULL);
		vf_open(f, "b");
		assert_int_equal(vf_put(f, "x.o", "o"), 0);
		assert_int_equal(vf_rmdir(f, "lib/t/a"), 0);
		check_str(from[i], vf_text(f, "lib/t"), "ENOENT");
		check_int(from[i], vf_rename(f, from[i], "lib/t", 0), 0);
		check_str(from[i], vf_text(f, "lib/t"), texts[i]);
		check_str(from[i], vf_text(f, "lib/t/a"), i ? "ENOTDIR" : "ENOENT");
		vf_remount(f);
		check_str(from[i], vf_text(f, "lib/t"), texts[i]);
		check_str(from[i], vf_text(f, "lib/t/a"), i ? "ENOTDIR" : "ENOENT");
	}
}

/* The copy is seen at the old name, too, and covers what it was made of, or a directory above. */
static void copy_may_cover_its_original(void **state)
{
	struct viewfix *f = *state;

	tree_make(f->tmp,
		  "trunk/.specfs.ini=[profile]\nname = t\nbackends = spec/*/\n"
		  "[map lib]\nat = lib\nfrom = spec/${backend}/lib\n"
		  "[graft gr]\nat = gr/${backend}\nfrom = spec/${backend}/lib\n"
		  "[write]\n@any = owner\n",
		  "trunk/spec/b/lib/d/", "trunk/spec/c/lib/d/l->one", "trunk/spec/c/lib/d/k->two",
		  "trunk/spec/c/lib/e/l->three", NULL);
	vf_open(f, "b,c");
	assert_int_equal(vf_rename(f, "lib/d/l", "gr/b/d/l", 0), 0);
	assert_string_equal(vf_text(f, "gr/b/d/l"), "->one");
	assert_false(tree_exists(f->tmp, "trunk/spec/c/lib/d/l"));
	assert_int_equal(vf_rename(f, "lib/e/l", "gr/b/e", 0), 0);
	assert_string_equal(vf_text(f, "gr/b/e"), "->three");
	assert_string_equal(vf_text(f, "lib/e"), "->three");
	assert_false(tree_exists(f->tmp, "trunk/spec/c/lib/e/l"));
	assert_string_equal(vf_text(f, "lib/d/k"), "->two");
	assert_true(vf_is_clean(f));
}

static void directory_does_not_go_into_its_alias(void **state)
{
	struct viewfix *f = *state;

	make_checkout(f);
	vf_open(f, "b");
	assert_int_equal(vf_rename(f, "spec/b/back", "gr/b/d/t", 0), -EINVAL);
	assert_int_equal(vf_rename(f, "gr/b", "spec/b/back/d/t", 0), -EINVAL);
	assert_int_equal(vf_rename(f, "spec/b/lib", "lib/m/t2", 0), -EINVAL);
	assert_string_equal(vf_on_disk(f, "trunk/spec/b/back/d/in/x"), "backx");
	assert_string_equal(vf_on_disk(f, "trunk/spec/b/lib/only"), "only");
	assert_string_equal(vf_names(f, "gr/b"), "d f");
	assert_true(vf_is_clean(f));
}

static void build_products_follow_their_directory(void **state)
{
	struct viewfix *f = *state;

	make_checkout(f);
	vf_open(f, "b");
	assert_int_equal(vf_mkdir(f, "src/d/__pycache__"), 0);
	assert_int_equal(vf_put(f, "src/d/__pycache__/x.pyc", "pyc"), 0);
	assert_string_equal(vf_layer(f, "src/d/__pycache__/x.pyc"), "scratch");
	assert_int_equal(vf_rename(f, "src/d", "src/e", 0), 0);
	assert_string_equal(vf_text(f, "src/e/__pycache__/x.pyc"), "pyc");
	assert_string_equal(vf_on_disk(f, "trunk/src/e/in/x"), "srcx");
	assert_string_equal(vf_text(f, "src/d"), "ENOENT");
	assert_int_equal(vf_mkdir(f, "src/d"), 0);
	assert_string_equal(vf_names(f, "src/d"), "");
}

static void links_and_special_files_move(void **state)
{
	struct viewfix *f = *state;
	char path[300];

	make_checkout(f);
	(void)snprintf(path, sizeof(path), "%s/lib/p", f->trunk);
	assert_int_equal(mkfifo(path, 0620), 0);
	tree_make(f->tmp, "trunk/lib/up->../src/f", NULL);
	vf_open(f, "b");
	assert_int_equal(vf_rename(f, "lib/p", "s/p", 0), 0);
	assert_int_equal(vf_look(f, "s/p").st.st_mode, S_IFIFO | 0620);
	assert_int_equal(vf_rename(f, "lib/up", "s/up", 0), 0);
	assert_string_equal(vf_text(f, "s/up"), "->../src/f");
	assert_int_equal(vf_symlink(f, "s/l", "a"), 0);
	assert_int_equal(vf_symlink(f, "s/l2", "b"), 0);
	assert_int_equal(vf_rename(f, "s/l2", "s/l", 0), 0);
	assert_string_equal(vf_text(f, "s/l"), "->b");
	assert_int_equal(vf_rename(f, "src/l", "src/k", 0), 0);
	assert_string_equal(vf_text(f, "src/k"), "->gone");
}

static void hard_links_stay_linked_in_a_copied_tree(void **state)
{
	struct viewfix *f = *state;

	make_checkout(f);
	vf_open(f, "b");
	assert_int_equal(vf_link(f, "src/d/in/x", "src/d/in/y"), 0);
	assert_int_equal(vf_rename(f, "src/d", "lib/t", 0), 0);
	assert_string_equal(vf_text(f, "lib/t/in/y"), "srcx");
	assert_true(vf_look(f, "lib/t/in/x").st.st_ino == vf_look(f, "lib/t/in/y").st.st_ino);
	assert_int_equal(vf_look(f, "lib/t/in/x").st.st_nlink, 2);
	assert_false(tree_exists(f->tmp, "trunk/src/d"));
}

static void old_name_that_cannot_go_brings_the_new_one_back(void **state)
{
	struct viewfix *f = *state;

	make_checkout(f);
	tree_make(f->tmp, "trunk/spec/b/lib/.specfs-hide/", NULL);
	vf_open(f, "b");
	/* no hide line can be written: the copy at the new name goes again */
	assert_true(vf_rename(f, "lib/f", "src/t", 0) < 0);
	assert_string_equal(vf_text(f, "src/t"), "ENOENT");
	assert_string_equal(vf_text(f, "lib/f"), "lib");
	assert_true(vf_rename(f, "lib/f", "src/f", 0) < 0);
	assert_string_equal(vf_text(f, "src/f"), "src");
	assert_string_equal(vf_text(f, "lib/f"), "lib");
	assert_true(vf_rename(f, "lib/d", "src/t", 0) < 0);
	assert_string_equal(vf_text(f, "src/t"), "ENOENT");
	assert_string_equal(vf_text(f, "lib/d/in/x"), "libx");
	assert_true(vf_is_clean(f));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_object_to_every_place),
		TEST(every_file_over_every_file),
		TEST(checkout_changes_only_in_place),
		TEST(number_survives_a_rename),
		TEST(editors_save_keeps_the_place),
		TEST(directory_over_directory),
		TEST(refused_rename_changes_nothing),
		TEST(directory_with_a_denied_name_stays_and_leaves_no_trace),
		TEST(renamed_directory_shows_what_was_deleted_at_its_new_name),
		TEST(what_scratch_had_is_no_matter_of_a_renamed_file),
		TEST(file_takes_the_place_of_one_over_what_scratch_had),
		TEST(deleted_name_takes_a_renamed_one),
		TEST(alias_of_a_file_is_never_lost),
		TEST(nothing_deleted_comes_back_at_the_new_name),
		TEST(copy_may_cover_its_original),
		TEST(directory_does_not_go_into_its_alias),
		TEST(build_products_follow_their_directory),
		TEST(links_and_special_files_move),
		TEST(hard_links_stay_linked_in_a_copied_tree),
		TEST(old_name_that_cannot_go_brings_the_new_one_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
