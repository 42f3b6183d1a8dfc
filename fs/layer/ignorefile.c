/* SPDX-License-Identifier: MIT */
/*
 * gitignore files: see ignorefile.h. What a directory's own file says, and whether the directory is
 * ignored itself, is remembered for as long as no file on the way to it has changed.
 */
#include "layer/ignorefile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uthash.h>

#include "base/fd.h"
#include "base/glob.h"
#include "base/path.h"
#include "base/strv.h"
#include "layer/layer.h"

enum {
	FILE_MAX = 4 << 20,
	DIRS_MAX = 4096,
	STRIDE = 16, /* levels that one look-up from an open directory goes down */
};

/* One file of patterns. */
struct source {
	bool loaded;
	struct object seen; /* its stat when it was read; all zero: there was none */
	struct strv patterns;
};

/* A directory of the working tree. */
struct dir {
	struct dir *parent; /* NULL: the working tree itself */
	struct source file; /* its .gitignore */
	uint64_t checked;   /* generation for which @ignored holds; 0: none */
	bool ignored;
	UT_hash_handle hh;
	char path[];
};

/*
 * A file that lies anywhere. Its directory is opened before the view is mounted: whatever the path
 * leads to later, it is not the view itself, whose answer would have to come from us.
 */
struct outer {
	int dir_fd; /* -1: there is none */
	char *name;
	struct source file;
};

struct ignorefiles {
	int root_fd;
	struct outer exclude;
	struct outer global;
	struct dir *dirs;
	uint64_t generation; /* changes whenever any file does */
};

static void source_clear(struct source *s)
{
	strv_clear(&s->patterns);
}

static void drop_dirs(struct ignorefiles *f)
{
	struct dir *d;
	struct dir *next;

	HASH_ITER(hh, f->dirs, d, next)
	{
		HASH_DEL(f->dirs, d);
		source_clear(&d->file);
		free(d);
	}
}

/* Links on the way are followed now, as git does; without a directory there is no file. */
static int outer_open(struct outer *o, const char *path)
{
	cleanup_free char *real = path ? realpath(path, NULL) : NULL;
	cleanup_free char *dir = path ? strdup(real ? real : path) : NULL;
	char *slash = dir ? strrchr(dir, '/') : NULL;

	if (path && !dir)
		return -ENOMEM;
	if (!slash)
		return 0;
	o->name = strdup(slash + 1);
	if (!o->name)
		return -ENOMEM;
	slash[slash == dir] = '\0';
	o->dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return 0;
}

static void outer_close(struct outer *o)
{
	source_clear(&o->file);
	free(o->name);
	if (o->dir_fd >= 0)
		close(o->dir_fd);
}

int ignorefiles_new(const char *root, const char *exclude, const char *global,
		    struct ignorefiles **ret)
{
	struct ignorefiles *f = calloc(1, sizeof(*f));
	int r = 0;

	if (!f)
		return -ENOMEM;
	f->generation = 1;
	f->root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (f->root_fd < 0)
		r = -errno;
	f->exclude.dir_fd = f->global.dir_fd = -1;
	if (!r)
		r = outer_open(&f->exclude, exclude);
	if (!r)
		r = outer_open(&f->global, global);
	if (r < 0)
		ignorefiles_free(f);
	else
		*ret = f;
	return r;
}

void ignorefiles_free(struct ignorefiles *f)
{
	if (!f)
		return;
	drop_dirs(f);
	outer_close(&f->exclude);
	outer_close(&f->global);
	if (f->root_fd >= 0)
		close(f->root_fd);
	free(f);
}

/* Blanks at the end of a line do not count, unless a backslash keeps them. */
static size_t line_len(const char *line, size_t len)
{
	if (len && line[len - 1] == '\r')
		len--;
	while (len && (line[len - 1] == ' ' || line[len - 1] == '\t') &&
	       !(len > 1 && line[len - 2] == '\\'))
		len--;
	return len;
}

static int parse(const char *text, struct strv *ret)
{
	if (!strncmp(text, "\xef\xbb\xbf", 3))
		text += 3; /* a byte order mark */
	while (*text) {
		size_t len = strcspn(text, "\n");
		size_t keep = line_len(text, len);

		if (keep && *text != '#' && strv_addn(ret, text, keep) < 0)
			return -ENOMEM;
		text += len;
		text += *text == '\n';
	}
	return 0;
}

