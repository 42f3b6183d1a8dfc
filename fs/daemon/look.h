/* SPDX-License-Identifier: MIT */
/*
 * Looks at nodes through our own mount, so that the kernel takes the attributes that the answer
 * has: see ops/size.h. One that lowers a size waits for the READs that are under way where the
 * pages are to be cut; where these wait for the size, many threads look.
 */
#ifndef SPECFS_DAEMON_LOOK_H
#define SPECFS_DAEMON_LOOK_H

#include "daemon/inval.h"

/**
 * look_at - for struct size_ways; @inval is the struct inval
 *
 * Takes a second at most until the node is open.
 */
off_t look_at(void *inval, const char *name);

/** look_wait - for struct size_ways */
void look_wait(void *inval, uint64_t id);

/** look_read_later - for struct server */
bool look_read_later(void *inval, uint64_t id, fuse_req_t req, const void *data, size_t got,
		     off_t end);

/** look_reads_run - reply to these READs; a thread's main function, until inval_stop() */
void *look_reads_run(void *inval);

/** look_reads_free - of what is left once the threads have ended */
void look_reads_free(struct inval *i);

#endif
