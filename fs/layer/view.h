/* SPDX-License-Identifier: MIT */
/*
 * A view: a checkout as one chain of backends sees it. Owns profile, ruleset, stack, scratch and
 * the route of changes. Everything the daemon and the commands do to a tree goes through here, by
 * view path; there is no FUSE in it.
 */
#ifndef SPECFS_LAYER_VIEW_H
#define SPECFS_LAYER_VIEW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "layer/redirect.h"
#include "layer/route.h"
#include "layer/rules.h"
#include "layer/stack.h"
#include "layer/workdir.h"
#include "layout/ruleset.h"

/* What a view is made from; all borrowed during view_open(). */
struct view_options {
	const char *root;     /* ROOT, or NULL with overlays only */
	const char *profile;  /* name, path or NULL: see profile_find() */
	struct strv backends; /* most special first; may be empty */
	struct strv overlays; /* -l, highest first */
	const char *scratch;  /* directory, made if it does not exist; NULL: a view
					 * that is only looked at (which, export) */
	bool readonly;	      /* -r */
	bool scratch_all;     /* --scratch-all */
	bool write_owner;     /* -o write=owner, for -l */
};

struct view {
	struct profile *profile; /* NULL without a profile (-l) */
	char *profile_why;
	char *profile_asked;     /* the options' profile */
	struct ruleset *rules; /* NULL without a profile */
	struct rules former;   /* of stack.former, see reload.h */
	char *root;	       /* real path of ROOT, or NULL */
	char *scratch;	       /* real path, or NULL */
	int lock_fd;	       /* holds the scratch directory for this view alone; -1 */
	struct stack stack;
	struct ignore *ignore; /* what git ignores; NULL without a repository */
	struct workdir *work;  /* interim names on scratch's file system; NULL without
					 * scratch */
	struct redirects *redirects; /* directories out of the mount; NULL without scratch */
	bool readonly;
	bool scratch_all;
	bool write_owner;
	unsigned n_recovered; /* left-over interim objects of an earlier daemon,
					 * removed */
	_Atomic uint64_t changes; /* see view_changes() */
	_Atomic uint64_t marks;	  /* whiteouts put so far */
};

/**
 * view_changes - a number that grows with each change that may put another directory in the place
 * of one in a layer, or one where there was none: ours, and those of others that were heard of
 *
 * What is open since before it grew may be another directory than its path leads to.
 */
static inline uint64_t view_changes(const struct view *v)
{
	return atomic_load(&v->changes);
}

/** view_changed - there was such a change; called after it */
static inline void view_changed(struct view *v)
{
	atomic_fetch_add(&v->changes, 1);
}

/**
 * view_open - make a view from its options; every mistake is found here
 *
 * Scratch holds `upper` (the layer), `work` and `lock`. A scratch directory that another view holds
 * gives -EBUSY, one on a file system without user xattrs -ENOTSUP, a scratch inside a layer or the
 * other way round -EINVAL; each with a line in @d.
 */
int view_open(const struct view_options *o, struct diag *d, struct view **ret);
void view_free(struct view *v);

DEFINE_CLEANUP(view, struct view, view_free)
#define cleanup_view CLEANUP(cleanup_view_p)

/** view_cache_dir - append $XDG_CACHE_HOME/specfs, or .cache/specfs of the home directory; -ENOENT
 * without either */
int view_cache_dir(struct strbuf *ret);

/** view_default_scratch - append a directory of view_cache_dir(), named by a hash of the options:
 * root, backends, profile, overlays, scratch_all */
int view_default_scratch(const struct view_options *o, struct strbuf *ret);

/** view_origin - "LABEL REALPATH" of an object: where it comes from, for people and tools */
int view_origin(const struct view *v, const char *path, const struct found *f, struct strbuf *ret);

#endif
