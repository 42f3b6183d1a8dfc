/* SPDX-License-Identifier: MIT */
/* Readying nodes for reading and for changes: see edit.h. */
#include "ops/edit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "layer/change.h"
#include "ops/park.h"
#include "ops/place.h"
#include "ops/refusal.h"

enum { MAX_TRIES = 100 };

static bool has_data(const struct node *n, int *ret_err)
{
	*ret_err = n->type == S_IFDIR ? -EISDIR : -EINVAL;
	return n->type == S_IFREG;
}

/* Open once more, with @flags, what some descriptor of the node refers to. */
static int reopen_any(struct server *srv, struct node *n, int flags)
{
	int r = -ESTALE;

	for (int k = 0; k < HANDLE_KINDS && r < 0; k++) {
		cleanup_handle struct handle *h = handle_get(srv->slots, n, (enum handle_kind)k);

		if (h)
			r = fd_reopen(h->fd, flags | O_NONBLOCK);
	}
	return r;
}

/* Open the node's object by its name, or through what it holds if it has none */
static int open_object(struct server *srv, struct node *n, int flags, struct found *ret_f)
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	int r = table_where(srv->table, n, &path, ret_f);

	if (!r)
		r = server_open_file(srv, path.buf, ret_f, flags);
	/* it may be open although its name shows another file by now */
	if (r == -ESTALE)
		r = reopen_any(srv, n, flags);
	return r == -ESTALE ? park_open(srv, n, flags) : r;
}

static bool is_object(struct node *n, const struct found *f)
{
	struct found now;

	node_found(n, &now);
	return object_same(&now.obj, &f->obj);
}

static struct handle *get_readable(struct server *srv, struct node *n)
{
	struct handle *h = handle_get(srv->slots, n, HANDLE_READ);

	if (h)
		return h;
	h = handle_get(srv->slots, n, HANDLE_WRITE);
	if (h && h->is_readable)
		return h;
	handle_put(h);
	return NULL;
}

/*
 * The caller holds the tree. A copy-up may give the node another object between the look at what
 * it is and the installation: then what was opened is not kept.
 */
static int open_read_held(struct server *srv, struct node *n, struct handle **ret)
{
	for (int i = 0; i < MAX_TRIES; i++) {
		struct found f;
		int fd;
		int r;

		fd = open_object(srv, n, O_RDONLY, &f);
		if (fd == -ESTALE && !is_object(n, &f))
			continue;
		if (fd < 0)
			return fd;
		r = handle_install(srv->slots, n, HANDLE_READ, fd, true, ret);
		if (r < 0)
			return r;
		if (is_object(n, &f))
			return 0;
		handle_put(*ret);
		handle_drop(srv->slots, n, HANDLE_READ);
	}
	return -EIO;
}

int edit_open_read(struct server *srv, struct node *n, struct handle **ret)
{
	int r;

	if (!has_data(n, &r))
		return r;
	*ret = get_readable(srv, n);
	if (*ret)
		return 0;
	tree_read(srv);
	r = open_read_held(srv, n, ret);
	tree_done(srv);
	return r;
}

/* The node has another object now: what it holds of the old one goes. */
static void drop_old(struct server *srv, struct node *n)
{
	handle_drop(srv->slots, n, HANDLE_READ);
	handle_drop(srv->slots, n, HANDLE_PATH);
}

static int scratch_file(struct server *srv)
{
	char name[WORKDIR_NAME_MAX];
	int dir;
	int fd;

	if (!srv->view->work)
		return -EROFS;
	dir = srv->view->work->fd;
	fd = openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
		return fd < 0 ? -errno : fd;
	workdir_name(srv->view->work, "", name);
	fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	(void)unlinkat(dir, name, 0); /* the next start clears it otherwise */
	return fd;
}

/*
 * A file that is only hidden from the view is copied to a file without a name before it is
 * changed:
 * who has it open sees the change, its layer does not.
 */
static int copy_hidden(struct server *srv, struct node *n, off_t keep)
{
	cleanup_handle struct handle *h = NULL;
	cleanup_fd int from = -1;
	int fd;
	int r;
	struct stat st;

	from = reopen_any(srv, n, O_RDONLY);
	if (from < 0)
		return from;
	if (fstat(from, &st) < 0)
		return -errno;
	fd = scratch_file(srv);
	if (fd < 0)
		return fd;
	r = fd_copy_data(from, fd, keep >= 0 && keep < st.st_size ? keep : st.st_size);
	if (!r && srv->is_root && fchown(fd, st.st_uid, st.st_gid) < 0)
		r = -errno;
	if (!r && fchmod(fd, st.st_mode & 07777) < 0)
		r = -errno;
	if (!r)
		r = futimens(fd, (struct timespec[]){ st.st_atim, st.st_mtim }) < 0 ? -errno : 0;
	if (r < 0) {
		close(fd);
		return r;
	}
	drop_old(srv, n);
	table_set_orphan(srv->table, n, ORPHAN_OWN);
	return handle_install(srv->slots, n, HANDLE_WRITE, fd, true, &h);
}

