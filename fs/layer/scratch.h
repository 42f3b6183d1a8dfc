/* SPDX-License-Identifier: MIT */
/*
 * The scratch directory of a view: "upper" is the layer, "work" holds interim names, "lock" keeps
 * other views out. Part of opening a view.
 */
#ifndef SPECFS_LAYER_SCRATCH_H
#define SPECFS_LAYER_SCRATCH_H

#include <stdbool.h>

#include "layer/view.h"

/**
 * scratch_settle_path - the absolute path, without symlinks, that @path has or would have
 *
 * Nothing is made. Returns 0 or a negative errno with a line in @d.
 */
int scratch_settle_path(const char *path, struct diag *d, struct strbuf *ret);

/**
 * scratch_open - make and lock the scratch directory at @v->scratch, clear what a crash left
 *
 * Sets @v->lock_fd, @v->work and @v->n_recovered. Returns an O_PATH descriptor of "upper", or a
 * negative errno with a line in @d.
 */
int scratch_open(struct view *v, struct diag *d);

/**
 * scratch_note_links - from now on something in scratch may be a hard link of another layer's file
 *
 * A view that must not change those files does not take such a scratch directory any more.
 */
int scratch_note_links(const struct view *v);

/** scratch_check_links - -EINVAL, with a line in @d, if such a view has such a scratch directory */
int scratch_check_links(const struct view *v, bool writes_to_scratch_alone, struct diag *d);

#endif
