/* SPDX-License-Identifier: MIT */
/*
 * What a view has made itself where that makes a difference, remembered in scratch: below a graft,
 * what was made may be removed again, and what people had there may not; a symlink in a spec
 * directory is served as the file it leads to, unless it was made here as a link.
 *
 * An object is known by its number, its birth time and its path, or those of its hard links: what
 * was replaced or moved underneath is not ours any more.
 */
#ifndef SPECFS_LAYER_MADE_H
#define SPECFS_LAYER_MADE_H

#include "layer/stack.h"

struct made;

/** made_open - as kept_open() */
int made_open(struct stack *st, int dir_fd);
void made_free(struct made *m);

/**
 * made_add - @o has been made at @path of layer @layer
 *
 * Nothing happens for layers and objects that it makes no difference for.
 */
void made_add(const struct stack *st, unsigned layer, const char *path, const struct object *o);

/**
 * made_moved - @o has been renamed in layer @layer
 * @replaced: what was at @to, or NULL
 *
 * A name of people's stays theirs, whoever's object it has now. What is in a directory goes with
 * the directory.
 */
void made_moved(const struct stack *st, unsigned layer, const char *from, const char *to,
		const struct object *o, const struct object *replaced);

/* One of two names that change places, and what it had before. */
struct made_end {
	const char *path;
	const struct object *obj;
};

/** made_swapped - as made_moved(), both ways at once */
void made_swapped(const struct stack *st, unsigned layer, const struct made_end *a,
		  const struct made_end *b);

/** made_gone - @o, as it was before, has been removed from @path; a file may have other names */
void made_gone(const struct stack *st, const char *path, const struct object *o);

/** made_is_link - was symlink @o at @path made here? thread-safe */
bool made_is_link(const struct stack *st, const char *path, const struct object *o);

/**
 * made_may_go - may @o, at @path of graft @layer, be removed from the graft's directory?
 *
 * So it is if both were made here; or if people's object has been moved aside and its own name is
 * in use again, as editors do when they save. thread-safe
 */
bool made_may_go(const struct stack *st, unsigned layer, const char *path, const struct object *o);

#endif
