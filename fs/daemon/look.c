/* SPDX-License-Identifier: MIT */
/* Looks through our own mount: see look.h. */
#include "daemon/look.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "daemon/inval_impl.h"
#include "daemon/mounted.h"
#include "ops/attr.h"
#include "ops/hidden.h"
#include "ops/size.h"

enum {
	LOOKERS = 2,      /* one may wait for the READs: then the other finds the size lowered */
	MORE_MSEC = 10,   /* if it was told another one between them, both wait: one more looks */
	MAX_TRIES = 64,   /* a look is in vain if the kernel is told something else meanwhile */
	OPEN_MSEC = 1000, /* many times what opening takes if nobody has a directory locked */
	LIMIT_SEC = 2,    /* for a mount that can't be looked at any more */
};

/* A READ that found less than the kernel believes in. */
struct read_job {
	uint64_t id;
	fuse_req_t req;
	off_t end;
	size_t got;
	struct read_job *next;
	char data[];
};

/* Looks that are to make the kernel believe in no more than @size. Guarded by the lock. */
struct lowering {
	struct inval *i;       /* constant */
	uint64_t id;           /* constant */
	struct stat st;        /* constant */
	off_t size;            /* constant */
	off_t now;             /* what the kernel has then, if done */
	unsigned refs;
	unsigned looking;
	bool done;
	struct lowering *next; /* of those that somebody is looking for */
};

/*
 * What leads to the node is opened by a thread of its own: link(2) has the new name's directory
 * locked while it waits for the attributes of the file, and so for a look. If that directory is the
 * view's root, and the kernel does not know .specfs at the moment, who opens it waits for link(2).
 */
struct opening {
	struct inval *i;          /* constant */
	char name[SIZE_NAME_MAX]; /* constant */
	int fd;                   /* or a negative errno; guarded by the lock, as what follows */
	bool done;
	bool left;                /* nobody waits for it */
};

/* What is open leads to the node: have it asked for, and say what has become of that. */
static off_t ask(struct server *srv, int fd)
{
	struct statx st;

	if (!statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MTIME, &st)) {
		struct timespec mtime = { st.stx_mtime.tv_sec, st.stx_mtime.tv_nsec };

		size_look_sees(srv, &mtime);
	}
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_SIZE, &st) < 0 ||
	    statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_SIZE, &st) < 0)
		return -errno;
	return (off_t)st.stx_size;
}

