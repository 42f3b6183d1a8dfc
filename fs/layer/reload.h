/* SPDX-License-Identifier: MIT */
/*
 * A profile that was edited while its view is open: it is read and checked in full first, then the
 * view gets its rules and their layers in one step.
 *
 * Layers get other indices by that. One whose rule is no longer there is kept for a while as a
 * former one, at STACK_MAX and above: it shows nothing, but what was found in it can be opened.
 */
#ifndef SPECFS_LAYER_RELOAD_H
#define SPECFS_LAYER_RELOAD_H

#include "layer/view.h"
#include "layout/difference.h"

struct reload;

/* Which file a view's profile was read from; looking at it needs no view. */
struct reload_mark {
	char *file;     /* NULL: it has no profile */
	char *own;      /* would be read instead if it were there; or NULL */
	struct stat st; /* of the file, as it was */
};

/** reload_mark - of the profile in force; nobody may swap @v's rules meanwhile. 0 or -ENOMEM */
int reload_mark(const struct view *v, struct reload_mark *ret);
void reload_mark_clear(struct reload_mark *m);

static inline void cleanup_reload_mark_p(struct reload_mark *m)
{
	reload_mark_clear(m);
}

#define cleanup_reload_mark CLEANUP(cleanup_reload_mark_p)

/** reload_is_due - is there another file now than the one that was read? */
bool reload_is_due(const struct reload_mark *m);

/**
 * reload_read - read a view's profile again; @v stays as it is
 *
 * The profile is found anew only if the checkout has got one of its own, or lost the one in force.
 * Nobody may swap @v's rules meanwhile. Returns 0, -ENOENT for a view without a profile, or what
 * view_open() would give, with a line in @d.
 */
int reload_read(const struct view *v, struct diag *d, struct reload **ret);
void reload_free(struct reload *r);

DEFINE_CLEANUP(reload, struct reload, reload_free)
#define cleanup_reload CLEANUP(cleanup_reload_p)

/** reload_reaches - does a layer that was read contain @path, or lie in it? Its number, or -1 */
int reload_reaches(const struct reload *r, const char *path);

/** reload_refuse_layer - say @what in @d of layer @i of those that were read; -EINVAL */
int reload_refuse_layer(const struct reload *r, int i, const char *what, struct diag *d);

/** reload_difference - from the rules in force to those that were read */
const struct difference *reload_difference(const struct reload *r);

/** reload_is_same - do they say the same, and does the profile's file have the same stat? */
bool reload_is_same(const struct view *v, const struct reload *r);

/**
 * reload_swap - from now on @v goes by what was read
 * @map: set for each index that a layer could have had before, to the one it has now; former
 *       layers of an earlier swap become the lowest layer, which has nothing of theirs
 *
 * Nobody may use the view meanwhile. All that is left of @r is for reload_free().
 */
void reload_swap(struct view *v, struct reload *r, unsigned map[STACK_ALL]);

/**
 * reload_forget - nothing that was found in former layers is used any more: close them
 * @map: as of reload_swap()
 */
void reload_forget(struct view *v, unsigned map[STACK_ALL]);

#endif
