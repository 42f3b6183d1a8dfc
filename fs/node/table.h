/* SPDX-License-Identifier: MIT */
/*
 * The table of nodes: ids, names and the objects they stand for. It looks at no file system:
 * callers say what a look-up found, and the table decides whether that is the node it knows.
 *
 * An id is a counter's value and never used again. Another object at a place gets a new node, and
 * the old one loses the name but lives on as long as the kernel refers to it; a directory stays
 * the same node while there is a directory.
 *
 * A look-up looks at the layers without a lock, so it may come too late: seq counts the changes
 * of names made through the mount, and what was found before one and is entered after it is
 * refused.
 */
#ifndef SPECFS_NODE_TABLE_H
#define SPECFS_NODE_TABLE_H

#include "base/strbuf.h"
#include "base/strv.h"
#include "node/handle.h"
#include "node/node.h"
#include "node/snapshot.h"

/**
 * table_new - a table that holds the root alone
 * @slots, @snaps: borrowed; where nodes' descriptors and listings are
 */
int table_new(const struct found *root, struct slots *slots, struct snapshots *snaps,
	      struct table **ret);

/**
 * table_on_gone - call @fn for each directory that is freed while somebody watches it
 *
 * To be set before the first look-up. Called without a lock; the node has no name any more.
 */
void table_on_gone(struct table *t, void (*fn)(void *arg, struct node *n), void *arg);

/**
 * table_on_change - say what our own changes make untrue of what the kernel keeps
 * @renumbered: this node shows another inode number or count of names from now on, or is a
 *              directory that lists one which does
 * @strayed:    a name has lost its node, which was copied by another name, or leads nowhere
 *
 * To be set before the first look-up. Called with the table's lock: both may only take note.
 */
void table_on_change(struct table *t, void (*renumbered)(void *arg, uint64_t id),
		     void (*strayed)(void *arg, uint64_t dir, const char *name), void *arg);

/** table_on_parked - call @fn for each node that is freed while it is parked; otherwise as above */
void table_on_parked(struct table *t, void (*fn)(void *arg, struct node *n), void *arg);

/** table_free - nobody may be at work any more */
void table_free(struct table *t);

DEFINE_CLEANUP(table, struct table, table_free)
#define cleanup_table CLEANUP(cleanup_table_p)

/** table_get - the node with that id, referenced; -ESTALE if there is none */
int table_get(struct table *t, uint64_t id, struct node **ret);

/** table_known - the kernel, which knows that node, takes one more reference; -ENOENT if not */
int table_known(struct table *t, uint64_t id);

/** table_lookups - how many references the kernel holds, or is about to be told of */
uint64_t table_lookups(struct table *t, struct node *n);

/** table_forget - the kernel gives back @count references */
void table_forget(struct table *t, uint64_t id, uint64_t count);

/** table_count - nodes there are */
size_t table_count(struct table *t);

/**
 * table_trim - give memory back to the system if more than half of the nodes have gone
 *
 * Called after forgetting, with no lock held; again whenever another half has gone: what is left
 * may be scattered over all of the memory.
 */
void table_trim(struct table *t);

/** table_path - append the node's view path; -ESTALE if it or a directory above it has no name */
int table_path(struct table *t, struct node *n, struct strbuf *ret);

/**
 * table_where - the path, and what was found there: both of one and the same name
 *
 * A file with two names may be shown by another layer under each. @ret_found is set in any case.
 */
int table_where(struct table *t, struct node *n, struct strbuf *ret_path, struct found *ret_found);

/** table_place - the same, and the directory that it is in, referenced, and its name there */
int table_place(struct table *t, struct node *n, struct strbuf *ret_path,
		struct node **ret_parent);

/** table_seq - read before looking at the layers, for table_enter() and table_absent() */
uint64_t table_seq(struct table *t, struct node *dir);

/** table_turned - the directory may be another one in the layers: what was looked at before in it
 * comes too late */
void table_turned(struct table *t, struct node *dir);

/** table_child - the node known under a name, referenced, or NULL */
struct node *table_child(struct table *t, const struct node *dir, const char *text);

enum share { SHARE_ASK, SHARE_YES, SHARE_NO };

/* One result of a look-up on its way into the table. */
struct enter {
	struct node *dir;
	const char *name;
	const struct found *found;
	uint64_t seq;	    /* table_seq() from before; ignored if @own */
	bool own;	    /* our own change made it: counted, and never too late */
	enum share share;   /* may its node be shared with @other? */
	bool instead; /* with SHARE_NO: it is the one to ask for, from now on, in place of @other */
	struct node *other; /* out with ENTER_ASK, referenced; in with SHARE_YES */
	struct node *busy;  /* out with -EBUSY, referenced */
	struct node *lost;  /* out: a node that lost its last name, referenced, or NULL */
};