/* The node's name shows something else by now: take the name from it. */
static void lose_name(struct server *srv, struct place *p, const char *name, const struct found *f)
{
	cleanup_node struct node *lost = NULL;
	struct route rt;
	const char *path = place_child_path(p, name);
	bool own = path && route_existing(srv->view, path, f, ROUTE_EDIT, &rt) == 0 && rt.in_place;

	if (table_absent(srv->table, p->dir, name, p->seq, &lost) < 0 || !lost)
		return;
	if (path)
		edit_keep_lost(srv, lost, path, f);
	if (own)
		table_set_orphan(srv->table, lost, ORPHAN_OWN);
}

/* Route the change of what @f says, and copy up. @f is what the node stands for then. */
static int prepare_found(struct server *srv, struct node *n, const char *path, off_t keep,
			 struct found *f)
{
	int r;

	table_changing(srv->table, n);
	r = change_prepare(srv->view, path, f, keep);
	table_changed(srv->table, n, r < 0 ? NULL : f);
	if (r < 0)
		return refusal_note(srv, r, path, f, ROUTE_EDIT);
	if (n->type == S_IFDIR)
		place_add_part(srv, n, f->layer);
	return 0;
}

/* The same by the node's name. -EAGAIN: look again. */
static int prepare_named(struct server *srv, struct node *n, off_t keep, struct found *ret)
{
	cleanup_place struct place p = PLACE_INIT;
	char name[NAME_MAX + 1];
	struct found before;
	const char *path;
	int r = place_open_parent(srv, n, &p, name);

	if (r < 0)
		return r;
	node_found(n, &before);
	r = place_child(&p, name, ret);
	if (r < 0 && r != -ENOENT)
		return r;
	if (r == -ENOENT || (ret->st.st_mode & S_IFMT) != n->type ||
	    (n->type != S_IFDIR && !ret->virtual && !object_same(&ret->obj, &before.obj))) {
		lose_name(srv, &p, name, &before);
		return -EAGAIN;
	}
	path = place_child_path(&p, name);
	if (!path)
		return -ENOMEM;
	r = prepare_found(srv, n, path, keep, ret);
	if (r < 0)
		return r;
	if (n->type != S_IFDIR && !object_same(&ret->obj, &before.obj))
		drop_old(srv, n);
	place_add_part(srv, p.dir, ret->layer);
	return 0;
}

static int prepare_root(struct server *srv, struct node *n, struct found *ret)
{
	int r = stack_root(&srv->view->stack, ret);

	return r < 0 ? r : prepare_found(srv, n, "", -1, ret);
}

/* Returns 0 with *@ret valid, 1 if the node has no name and is changed through its descriptors. */
static int prepare(struct server *srv, struct node *n, off_t keep, struct found *ret)
{
	if (n->id == NODE_ROOT)
		return prepare_root(srv, n, ret);
	for (int i = 0; i < MAX_TRIES; i++) {
		int r;

		if (atomic_load(&n->nameless)) {
			r = table_orphan(srv->table, n) == ORPHAN_HIDDEN && n->type == S_IFREG
				    ? copy_hidden(srv, n, keep)
				    : 0;
			return r < 0 ? r : 1;
		}
		r = prepare_named(srv, n, keep, ret);
		if (r != -EAGAIN && r != -ESTALE)
			return r;
	}
	return -ESTALE;
}

int edit_prepare(struct server *srv, struct node *n, int *ret_fd)
{
	struct found f;
	int r = prepare(srv, n, -1, &f);

	if (r < 0)
		return r;
	r = open_object(srv, n, O_PATH, &f);
	if (r < 0)
		return r;
	*ret_fd = r;
	return 0;
}

/* Open for writing what is ready for it. */
static int open_write(struct server *srv, struct node *n, struct handle **ret)
{
	bool readable = true;
	struct found f;
	struct stat st;
	int fd = open_object(srv, n, O_RDWR, &f);
	int r;

	if (fd == -EACCES) {
		readable = false;
		fd = open_object(srv, n, O_WRONLY, &f);
	}
	if (fd < 0)
		return fd;
	r = handle_install(srv->slots, n, HANDLE_WRITE, fd, readable, ret);
	if (!r && fstat((*ret)->fd, &st) == 0)
		atomic_store(&(*ret)->has_setid, st.st_mode & (S_ISUID | S_ISGID));
	return r;
}

