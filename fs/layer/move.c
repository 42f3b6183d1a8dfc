/* SPDX-License-Identifier: MIT */
/*
 * Renaming in place: see move.h. In scratch a whiteout may have to appear at the old name; an
 * exchange with one lets both happen at once.
 */
#include "layer/move.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "layer/base.h"
#include "layer/copyup.h"
#include "layer/interim.h"
#include "layer/made.h"
#include "layer/mark.h"
#include "layer/movecheck.h"
#include "layer/remove.h"
#include "layer/whiteout.h"

/* Both ends in one layer, or in two of one file system. */
struct ends {
	struct parent_dir from;
	struct parent_dir to;
};

#define ENDS_INIT                                         \
	{                                                 \
		.from = { .fd = -1 }, .to = { .fd = -1 } \
	}

static void ends_clear(struct ends *e)
{
	parent_dir_close(&e->from);
	parent_dir_close(&e->to);
}

#define cleanup_ends CLEANUP(ends_clear)

static bool in_one_dir(const struct move *m)
{
	size_t len = path_parent_len(m->from);

	return path_parent_len(m->to) == len && !memcmp(m->from, m->to, len);
}

static int ends_open(const struct move *m, unsigned from, unsigned to, struct ends *ret)
{
	struct stat a;
	struct stat b;
	int r = copyup_find_parent(m->v, m->from_in, m->from, from, &ret->from);

	if (!r)
		r = copyup_open_parent(m->v, m->to_in, m->to, to, &ret->to);
	if (r < 0 || (from == to && in_one_dir(m)))
		return r;
	if (fstat(ret->from.fd, &a) < 0 || fstat(ret->to.fd, &b) < 0)
		return -errno;
	return a.st_dev == b.st_dev ? 0 : -EXDEV;
}

static int rename_ends(const struct ends *e, unsigned flags)
{
	return renameat2(e->from.fd, e->from.name, e->to.fd, e->to.name, flags) < 0 ? -errno : 0;
}

/* Where no RENAME_NOREPLACE is known, a look must do. */
static int rename_to_free(const struct ends *e)
{
	int r = rename_ends(e, RENAME_NOREPLACE);
	struct stat st;

	if (r != -EINVAL && r != -ENOSYS)
		return r;
	if (!fstatat(e->to.fd, e->to.name, &st, AT_SYMLINK_NOFOLLOW))
		return -EEXIST;
	return rename_ends(e, 0);
}

/*
 * In scratch, the new name's slot may hold a directory that the view does not show. What only the
 * marks in it hide does not come to light.
 */
static int clear_scratch_slot(const struct move *m, const struct parent_dir *to)
{
	struct object o;

	if (object_stat(to->fd, to->name, &o) < 0 || !S_ISDIR(o.st.st_mode))
		return 0;
	return whiteout_replace_dir(m->v, m->to);
}

/* Rename in scratch with a whiteout left behind; nothing is seen at the new name before. */
static int rename_leaving_whiteout(const struct move *m, const struct ends *e)
{
	bool was = whiteout_is(e->to.fd, e->to.name);
	int r = was ? 0 : whiteout_put(m->v, m->to);

	if (r < 0)
		return r;
	r = rename_ends(e, RENAME_EXCHANGE);
	if (r == -EINVAL || r == -ENOSYS) {
		r = whiteout_drop(m->v, m->to); /* a directory can't replace it */
		if (!r)
			r = rename_ends(e, 0);
		if (!r)
			r = whiteout_put(m->v, m->from);
	}
	if (r < 0 && !was)
		(void)whiteout_drop(m->v, m->to); /* as it was; @r tells what failed */
	return r;
}

/* Marks of a directory that were changed for its new name. */
struct marks {
	bool opaque_set;
	bool implied_removed;
};

