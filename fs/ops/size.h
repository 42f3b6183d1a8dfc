/* SPDX-License-Identifier: MIT */
/*
 * Sizes of files, as the kernel knows them, and the zeros that it makes up. A page that was read
 * when the file was shorter, or cut where the file ended then, holds zeros after that end. They
 * are harmless while the kernel's size ends there, too. So this must hold at any time:
 *
 *   the size that the kernel has is no larger than the end of the data in any page that it has.
 *
 * A reply that tells another size changes the kernel's at once, but cuts the pages there only when
 * the asking thread gets on. That may be after the kernel has learned of a larger size, and has
 * read the new end. A READ that returns less than was asked for lowers the kernel's size, but not
 * if anything was told about the file, or its pages were dropped, since the kernel asked. Hence:
 *
 *   told_end  is what the kernel has. Replies tell that and nothing else (size_tell), so that they
 *             change nothing. Those to GETATTR wait until it is true again (size_is_news). One
 *             that brings a name waits until what was told of the node before has arrived, since
 *             that may be older and leave time (size_await); and since it can change the kernel's
 *             size if that was settled meanwhile, it is looked at again afterwards (size_told).
 *   data_end  is the least end of what was read since the pages were dropped (size_read), and of
 *             what looks told since: the kernel may cut there, at any time, what it has read.
 *   Another size is brought to the kernel by a look of the daemon's own at the node, which is over
 *   when its pages are cut, too: by size_settle(), once the old pages were dropped, and not beyond
 *   data_end.
 *   Replies that the kernel takes at any age may tell what it had before: a look waits for those
 *   that were made up earlier (firm.h). Where who takes one gets no time to run, that is too
 *   short: for as long as it may come the kernel is to ask again, and then the size is settled.
 *   A READ that finds less than the kernel believes in is replied to once a look has made the
 *   kernel believe in that much only.
 *
 * Sizes are told with LOOKUP, READDIRPLUS, MKNOD, CREATE, TMPFILE, LINK and SETATTR (size_tell),
 * GETATTR (size_is_news, then size_tell or size_settle), READ (size_read). What the mount itself
 * writes and cuts, by WRITE, FALLOCATE, COPY_FILE_RANGE and SETATTR, changes both ends with the
 * kernel's own (size_own, size_set). A notify tells none; the kernel asks after it.
 *
 * Where the daemon does not see its own mount, replies tell the new size after the drop, and short
 * READs are replied to at once.
 */
#ifndef SPECFS_OPS_SIZE_H
#define SPECFS_OPS_SIZE_H

#include <sys/stat.h>

#include "ops/server.h"

/* What the daemon lends. */
struct size_ways {
	/* drop the kernel's pages of a node */
	void (*drop)(void *arg, uint64_t id);
	/* wait until no other thread is looking at the node; of those that begin later the caller
	 * sees what they did before, size_lowering() above all */
	void (*wait)(void *arg, uint64_t id);
	/* look up @name in .specfs of the mount and ask for the attributes of what is there;
	 * returns the size that the kernel has then, or a negative errno: -EAGAIN if that takes
	 * too long, perhaps because who has a directory locked waits for what comes of the look */
	off_t (*look)(void *arg, const char *name);
	void *arg;
};

/* What was there before a change of the mount's own. */
struct size_ends {
	uint64_t told;
	uint64_t data;
};

/** size_own - the mount itself is about to write up to @end: the kernel will know that size */
void size_own(struct node *n, off_t end, struct size_ends *ret_before);

/** size_undo - it has written up to @done only */
void size_undo(struct node *n, off_t end, off_t done, const struct size_ends *before);

/** size_set - the mount itself sets this size, and the kernel cuts or fills its pages to it */
void size_set(struct node *n, off_t size);

/**
 * size_read - a READ of @size bytes at @offset is about to get @got of them
 *
 * Returns true if the kernel believes in more: the reply has to wait.
 */
bool size_read(struct server *srv, struct node *n, off_t offset, size_t size, size_t got);

/**
 * size_tell - @st is about to be told, and may be kept for @timeout_sec
 *
 * Takes what is news out of both, and returns whether anything was. If it leaves no time, the
 * caller calls size_told() after that.
 */
bool size_tell(struct server *srv, struct node *n, struct stat *st, double *timeout_sec);

/**
 * size_await - @st is about to be told of node @id with no time, together with a name
 *
 * Waits until the kernel has got, or will not get, what earlier replies tell of the node: they may
 * have left it time, and the name would lead there. When this returns the kernel is to ask again.
 * Not with a lock held: others may wait for 20 ms.
 */
void size_await(struct server *srv, uint64_t id, const struct stat *st);

/** size_has_arrived - the same without waiting: false if such a reply may still be on its way */
bool size_has_arrived(struct server *srv, uint64_t id, const struct stat *st);

/**
 * size_told - a reply has told @st of node @id, and that it is to be asked for again
 *
 * Has the size settled if that is news, or if the kernel may have been given another one by it than
 * it had got meanwhile. Does nothing about what is not a file.
 */
void size_told(struct server *srv, uint64_t id, const struct stat *st);

/**
 * size_is_news - has @st another size than the kernel knows, by another's doing, or may it have got
 * an old one since?
 */
bool size_is_news(const struct server *srv, const struct node *n, const struct stat *st);

/**
 * size_settle - bring the kernel to a node's size, then tell its attributes to those who wait
 * @drop:    its pages are to go even if the size is what the kernel knows
 * @waiting: @n requests for the node's attributes, replied to
 *
 * May wait for a READ or WRITE that is under way, so not to be called by who serves those. One
 * thread at a time.
 */
void size_settle(struct server *srv, uint64_t id, bool drop, const struct size_ways *ways,
		 fuse_req_t *waiting, size_t n);

/** size_lowering - looks that make the kernel believe in less are about to begin */
void size_lowering(struct node *n);

/** size_lower - the kernel has been brought to @size */
void size_lower(struct node *n, off_t size);

/**
 * size_bring - have the kernel take a size for node @id, and the other attributes of @st
 * @size: -1 for the one that it has at that very moment, with its other attributes
 * @st:   becomes what the file had then
 *
 * By a name that only the calling thread can look up. Any number of threads at a time. Returns the
 * size that the kernel has then, or -ENXIO if the mount is not to be seen.
 */
off_t size_bring(struct server *srv, uint64_t id, struct stat *st, off_t size,
		 const struct size_ways *ways);

/**
 * size_look_sees - the kernel has that mtime of what the calling thread is looking at
 *
 * A look that is to tell a size tells the same: it need not wait for the pages to go.
 */
void size_look_sees(struct server *srv, const struct timespec *mtime);

enum { SIZE_NAME_MAX = 40 }; /* such a name, with its NUL */

/** size_look_by_me - what asks for the look of that name, if it is under way, is this thread */
void size_look_by_me(struct server *srv, const char *name);

/** size_looked_up - answer a look-up if it is of such a look; false if it is not */
bool size_looked_up(struct server *srv, fuse_req_t req, uint64_t dir, const char *name);

/** size_looked - answer a request for attributes if it is such a look; false if it is not */
bool size_looked(struct server *srv, fuse_req_t req, uint64_t id);

/** size_looks_new - with nobody looking */
int size_looks_new(struct size_looks **ret);
void size_looks_free(struct size_looks *l);

#endif
