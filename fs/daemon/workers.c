/* SPDX-License-Identifier: MIT */
/* Workers: see workers.h. The calling thread looks once a tick, and sleeps when nothing happens. */
#include "daemon/workers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/log.h"

enum {
	TICK_NSEC = 1000000, /* so long a request may wait for one that blocks... */
	MOST_TICKS = 10,     /* ...or so many times longer if that has not happened lately */
	FULL_TICKS = 3,      /* if some wait at so many looks in turn, one thread is too few */
	SPARE_TICKS = 10,    /* with a thread to spare for so long, one fewer will do */
	IDLE_TICKS = 20,     /* without a request for so long, nobody looks any more */
	AWAKE_NSEC = 50000,  /* so long a thread waits for a request without sleeping... */
	SOON_NSEC = 150000,  /* ...if the last one came within this time */
	LONGEST_PAUSE = 63,  /* ...or, after waits in vain, so many of them did */
};

/* How requests have come to one thread lately. */
struct pace {
	bool soon;	/* the next one can be expected at once */
	unsigned pause; /* so many must have come soon again after the last wait in vain */
	unsigned left;	/* of these */
};

struct workers {
	struct fuse_session *fuse;
	unsigned max;
	void (*rest)(void *arg);
	void *arg;
	bool one_cpu; /* whoever is waited for can't run meanwhile */
	_Atomic bool never_blocks; /* reading does not wait, see set_blocking() */
	pthread_t *threads;
	unsigned n; /* of the calling thread alone */

	_Atomic unsigned reading; /* wait for a request, or are about to */
	_Atomic unsigned wanted;  /* so many may, at least 1 */
	_Atomic uint64_t taken;	  /* requests so far */
	_Atomic bool dozing;	  /* the calling thread wants to be told of a request */
	sem_t told;

	pthread_mutex_t lock; /* guards what follows, and changes of never_blocks */
	pthread_cond_t more;
	unsigned standing; /* threads that wait for their turn to read */
	bool ended;
	int err;
};

/* May one more wait for a request? Then it is counted. */
static bool begin_reading(struct workers *w)
{
	unsigned n = atomic_load(&w->reading);

	while (n < atomic_load(&w->wanted))
		if (atomic_compare_exchange_weak(&w->reading, &n, n + 1))
			return true;
	return false;
}

/* Stand by until a thread is needed. False at the end. */
static bool stand_by(struct workers *w)
{
	bool go_on;

	pthread_mutex_lock(&w->lock);
	w->standing++;
	while (!w->ended && !begin_reading(w))
		pthread_cond_wait(&w->more, &w->lock);
	w->standing--;
	go_on = !w->ended;
	pthread_mutex_unlock(&w->lock);
	return go_on;
}

static void end(struct workers *w, int err)
{
	pthread_mutex_lock(&w->lock);
	w->ended = true;
	if (err < 0)
		w->err = err;
	pthread_cond_broadcast(&w->more);
	pthread_mutex_unlock(&w->lock);
	(void)sem_post(&w->told); /* it is posted seldom */
}

static bool is_waiting(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1 && p.revents & POLLIN;
}

static int64_t now_nsec(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t); /* can't fail */
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/*
 * Shall reading wait? The descriptor is all threads'; who begins to wait sees to it that it does,
 * and one that is awake meanwhile goes to sleep, too.
 */
static void set_blocking(struct workers *w, bool on)
{
	int fd = fuse_session_fd(w->fuse);
	int flags;

	if (atomic_load(&w->never_blocks) == !on)
		return;
	pthread_mutex_lock(&w->lock);
	flags = fcntl(fd, F_GETFL);
	(void)fcntl(fd, F_SETFL, on ? flags & ~O_NONBLOCK : flags | O_NONBLOCK); /* can't fail */
	atomic_store(&w->never_blocks, !on);
	pthread_mutex_unlock(&w->lock);
}

/* Read one request. Only here a thread may be cancelled: it has nothing yet. */
static int read_one(struct workers *w, struct fuse_buf *buf)
{
	int r;

	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	r = fuse_session_receive_buf(w->fuse, buf);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	return r;
}

/*
 * Wait awake, for a moment. Who asks for one thing after the other is answered without anybody
 * having to be woken. -EAGAIN if there was nothing.
 */
static int read_awake(struct workers *w, int64_t since, struct fuse_buf *buf)
{
	int r;

	set_blocking(w, false);
	do
		r = read_one(w, buf);
	while (r == -EAGAIN && now_nsec() - since < AWAKE_NSEC);
	return r;
}

/* Learn from how long a request let itself be waited for. */
static void learn(struct pace *p, bool awake, bool found, int64_t took)
{
	if (awake) {
		p->soon = found;
		p->pause = found ? 0 : p->pause < LONGEST_PAUSE ? p->pause * 2 + 1 : p->pause;
		p->left = p->pause;
	} else if (took < SOON_NSEC) {
		p->left -= p->left > 0;
		p->soon = !p->left;
	}
}

static int receive(struct workers *w, struct pace *p, struct fuse_buf *buf)
{
	bool awake = p->soon && !w->one_cpu && atomic_load(&w->reading) == 1;
	int64_t since = now_nsec();
	int r = awake ? read_awake(w, since, buf) : -EAGAIN;
	bool found = r != -EAGAIN;

	if (!found) {
		set_blocking(w, true);
		r = read_one(w, buf);
	}
	learn(p, awake, found, now_nsec() - since);
	return r;
}

