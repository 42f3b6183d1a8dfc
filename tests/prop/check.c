/* SPDX-License-Identifier: MIT */
/* Comparing what is there with the model: see arena.h. */
#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "arena.h"
#include "base/fd.h"
#include "gen.h"

/* One comparison of a whole tree. */
struct check {
	struct arena *a;
	int dir;	    /* a layer's directory, or -1: the view */
	unsigned layer;	    /* which */
	uint64_t dirs[256]; /* inode numbers of directories seen */
	size_t n_dirs;
	char where[32]; /* for people */
};

static int do_list(struct check *c, const char *path, struct shown_list *ret)
{
	return c->dir < 0 ? c->a->be->list(c->a->site, path, ret) : posix_list(c->dir, path, ret);
}

static int do_look(struct check *c, const char *path, struct shown *ret)
{
	return c->dir < 0 ? c->a->be->look(c->a->site, path, ret) : posix_look(c->dir, path, ret);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct shown_name *)a)->name, ((const struct shown_name *)b)->name);
}

/* Files of specfs itself at the top of a layer. */
static bool is_mark(const struct check *c, const char *name)
{
	return c->dir >= 0 && c->a->m.layers[c->layer].role == ROLE_MAP &&
	       (!strcmp(name, ".specfs-hide") || !strcmp(name, ".specfs-base"));
}

/* Keep the names that are the arena's to compare. */
static void keep_own(const struct check *c, const char *path, struct shown_list *l)
{
	bool shared = c->dir < 0 || !*c->a->m.layers[c->layer].at;
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		const char *name = l->v[i].name;

		if (!*path && is_mark(c, name))
			continue;
		/* others' names, and what they exchange; an interim object's rest is nobody's */
		if (!*path && shared && c->a->site->arenas > 1 &&
		    (!arena_owns(c->a, name) || !strncmp(name, ".specfs-", 8)))
			continue;
		if (!*path && shared && !arena_owns(c->a, name) &&
		    strncmp(name, ".specfs-tmp.", 12) != 0)
			continue;
		l->v[n++] = l->v[i];
	}
	l->n = n;
	qsort(l->v, l->n, sizeof(l->v[0]), by_name);
}

static void join_names(char *buf, size_t size, const char *first, size_t n, size_t step)
{
	size_t used = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < n && used < size; i++)
		used += (size_t)snprintf(buf + used, size - used, "%s%s", i ? " " : "",
					 first + i * step);
}

static bool check_names(struct check *c, const char *path, char want[NAMES_MAX][NAME_SIZE],
			size_t n, struct shown_list *got)
{
	char a[160];
	char b[160];
	bool same = n == got->n;

	for (size_t i = 0; same && i < n; i++)
		same = !strcmp(want[i], got->v[i].name);
	if (same)
		return true;
	join_names(a, sizeof(a), got->v[0].name, got->n, sizeof(got->v[0]));
	join_names(b, sizeof(b), want[0], n, NAME_SIZE);
	return arena_fail(c->a, "%s: '%s' lists '%s', not '%s'", c->where, path, a, b);
}

static const char *kind_name(enum kind k)
{
	return k == KIND_DIR ? "directory" : k == KIND_LINK ? "symlink" : "file";
}

/* DT_* of a listing: right, or unknown. */
static bool is_type_of(unsigned char type, enum kind kind)
{
	return type == DT_UNKNOWN || type == (kind == KIND_DIR	  ? DT_DIR
					      : kind == KIND_LINK ? DT_LNK
								  : DT_REG);
}

/* A directory's number is its own; a file's stays what it was. */
static bool check_ino(struct check *c, const char *path, const struct shown *got, struct mdata *d)
{
	if (got->kind == KIND_DIR) {
		for (size_t i = 0; i < c->n_dirs; i++)
			if (c->dirs[i] == got->ino)
				return arena_fail(
					c->a, "%s: directory '%s' has another one's number %llu",
					c->where, path, (unsigned long long)got->ino);
		if (c->n_dirs < sizeof(c->dirs) / sizeof(c->dirs[0]))
			c->dirs[c->n_dirs++] = got->ino;
		return true;
	}
	if (c->dir >= 0 || d->kind != KIND_FILE || d->lent_ino)
		return true;
	if (d->ino && d->ino != got->ino)
		return arena_fail(c->a, "%s: '%s' has number %llu, not %llu as before", c->where,
				  path, (unsigned long long)got->ino, (unsigned long long)d->ino);
	d->ino = got->ino;
	return true;
}

