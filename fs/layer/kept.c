/* SPDX-License-Identifier: MIT */
/*
 * Numbers that specializations keep: see kept.h. The file `numbers` of a scratch directory has a
 * line a copy: device, number and birth time of the copy, the same of the original but the device,
 * and the original's path. The last line about a path counts.
 */
#include "layer/kept.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uthash.h>

#include "base/fd.h"
#include "base/path.h"

#define LIST "numbers"

enum { LIST_MAX = 1 << 28 };

struct copy {
	uint64_t ino; /* key */
	dev_t dev;
	uint64_t btime_nsec;
	uint64_t orig_ino;
	uint64_t orig_btime_nsec;
	UT_hash_handle by_ino;
	UT_hash_handle by_path;
	char path[];
};

struct kept {
	pthread_rwlock_t lock; /* guards the tables */
	struct copy *inos;
	struct copy *paths;
	_Atomic bool any;
	int fd; /* of the list, for appending; -1 */
};

void kept_free(struct kept *k)
{
	struct copy *c;
	struct copy *next;

	if (!k)
		return;
	HASH_CLEAR(by_path, k->paths);
	HASH_ITER(by_ino, k->inos, c, next) {
		HASH_DELETE(by_ino, k->inos, c);
		free(c);
	}
	if (k->fd >= 0)
		close(k->fd);
	pthread_rwlock_destroy(&k->lock);
	free(k);
}

static void drop(struct kept *k, struct copy *c)
{
	if (!c)
		return;
	HASH_DELETE(by_ino, k->inos, c);
	HASH_DELETE(by_path, k->paths, c);
	free(c);
}

/* Takes @c. It alone may have its path's number; of two file systems' the later one counts. */
static void insert(struct kept *k, struct copy *c)
{
	struct copy *old;

	HASH_FIND(by_path, k->paths, c->path, strlen(c->path), old);
	drop(k, old);
	HASH_FIND(by_ino, k->inos, &c->ino, sizeof(c->ino), old);
	drop(k, old);
	HASH_ADD(by_ino, k->inos, ino, sizeof(c->ino), c);
	HASH_ADD_KEYPTR(by_path, k->paths, c->path, strlen(c->path), c);
	atomic_store(&k->any, true);
}

static struct copy *copy_new(const char *path)
{
	struct copy *c = calloc(1, sizeof(*c) + strlen(path) + 1);

	if (c)
		memcpy(c->path, path, strlen(path) + 1);
	return c;
}

static void print(const struct copy *c, struct strbuf *ret)
{
	strbuf_addf(ret, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n",
		    (uint64_t)c->dev, c->ino, c->btime_nsec, c->orig_ino, c->orig_btime_nsec,
		    c->path);
}

/* Does the trunk have the original where it was, under that name alone? */
static bool is_in_trunk(const struct stack *st, const struct copy *c, struct object *ret)
{
	cleanup_fd int fd = layer_open(&st->layers[st->n - 1], c->path, O_PATH, 0);

	return fd >= 0 && !object_stat(fd, "", ret) && S_ISREG(ret->st.st_mode) &&
	       ret->st.st_nlink == 1 && ret->st.st_ino == c->orig_ino &&
	       ret->btime_nsec == c->orig_btime_nsec;
}

/* Does the view show something else there, or nothing? */
static bool is_hidden(const struct stack *st, const struct copy *c)
{
	struct stack plain = *st;
	struct found f;
	int r;

	plain.kept = NULL; /* it is not asked for numbers meanwhile */
	r = stack_lookup(&plain, c->path, &f);
	return r < 0 ? r == -ENOENT || r == -ENOTDIR : f.layer != st->n - 1;
}

/* The device that a list of an earlier boot means, whatever it is called now. */
static dev_t settle_dev(const struct stack *st, dev_t dev)
{
	dev_t first = 0;

	for (unsigned i = 0; i < st->n; i++) {
		struct object o;

		if (st->layers[i].kind != LAYER_SPEC ||
		    object_stat(st->layers[i].base_fd, "", &o) < 0)
			continue;
		if (o.st.st_dev == dev)
			return dev;
		if (!first)
			first = o.st.st_dev;
	}
	return first;
}

/* The number at *@p, which goes behind it and the blank after it. */
static bool read_number(const char **p, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(*p, &end, 10);
	if (errno || !isdigit((unsigned char)**p) || *end != ' ')
		return false;
	*p = end + 1;
	return true;
}

/* Take one line; what is none, or no longer true, is left out. */
static int read_line(const struct stack *st, struct kept *k, const char *line)
{
	uint64_t dev, ino, btime_nsec, orig_ino, orig_btime_nsec;
	uint64_t *const numbers[] = { &dev, &ino, &btime_nsec, &orig_ino, &orig_btime_nsec };
	struct object orig;
	struct copy *c;

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (!read_number(&line, numbers[i]))
			return 0;
	if (!path_is_clean(line))
		return 0;
	c = copy_new(line);
	if (!c)
		return -ENOMEM;
	c->ino = ino;
	c->btime_nsec = btime_nsec;
	c->orig_ino = orig_ino;
	c->orig_btime_nsec = orig_btime_nsec;
	c->dev = settle_dev(st, (dev_t)dev);
	if (is_in_trunk(st, c, &orig))
		insert(k, c);
	else
		free(c);
	return 0;
}

