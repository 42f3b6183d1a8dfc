/* SPDX-License-Identifier: MIT */
/*
 * A session: one view, mounted. Sets up the FUSE session, its worker threads and their end. The
 * command decides what is mounted where and in which process.
 */
#ifndef SPECFS_DAEMON_SESSION_H
#define SPECFS_DAEMON_SESSION_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/diag.h"
#include "layer/view.h"

enum cache_mode {
	CACHE_AUTO,     /* the kernel caches, a watcher tells it what changed underneath */
	CACHE_STRICT,   /* nothing is cached without asking */
	CACHE_TTL,      /* the kernel caches for ttl_sec */
};

/* What becomes of the profile's [redirect]; see layer/redirect.h. */
enum redirect_mode {
	REDIRECTS_AUTO,         /* bind mounts, else symlinks where git does not see them */
	REDIRECTS_BIND,
	REDIRECTS_SYMLINK,
	REDIRECTS_NONE,
};

struct session_options {
	const char *mountpoint;         /* real path of an existing directory */
	enum cache_mode cache;
	double ttl_sec;                 /* CACHE_TTL */
	bool readonly;
	bool allow_other;
	bool allow_root;
	bool events;                    /* repeat changes underneath for who watches inside */
	bool noexec;                    /* no program may be run from the view */
	bool io_uring;                  /* requests come over io_uring, not by reading the device */
	enum redirect_mode redirect;
	unsigned max_threads;           /* 0: chosen from the number of CPUs */
	bool debug_fuse;                /* libfuse prints every request to stderr */
	const char *source;             /* first field of the mount table */
	int mounted_fd;                 /* device of a mount made elsewhere; -1: mount here */
	dev_t device;                   /* number of that mount */
	/* the view goes by another profile's file now, or by other rules of it; no lock is held,
	 * and the rules stay until it returns. May be NULL */
	void (*on_rules)(void *arg, const struct view *v);
	void *on_rules_arg;
};

struct session;

/**
 * session_open_device - open /dev/fuse to mount with it
 *
 * Returns a descriptor, or -ENOENT or -EACCES with what to do in @d.
 */
int session_open_device(struct diag *d);

/**
 * session_new - mount a view
 * @v: borrowed; outlives the session
 *
 * The mount exists afterwards, but nobody answers before session_loop(). A mount that was made in
 * another namespace is taken over with its descriptor, @o->mounted_fd; it is not looked for in the
 * mount table and never unmounted by path, and who made it also makes the bind mounts in it.
 * Returns 0, -ENOENT or -EACCES (no /dev/fuse, with what to do in @d), -EOPNOTSUPP (no io_uring,
 * likewise), or what mounting gave.
 */
int session_new(struct view *v, const struct session_options *o, struct diag *d,
		struct session **ret);

/**
 * session_loop - answer requests until the mount is gone
 * @ready_fd: gets one byte once requests are answered and directories are redirected, then is
 *            closed; -1: nobody waits
 *
 * SIGTERM, SIGINT and SIGHUP unmount; with a mount made elsewhere they wait a while for its end.
 * Returns 0, or a negative errno if the session broke.
 */
int session_loop(struct session *s, int ready_fd);

/** session_free - unmount if need be and release everything */
void session_free(struct session *s);

DEFINE_CLEANUP(session, struct session, session_free)
#define cleanup_session CLEANUP(cleanup_session_p)

#endif