static int open_write_held(struct server *srv, struct node *n, off_t keep, struct handle **ret)
{
	struct found f;
	int r;

	*ret = handle_get(srv->slots, n, HANDLE_WRITE);
	if (*ret)
		return 0;
	r = prepare(srv, n, keep, &f);
	if (r < 0)
		return r;
	*ret = handle_get(srv->slots, n, HANDLE_WRITE); /* of a copy just made */
	if (*ret)
		return 0;
	return open_write(srv, n, ret);
}

int edit_open_write(struct server *srv, struct node *n, off_t keep, struct handle **ret)
{
	int r;

	if (!has_data(n, &r))
		return r;
	*ret = handle_get(srv->slots, n, HANDLE_WRITE);
	if (*ret)
		return 0;
	tree_read(srv);
	node_begin(n);
	r = open_write_held(srv, n, keep, ret);
	node_end(n);
	tree_done(srv);
	return r;
}

static void keep_write(struct server *srv, struct node *n)
{
	cleanup_handle struct handle *w = handle_get(srv->slots, n, HANDLE_WRITE);
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	struct found f;
	struct route rt;

	if (!w && table_where(srv->table, n, &path, &f) == 0 &&
	    route_existing(srv->view, path.buf, &f, ROUTE_EDIT, &rt) == 0 && rt.in_place)
		(void)open_write(srv, n, &w); /* what can't be had can't be kept */
}

struct handle *edit_keep(struct server *srv, struct node *n, bool write)
{
	struct handle *h;
	struct found f;
	int fd;

	if (n->type != S_IFREG || atomic_load(&n->nameless))
		return NULL;
	node_found(n, &f);
	if (f.virtual)
		return NULL;
	if (write)
		keep_write(srv, n);
	h = get_readable(srv, n);
	if (h || open_read_held(srv, n, &h) == 0)
		return h;
	h = handle_get(srv->slots, n, HANDLE_WRITE);
	if (h)
		return h;
	fd = open_object(srv, n, O_PATH, &f);
	if (fd < 0 || handle_install(srv->slots, n, HANDLE_PATH, fd, false, &h) < 0)
		return NULL;
	return h;
}

/* A file without a name that says what the generated one said. */
static int copy_text(struct server *srv, const struct found *f)
{
	const char *text = stack_virtual_content(&srv->view->stack, f);
	int fd = scratch_file(srv);
	int r;

	if (fd < 0)
		return fd;
	r = fd_write_all(fd, text, strlen(text));
	if (!r && srv->is_root && fchown(fd, f->st.st_uid, f->st.st_gid) < 0)
		r = -errno;
	if (!r && fchmod(fd, f->st.st_mode & 07777) < 0)
		r = -errno;
	if (!r && futimens(fd, (struct timespec[]){ f->st.st_atim, f->st.st_mtim }) < 0)
		r = -errno;
	if (r < 0)
		close(fd);
	return r < 0 ? r : fd;
}

void edit_keep_lost(struct server *srv, struct node *n, const char *path, const struct found *f)
{
	enum handle_kind kind = HANDLE_READ;
	cleanup_handle struct handle *h = NULL;
	int fd;

	if (n->type != S_IFREG || slots_are_scarce(srv->slots))
		return;
	for (int k = 0; k < HANDLE_KINDS && !h; k++)
		h = handle_get(srv->slots, n, (enum handle_kind)k);
	if (!h) {
		fd = f->virtual ? copy_text(srv, f) : server_open_file(srv, path, f, O_RDONLY);
		if (fd == -EACCES) {
			kind = HANDLE_PATH;
			fd = server_open_file(srv, path, f, O_PATH);
		}
		if (fd < 0 || handle_install(srv->slots, n, kind, fd, kind == HANDLE_READ, &h) < 0)
			return;
	}
	handle_pin(h);
}

enum orphan edit_outcome(const struct handle *kept, nlink_t before)
{
	struct stat st;

	if (!kept || fstat(kept->fd, &st) < 0)
		return ORPHAN_OWN;
	return st.st_nlink < before ? ORPHAN_OWN : ORPHAN_HIDDEN;
}

int edit_drop_privileges(struct server *srv, const struct node *n, struct handle *h,
			 const struct caller *who)
{
	struct stat st;
	mode_t drop;

	if (!atomic_load_explicit(&h->has_setid, memory_order_relaxed) || who->uid == 0)
		return 0;
	if (fstat(h->fd, &st) < 0)
		return -errno;
	drop = caller_kills(who, &st);
	if (drop && fchmod(h->fd, (st.st_mode & 07777) & ~drop) < 0)
		return -errno;
	atomic_store(&h->has_setid, st.st_mode & ~drop & (S_ISUID | S_ISGID));
	/* after a write the kernel keeps the old mode; if it does not know the node, it has none */
	if (drop && srv->stale_attr)
		(void)srv->stale_attr(srv->arg, n->id);
	return 0;
}
