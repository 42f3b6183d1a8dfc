/* SPDX-License-Identifier: MIT */
/* Sizes: see size.h. An end is kept as the size and 1, so that 0 says that there is none. */
#include "ops/size.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ops/attr.h"
#include "ops/entry.h"
#include "ops/firm.h"
#include "ops/hidden.h"
#include "ops/reply.h"

enum {
	MAX_TRIES = 16, /* each further one means that the file was changed once more */
	AGAIN_NSEC = 200000, /* before the first one, and that much more before each */
	READERS_NSEC = 3000000,
	ARRIVE_NSEC = 100000,
	ARRIVE_MAX = 200, /* 20 ms: many times what a reply takes to arrive */
	NAME_SEC = 1, /* a look's name is valid for it; nobody else knows it */
};

struct look {
	pid_t who; /* the thread */
	uint64_t id;
	off_t size; /* to be told; -1: what the file has */
	struct stat st;
	uint64_t told_end; /* the node's, when that was told */
	bool seen;
	struct look *next;
	char name[SIZE_NAME_MAX];
};

struct size_looks {
	atomic_uint n;
	pthread_mutex_t lock; /* guards what follows */
	struct look *first;
};

static uint64_t end_of(off_t size)
{
	return (uint64_t)size + 1;
}

static void raise_end(_Atomic uint64_t *end, uint64_t to)
{
	uint64_t was = atomic_load(end);

	while (was && was < to && !atomic_compare_exchange_weak(end, &was, to))
		;
}

static void lower_end(_Atomic uint64_t *end, uint64_t to)
{
	uint64_t was = atomic_load(end);

	while ((!was || was > to) && !atomic_compare_exchange_weak(end, &was, to))
		;
}

void size_own(struct node *n, off_t end, struct size_ends *ret_before)
{
	ret_before->told = atomic_load(&n->told_end);
	ret_before->data = atomic_load(&n->data_end);
	raise_end(&n->data_end, end_of(end));
	raise_end(&n->told_end, end_of(end));
}

static void back_to(_Atomic uint64_t *end, uint64_t from, uint64_t before, off_t done)
{
	uint64_t to = before && before < end_of(done) ? end_of(done) : before;

	if (before && to < from) /* something else since: not ours to say */
		(void)atomic_compare_exchange_strong(end, &from, to);
}

void size_undo(struct node *n, off_t end, off_t done, const struct size_ends *before)
{
	back_to(&n->told_end, end_of(end), before->told, done);
	back_to(&n->data_end, end_of(end), before->data, done);
}

void size_set(struct node *n, off_t size)
{
	atomic_store(&n->data_end, end_of(size));
	atomic_store(&n->told_end, end_of(size));
}

/* Does the kernel believe in more than it has data of? */
static bool is_beyond(const struct node *n)
{
	uint64_t data = atomic_load(&n->data_end);

	return data && data < atomic_load(&n->told_end);
}

bool size_read(struct server *srv, struct node *n, off_t offset, size_t size, size_t got)
{
	uint64_t end = end_of(offset + (off_t)got);
	uint64_t most = atomic_load(&n->read_end);

	if (!srv->stale_data)
		return false;
	while (most < end && !atomic_compare_exchange_weak(&n->read_end, &most, end))
		;
	if (got >= size)
		return false;
	lower_end(&n->data_end, end_of(offset + (off_t)got));
	if (!is_beyond(n))
		return false;
	atomic_store(&n->resized, true);
	srv->stale_data(srv->watch_arg, n->id);
	return end_of(offset + (off_t)got) < atomic_load(&n->told_end);
}

/* Is it another size than the kernel knows? */
static bool is_other(const struct server *srv, const struct node *n, const struct stat *st)
{
	uint64_t told = atomic_load(&n->told_end);

	return n->type == S_IFREG && srv->stale_data && told &&
	       (told != end_of(st->st_size) || is_beyond(n) || atomic_load(&n->settling) ||
		atomic_load(&n->doubtful));
}

bool size_is_news(const struct server *srv, const struct node *n, const struct stat *st)
{
	return is_other(srv, n, st) || atomic_load(&n->overtaken);
}

bool size_tell(struct server *srv, struct node *n, struct stat *st, double *timeout_sec)
{
	uint64_t none = 0;
	uint64_t end;
	uint64_t data;

	if (n->type != S_IFREG || !srv->stale_data)
		return false;
	/* the first one ever comes with no pages */
	(void)atomic_compare_exchange_strong(&n->told_end, &none, end_of(st->st_size));
	if (!is_other(srv, n, st)) {
		if (atomic_load(&n->overtaken))
			*timeout_sec = 0;
		return false;
	}
	end = atomic_load(&n->told_end);
	data = atomic_load(&n->data_end);
	st->st_size = (off_t)(data && data < end ? data : end) - 1;
	*timeout_sec = 0;
	atomic_store(&n->doubtful, true);
	return true;
}

