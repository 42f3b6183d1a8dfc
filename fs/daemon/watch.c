/* SPDX-License-Identifier: MIT */
/*
 * The watcher: see watch.h. Directories are known by a key that events carry too: the file handle
 * with fanotify, the watch descriptor with inotify.
 */
#include "daemon/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/hashset.h"
#include "base/log.h"
#include "daemon/remote.h"

#ifndef AT_HANDLE_FID
#define AT_HANDLE_FID 0x200
#endif

enum {
	WATCH_BUFFER = 1 << 16,
	WATCH_KEY_MAX = 4 + 128,
	OWN_PAUSE_MSEC = 1, /* so long nobody is woken by what this process does */
};

#define FAN_WHAT                                                                                   \
	(FAN_CREATE | FAN_DELETE | FAN_MOVED_FROM | FAN_MOVED_TO | FAN_MODIFY | FAN_ATTRIB |       \
	 FAN_DELETE_SELF | FAN_MOVE_SELF | FAN_EVENT_ON_CHILD | FAN_ONDIR)
#define IN_WHAT                                                                                    \
	(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_MODIFY | IN_ATTRIB |             \
	 IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

/* What an event names its directory by. */
struct watch_key {
	unsigned len;
	unsigned char bytes[WATCH_KEY_MAX];
};

struct watch_dir {
	uint64_t id;
	struct hashed by_id;
	struct hashed by_key;
	unsigned users;
	int wd;                         /* inotify */
	bool with_own;
	unsigned char key_len;
	unsigned char key[];
};

struct watch {
	bool is_fan;                    /* constant */
	int fd;                         /* fanotify group or inotify instance; constant */
	int stop_fd;                    /* eventfd: the thread is to end; constant */
	pid_t pid;                      /* constant */
	watch_fn fn;                    /* constant */
	void *arg;                      /* constant */
	pthread_t thread;

	pthread_mutex_t lock;           /* guards what follows */
	struct hashset by_key;
	struct hashset by_id;
	uint64_t next_id;

	atomic_uint_fast64_t events;
	atomic_uint_fast64_t own;
	atomic_uint_fast64_t overflows;
	atomic_uint_fast64_t refused;
	atomic_uint_fast64_t remote;
};

static void key_set(struct watch_key *k, int type, const void *bytes, unsigned len)
{
	memset(k, 0, sizeof(*k));
	if (len > WATCH_KEY_MAX - sizeof(type))
		len = WATCH_KEY_MAX - sizeof(type);
	memcpy(k->bytes, &type, sizeof(type));
	memcpy(k->bytes + sizeof(type), bytes, len);
	k->len = (unsigned)sizeof(type) + len;
}

/*
 * The key of a directory whose handle events will carry. Linux 6.5 and later give it also where it
 * could not be opened by it, as on overlayfs.
 */
static int key_of_dir(int dir_fd, struct watch_key *ret)
{
	union {
		struct file_handle h;
		unsigned char room[sizeof(struct file_handle) + 128];
	} u = { .h.handle_bytes = 128 };
	int id;

	if (name_to_handle_at(dir_fd, "", &u.h, &id, AT_EMPTY_PATH | AT_HANDLE_FID) < 0 &&
	    (errno != EINVAL || name_to_handle_at(dir_fd, "", &u.h, &id, AT_EMPTY_PATH) < 0))
		return -errno;
	key_set(ret, u.h.handle_type, u.h.f_handle, u.h.handle_bytes);
	return 0;
}

static uint64_t id_hash(const struct hashed *h)
{
	return hash_number(CONTAINER_OF(h, struct watch_dir, by_id)->id);
}

static uint64_t key_hash(const struct hashed *h)
{
	const struct watch_dir *d = CONTAINER_OF(h, struct watch_dir, by_key);

	return hash_bytes(0, d->key, d->key_len);
}

static bool has_key(const struct watch_dir *d, const struct watch_key *k)
{
	return d->key_len == k->len && !memcmp(d->key, k->bytes, k->len);
}

static struct watch_dir *find_key(struct watch *w, const struct watch_key *k)
{
	struct hashed *h = hashset_chain(&w->by_key, hash_bytes(0, k->bytes, k->len));

	for (; h; h = h->next) {
		struct watch_dir *d = CONTAINER_OF(h, struct watch_dir, by_key);

		if (has_key(d, k))
			return d;
	}
	return NULL;
}

static struct watch_dir *find_id(struct watch *w, uint64_t id)
{
	for (struct hashed *h = hashset_chain(&w->by_id, hash_number(id)); h; h = h->next) {
		struct watch_dir *d = CONTAINER_OF(h, struct watch_dir, by_id);

		if (d->id == id)
			return d;
	}
	return NULL;
}

/* Pass one event on, if its directory is still watched. @own: this process did it. */
static void report(struct watch *w, const struct watch_key *k, unsigned what, const char *name,
		   bool own)
{
	struct watch_event e = { .what = what, .name = name };
	struct watch_dir *d;

	pthread_mutex_lock(&w->lock);
	d = find_key(w, k);
	if (d && (!own || d->with_own))
		e.dir = d->id;
	pthread_mutex_unlock(&w->lock);
	if (own) {
		atomic_fetch_add(&w->own, 1);
		e.what |= WATCH_OWN;
	}
	if (!e.dir || !what)
		return;
	atomic_fetch_add(&w->events, 1);
	w->fn(w->arg, &e);
}

static void report_lost(struct watch *w)
{
	struct watch_event e = { .what = WATCH_LOST, .name = "" };

	atomic_fetch_add(&w->overflows, 1);
	w->fn(w->arg, &e);
}

static unsigned fan_what(uint64_t mask)
{
	unsigned what = 0;

	if (mask & (FAN_CREATE | FAN_DELETE | FAN_MOVED_FROM | FAN_MOVED_TO))
		what |= WATCH_NAME;
	if (mask & FAN_MODIFY)
		what |= WATCH_DATA;
	if (mask & FAN_ATTRIB)
		what |= WATCH_ATTR;
	if (mask & (FAN_DELETE_SELF | FAN_MOVE_SELF))
		what |= WATCH_SELF;
	return what;
}

/* One record of an event: the directory's handle, with the name behind it. */
static void fan_record(struct watch *w, const struct fanotify_event_metadata *m,
		       const struct fanotify_event_info_header *hdr, const char *p)
{
	const char *handle = p + offsetof(struct fanotify_event_info_fid, handle);
	struct watch_key key;
	struct file_handle h;
	const char *name = "";

	if (hdr->info_type != FAN_EVENT_INFO_TYPE_DFID_NAME &&
	    hdr->info_type != FAN_EVENT_INFO_TYPE_DFID)
		return;
	memcpy(&h, handle, sizeof(h));
	handle += sizeof(h);
	key_set(&key, h.handle_type, handle, h.handle_bytes);
	if (hdr->info_type == FAN_EVENT_INFO_TYPE_DFID_NAME &&
	    strcmp(handle + h.handle_bytes, ".") != 0)
		name = handle + h.handle_bytes;
	report(w, &key, fan_what(m->mask), name, m->pid == w->pid);
}

/* One event at @p. */
static void fan_event(struct watch *w, const struct fanotify_event_metadata *m, const char *p)
{
	const char *end = p + m->event_len;
	struct fanotify_event_info_header hdr;

	if (m->mask & FAN_Q_OVERFLOW) {
		report_lost(w);
		return;
	}
	for (p += m->metadata_len; p + sizeof(hdr) <= end; p += hdr.len) {
		memcpy(&hdr, p, sizeof(hdr));
		if (!hdr.len)
			return;
		fan_record(w, m, &hdr, p);
	}
}

/* Events follow each other unaligned: nothing is read in place. */
static void fan_read(struct watch *w, const char *p, ssize_t n)
{
	struct fanotify_event_metadata m;

	for (; n >= (ssize_t)sizeof(m); p += m.event_len, n -= m.event_len) {
		memcpy(&m, p, sizeof(m));
		if (m.event_len < sizeof(m) || (ssize_t)m.event_len > n ||
		    m.vers != FANOTIFY_METADATA_VERSION)
			return;
		fan_event(w, &m, p);
	}
}

static unsigned in_what(uint32_t mask)
{
	unsigned what = 0;

	if (mask & (IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO))
		what |= WATCH_NAME;
	if (mask & IN_MODIFY)
		what |= WATCH_DATA;
	if (mask & IN_ATTRIB)
		what |= WATCH_ATTR;
	if (mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT))
		what |= WATCH_SELF;
	return what;
}