enum { ENTER_ASK = 1 };

/**
 * table_enter_nameless - our own change made a file without a name
 * @ret: as of table_enter()
 */
int table_enter_nameless(struct table *t, const struct found *f, struct node **ret);

/**
 * table_enter - a look-up found something: which node is it?
 * @ret: referenced for the caller and counted once for the kernel
 *
 * Returns 0; ENTER_ASK if @e->other, under another name, is the same object: the caller
 * decides whether they may be one node and calls again; -EAGAIN if names have changed since
 * @e->seq: look again; -EBUSY if @e->busy is just being changed by us: wait for its `busy` and
 * look again; -ENOMEM.
 */
int table_enter(struct table *t, struct enter *e, struct node **ret);

/**
 * table_absent - a look-up found nothing, or something that the node of that name is not
 * @ret_node: the node that lost its last name or, with -EBUSY, that is just being changed by us;
 *            referenced, or NULL
 *
 * Returns 0; -EAGAIN or -EBUSY as table_enter().
 */
int table_absent(struct table *t, struct node *dir, const char *name, uint64_t seq,
		 struct node **ret_node);

/**
 * table_refresh - @n was looked at again and is still the same object: remember @found
 * @parent: the directory it was looked up in as @name, NULL for the root
 * @seq:    of @parent, before; what comes too late is not remembered
 */
void table_refresh(struct table *t, struct node *n, struct node *parent, const char *name,
		   uint64_t seq, const struct found *found);

/** table_set_mode - we changed the permissions of the node's object */
void table_set_mode(struct table *t, struct node *n, mode_t mode);

/**
 * table_removed - we removed a name: it goes from the node that has it, and is counted
 * @orphan: what becomes of the node if that was its last name
 */
void table_removed(struct table *t, struct node *dir, const char *name, enum orphan orphan);

/**
 * table_moved - we renamed: @n has a new name instead of the old one
 * @n:     may be NULL if no node is known: then only whoever had the new name loses it
 * @found: what is at the new name now
 * @orphan: what becomes of a node that had the new name
 */
int table_moved(struct table *t, struct node *n, struct node *dir, const char *name,
		struct node *new_dir, const char *new_name, const struct found *found,
		enum orphan orphan);

/** table_exchanged - we exchanged two names; each node may be NULL */
int table_exchanged(struct table *t, struct node *dir_a, const char *name_a,
		    const struct found *at_a, struct node *dir_b, const char *name_b,
		    const struct found *at_b);

/**
 * table_changing - from now on another object at the node's place may be our own doing
 *
 * Caller holds node.busy and ends it with table_changed() before letting go.
 */
void table_changing(struct table *t, struct node *n);

/** table_is_changing - is it just now between the two? Its `busy` is held then */
bool table_is_changing(struct table *t, struct node *n);

/**
 * table_changed - the end of it: the node stands for @found from now on, or for what it did if NULL
 *
 * If it is another object than before, only the name that table_path() gives stays with the node.
 */
void table_changed(struct table *t, struct node *n, const struct found *found);

/** table_stray - by our own change the name leads to its node no more: have the kernel told */
void table_stray(struct table *t, struct node *dir, const char *name);

/** table_stray_all - the kernel counts fewer names than the object has: have it look up all */
void table_stray_all(struct table *t, struct node *n);

/**
 * table_recount - our own change has removed hard links by names that need not be known: what is
 * left of them counts fewer
 */
void table_recount(struct table *t);

/** table_set_orphan - say how a node without names may be changed */
void table_set_orphan(struct table *t, struct node *n, enum orphan orphan);

/**
 * table_renumber - the layers have got other indices
 * @map:   from each index to the new one; what has none of a layer in use is part of no directory
 * @root:  the root's node, @found: what it is now
 *
 * Nobody may be in the middle of a look at the layers meanwhile.
 */
void table_renumber(struct table *t, unsigned map[STACK_ALL], struct node *root,
		    const struct found *found);

/** table_orphan - how may it be changed? */
enum orphan table_orphan(struct table *t, struct node *n);

/** table_add_part - layer @layer has got a directory for @dir and for all above it */
void table_add_part(struct table *t, struct node *dir, unsigned layer);

/** table_kids - append the names known in a directory to @ret; 0 or -ENOMEM */
int table_kids(struct table *t, struct node *dir, struct strv *ret);

/** table_is_same - does @found describe the object that the node stands for? */
bool table_is_same(struct table *t, struct node *n, const struct found *found);

/**
 * table_below - all known nodes below a directory, parents first, each referenced
 * @ret: array of *@ret_n, freed by the caller after node_unref() of each
 */
int table_below(struct table *t, struct node *dir, struct node ***ret, size_t *ret_n);

#endif
