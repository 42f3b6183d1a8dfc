/* SPDX-License-Identifier: MIT */
/* Events for who watches inside: see events.h. */
#include "daemon/events.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "daemon/repeat.h"
#include "daemon/watchers.h"
#include "ops/place.h"

enum {
	ANSWER_MSEC = 1000, /* for one change; what it tells the kernel goes on after that */
	PROBE_MSEC = 5000,
	END_MSEC = 2000,
};

/* Is the helper known by its process? What can't be told apart must not be asked to do anything. */
enum proof { PROOF_NONE, PROOF_GOOD, PROOF_BAD };

struct events {
	struct server *srv;             /* constant */
	struct echo *echo;              /* constant */
	dev_t device;                   /* constant */
	pid_t pid;                      /* constant */
	struct watchers *watchers;      /* constant from events_begin() on */
	int fd;                         /* the helper's */

	/* of the thread that tells */
	enum proof proof;
	bool waiting;                   /* no answer to the last one yet */

	atomic_uint_fast64_t told;
	atomic_uint_fast64_t dropped;
};

int events_new(struct server *srv, const char *mountpoint, dev_t device, struct events **ret)
{
	struct events *v = calloc(1, sizeof(*v));
	int r;

	if (!v)
		return -ENOMEM;
	*v = (struct events){ .srv = srv, .device = device, .fd = -1 };
	r = echo_new(&v->echo);
	if (!r) {
		v->pid = repeat_start(mountpoint, device, &v->fd);
		r = v->pid < 0 ? (int)v->pid : 0;
	}
	if (r < 0) {
		echo_free(v->echo);
		free(v);
		return r;
	}
	echo_set_helper(v->echo, v->pid);
	srv->echo = v->echo;
	*ret = v;
	return 0;
}

int events_begin(struct events *v)
{
	return watchers_new(v->device, &v->watchers);
}

/* It ends by itself once nobody holds its other end, unless it waits for an answer of the mount. */
static void end_helper(pid_t pid)
{
	static const struct timespec pause = { .tv_nsec = 5000000 };

	for (int msec = 0; msec < END_MSEC; msec += 5) {
		if (waitpid(pid, NULL, WNOHANG) != 0)
			return;
		if (msec >= END_MSEC / 2)
			(void)kill(pid, SIGKILL); /* our own child, not waited for yet */
		nanosleep(&pause, NULL);
	}
}

void events_free(struct events *v)
{
	if (!v)
		return;
	watchers_free(v->watchers);
	close(v->fd);
	end_helper(v->pid);
	v->srv->echo = NULL;
	echo_free(v->echo);
	free(v);
}

/* Wait for the helper's answer. */
static bool answered(struct events *v, int limit_msec)
{
	struct pollfd p = { .fd = v->fd, .events = POLLIN };
	char byte;

	return poll(&p, 1, limit_msec) == 1 && recv(v->fd, &byte, 1, MSG_DONTWAIT) == 1;
}

/* Have the helper do it. Returns whether it has, and its request was seen. */
static bool repeat(struct events *v, const struct repeat *r, uint64_t dir, int limit_msec)
{
	size_t len = offsetof(struct repeat, dir) + strlen(r->dir) + 1;

	echo_begin(v->echo, r->kind, dir, r->name, r->type);
	if (send(v->fd, r, len, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)len) {
		(void)echo_end(v->echo);
		return false;
	}
	v->waiting = !answered(v, limit_msec);
	return !v->waiting && echo_end(v->echo);
}

/* The kernel must name the helper's process in its requests: not in every container it does. */
static bool prove(struct events *v)
{
	struct repeat r = { .kind = ECHO_PROBE, .type = S_IFREG };
	uint64_t chosen = 0;

	if (v->proof != PROOF_NONE)
		return v->proof == PROOF_GOOD;
	(void)!getrandom(&chosen, sizeof(chosen), 0);
	snprintf(r.name, sizeof(r.name), ".specfs-probe-%016" PRIx64, chosen);
	v->proof = repeat(v, &r, NODE_ROOT, PROBE_MSEC) ? PROOF_GOOD : PROOF_BAD;
	if (v->proof == PROOF_BAD)
		log_warn("programs that watch in the mount are not told of changes underneath: the "
			 "helper process is not known by its requests");
	return v->proof == PROOF_GOOD;
}

/* Is the one before done? The helper may have been held up. */
static bool is_free(struct events *v)
{
	if (v->waiting && answered(v, 0)) {
		v->waiting = false;
		(void)echo_end(v->echo);
	}
	return !v->waiting;
}

static bool is_watched(struct events *v, struct node *dir, struct node *child)
{
	struct found f;

	node_found(dir, &f);
	if (watchers_has(v->watchers, f.st.st_ino))
		return true;
	if (!child)
		return false;
	node_found(child, &f);
	return watchers_has(v->watchers, f.st.st_ino);
}

static int path_of(struct server *srv, struct node *dir, char ret[PATH_MAX])
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	int r;

	tree_read(srv);
	r = table_path(srv->table, dir, &path);
	tree_done(srv);
	if (!r && path.len >= PATH_MAX)
		r = -ENAMETOOLONG;
	if (!r)
		memcpy(ret, path.len ? path.buf : "", path.len + 1);
	return r;
}

bool events_tell(struct events *v, enum echo_kind kind, uint64_t dir, const char *name,
		 mode_t type, struct node *child)
{
	cleanup_node struct node *n = NULL;
	struct repeat r = { .kind = kind, .type = type };

	if (!v || v->proof == PROOF_BAD || !watchers_count(v->watchers) ||
	    table_get(v->srv->table, dir, &n) < 0 || !is_watched(v, n, child))
		return false;
	strncpy(r.name, name, sizeof(r.name) - 1);
	if (path_of(v->srv, n, r.dir) < 0)
		return false; /* no name leads there any more: nobody can be told by one */
	if (is_free(v) && prove(v) && repeat(v, &r, dir, ANSWER_MSEC)) {
		atomic_fetch_add(&v->told, 1);
		return true;
	}
	atomic_fetch_add(&v->dropped, 1);
	return false;
}

void events_stats(struct events *v, struct events_stats *ret)
{
	*ret = (struct events_stats){
		.watched = watchers_count(v->watchers),
		.told = atomic_load(&v->told),
		.dropped = atomic_load(&v->dropped),
	};
}