static void in_read(struct watch *w, const char *buf, ssize_t n)
{
	for (const char *p = buf; p < buf + n;) {
		const char *name = p + sizeof(struct inotify_event);
		struct inotify_event e;
		struct watch_key key;

		memcpy(&e, p, sizeof(e));
		p = name + e.len;
		if (e.mask & IN_Q_OVERFLOW) {
			report_lost(w);
			continue;
		}
		key_set(&key, 0, &e.wd, sizeof(e.wd));
		report(w, &key, in_what(e.mask), e.len ? name : "", false);
	}
}

static void *run(void *arg)
{
	struct watch *w = arg;
	static const struct timespec pause = { .tv_nsec = 1000000 };
	cleanup_free char *buf = malloc(WATCH_BUFFER);
	struct pollfd fds[] = {
		{ .fd = w->fd, .events = POLLIN },
		{ .fd = w->stop_fd, .events = POLLIN },
	};

	if (!buf) {
		report_lost(w);
		return NULL;
	}
	for (;;) {
		uint64_t before = atomic_load(&w->events);
		ssize_t n;

		if (poll(fds, 2, -1) < 0 && errno != EINTR) {
			nanosleep(&pause, NULL);
			continue;
		}
		if (fds[1].revents)
			return NULL;
		n = read(w->fd, buf, WATCH_BUFFER);
		if (n <= 0)
			continue;
		if (w->is_fan)
			fan_read(w, buf, n);
		else
			in_read(w, buf, n);
		if (w->is_fan && atomic_load(&w->events) == before)
			(void)poll(&fds[1], 1, OWN_PAUSE_MSEC); /* the next round looks */
	}
}

