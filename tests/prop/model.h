/* SPDX-License-Identifier: MIT */
/*
 * The model: the layers of a view as trees in memory, how they merge, where each change goes and
 * what it does. It knows no file system and none of the code under test but the pattern language;
 * what it does is what the manual promises of a view.
 */
#ifndef SPECFS_PROP_MODEL_H
#define SPECFS_PROP_MODEL_H

#include "base/strv.h"
#include "mtree.h"

enum { MODEL_LAYERS = 6, NAMES_MAX = 64 };

enum role { ROLE_SCRATCH, ROLE_MAP, ROLE_OVERLAY, ROLE_CHECKOUT, ROLE_GRAFT, ROLE_MADE };

enum where { TO_SCRATCH, TO_OWNER, TO_SPEC, TO_TRUNK, TO_NOBODY };

/* One row of [write]. */
struct mrule {
	const char *what; /* pattern or "@word"; NULL ends the list */
	enum where to;
};

/* A kind of view, all arenas alike. */
struct setup {
	const char *name;
	const struct mrule *rules; /* NULL: no profile, but overlays */
	bool scratch_all;
	bool write_owner; /* -o write=owner */
	bool external;	  /* spec directories lie outside of the checkout */
	bool whole;	  /* they are laid over the root, not over m0 */
	bool readonly;
	bool except; /* maps leave out what begins with "d" */
	bool graft;  /* spec directories are seen at a second place, each at one of its own */
	bool made;   /* the profile makes a link to c0 and a file */
	bool only;   /* maps show nothing but what begins with "a" or "c" */
};

struct mlayer {
	enum role role;
	char at[8];   /* its place in the view */
	bool alias;   /* @root is another layer's, too */
	bool in_root; /* it lies in the checkout: git may ignore what is in it */
	struct mnode *root;
	struct strv hide; /* lines of .specfs-hide */
	bool has_hide;	  /* the file exists */
};

/* What the view has made, where that makes a difference. */
struct mmade {
	struct mitem {
		uint64_t id;
		char path[PATH_SIZE];
		char theirs[PATH_SIZE]; /* "", or a name of people's */
	} * v;
	size_t n;
};

struct model {
	const struct setup *setup;
	struct mmade made; /* below grafts */
	struct mlayer layers[MODEL_LAYERS]; /* highest first; scratch is the first */
	unsigned n;
};

/* What the view shows at a path. */
struct seen {
	unsigned layer;	    /* owner */
	struct mnode *node; /* the owner's */
	unsigned parts;	    /* of a directory: bit i: layer i has one that merges */
	bool implied;	    /* no layer has it for its own sake */
};

/** model_init - empty layers for arena @suffix */
void model_init(struct model *m, const struct setup *s, char suffix);
/** model_init_plain - a model of one plain directory, whose tree is borrowed from @l */
void model_init_plain(struct model *m, struct mlayer *l);
void model_clear(struct model *m);

/** model_lookup - 0, -ENOENT or -ENOTDIR */
int model_lookup(const struct model *m, const char *path, struct seen *ret);
/** model_names - the names that directory @path shows, sorted; how many */
size_t model_names(const struct model *m, const char *path, const struct seen *dir,
		   char names[NAMES_MAX][NAME_SIZE]);
bool model_is_empty(const struct model *m, const char *path, const struct seen *dir);
/** model_has_below - would the view show something at @path without layers 0 to @above? */
bool model_has_below(const struct model *m, const char *path, unsigned above);
/** model_in_layer - layer @i's own object at view path @path, or NULL */
struct mnode *model_in_layer(const struct model *m, unsigned i, const char *path);
/** model_below_at - @path as seen from layer @i's directory, or NULL if it is not inside */
const char *model_below_at(const struct model *m, unsigned i, const char *path);
/** model_has_dir - has layer @i a directory of its own? */
bool model_has_dir(const struct model *m, unsigned i);
/** model_is_made_place - does the profile make something at @path, even if it is not there? */
bool model_is_made_place(const struct model *m, const char *path);
/**
 * model_has_name - does a component of @path begin with @start? Patterns here are all of the form
 * "xx*"
 */
