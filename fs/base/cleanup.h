/* SPDX-License-Identifier: MIT */
/*
 * Scope-bound release of what a local owns. A local declared with one of these attributes is
 * released at the end of its scope; steal_ptr() and steal_fd() take it out of that duty.
 */
#ifndef SPECFS_BASE_CLEANUP_H
#define SPECFS_BASE_CLEANUP_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CLEANUP(fn) __attribute__((cleanup(fn)))

/** DEFINE_CLEANUP - declare cleanup function cleanup_@name_p for pointers to @type freed by @fn */
#define DEFINE_CLEANUP(name, type, fn)                                                             \
	static inline void cleanup_##name##_p(type **p)                                            \
	{                                                                                          \
		if (*p)                                                                            \
			fn(*p);                                                                    \
	}

static inline void cleanup_free_p(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_fd_p(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_file_p(FILE **f)
{
	if (*f)
		fclose(*f);
}

static inline void cleanup_dir_p(DIR **d)
{
	if (*d)
		closedir(*d);
}

#define cleanup_free CLEANUP(cleanup_free_p)
#define cleanup_fd CLEANUP(cleanup_fd_p)
#define cleanup_file CLEANUP(cleanup_file_p)
#define cleanup_dir CLEANUP(cleanup_dir_p)

/** steal_ptr - return what *@pp points to and leave NULL behind: ownership moves to the caller */
#define steal_ptr(pp)                                                                              \
	__extension__({                                                                            \
		__typeof__(*(pp)) stolen_ = *(pp);                                                 \
		*(pp) = NULL;                                                                      \
		stolen_;                                                                           \
	})

/** steal_fd - return *@fd and leave -1 behind */
static inline int steal_fd(int *fd)
{
	int stolen = *fd;

	*fd = -1;
	return stolen;
}

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif
