/* SPDX-License-Identifier: MIT */
/* The hidden directory: see hidden.h. */
#include "ops/hidden.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

/* Ids of the files made are told from nodes' ids by the highest bit. */
static const uint64_t file_bit = UINT64_C(1) << 63;

/* Inode numbers: no layer's, as inomap never gives any this high. */
static const uint64_t first_ino = UINT64_MAX - 64;

static const char *const files[] = { "status", "layers", "version" };

struct hidden_file {
	uint64_t id;
	uint64_t nlookup;
	unsigned which;
	struct timespec made;
	char *text;
	size_t len;
	struct hidden_file *next;
};

struct hidden {
	pthread_mutex_t lock; /* guards all that follows */
	struct hidden_file *first;
	uint64_t next_id;
};

int hidden_new(struct hidden **ret)
{
	struct hidden *h = calloc(1, sizeof(*h));

	if (!h)
		return -ENOMEM;
	pthread_mutex_init(&h->lock, NULL);
	h->next_id = file_bit;
	*ret = h;
	return 0;
}

static void file_free(struct hidden_file *f)
{
	free(f->text);
	free(f);
}

void hidden_free(struct hidden *h)
{
	if (!h)
		return;
	while (h->first) {
		struct hidden_file *f = h->first;

		h->first = f->next;
		file_free(f);
	}
	pthread_mutex_destroy(&h->lock);
	free(h);
}

bool hidden_is(uint64_t id)
{
	return id == HIDDEN_DIR || (id & file_bit);
}

bool hidden_has(uint64_t dir, const char *name)
{
	return hidden_is(dir) || (dir == NODE_ROOT && !strcmp(name, HIDDEN_NAME));
}

const char *hidden_entry(unsigned i, uint64_t *ret_ino)
{
	*ret_ino = first_ino + 1 + i;
	return i < ARRAY_SIZE(files) ? files[i] : NULL;
}

static void fill(const struct server *srv, const struct hidden_file *f, struct stat *ret)
{
	const struct stat *root = &srv->view->stack.root_st;

	*ret = (struct stat){
		.st_ino = f ? first_ino + 1 + f->which : first_ino,
		.st_mode = f ? S_IFREG | 0444 : S_IFDIR | 0555,
		.st_nlink = f ? 1 : 2,
		.st_uid = root->st_uid,
		.st_gid = root->st_gid,
		.st_size = f ? (off_t)f->len : 0,
		.st_blksize = 4096,
	};
	ret->st_mtim = f ? f->made : root->st_mtim;
	ret->st_ctim = ret->st_mtim;
	ret->st_atim = ret->st_mtim;
}

static int make_file(struct server *srv, const char *name, struct hidden_file **ret)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	struct hidden_file *f;
	unsigned which = 0;
	int r;

	while (which < ARRAY_SIZE(files) && strcmp(files[which], name))
		which++;
	if (which == ARRAY_SIZE(files) || !srv->content)
		return -ENOENT;
	r = srv->content(srv->arg, name, &text);
	if (r < 0)
		return r;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	clock_gettime(CLOCK_REALTIME, &f->made);
	f->which = which;
	f->nlookup = 1;
	f->len = text.len;
	f->text = strbuf_detach(&text);
	if (!f->text) {
		free(f);
		return -ENOMEM;
	}
	*ret = f;
	return 0;
}

int hidden_lookup(struct server *srv, uint64_t dir, const char *name, struct fuse_entry_param *ret)
{
	struct hidden *h = srv->hidden;
	struct hidden_file *f = NULL;
	int r = 0;

	if (dir != NODE_ROOT)
		r = dir == HIDDEN_DIR ? make_file(srv, name, &f) : -ENOTDIR;
	if (r < 0)
		return r;
	*ret = (struct fuse_entry_param){ .ino = HIDDEN_DIR, .generation = 1 };
	fill(srv, f, &ret->attr);
	if (!f)
		return 0;
	pthread_mutex_lock(&h->lock);
	f->id = h->next_id++;
	f->next = h->first;
	h->first = f;
	ret->ino = f->id;
	pthread_mutex_unlock(&h->lock);
	return 0;
}

void hidden_forget(struct server *srv, uint64_t id, uint64_t count)
{
	struct hidden *h = srv->hidden;
	struct hidden_file *gone = NULL;

	pthread_mutex_lock(&h->lock);
	for (struct hidden_file **p = &h->first; *p; p = &(*p)->next) {
		if ((*p)->id != id)
			continue;
		(*p)->nlookup -= count < (*p)->nlookup ? count : (*p)->nlookup;
		if (!(*p)->nlookup) {
			gone = *p;
			*p = gone->next;
		}
		break;
	}
	pthread_mutex_unlock(&h->lock);
	if (gone)
		file_free(gone);
}

static struct hidden_file *find(struct hidden *h, uint64_t id)
{
	struct hidden_file *f = h->first;

	while (f && f->id != id)
		f = f->next;
	return f;
}

int hidden_getattr(struct server *srv, uint64_t id, struct stat *ret)
{
	struct hidden *h = srv->hidden;
	const struct hidden_file *f;

	pthread_mutex_lock(&h->lock);
	f = find(h, id);
	if (f || id == HIDDEN_DIR)
		fill(srv, f, ret);
	pthread_mutex_unlock(&h->lock);
	return f || id == HIDDEN_DIR ? 0 : -ESTALE;
}

ssize_t hidden_read(struct server *srv, uint64_t id, char *buf, size_t size, off_t offset)
{
	struct hidden *h = srv->hidden;
	const struct hidden_file *f;
	ssize_t n = -ESTALE;

	pthread_mutex_lock(&h->lock);
	f = find(h, id);
	if (f) {
		size_t at = offset < 0 || (uint64_t)offset > f->len ? f->len : (size_t)offset;

		n = (ssize_t)(f->len - at < size ? f->len - at : size);
		memcpy(buf, f->text + at, (size_t)n);
	}
	pthread_mutex_unlock(&h->lock);
	return n;
}
