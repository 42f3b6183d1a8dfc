/* SPDX-License-Identifier: MIT */
/* The hide list of a spec directory: see hide.h. */
#include "layer/hide.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/glob.h"
#include "base/path.h"
#include "base/strbuf.h"
#include "layer/workdir.h"

enum { HIDE_MAX = 1 << 20 };

struct hide {
	const struct layer *layer;
	char *path;	       /* of the file, below the layer's base_fd */
	pthread_rwlock_t lock; /* guards what follows */
	bool loaded;
	struct object seen; /* the file's stat when it was read; all zero: there was
					 * none */
	struct strv patterns;
};

int hide_new(const struct layer *l, struct hide **ret)
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	struct hide *h;
	int r = path_join(&path, l->dir, HIDE_FILE);

	if (r < 0)
		return r;
	h = calloc(1, sizeof(*h));
	if (!h)
		return -ENOMEM;
	h->layer = l;
	h->path = strbuf_detach(&path);
	pthread_rwlock_init(&h->lock, NULL);
	if (!h->path) {
		hide_free(h);
		return -ENOMEM;
	}
	*ret = h;
	return 0;
}

void hide_free(struct hide *h)
{
	if (!h)
		return;
	strv_clear(&h->patterns);
	pthread_rwlock_destroy(&h->lock);
	free(h->path);
	free(h);
}

void hide_move(struct hide *h, const struct layer *l)
{
	h->layer = l;
}

/* What the file's stat says now; all zero where there is no regular file. */
static void look(const struct hide *h, struct object *ret)
{
	if (object_stat(h->layer->base_fd, h->path, ret) < 0 || !S_ISREG(ret->st.st_mode))
		*ret = (struct object){ 0 };
}

static bool unchanged(const struct object *a, const struct object *b)
{
	return a->st.st_ino == b->st.st_ino && a->st.st_dev == b->st.st_dev &&
	       a->st.st_size == b->st.st_size && a->st.st_ctim.tv_sec == b->st.st_ctim.tv_sec &&
	       a->st.st_ctim.tv_nsec == b->st.st_ctim.tv_nsec;
}

/* Cut trailing white space, but not a blank that a backslash keeps. */
static size_t line_len(const char *line, size_t len)
{
	while (len && (line[len - 1] == '\r' || line[len - 1] == ' ' || line[len - 1] == '\t') &&
	       !(len > 1 && line[len - 2] == '\\'))
		len--;
	return len;
}

static int parse(const char *text, struct strv *ret)
{
	while (*text) {
		size_t len = strcspn(text, "\n");
		size_t keep = line_len(text, len);

		if (keep && *text != '#') {
			int r = strv_addn(ret, text, keep);

			if (r < 0)
				return r;
		}
		text += len;
		text += *text == '\n';
	}
	return 0;
}

static int read_text(const struct hide *h, struct strbuf *ret)
{
	cleanup_fd int fd = fd_open_beneath(h->layer->base_fd, h->path, O_RDONLY | O_NONBLOCK, 0);

	if (fd == -ENOENT || fd == -ENOTDIR)
		return 0;
	return fd < 0 ? fd : fd_read_all(fd, HIDE_MAX, ret);
}

/* Read the list again; the write lock is held. The old one stays if that fails. */
static int reload(struct hide *h, const struct object *now)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	struct strv patterns = STRV_INIT;
	int r = now->st.st_ino ? read_text(h, &text) : 0;

	if (!r)
		r = parse(text.buf, &patterns);
	if (r < 0) {
		strv_clear(&patterns);
		return r;
	}
	strv_clear(&h->patterns);
	h->patterns = patterns;
	h->seen = *now;
	h->loaded = true;
	return 0;
}

/* Take the lock for reading, with the list as the file has it now. */
static void lock_fresh(struct hide *h)
{
	struct object now;

	look(h, &now);
	pthread_rwlock_rdlock(&h->lock);
	if (h->loaded && unchanged(&h->seen, &now))
		return;
	pthread_rwlock_unlock(&h->lock);
	pthread_rwlock_wrlock(&h->lock);
	(void)reload(h, &now); /* an unreadable list: what it said last stays in force */
}

bool hide_covers(struct hide *h, const char *rel, bool is_dir)
{
	bool hit;

	lock_fresh(h);
	hit = h->patterns.n && glob_covers(&h->patterns, rel, is_dir);
	pthread_rwlock_unlock(&h->lock);
	return hit;
}

