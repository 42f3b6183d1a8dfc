/* SPDX-License-Identifier: MIT */
/* How many threads and open files a daemon may have, from what the system allows it. */
#ifndef SPECFS_DAEMON_LIMITS_H
#define SPECFS_DAEMON_LIMITS_H

#include <stddef.h>

struct limits {
	unsigned threads; /* that answer requests */
	size_t files;	  /* descriptors kept open between requests */
};

/**
 * limits_set - raise the soft limit of open files to the hard one, and share out what there is
 * @threads: wanted number of threads; 0: by the number of CPUs
 *
 * With few descriptors there are fewer threads, for each needs some while it answers.
 */
void limits_set(unsigned threads, struct limits *ret);

#endif