static bool check_bytes(struct check *c, const char *path, const struct shown *got,
			const struct mdata *want)
{
	if (got->kind == KIND_DIR ||
	    (got->len == want->len && !memcmp(got->bytes, want->bytes, want->len)))
		return true;
	return arena_fail(c->a, "%s: '%s' holds %zu bytes '%.*s', not %zu '%.*s'", c->where, path,
			  got->len, (int)got->len, got->bytes, want->len, (int)want->len,
			  want->bytes);
}

static bool check_object(struct check *c, const char *path, const struct shown_name *listed,
			 struct mdata *want)
{
	struct shown got;
	int r = do_look(c, path, &got);

	if (r < 0)
		return arena_fail(c->a, "%s: '%s' gives %s", c->where, path, strerrorname_np(-r));
	if (got.kind != want->kind)
		return arena_fail(c->a, "%s: '%s' is a %s, not a %s", c->where, path,
				  kind_name(got.kind), kind_name(want->kind));
	if (got.kind != KIND_LINK && got.mode != want->mode)
		return arena_fail(c->a, "%s: '%s' has mode %04o, not %04o", c->where, path,
				  got.mode, want->mode);
	if (got.ino != listed->ino || !is_type_of(listed->type, got.kind))
		return arena_fail(c->a, "%s: '%s' is listed as %llu type %u, but is %llu", c->where,
				  path, (unsigned long long)listed->ino, listed->type,
				  (unsigned long long)got.ino);
	if (got.kind == KIND_FILE && got.nlink != want->names)
		return arena_fail(c->a, "%s: '%s' has %llu names, not %u", c->where, path,
				  (unsigned long long)got.nlink, want->names);
	if (want->timed && got.kind != KIND_DIR &&
	    (got.mtime.tv_sec != want->mtime_sec || got.mtime.tv_nsec != want->mtime_nsec))
		return arena_fail(c->a, "%s: '%s' has mtime %lld.%09ld, not %ld.%09ld", c->where,
				  path, (long long)got.mtime.tv_sec, got.mtime.tv_nsec,
				  want->mtime_sec, want->mtime_nsec);
	return check_bytes(c, path, &got, want) && check_ino(c, path, &got, want);
}

static size_t names_of(const struct mnode *dir, char names[NAMES_MAX][NAME_SIZE])
{
	size_t n = 0;

	for (const struct mnode *k = dir->child; k; k = k->next)
		(void)snprintf(names[n++], NAME_SIZE, "%s", k->name);
	return n;
}

