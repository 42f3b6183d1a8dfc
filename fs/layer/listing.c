/* SPDX-License-Identifier: MIT */
/*
 * The listing of a directory: see listing.h. Names are gathered from every part; a name that only
 * the lowest layer can have is taken from its directory entry, any other is looked up.
 */
#include "layer/listing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>
#include <uthash.h>

#include "base/fd.h"
#include "base/path.h"
#include "layer/candidate.h"
#include "layer/kept.h"
#include "layer/openup.h"

/* A name seen in at least one part. */
struct seen {
	unsigned layer;         /* the first that has it */
	bool shared;            /* others have it too, or the view may change it: look it up */
	uint64_t ino;           /* of the layer */
	unsigned char type;
	UT_hash_handle hh;
	char name[];
};

struct gather {
	const struct stack *st;
	const struct dirset *dir;
	struct seen *seen;      /* hash by name */
	struct strbuf path;     /* of the name at hand */
};

static void gather_clear(struct gather *g)
{
	struct seen *s;
	struct seen *next;

	HASH_ITER(hh, g->seen, s, next) {
		HASH_DEL(g->seen, s);
		free(s);
	}
	strbuf_clear(&g->path);
}

/* Note that layer @i has @name. */
static int note(struct gather *g, unsigned i, const char *name, uint64_t ino, unsigned char type,
		bool shared)
{
	size_t len = strlen(name);
	struct seen *s;

	HASH_FIND(hh, g->seen, name, len, s);
	if (s) {
		s->shared = true;
		return 0;
	}
	s = malloc(sizeof(*s) + len + 1);
	if (!s)
		return -ENOMEM;
	*s = (struct seen){ .layer = i, .shared = shared, .ino = ino, .type = type };
	memcpy(s->name, name, len + 1);
	HASH_ADD_KEYPTR(hh, g->seen, s->name, len, s);
	return 0;
}

/* May a name of layer @i, seen nowhere else, be listed from its directory entry alone? */
static bool is_plain(const struct gather *g, unsigned i, const char *name, unsigned char type)
{
	const struct layer *l = &g->st->layers[i];

	if (type == DT_UNKNOWN || !strncmp(name, ".specfs-tmp.", 12))
		return false;
	if (l->kind == LAYER_OVERLAY)
		return true;
	if (l->kind != LAYER_TRUNK)
		return false;
	if (!g->st->rules)
		return true;
	return !ruleset_hides(g->st->rules, g->path.buf, type == DT_DIR, type == DT_LNK);
}

/* Can a hide list take a name of the directory away? Its layer need not be part of it. */
static bool has_hide_list(const struct gather *g)
{
	for (unsigned i = 0; i < g->st->n; i++) {
		const char *rel;

		if (g->st->hides[i] &&
		    rule_place(g->st->layers[i].rule, g->dir->path, &rel) == RULE_INSIDE &&
		    !hide_is_empty(g->st->hides[i]))
			return true;
	}
	return false;
}

/*
 * Open a part for reading: not by the name ".", for who may read a directory need not be allowed to
 * search it. The modes of scratch's own directories are the view's, not ours.
 */
static int open_part(const struct gather *g, unsigned i)
{
	int flags = O_RDONLY | O_DIRECTORY;
	struct openup open;
	int fd = fd_reopen(g->dir->fd[i], flags);

	if (fd != -EACCES || g->st->layers[i].kind != LAYER_SCRATCH)
		return fd;
	openup_begin(g->dir->fd[i], OPENUP_READ, &open);
	fd = fd_reopen(g->dir->fd[i], flags);
	openup_end(&open);
	return fd;
}

static int read_part(struct gather *g, unsigned i, bool guarded)
{
	cleanup_dir DIR *d = NULL;
	int fd = open_part(g, i);

	if (fd < 0)
		return fd;
	d = fdopendir(fd);
	if (!d) {
		int err = errno;

		close(fd);
		return -err;
	}
	for (;;) {
		const struct dirent *e;
		int r;

		errno = 0;
		e = readdir(d);
		if (!e)
			return -errno;
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		r = path_join(&g->path, g->dir->path, e->d_name);
		if (!r)
			r = note(g, i, e->d_name, e->d_ino, e->d_type,
				 guarded || !is_plain(g, i, e->d_name, e->d_type));
		if (r < 0)
			return r;
	}
}

/* A name that a rule, not a directory, puts here: the next component on the way to its place. */
static int note_place(struct gather *g, unsigned i)
{
	const struct rule *r = g->st->layers[i].rule;
	const char *rest = r ? path_below(r->at, g->dir->path) : NULL;
	cleanup_free char *name = NULL;

	if (!rest || !*rest)
		return 0;
	name = strndup(rest, strcspn(rest, "/"));
	return name ? note(g, i, name, 0, DT_UNKNOWN, true) : -ENOMEM;
}

/* The names that a generated link with a glob takes from its directory. */
static int note_matches(struct gather *g, unsigned i)
{
	const struct layer *l = &g->st->layers[i];
	struct dirset from;
	int r;

	if (!candidate_is_glob_place(l, g->dir->path) || g->st->root_fd < 0)
		return 0;
	dirset_init(&from);
	from.fd[i] = fd_open_beneath(g->st->root_fd, l->rule->from, O_PATH | O_DIRECTORY, 0);
	if (from.fd[i] < 0)
		return 0; /* nothing to link to */
	from.parts = UINT64_C(1) << i;
	from.path = g->dir->path;
	{
		const struct dirset *dir = g->dir;

		g->dir = &from;
		r = read_part(g, i, true);
		g->dir = dir;
	}
	dirset_close(&from);
	return r;
}

