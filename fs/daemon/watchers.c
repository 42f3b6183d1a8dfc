/* SPDX-License-Identifier: MIT */
/* Who watches: see watchers.h. Source: proc(5), /proc/[pid]/fdinfo, inotify and fanotify. */
#include "daemon/watchers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"

/* A look takes at most one part in 20 of a CPU, however long it has to wait for one. */
enum { EVERY_MSEC = 1000, IDLE_PARTS = 20, FIRST_ROOM = 64 };

/* A growing set of inode numbers. */
struct inos {
	uint64_t *v;
	size_t n;
	size_t max;
	bool all; /* somebody watches the whole file system */
};

struct watchers {
	unsigned long long device; /* as fdinfo writes it; constant */
	int stop_fd;
	pthread_t thread;
	pthread_mutex_t lock; /* guards what follows */
	struct inos now;
};

static void inos_add(struct inos *s, uint64_t ino)
{
	if (s->n == s->max) {
		size_t max = s->max ? s->max * 2 : FIRST_ROOM;
		uint64_t *more = realloc(s->v, max * sizeof(*more));

		if (!more) {
			s->all = true; /* then everything is told */
			return;
		}
		s->v = more;
		s->max = max;
	}
	s->v[s->n++] = ino;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a;
	const uint64_t *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* One line of fdinfo. */
static void read_line(const char *line, unsigned long long device, struct inos *ret)
{
	bool is_fan = !strncmp(line, "fanotify ", 9);
	const char *ino = strstr(line, " ino:");
	const char *sdev = strstr(line, " sdev:");

	if ((!is_fan && strncmp(line, "inotify ", 8)) || !sdev ||
	    strtoull(sdev + 6, NULL, 16) != device)
		return;
	if (ino)
		inos_add(ret, strtoull(ino + 5, NULL, 16));
	else if (is_fan)
		ret->all = true;
}

static void read_marks(int proc, const char *fd, unsigned long long device, struct inos *ret)
{
	char path[64];
	cleanup_free char *line = NULL;
	cleanup_file FILE *f = NULL;
	size_t cap = 0;
	int info;

	snprintf(path, sizeof(path), "fdinfo/%.20s", fd);
	info = openat(proc, path, O_RDONLY | O_CLOEXEC);
	f = info < 0 ? NULL : fdopen(info, "r");
	if (!f && info >= 0)
		close(info);
	while (f && getline(&line, &cap, f) > 0)
		read_line(line, device, ret);
}

static bool is_watch(int fds, const char *fd)
{
	char text[32];
	ssize_t n = readlinkat(fds, fd, text, sizeof(text) - 1);

	if (n <= 0)
		return false;
	text[n] = '\0';
	return !strcmp(text, "anon_inode:inotify") || strstr(text, "fanotify]");
}

static void read_process(int all, const char *pid, unsigned long long device, struct inos *ret)
{
	cleanup_fd int proc = openat(all, pid, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_dir DIR *d = NULL;
	const struct dirent *e;
	int fds = proc < 0 ? -1 : openat(proc, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	d = fds < 0 ? NULL : fdopendir(fds); /* another user's is not ours to see */
	if (!d && fds >= 0)
		close(fds);
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.' && is_watch(dirfd(d), e->d_name))
			read_marks(proc, e->d_name, device, ret);
}

static void look(struct watchers *w)
{
	cleanup_dir DIR *d = opendir("/proc");
	struct inos found = { 0 };
	const struct dirent *e;

	while (d && (e = readdir(d)))
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9')
			read_process(dirfd(d), e->d_name, w->device, &found);
	if (found.n)
		qsort(found.v, found.n, sizeof(*found.v), compare);
	pthread_mutex_lock(&w->lock);
	free(w->now.v);
	w->now = found;
	pthread_mutex_unlock(&w->lock);
}

static void *run(void *arg)
{
	struct watchers *w = arg;
	struct pollfd p = { .fd = w->stop_fd, .events = POLLIN };
	long long wait_msec = 0;

	while (poll(&p, 1, (int)wait_msec) == 0) {
		struct timespec begin;
		struct timespec end;

		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
		look(w);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
		wait_msec = ((end.tv_sec - begin.tv_sec) * 1000 +
			     (end.tv_nsec - begin.tv_nsec) / 1000000) * IDLE_PARTS;
		if (wait_msec < EVERY_MSEC)
			wait_msec = EVERY_MSEC;
	}
	return NULL;
}

static void release(struct watchers *w)
{
	if (w->stop_fd >= 0)
		close(w->stop_fd);
	pthread_mutex_destroy(&w->lock);
	free(w->now.v);
	free(w);
}

int watchers_new(dev_t device, struct watchers **ret)
{
	struct watchers *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return -ENOMEM;
	w->device = (unsigned long long)major(device) << 20 | minor(device);
	pthread_mutex_init(&w->lock, NULL);
	w->stop_fd = eventfd(0, EFD_CLOEXEC);
	r = w->stop_fd < 0 ? -errno : -pthread_create(&w->thread, NULL, run, w);
	if (r < 0) {
		release(w);
		return r;
	}
	*ret = w;
	return 0;
}

void watchers_free(struct watchers *w)
{
	if (!w)
		return;
	(void)eventfd_write(w->stop_fd, 1); /* cannot fail: nobody else writes */
	pthread_join(w->thread, NULL);
	release(w);
}

bool watchers_has(struct watchers *w, uint64_t ino)
{
	bool has;

	pthread_mutex_lock(&w->lock);
	has = w->now.all || (w->now.n && bsearch(&ino, w->now.v, w->now.n, sizeof(ino), compare));
	pthread_mutex_unlock(&w->lock);
	return has;
}

uint64_t watchers_count(struct watchers *w)
{
	uint64_t n;

	if (!w)
		return 0;
	pthread_mutex_lock(&w->lock);
	n = w->now.n + w->now.all;
	pthread_mutex_unlock(&w->lock);
	return n;
}