/* Read @path in @dir_fd again if it has changed; one that can't be read says nothing. */
static void refresh(struct ignorefiles *f, struct source *s, int dir_fd, const char *path)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	struct object now;

	if (object_stat(dir_fd, path, &now) < 0)
		now = (struct object){ 0 };
	if (s->loaded && object_unchanged(&s->seen, &now))
		return;
	strv_clear(&s->patterns);
	if (S_ISREG(now.st.st_mode) && fd_read_file(dir_fd, path, FILE_MAX, &text) == 0 &&
	    parse(text.buf, &s->patterns) < 0)
		strv_clear(&s->patterns);
	f->generation += s->loaded; /* nothing was decided by a file that was not known */
	s->loaded = true;
	s->seen = now;
}

static void refresh_outer(struct ignorefiles *f, struct outer *o)
{
	if (o->dir_fd >= 0)
		refresh(f, &o->file, o->dir_fd, o->name);
}

/*
 * A walk down to a path. Every now and then the directory that it has come to is opened, so that
 * the cost of a step, and the length of what is looked up, do not grow with the depth.
 */
struct walk {
	int base_fd; /* -1: the working tree has no such directory */
	bool own;
	size_t base_len; /* how much of the path leads there */
	unsigned steps;	 /* below it */
};

static void walk_end(struct walk *w)
{
	if (w->own && w->base_fd >= 0)
		close(w->base_fd);
}

#define cleanup_walk CLEANUP(walk_end)

/* @path: the next directory down. Returns what of it is looked up from w->base_fd. */
static const char *walk_to(struct walk *w, const char *path)
{
	const char *rest = path + w->base_len + (w->base_len > 0);

	if (++w->steps < STRIDE)
		return rest;
	if (w->base_fd >= 0) {
		int fd = openat(w->base_fd, rest, O_PATH | O_DIRECTORY | O_CLOEXEC);

		walk_end(w);
		w->base_fd = fd;
		w->own = true;
	}
	w->base_len = strlen(path);
	w->steps = 0;
	return path + w->base_len;
}

/* The entry of directory @path in @parent, its file fresh; NULL without memory. */
static struct dir *dir_get(struct ignorefiles *f, struct walk *w, struct dir *parent,
			   const char *path)
{
	cleanup_strbuf struct strbuf file = STRBUF_INIT;
	const char *rest = walk_to(w, path);
	size_t len = strlen(path);
	struct dir *d;

	HASH_FIND(hh, f->dirs, path, len, d);
	if (!d) {
		d = calloc(1, sizeof(*d) + len + 1);
		if (!d)
			return NULL;
		d->parent = parent;
		memcpy(d->path, path, len);
		HASH_ADD_KEYPTR(hh, f->dirs, d->path, len, d);
	}
	if (path_join(&file, rest, ".gitignore") < 0)
		return NULL;
	refresh(f, &d->file, w->base_fd, file.buf);
	return d;
}

/* What the files say of @path itself, its parents not considered: the nearest one decides. */
static bool decide(struct ignorefiles *f, const struct dir *parent, const char *path, bool is_dir)
{
	enum glob_match m;

	for (const struct dir *d = parent; d; d = d->parent) {
		size_t len = strlen(d->path);

		if (!d->file.patterns.n)
			continue;
		m = glob_match_list(&d->file.patterns, path + len + (len > 0), is_dir);
		if (m != GLOB_NONE)
			return m == GLOB_MATCH;
	}
	m = glob_match_list(&f->exclude.file.patterns, path, is_dir);
	if (m == GLOB_NONE)
		m = glob_match_list(&f->global.file.patterns, path, is_dir);
	return m == GLOB_MATCH;
}

bool ignorefiles_cover(struct ignorefiles *f, const char *path, bool is_dir)
{
	cleanup_free char *prefix = strdup(path);
	cleanup_walk struct walk w = { .base_fd = f->root_fd };
	struct dir *parent;

	if (!prefix)
		return false;
	if (HASH_COUNT(f->dirs) > DIRS_MAX)
		drop_dirs(f);
	refresh_outer(f, &f->exclude);
	refresh_outer(f, &f->global);
	parent = dir_get(f, &w, NULL, "");
	if (!parent)
		return false;
	for (char *slash = strchr(prefix, '/'); slash; slash = strchr(slash + 1, '/')) {
		struct dir *d;

		*slash = '\0';
		d = dir_get(f, &w, parent, prefix);
		if (!d)
			return false;
		if (d->checked != f->generation) {
			d->ignored = decide(f, parent, prefix, true);
			d->checked = f->generation;
		}
		*slash = '/';
		if (d->ignored)
			return true; /* nothing below an ignored directory is looked at again */
		parent = d;
	}
	return decide(f, parent, path, is_dir);
}
