/* SPDX-License-Identifier: MIT */
/*
 * A profile: how a kind of checkout is laid out, as read from an INI file, before any backend's
 * name is filled in. Reading and checking is done here; what the rules mean is layout's business.
 * Source: specfs.ini(5).
 */
#ifndef SPECFS_CONFIG_PROFILE_H
#define SPECFS_CONFIG_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "base/strv.h"

enum rule_kind {
	RULE_MAP,       /* a spec directory, laid over a place of the view */
	RULE_GRAFT,     /* a directory of the checkout at another place; hides what was there */
	RULE_LINK,      /* a symlink that the view makes */
	RULE_FILE,      /* a small regular file with fixed content that the view makes */
	RULE_SUPPLY,    /* a file of the installation; no section makes it, see supply.h */
};

enum rule_role {
	ROLE_SHADOW,    /* its files are seen in the view */
	ROLE_PROVIDER,  /* its files serve the hooks only; never seen at `at` */
};

enum dest { DEST_SCRATCH, DEST_OWNER, DEST_SPEC, DEST_TRUNK, DEST_DENY };

/* What the left side of a [write] rule asks about an object. */
enum write_class {
	WRITE_GLOB,     /* its view path matches a pattern */
	WRITE_IGNORED,  /* "@ignored": git ignores it */
	WRITE_BACKEND,  /* "@backend": its owner is a spec directory or a graft */
	WRITE_MAPPED,   /* "@mapped": its place is one that a map covers */
	WRITE_ANY,      /* "@any" */
};

/* One [map], [graft], [link] or [file] section; paths may hold ${backend}. */
struct profile_rule {
	enum rule_kind kind;
	enum rule_role role;
	char *name;             /* second word of the section's header */
	unsigned line;          /* of the header */
	char *at;               /* clean view path; "" is the root (written as ".") */
	char *from;             /* map, graft, link: clean and relative to ROOT, or absolute; the
				 * last component of a graft or link may be a glob: then `at` is the
				 * directory in which each match appears under its own name */
	char *content;          /* file: its content; a newline is not added */
	char *when;             /* "if": the rule is there only if ROOT has this path; or NULL */
	char *unless;           /* map: off for a backend in whose `from` this path is; or NULL */
	bool opaque;            /* map: its root hides the lower layers' directory at `at` */
	bool hijack;            /* map: only what FlagTree's spec_path would find, see rule.h */
	struct strv only;       /* patterns relative to the map; empty: everything */
	struct strv except;     /* patterns relative to the map, taken out of `only` */
};

struct write_rule {
	enum write_class class;
	char *pattern;          /* WRITE_GLOB only */
	enum dest dest;
	unsigned line;
};

struct profile {
	char *name;
	char *description;      /* one line, or "" */
	char *file;             /* the INI file, for messages */
	struct stat st;         /* of the file, from before it was read */
	struct strv detect;     /* globs relative to ROOT; any hit makes the profile fit */
	struct strv backends;   /* globs relative to ROOT of directories that may be a backend's */
	bool packages_opaque;   /* a spec sub-package with __init__.py hides the trunk's */
	struct profile_rule *rules;
	size_t n_rules;
	struct strv hide;       /* patterns on view paths; not applied to scratch */
	struct strv hide_links; /* the same, for symlinks only */
	struct strv redirect;   /* directories of the view that bypass FUSE when scratch's alone */
	struct write_rule *writes;
	size_t n_writes;
	bool hooks_supply;      /* the view supplies _flagtree_spec if the trunk lacks it */
	bool hooks_import;      /* functions are bound by the import hook */
};

/**
 * profile_load - read and check one profile
 * @file: path of the INI file
 * @d:    gets "file:line: what, and what was expected" for each fault
 *
 * Returns 0, -EINVAL for a faulty profile, or what reading the file gave.
 */
int profile_load(const char *file, struct diag *d, struct profile **ret);

/**
 * profile_find - find the profile for a checkout
 * @root:  path of the checkout
 * @which: a profile's name, a path of an INI file (it holds a slash or ends in .ini), or NULL
 * @ret_why: why this one was taken, for the user; the caller frees
 *
 * Without @which: ROOT/.specfs.ini, else the first shipped profile whose `detect` hits, else
 * "generic". Shipped profiles are searched in $SPECFS_PROFILE_DIR, then in the installed directory,
 * then in the source tree that the program was built from.
 *
 * Returns 0, -ENOENT (no such profile), -EINVAL, or a read error; each with a line in @d.
 */
int profile_find(const char *root, const char *which, struct diag *d, struct profile **ret,
		 char **ret_why);

/** profile_own_path - append the path that a checkout's own profile has; 0 or -ENOMEM */
int profile_own_path(const char *root, struct strbuf *ret);

void profile_free(struct profile *p);

DEFINE_CLEANUP(profile, struct profile, profile_free)
#define cleanup_profile CLEANUP(cleanup_profile_p)

/** dest_name - "scratch", "owner", "spec", "trunk" or "deny" */
const char *dest_name(enum dest dest);

/** dest_parse - the reverse; -EINVAL for another word */
int dest_parse(const char *word, enum dest *ret);

#endif