bool model_has_name(const char *path, const char *start);
/** model_shown - would an object of layer @i at @path be in the view at all? */
bool model_shown(const struct model *m, unsigned i, const char *path, bool is_dir);
/** model_covers - is @path, in the place of map @i, one that `only` speaks of? */
bool model_covers(const struct model *m, unsigned i, const char *path);

/** model_is_hidden - do the hide lists of the layers above @i hide what it has at @path? */
bool model_is_hidden(const struct model *m, unsigned i, const char *path, bool is_dir);

/* A change's way. */
struct mroute {
	unsigned layer;
	bool in_place;
};

/** model_map_of - the highest spec layer that covers @path, or -1 */
int model_map_of(const struct model *m, const char *path);
enum what { TO_EDIT, TO_REMOVE };

/** model_route - where a change of an existing object goes: 0 or -EROFS */
int model_route(const struct model *m, const char *path, const struct seen *s, enum what what,
		struct mroute *ret);
/** model_graft_of - the graft that directory @dir is a part of, and @path inside; or -1 */
int model_graft_of(const struct model *m, const char *path, const struct seen *dir);
/** model_route_new - where a new name in @dir goes: 0 or -EROFS */
int model_route_new(const struct model *m, const char *path, bool is_dir, const struct seen *dir,
		    unsigned *ret);

/** model_apply - do @o to the model's view; 0 or the errno that it must fail with */
int model_apply(struct model *m, const struct op *o);
/** model_apply_below - do @o to layer @o->layer's own directory */
int model_apply_below(struct model *m, const struct op *o);

/** model_spreads - may a change of the view show at another place of it, too? */
bool model_spreads(const struct model *m);

/** model_reopen - what is true of the next view, opened with the same scratch */
void model_reopen(struct model *m);

/* Shared by the model's own files. */

/** model_made - @d was made at @path of layer @layer, if that is a graft */
void model_made(struct model *m, unsigned layer, const char *path, const struct mdata *d);
/** model_made_moved - the same: it was renamed; @replaced: what was at @to, or NULL */
void model_made_moved(struct model *m, unsigned layer, const char *from, const char *to,
		      const struct mdata *d, const struct mdata *replaced);
/** model_made_swapped - the same: they were exchanged */
void model_made_swapped(struct model *m, unsigned layer, const char *a, const char *b,
			const struct mdata *at_a, const struct mdata *at_b);
/** model_made_gone - it is being removed from @path */
void model_made_gone(struct model *m, const char *path, const struct mdata *d);
/** model_may_go - may @d, at @path of graft @layer, be removed there? */
bool model_may_go(const struct model *m, unsigned layer, const char *path, const struct mdata *d);

/** model_prepare - make the object at @path ready for an edit; *@ret is what to change */
int model_prepare(struct model *m, const char *path, struct seen *s, struct mdata **ret);
/** model_parents - make the directories above @path in layer @to; returns the last */
struct mnode *model_parents(struct model *m, unsigned to, const char *path);
/** model_remove - take the object away along @r; what is below is hidden first */
void model_remove(struct model *m, const char *path, const struct seen *s, const struct mroute *r);
void model_whiteout(struct model *m, const char *path);
void model_drop_whiteout(struct model *m, const char *path);
/** model_take_scratch - remove scratch's own directory at @path, if it has one */
void model_take_scratch(struct model *m, const char *path);
/**
 * model_replace_scratch - the same for the directory @s that is going, with a whiteout in its place
 * if anything would show there
 */
void model_replace_scratch(struct model *m, const char *path, const struct seen *s);
/** model_hide - a line for @path in the list of layer @spec, or a whiteout if no line can say it */
void model_hide(struct model *m, const char *path, bool is_dir, unsigned spec);
/** model_undo_hide - drop the line for the non-directory @path, which the layer has itself again */
void model_undo_hide(struct model *m, const char *path, unsigned layer);
/** model_hide_below - hide what the layers below @layer have; true if that took a whiteout */
bool model_hide_below(struct model *m, const char *path, bool is_dir, unsigned layer);
/** model_parent - look the parent of @path up: 0, -ENOENT or -ENOTDIR */
int model_parent(const struct model *m, const char *path, struct seen *ret);
int model_rmdir(struct model *m, const char *path);
int model_rename(struct model *m, const struct op *o);

#endif
