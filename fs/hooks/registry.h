/* SPDX-License-Identifier: MIT */
/*
 * Named functions: many readers without locks, few writers. Rows are only ever added; the first of
 * a name stays. It neither loads nor logs anything.
 */
#ifndef SPECFS_HOOKS_REGISTRY_H
#define SPECFS_HOOKS_REGISTRY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "specfs/hooks.h"

struct registry_table;

struct registry {
	pthread_mutex_t lock;                   /* held by writers */
	_Atomic(struct registry_table *) table; /* NULL until something is added */
};

#define REGISTRY_INIT { .lock = PTHREAD_MUTEX_INITIALIZER }

/** registry_clear - forget everything; nobody may be reading */
void registry_clear(struct registry *reg);

/**
 * registry_add - add the rows of a provider
 * @p:           borrowed until registry_clear()
 * @ret_shadowed: how many rows had a name that was taken, or NULL
 *
 * Returns 0, -EPROTO for an unknown layout, -EINVAL for a row without name, type or function, or
 * -ENOMEM; nothing is added then.
 */
int registry_add(struct registry *reg, const struct specfs_provider *p, size_t *ret_shadowed);

/** registry_find - the row of that name, or NULL */
const struct specfs_hook *registry_find(struct registry *reg, const char *name);

/**
 * registry_next - walk over all rows
 * @pos: 0 at first; moved on by each call
 *
 * Rows that are added during the walk may be missed. Returns NULL at the end.
 */
const struct specfs_hook *registry_next(struct registry *reg, size_t *pos);

#endif
