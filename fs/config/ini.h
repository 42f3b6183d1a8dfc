/* SPDX-License-Identifier: MIT */
/*
 * Reading an INI file through inih, line by line and without its silent cuts: what inih would
 * shorten, drop or misread is told to the user instead.
 */
#ifndef SPECFS_CONFIG_INI_H
#define SPECFS_CONFIG_INI_H

#include <stdbool.h>

#include "base/diag.h"

/* Where a message belongs. */
struct ini_place {
	struct diag *diag;
	const char *file;
	unsigned line;
};

#define ini_fault(at, ...) diag_add((at)->diag, -EINVAL, (at)->file, (at)->line, __VA_ARGS__)

/*
 * What the reader reports. A handler that returns -EINVAL has told the user, and reading goes on
 * for further faults; any other negative errno ends it.
 */
struct ini_handler {
	/* A header "[kind name]"; @name is "" if there is none. */
	int (*section)(void *arg, const struct ini_place *at, const char *kind, const char *name);
	/* A value; with @more it continues the previous one, on an indented line of its own. */
	int (*value)(void *arg, const struct ini_place *at, const char *key, const char *value,
		     bool more);
};

/**
 * ini_read_file - read @file and report what is in it
 *
 * Returns 0, -EINVAL if anything was faulty, or what reading the file or a handler gave; each with
 * at least one line in @d, -ENOMEM excepted.
 */
int ini_read_file(const char *file, struct diag *d, const struct ini_handler *h, void *arg);

#endif