/* The node, if the kernel may have another size of it than we think, or was told an old one. */
static struct node *doubtful_file(struct server *srv, uint64_t id, const struct stat *st)
{
	struct node *n = NULL;

	if (!S_ISREG(st->st_mode) || !srv->stale_data || table_get(srv->table, id, &n) < 0)
		return NULL;
	if (atomic_load(&n->told_end) != end_of(st->st_size))
		atomic_store(&n->doubtful, true);
	if (atomic_load(&n->doubtful))
		return n;
	node_unref(n);
	return NULL;
}

/* Has the kernel got what earlier replies tell of the node, and is that too old now? */
static bool has_arrived(struct server *srv, struct node *n)
{
	return srv->stale_attr(srv->arg, n->id) != -ENOENT || table_lookups(srv->table, n) <= 1;
}

bool size_has_arrived(struct server *srv, uint64_t id, const struct stat *st)
{
	cleanup_node struct node *n = doubtful_file(srv, id, st);

	return !n || has_arrived(srv, n);
}

void size_await(struct server *srv, uint64_t id, const struct stat *st)
{
	static const struct timespec pause = { .tv_nsec = ARRIVE_NSEC };
	cleanup_node struct node *n = doubtful_file(srv, id, st);

	for (int i = 0; n && i < ARRIVE_MAX && !has_arrived(srv, n); i++)
		(void)nanosleep(&pause, NULL); /* cut short: looks sooner */
}

void size_told(struct server *srv, uint64_t id, const struct stat *st)
{
	cleanup_node struct node *n = doubtful_file(srv, id, st);

	if (n)
		srv->stale_data(srv->watch_arg, id);
}

static void look_begin(struct size_looks *all, struct look *l)
{
	l->who = gettid();
	snprintf(l->name, sizeof(l->name), "=%" PRIu64 ".%d", l->id, (int)l->who);
	pthread_mutex_lock(&all->lock);
	l->next = all->first;
	all->first = l;
	atomic_fetch_add(&all->n, 1);
	pthread_mutex_unlock(&all->lock);
}

void size_look_by_me(struct server *srv, const char *name)
{
	pthread_mutex_lock(&srv->looks->lock);
	for (struct look *l = srv->looks->first; l; l = l->next)
		if (!strcmp(l->name, name))
			l->who = gettid();
	pthread_mutex_unlock(&srv->looks->lock);
}

static void look_end(struct size_looks *all, struct look *l)
{
	struct look **p = &all->first;

	pthread_mutex_lock(&all->lock);
	while (*p != l)
		p = &(*p)->next;
	*p = l->next;
	atomic_fetch_sub(&all->n, 1);
	pthread_mutex_unlock(&all->lock);
}

/*
 * What is told of a file, @st or @size: no more than was read, and no less than that if the kernel
 * believes in more, too: it would fill with zeros what is left of a page that somebody is reading.
 * Nor more than another look has told: the pages end there once that one gets on.
 */
static off_t fit(struct node *n, const struct stat *st, off_t size, uint64_t *ret_told_end)
{
	uint64_t end = end_of(size < 0 ? st->st_size : size);
	uint64_t told;
	uint64_t data;
	uint64_t to;

	if (size < 0) /* a READ that finds less from now on finds that it is less */
		raise_end(&n->told_end, end);
	told = *ret_told_end = atomic_load(&n->told_end);
	data = atomic_load(&n->data_end);
	if (size >= 0 && told && told < end)
		end = told; /* another look has lowered it more */
	if (size < 0 && end < told && atomic_load(&n->read_end) > end)
		end = told;
	do
		to = data && data < end ? data : end;
	while (!atomic_compare_exchange_weak(&n->data_end, &data, to));
	return (off_t)to - 1;
}

/*
 * If a size is to be told, the rest is what the file had a moment ago: where pages go with another
 * mtime, a look would wait for them, see size_look_sees(). But with a number of links of before ln
 * the kernel would count down to none, and make no further link.
 */
static void refill(struct server *srv, struct node *n, struct look *l)
{
	struct stat now;

	if (attr_get(srv, n, &now) < 0)
		return;
	if (l->size < 0)
		l->st = now;
	else
		l->st.st_nlink = now.st_nlink;
}

/* Sets @l to what the file has, and @ret to what is told of that. */
static void fill(struct server *srv, struct look *l, struct stat *ret)
{
	cleanup_node struct node *n = NULL;

	if (table_get(srv->table, l->id, &n) == 0) {
		refill(srv, n, l);
		*ret = l->st;
		ret->st_size = fit(n, &l->st, l->size, &l->told_end);
		if (firm_is_recent(n))
			atomic_store(&n->overtaken, true);
	} else {
		*ret = l->st;
	}
}

