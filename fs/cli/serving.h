/* SPDX-License-Identifier: MIT */
/*
 * Who serves a mounted view, and does it still? Told from records and /proc where possible; a mount
 * is touched only if they say nothing, and then with a limit.
 */
#ifndef SPECFS_CLI_SERVING_H
#define SPECFS_CLI_SERVING_H

#include <stdint.h>

#include "cli/record.h"

enum serving_state {
	SERVING_ALIVE,
	SERVING_DEAD,           /* the process is gone, the mount is left */
	SERVING_DYING,          /* killed, but held in the kernel until the connection is aborted */
	SERVING_SILENT,         /* does not answer in time, and no process is to be seen */
	SERVING_UNKNOWN,        /* somebody else's mount; the caller may not look */
};

struct serving {
	enum serving_state state;
	pid_t pid;              /* 0: not known */
	uint64_t start;
	json_t *record;         /* what the view is made of; NULL: not known */
};

/** serving_find - fill @ret for mount @m; release with serving_clear() */
void serving_find(const struct mount_entry *m, struct serving *ret);
void serving_clear(struct serving *s);

static inline void cleanup_serving_p(struct serving *s)
{
	serving_clear(s);
}

#define cleanup_serving CLEANUP(cleanup_serving_p)

/** serving_is_lost - must the mount be cleared away, because nobody will ever answer there? */
bool serving_is_lost(const struct serving *s);

/** serving_word - "alive", "dead", "not answering" or "unknown" */
const char *serving_word(const struct serving *s);

#endif
