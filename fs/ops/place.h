/* SPDX-License-Identifier: MIT */
/*
 * A place: a directory of the view while a request works in it. Its path stays true and its parts
 * stay open until place_close().
 */
#ifndef SPECFS_OPS_PLACE_H
#define SPECFS_OPS_PLACE_H

#include "ops/parts.h"
#include "ops/server.h"

struct place {
	struct server *srv; /* NULL: closed */
	struct node *dir;   /* referenced */
	struct strbuf path; /* of dir */
	struct found found; /* of dir, as the last look-up saw it */
	uint64_t seq;	    /* of dir, before anything was looked at */
	struct dirset parts;
	struct parts_mark mark; /* of the parts; without an id if they are not to be kept */
	uint64_t marks;		/* of the view, from before anything was done */
	bool is_heard;		/* of what others do in it */
	bool shares;		/* the parts are another place's */
	struct strbuf child; /* path of the name at hand: place_child_path() */
	bool holds_tree;
};

#define PLACE_INIT                                        \
	{                                                 \
		.path = STRBUF_INIT, .child = STRBUF_INIT \
	}

/**
 * place_open - open the directory with that id, and read-hold the tree
 *
 * Returns 0; -ENOENT if it has been removed; -ENOTDIR, -ESTALE.
 */
int place_open(struct server *srv, uint64_t id, struct place *ret);

/** place_open_held - the same while the caller holds the tree, for reading or writing */
int place_open_held(struct server *srv, uint64_t id, struct place *ret);

/**
 * place_open_parent - the directory that @n is in; *@ret_name is its name there
 *
 * The caller holds the tree. Returns -ESTALE if it has no name. Not for the root.
 */
int place_open_parent(struct server *srv, struct node *n, struct place *ret,
		      char ret_name[NAME_MAX + 1]);

/** place_share - the same place a second time; @p must be closed after it */
int place_share(const struct place *p, struct place *ret);

/** place_in - its parts, for struct change_name; NULL where nobody tells of what others do in it */
static inline const struct dirset *place_in(const struct place *p)
{
	return p->is_heard ? &p->parts : NULL;
}

/** place_close - close the parts and let go of the tree; nothing if it is not open */
void place_close(struct place *p);

static inline void cleanup_place_p(struct place *p)
{
	place_close(p);
}

#define cleanup_place CLEANUP(cleanup_place_p)

/**
 * place_add_part - our own change may have given @dir, and directories above it, a part in @layer
 *
 * What the kernel keeps of them stays true, so that nobody need ask again: a new part is opened,
 * and so watched, now. The caller holds the tree.
 */
void place_add_part(struct server *srv, struct node *dir, unsigned layer);

/**
 * place_marked - what was done may have put a mark into the open directory's part in scratch
 *
 * Look-ups have to see it, also if they did not know so far that scratch has a part.
 */
void place_marked(const struct place *p);

/**
 * place_moved - directory @dir, which the kernel knows, stands for other ones in the layers now
 *
 * They are watched instead of the old ones, and the kernel asks again what is in them. The caller
 * holds the tree.
 */
void place_moved(struct server *srv, struct node *dir);

/**
 * place_is_followed - is directory @dir, which was moved, watched as what it is?
 *
 * It may be another one than the kernel was told of, if others have put it there and we have not
 * heard of that yet. The caller holds the tree.
 */
bool place_is_followed(struct server *srv, const struct node *dir);

/** place_emptied - a name in the open directory went: it may have been there only for that one */
void place_emptied(const struct place *p);

/** place_child - what the directory shows under a name; as stack_child() */
int place_child(struct place *p, const char *name, struct found *ret);

/**
 * place_child_path - view path of a name in it, valid until the next call; NULL if out of memory
 */
const char *place_child_path(struct place *p, const char *name);

/**
 * place_new_mode - the mode that a new object gets of what was asked for
 *
 * The umask counts, unless the directory has a default ACL: then the layer's file system applies
 * that instead. Source: umask(2), acl(5).
 */
mode_t place_new_mode(const struct place *p, mode_t mode, mode_t mask);

/** tree_read, tree_write, tree_done - hold and let go of the tree */
void tree_read(struct server *srv);
void tree_write(struct server *srv);
void tree_done(struct server *srv);

#endif
