/* SPDX-License-Identifier: MIT */
/*
 * Which backends a checkout has, as one profile sees it. Apart from checkout.h the only part of
 * layout that looks at a file system.
 */
#ifndef SPECFS_LAYOUT_BACKEND_H
#define SPECFS_LAYOUT_BACKEND_H

#include <stddef.h>

#include "base/diag.h"
#include "config/profile.h"

struct backend_info {
	char *name;
	char *dir;                      /* relative to ROOT */
	size_t n_specializations;       /* regular files and links that its shadow maps show */
	size_t n_providers;             /* files of its provider maps, and those of a hijack map
					 * that no hijacked package shows */
};

/**
 * backend_list - the backends of a checkout, sorted by name
 * @root_fd: the checkout
 * @ret:     array of *@ret_n, released with backend_list_free()
 *
 * A directory that matches `backends` of the profile is a backend if at least one of its maps',
 * grafts' or links' directories exists.
 */
int backend_list(int root_fd, const struct profile *p, struct diag *d, struct backend_info **ret,
		 size_t *ret_n);
void backend_list_free(struct backend_info *list, size_t n);

/**
 * backend_check - is there such a backend?
 *
 * Returns 0, or -ENOENT with a line in @d that names the backends there are.
 */
int backend_check(int root_fd, const struct profile *p, const char *name, struct diag *d);

#endif
