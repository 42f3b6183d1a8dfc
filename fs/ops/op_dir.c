/* SPDX-License-Identifier: MIT */
/* Directories: listing and syncing them. A listing's offsets belong to names, see listing.h. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "ops/attr.h"
#include "ops/entry.h"
#include "ops/hidden.h"
#include "ops/ops.h"
#include "ops/reply.h"
#include "ops/size.h"

enum { OFFSET_DOT = 1, OFFSET_DOTDOT = 2 };

/*
 * Who lists a directory mostly goes on to those in it: they are watched at once, which costs less
 * than the question for their attributes that would come. With more names than this that is too
 * much for somebody who wants the names alone.
 */
enum { FOLLOW_MAX = 256 };

/* One reply being filled. */
struct batch {
	fuse_req_t req; /* only handed to the packing functions */
	bool plus;
	char *buf;
	size_t size;
	size_t used;
	bool unwatched; /* the kernel must not keep the listing */
	bool sizes;	/* of files in it, that are to be asked for again */
};

void op_opendir(fuse_req_t req, fuse_ino_t id, struct fuse_file_info *fi)
{
	struct server *srv = server_of(req, REQ_OPENDIR);

	if (srv->no_opendir) {
		reply_err(req, -ENOSYS);
		return;
	}
	fi->fh = 0;
	fi->cache_readdir = srv->config.cache_listings;
	fi->keep_cache = srv->config.cache_listings;
	(void)fuse_reply_open(req, fi);
}

static bool fits(const struct batch *b, const char *name)
{
	size_t need = b->plus ? fuse_add_direntry_plus(b->req, NULL, 0, name, NULL, 0)
			      : fuse_add_direntry(b->req, NULL, 0, name, NULL, 0);

	return b->used + need <= b->size;
}

static void add(struct batch *b, const char *name, const struct fuse_entry_param *e,
		uint64_t offset)
{
	char *at = b->buf + b->used;
	size_t left = b->size - b->used;

	if (b->plus)
		b->used += fuse_add_direntry_plus(b->req, at, left, name, e, (off_t)offset);
	else
		b->used += fuse_add_direntry(b->req, at, left, name, &e->attr, (off_t)offset);
}

/* An entry that comes without a node: the kernel looks it up when it is needed. */
static void add_plain(struct batch *b, const char *name, uint64_t ino, unsigned char type,
		      uint64_t offset)
{
	struct fuse_entry_param e = { .attr = { .st_ino = ino, .st_mode = DTTOIF(type) } };

	add(b, name, &e, offset);
}

static uint64_t parent_ino(struct server *srv, struct place *p)
{
	cleanup_node struct node *parent = NULL;
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	struct found f;

	if (p->dir->id == NODE_ROOT || table_place(srv->table, p->dir, &path, &parent) < 0)
		return p->found.st.st_ino;
	node_found(parent, &f);
	return f.st.st_ino;
}

/* A name is to lead to no size that may still be on its way, see size.h: then it is looked up. */
static int check_size(struct place *p, struct batch *b, const char *name,
		      const struct fuse_entry_param *e)
{
	if (size_has_arrived(p->srv, e->ino, &e->attr)) {
		b->sizes = true;
		return 0;
	}
	table_forget(p->srv->table, e->ino, 1);
	table_stray(p->srv->table, p->dir, name); /* or what it leads to now stays */
	return -EAGAIN;
}

/*
 * Add a name of the listing, with its node if the kernel wants that. @fresh: this very request has
 * read the listing, so that what it says of layers holds: a change since then is told of, or makes
 * entry_enter() refuse. @follow: somebody may soon go there. Returns 0, or -ENOENT if the name has
 * gone meanwhile.
 */
static int add_entry(struct place *p, struct batch *b, const struct entry *le, bool fresh,
		     bool follow)
{
	struct fuse_entry_param e;
	struct found f;
	int r = -EAGAIN;

	if (b->plus) {
		r = fresh && le->alone ? stack_child_alone(&p->srv->view->stack, &p->parts,
							   le->name, le->layer, &f)
				       : place_child(p, le->name, &f);
		if (r == -ENOENT)
			return r;
		if (!r)
			r = entry_enter(p, le->name, &f, false, NULL, &e);
		if (!r && e.attr_timeout == 0)
			r = check_size(p, b, le->name, &e);
		if (!r && follow)
			entry_follow(p, le->name, &e);
	}
	if (r < 0)
		add_plain(b, le->name, le->ino, le->type, le->offset);
	else
		add(b, le->name, &e, le->offset);
	return 0;
}

/* The directory's listing: a new one (@ret_fresh) from the beginning, else the one being read. */
static int get_snapshot(struct server *srv, struct place *p, uint64_t offset, struct snapshot **ret,
			bool *ret_fresh)
{
	struct listing *l;
	int r;

	*ret = offset ? snapshot_get(srv->snaps, p->dir) : NULL;
	*ret_fresh = !*ret;
	if (*ret)
		return 0;
	r = listing_read(&srv->view->stack, &p->parts, &l);
	return r < 0 ? r : snapshot_install(srv->snaps, p->dir, l, ret);
}

