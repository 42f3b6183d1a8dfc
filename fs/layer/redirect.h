/* SPDX-License-Identifier: MIT */
/*
 * Redirected directories: directories that scratch alone has and that are taken out of the mount,
 * by a bind mount of their place in scratch or by a symlink that leads there. Which ones there are,
 * which may be, and what that means for the rest of the view. Nothing is mounted here, see bind.h.
 */
#ifndef SPECFS_LAYER_REDIRECT_H
#define SPECFS_LAYER_REDIRECT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/strbuf.h"

struct view;
struct redirects;

enum redirect_form {
	REDIRECT_BIND,          /* a bind mount covers the directory */
	REDIRECT_SYMLINK,       /* the view shows a symlink instead of it */
};

/* One that was asked for. */
struct redirect {
	char *dir;              /* clean view path */
	enum redirect_form form;
	bool ours;              /* the directory is there for it, and goes with it if it is empty */
	bool wanted;            /* not there yet: it is redirected when it is made */
	char *why_not;          /* why it is not redirected, for people; NULL if it is */
};

/**
 * redirects_new - none
 * @scratch: real path of the scratch directory; borrowed
 */
int redirects_new(const char *scratch, struct redirects **ret);
void redirects_free(struct redirects *rs);

/** redirect_form_name - "bind" or "symlink" */
const char *redirect_form_name(enum redirect_form form);

/**
 * redirect_check - may directory @dir of the view be redirected?
 *
 * It must be scratch's alone, or not there yet at a place where scratch would take it, and no rule
 * may deny anything below it. Its parents must be directories of the view. Returns 0, or a negative
 * errno with a half-sentence in @d that says why not.
 */
int redirect_check(struct view *v, const char *dir, struct diag *d);

/**
 * redirect_begin - check @dir, make it if it is not there, and redirect it
 * @ours: remove it in the end if it is empty then, also if it is there already
 *
 * From now on the view shows a symlink there, if that is the @form. The caller keeps others from
 * changing the view meanwhile. Returns 0, or a negative errno and, as redirect_check(), why.
 */
int redirect_begin(struct view *v, const char *dir, enum redirect_form form, bool ours,
		   struct diag *d);

/** redirect_refuse - remember that @dir was asked for, and why it is not redirected */
int redirect_refuse(struct view *v, const char *dir, enum redirect_form form, const char *why);

/** redirect_want - remember that @dir is to be redirected when it is made */
int redirect_want(struct view *v, const char *dir, enum redirect_form form);

/** redirect_is_wanted - is it? thread-safe */
bool redirect_is_wanted(const struct redirects *rs, const char *dir);

enum redirect_apart {
	REDIRECT_APART_NOT,
	REDIRECT_APART_SOON,    /* it is wanted */
	REDIRECT_APART_NOW,     /* a bind mount covers it */
};

/** redirect_is_apart - may what is in directory @dir be changed past the mount? thread-safe */
enum redirect_apart redirect_is_apart(const struct redirects *rs, const char *dir);

/**
 * redirect_end - the reverse of redirect_begin(); a directory that is there for it and is empty is
 * removed
 *
 * Returns 0, or -ENOENT if @dir is not redirected.
 */
int redirect_end(struct view *v, const char *dir);

/** redirect_end_all - end them all: the view is no longer mounted */
void redirect_end_all(struct view *v);

/** redirect_recover - remove empty directories that a daemon that died made for redirects */
void redirect_recover(struct view *v);

/**
 * redirect_list - a copy of what was asked for, in that order; thread-safe
 * @ret: array of *@ret_n, for redirect_list_free(); NULL if there is none
 */
int redirect_list(const struct redirects *rs, struct redirect **ret, size_t *ret_n);
void redirect_list_free(struct redirect *list, size_t n);

/** redirect_holds - is @path redirected, or a directory above one that is? thread-safe */
bool redirect_holds(const struct redirects *rs, const char *path);

/** redirect_holds_mount - the same, but only bind mounts count: they go with a dentry that goes */
bool redirect_holds_mount(const struct redirects *rs, const char *path);

/** redirect_link - append the text of the symlink that the view shows at @path; false if it shows
 * none there. @rs may be NULL; thread-safe */
bool redirect_link(const struct redirects *rs, const char *path, struct strbuf *ret);

/** redirect_place - append the absolute path of @dir's place in scratch; 0 or -ENOMEM */
int redirect_place(const struct redirects *rs, const char *dir, struct strbuf *ret);

/** redirect_link_is_clean - would git be as silent about a symlink at @dir as about the directory?
 * A pattern such as "build/" does not cover a symlink. */
bool redirect_link_is_clean(struct view *v, const char *dir);

#endif
