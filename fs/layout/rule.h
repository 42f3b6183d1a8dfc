/* SPDX-License-Identifier: MIT */
/*
 * A rule: one section of the profile with one backend's name filled in. Pure path algebra between
 * view paths and paths inside the rule's directory; it never touches a file system.
 */
#ifndef SPECFS_LAYOUT_RULE_H
#define SPECFS_LAYOUT_RULE_H

#include <stdbool.h>

#include "base/strv.h"
#include "config/profile.h"

struct rule {
	enum rule_kind kind;
	enum rule_role role;
	char *name;             /* "map python" */
	unsigned line;          /* of its section in the profile; 0 if none makes it */
	char *backend;          /* whose; NULL where the rule names none */
	char *at;               /* clean view path */
	char *from;             /* clean and relative to ROOT, or absolute; without the glob; of a
				 * supplied file, itself */
	char *glob;             /* graft, link: pattern of the names in `from` that appear in `at`;
				 * or NULL */
	char *content;          /* file */
	char *when;             /* path of ROOT that must exist, or NULL; see checkout_settle() */
	char *unless;           /* map: path of `from` that must not exist, or NULL; the same */
	bool opaque;
	bool hijack;
	bool packages_opaque;   /* from the profile; maps of Python only */
	struct strv only;
	struct strv except;
	const char *beside;     /* supply: only where the view shows this name beside it, ... */
	const char *const *instead_of; /* ... and none of these; NULL at the end, or NULL */
};

enum rule_place {
	RULE_OUTSIDE,   /* the rule says nothing about the path */
	RULE_ABOVE,     /* the path is a directory on the way to the rule's place */
	RULE_INSIDE,    /* the path is the rule's place or below it */
};

/**
 * rule_place - where a view path lies as seen from a rule
 * @ret_rel: set for RULE_INSIDE: the path relative to the rule's directory, a pointer into @path
 *
 * With a glob, `at` itself is RULE_ABOVE and only names that the glob matches are inside; their
 * relative path then begins with the name, so that `from`/rel is right for both.
 */
enum rule_place rule_place(const struct rule *r, const char *path, const char **ret_rel);

/**
 * rule_is_hijacked_fn - does trunk's package directory call spec_path?
 * @dir: package directory relative to the map's `at`; "" is the map's root
 */
typedef bool (*rule_is_hijacked_fn)(void *arg, const char *dir);

/**
 * rule_shows - does a map or graft show the object at @rel of its directory in the view?
 * @rel:         clean, relative to the rule's directory
 * @is_dir:      what the object is
 * @is_hijacked: asked only if @r->hijack; may be NULL otherwise
 *
 * `only` and `except` decide first: a directory is shown if it is covered or something below it may
 * be; "" always is. With `hijack`, a non-directory is shown only if its directory or one above it
 * is hijacked; a hijacked directory's own __init__.py is not shown unless a directory strictly
 * above it is hijacked as well. Directories are then all shown, as ways to what may be: one that no
 * lower layer has and that is not below a hijacked one may turn out empty, see rule_is_hijacked().
 * Marks (.specfs-hide, .specfs-base, .specfs-tmp.*) and what lies below one are never shown.
 */
bool rule_shows(const struct rule *r, const char *rel, bool is_dir,
		rule_is_hijacked_fn is_hijacked, void *arg);

/**
 * rule_covers - is @rel a place of the rule's own, where new names belong to its directory?
 *
 * As rule_shows(), but a directory that is only on the way to such places is not covered.
 */
bool rule_covers(const struct rule *r, const char *rel, bool is_dir,
		 rule_is_hijacked_fn is_hijacked, void *arg);

/**
 * rule_is_hijacked - does a hijack rule show everything in directory @rel of its own?
 *
 * True if @rel or a directory above it is hijacked. A directory for which this is false and that
 * no lower layer has is not worth showing.
 */
bool rule_is_hijacked(const char *rel, rule_is_hijacked_fn is_hijacked, void *arg);

/** rule_names_below - may it depend on directory @rel's place what is shown of what is in it? */
bool rule_names_below(const struct rule *r, const char *rel);

/** rule_is_mark - is @name one of the files that specfs itself keeps in spec directories? */
bool rule_is_mark(const char *name);

/** rule_equal - do both say the same? Where they stand in a profile does not count */
bool rule_equal(const struct rule *a, const struct rule *b);

void rule_clear(struct rule *r);

#endif