static int fill(struct server *srv, struct place *p, uint64_t offset, struct batch *b)
{
	cleanup_snapshot struct snapshot *sn = NULL;
	const struct listing *l;
	bool fresh;
	size_t i;
	int r;

	if (offset < OFFSET_DOT && fits(b, "."))
		add_plain(b, ".", p->found.st.st_ino, DT_DIR, OFFSET_DOT);
	if (offset < OFFSET_DOTDOT && fits(b, ".."))
		add_plain(b, "..", parent_ino(srv, p), DT_DIR, OFFSET_DOTDOT);
	r = get_snapshot(srv, p, offset, &sn, &fresh);
	if (r < 0)
		return r;
	l = sn->listing;
	b->unwatched |= l->loose;
	for (i = listing_seek(l, offset); i < l->n && fits(b, l->v[i].name); i++) {
		/* a name that has gone is left out */
		(void)add_entry(p, b, &l->v[i], fresh, l->n <= FOLLOW_MAX);
	}
	if (!b->used)
		snapshot_drop(srv->snaps, p->dir, sn); /* read to its end */
	return 0;
}

/* Was the listing read to its end? Nothing need be opened to say so once more. */
static bool is_at_end(struct server *srv, uint64_t id, uint64_t offset, struct batch *b)
{
	cleanup_node struct node *n = NULL;
	cleanup_snapshot struct snapshot *sn = NULL;

	if (offset <= OFFSET_DOTDOT || server_node(srv, id, &n) < 0)
		return false;
	sn = snapshot_get(srv->snaps, n);
	if (!sn || listing_seek(sn->listing, offset) < sn->listing->n)
		return false;
	b->unwatched = atomic_load(&n->unwatched) || sn->listing->loose;
	snapshot_drop(srv->snaps, n, sn);
	return true;
}

static void fill_hidden(uint64_t offset, struct batch *b)
{
	const char *name;
	uint64_t ino;

	for (unsigned i = (unsigned)offset; (name = hidden_entry(i, &ino)) && fits(b, name); i++)
		add_plain(b, name, ino, DT_REG, i + 1);
}

static int list(struct server *srv, uint64_t id, off_t offset, struct batch *b)
{
	cleanup_place struct place p = PLACE_INIT;
	int r;

	if (hidden_is(id)) {
		fill_hidden((uint64_t)offset, b);
		return 0;
	}
	if (is_at_end(srv, id, (uint64_t)offset, b))
		return 0;
	r = place_open(srv, id, &p);
	if (r == -ENOENT)
		return 0; /* removed: empty */
	b->unwatched = p.dir && atomic_load(&p.dir->unwatched);
	return r < 0 ? r : fill(srv, &p, (uint64_t)offset, b);
}

/* What was told of files without any time that it is valid for. */
static void told_sizes(struct server *srv, const struct batch *b)
{
	for (size_t at = 0; b->plus && at < b->used;) {
		const struct fuse_direntplus *d = (const void *)(b->buf + at);
		const struct fuse_entry_out *e = &d->entry_out;
		struct stat st = { .st_mode = e->attr.mode, .st_size = (off_t)e->attr.size };

		if (e->nodeid && !e->attr_valid && !e->attr_valid_nsec)
			size_told(srv, e->nodeid, &st);
		at += FUSE_DIRENTPLUS_SIZE(d);
	}
}

/* Take back what a reply that did not arrive would have counted. */
static void take_back(struct server *srv, const struct batch *b)
{
	for (size_t at = 0; b->plus && at < b->used;) {
		const struct fuse_direntplus *d = (const void *)(b->buf + at);

		if (d->entry_out.nodeid)
			table_forget(srv->table, d->entry_out.nodeid, 1);
		at += FUSE_DIRENTPLUS_SIZE(d);
	}
}

static void reply_list(struct server *srv, fuse_req_t req, uint64_t id, size_t size, off_t offset,
		       bool plus)
{
	cleanup_free char *buf = malloc(size);
	struct batch b = { .req = req, .plus = plus, .buf = buf, .size = size };
	int r = buf ? list(srv, id, offset, &b) : -ENOMEM;

	if (r < 0 && !b.used)
		reply_err(req, r);
	else if (fuse_reply_buf(req, b.buf, b.used) < 0)
		take_back(srv, &b);
	else if (b.sizes)
		told_sizes(srv, &b);
	if (b.unwatched && srv->stale_data)
		srv->stale_data(srv->watch_arg, id);
}

void op_readdir(fuse_req_t req, fuse_ino_t id, size_t size, off_t offset, struct fuse_file_info *fi)
{
	reply_list(server_of(req, REQ_READDIR), req, id, size, offset, false);
}

void op_readdirplus(fuse_req_t req, fuse_ino_t id, size_t size, off_t offset,
		    struct fuse_file_info *fi)
{
	reply_list(server_of(req, REQ_READDIRPLUS), req, id, size, offset, true);
}

/* A change of names may be in any part that is written to: sync each. */
static int sync_parts(const struct place *p)
{
	int ret = 0;

	for (uint64_t left = p->parts.parts; left; left &= left - 1) {
		int part = p->parts.fd[__builtin_ctzll(left)];
		cleanup_fd int fd = -1;

		if (part < 0)
			continue;
		fd = fd_reopen(part, O_RDONLY | O_DIRECTORY);
		if (fd < 0)
			ret = fd;
		else if (fsync(fd) < 0 && errno != EINVAL && errno != EROFS)
			ret = -errno;
	}
	return ret;
}

void op_fsyncdir(fuse_req_t req, fuse_ino_t id, int datasync, struct fuse_file_info *fi)
{
	struct server *srv = server_of(req, REQ_FSYNC);
	struct place p = PLACE_INIT;
	int r = hidden_is(id) ? 0 : place_open(srv, id, &p);

	if (!r && p.srv)
		r = sync_parts(&p);
	place_close(&p);
	reply_err(req, r == -ENOENT ? 0 : r);
}