/* Does fanotify tell of what happens in this directory's file system? Older kernels: not in all. */
static bool fan_works(int fan_fd, int dir_fd)
{
	struct watch_key key;
	char path[32];

	if (dir_fd < 0 || remote_of(dir_fd))
		return true;
	fd_proc_path(dir_fd, path);
	if (key_of_dir(dir_fd, &key) < 0)
		return false;
	if (fanotify_mark(fan_fd, FAN_MARK_ADD, FAN_WHAT, AT_FDCWD, path) < 0)
		return errno == ENOSPC; /* the limit would be no other with inotify */
	(void)fanotify_mark(fan_fd, FAN_MARK_REMOVE, FAN_WHAT, AT_FDCWD, path); /* it was added */
	return true;
}

/* Open the kernel's side: fanotify with all it gives, with what a user gets, else inotify. */
static int open_mechanism(struct watch *w, int dir_fd)
{
	unsigned flags = FAN_CLASS_NOTIF | FAN_REPORT_DFID_NAME | FAN_CLOEXEC | FAN_NONBLOCK;

	w->is_fan = true;
	w->fd = fanotify_init(flags | FAN_UNLIMITED_QUEUE | FAN_UNLIMITED_MARKS, O_RDONLY);
	if (w->fd < 0)
		w->fd = fanotify_init(flags, O_RDONLY);
	if (w->fd >= 0 && fan_works(w->fd, dir_fd))
		return 0;
	if (w->fd >= 0)
		close(w->fd);
	w->is_fan = false;
	w->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	return w->fd < 0 ? -errno : 0;
}