/*
 * Firm replies (firm.h) may have been made up with what the kernel had before, and arrive after the
 * look. Those that are made up from now on tell no more than the look is going to.
 */
static void await_firm(struct server *srv, struct look *l)
{
	cleanup_node struct node *n = NULL;
	struct stat told;

	if (table_get(srv->table, l->id, &n) < 0 || !firm_is_under_way(n))
		return;
	if (l->size < 0) {
		fill(srv, l, &told);
		l->size = told.st_size; /* it is not to run after one that grows all the time */
	}
	firm_wait(n);
}

/* @told_end: becomes the node's as it was when the size was told */
static off_t bring(struct server *srv, uint64_t id, struct stat *st, off_t size,
		   const struct size_ways *ways, uint64_t *told_end)
{
	struct look l = { .id = id, .st = *st, .size = size };
	off_t now;

	await_firm(srv, &l);
	look_begin(srv->looks, &l);
	now = ways->look(ways->arg, l.name);
	look_end(srv->looks, &l);
	if (now < 0 || !l.seen)
		return now == -EAGAIN ? now : -ENXIO;
	*st = l.st;
	*told_end = l.told_end;
	return now;
}

off_t size_bring(struct server *srv, uint64_t id, struct stat *st, off_t size,
		 const struct size_ways *ways)
{
	uint64_t told_end;

	return bring(srv, id, st, size, ways, &told_end);
}

void size_lowering(struct node *n)
{
	atomic_store(&n->lowered, true);
}

void size_lower(struct node *n, off_t size)
{
	lower_end(&n->told_end, end_of(size));
}

/*
 * Who was waiting for pages of that READ may have got hold of an older one before, and is going to
 * ask how far it goes once it gets on: it is to hear of the smaller size.
 */
static void let_readers_on(void)
{
	static const struct timespec pause = { .tv_nsec = READERS_NSEC };

	(void)nanosleep(&pause, NULL); /* if it is cut short, there is a signal: the end */
}

/*
 * No look is under way that might still have to cut pages where the file ended then. One that
 * begins after that marks the node.
 */
static void await_looks(struct node *n, const struct size_ways *ways)
{
	bool lowered = atomic_exchange(&n->lowered, false);

	ways->wait(ways->arg, n->id);
	if (lowered)
		let_readers_on();
}

/*
 * Was the kernel brought to a size while a firm reply might still come, which brings back another
 * one and cuts pages there? It stays so while one might.
 */
static bool is_overtaken(struct node *n)
{
	bool is = atomic_exchange(&n->overtaken, false);

	if (is && firm_is_recent(n))
		atomic_store(&n->overtaken, true);
	return is;
}

/*
 * One try. Returns 1 if the kernel has the size that is in @ret or can't be brought to one now, 0
 * if it has another one.
 */
static int settle_once(struct server *srv, struct node *n, const struct size_ways *ways,
		       struct stat *ret)
{
	bool doubtful = atomic_exchange(&n->doubtful, false);
	uint64_t told;
	off_t now;
	int r;

	await_looks(n, ways);
	doubtful = is_overtaken(n) || doubtful;
	r = attr_get(srv, n, ret);
	if (r < 0)
		return r;
	told = atomic_load(&n->told_end);
	atomic_store(&n->data_end, 0);
	atomic_store(&n->read_end, 0);
	ways->drop(ways->arg, n->id);
	ways->wait(ways->arg, n->id);
	if (!told || (told == end_of(ret->st_size) && !doubtful))
		return 1;
	atomic_store(&n->resized, true);
	if (atomic_load(&n->lowered))
		return 0;
	now = bring(srv, n->id, ret, -1, ways, &told);
	if (now == -EAGAIN) {
		atomic_store(&n->doubtful, true); /* whoever waits is told what the kernel has */
		return 1;
	}
	if (now < 0)
		now = ret->st_size; /* the replies tell it */
	/* a WRITE may have moved it on */
	(void)atomic_compare_exchange_strong(&n->told_end, &told, end_of(now));
	return now == ret->st_size;
}

static int settle(struct server *srv, struct node *n, bool drop, const struct size_ways *ways,
		  struct stat *ret)
{
	int r = attr_get(srv, n, ret);

	if (r < 0 || (!drop && !size_is_news(srv, n, ret)))
		return r;
	atomic_store(&n->settling, true);
	r = 0;
	for (int i = 0; i < MAX_TRIES && !r; i++) {
		const struct timespec pause = { .tv_nsec = (long)i * AGAIN_NSEC };

		if (i)
			(void)nanosleep(&pause, NULL); /* cut short: tries sooner */
		r = settle_once(srv, n, ways, ret);
	}
	atomic_store(&n->settling, false);
	return r < 0 ? r : 0;
}