static void tell(struct workers *w)
{
	atomic_fetch_add_explicit(&w->taken, 1, memory_order_seq_cst);
	if (atomic_load(&w->dozing) && atomic_exchange(&w->dozing, false))
		(void)sem_post(&w->told); /* it is posted seldom */
}

/* Returns 0 at the session's end. */
static int work(struct workers *w, struct fuse_buf *buf)
{
	struct pace p = { 0 };

	while (!fuse_session_exited(w->fuse)) {
		int r;

		if (!begin_reading(w) && !stand_by(w))
			return 0;
		r = receive(w, &p, buf);
		atomic_fetch_sub(&w->reading, 1);
		if (r == -EINTR || r == -EAGAIN)
			continue;
		if (r <= 0)
			return r;
		tell(w);
		fuse_session_process_buf(w->fuse, buf);
	}
	return 0;
}

static void free_mem(void *arg)
{
	struct fuse_buf *buf = arg;

	free(buf->mem);
}

static void *worker(void *arg)
{
	struct workers *w = arg;
	struct fuse_buf buf = { 0 };
	int r;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_cleanup_push(free_mem, &buf);
	r = work(w, &buf);
	end(w, r);
	pthread_cleanup_pop(1);
	return NULL;
}

static int add_thread(struct workers *w)
{
	sigset_t all;
	sigset_t old;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(&w->threads[w->n], NULL, worker, w);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	w->n += !r;
	return -r;
}

/* A request waits and nobody is there to take it. */
static void grow(struct workers *w)
{
	bool standing;

	if (atomic_load(&w->wanted) < w->max)
		atomic_fetch_add(&w->wanted, 1);
	pthread_mutex_lock(&w->lock);
	standing = w->standing;
	pthread_cond_signal(&w->more);
	pthread_mutex_unlock(&w->lock);
	if (!standing && w->n < w->max && add_thread(w) < 0)
		log_debug("daemon", "no thread more than %u to be had", w->n);
}

static bool has_ended(struct workers *w)
{
	bool ended;

	pthread_mutex_lock(&w->lock);
	ended = w->ended;
	pthread_mutex_unlock(&w->lock);
	return ended || fuse_session_exited(w->fuse);
}

/* Sleep until there is a request again. */
static void doze(struct workers *w, uint64_t taken)
{
	atomic_store(&w->wanted, 1);
	w->rest(w->arg);
	atomic_store(&w->dozing, true);
	if (atomic_load(&w->taken) == taken && !has_ended(w))
		(void)sem_wait(&w->told); /* a signal ends it, too */
	atomic_store(&w->dozing, false);
}

/* Keep as many threads as it takes. */
static void govern(struct workers *w)
{
	struct timespec tick = { .tv_nsec = TICK_NSEC };
	int fd = fuse_session_fd(w->fuse);
	uint64_t seen = 0;
	unsigned full = 0;
	unsigned spare = 0;
	unsigned idle = 0;

	while (!has_ended(w)) {
		uint64_t taken = atomic_load(&w->taken);
		bool busy = !atomic_load(&w->reading);
		bool stuck = busy && taken == seen;

		idle = taken == seen && !busy ? idle + 1 : 0;
		spare = busy ? 0 : spare + 1;
		seen = taken;
		if (tick.tv_nsec < (long)TICK_NSEC * MOST_TICKS)
			tick.tv_nsec += TICK_NSEC;
		full = busy && is_waiting(fd) ? full + 1 : 0;
		if (full)
			tick.tv_nsec = TICK_NSEC;
		/* one that comes while another is answered need not wait for long */
		if ((full && stuck) || full >= FULL_TICKS)
			grow(w);
		if (spare >= SPARE_TICKS && atomic_load(&w->wanted) > 1) {
			atomic_fetch_sub(&w->wanted, 1);
			spare = 0;
		}
		if (idle >= IDLE_TICKS) {
			doze(w, taken);
			idle = 0;
		}
		(void)nanosleep(&tick, NULL); /* a signal cuts it short */
	}
}

static int run(struct workers *w)
{
	int r = add_thread(w);

	if (r < 0)
		return r;
	govern(w);
	fuse_session_exit(w->fuse);
	end(w, 0);
	for (unsigned i = 0; i < w->n; i++)
		pthread_cancel(w->threads[i]);
	for (unsigned i = 0; i < w->n; i++)
		pthread_join(w->threads[i], NULL);
	return w->err;
}

static bool has_one_cpu(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) == 1;
}

int workers_run(struct fuse_session *fuse, unsigned max, void (*rest)(void *arg), void *arg)
{
	struct workers w = {
		.fuse = fuse,
		.max = max,
		.rest = rest,
		.arg = arg,
		.one_cpu = has_one_cpu(),
		.wanted = 1,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.more = PTHREAD_COND_INITIALIZER,
	};
	cleanup_free pthread_t *threads = calloc(max, sizeof(*threads));
	int r;

	if (!threads)
		return -ENOMEM;
	w.threads = threads;
	if (sem_init(&w.told, 0, 0) < 0)
		return -errno;
	r = run(&w);
	sem_destroy(&w.told);
	pthread_cond_destroy(&w.more);
	pthread_mutex_destroy(&w.lock);
	return r;
}
