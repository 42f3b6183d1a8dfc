/* SPDX-License-Identifier: MIT */
/*
 * Renaming by copying: see move.h. The copy is complete, and on disk where people's directories are
 * concerned, before the new name shows it; only then does the old name go.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "layer/base.h"
#include "layer/copytree.h"
#include "layer/copyup.h"
#include "layer/interim.h"
#include "layer/mark.h"
#include "layer/move.h"
#include "layer/movecheck.h"
#include "layer/moveold.h"
#include "layer/whiteout.h"

/* Is directory @fd inside a directory that @m moves, by the layers' own account? 1, 0 or errno. */
static int is_inside(const struct move *m, const struct dirset *parts, int fd)
{
	cleanup_fd int dir = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	struct stat here;
	struct stat above;

	if (dir < 0 || fstat(dir, &here) < 0)
		return -errno;
	for (;;) {
		int up;

		for (unsigned i = 0; i < m->v->stack.n; i++) {
			struct stat st;

			if (parts->fd[i] >= 0 && !fstat(parts->fd[i], &st) &&
			    st.st_dev == here.st_dev && st.st_ino == here.st_ino)
				return 1;
		}
		up = openat(dir, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (up < 0)
			return -errno;
		close(dir);
		dir = up;
		if (fstat(dir, &above) < 0)
			return -errno;
		if (above.st_dev == here.st_dev && above.st_ino == here.st_ino)
			return 0; /* the root of everything */
		here = above;
	}
}

/* One layer's directory may be seen at two places: it must not be copied into itself. */
static int check_not_inside(const struct move *m, int parent)
{
	cleanup_dirset struct dirset parts;
	int r;

	dirset_init(&parts);
	if (!m->is_dir)
		return 0;
	r = stack_open_dir(&m->v->stack, m->from, m->from_f->parts, &parts);
	if (!r)
		r = is_inside(m, &parts, parent);
	return r > 0 ? -EINVAL : r;
}

static int sync_copy(const struct move *m, const struct interim *i)
{
	cleanup_fd int fd = -1;

	if (!m->dest || S_ISLNK(m->from_f->obj.st.st_mode))
		return 0;
	if (!S_ISREG(m->from_f->obj.st.st_mode) && !m->is_dir)
		return 0;
	fd = openat(i->dir_fd, i->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	return (m->is_dir ? syncfs(fd) : fsync(fd)) < 0 ? -errno : 0;
}

/* Nothing old may show in a directory that comes to a name which has something below. */
static int mark_copy(const struct move *m, const struct interim *i)
{
	cleanup_fd int fd = -1;
	int r;

	if (!m->is_dir || m->dest)
		return 0;
	r = stack_has_below_in(&m->v->stack, m->to_in, m->to, 0);
	if (r <= 0)
		return r;
	fd = openat(i->dir_fd, i->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : mark_set(fd, MARK_OPAQUE);
}

static int make_copy(const struct move *m, const struct interim *i, struct copied_list *list)
{
	int r = copytree(m->v, m->from, m->from_f, m->to, m->dest, i->dir_fd, i->name, list);

	if (!r)
		r = mark_copy(m, i);
	if (!r)
		r = sync_copy(m, i);
	if (!r && m->to_f && m->to_f->layer != m->dest && S_ISREG(m->from_f->obj.st.st_mode))
		r = base_record_new(&m->v->stack, m->dest, m->to);
	return r;
}

/* How the copy was published, for taking it back. */
struct published {
	struct interim *i;
	int parent;
	const char *name;
	bool swapped;  /* what was there is under the interim name */
	bool over;     /* what was there is gone */
	bool whiteout; /* there was one */
};

/* Remove what was copied, but nothing that others have put there or written to since. */
static void remove_copy(const struct published *p, const struct move *m,
			const struct copied_list *list)
{
	size_t len = strlen(m->from);

	for (size_t k = 0; k < list->n; k++) {
		cleanup_strbuf struct strbuf path = STRBUF_INIT;
		const struct copied *c = &list->v[k];
		const char *name;
		cleanup_fd int dir = -1;
		struct object now;

		strbuf_addf(&path, "%s%s", p->name, c->path + len);
		if (strbuf_failed(&path) < 0)
			return;
		dir = fd_open_parent(p->parent, path.buf, &name);
		if (dir >= 0 && !object_stat(dir, name, &now) && copied_same_data(c, &now))
			(void)unlinkat(dir, name, S_ISDIR(now.st.st_mode) ? AT_REMOVEDIR : 0);
	}
}

/* The old name could not be taken away: the new one goes again. The caller tells what failed. */
static void take_back(const struct published *p, const struct move *m,
		      const struct copied_list *list)
{
	if (p->whiteout && whiteout_put(m->v, m->to) < 0)
		return;
	if (p->swapped)
		(void)interim_swap(p->i, p->parent, p->name);
	else if (!p->over)
		remove_copy(p, m, list);
}

/* Over what has the name in that layer. Where nothing can be exchanged it is gone then. */
static int publish_over(struct published *p)
{
	int r = interim_swap(p->i, p->parent, p->name);

	p->swapped = !r;
	if (r != -EINVAL && r != -ENOSYS)
		return r;
	r = interim_publish_over(p->i, p->parent, p->name);
	p->over = !r;
	return r;
}

static int publish(const struct move *m, const struct copied_list *list, struct published *p)
{
	struct stat st;
	bool there = !fstatat(p->parent, p->name, &st, AT_SYMLINK_NOFOLLOW);
	int r;

	if (there && (!m->dest || (m->to_f && m->to_f->layer == m->dest)))
		r = publish_over(p);
	else
		r = interim_publish_new(p->i, p->parent, p->name);
	if (r < 0)
		return r == -EEXIST ? -ESTALE : r; /* the layer got one of its own meanwhile */
	if (!m->dest)
		return 0;
	/* last: what a whiteout hides in lower layers must not be seen before the copy covers it */
	p->whiteout = whiteout_at(m->v, m->to);
	r = whiteout_clear(m->v, m->to);
	if (r < 0)
		take_back(p, m, list);
	return r;
}

static int open_dir_of(const struct stack *st, const char *dir, struct dirset *ret)
{
	struct found f;
	int r = dir ? stack_lookup(st, dir, &f) : -ENOMEM;

	return r < 0 ? r : stack_open_dir(st, dir, f.parts, ret);
}

/*
 * Copy, publish the copy, take the old one away. @in: the directory of the old name, opened.
 * Returns -EXDEV, and has done nothing, if the layer would not show all that was copied.
 */
static int copy_and_remove(const struct move *m, const struct dirset *in)
{
	const char *name;
	cleanup_fd int parent = copyup_parents(m->v, m->to, m->dest, &name);
	cleanup_interim struct interim i = INTERIM_INIT;
	cleanup_copied_list struct copied_list list = { 0 };
	struct published p = { .i = &i, .parent = parent, .name = name };
	struct object copy;
	bool begun = false;
	struct found left;
	int r;

	if (parent < 0)
		return parent;
	r = check_not_inside(m, parent);
	if (!r)
		r = interim_begin(m->v, m->dest, m->to, parent, &i);
	if (!r)
		r = make_copy(m, &i, &list);
	if (!r)
		r = move_check_copied(m, &list);
	if (!r)
		r = object_stat(i.dir_fd, i.name, &copy);
	if (!r)
		r = publish(m, &list, &p);
	if (r < 0)
		return r;
	r = move_remove_old(m, in, &list, &copy, &begun);
	if (r < 0 && !begun)
		take_back(&p, m, &list);
	/* what is gone from the old name is nowhere but in the copy */
	return r < 0 && begun && stack_lookup(&m->v->stack, m->from, &left) == -ENOENT ? 0 : r;
}

static int do_copy(const struct move *m)
{
	cleanup_free char *dir = strndup(m->from, path_parent_len(m->from));
	cleanup_dirset struct dirset in;
	int r = 0;

	dirset_init(&in);
	if (!m->from_in)
		r = open_dir_of(&m->v->stack, dir, &in);
	return r < 0 ? r : copy_and_remove(m, m->from_in ? m->from_in : &in);
}

/* A directory goes to scratch as a whole if the layer that it is for would hide something of it. */
int move_by_copy(const struct move *m)
{
	struct move now = *m;
	int r = move_check_shown(m);

	if (!r)
		r = do_copy(m);
	if (r != -EXDEV)
		return r;
	now.dest = 0;
	r = move_in_place(&now); /* if scratch has it already */
	return r == -EXDEV ? do_copy(&now) : r;
}
