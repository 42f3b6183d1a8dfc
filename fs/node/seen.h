/* SPDX-License-Identifier: MIT */
/*
 * What a look-up found, as a node remembers it: a third of struct found, for there may be millions
 * of nodes. Of the owner's stat it keeps what may differ from what the view shows: which object it
 * is, and its permissions. A directory's times and link count are the view's in both.
 */
#ifndef SPECFS_NODE_SEEN_H
#define SPECFS_NODE_SEEN_H

#include <stdbool.h>
#include <stdint.h>

#include "layer/stack.h"

/* Which object of which file system a node stands for. */
struct object_key {
	uint64_t dev;
	uint64_t ino;
	uint64_t btime_nsec;
};

struct seen {
	struct object_key key; /* of the owner's object */
	uint64_t ino;	       /* that the view shows */
	uint64_t parts;
	uint64_t rdev;
	int64_t size;
	int64_t blocks;
	int64_t atime_sec;
	int64_t mtime_sec;
	int64_t ctime_sec;
	uint32_t atime_nsec;
	uint32_t mtime_nsec;
	uint32_t ctime_nsec;
	uint32_t uid;
	uint32_t gid;
	uint32_t nlink;
	uint32_t blksize;
	uint16_t mode;
	uint16_t owner_mode;
	uint32_t generation;
	uint8_t layer;
	bool via_link : 1;
	bool virtual : 1;
	bool implied : 1;
	bool lent : 1;
};

/** object_key - by what an object is known */
static inline struct object_key object_key(const struct object *o)
{
	return (struct object_key){
		.dev = o->st.st_dev,
		.ino = o->st.st_ino,
		.btime_nsec = o->btime_nsec,
	};
}

/** object_key_same - are they of one object? */
static inline bool object_key_same(const struct object_key *a, const struct object_key *b)
{
	return a->ino == b->ino && a->dev == b->dev && a->btime_nsec == b->btime_nsec;
}

/** seen_set - remember @f */
void seen_set(struct seen *s, const struct found *f);

/** seen_get - what is remembered, as a look-up gives it */
void seen_get(const struct seen *s, struct found *ret);

#endif