/* Open what leads to the node. That name is not to keep it. */
static int open_name(struct inval *i, const char *name)
{
	cleanup_fd int root = mounted_open(i->mountpoint, i->device);
	char path[sizeof(HIDDEN_NAME) + SIZE_NAME_MAX];
	int fd;

	if (root < 0)
		return root;
	snprintf(path, sizeof(path), "%s/%s", HIDDEN_NAME, name);
	fd = openat(root, path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	(void)fuse_lowlevel_notify_inval_entry(i->fuse, HIDDEN_DIR, name, strlen(name));
	return fd;
}

static void opening_free(struct opening *o)
{
	if (o->fd >= 0)
		close(o->fd);
	free(o);
}

static void *opening_run(void *arg)
{
	struct opening *o = arg;
	struct inval *i = o->i;
	bool left;
	int fd;

	size_look_by_me(i->srv, o->name);
	fd = open_name(i, o->name);
	pthread_mutex_lock(&i->lock);
	o->fd = fd;
	o->done = true;
	left = o->left;
	if (left)
		opening_free(o);
	i->alive--;
	pthread_cond_broadcast(&i->done);
	pthread_cond_broadcast(&i->reads_more);
	pthread_mutex_unlock(&i->lock);
	return NULL;
}

/* Returns 0 once it is open or can't be, else the other thread frees @o. */
static int await_opening(struct opening *o)
{
	struct inval *i = o->i;
	const struct timespec until = due_after(OPEN_MSEC);
	pthread_t t;
	int r = 0;

	pthread_mutex_lock(&i->lock);
	if (pthread_create(&t, NULL, opening_run, o) != 0) {
		o->done = true;
	} else {
		pthread_detach(t);
		i->alive++;
	}
	while (!o->done && !i->stop && !r)
		r = -pthread_cond_timedwait(&i->reads_more, &i->lock, &until);
	r = o->done ? 0 : i->stop ? -ENXIO : -EAGAIN;
	o->left = r < 0;
	pthread_mutex_unlock(&i->lock);
	return r;
}

off_t look_at(void *inval, const char *name)
{
	struct inval *i = inval;
	struct opening *o = i->mountpoint ? malloc(sizeof(*o)) : NULL;
	off_t size;
	int r;

	if (!o)
		return -ENXIO;
	*o = (struct opening){ .i = i, .fd = -ENXIO };
	snprintf(o->name, sizeof(o->name), "%s", name);
	r = await_opening(o);
	if (r < 0)
		return r;
	size_look_by_me(i->srv, name);
	size = o->fd < 0 ? o->fd : ask(i->srv, o->fd);
	opening_free(o);
	return size == -EAGAIN ? -ENXIO : size;
}

void look_wait(void *inval, uint64_t id)
{
	struct inval *i = inval;

	pthread_mutex_lock(&i->lock);
	for (const struct lowering *w = i->lowerings; w && !i->stop;) {
		if (w->id != id) {
			w = w->next;
			continue;
		}
		pthread_cond_wait(&i->reads_more, &i->lock);
		w = i->lowerings;
	}
	pthread_mutex_unlock(&i->lock);
}

/* The lock is held. */
static void unref(struct lowering *w)
{
	if (!--w->refs)
		free(w);
}

/* One looks no more; the lock is held. */
static void end_look(struct lowering *w)
{
	struct lowering **p = &w->i->lowerings;

	if (!--w->looking) {
		while (*p != w)
			p = &(*p)->next;
		*p = w->next;
	}
	unref(w);
}

static bool is_done(struct lowering *w)
{
	bool done;

	pthread_mutex_lock(&w->i->lock);
	done = w->done;
	pthread_mutex_unlock(&w->i->lock);
	return done;
}

static void *look_run(void *arg)
{
	struct lowering *w = arg;
	struct inval *i = w->i;
	const struct size_ways ways = { .look = look_at, .arg = i };
	struct stat st = w->st; /* each its own: it is changed by looking */
	off_t now = 0;

	for (int k = 0; k < MAX_TRIES && now >= 0 && !is_done(w); k++) {
		now = size_bring(i->srv, w->id, &st, w->size, &ways);
		pthread_mutex_lock(&i->lock);
		if (!w->done && now >= 0 && now <= w->size) {
			w->now = now;
			w->done = true;
		}
		pthread_mutex_unlock(&i->lock);
	}
	pthread_mutex_lock(&i->lock);
	end_look(w);
	i->alive--;
	pthread_cond_broadcast(&i->done);
	pthread_cond_broadcast(&i->reads_more);
	pthread_mutex_unlock(&i->lock);
	return NULL;
}

/* The lock is held. */
static void begin_look(struct lowering *w)
{
	struct inval *i = w->i;
	pthread_t t;

	if (pthread_create(&t, NULL, look_run, w) != 0)
		return;
	pthread_detach(t);
	w->refs++;
	if (!w->looking++) {
		w->next = i->lowerings;
		i->lowerings = w;
	}
	i->alive++;
}

/* Returns whether there is nothing to wait for any more, after @msec at most; the lock is held. */
static bool await_look(struct lowering *w, long msec)
{
	struct inval *i = w->i;
	const struct timespec until = due_after(msec);

	while (w->looking && !w->done && !i->stop)
		if (pthread_cond_timedwait(&i->reads_more, &i->lock, &until) == ETIMEDOUT)
			return false;
	return true;
}

/*
 * Returns when the kernel believes in no more than @size, or when that can't be had. Of the looks
 * only one is certain to be over then.
 */
static void lower(struct inval *i, struct node *n, const struct stat *st, off_t size)
{
	struct lowering *w = malloc(sizeof(*w));
	long left = LIMIT_SEC * 1000L;

	if (!w)
		return;
	*w = (struct lowering){ .i = i, .id = n->id, .st = *st, .size = size, .refs = 1 };
	pthread_mutex_lock(&i->lock);
	size_lowering(n);
	for (int k = 0; k < LOOKERS; k++)
		begin_look(w);
	for (long msec = MORE_MSEC; left > 0 && !await_look(w, msec < left ? msec : left);
	     msec *= 2) {
		left -= msec;
		begin_look(w);
	}
	if (w->done)
		size_lower(n, w->now);
	unref(w);
	pthread_mutex_unlock(&i->lock);
}

bool look_read_later(void *inval, uint64_t id, fuse_req_t req, const void *data, size_t got,
		     off_t end)
{
	struct inval *i = inval;
	struct read_job *j = i->mountpoint ? malloc(sizeof(*j) + got) : NULL;

	if (!j)
		return false;
	*j = (struct read_job){ .id = id, .req = req, .end = end, .got = got };
	memcpy(j->data, data, got);
	pthread_mutex_lock(&i->lock);
	if (i->stop) {
		pthread_mutex_unlock(&i->lock);
		free(j);
		return false;
	}
	j->next = i->reads;
	i->reads = j;
	pthread_cond_broadcast(&i->reads_more);
	pthread_mutex_unlock(&i->lock);
	return true;
}

/* All that wait for the same node; the lock is held. */
static struct read_job *take_reads(struct inval *i)
{
	uint64_t id = i->reads->id;
	struct read_job *ret = NULL;

	for (struct read_job **p = &i->reads; *p;) {
		struct read_job *j = *p;

		if (j->id != id) {
			p = &j->next;
			continue;
		}
		*p = j->next;
		j->next = ret;
		ret = j;
	}
	return ret;
}

static void reply_reads(struct inval *i, struct read_job *first)
{
	cleanup_node struct node *n = NULL;
	off_t size = first->end;
	struct read_job *next;
	struct stat st;

	for (struct read_job *j = first; j; j = j->next)
		size = j->end < size ? j->end : size;
	if (table_get(i->srv->table, first->id, &n) == 0 && attr_get(i->srv, n, &st) == 0)
		lower(i, n, &st, size);
	for (struct read_job *j = first; j; j = next) {
		next = j->next;
		(void)fuse_reply_buf(j->req, j->data, j->got);
		free(j);
	}
}

void *look_reads_run(void *inval)
{
	struct inval *i = inval;

	pthread_mutex_lock(&i->lock);
	while (!i->stop || i->reads) {
		struct read_job *first = i->reads ? take_reads(i) : NULL;

		if (!first) {
			pthread_cond_wait(&i->reads_more, &i->lock);
			continue;
		}
		pthread_mutex_unlock(&i->lock);
		reply_reads(i, first);
		pthread_mutex_lock(&i->lock);
	}
	i->alive--;
	pthread_cond_broadcast(&i->done);
	pthread_mutex_unlock(&i->lock);
	return NULL;
}

void look_reads_free(struct inval *i)
{
	for (struct read_job *j = i->reads, *next; j; j = next) {
		next = j->next;
		(void)fuse_reply_err(j->req, EIO); /* for its memory's sake */
		free(j);
	}
}
