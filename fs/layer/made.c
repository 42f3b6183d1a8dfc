/* SPDX-License-Identifier: MIT */
/*
 * What a view has made: see made.h. The file `made` of a scratch directory is a log: "+ number
 * birth-time path TAB name", the name being empty, or the one of people's that it stands for, or
 * has been moved away from; "- number birth-time path", or without a path for all of an object's.
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
#include <utlist.h>

#include "base/fd.h"
#include "base/path.h"

#define LIST "made"

enum { LIST_MAX = 1 << 28 };

struct made_key {
	uint64_t ino;
	uint64_t btime_nsec;
};

/* One of an object's hard links. */
struct name {
	struct name *next;
	char *path;
	char *theirs; /* "", or a name of people's: see above */
	struct name *theirs_next; /* of those with one, in made.theirs */
	struct name *theirs_prev;
};

struct item {
	struct made_key key;
	struct name *names; /* at least one */
	UT_hash_handle hh;
};

struct made {
	pthread_rwlock_t lock; /* guards the table */
	struct item *items;
	struct name *theirs; /* few: what people had and has been moved or replaced */
	_Atomic bool any;
	int fd; /* of the list, for appending; -1 */
};

/* @n need not be in the table. */
static void name_free(struct made *m, struct name *n)
{
	if (!n)
		return;
	if (n->theirs_prev)
		DL_DELETE2(m->theirs, n, theirs_prev, theirs_next);
	free(n->path);
	free(n->theirs);
	free(n);
}

static struct name *name_new(struct made *m, const char *path, const char *theirs)
{
	struct name *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->path = strdup(path);
	n->theirs = strdup(theirs);
	if (n->path && n->theirs)
		return n;
	name_free(m, n);
	return NULL;
}

