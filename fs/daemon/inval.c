/* SPDX-License-Identifier: MIT */
/* Invalidation: see inval.h. */
#include "daemon/inval.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "daemon/device.h"
#include "daemon/inval_impl.h"
#include "daemon/look.h"
#include "daemon/own.h"
#include "daemon/refresh.h"
#include "layer/workdir.h"
#include "ops/size.h"

enum {
	SAY_AGAIN_SEC = 60,
	MANY_JOBS = 4096, /* half a megabyte */
};

void inval_entry(struct inval *i, uint64_t dir, const char *name)
{
	(void)fuse_lowlevel_notify_inval_entry(i->fuse, dir, name, strlen(name)); /* see inval.h */
	atomic_fetch_add(&i->entries, 1);
	log_debug("inval", "entry %llu '%s'", (unsigned long long)dir, name);
}

/*
 * An entry that is dropped takes along whatever it leads to once the kernel gets the directory's
 * lock: somebody may have made a new directory of that name by then, and work or mount in it.
 * The price of asking again is that an answer that is under way, if it is to such a question, can
 * make the name of the old one valid once more. It is an empty directory then, in which look-ups
 * say ENOENT, until its name is dropped again.
 */
void inval_dir_entry(struct inval *i, uint64_t dir, const char *name, uint64_t id)
{
	device_expire_entry(i->fuse, dir, name);
	if (id)
		device_prune(i->fuse, id);
	atomic_fetch_add(&i->entries, 1);
	log_debug("inval", "directory %llu '%s'", (unsigned long long)dir, name);
}

void inval_barrier(struct inval *i, uint64_t dir)
{
	/* no name has a slash: the kernel finds nothing, once the directory's lock is free */
	(void)fuse_lowlevel_notify_inval_entry(i->fuse, dir, "/", 1);
}

/* Wait for answers about the directory's own name. False if it has none. */
static bool await_name_of(struct inval *i, uint64_t id)
{
	cleanup_node struct node *n = NULL;
	cleanup_node struct node *parent = NULL;
	cleanup_strbuf struct strbuf path = STRBUF_INIT;

	if (id == NODE_ROOT || table_get(i->srv->table, id, &n) < 0 || n->type != S_IFDIR ||
	    table_place(i->srv->table, n, &path, &parent) < 0)
		return false;
	inval_barrier(i, parent->id);
	return true;
}

/*
 * A directory that the kernel does not know may be just on its way there, with what is wrong by
 * now: it is watched from when it is looked up. A file's event names the directory that it is in,
 * and refresh.c waits for answers about that one.
 */
static void inval_inode(struct inval *i, uint64_t id, off_t from)
{
	if (fuse_lowlevel_notify_inval_inode(i->fuse, id, from, 0) == -ENOENT &&
	    await_name_of(i, id))
		(void)fuse_lowlevel_notify_inval_inode(i->fuse, id, from, 0); /* it knows none */
}

void inval_attr(struct inval *i, uint64_t id)
{
	inval_inode(i, id, -1);
	atomic_fetch_add(&i->attrs, 1);
	log_debug("inval", "attributes %llu", (unsigned long long)id);
}

void inval_listing(struct inval *i, uint64_t id)
{
	inval_inode(i, id, 0);
	atomic_fetch_add(&i->attrs, 1);
	log_debug("inval", "listing %llu", (unsigned long long)id);
}

/* Queue the pages of a node; the lock is held. Returns NULL if memory is short. */
static struct page_job *push_pages(struct inval *i, uint64_t id, bool drop)
{
	struct page_job *j;

	HASH_FIND(hh, i->pages_by_id, &id, sizeof(id), j);
	if (j) {
		j->drop = j->drop || drop;
		return j;
	}
	j = calloc(1, sizeof(*j));
	if (!j) {
		i->lost = true;
		pthread_cond_signal(&i->names_more);
		return NULL;
	}
	j->id = id;
	j->drop = drop;
	HASH_ADD(hh, i->pages_by_id, id, sizeof(id), j);
	*i->pages_last = j;
	i->pages_last = &j->next;
	i->pages_queued++;
	peak_note(&i->pages_peak, HASH_COUNT(i->pages_by_id));
	pthread_cond_signal(&i->pages_more);
	return j;
}