static bool has(char names[NAMES_MAX][NAME_SIZE], size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* What is not listed must not be found by its name either: a cache may keep one of the two. */
static bool check_absent(struct check *c, const char *path, char want[NAMES_MAX][NAME_SIZE],
			 size_t n)
{
	for (size_t i = 0; gen_names[i]; i++) {
		char name[NAME_SIZE];
		char sub[PATH_SIZE];
		struct shown got;
		int r;

		(void)snprintf(name, sizeof(name), "%s%c", gen_names[i],
			       *path ? '\0' : c->a->suffix);
		if (has(want, n, name) ||
		    snprintf(sub, sizeof(sub), "%s%s%s", path, *path ? "/" : "", name) >= PATH_SIZE)
			continue;
		r = do_look(c, sub, &got);
		if (r != -ENOENT)
			return arena_fail(c->a, "%s: '%s' is not listed, but found: %s", c->where,
					  sub, r < 0 ? strerrorname_np(-r) : kind_name(got.kind));
	}
	return true;
}

/* @dir: the directory as the model's view or layer has it. */
static bool check_dir(struct check *c, const char *path, const struct seen *dir)
{
	char want[NAMES_MAX][NAME_SIZE];
	cleanup_free struct shown_list *got = calloc(1, sizeof(*got));
	size_t n = c->dir < 0 ? model_names(&c->a->m, path, dir, want) : names_of(dir->node, want);
	bool ok;
	int r = got ? do_list(c, path, got) : -ENOMEM;

	if (r < 0)
		return arena_fail(c->a, "%s: listing '%s' gives %s", c->where, path,
				  strerrorname_np(-r));
	keep_own(c, path, got);
	ok = check_names(c, path, want, n, got);
	if (ok && c->dir < 0 && c->a->be->settle)
		ok = check_absent(c, path, want, n);
	for (size_t i = 0; ok && i < n; i++) {
		char sub[PATH_SIZE];
		struct seen s;

		(void)snprintf(sub, sizeof(sub), "%s%s%s", path, *path ? "/" : "", want[i]);
		if (c->dir >= 0)
			s = (struct seen){ .node = mnode_child(dir->node, want[i]) };
		else if (model_lookup(&c->a->m, sub, &s) < 0)
			return arena_fail(c->a, "the model lost '%s'", sub);
		ok = check_object(c, sub, &got->v[i], s.node->data);
		if (ok && mnode_is_dir(s.node))
			ok = check_dir(c, sub, &s);
	}
	return ok;
}

/* Keep the lines that are the arena's to compare: those of its names at the top. */
static int keep_own_lines(const struct check *c, struct strbuf *text)
{
	cleanup_strv struct strv lines = STRV_INIT;
	int r = strv_add_words(&lines, text->buf, "\n");

	strbuf_reset(text);
	for (size_t i = 0; !r && i < lines.n; i++) {
		size_t len = 1 + strcspn(lines.v[i] + 1, "/");

		if (lines.v[i][len - 1] == c->a->suffix)
			strbuf_addf(text, "%s\n", lines.v[i]);
	}
	return r < 0 ? r : strbuf_failed(text);
}

/* .specfs-hide must hold the model's lines and nothing else. */
static bool check_hide(struct check *c)
{
	const struct mlayer *l = &c->a->m.layers[c->layer];
	bool shared = c->a->m.setup->whole && c->a->site->arenas > 1;
	cleanup_strbuf struct strbuf want = STRBUF_INIT;
	cleanup_strbuf struct strbuf got = STRBUF_INIT;
	int r = fd_read_file(c->dir, ".specfs-hide", 1 << 20, &got);

	for (size_t i = 0; i < l->hide.n; i++)
		strbuf_addf(&want, "%s\n", l->hide.v[i]);
	if (!r && shared)
		r = keep_own_lines(c, &got);
	if (r < 0 && (r != -ENOENT || (l->has_hide && !shared)))
		return arena_fail(c->a, "%s: .specfs-hide gives %s", c->where, strerrorname_np(-r));
	if (strcmp(want.buf, got.buf) != 0)
		return arena_fail(c->a, "%s: .specfs-hide holds '%s', not '%s'", c->where, got.buf,
				  want.buf);
	return true;
}

static bool check_layer(struct arena *a, unsigned i)
{
	cleanup_fd int dir = site_open_layer(a->site, &a->m, i, a->suffix);
	struct check c = { .a = a, .dir = dir, .layer = i };
	struct seen root = { .node = a->m.layers[i].root };

	(void)snprintf(c.where, sizeof(c.where), "layer %u", i);
	if (dir < 0)
		return arena_fail(a, "layer %u: %s", i, strerror(-dir));
	if (a->m.layers[i].role == ROLE_MAP && !check_hide(&c))
		return false;
	return check_dir(&c, "", &root);
}

bool arena_check(struct arena *a)
{
	struct check c = { .a = a, .dir = -1, .where = "view" };
	struct seen root;

	if (model_lookup(&a->m, "", &root) < 0)
		return arena_fail(a, "the model has no root");
	if (!check_dir(&c, "", &root))
		return false;
	for (unsigned i = 1; i < a->m.n; i++)
		if (model_has_dir(&a->m, i) && !check_layer(a, i))
			return false;
	return true;
}
