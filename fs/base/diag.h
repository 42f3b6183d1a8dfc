/* SPDX-License-Identifier: MIT */
/*
 * What a user must fix: messages of the form "file:line: what, and what was expected", collected
 * where they arise and shown by the command. The first one is what a failed call is about.
 */
#ifndef SPECFS_BASE_DIAG_H
#define SPECFS_BASE_DIAG_H

#include "base/strv.h"

struct diag {
	struct strv lines;
};

#define DIAG_INIT { STRV_INIT }

/**
 * diag_add - record one message and return @r
 * @file: source of the fault, or NULL
 * @line: line in @file; 0 if it concerns no line
 */
int diag_add(struct diag *d, int r, const char *file, unsigned line, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

void diag_clear(struct diag *d);

static inline void cleanup_diag_p(struct diag *d)
{
	diag_clear(d);
}

#define cleanup_diag CLEANUP(cleanup_diag_p)

#endif
