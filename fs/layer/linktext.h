/* SPDX-License-Identifier: MIT */
/*
 * The text of a symlink that is made in a layer: a spec directory lies elsewhere in the checkout
 * than its place in the view, so a relative text that leaves the map must be another one there.
 * stack_readlink() is the reverse.
 */
#ifndef SPECFS_LAYER_LINKTEXT_H
#define SPECFS_LAYER_LINKTEXT_H

#include "layer/layer.h"

/**
 * linktext_for - append to @ret what a symlink at view path @path of layer @l must hold
 * @text: what it says in the view
 */
int linktext_for(const struct layer *l, const char *path, const char *text, struct strbuf *ret);

#endif