bool hide_names_below(struct hide *h, const char *rel)
{
	bool hit;

	lock_fresh(h);
	hit = glob_names_below(&h->patterns, rel);
	pthread_rwlock_unlock(&h->lock);
	return hit;
}

bool hide_is_empty(struct hide *h)
{
	bool empty;

	lock_fresh(h);
	empty = !h->patterns.n;
	pthread_rwlock_unlock(&h->lock);
	return empty;
}

/* The line that hides exactly @rel. */
static int exact_line(const char *rel, bool is_dir, struct strbuf *ret)
{
	size_t len = strlen(rel);

	if (strchr(rel, '\n'))
		return -EINVAL;
	strbuf_addc(ret, '/');
	for (size_t i = 0; i < len; i++) {
		bool last_blank = i + 1 == len && strchr(" \t\r", rel[i]);

		if (strchr("*?[\\", rel[i]) || last_blank)
			strbuf_addc(ret, '\\');
		strbuf_addc(ret, rel[i]);
	}
	strbuf_adds(ret, is_dir ? "/\n" : "\n");
	return strbuf_failed(ret);
}

/* Publish a new list; the write lock is held. */
static int write_list(struct hide *h, const struct strbuf *text)
{
	cleanup_fd int dir = -1;
	char tmp[WORKDIR_NAME_MAX];
	const char *name;
	struct object now;
	int r;

	dir = fd_open_parent(h->layer->base_fd, h->path, &name);
	if (dir < 0)
		return dir;
	workdir_list_tmp(HIDE_FILE, tmp);
	(void)unlinkat(dir, tmp, 0); /* one that a crash has left; usually there is none */
	r = fd_replace_file(dir, name, tmp, 0644, text->buf, text->len);
	if (r < 0)
		return r;
	/* it is published, whatever reading it back says: then the next look reads it */
	look(h, &now);
	h->loaded = reload(h, &now) == 0;
	return 0;
}

/* Write the list with one more line; the write lock is held. */
static int append_line(struct hide *h, const char *rel, bool is_dir)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	int r = read_text(h, &text);

	if (r < 0)
		return r;
	if (text.len && text.buf[text.len - 1] != '\n')
		strbuf_addc(&text, '\n');
	r = exact_line(rel, is_dir, &text);
	return r < 0 ? r : write_list(h, &text);
}

int hide_add(struct hide *h, const char *rel, bool is_dir)
{
	int r = 0;

	if (hide_covers(h, rel, is_dir))
		return 0;
	pthread_rwlock_wrlock(&h->lock);
	if (!glob_covers(&h->patterns, rel, is_dir))
		r = append_line(h, rel, is_dir);
	pthread_rwlock_unlock(&h->lock);
	return r;
}

/* Write the list without @line; the write lock is held. */
static int remove_line(struct hide *h, const struct strbuf *line)
{
	cleanup_strbuf struct strbuf old = STRBUF_INIT;
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	cleanup_fd int dir = -1;
	const char *name;
	int r = read_text(h, &old);

	for (const char *p = old.buf; !r && *p;) {
		size_t len = strcspn(p, "\n");

		len += p[len] == '\n';
		if (len != line->len || memcmp(p, line->buf, len))
			strbuf_add(&text, p, len);
		p += len;
	}
	if (!r)
		r = strbuf_failed(&text);
	if (r < 0 || text.len == old.len)
		return r;
	if (text.len)
		return write_list(h, &text);
	r = fd_open_parent(h->layer->base_fd, h->path, &name);
	if (r >= 0) {
		dir = r;
		r = unlinkat(dir, name, 0) < 0 ? -errno : 0;
	}
	return r; /* the next look sees that it is gone */
}

int hide_drop(struct hide *h, const char *rel, bool is_dir)
{
	cleanup_strbuf struct strbuf line = STRBUF_INIT;
	int r;

	if (strchr(rel, '\n') || !hide_covers(h, rel, is_dir))
		return 0;
	r = exact_line(rel, is_dir, &line);
	if (r < 0)
		return r;
	pthread_rwlock_wrlock(&h->lock);
	r = remove_line(h, &line);
	pthread_rwlock_unlock(&h->lock);
	return r;
}
