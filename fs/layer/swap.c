/* SPDX-License-Identifier: MIT */
/*
 * Swapping by three renames: see swap.h. A record is a file in the workdir named by the step at
 * work and the name aside, "2.specfs-swap.1f.0"; it holds the two paths, each with its NUL.
 */
#include "layer/swap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "layer/base.h"
#include "layer/change.h"
#include "layer/exchange.h"
#include "layer/move.h"
#include "layer/remove.h"

enum { RECORD_MAX = 1 << 20 };

struct swap {
	struct view *v;
	const char *a;
	const char *b;
	char aside[WORKDIR_NAME_MAX]; /* view path; scratch alone has it */
	unsigned step;		      /* that the record names; 0: there is none */
};

static const struct route from_aside = { .dest = DEST_SCRATCH, .in_place = true };

static void record_name(const struct swap *s, unsigned step, char ret[WORKDIR_NAME_MAX + 2])
{
	snprintf(ret, WORKDIR_NAME_MAX + 2, "%u%s", step, s->aside);
}

static int record_begin(struct swap *s)
{
	char name[WORKDIR_NAME_MAX + 2];
	char tmp[WORKDIR_NAME_MAX];
	int dir = s->v->work->fd;
	cleanup_fd int fd = -1;
	int r;

	workdir_name(s->v->work, "", tmp);
	fd = openat(dir, tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	record_name(s, 1, name);
	r = fd_write_all(fd, s->a, strlen(s->a) + 1);
	if (!r)
		r = fd_write_all(fd, s->b, strlen(s->b) + 1);
	if (!r && renameat(dir, tmp, dir, name) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(dir, tmp, 0); /* @r tells what failed */
	else
		s->step = 1;
	return r;
}

static int record_step(struct swap *s, unsigned step)
{
	char old[WORKDIR_NAME_MAX + 2];
	char name[WORKDIR_NAME_MAX + 2];

	record_name(s, s->step, old);
	record_name(s, step, name);
	if (renameat(s->v->work->fd, old, s->v->work->fd, name) < 0)
		return -errno;
	s->step = step;
	return 0;
}

static void record_end(const struct swap *s)
{
	char name[WORKDIR_NAME_MAX + 2];

	record_name(s, s->step, name);
	/* one that stays says nothing: there is nothing aside any more */
	(void)unlinkat(s->v->work->fd, name, 0);
}

/* The layer that takes a new name @to. */
static int route_to(struct view *v, const char *to, mode_t mode, unsigned *ret)
{
	cleanup_free char *dir = strndup(to, path_parent_len(to));
	struct found parent;
	struct route route;
	int r = dir ? stack_lookup(&v->stack, dir, &parent) : -ENOMEM;

	/*
	 * Scratch had it only for what has just left it, so that it has gone or shows a lower file;
	 * with what comes, scratch has it again.
	 */
	if (r == -ENOENT || r == -ENOTDIR || (!r && !S_ISDIR(parent.obj.st.st_mode))) {
		*ret = 0;
		return 0;
	}
	if (!r)
		r = route_new(v, to, mode, &parent, &route);
	if (!r)
		*ret = route.layer;
	return r;
}

/* One of the renames; the name aside is scratch's whatever the rules say. */
static int shift(const struct swap *s, const char *from, const char *to)
{
	struct found f;
	struct found there;
	struct move m = { .v = s->v, .from = from, .from_f = &f, .to = to, .remove = from_aside };
	int r = stack_lookup(&s->v->stack, to, &there);

	if (r != -ENOENT && r != -ENOTDIR)
		return r < 0 ? r : -EEXIST;
	r = stack_lookup(&s->v->stack, from, &f);
	if (r < 0)
		return r;
	m.is_dir = S_ISDIR(f.obj.st.st_mode);
	if (from != s->aside)
		r = route_existing(s->v, from, &f, ROUTE_REMOVE, &m.remove);
	if (!r && to != s->aside)
		r = route_to(s->v, to, f.obj.st.st_mode, &m.dest);
	if (!r && S_ISREG(f.obj.st.st_mode))
		r = base_record_new(&s->v->stack, m.dest, to);
	if (!r)
		r = move_do(&m);
	return r < 0 ? r : 0;
}

/* What would be refused later is refused before anything has changed. */
static int check_end(struct view *v, const char *path, const struct found *f,
		     const struct found *comes)
{
	const struct move m = { .v = v, .from = path, .from_f = f };
	unsigned dest;
	int r = move_check(&m);

	return r < 0 ? r : route_to(v, path, comes->obj.st.st_mode, &dest);
}

static int choose_aside(struct swap *s)
{
	struct found f;
	int r;

	do {
		workdir_name(s->v->work, WORKDIR_SWAP_PREFIX, s->aside);
		r = stack_lookup(&s->v->stack, s->aside, &f);
	} while (!r);
	return r == -ENOENT ? 0 : r;
}

/* The record stays until everything is back: the next start goes on. */
static void undo(const struct swap *s, bool both)
{
	int r = both ? shift(s, s->a, s->b) : 0;

	if (!r)
		r = shift(s, s->aside, s->a);
	if (!r)
		record_end(s);
}

int swap_names(struct view *v, const char *a, const struct found *a_f, const char *b,
	       const struct found *b_f)
{
	struct swap s = { .v = v, .a = a, .b = b };
	bool both = false;
	int r = check_end(v, a, a_f, b_f);

	if (!r)
		r = check_end(v, b, b_f, a_f);
	if (!r)
		r = choose_aside(&s);
	if (!r)
		r = record_begin(&s);
	if (r < 0)
		return r;
	r = shift(&s, a, s.aside);
	if (r < 0) {
		record_end(&s);
		return r;
	}
	r = record_step(&s, 2);
	if (!r)
		r = shift(&s, b, a);
	both = !r;
	if (!r)
		r = record_step(&s, 3);
	if (!r)
		r = shift(&s, s.aside, b);
	if (r < 0)
		undo(&s, both);
	else
		record_end(&s);
	return r;
}

/* Has @b the type, data size and time of change of @a, as a copy of it has? */
static bool is_copy(const struct found *a, const struct found *b)
{
	const struct stat *x = &a->st;
	const struct stat *y = &b->st;

	return (x->st_mode & S_IFMT) == (y->st_mode & S_IFMT) &&
	       (S_ISDIR(x->st_mode) || x->st_size == y->st_size) &&
	       x->st_mtim.tv_sec == y->st_mtim.tv_sec && x->st_mtim.tv_nsec == y->st_mtim.tv_nsec;
}

static int drop_aside(const struct swap *s, const struct found *f)
{
	return S_ISDIR(f->st.st_mode) ? remove_empty_dir(s->v, s->aside, f, &from_aside)
				      : remove_file(s->v, NULL, s->aside, f, &from_aside);
}

/* All three names are there: the step at work had published its copy, and not more. */
static int finish_step(const struct swap *s, const struct found *aside, const struct found *a,
		       const struct found *b)
{
	int r;

	/* of a directory more than that may have gone from its old name */
	if (s->step == 1 && !S_ISDIR(aside->st.st_mode) && is_copy(aside, a))
		return drop_aside(s, aside);
	if (s->step == 3 && is_copy(aside, b))
		return drop_aside(s, aside);
	if (s->step != 2 || S_ISDIR(a->st.st_mode) || !is_copy(a, b))
		return 0;
	r = change_unlink(s->v, s->b, b, NULL);
	return r < 0 ? r : shift(s, s->aside, s->b);
}

/* Returns 0 if the record has served its purpose. */
static int recover(const struct swap *s)
{
	struct found aside;
	struct found a;
	struct found b;
	int r = stack_lookup(&s->v->stack, s->aside, &aside);
	int at_a = stack_lookup(&s->v->stack, s->a, &a);
	int at_b = stack_lookup(&s->v->stack, s->b, &b);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	if (!at_a && !at_b)
		return finish_step(s, &aside, &a, &b);
	if (!at_b && at_a == -ENOENT)
		return shift(s, s->aside, s->a);
	if (!at_a && at_b == -ENOENT)
		return shift(s, s->aside, s->b);
	return at_a == -ENOENT ? 0 : at_a; /* none is there: people have gone on */
}

static unsigned recover_record(struct view *v, const char *name)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	struct swap s = { .v = v, .step = (unsigned)(name[0] - '0') };
	size_t len;

	if (fd_read_file(v->work->fd, name, RECORD_MAX, &text) < 0)
		return 0;
	snprintf(s.aside, sizeof(s.aside), "%s", name + 1);
	len = text.len ? strlen(text.buf) + 1 : 0;
	if (len >= text.len || text.buf[text.len - 1])
		return 0;
	s.a = text.buf;
	s.b = text.buf + len;
	if (!recover(&s))
		record_end(&s);
	return 1;
}

unsigned exchange_recover(struct view *v)
{
	cleanup_fd int fd = -1;
	cleanup_dir DIR *d = NULL;
	const struct dirent *e;
	unsigned n = 0;

	if (!v->work)
		return 0;
	fd = openat(v->work->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d = fd < 0 ? NULL : fdopendir(fd);
	if (!d)
		return 0;
	(void)steal_fd(&fd); /* the stream's now */
	while ((e = readdir(d)))
		if (workdir_is_swap(e->d_name))
			n += recover_record(v, e->d_name);
	return n;
}
