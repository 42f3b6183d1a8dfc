/* SPDX-License-Identifier: MIT */
/*
 * A node: what the kernel knows by a number, one object at a place of the view. Nodes belong to a
 * table, which says how they get and lose their names; see table.h. A node's descriptors are
 * handle.h's, a directory's listing snapshot is snapshot.h's.
 *
 * Locks, in the order in which they are taken:
 *
 *   tree       paths stay true while it is read-held, and so do the view's rules and layers;
 *              renaming a directory write-holds it, as does an exchange of the rules
 *   node_begin one change of the object at a time, copy-up included; two nodes: smaller id first
 *   table.lock ids, names, what was found; never held over a system call
 *   slots.lock, snapshots.lock
 */
#ifndef SPECFS_NODE_NODE_H
#define SPECFS_NODE_NODE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/hashset.h"
#include "node/seen.h"

struct table;
struct handle;
struct snapshot;

enum {
	NODE_ROOT = 1,	 /* id of the root */
	NODE_FIRST = 16, /* of the next one; those between are the server's own */
};

/* The descriptors a node may hold. */
enum handle_kind {
	HANDLE_READ,  /* O_RDONLY */
	HANDLE_WRITE, /* O_RDWR, or O_WRONLY where reading is not allowed */
	HANDLE_PATH,  /* O_PATH: keeps a file alive that can't be opened */
	HANDLE_KINDS,
};

/* How a node that has lost its last name may still be changed, through descriptors. */
enum orphan {
	ORPHAN_NOT,    /* it has a name */
	ORPHAN_OWN,    /* in place: the object is gone from its layer, or belongs there as it is */
	ORPHAN_HIDDEN, /* it was only hidden from the view and its layer still shows it to others:
			* a change needs a copy that nobody else sees */
};

/* One name of a node: the daemon's side of a dentry. Guarded by table.lock. */
struct name {
	struct node *parent; /* pinned by this */
	struct node *node;
	struct name *next;     /* the node's other names */
	struct name *kid_next; /* the parent's other names */
	struct name *kid_prev;
	struct hashed hashed;
	uint32_t hash; /* of the parent's id and the text */
	uint8_t layer; /* the owner, as seen under this name */
	bool via_link;
	char text[];
};

/* There may be millions: what is added here costs a megabyte for each byte. */
struct node {
	uint64_t id;	     /* constant */
	struct table *table; /* constant */

	/* table.lock */
	struct hashed by_id;
	struct hashed by_object; /* in the table of objects if `is_object` */
	uint64_t nlookup;	 /* references the kernel holds */
	struct name *names;
	struct name *kids; /* directories: the known names in it */
	union {
		uint64_t seq; /* directories: counts changes of names made through the mount */
		_Atomic uint64_t data_end; /* files, no lock: see size.h, and 1 */
	};
	struct seen seen; /* by the last look-up, of the first of its names */
	unsigned refs;	  /* requests at work, and names in this directory */
	mode_t type;	  /* constant: S_IFREG, S_IFDIR, ... */
	uint8_t orphan;	  /* enum orphan */
	bool is_object;
	bool changing; /* our own change is about to give it another object */
	bool busy;     /* between node_begin() and node_end() */

	_Atomic bool nameless;	/* mirrors `names == NULL`, for slots.lock holders */
	_Atomic bool parked;	/* its object has a name where no view shows it */
	_Atomic bool unwatched; /* something that may change it is not: nothing of it is cached */
	_Atomic bool settling;	/* files: told_end and data_end are being put right */
	_Atomic bool doubtful;	/* files: what told_end is about may have changed, or pages */
	_Atomic bool resized;	/* files: others have changed its size before */
	_Atomic bool lowered;	/* files: looks have begun for READs that wait for the size */
	_Atomic bool overtaken; /* files: a reply to SETATTR or LINK may come after a look */
	atomic_uint firm_unsent; /* such replies that are made up or sent just now, see firm.h */
	union {
		_Atomic uint64_t watched;  /* directories: layers whose part is watched */
		_Atomic uint64_t read_end; /* files: the most that was read, see size.h, and 1 */
	};
	_Atomic uint64_t stamp;	   /* files nobody tells of: of times and size last told; 0: none */
	_Atomic uint64_t told_end; /* files: the size that the kernel knows, and 1; 0: none yet */
	_Atomic int64_t firm_sent_nsec; /* when the last was sent, monotonic; 0: never */
	struct handle *handles;	   /* slots.lock: its descriptors, at most one of a kind */
	struct snapshot *snapshot; /* snapshots.lock */
};

/** node_ref - take a further reference */
struct node *node_ref(struct node *n);

/**
 * node_unref - give one back; the node is freed once neither a request, a name in it nor the
 * kernel refers to it. Takes table.lock; closes descriptors
 */
void node_unref(struct node *n);

/**
 * node_begin - wait until nobody else changes the node's object, then it is ours to change
 *
 * Ended by node_end(); takes table.lock. The node is referenced by the caller.
 */
void node_begin(struct node *n);
void node_end(struct node *n);

DEFINE_CLEANUP(node, struct node, node_unref)
#define cleanup_node CLEANUP(cleanup_node_p)

/** node_found - what the last look-up found, as far as seen.h keeps it */
void node_found(struct node *n, struct found *ret);

#endif
