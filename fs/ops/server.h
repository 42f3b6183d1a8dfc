/* SPDX-License-Identifier: MIT */
/*
 * The server: a mounted view, its nodes and what the requests share. The daemon makes one and gives
 * server_ops to its FUSE session; see node.h for the locks.
 */
#ifndef SPECFS_OPS_SERVER_H
#define SPECFS_OPS_SERVER_H

#include <fuse_lowlevel.h>
#include <pthread.h>

#include "layer/view.h"
#include "node/table.h"
#include "ops/caller.h"

/* Kinds of requests that are counted. */
enum request_kind {
	REQ_LOOKUP,
	REQ_FORGET,
	REQ_GETATTR,
	REQ_SETATTR,
	REQ_READLINK,
	REQ_STATFS,
	REQ_OPEN,
	REQ_OPENDIR,
	REQ_READDIR,
	REQ_READDIRPLUS,
	REQ_CREATE,
	REQ_READ,
	REQ_WRITE,
	REQ_FSYNC,
	REQ_FALLOCATE,
	REQ_LSEEK,
	REQ_COPY,
	REQ_MKNOD,
	REQ_MKDIR,
	REQ_SYMLINK,
	REQ_LINK,
	REQ_UNLINK,
	REQ_RMDIR,
	REQ_RENAME,
	REQ_GETXATTR,
	REQ_LISTXATTR,
	REQ_SETXATTR,
	REQ_IOCTL,
	REQ_KINDS,
};

/** request_kind_name - "lookup", "readdirplus", ... */
const char *request_kind_name(enum request_kind kind);

/* How the kernel may cache; the daemon decides. */
struct server_config {
	double timeout_sec;  /* of names, negative names and attributes */
	bool cache_listings; /* the kernel may keep a directory's listing */
	bool auto_inval;     /* pages go when size or mtime differ from what the kernel knew */
	bool readonly;
};

struct server {
	struct view *view;	     /* borrowed */
	struct server_config config; /* constant */
	struct table *table;
	struct slots *slots;
	struct snapshots *snaps;
	pthread_rwlock_t tree; /* see node.h */
	bool tree_is_written;  /* tree, held for writing */
	struct parts *parts;   /* directories that the last requests worked in */
	bool keep_parts;       /* somebody drops them when it gets quiet; constant */
	struct hidden *hidden; /* what .specfs shows */
	struct size_looks *looks;
	struct echo *echo;     /* borrowed; NULL: changes underneath are not repeated */
	bool is_root;	       /* we may open what modes forbid; constant */
	bool no_open;	       /* the kernel goes on when OPEN is unknown; set by INIT */
	bool no_opendir;
	_Atomic bool root_told; /* the kernel has got attributes of the root */
	_Atomic uint64_t requests[REQ_KINDS];
	_Atomic int64_t refused_sec; /* when a refusal was last logged, monotonic; 0: never */

	/* set by the daemon before the first request */
	/* the kernel has said hello */
	void (*on_init)(void *arg, const struct fuse_conn_info *conn);
	int (*content)(void *arg, const char *name, struct strbuf *ret);
	/* append the content of .specfs/@name; -ENOENT */
	/* the kernel is to ask for a node's attributes, and to take none of replies to what it has
	 * asked before; -ENOENT if it knows no such node; waits for nothing; may be NULL */
	int (*stale_attr)(void *arg, uint64_t id);

	/* a directory that is to be redirected was made in directory @dir; must not block; may be
	 * NULL */
	void (*on_wanted)(void *arg, uint64_t dir, const char *path);
	/* a name is looked up by thread @who while such directories are being mounted: wait for
	 * that one, but not for long */
	void (*await_wanted)(void *arg, uint64_t dir, const char *name, pid_t who);
	atomic_uint n_mounting; /* how many are: without any, nobody waits */

	/* a directory is about to be read: watch it first; -EAGAIN: by now it may be another one
	 * than at @seq, before it was opened; may be NULL */
	int (*on_dir)(void *arg, struct node *dir, const struct dirset *parts, uint64_t seq);
	/* is it watched as the directories that it is, and not as others? */
	bool (*is_followed)(void *arg, const struct node *dir, const struct dirset *parts);
	/* a directory stands for other ones in the layers now: watch none of the old */
	void (*on_moved)(void *arg, struct node *dir);
	/* a directory may have gone with the last name in it */
	void (*on_emptied)(void *arg, struct node *dir);
	/* the kernel's pages, or listing, of a node may be wrong; must not block; may be NULL */
	void (*stale_data)(void *arg, uint64_t id);
	/* reply to GETATTR once its size is settled, by size_settle(); false: reply yourself */
	bool (*attr_later)(void *arg, uint64_t id, fuse_req_t req);
	/* reply to READ with @got bytes of @data once the kernel knows that the file ends there, at
	 * @end; false: reply yourself */
	bool (*read_later)(void *arg, uint64_t id, fuse_req_t req, const void *data, size_t got,
			   off_t end);
	/* nobody will tell of changes of this file; must not block; may be NULL */
	void (*on_loose)(void *arg, uint64_t id);
	void *watch_arg;        /* of the eight above */
	void *arg;
};

/**
 * server_new - a server for a view
 * @v:         borrowed
 * @max_files: descriptors it may keep open between requests
 */
int server_new(struct view *v, const struct server_config *c, size_t max_files,
	       struct server **ret);
void server_free(struct server *srv);

DEFINE_CLEANUP(server, struct server, server_free)
#define cleanup_server CLEANUP(cleanup_server_p)

extern const struct fuse_lowlevel_ops server_ops;

/** server_of - the server that a request is for; counts the request */
struct server *server_of(fuse_req_t req, enum request_kind kind);

/** server_caller - who makes the request */
struct caller server_caller(fuse_req_t req);

/** server_node - the node with that id, referenced; -ESTALE, or -EROFS for what is in .specfs */
int server_node(struct server *srv, uint64_t id, struct node **ret);

/**
 * server_open - call @fn(@arg), which opens a descriptor, and once more with room made for it if
 * there was none left
 *
 * Returns what @fn does: a descriptor, 0 or a negative errno.
 */
int server_open(struct server *srv, int (*fn)(void *arg), void *arg);

/** server_open_file - stack_open_file(), with room made for a descriptor if there was none left */
int server_open_file(struct server *srv, const char *path, const struct found *f, int flags);

#endif