void size_settle(struct server *srv, uint64_t id, bool drop, const struct size_ways *ways,
		 fuse_req_t *waiting, size_t n_waiting)
{
	cleanup_node struct node *n = NULL;
	struct stat st = { 0 };
	double timeout = 0;
	int r = table_get(srv->table, id, &n);

	if (r < 0 || n->type != S_IFREG)
		ways->drop(ways->arg, id);
	else
		r = settle(srv, n, drop, ways, &st);
	if (!r && n->type == S_IFREG) {
		timeout = entry_timeout(srv, n);
		/* once more: nobody is to take it, for nothing would wait for its cuts */
		if (size_tell(srv, n, &st, &timeout) && srv->stale_attr)
			(void)srv->stale_attr(srv->arg, id);
	}
	for (size_t i = 0; i < n_waiting; i++)
		reply_attr(waiting[i], r, &st, timeout);
	if (!r && !timeout)
		size_told(srv, id, &st);
}

int size_looks_new(struct size_looks **ret)
{
	struct size_looks *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	pthread_mutex_init(&l->lock, NULL);
	*ret = l;
	return 0;
}

void size_looks_free(struct size_looks *l)
{
	if (!l)
		return;
	pthread_mutex_destroy(&l->lock);
	free(l);
}

/* A thread's look; the lock is held. */
static struct look *look_of(const struct size_looks *all, pid_t who)
{
	struct look *l = all->first;

	while (l && l->who != who)
		l = l->next;
	return l;
}

/* The look that a request belongs to; the lock is held. */
static struct look *find(const struct size_looks *all, fuse_req_t req)
{
	return look_of(all, fuse_req_ctx(req)->pid);
}

void size_look_sees(struct server *srv, const struct timespec *mtime)
{
	struct look *l;

	pthread_mutex_lock(&srv->looks->lock);
	l = look_of(srv->looks, gettid());
	if (l && l->size >= 0)
		l->st.st_mtim = *mtime;
	pthread_mutex_unlock(&srv->looks->lock);
}

/*
 * What a name of a look tells: the size that the kernel has. If it knows no such node (others'
 * answers may be on their way) it takes that, and must not believe in more than we think.
 */
static void tell_known(struct server *srv, uint64_t id, struct stat *st)
{
	cleanup_node struct node *n = NULL;
	uint64_t told = 0;
	uint64_t data;

	if (table_get(srv->table, id, &n) < 0)
		return;
	if (atomic_compare_exchange_strong(&n->told_end, &told, end_of(st->st_size)))
		told = end_of(st->st_size);
	data = atomic_load(&n->data_end);
	st->st_size = (off_t)(data && data < told ? data : told) - 1;
}

/*
 * Its name leads to the node. What is told with it is to change nothing yet, for the directory
 * stays locked until that is done: the kernel takes no attributes that it has asked for before they
 * became stale.
 */
bool size_looked_up(struct server *srv, fuse_req_t req, uint64_t dir, const char *name)
{
	struct fuse_entry_param e = { .generation = 1, .entry_timeout = NAME_SEC };
	const struct look *l;
	int r = -ENOENT;

	if (*name != '=' || dir != HIDDEN_DIR)
		return false;
	pthread_mutex_lock(&srv->looks->lock);
	l = find(srv->looks, req);
	if (l && !strcmp(l->name, name)) {
		e.ino = l->id;
		e.attr = l->st;
		r = table_known(srv->table, l->id);
	}
	pthread_mutex_unlock(&srv->looks->lock);
	if (r < 0) {
		reply_err(req, r);
		return true;
	}
	tell_known(srv, e.ino, &e.attr);
	(void)srv->stale_attr(srv->arg, e.ino);
	if (fuse_reply_entry(req, &e) < 0)
		table_forget(srv->table, e.ino, 1);
	return true;
}

bool size_looked(struct server *srv, fuse_req_t req, uint64_t id)
{
	struct look *l;
	struct look copy = { 0 };
	struct stat told;

	if (!atomic_load(&srv->looks->n))
		return false;
	pthread_mutex_lock(&srv->looks->lock);
	l = find(srv->looks, req);
	if (l)
		copy = *l;
	pthread_mutex_unlock(&srv->looks->lock);
	if (copy.id != id)
		return false;
	fill(srv, &copy, &told);
	pthread_mutex_lock(&srv->looks->lock);
	l = find(srv->looks, req);
	if (l && l->id == id) { /* else the connection has ended */
		l->st = copy.st;
		l->told_end = copy.told_end;
		l->seen = true;
	}
	pthread_mutex_unlock(&srv->looks->lock);
	reply_attr(req, 0, &told, 0);
	return true;
}
