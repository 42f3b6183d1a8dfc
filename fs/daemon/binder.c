/* SPDX-License-Identifier: MIT */
/* The thread that makes bind mounts: see binder.h. */
#include "daemon/binder.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/path.h"
#include "daemon/redirects.h"

enum { AWAIT_MAX_MS = 2000 };

/* A directory that waits to be redirected. */
struct job {
	struct job *next;
	uint64_t parent;
	char dir[];
};

struct binder {
	struct session *s;
	void (*ready)(struct session *s);
	pthread_t thread;
	_Atomic pid_t tid;
	pthread_mutex_t lock;   /* guards what follows */
	pthread_cond_t more;
	struct job *jobs;       /* the first one is being dealt with; read by the thread alone */
	struct job **last;
	pthread_cond_t done;    /* a job is */
	unsigned n_awaiting;
	bool stop;
};

/* A directory that is wanted was made; its maker waits for the answer. */
static void on_wanted(void *arg, uint64_t parent, const char *path)
{
	struct binder *b = ((struct session *)arg)->binder;
	size_t len = strlen(path) + 1;
	struct job *j = malloc(sizeof(*j) + len);

	if (!j) {
		log_warn("'%s' is served through the mount: out of memory", path);
		return;
	}
	j->parent = parent;
	memcpy(j->dir, path, len);
	j->next = NULL;
	pthread_mutex_lock(&b->lock);
	*b->last = j;
	b->last = &j->next;
	atomic_fetch_add(&b->s->srv->n_mounting, 1);
	pthread_cond_signal(&b->more);
	pthread_mutex_unlock(&b->lock);
}

/* The lock is held. */
static bool is_coming(const struct binder *b, uint64_t dir, const char *name)
{
	for (const struct job *j = b->jobs; j; j = j->next)
		if (j->parent == dir && !strcmp(path_base(j->dir), name))
			return true;
	return false;
}

/*
 * Who enters a new directory before it is covered would stay below, and go on through the mount:
 * he waits at the door. Threads enough must be left for what the binder itself looks up; and who
 * holds the kernel's lock of the parent, for which the binder waits, must not do so for long.
 */
static void await_wanted(void *arg, uint64_t dir, const char *name, pid_t who)
{
	struct session *s = arg;
	struct binder *b = s->binder;
	struct timespec until;

	if (who == atomic_load(&b->tid))
		return;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += AWAIT_MAX_MS * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	pthread_mutex_lock(&b->lock);
	if (b->n_awaiting < s->limits.threads / 2) {
		b->n_awaiting++;
		while (!b->stop && is_coming(b, dir, name) &&
		       pthread_cond_timedwait(&b->done, &b->lock, &until) == 0)
			;
		b->n_awaiting--;
	}
	pthread_mutex_unlock(&b->lock);
}

/* The first job is done; the lock is held. */
static void finish(struct binder *b)
{
	struct job *j = b->jobs;

	b->jobs = j->next;
	if (!b->jobs)
		b->last = &b->jobs;
	free(j);
	atomic_fetch_sub(&b->s->srv->n_mounting, 1);
	pthread_cond_broadcast(&b->done);
}

static void *run(void *arg)
{
	struct binder *b = arg;

	atomic_store(&b->tid, gettid());
	atomic_fetch_add(&b->s->srv->n_mounting, 1);
	redirects_bind(b->s);
	atomic_fetch_sub(&b->s->srv->n_mounting, 1);
	b->ready(b->s);
	pthread_mutex_lock(&b->lock);
	while (!b->stop) {
		struct job *j = b->jobs;

		if (!j) {
			pthread_cond_wait(&b->more, &b->lock);
			continue;
		}
		pthread_mutex_unlock(&b->lock);
		redirects_bind_new(b->s, j->parent, j->dir);
		pthread_mutex_lock(&b->lock);
		finish(b);
	}
	pthread_mutex_unlock(&b->lock);
	return NULL;
}

/* Is there anything for us to do? */
static bool has_work(const struct session *s)
{
	struct redirect *list = NULL;
	bool any = false;
	size_t n = 0;

	if (!s->mounted || !s->view->redirects || redirect_list(s->view->redirects, &list, &n) < 0)
		return false;
	for (size_t i = 0; i < n; i++)
		any |= list[i].wanted || (!list[i].why_not && list[i].form == REDIRECT_BIND);
	redirect_list_free(list, n);
	return any;
}

static void binder_free(struct binder *b)
{
	while (b->jobs)
		finish(b);
	pthread_cond_destroy(&b->done);
	pthread_cond_destroy(&b->more);
	pthread_mutex_destroy(&b->lock);
	free(b);
}

int binder_begin(struct session *s, void (*ready)(struct session *s))
{
	struct binder *b;
	int r;

	if (!has_work(s))
		return -ENOENT;
	b = calloc(1, sizeof(*b));
	if (!b)
		return -ENOMEM;
	*b = (struct binder){ .s = s, .ready = ready };
	b->last = &b->jobs;
	pthread_mutex_init(&b->lock, NULL);
	pthread_cond_init(&b->more, NULL);
	pthread_cond_init(&b->done, NULL);
	s->srv->await_wanted = await_wanted;
	s->binder = b;
	r = -pthread_create(&b->thread, NULL, run, b);
	if (!r) {
		s->srv->on_wanted = on_wanted;
		return 0;
	}
	log_warn("directories are not redirected: %s", strerror(-r));
	s->binder = NULL;
	binder_free(b);
	return r;
}

void binder_end(struct binder *b)
{
	if (!b)
		return;
	pthread_mutex_lock(&b->lock);
	b->stop = true;
	pthread_cond_signal(&b->more);
	pthread_cond_broadcast(&b->done);
	pthread_mutex_unlock(&b->lock);
	pthread_join(b->thread, NULL);
	binder_free(b);
}