static void watch_release(struct watch *w)
{
	struct hashed *h;

	while ((h = hashset_pop(&w->by_id)))
		free(CONTAINER_OF(h, struct watch_dir, by_id));
	hashset_clear(&w->by_id);
	hashset_clear(&w->by_key);
	if (w->fd >= 0)
		close(w->fd);
	if (w->stop_fd >= 0)
		close(w->stop_fd);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

int watch_new(watch_fn fn, void *arg, int dir_fd, struct watch **ret)
{
	struct watch *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return -ENOMEM;
	*w = (struct watch){ .fd = -1, .stop_fd = -1, .pid = getpid(), .fn = fn, .arg = arg };
	pthread_mutex_init(&w->lock, NULL);
	hashset_init(&w->by_id, id_hash);
	hashset_init(&w->by_key, key_hash);
	r = open_mechanism(w, dir_fd);
	if (!r) {
		w->stop_fd = eventfd(0, EFD_CLOEXEC);
		if (w->stop_fd < 0)
			r = -errno;
	}
	if (!r)
		r = -pthread_create(&w->thread, NULL, run, w);
	if (r < 0) {
		watch_release(w);
		return r;
	}
	*ret = w;
	return 0;
}

void watch_free(struct watch *w)
{
	uint64_t one = 1;

	if (!w)
		return;
	while (write(w->stop_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	pthread_join(w->thread, NULL);
	watch_release(w);
}

/* Tell the kernel. @ret: what events name the directory by; @ret_wd: inotify's number of it */
static int mark(struct watch *w, int dir_fd, struct watch_key *ret, int *ret_wd)
{
	char path[32];

	if (remote_of(dir_fd))
		return -EREMOTE;
	if (w->is_fan) {
		int r = key_of_dir(dir_fd, ret);

		if (r < 0)
			return r;
		fd_proc_path(dir_fd, path);
		return fanotify_mark(w->fd, FAN_MARK_ADD, FAN_WHAT, AT_FDCWD, path) < 0 ? -errno
											: 0;
	}
	*ret_wd = inotify_add_watch(w->fd, fd_proc_path(dir_fd, path), IN_WHAT);
	if (*ret_wd < 0)
		return -errno;
	key_set(ret, 0, ret_wd, sizeof(*ret_wd));
	return 0;
}

void watch_with_own(struct watch *w, uint64_t id)
{
	struct watch_dir *d;

	pthread_mutex_lock(&w->lock);
	d = find_id(w, id);
	if (d)
		d->with_own = true;
	pthread_mutex_unlock(&w->lock);
}

/* Take the kernel's mark away; @dir_fd may be another directory by now. */
static void unmark(struct watch *w, const struct watch_dir *d, int dir_fd)
{
	struct watch_key now = { 0 };
	char path[32];

	if (!w->is_fan) {
		(void)inotify_rm_watch(w->fd, d->wd); /* the directory may be gone with its watch */
		return;
	}
	if (dir_fd < 0 || key_of_dir(dir_fd, &now) < 0 || !has_key(d, &now))
		return;
	fd_proc_path(dir_fd, path);
	(void)fanotify_mark(w->fd, FAN_MARK_REMOVE, FAN_WHAT, AT_FDCWD, path); /* same */
}

/* The lock is held; @ret is one user more, and may be one that was watched before. */
static int add(struct watch *w, int dir_fd, struct watch_dir **ret)
{
	struct watch_dir *d = calloc(1, sizeof(*d) + WATCH_KEY_MAX);
	struct watch_dir *known;
	struct watch_key key = { 0 };
	int r = d ? mark(w, dir_fd, &key, &d->wd) : -ENOMEM;

	known = r < 0 ? NULL : find_key(w, &key);
	if (r < 0 || known) {
		free(d);
	} else {
		memcpy(d->key, key.bytes, key.len);
		d->key_len = (unsigned char)key.len;
		known = realloc(d, sizeof(*d) + key.len); /* shorter */
		known = known ? known : d;
		known->id = ++w->next_id;
		hashset_add(&w->by_id, &known->by_id);
		hashset_add(&w->by_key, &known->by_key);
	}
	if (r < 0)
		return r;
	known->users++;
	*ret = known;
	return 0;
}

int watch_add(struct watch *w, int dir_fd, bool with_own, uint64_t *ret_id)
{
	struct watch_dir *d;
	int r;

	pthread_mutex_lock(&w->lock);
	r = add(w, dir_fd, &d);
	if (!r) {
		d->with_own |= with_own;
		*ret_id = d->id;
	}
	pthread_mutex_unlock(&w->lock);
	if (r < 0) {
		atomic_fetch_add(&w->refused, 1);
		atomic_fetch_add(&w->remote, r == -EREMOTE);
	}
	return r;
}

void watch_remove(struct watch *w, uint64_t id, int dir_fd)
{
	struct watch_dir *d;

	pthread_mutex_lock(&w->lock);
	d = find_id(w, id);
	if (d && !--d->users) {
		unmark(w, d, dir_fd);
		hashset_remove(&w->by_id, &d->by_id);
		hashset_remove(&w->by_key, &d->by_key);
		free(d);
	}
	pthread_mutex_unlock(&w->lock);
}

bool watch_is(struct watch *w, uint64_t id, int dir_fd)
{
	uint64_t now;

	if (watch_add(w, dir_fd, false, &now) < 0)
		return false;
	watch_remove(w, now, dir_fd);
	return now == id;
}

void watch_stats(struct watch *w, struct watch_stats *ret)
{
	pthread_mutex_lock(&w->lock);
	*ret = (struct watch_stats){
		.mechanism = w->is_fan ? "fanotify" : "inotify",
		.dirs = w->by_id.n,
		.events = atomic_load(&w->events),
		.own = atomic_load(&w->own),
		.overflows = atomic_load(&w->overflows),
		.refused = atomic_load(&w->refused),
		.remote = atomic_load(&w->remote),
	};
	pthread_mutex_unlock(&w->lock);
}