static void item_free(struct made *m, struct item *i)
{
	while (i->names) {
		struct name *n = i->names;

		i->names = n->next;
		name_free(m, n);
	}
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
		item_free(m, i);
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

/* Where the name @path of @i hangs, or would. */
static struct name **slot_of(struct item *i, const char *path)
{
	struct name **n = &i->names;

	while (*n && strcmp((*n)->path, path) != 0)
		n = &(*n)->next;
	return n;
}

static const struct name *find_at(struct made *m, const char *path, const struct object *o)
{
	struct made_key key = key_of(o);
	struct item *i = find(m, &key);

	return i ? *slot_of(i, path) : NULL;
}

static void forget(struct made *m, struct item *i)
{
	HASH_DEL(m->items, i);
	item_free(m, i);
}

/* Take the name at @slot from @i, which goes with its last one. */
static void forget_name(struct made *m, struct item *i, struct name **slot)
{
	struct name *n = *slot;

	*slot = n->next;
	name_free(m, n);
	if (!i->names)
		forget(m, i);
}

/* Out of memory, it is not remembered: then it is people's. */
static struct item *item_of(struct made *m, const struct made_key *key)
{
	struct item *i = find(m, key);

	if (i)
		return i;
	i = calloc(1, sizeof(*i));
	if (!i)
		return NULL;
	i->key = *key;
	HASH_ADD(hh, m->items, key, sizeof(i->key), i);
	atomic_store(&m->any, true);
	return i;
}

static void remember(struct made *m, const struct made_key *key, const char *path,
		     const char *theirs)
{
	struct name *n = name_new(m, path, theirs);
	struct item *i = n ? item_of(m, key) : NULL;
	struct name **slot;
	struct name *old;

	if (!i) {
		name_free(m, n);
		return;
	}
	slot = slot_of(i, path);
	old = *slot;
	n->next = old ? old->next : NULL;
	*slot = n;
	name_free(m, old);
	if (*n->theirs)
		DL_APPEND2(m->theirs, n, theirs_prev, theirs_next);
}

static void print(const struct made_key *key, const struct name *n, struct strbuf *ret)
{
	strbuf_addf(ret, "+ %" PRIu64 " %" PRIu64 " %s\t%s\n", key->ino, key->btime_nsec, n->path,
		    n->theirs);
}

/* That @path, or NULL for every name, is no longer one of the object's. */
static void print_gone(const struct made_key *key, const char *path, struct strbuf *ret)
{
	strbuf_addf(ret, "- %" PRIu64 " %" PRIu64 "%s%s\n", key->ino, key->btime_nsec,
		    path ? " " : "", path ? path : "");
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
	for (const struct name *n = m->theirs; n; n = n->theirs_next)
		if (!strcmp(n->theirs, path))
			return true;
	return false;
}

static void set(struct made *m, const struct object *o, const char *path, const char *theirs)
{
	cleanup_strbuf struct strbuf line = STRBUF_INIT;
	struct made_key key = key_of(o);
	const struct name *n;

	remember(m, &key, path, theirs);
	n = find_at(m, path, o);
	if (!n)
		return;
	print(&key, n, &line);
	append(m, &line);
}

/* Forget one name of @o, or with NULL all. */
static void unset(struct made *m, const struct object *o, const char *path)
{
	cleanup_strbuf struct strbuf line = STRBUF_INIT;
	struct made_key key = key_of(o);
	struct item *i = find(m, &key);
	struct name **slot = i && path ? slot_of(i, path) : NULL;

	if (!i || (slot && !*slot))
		return;
	print_gone(&key, path, &line);
	append(m, &line);
	if (slot)
		forget_name(m, i, slot);
	else
		forget(m, i);
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

/* The name of people's that @o stands for, or comes from, once it has been renamed; NULL out of
 * memory. */
static char *theirs_after(struct made *m, const char *from, const char *to, const struct object *o,
			  const struct object *replaced)
{
	const struct name *n = find_at(m, from, o);
	const struct name *old = replaced ? find_at(m, to, replaced) : NULL;

	if ((replaced && (!old || *old->theirs)) || is_theirs(m, to))
		return strdup(to);
	return strdup(n ? n->theirs : from);
}

/* In a spec directory only links are known, and a link that is not is served as a file. */
static bool has_name(const struct stack *st, unsigned layer, const char *path,
		     const struct object *o)
{
	return matters(st, layer, o) &&
	       (st->layers[layer].kind == LAYER_GRAFT || find_at(st->made, path, o));
}

static void move_one(struct made *m, const char *from, const char *to, const struct object *o,
		     const char *theirs)
{
	if (!theirs)
		return;
	if (strcmp(from, to) != 0)
		unset(m, o, from);
	set(m, o, to, theirs);
}

/* Directory @from is @to now: have *@path say so, if it is below. Returns whether it was. */
static bool follow(char **path, const char *from, const char *to)
{
	const char *rest = path_below(*path, from);
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	char *now;

	if (!rest || !*rest)
		return false;
	strbuf_addf(&text, "%s/%s", to, rest);
	now = strbuf_detach(&text);
	if (!now)
		return false; /* what is not remembered is people's */
	free(*path);
	*path = now;
	return true;
}

/* The same the other way round, too, if two directories have changed places. */
static bool follow_both(char **path, const char *a, const char *b, bool swapped)
{
	return follow(path, a, b) || (swapped && follow(path, b, a));
}

/* What was made in a directory has moved with it. */
static void move_below(struct made *m, const char *from, const char *to, bool swapped)
{
	cleanup_strbuf struct strbuf lines = STRBUF_INIT;

	for (struct item *i = m->items; i; i = i->hh.next)
		for (struct name *n = i->names; n; n = n->next) {
			cleanup_free char *was = strdup(n->path);
			bool moved = follow_both(&n->path, from, to, swapped);

			if (moved && was)
				print_gone(&i->key, was, &lines);
			if (follow_both(&n->theirs, from, to, swapped) || moved)
				print(&i->key, n, &lines);
		}
	append(m, &lines);
}

/* Is there anything to remember of a rename in layer @layer? */
static bool is_kept(const struct stack *st, unsigned layer, const char *from, const char *to)
{
	enum layer_kind kind = st->layers[layer].kind;

	return st->made && (kind == LAYER_GRAFT || kind == LAYER_SPEC) && is_line(from) &&
	       is_line(to);
}

void made_moved(const struct stack *st, unsigned layer, const char *from, const char *to,
		const struct object *o, const struct object *replaced)
{
	cleanup_free char *theirs = NULL;
	struct made *m = st->made;

	if (!is_kept(st, layer, from, to))
		return;
	pthread_rwlock_wrlock(&m->lock);
	if (has_name(st, layer, from, o))
		theirs = theirs_after(m, from, to, o, replaced);
	if (S_ISDIR(o->st.st_mode) && strcmp(from, to) != 0)
		move_below(m, from, to, false);
	move_one(m, from, to, o, theirs);
	pthread_rwlock_unlock(&m->lock);
}

void made_swapped(const struct stack *st, unsigned layer, const struct made_end *a,
		  const struct made_end *b)
{
	cleanup_free char *theirs_a = NULL;
	cleanup_free char *theirs_b = NULL;
	struct made *m = st->made;

	if (!is_kept(st, layer, a->path, b->path))
		return;
	pthread_rwlock_wrlock(&m->lock);
	if (has_name(st, layer, a->path, a->obj))
		theirs_a = theirs_after(m, a->path, b->path, a->obj, b->obj);
	if (has_name(st, layer, b->path, b->obj))
		theirs_b = theirs_after(m, b->path, a->path, b->obj, a->obj);
	move_below(m, a->path, b->path, true);
	move_one(m, a->path, b->path, a->obj, theirs_a);
	move_one(m, b->path, a->path, b->obj, theirs_b);
	pthread_rwlock_unlock(&m->lock);
}

void made_gone(const struct stack *st, const char *path, const struct object *o)
{
	bool last = S_ISDIR(o->st.st_mode) || o->st.st_nlink == 1;
	struct made *m = st->made;

	if (!m || !atomic_load_explicit(&m->any, memory_order_acquire) || !o->btime_nsec)
		return;
	pthread_rwlock_wrlock(&m->lock);
	unset(m, o, last ? NULL : path);
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
	const struct name *n;
	bool may;

	if (!m || !atomic_load_explicit(&m->any, memory_order_acquire))
		return false;
	pthread_rwlock_rdlock(&m->lock);
	n = find_at(m, path, o);
	may = n && (!*n->theirs ||
		    (strcmp(n->theirs, path) && exists(&st->layers[layer], n->theirs)));
	pthread_rwlock_unlock(&m->lock);
	return may;
}

/* Is it still where it was? */
static bool is_true(const struct stack *st, const struct made_key *key, const char *path)
{
	for (unsigned i = 0; i < st->n; i++) {
		const struct layer *l = &st->layers[i];
		cleanup_fd int fd = -1;
		struct object o;

		if (l->kind != LAYER_GRAFT && l->kind != LAYER_SPEC)
			continue;
		fd = layer_open(l, path, O_PATH, 0);
		if (fd >= 0 && !object_stat(fd, "", &o) && o.st.st_ino == key->ino &&
		    o.btime_nsec == key->btime_nsec)
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

/* Of a line that says what is gone, what is behind the key. */
static void read_gone(struct made *m, const struct made_key *key, const char *path)
{
	struct item *i = find(m, key);
	struct name **slot = i && *path ? slot_of(i, path) : NULL;

	if (i && !*path)
		forget(m, i);
	else if (slot && *slot)
		forget_name(m, i, slot);
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
		read_gone(m, &key, path);
		return;
	}
	tab = strchr(path, '\t');
	if (!tab)
		return;
	*tab = '\0';
	if (path_is_clean(path) && path_is_clean(tab + 1))
		remember(m, &key, path, tab + 1);
}

/* Print the names of @i that it still has, and forget the others. */
static void print_true(const struct stack *st, struct made *m, struct item *i, struct strbuf *ret)
{
	struct name **slot = &i->names;

	while (*slot) {
		if (is_true(st, &i->key, (*slot)->path)) {
			print(&i->key, *slot, ret);
			slot = &(*slot)->next;
		} else {
			struct name *n = *slot;

			*slot = n->next;
			name_free(m, n);
		}
	}
	if (!i->names)
		forget(m, i);
}

/* Write the log anew, without what is no longer true. */
static void write_list(const struct stack *st, struct made *m, int dir_fd)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	struct item *i;
	struct item *next;

	HASH_ITER(hh, m->items, i, next)
		print_true(st, m, i, &text);
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
