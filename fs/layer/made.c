/* SPDX-License-Identifier: MIT */
/*
 * What a view has made: see made.h. The file `made` of a scratch directory is a log: "+ number
 * birth-time path TAB name", the name being empty, or the one of people's that it stands for, or
 * has been moved away from; "- number birth-time".
 */
#include "layer/made.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <uthash.h>

#include "base/fd.h"
#include "base/path.h"

#define LIST "made"

enum { LIST_MAX = 1 << 28 };

struct made_key {
	uint64_t ino;
	uint64_t btime_nsec;
};

struct item {
	struct made_key key;
	char *path;
	char *theirs; /* "", or a name of people's: see above */
	UT_hash_handle hh;
};

struct made {
	pthread_rwlock_t lock; /* guards the table */
	struct item *items;
	_Atomic bool any;
	int fd; /* of the list, for appending; -1 */
};

static void item_free(struct item *i)
{
	free(i->path);
	free(i->theirs);
	free(i);
}

void made_free(struct made *m)
{
	struct item *i;
	struct item *next;

	if (!m)
		return;
	HASH_ITER(hh, m->items, i, next) {
		HASH_DEL(m->items, i);
		item_free(i);
	}
	if (m->fd >= 0)
		close(m->fd);
	pthread_rwlock_destroy(&m->lock);
	free(m);
}

static struct made_key key_of(const struct object *o)
{
	return (struct made_key){ .ino = o->st.st_ino, .btime_nsec = o->btime_nsec };
}

static struct item *find(struct made *m, const struct made_key *key)
{
	struct item *i;

	HASH_FIND(hh, m->items, key, sizeof(*key), i);
	return i;
}

static struct item *find_at(struct made *m, const char *path, const struct object *o)
{
	struct made_key key = key_of(o);
	struct item *i = find(m, &key);

	return i && !strcmp(i->path, path) ? i : NULL;
}

static void forget(struct made *m, const struct made_key *key)
{
	struct item *i = find(m, key);

	if (!i)
		return;
	HASH_DEL(m->items, i);
	item_free(i);
}

/* Returns false when out of memory: then it is not remembered. */
static bool remember(struct made *m, const struct made_key *key, const char *path,
		     const char *theirs)
{
	struct item *i = calloc(1, sizeof(*i));

	if (!i)
		return false;
	i->key = *key;
	i->path = strdup(path);
	i->theirs = strdup(theirs);
	if (!i->path || !i->theirs) {
		item_free(i);
		return false;
	}
	forget(m, key);
	HASH_ADD(hh, m->items, key, sizeof(i->key), i);
	atomic_store(&m->any, true);
	return true;
}

static void print(const struct item *i, struct strbuf *ret)
{
	strbuf_addf(ret, "+ %" PRIu64 " %" PRIu64 " %s\t%s\n", i->key.ino, i->key.btime_nsec,
		    i->path, i->theirs);
}

static void append(const struct made *m, const struct strbuf *line)
{
	/* what can't be written does not outlive the mount: then it is people's */
	if (m->fd >= 0 && !strbuf_failed(line))
		(void)fd_write_all(m->fd, line->buf, line->len);
}

/* A name of people's from which something has been moved away, or that something of ours has. */
static bool is_theirs(const struct made *m, const char *path)
{
	for (const struct item *i = m->items; i; i = i->hh.next)
		if (!strcmp(i->theirs, path))
			return true;
	return false;
}

static void set(struct made *m, const struct object *o, const char *path, const char *theirs)
{
	cleanup_strbuf struct strbuf line = STRBUF_INIT;
	struct made_key key = key_of(o);

	if (!remember(m, &key, path, theirs))
		return;
	print(find(m, &key), &line);
	append(m, &line);
}

static bool is_line(const char *path)
{
	return !strpbrk(path, "\n\t");
}

/* Does it make a difference who made @o in layer @layer? */
static bool matters(const struct stack *st, unsigned layer, const struct object *o)
{
	enum layer_kind kind = st->layers[layer].kind;

	return st->made && o->btime_nsec &&
	       (kind == LAYER_GRAFT || (kind == LAYER_SPEC && S_ISLNK(o->st.st_mode)));
}

void made_add(const struct stack *st, unsigned layer, const char *path, const struct object *o)
{
	struct made *m = st->made;

	if (!matters(st, layer, o) || !is_line(path))
		return;
	pthread_rwlock_wrlock(&m->lock);
	set(m, o, path, is_theirs(m, path) ? path : "");
	pthread_rwlock_unlock(&m->lock);
}

void made_moved(const struct stack *st, unsigned layer, const char *from, const char *to,
		const struct object *o, const struct object *replaced)
{
	cleanup_free char *theirs = NULL;
	struct made *m = st->made;
	const struct item *i;
	const struct item *old;

	if (!matters(st, layer, o) || !is_line(from) || !is_line(to))
		return;
	pthread_rwlock_wrlock(&m->lock);
	i = find_at(m, from, o);
	old = replaced ? find_at(m, to, replaced) : NULL;
	if ((replaced && (!old || *old->theirs)) || is_theirs(m, to))
		theirs = strdup(to);
	else
		theirs = strdup(i ? i->theirs : from);
	/* in a spec directory only links are known, and a link that is not is served as a file */
	if (theirs && (i || st->layers[layer].kind == LAYER_GRAFT))
		set(m, o, to, theirs);
	pthread_rwlock_unlock(&m->lock);
}