void inval_pages(struct inval *i, uint64_t id)
{
	pthread_mutex_lock(&i->lock); /* with attributes: a new size over old pages shows zeros */
	push_pages(i, id, true);
	pthread_mutex_unlock(&i->lock);
}

static void stale_data(void *arg, uint64_t id)
{
	inval_pages(arg, id);
}

static void on_loose(void *arg, uint64_t id)
{
	recheck_add(arg, id);
}

static bool attr_later(void *arg, uint64_t id, fuse_req_t req)
{
	struct inval *i = arg;
	struct page_job *j;
	fuse_req_t *more = NULL;

	pthread_mutex_lock(&i->lock);
	j = i->stop ? NULL : push_pages(i, id, false);
	if (j)
		more = reallocarray(j->waiting, j->n_waiting + 1, sizeof(fuse_req_t));
	if (more) {
		j->waiting = more;
		j->waiting[j->n_waiting++] = req;
	}
	pthread_mutex_unlock(&i->lock);
	return more != NULL;
}

/* The watcher's thread: queue, no more. */
static void on_event(void *arg, const struct watch_event *e)
{
	struct inval *i = arg;

	if (!(e->what & WATCH_OWN))
		view_changed(i->srv->view);
	pthread_mutex_lock(&i->lock);
	if ((e->what & WATCH_LOST) || !pending_push(&i->events_waiting, e))
		i->lost = true;
	peak_note(&i->events_peak, pending_count(&i->events_waiting));
	pthread_cond_signal(&i->names_more);
	pthread_mutex_unlock(&i->lock);
}

void inval_node(struct inval *i, uint64_t id, const char *name)
{
	struct watch_event e = { .dir = id, .what = WATCH_NODE, .name = name };

	on_event(i, &e);
}

struct follow *inval_follow(struct inval *i)
{
	return i->follow;
}

static void deal_with(struct inval *i, const struct pending *p)
{
	struct refresh r = { .srv = i->srv, .follow = i->follow, .inval = i };

	if (p->what & WATCH_NODE)
		refresh_node(&r, p->dir, pending_name(p));
	else if (!sync_is_event(i, p))
		refresh_event(&r, p->dir, pending_name(p), p->what);
}

/* One burst of changes may be lost in pieces: that is one line. Called by one thread only. */
static bool say_again(struct inval *i)
{
	struct timespec now;
	bool again;

	clock_gettime(CLOCK_MONOTONIC, &now);
	again = !i->said_sec || now.tv_sec - i->said_sec >= SAY_AGAIN_SEC;
	if (again)
		i->said_sec = now.tv_sec;
	return again;
}

/* @asked: of the syncs that were asked for before this look the events may be lost, too */
static void deal_with_loss(struct inval *i, uint64_t asked)
{
	struct refresh r = { .srv = i->srv, .follow = i->follow, .inval = i };

	if (say_again(i))
		log_warn("too many changes at once: looking through all that is cached");
	atomic_fetch_add(&i->trees, 1);
	inval_profile(i); /* of its file, too */
	due_sync(i);
	refresh_all(&r);
	pthread_mutex_lock(&i->lock);
	sync_seen(i, asked);
	pthread_mutex_unlock(&i->lock);
}

/* A thread ends; the lock is held. */
static void note_end(struct inval *i)
{
	i->alive--;
	pthread_cond_broadcast(&i->done);
}

/*
 * Nothing waits any more: give back what many that did have taken. Returns whether the lock, which
 * is held, was let go of meanwhile.
 */
static bool give_back(struct inval *i, struct peak *p)
{
	if (!peak_fell(p, 0, MANY_JOBS))
		return false;
	pthread_mutex_unlock(&i->lock);
	memory_give_back();
	pthread_mutex_lock(&i->lock);
	return true;
}

static void *names_run(void *arg)
{
	struct inval *i = arg;

	pthread_mutex_lock(&i->lock);
	while (!i->stop) {
		struct pending *p;
		bool lost = i->lost;
		uint64_t asked = i->sync_asked;

		if (due_profile(i))
			continue;
		p = pending_take(&i->events_waiting);
		if (!p && !lost && recheck_is_due(i)) {
			pthread_mutex_unlock(&i->lock);
			recheck_run(i);
			pthread_mutex_lock(&i->lock);
			continue;
		}
		if (!p && !lost) {
			if (!give_back(i, &i->events_peak))
				due_wait(i);
			continue;
		}
		i->lost = false;
		pthread_mutex_unlock(&i->lock);
		if (lost)
			deal_with_loss(i, asked);
		if (p)
			deal_with(i, p);
		free(p);
		pthread_mutex_lock(&i->lock);
	}
	note_end(i);
	pthread_mutex_unlock(&i->lock);
	return NULL;
}