static int gather_names(struct gather *g)
{
	bool guarded = has_hide_list(g);

	for (uint64_t left = g->dir->parts; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);
		int r;

		if (g->dir->fd[i] >= 0)
			r = read_part(g, i, guarded);
		else if (g->st->layers[i].kind == LAYER_GENERATED)
			r = note_matches(g, i);
		else
			r = 0;
		if (!r)
			r = note_place(g, i);
		if (r < 0)
			return r;
	}
	return 0;
}

/*
 * What the view shows of a name: 1, or 0 if nothing, or an errno. A name whose look-up fails for
 * another reason than absence stays listed: the error shows when it is used. *@loose is set if
 * what nobody sees may change that.
 */
static int settle(const struct gather *g, const struct seen *s, struct entry *ret, bool *loose)
{
	const struct layer *l = &g->st->layers[s->layer];
	struct found f;
	int r;

	ret->layer = s->layer;
	ret->type = s->type;
	if (!s->shared && (l->kind == LAYER_TRUNK || l->kind == LAYER_OVERLAY) &&
	    !kept_may_have(g->st, s->ino)) {
		ret->ino = 0;
		ret->alone = true;
		return 1;
	}
	r = stack_child(g->st, g->dir, s->name, &f);
	if (!r || r == -ENOENT)
		*loose |= stack_is_loose(g->st, g->dir, s->name, r ? NULL : &f);
	if (r == -ENOENT)
		return 0;
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		ret->ino = s->ino;
		return 1;
	}
	ret->ino = f.st.st_ino;
	ret->type = IFTODT(f.st.st_mode);
	ret->layer = f.layer;
	return 1;
}

/* FNV-1a, spread: the offset of a name. Source: draft-eastlake-fnv; 3 and up, below 2^63. */
static uint64_t name_offset(const char *name)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 0x100000001b3u;
	h ^= h >> 29;
	h *= 0xbf58476d1ce4e5b9u;
	h ^= h >> 32;
	h &= INT64_MAX;
	return h < 3 ? h + 3 : h;
}

static int by_offset(const void *a, const void *b)
{
	const struct entry *x = a;
	const struct entry *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Device of a part, for the numbers of plain entries. */
static dev_t part_dev(int fd)
{
	struct stat st;

	return fstat(fd, &st) < 0 ? 0 : st.st_dev;
}

static int fill(struct gather *g, struct listing *l)
{
	dev_t devs[STACK_MAX] = { 0 };
	size_t used = 0;
	struct seen *s;
	struct seen *next;

	HASH_ITER(hh, g->seen, s, next) {
		struct entry *e = &l->v[l->n];
		size_t len = strlen(s->name) + 1;
		int r = settle(g, s, e, &l->loose);

		if (r < 0)
			return r;
		if (!r)
			continue;
		if (!e->ino) {
			if (!devs[e->layer])
				devs[e->layer] = part_dev(g->dir->fd[e->layer]);
			e->ino = inomap_file(g->st->inos, devs[e->layer], s->ino);
		}
		memcpy(l->names + used, s->name, len);
		e->name = l->names + used;
		e->offset = name_offset(s->name);
		used += len;
		l->n++;
	}
	return 0;
}

static int listing_make(struct gather *g, struct listing **ret)
{
	cleanup_listing struct listing *l = calloc(1, sizeof(*l));
	size_t n = HASH_COUNT(g->seen);
	size_t bytes = 0;
	int r;

	for (const struct seen *s = g->seen; s; s = s->hh.next)
		bytes += strlen(s->name) + 1;
	if (!l)
		return -ENOMEM;
	l->v = calloc(n ? n : 1, sizeof(*l->v));
	l->names = malloc(bytes ? bytes : 1);
	if (!l->v || !l->names)
		return -ENOMEM;
	r = fill(g, l);
	if (r < 0)
		return r;
	qsort(l->v, l->n, sizeof(*l->v), by_offset);
	l->bytes = sizeof(*l) + n * sizeof(*l->v) + bytes;
	*ret = steal_ptr(&l);
	return 0;
}

int listing_read(const struct stack *st, const struct dirset *dir, struct listing **ret)
{
	struct gather g = { .st = st, .dir = dir, .path = STRBUF_INIT };
	int r = gather_names(&g);

	if (!r)
		r = listing_make(&g, ret);
	gather_clear(&g);
	return r;
}

void listing_free(struct listing *l)
{
	if (!l)
		return;
	free(l->v);
	free(l->names);
	free(l);
}

size_t listing_seek(const struct listing *l, uint64_t offset)
{
	size_t lo = 0;
	size_t hi = l->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (l->v[mid].offset > offset)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

int listing_is_empty(const struct stack *st, const struct dirset *dir)
{
	cleanup_listing struct listing *l = NULL;
	int r = listing_read(st, dir, &l);

	return r < 0 ? r : l->n == 0;
}

int listing_is_empty_at(const struct stack *st, const char *path, uint64_t parts)
{
	cleanup_dirset struct dirset ds;
	int r;

	dirset_init(&ds);
	r = stack_open_dir(st, path, parts, &ds);
	return r < 0 ? r : listing_is_empty(st, &ds);
}