void made_gone(const struct stack *st, const char *path, const struct object *o)
{
	cleanup_strbuf struct strbuf line = STRBUF_INIT;
	struct made_key key = key_of(o);
	bool last = S_ISDIR(o->st.st_mode) || o->st.st_nlink == 1;
	struct made *m = st->made;

	if (!m || !atomic_load_explicit(&m->any, memory_order_acquire) || !o->btime_nsec)
		return;
	pthread_rwlock_wrlock(&m->lock);
	if (last ? find(m, &key) : find_at(m, path, o)) {
		strbuf_addf(&line, "- %" PRIu64 " %" PRIu64 "\n", key.ino, key.btime_nsec);
		append(m, &line);
		forget(m, &key);
	}
	pthread_rwlock_unlock(&m->lock);
}

bool made_is_link(const struct stack *st, const char *path, const struct object *o)
{
	struct made *m = st->made;
	bool is;

	if (!m || !atomic_load_explicit(&m->any, memory_order_acquire))
		return false;
	pthread_rwlock_rdlock(&m->lock);
	is = find_at(m, path, o) != NULL;
	pthread_rwlock_unlock(&m->lock);
	return is;
}

static bool exists(const struct layer *l, const char *path)
{
	cleanup_fd int fd = layer_open(l, path, O_PATH, 0);

	return fd >= 0;
}

bool made_may_go(const struct stack *st, unsigned layer, const char *path, const struct object *o)
{
	struct made *m = st->made;
	const struct item *i;
	bool may;

	if (!m || !atomic_load_explicit(&m->any, memory_order_acquire))
		return false;
	pthread_rwlock_rdlock(&m->lock);
	i = find_at(m, path, o);
	may = i && (!*i->theirs ||
		    (strcmp(i->theirs, path) && exists(&st->layers[layer], i->theirs)));
	pthread_rwlock_unlock(&m->lock);
	return may;
}

/* Is it still where it was? */
static bool is_true(const struct stack *st, const struct item *it)
{
	for (unsigned i = 0; i < st->n; i++) {
		const struct layer *l = &st->layers[i];
		cleanup_fd int fd = -1;
		struct object o;

		if (l->kind != LAYER_GRAFT && l->kind != LAYER_SPEC)
			continue;
		fd = layer_open(l, it->path, O_PATH, 0);
		if (fd >= 0 && !object_stat(fd, "", &o) && o.st.st_ino == it->key.ino &&
		    o.btime_nsec == it->key.btime_nsec)
			return true;
	}
	return false;
}

/* A number and a birth time at *@p, which goes behind them. */
static bool read_key(char **p, struct made_key *ret)
{
	uint64_t *both[] = { &ret->ino, &ret->btime_nsec };

	for (size_t i = 0; i < ARRAY_SIZE(both); i++) {
		char *end;

		errno = 0;
		*both[i] = strtoull(*p, &end, 10);
		if (errno || end == *p)
			return false;
		*p = end + (*end == ' ');
	}
	return true;
}

/* Take one line; what is none is left out. */
static void read_line(struct made *m, char *line)
{
	bool gone = !strncmp(line, "- ", 2);
	char *path = line + 2;
	struct made_key key;
	char *tab;

	if ((!gone && strncmp(line, "+ ", 2) != 0) || !read_key(&path, &key))
		return;
	if (gone) {
		forget(m, &key);
		return;
	}
	tab = strchr(path, '\t');
	if (!tab)
		return;
	*tab = '\0';
	if (path_is_clean(path) && path_is_clean(tab + 1))
		(void)remember(m, &key, path, tab + 1);
}

/* Write the log anew, without what is no longer true. */
static void write_list(const struct stack *st, struct made *m, int dir_fd)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	struct item *i;
	struct item *next;

	HASH_ITER(hh, m->items, i, next) {
		if (is_true(st, i))
			print(i, &text);
		else
			forget(m, &(struct made_key){ i->key.ino, i->key.btime_nsec });
	}
	/* the old one says the same, and more */
	if (!strbuf_failed(&text))
		(void)fd_replace_file(dir_fd, LIST, LIST ".new", 0600, text.buf, text.len);
}

int made_open(struct stack *st, int dir_fd)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	struct made *m = calloc(1, sizeof(*m));
	char *save = NULL;

	if (!m)
		return -ENOMEM;
	m->fd = -1;
	pthread_rwlock_init(&m->lock, NULL);
	st->made = m;
	(void)unlinkat(dir_fd, LIST ".new", 0); /* one that a crash has left */
	if (fd_read_file(dir_fd, LIST, LIST_MAX, &text) == 0 && text.len) {
		for (char *line = strtok_r(text.buf, "\n", &save); line;
		     line = strtok_r(NULL, "\n", &save))
			read_line(m, line);
		write_list(st, m, dir_fd);
	}
	m->fd = openat(dir_fd, LIST, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	return 0;
}