static void drop_pages(void *arg, uint64_t id)
{
	struct inval *i = arg;

	(void)fuse_lowlevel_notify_inval_inode(i->fuse, id, 0, 0);
	atomic_fetch_add(&i->pages, 1);
	log_debug("inval", "pages %llu", (unsigned long long)id);
}

static void page_job_free(struct page_job *j)
{
	free(j->waiting);
	free(j);
}

static void *pages_run(void *arg)
{
	struct inval *i = arg;
	const struct size_ways ways = {
		.drop = drop_pages, .wait = look_wait, .look = look_at, .arg = i,
	};

	pthread_mutex_lock(&i->lock);
	while (!i->stop || i->pages_first) {
		struct page_job *j = i->pages_first;

		if (!j) {
			if (!give_back(i, &i->pages_peak))
				pthread_cond_wait(&i->pages_more, &i->lock);
			continue;
		}
		i->pages_first = j->next;
		if (!i->pages_first)
			i->pages_last = &i->pages_first;
		HASH_DEL(i->pages_by_id, j);
		pthread_mutex_unlock(&i->lock);
		size_settle(i->srv, j->id, j->drop, &ways, j->waiting, j->n_waiting);
		page_job_free(j);
		pthread_mutex_lock(&i->lock);
		i->pages_done++;
		pthread_cond_broadcast(&i->done);
	}
	note_end(i);
	pthread_mutex_unlock(&i->lock);
	return NULL;
}

static int on_dir(void *arg, struct node *dir, const struct dirset *parts, uint64_t seq)
{
	return follow_dir(inval_follow(arg), dir, parts, seq);
}

static bool is_followed(void *arg, const struct node *dir, const struct dirset *parts)
{
	return follow_is_right(inval_follow(arg), dir, parts);
}

static void on_gone(void *arg, struct node *dir)
{
	follow_gone(inval_follow(arg), dir);
}

int inval_new_unwatched(struct server *srv, struct fuse_session *fuse, struct inval **ret)
{
	struct inval *i = calloc(1, sizeof(*i));
	pthread_condattr_t attr;

	if (!i)
		return -ENOMEM;
	*i = (struct inval){ .srv = srv, .fuse = fuse, .sync_fd = -1 };
	pending_init(&i->events_waiting);
	i->pages_last = &i->pages_first;
	pthread_mutex_init(&i->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&i->names_more, &attr);
	pthread_cond_init(&i->reads_more, &attr);
	pthread_condattr_destroy(&attr);
	pthread_cond_init(&i->pages_more, NULL);
	pthread_cond_init(&i->done, NULL);
	srv->stale_data = stale_data;
	srv->attr_later = attr_later;
	srv->read_later = look_read_later;
	srv->watch_arg = i;
	*ret = i;
	return 0;
}

int inval_new(struct server *srv, struct fuse_session *fuse, struct inval **ret)
{
	struct inval *i;
	int r = inval_new_unwatched(srv, fuse, &i);

	if (r < 0)
		return r;
	r = follow_new(srv->view, on_event, i, &i->follow);
	if (r < 0) {
		inval_free(i);
		return r;
	}
	if (srv->view->work &&
	    follow_private(i->follow, srv->view->work->fd, &i->sync_dir) == 0)
		i->sync_fd = srv->view->work->fd;
	table_on_gone(srv->table, on_gone, i);
	srv->on_dir = on_dir;
	srv->is_followed = is_followed;
	srv->on_loose = on_loose;
	own_attach(srv, i);
	*ret = i;
	return 0;
}

void inval_repeat(struct inval *i, struct events *events)
{
	i->events = events;
}

void inval_mounted(struct inval *i, const char *mountpoint, dev_t device)
{
	i->mountpoint = mountpoint;
	i->device = device;
}

struct events *inval_events(struct inval *i)
{
	return i->events;
}

