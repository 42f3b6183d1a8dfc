/* SPDX-License-Identifier: MIT */
/*
 * Refreshing: a name or a directory may have changed in a layer; look at it, and tell the kernel
 * what it may not believe any more. The rules are kernel's: an entry before its inode, a directory
 * that is still one is never detached.
 */
#ifndef SPECFS_DAEMON_REFRESH_H
#define SPECFS_DAEMON_REFRESH_H

#include "daemon/inval.h"

/* What refreshing works with; borrowed. */
struct refresh {
	struct server *srv;
	struct follow *follow;
	struct inval *inval;
};

/** refresh_event - deal with one event of the watcher; @what: WATCH_* */
void refresh_event(const struct refresh *r, uint64_t watch_id, const char *name, unsigned what);

/**
 * refresh_files - find changes of files that no event told of: through shared maps, or through
 * another name of a hard link; looks at every file that the kernel knows
 */
void refresh_files(const struct refresh *r);

/** refresh_file - the same for one file; false if it is no more known */
bool refresh_file(const struct refresh *r, uint64_t id);

/** refresh_path - the name at a view path may lead elsewhere now, or what is below has changed */
void refresh_path(const struct refresh *r, const char *path);

/**
 * refresh_rules - the view goes by other rules: look at what they may show otherwise
 * @places: of the view; "" is all of it
 *
 * What is still the same is not told; pages belong to files, and stay.
 */
void refresh_rules(const struct refresh *r, const struct strv *places);

/** refresh_all - anything may have changed: look through all that the kernel knows */
void refresh_all(const struct refresh *r);

/**
 * refresh_node - our own change made something untrue of a directory of the view
 * @id:   its node
 * @name: look at this name again; or "/": at all that it has now; or "": it has lost a name, and
 *        may have gone, as may have those above it, if they were there only for what was in them
 */
void refresh_node(const struct refresh *r, uint64_t id, const char *name);

#endif
