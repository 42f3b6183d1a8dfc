/* SPDX-License-Identifier: MIT */
/* A session's fields, for the files of this folder. */
#ifndef SPECFS_DAEMON_SESSION_IMPL_H
#define SPECFS_DAEMON_SESSION_IMPL_H

#include <pthread.h>
#include <time.h>

#include "daemon/inval.h"
#include "daemon/limits.h"
#include "daemon/session.h"
#include "ops/server.h"

struct binder;
struct reread;
struct socket_server;

struct session {
	struct view *view; /* borrowed */
	struct server *srv;
	struct fuse_session *fuse;
	char *mountpoint;
	char *source;
	enum cache_mode cache;
	double ttl_sec;
	bool readonly;
	_Atomic bool io_uring; /* asked for, and from INIT on: agreed to by the kernel */
	struct socket_server *socket; /* while the loop runs; NULL without one */
	struct events *events; /* NULL if not asked for */
	struct reread *reread; /* of the profile */
	void (*on_rules)(void *arg, const struct view *v); /* see session.h; may be NULL */
	void *on_rules_arg;
	struct inval *inval; /* CACHE_AUTO, if something can be watched; else NULL */
	struct inval *sizes; /* without that one, what tells sizes */
	bool mounted; /* by us, in our own mount namespace */
	dev_t device; /* of the mount */
	struct limits limits;
	struct timespec started;
	int ready_fd; /* -1 once somebody was told */
	struct binder *binder; /* mounts redirected directories; NULL without any */

	/* stop.c, while the loop runs */
	pthread_t main;	   /* in fuse_session_loop_mt() */
	pthread_t watcher; /* waits for signals */
	pthread_t ager;	   /* closes descriptors for writing */
	int signal_fd;
	int end_fd; /* readable once the loop has ended */
	_Atomic bool ended;
};

/* What tells the kernel, whatever it tells; NULL early in a session's life only. */
static inline struct inval *session_teller(const struct session *s)
{
	return s->inval ? s->inval : s->sizes;
}

#endif