/* What a directory needs before it can have another name in scratch. */
static int prepare_dir(const struct move *m, const struct ends *e, struct marks *ret)
{
	cleanup_fd int fd = openat(e->from.fd, e->from.name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	bool opaque;
	bool implied;
	int below = stack_has_below_in(&m->v->stack, m->to_in, m->to, 0);
	int r = 0;

	if (fd < 0)
		return -errno;
	if (below < 0)
		return below;
	mark_read_dir(e->from.fd, e->from.name, &opaque, &implied);
	if (!opaque && below) {
		r = mark_set(fd, MARK_OPAQUE);
		ret->opaque_set = !r;
	}
	if (!r && implied) {
		r = mark_remove(fd, MARK_IMPLIED);
		ret->implied_removed = !r;
	}
	return r;
}

/* The rename failed: the directory is as it was. */
static void restore_marks(const struct ends *e, const struct marks *changed)
{
	cleanup_fd int fd = openat(e->from.fd, e->from.name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	/* the caller tells what failed */
	if (fd >= 0 && changed->opaque_set)
		(void)mark_remove(fd, MARK_OPAQUE);
	if (fd >= 0 && changed->implied_removed)
		(void)mark_set(fd, MARK_IMPLIED);
}

/* A directory can't replace a whiteout by a plain rename. */
static int rename_dir_over_whiteout(const struct move *m, const struct ends *e)
{
	int r = rename_ends(e, RENAME_EXCHANGE);

	if (r == -EINVAL || r == -ENOSYS) {
		if (unlinkat(e->to.fd, e->to.name, 0) < 0)
			return -errno;
		return rename_ends(e, 0);
	}
	return r < 0 ? r : whiteout_drop(m->v, m->from);
}

static int rename_in_scratch(const struct move *m, const struct ends *e)
{
	int below = stack_has_below_in(&m->v->stack, m->from_in, m->from, 0);
	int r;

	if (below < 0)
		return below;
	if (below && !m->to_f)
		return rename_leaving_whiteout(m, e);
	if (m->is_dir && whiteout_is(e->to.fd, e->to.name))
		return rename_dir_over_whiteout(m, e);
	r = rename_ends(e, 0);
	return r < 0 || !below ? r : whiteout_put(m->v, m->from);
}

static int move_in_scratch(const struct move *m)
{
	cleanup_ends struct ends e = ENDS_INIT;
	struct marks changed = { 0 };
	int r = ends_open(m, 0, 0, &e);

	if (!r)
		r = clear_scratch_slot(m, &e.to);
	if (!r && m->is_dir)
		r = prepare_dir(m, &e, &changed);
	if (!r)
		r = rename_in_scratch(m, &e);
	if (r < 0 && e.from.fd >= 0 && (changed.opaque_set || changed.implied_removed))
		restore_marks(&e, &changed);
	return r;
}

/* Hide what lies below the old name. Before the rename if that leaves the object itself visible. */
static int hide_before(const struct move *m, unsigned layer, bool *ret_after)
{
	bool whiteout;
	int r = stack_has_below_in(&m->v->stack, m->from_in, m->from, layer);

	*ret_after = false;
	if (r <= 0)
		return r;
	if (m->v->stack.hides[layer])
		return remove_hide_below(m->v, m->from_in, m->from, m->is_dir, layer, &whiteout);
	*ret_after = true;
	return 0;
}

/* The file that a new specialization replaces is where its text comes from. */
static int record_base(const struct move *m)
{
	if (!m->to_f || m->to_f->layer == m->dest || !S_ISREG(m->from_f->obj.st.st_mode))
		return 0;
	return base_record_new(&m->v->stack, m->dest, m->to);
}

/* The number that scratch kept for a file is no matter of other layers. */
static void drop_kept_ino(const struct ends *e)
{
	cleanup_fd int fd = openat(e->to.fd, e->to.name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0)
		(void)mark_remove(fd, MARK_INO); /* nobody reads it there */
}

/* Take the old name of what has a new one away, but not what others have just put there. */
static int take_old_link(const struct move *m, unsigned from, const struct ends *e)
{
	cleanup_interim struct interim i = INTERIM_INIT;
	struct object now;
	int r = interim_begin(m->v, from, m->from, e->from.fd, &i);

	if (!r)
		r = interim_take(&i, e->from.fd, e->from.name);
	if (r < 0)
		return r;
	if (!object_stat(i.dir_fd, i.name, &now) && object_same(&now, &m->from_f->obj))
		return 0; /* it goes with the interim name */
	interim_put_back(&i, e->from.fd, e->from.name);
	return -ESTALE;
}

/*
 * A file comes to a name that a whiteout hides, perhaps in lower layers, too: it has both names
 * until the whiteout is gone, so that at no moment the old one of a lower layer is seen.
 */
static int link_below_whiteout(const struct move *m, unsigned from, const struct ends *e)
{
	int r;

	if (linkat(e->from.fd, e->from.name, e->to.fd, e->to.name, 0) < 0)
		return errno == EPERM || errno == EMLINK || errno == EOPNOTSUPP ? -EXDEV : -errno;
	r = whiteout_drop(m->v, m->to);
	if (!r)
		r = take_old_link(m, from, e);
	if (!r)
		return 0;
	if (!whiteout_put(m->v, m->to))
		(void)unlinkat(e->to.fd, e->to.name, 0); /* @r tells what failed */
	return r;
}

static int rename_ends_in_layers(const struct move *m, unsigned from, const struct ends *e)
{
	int r;

	if (!m->is_dir && whiteout_at(m->v, m->to))
		return link_below_whiteout(m, from, e);
	r = whiteout_clear(m->v, m->to);
	if (r < 0)
		return r;
	return m->to_f && m->to_f->layer == m->dest ? rename_ends(e, 0) : rename_to_free(e);
}

/* Rename from layer @from into @m->dest, which is not scratch; a whiteout above it goes. */
static int rename_in_layers(const struct move *m, unsigned from)
{
	cleanup_ends struct ends e = ENDS_INIT;
	int r = ends_open(m, from, m->dest, &e);

	if (!r)
		r = record_base(m);
	if (!r)
		r = rename_ends_in_layers(m, from, &e);
	if (!r && !from && !m->is_dir)
		drop_kept_ino(&e);
	return r == -EEXIST ? -ESTALE : r; /* the layer got one of its own meanwhile */
}

/* Scratch's part of a directory follows the one that has just been renamed in its own layer. */
static int follow_in_scratch(const struct move *m)
{
	cleanup_ends struct ends e = ENDS_INIT;
	int r = ends_open(m, 0, 0, &e);

	if (!r)
		r = whiteout_take_dir(m->v, m->to);
	return r < 0 ? r : rename_ends(&e, 0);
}

static void rename_back(const struct move *m, unsigned layer)
{
	cleanup_ends struct ends e = ENDS_INIT;

	if (!m->to_f && !ends_open(m, layer, m->dest, &e))
		(void)renameat2(e.to.fd, e.to.name, e.from.fd, e.from.name, RENAME_NOREPLACE);
}

/* From scratch into another layer of the same file system: the old name may need a whiteout. */
static int move_out_of_scratch(const struct move *m)
{
	int below = stack_has_below_in(&m->v->stack, m->from_in, m->from, 0);
	int r = below < 0 ? below : rename_in_layers(m, 0);

	return r < 0 || !below ? r : whiteout_put(m->v, m->from);
}

/* From another layer into scratch, of the same file system. */
static int move_into_scratch(const struct move *m)
{
	cleanup_ends struct ends e = ENDS_INIT;
	unsigned layer = m->remove.layer;
	bool whiteout;
	bool after = false;
	int r = ends_open(m, layer, 0, &e);

	if (!r)
		r = clear_scratch_slot(m, &e.to);
	if (!r)
		r = hide_before(m, layer, &after);
	if (!r)
		r = rename_ends(&e, 0);
	if (!r && after)
		r = remove_hide_below(m->v, m->from_in, m->from, m->is_dir, layer, &whiteout);
	return r;
}

static int move_between_layers(const struct move *m)
{
	unsigned layer = m->remove.layer;
	bool whiteout;
	bool after = false;
	int r = hide_before(m, layer, &after);

	if (!r)
		r = rename_in_layers(m, layer);
	if (r < 0)
		return r;
	if (m->is_dir && m->from_f->parts & 1)
		r = follow_in_scratch(m);
	if (!r && after)
		r = remove_hide_below(m->v, m->from_in, m->from, m->is_dir, layer, &whiteout);
	if (r < 0)
		rename_back(m, layer);
	return r;
}

/* Which renames a layer can do by itself. */
static bool is_possible(const struct move *m)
{
	uint64_t own = UINT64_C(1) << m->remove.layer;

	if (!m->remove.in_place || m->from_f->via_link)
		return false;
	if (m->remove.layer == m->dest)
		return !m->is_dir || !(m->from_f->parts & ~(own | 1));
	/* a directory may hold what the other layer must not have, a link need another text */
	return S_ISREG(m->from_f->obj.st.st_mode);
}

int move_in_place(const struct move *m)
{
	int r;

	if (!is_possible(m))
		return -EXDEV;
	r = m->is_dir ? move_is_alike(m->v, m->dest, m->from, m->to) : 1;
	if (r <= 0)
		return r < 0 ? r : -EXDEV;
	if (!m->remove.layer)
		return m->dest ? move_out_of_scratch(m) : move_in_scratch(m);
	return m->dest ? move_between_layers(m) : move_into_scratch(m);
}

/* What is at the new name: does it make a difference that we put it there? */
static void note_made(const struct move *m, bool copied)
{
	const struct stack *st = &m->v->stack;
	bool over = m->to_f && m->to_f->layer == m->dest;
	const struct object *old = over ? &m->to_f->obj : NULL;
	cleanup_fd int fd = -1;
	struct object o;

	if (!copied && m->remove.layer == m->dest) {
		made_moved(st, m->dest, m->from, m->to, &m->from_f->obj, old);
		return;
	}
	fd = over ? layer_open(&st->layers[m->dest], m->to, O_PATH, 0) : -1;
	if (fd >= 0 && !object_stat(fd, "", &o))
		made_moved(st, m->dest, m->to, m->to, &o, old);
}

/*
 * What would be hidden in its layer goes to scratch. So does what would bring to light what only
 * the marks in scratch's own directory hide at the new name.
 */
static int settle_dest(struct move *m)
{
	int r = m->dest ? whiteout_dir_hides(m->v, m->to, m->to_f) : 0;

	if (r > 0 ||
	    (m->dest && !move_is_shown(m->v, m->dest, m->to, m->from_f->obj.st.st_mode)))
		m->dest = 0;
	return r < 0 ? r : 0;
}

int move_do(const struct move *asked)
{
	struct move now_asked = *asked;
	const struct move *m = &now_asked;
	struct found now;
	bool copied;
	int r = m->v->work ? settle_dest(&now_asked) : -EROFS;

	if (!r && m->remove.in_place && m->remove.layer)
		r = remove_check(m->v, m->from_in, m->from, m->from_f);
	if (!r && m->to_f && m->dest)
		r = remove_check(m->v, m->to_in, m->to, m->to_f);
	if (r < 0)
		return r;
	r = move_in_place(m);
	copied = r == -EXDEV;
	if (copied)
		r = move_by_copy(m);
	if (!r && m->dest)
		note_made(m, copied);
	if (!r && m->v->stack.hides[m->dest] && stack_lookup(&m->v->stack, m->to, &now) == 0 &&
	    now.layer == m->dest)
		remove_undo_hide(m->v, m->to, m->dest, &now.obj);
	return r < 0 ? r : copied;
}