static int read_list(const struct stack *st, struct kept *k, struct strbuf *text)
{
	size_t start = 0;
	int r = 0;

	for (size_t i = 0; i < text->len && !r; i++) {
		if (text->buf[i] != '\n')
			continue;
		text->buf[i] = '\0';
		r = read_line(st, k, text->buf + start);
		start = i + 1;
	}
	return r;
}

/* Write the list anew, without what is no longer true. */
static void write_list(const struct kept *k, int dir_fd)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;

	for (const struct copy *c = k->inos; c; c = c->by_ino.next)
		print(c, &text);
	/* the old one says the same, and more */
	if (!strbuf_failed(&text))
		(void)fd_replace_file(dir_fd, LIST, LIST ".new", 0600, text.buf, text.len);
}

int kept_open(struct stack *st, int dir_fd)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	struct kept *k = calloc(1, sizeof(*k));
	int r;

	if (!k)
		return -ENOMEM;
	k->fd = -1;
	pthread_rwlock_init(&k->lock, NULL);
	st->kept = k;
	if (st->layers[st->n - 1].kind != LAYER_TRUNK)
		return 0;
	(void)unlinkat(dir_fd, LIST ".new", 0); /* one that a crash has left */
	if (fd_read_file(dir_fd, LIST, LIST_MAX, &text) == 0 && text.len) {
		r = read_list(st, k, &text);
		if (r < 0)
			return r;
		write_list(k, dir_fd);
	}
	k->fd = openat(dir_fd, LIST, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	return 0;
}

/* Is the trunk's place seen at a second place of the view, too? */
static bool is_seen_twice(const struct stack *st, const char *path)
{
	for (unsigned i = 0; i < st->n - 1; i++)
		if (st->layers[i].in_root && path_below(path, st->layers[i].dir))
			return true;
	return false;
}

void kept_add(const struct stack *st, const char *path, const struct object *orig,
	      const struct object *copy)
{
	cleanup_strbuf struct strbuf line = STRBUF_INIT;
	struct kept *k = st->kept;
	struct copy *c;

	if (!k || !copy->btime_nsec || orig->st.st_nlink != 1 || strchr(path, '\n') ||
	    is_seen_twice(st, path))
		return;
	c = copy_new(path);
	if (!c)
		return; /* it shows its own number */
	c->dev = copy->st.st_dev;
	c->ino = copy->st.st_ino;
	c->btime_nsec = copy->btime_nsec;
	c->orig_ino = orig->st.st_ino;
	c->orig_btime_nsec = orig->btime_nsec;
	print(c, &line);
	pthread_rwlock_wrlock(&k->lock);
	/* what can't be written does not outlive the mount */
	if (k->fd >= 0 && !strbuf_failed(&line))
		(void)fd_write_all(k->fd, line.buf, line.len);
	insert(k, c);
	pthread_rwlock_unlock(&k->lock);
}

static struct copy *find(struct kept *k, uint64_t ino)
{
	struct copy *c;

	HASH_FIND(by_ino, k->inos, &ino, sizeof(ino), c);
	return c;
}

bool kept_may_have(const struct stack *st, uint64_t ino)
{
	struct kept *k = st->kept;
	bool has;

	if (!k || !atomic_load_explicit(&k->any, memory_order_acquire))
		return false;
	pthread_rwlock_rdlock(&k->lock);
	has = find(k, ino) != NULL;
	pthread_rwlock_unlock(&k->lock);
	return has;
}

uint64_t kept_number(const struct stack *st, const struct object *o)
{
	struct kept *k = st->kept;
	const struct copy *c;
	struct object orig;
	uint64_t ino = 0;

	if (!k || !atomic_load_explicit(&k->any, memory_order_acquire))
		return 0;
	pthread_rwlock_rdlock(&k->lock);
	c = find(k, o->st.st_ino);
	if (c && c->dev == o->st.st_dev && c->btime_nsec == o->btime_nsec &&
	    is_in_trunk(st, c, &orig) && is_hidden(st, c))
		ino = inomap_file(st->inos, orig.st.st_dev, orig.st.st_ino);
	pthread_rwlock_unlock(&k->lock);
	return ino;
}

uint64_t kept_shown(const struct stack *st, const struct object *o)
{
	uint64_t kept = S_ISREG(o->st.st_mode) ? kept_number(st, o) : 0;

	return kept ? kept : inomap_file(st->inos, o->st.st_dev, o->st.st_ino);
}