static int begin_thread(struct inval *i, pthread_t *t, void *(*run)(void *))
{
	int r;

	pthread_mutex_lock(&i->lock);
	r = -pthread_create(t, NULL, run, i);
	if (!r)
		i->alive++;
	pthread_mutex_unlock(&i->lock);
	return r;
}

int inval_begin(struct inval *i)
{
	int r = begin_thread(i, &i->pages_thread, pages_run);

	if (r < 0)
		return r;
	r = begin_thread(i, &i->reads_thread, look_reads_run);
	if (r < 0) {
		(void)inval_stop(i, 0);
		pthread_join(i->pages_thread, NULL);
		return r;
	}
	r = i->follow ? begin_thread(i, &i->names_thread, names_run) : 0;
	if (r < 0) {
		(void)inval_stop(i, 0);
		pthread_join(i->pages_thread, NULL);
		pthread_join(i->reads_thread, NULL);
		return r;
	}
	i->running = true;
	return 0;
}

bool inval_stop(struct inval *i, int limit_msec)
{
	struct timespec until;
	bool ended;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += limit_msec / 1000;
	pthread_mutex_lock(&i->lock);
	i->stop = true;
	pthread_cond_broadcast(&i->names_more);
	pthread_cond_broadcast(&i->pages_more);
	pthread_cond_broadcast(&i->reads_more);
	pthread_cond_broadcast(&i->done);
	while (i->alive && pthread_cond_timedwait(&i->done, &i->lock, &until) != ETIMEDOUT)
		;
	ended = !i->alive;
	pthread_mutex_unlock(&i->lock);
	return ended;
}

bool inval_is_stopping(struct inval *i)
{
	bool stop;

	pthread_mutex_lock(&i->lock);
	stop = i->stop;
	pthread_mutex_unlock(&i->lock);
	return stop;
}

/* Looks end with the connection at the latest. */
static void end_looks(struct inval *i)
{
	pthread_mutex_lock(&i->lock);
	while (i->alive)
		pthread_cond_wait(&i->done, &i->lock);
	pthread_mutex_unlock(&i->lock);
}

void inval_end(struct inval *i)
{
	if (!i || !i->running)
		return;
	(void)inval_stop(i, 0);
	if (i->follow)
		pthread_join(i->names_thread, NULL);
	pthread_join(i->pages_thread, NULL);
	pthread_join(i->reads_thread, NULL);
	end_looks(i);
	i->running = false;
}

void inval_free(struct inval *i)
{
	struct page_job *j;
	struct page_job *j_next;

	if (!i)
		return;
	if (i->srv->watch_arg == i) {
		own_detach(i->srv);
		table_on_gone(i->srv->table, NULL, NULL);
		i->srv->on_dir = NULL;
		i->srv->is_followed = NULL;
		i->srv->stale_data = NULL;
		i->srv->attr_later = NULL;
		i->srv->read_later = NULL;
		i->srv->on_loose = NULL;
	}
	follow_free(i->follow);
	pending_clear(&i->events_waiting);
	HASH_ITER(hh, i->pages_by_id, j, j_next) {
		HASH_DEL(i->pages_by_id, j);
		for (size_t k = 0; k < j->n_waiting; k++)
			(void)fuse_reply_err(j->waiting[k], EIO); /* for its memory's sake */
		page_job_free(j);
	}
	free(i->loose);
	look_reads_free(i);
	pthread_cond_destroy(&i->done);
	pthread_cond_destroy(&i->reads_more);
	pthread_cond_destroy(&i->pages_more);
	pthread_cond_destroy(&i->names_more);
	pthread_mutex_destroy(&i->lock);
	free(i);
}

void inval_path(struct inval *i, const char *path)
{
	struct refresh r = { .srv = i->srv, .follow = i->follow, .inval = i };

	refresh_path(&r, path);
}

void inval_stats(struct inval *i, struct inval_stats *ret, struct watch_stats *watch)
{
	pthread_mutex_lock(&i->lock);
	*ret = (struct inval_stats){
		.entries = atomic_load(&i->entries),
		.attrs = atomic_load(&i->attrs),
		.pages = atomic_load(&i->pages),
		.trees = atomic_load(&i->trees),
		.loose = i->n_loose,
		.pending = pending_count(&i->events_waiting) + HASH_COUNT(i->pages_by_id),
	};
	pthread_mutex_unlock(&i->lock);
	if (watch)
		follow_stats(i->follow, watch);
}
