/* SPDX-License-Identifier: MIT */
/* Handles: see handle.h. */
#include "node/handle.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"

enum {
	WRITE_AGE_MSEC = 1000, /* kernel-notes: long enough for a compiler, short for a user */
	EVICT_SCAN = 64,       /* handles looked at before one more than the limit is opened */
	SCARCE_PART = 3,       /* each may come to need one for reading and one for writing */
};

struct list {
	struct handle *first; /* most recently used */
	struct handle *last;
};

struct slots {
	pthread_mutex_t lock;
	pthread_cond_t unused; /* a handle lost its last user while somebody drains */
	pthread_cond_t aging;  /* there is a handle for writing, or the end */
	size_t limit;	       /* constant */
	size_t n_open;
	size_t n_pinned;
	size_t n_writing;
	struct list lru;
	struct list pinned; /* not looked at for eviction */
	bool stopped;
};

static uint64_t now_msec(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

int slots_new(size_t limit, struct slots **ret)
{
	struct slots *s = calloc(1, sizeof(*s));
	pthread_condattr_t attr;

	if (!s)
		return -ENOMEM;
	s->limit = limit ? limit : 1;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->unused, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->aging, &attr);
	pthread_condattr_destroy(&attr);
	*ret = s;
	return 0;
}

void slots_free(struct slots *s)
{
	if (!s)
		return;
	pthread_cond_destroy(&s->aging);
	pthread_cond_destroy(&s->unused);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

size_t slots_count(struct slots *s, size_t *ret_pinned)
{
	size_t n;

	pthread_mutex_lock(&s->lock);
	n = s->n_open;
	if (ret_pinned)
		*ret_pinned = s->n_pinned;
	pthread_mutex_unlock(&s->lock);
	return n;
}

static void list_add(struct list *l, struct handle *h)
{
	h->prev = NULL;
	h->next = l->first;
	if (l->first)
		l->first->prev = h;
	else
		l->last = h;
	l->first = h;
}

static void list_remove(struct list *l, struct handle *h)
{
	if (h->prev)
		h->prev->next = h->next;
	else
		l->first = h->next;
	if (h->next)
		h->next->prev = h->prev;
	else
		l->last = h->prev;
}

static void set_pinned(struct slots *s, struct handle *h, bool pinned)
{
	list_remove(h->pinned ? &s->pinned : &s->lru, h);
	s->n_pinned += pinned;
	s->n_pinned -= h->pinned;
	h->pinned = pinned;
	list_add(pinned ? &s->pinned : &s->lru, h);
}

/* The node's handle of that kind. */
static struct handle *of_node(const struct node *n, enum handle_kind kind)
{
	struct handle *h = n->handles;

	while (h && h->kind != kind)
		h = h->next_of_node;
	return h;
}

/*
 * Take a handle from its node and from the lists. It is closed by its last user, or by the caller
 * if this returns true.
 */
static bool detach(struct slots *s, struct handle *h)
{
	struct handle **p = &h->node->handles;

	list_remove(h->pinned ? &s->pinned : &s->lru, h);
	while (*p != h)
		p = &(*p)->next_of_node;
	*p = h->next_of_node;
	s->n_pinned -= h->pinned;
	s->n_writing -= h->kind == HANDLE_WRITE;
	s->n_open--;
	h->node = NULL;
	return h->users == 0;
}

static void destroy(struct handle *h)
{
	close(h->fd);
	free(h);
}

static void destroy_list(struct handle *h)
{
	while (h) {
		struct handle *next = h->next;

		destroy(h);
		h = next;
	}
}

/* Could this file be opened again by its node's path? */
static bool is_reopenable(const struct handle *h)
{
	char path[32];
	struct stat st;
	int want = R_OK;

	if (h->kind == HANDLE_PATH ||
	    (atomic_load(&h->node->nameless) && !atomic_load(&h->node->parked)))
		return false;
	if (fstat(h->fd, &st) < 0 || !st.st_nlink)
		return false;
	if (h->kind == HANDLE_WRITE)
		want = h->is_readable ? R_OK | W_OK : W_OK;
	return faccessat(AT_FDCWD, fd_proc_path(h->fd, path), want, AT_EACCESS) == 0;
}

/* Detach up to @want handles that can go, put in front of *@closing. */
static size_t evict(struct slots *s, size_t want, size_t scan, struct handle **closing)
{
	size_t n = 0;
	struct handle *prev;

	for (struct handle *h = s->lru.last; h && n < want && scan; h = prev, scan--) {
		prev = h->prev;
		if (h->users)
			continue;
		if (!is_reopenable(h)) {
			set_pinned(s, h, true);
			continue;
		}
		(void)detach(s, h); /* nobody uses it */
		h->next = *closing;
		*closing = h;
		n++;
	}
	return n;
}

size_t slots_make_room(struct slots *s, size_t want)
{
	struct handle *closing = NULL;
	size_t n;

	pthread_mutex_lock(&s->lock);
	n = evict(s, want, SIZE_MAX, &closing);
	pthread_mutex_unlock(&s->lock);
	destroy_list(closing);
	return n;
}

bool slots_are_scarce(struct slots *s)
{
	bool scarce;

	pthread_mutex_lock(&s->lock);
	scarce = s->n_pinned * SCARCE_PART >= s->limit;
	pthread_mutex_unlock(&s->lock);
	return scarce;
}

/* Is there no other way to the file, as long as its node lives? */
static bool is_last_way(const struct handle *h)
{
	return atomic_load(&h->node->nameless) && !atomic_load(&h->node->parked);
}

void handle_pin(struct handle *h)
{
	struct slots *s = h->slots;

	pthread_mutex_lock(&s->lock);
	if (h->node && !h->pinned && is_last_way(h))
		set_pinned(s, h, true);
	pthread_mutex_unlock(&s->lock);
}

static void use(struct slots *s, struct handle *h)
{
	h->users++;
	if (h->kind == HANDLE_WRITE)
		h->used_msec = now_msec();
	if (h->pinned && is_last_way(h))
		return;
	if (h->pinned || s->lru.first != h)
		set_pinned(s, h, false);
}

struct handle *handle_get(struct slots *s, struct node *n, enum handle_kind kind)
{
	struct handle *h;

	pthread_mutex_lock(&s->lock);
	h = of_node(n, kind);
	if (h)
		use(s, h);
	pthread_mutex_unlock(&s->lock);
	return h;
}

void handle_put(struct handle *h)
{
	struct slots *s;
	bool last;

	if (!h)
		return;
	s = h->slots;
	pthread_mutex_lock(&s->lock);
	last = --h->users == 0 && !h->node;
	if (!h->node && h->users == 1)
		pthread_cond_broadcast(&s->unused);
	pthread_mutex_unlock(&s->lock);
	if (last)
		destroy(h);
}

int handle_install(struct slots *s, struct node *n, enum handle_kind kind, int fd, bool is_readable,
		   struct handle **ret)
{
	struct handle *h = calloc(1, sizeof(*h));
	struct handle *closing = NULL;
	struct handle *known;

	if (!h) {
		close(fd);
		return -ENOMEM;
	}
	h->fd = fd;
	h->kind = kind;
	h->is_readable = is_readable;
	h->slots = s;
	pthread_mutex_lock(&s->lock);
	known = of_node(n, kind);
	if (known) {
		h->next = NULL;
		closing = h;
		h = known;
	} else {
		if (s->n_open >= s->limit)
			(void)evict(s, s->n_open - s->limit + 1, EVICT_SCAN, &closing);
		h->node = n;
		h->next_of_node = n->handles;
		n->handles = h;
		list_add(&s->lru, h);
		s->n_open++;
		/* with others it is awake, or sleeps for a time */
		if (kind == HANDLE_WRITE && !s->n_writing++)
			pthread_cond_signal(&s->aging);
	}
	use(s, h);
	if (!h->pinned && is_last_way(h))
		set_pinned(s, h, true);
	pthread_mutex_unlock(&s->lock);
	destroy_list(closing);
	*ret = h;
	return 0;
}

void handle_drop(struct slots *s, struct node *n, enum handle_kind kind)
{
	struct handle *h;
	bool last = false;

	pthread_mutex_lock(&s->lock);
	h = of_node(n, kind);
	if (h)
		last = detach(s, h);
	pthread_mutex_unlock(&s->lock);
	if (last)
		destroy(h);
}

int handle_take(struct slots *s, struct node *n, enum handle_kind kind, bool *ret_is_readable)
{
	struct handle *h;
	int fd = -1;

	pthread_mutex_lock(&s->lock);
	h = of_node(n, kind);
	if (h) {
		h->users++;
		(void)detach(s, h); /* it has a user: us */
		while (h->users > 1)
			pthread_cond_wait(&s->unused, &s->lock);
		fd = h->fd;
		*ret_is_readable = h->is_readable;
	}
	pthread_mutex_unlock(&s->lock);
	free(h);
	return fd;
}

/* A descriptor for writing that slots_drop_writers() closes, or NULL; the lock is held. */
static struct handle *find_writer(const struct slots *s)
{
	const struct list *lists[] = { &s->lru, &s->pinned };

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		for (struct handle *h = lists[i]->first; h; h = h->next)
			if (h->kind == HANDLE_WRITE && is_reopenable(h))
				return h;
	return NULL;
}

void slots_drop_writers(struct slots *s)
{
	struct handle *h;

	pthread_mutex_lock(&s->lock);
	while ((h = find_writer(s))) {
		h->users++;
		(void)detach(s, h); /* it has a user: us */
		while (h->users > 1)
			pthread_cond_wait(&s->unused, &s->lock);
		destroy(h);
	}
	pthread_mutex_unlock(&s->lock);
}

void handle_drop_all(struct slots *s, struct node *n)
{
	for (int k = 0; k < HANDLE_KINDS; k++)
		handle_drop(s, n, (enum handle_kind)k);
}

/*
 * Detach handles for writing that nobody has used for a while; returns msec until the next may
 * go. They are in the order of their last use.
 */
static uint64_t collect_aged(struct slots *s, struct handle **closing)
{
	uint64_t now = now_msec();
	uint64_t next = WRITE_AGE_MSEC;
	struct handle *prev;

	for (struct handle *h = s->lru.last; h && s->n_writing; h = prev) {
		prev = h->prev;
		if (h->kind != HANDLE_WRITE || h->users)
			continue;
		if (now - h->used_msec < WRITE_AGE_MSEC) {
			next = WRITE_AGE_MSEC - (now - h->used_msec);
			break;
		}
		if (!is_reopenable(h)) {
			set_pinned(s, h, true);
			continue;
		}
		(void)detach(s, h); /* nobody uses it */
		h->next = *closing;
		*closing = h;
	}
	return next;
}

/* Sleep for @msec, or until the end. */
static void sleep_msec(struct slots *s, uint64_t msec)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += (time_t)(msec / 1000);
	until.tv_nsec += (long)(msec % 1000) * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	while (!s->stopped && pthread_cond_timedwait(&s->aging, &s->lock, &until) != ETIMEDOUT)
		;
}

bool slots_age(struct slots *s, bool wait)
{
	struct handle *closing = NULL;
	uint64_t next = WRITE_AGE_MSEC;
	bool go_on;

	pthread_mutex_lock(&s->lock);
	while (wait && !s->stopped && !s->n_writing)
		pthread_cond_wait(&s->aging, &s->lock);
	if (!s->stopped)
		next = collect_aged(s, &closing);
	pthread_mutex_unlock(&s->lock);
	destroy_list(closing);
	pthread_mutex_lock(&s->lock);
	if (wait && !s->stopped && s->n_writing)
		sleep_msec(s, next + 50); /* so that what is due together goes together */
	go_on = !s->stopped;
	pthread_mutex_unlock(&s->lock);
	return go_on;
}

void slots_stop(struct slots *s)
{
	pthread_mutex_lock(&s->lock);
	s->stopped = true;
	pthread_cond_broadcast(&s->aging);
	pthread_mutex_unlock(&s->lock);
}
