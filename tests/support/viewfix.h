/* SPDX-License-Identifier: MIT */
/*
 * A view of a small checkout for tests of changes: the checkout is T/trunk with the profile below,
 * scratch is T/scratch. Its calls look a path up and change it as the daemon does.
 */
#ifndef SPECFS_TESTS_VIEWFIX_H
#define SPECFS_TESTS_VIEWFIX_H

#include <stdbool.h>
#include <sys/types.h>

#include "layer/change.h"
#include "layer/view.h"

/*
 * The profile: maps lib, py and extra of spec/BACKEND/{lib,py,extra}, links in py/tools to what
 * is in spec/BACKEND/tools, graft gr/BACKEND of spec/BACKEND/back, file MARKER, hidden names
 * __pycache__ and hidden.txt; writes: /.git and /deny* denied, /s and what git ignores to scratch,
 * /t to trunk, what a backend owns in place, mapped places to spec.
 */

struct viewfix {
	char *tmp;   /* T */
	char *trunk; /* T/trunk */
	struct view *v;
	struct view_options o;
	bool by_path;    /* hand down no directory that is open */
	bool copied;     /* may the last rename have copied? */
	char text[4096]; /* what the last call answered */
};

/** viewfix_setup, or viewfix_setup_by_path, and viewfix_teardown - of every test */
int viewfix_setup(void **state);
int viewfix_setup_by_path(void **state);
int viewfix_teardown(void **state);

/** vf_open - open the view for @backends, comma-separated; their spec/BACKEND/extra is made */
void vf_open(struct viewfix *f, const char *backends);
/** vf_remount - close it and open it again */
void vf_remount(struct viewfix *f);

/** vf_text - content of a file, text of a link with "->" before it, or the errno's name */
const char *vf_text(struct viewfix *f, const char *path);
/** vf_names - names that the view lists in @dir, sorted, with blanks between */
const char *vf_names(struct viewfix *f, const char *dir);
/** vf_layer - label of the layer that owns @path, or the errno's name */
const char *vf_layer(struct viewfix *f, const char *path);
/** vf_on_disk - content of T/@path, or "-" if it is not there */
const char *vf_on_disk(struct viewfix *f, const char *path);
/** vf_look - look @path up; fails the test if it is not there */
struct found vf_look(struct viewfix *f, const char *path);
/** vf_shows - is the layer's object that was found before at @path now? */
bool vf_shows(struct viewfix *f, const char *path, const struct found *before);

/** vf_put - write @text to a file of the view, made if need be; 0 or a negative errno */
int vf_put(struct viewfix *f, const char *path, const char *text);
int vf_mkdir(struct viewfix *f, const char *path);
int vf_symlink(struct viewfix *f, const char *path, const char *text);
int vf_rm(struct viewfix *f, const char *path);
int vf_rmdir(struct viewfix *f, const char *path);
int vf_rename(struct viewfix *f, const char *from, const char *to, unsigned flags);
int vf_link(struct viewfix *f, const char *from, const char *to);
int vf_chmod(struct viewfix *f, const char *path, mode_t mode);

/** vf_is_clean - does the workdir hold nothing, and no directory of T a left-over interim name? */
bool vf_is_clean(struct viewfix *f);

#endif
