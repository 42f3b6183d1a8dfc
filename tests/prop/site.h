/* SPDX-License-Identifier: MIT */
/*
 * The place of a run: a temporary directory with a checkout, spec directories or overlays, scratch
 * and a profile. Names at the top of a tree end in the digit of their arena; arenas share the
 * directories, but nothing in them.
 */
#ifndef SPECFS_PROP_SITE_H
#define SPECFS_PROP_SITE_H

#include "backend.h"

extern const struct setup setups[];

/** setup_find - by name, or NULL */
const struct setup *setup_find(const char *name);

/** site_make - make the directories of a fresh site; 0 or a negative errno */
int site_make(struct site *s, const struct setup *setup, unsigned arenas);
/** site_remove - remove them all; the view must be closed */
void site_remove(struct site *s);
/** site_open_layer - open the directory of a model's layer */
int site_open_layer(const struct site *s, const struct model *m, unsigned layer, char suffix);

/** site_options - what the view of @s is made from; free with site_options_clear() */
int site_options(const struct site *s, struct view_options *ret);
void site_options_clear(struct view_options *o);

#endif
