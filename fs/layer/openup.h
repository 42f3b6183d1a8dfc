/* SPDX-License-Identifier: MIT */
/*
 * Directories that deny their owner, and yet have to take a copy or be read: the kernel has judged
 * the caller by what the view shows, but an ordinary user's daemon is judged once more, by the
 * layer's directory. It makes its own ones permit it for a moment. Nothing here does anything for
 * root.
 */
#ifndef SPECFS_LAYER_OPENUP_H
#define SPECFS_LAYER_OPENUP_H

#include <sys/types.h>

enum {
	OPENUP_WRITE = 0300,
	OPENUP_READ = 0500,
};

struct openup {
	int fd;	     /* borrowed */
	mode_t mode; /* to be given back; 0: nothing was changed */
};

/**
 * openup_begin - give directory @fd (O_PATH will do) the permissions @need for its owner
 *
 * What cannot be given is not: the caller's own call then fails as it would have.
 */
void openup_begin(int fd, mode_t need, struct openup *ret);

/** openup_end - the mode is what it was; @fd must still be open */
void openup_end(const struct openup *o);

#endif
