/* SPDX-License-Identifier: MIT */
/* Copying a visible tree: see copytree.h. */
#include "layer/copytree.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "layer/children.h"
#include "layer/copyobj.h"
#include "layer/copyup.h"
#include "layer/linktext.h"
#include "layer/made.h"
#include "layer/mark.h"

enum { RETRIES = 3 };

/* A hard-linked file that has been copied: its other names become links of the copy. */
struct linked {
	dev_t dev;
	ino_t ino;
	char *copy; /* path of the copy below the tree's dir_fd */
};

struct copier {
	struct view *v;
	unsigned to;
	int root_fd; /* holds the interim name */
	struct copied_list *list;
	struct linked *links;
	size_t n_links;
	struct object seen; /* the object at hand as its data was copied */
};

/* One object at work. */
struct spot {
	const char *path;   /* view path of the original */
	const char *target; /* view path of the copy */
	const char *copy;   /* path of the copy below root_fd */
	int dir_fd;	    /* where the copy is made, as @name */
	const char *name;
};

void copied_list_clear(struct copied_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i].path);
	free(l->v);
	*l = (struct copied_list){ 0 };
}

static bool same_state(const struct stat *a, const struct stat *b)
{
	return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

bool copied_same_data(const struct copied *c, const struct object *o)
{
	const struct stat *a = &c->obj.st;
	const struct stat *b = &o->st;

	if ((a->st_mode & S_IFMT) != (b->st_mode & S_IFMT))
		return false;
	return !S_ISREG(a->st_mode) || same_state(a, b);
}

/* Note that an object was copied. */
static int list_add(struct copier *c, const char *path, const struct found *f)
{
	struct copied_list *l = c->list;
	struct route route;
	char *copy;
	int r;

	if (!l)
		return 0;
	r = route_existing(c->v, path, f, ROUTE_REMOVE, &route);
	if (r < 0)
		return r;
	if (l->n == l->cap) {
		struct copied *more = realloc(l->v, (l->cap + 64) * sizeof(*more));

		if (!more)
			return -ENOMEM;
		l->v = more;
		l->cap += 64;
	}
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	l->v[l->n++] = (struct copied){
		.path = copy,
		.layer = f->layer,
		.obj = c->seen,
		.removable = route.in_place && !f->virtual,
	};
	return 0;
}

/* Copy data; again if somebody wrote to the original meanwhile. */
static int copy_steadily(struct copier *c, int from, int to)
{
	for (unsigned i = 0; i < RETRIES; i++) {
		struct object before;
		int r = object_stat(from, "", &before);

		if (!r)
			r = copyobj_file(from, &before.st, -1, to);
		if (!r)
			r = object_stat(from, "", &c->seen);
		if (r < 0)
			return r;
		if (same_state(&before.st, &c->seen.st))
			return 0;
		if (ftruncate(to, 0) < 0)
			return -errno;
	}
	return -EBUSY;
}

/* Is it another name of a file that has been copied already? Then link the copy: 1; else 0. */
static int link_copy(struct copier *c, const struct spot *s, const struct found *f)
{
	for (size_t i = 0; i < c->n_links; i++) {
		const struct linked *l = &c->links[i];

		if (l->dev != f->obj.st.st_dev || l->ino != f->obj.st.st_ino)
			continue;
		return linkat(c->root_fd, l->copy, s->dir_fd, s->name, 0) < 0 ? -errno : 1;
	}
	return 0;
}

static int remember_link(struct copier *c, const struct spot *s, const struct found *f)
{
	struct linked *more = realloc(c->links, (c->n_links + 1) * sizeof(*more));
	char *copy = strdup(s->copy);

	if (more)
		c->links = more;
	if (!more || !copy) {
		free(copy);
		return -ENOMEM;
	}
	c->links[c->n_links++] = (struct linked){
		.dev = f->obj.st.st_dev,
		.ino = f->obj.st.st_ino,
		.copy = copy,
	};
	return 0;
}

static int copy_file(struct copier *c, const struct spot *s, const struct found *f)
{
	bool linked = f->obj.st.st_nlink > 1 && !f->virtual;
	cleanup_fd int from = -1;
	cleanup_fd int fd = -1;
	int r = linked ? link_copy(c, s, f) : 0;

	if (r)
		return r < 0 ? r : 0;
	if (!f->virtual) {
		from = stack_open_file(&c->v->stack, s->path, f, O_RDONLY);
		if (from < 0)
			return from;
	}
	fd = openat(s->dir_fd, s->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	if (!c->to && !linked && !f->lent) /* a link's other names may stay behind */
		r = mark_set_ino(fd, f->st.st_ino);
	if (r < 0)
		return r;
	if (f->virtual) {
		const char *text = stack_virtual_content(&c->v->stack, f);

		r = fd_write_all(fd, text, strlen(text));
		if (!r)
			r = copyobj_attrs(-1, &f->st, fd);
	} else {
		r = copy_steadily(c, from, fd);
	}
	return !r && linked ? remember_link(c, s, f) : r;
}

static int copy_other(struct copier *c, const struct spot *s, const struct found *f)
{
	cleanup_strbuf struct strbuf shown = STRBUF_INIT;
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	struct object made;
	int r = 0;

	if (S_ISLNK(f->obj.st.st_mode)) {
		r = stack_readlink(&c->v->stack, s->path, f, &shown);
		if (!r)
			r = linktext_for(&c->v->stack.layers[c->to], s->target, shown.buf, &text);
	}
	if (!r)
		r = copyobj_other(&f->st, text.buf, s->dir_fd, s->name);
	if (!r && !object_stat(s->dir_fd, s->name, &made))
		made_add(&c->v->stack, c->to, s->target, &made);
	return r;
}

static int copy_any(struct copier *c, const struct spot *s, const struct found *f);

static int copy_child(struct copier *c, const struct spot *dir, int dir_fd, const struct child *k)
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	cleanup_strbuf struct strbuf target = STRBUF_INIT;
	cleanup_strbuf struct strbuf copy = STRBUF_INIT;
	struct spot s = { .dir_fd = dir_fd, .name = k->name };

	if (path_join(&path, dir->path, k->name) < 0 ||
	    path_join(&target, dir->target, k->name) < 0 ||
	    path_join(&copy, dir->copy, k->name) < 0)
		return -ENOMEM;
	s.path = path.buf;
	s.target = target.buf;
	s.copy = copy.buf;
	return copy_any(c, &s, &k->f);
}

static int copy_children(struct copier *c, const struct spot *s, const struct found *f, int dir_fd)
{
	cleanup_children struct children l = { 0 };
	int r = children_read(&c->v->stack, s->path, f, &l);

	for (size_t i = 0; !r && i < l.n; i++)
		r = copy_child(c, s, dir_fd, &l.v[i]);
	return r;
}

static int copy_dir(struct copier *c, const struct spot *s, const struct found *f)
{
	cleanup_fd int from = -1;
	cleanup_fd int fd = -1;
	int r;

	if (mkdirat(s->dir_fd, s->name, 0700) < 0)
		return -errno;
	fd = openat(s->dir_fd, s->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = copy_children(c, s, f, fd);
	if (r < 0)
		return r;
	c->seen = f->obj;
	if (!f->virtual)
		from = stack_open_file(&c->v->stack, s->path, f, O_RDONLY | O_DIRECTORY);
	return copyobj_attrs(from, &f->st, fd);
}

static int copy_any(struct copier *c, const struct spot *s, const struct found *f)
{
	int r;

	c->seen = f->obj;
	if (S_ISREG(f->obj.st.st_mode))
		r = copy_file(c, s, f);
	else if (S_ISDIR(f->obj.st.st_mode))
		r = copy_dir(c, s, f);
	else
		r = copy_other(c, s, f);
	return r < 0 ? r : list_add(c, s->path, f);
}

int copytree(struct view *v, const char *path, const struct found *f, const char *target,
	     unsigned to, int dir_fd, const char *name, struct copied_list *ret)
{
	struct copier c = { .v = v, .to = to, .root_fd = dir_fd, .list = ret };
	const struct spot s = {
		.path = path,
		.target = target,
		.copy = name,
		.dir_fd = dir_fd,
		.name = name,
	};
	int r = copy_any(&c, &s, f);

	for (size_t i = 0; i < c.n_links; i++)
		free(c.links[i].copy);
	free(c.links);
	return r;
}

int copyup_tree(struct view *v, const char *path, const struct found *f, unsigned to, int dir_fd,
		const char *name)
{
	return copytree(v, path, f, path, to, dir_fd, name, NULL);
}
