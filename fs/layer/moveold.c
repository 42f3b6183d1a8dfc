/* SPDX-License-Identifier: MIT */
/* Taking an old name away, once what it had has been copied: see moveold.h. */
#include "layer/moveold.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/path.h"
#include "layer/copyup.h"
#include "layer/interim.h"
#include "layer/listing.h"
#include "layer/made.h"
#include "layer/remove.h"
#include "layer/whiteout.h"

/* Is the object still the one, in the state, that was copied? */
static bool is_as_copied(const struct object *now, const struct copied *c)
{
	return object_same(now, &c->obj) && copied_same_data(c, now);
}

/*
 * Remove from its layer what was copied: -ESTALE if that is not what is there. A file is looked at
 * under a name of its own, where nobody puts another one in the moment before it goes.
 */
static int remove_copied(const struct move *m, const struct dirset *in, const struct copied *c)
{
	cleanup_parent_dir struct parent_dir dir = { .fd = -1 };
	cleanup_interim struct interim i = INTERIM_INIT;
	struct object now;
	int r = copyup_find_parent(m->v, in, c->path, c->layer, &dir);

	if (!r)
		r = object_stat(dir.fd, dir.name, &now);
	if (r < 0)
		return r == -ENOENT ? -ESTALE : r;
	if (!is_as_copied(&now, c))
		return -ESTALE;
	if (S_ISDIR(now.st.st_mode))
		return unlinkat(dir.fd, dir.name, AT_REMOVEDIR) < 0 ? -errno : 0;
	r = interim_begin(m->v, c->layer, c->path, dir.fd, &i);
	if (!r)
		r = interim_take(&i, dir.fd, dir.name);
	if (r < 0)
		return r;
	if (!object_stat(i.dir_fd, i.name, &now) && is_as_copied(&now, c))
		return 0; /* it goes with the interim name */
	interim_put_back(&i, dir.fd, dir.name);
	return -ESTALE;
}

/* Hide what would show at the old name, and remove there what was copied. */
static int begin_removal(const struct move *m, const struct copied_list *list, bool *ret_whiteout)
{
	unsigned layer = m->remove.layer;
	int r;

	if (!m->remove.in_place)
		return remove_hide(m->v, m->from, true, layer);
	r = remove_hide_below(m->v, m->from_in, m->from, true, layer, ret_whiteout);
	for (size_t i = 0; !r && i < list->n; i++)
		if (list->v[i].layer == layer && list->v[i].removable)
			/* what can't go stays where it is, and is hidden afterwards */
			(void)remove_copied(m, NULL, &list->v[i]);
	return r;
}

/* Hide a directory that shows nothing, unless others have just put a name into it. */
static int hide_dir(const struct move *m, const char *path, const struct found *f)
{
	unsigned layer = m->remove.layer;
	int r = 0;

	if (f->parts == 1)
		return whiteout_replace_dir(m->v, path);
	if (f->parts & UINT64_C(1) << layer)
		r = remove_hide_dir(m->v, path, f, layer);
	if (r == -ENOTEMPTY || r == -ESTALE)
		return 0;
	return r > 0 ? 0 : whiteout_put(m->v, path); /* it can't be read, or not be removed */
}

/* Hide one object that could not go, or is scratch's. What is not as it was copied is others'. */
static int hide_copied(const struct move *m, const struct copied *c)
{
	static const struct route in_scratch = { .dest = DEST_SCRATCH, .in_place = true };
	struct view *v = m->v;
	struct found f;
	int r = stack_lookup(&v->stack, c->path, &f);
	bool gone = r == -ENOENT || r == -ENOTDIR;

	/* nothing is left in scratch's directory: what it has covered does not come to light */
	if (!c->layer && S_ISDIR(c->obj.st.st_mode) && (gone || (!r && !S_ISDIR(f.obj.st.st_mode))))
		return whiteout_replace_dir(v, c->path);
	if (r < 0)
		return gone ? 0 : r;
	if (!is_as_copied(&f.obj, c))
		return 0;
	if (S_ISDIR(f.obj.st.st_mode)) {
		r = listing_is_empty_at(&v->stack, c->path, f.parts);
		return r <= 0 ? r : hide_dir(m, c->path, &f);
	}
	return f.layer ? whiteout_put(v, c->path)
		       : remove_file(v, NULL, c->path, &f, &in_scratch);
}

/* Children go before their directory: where nothing of others' is in it, a single mark is left. */
static int hide_left(const struct move *m, const struct copied_list *list)
{
	struct found left;
	int r = 0;

	for (size_t i = 0; !r && i < list->n; i++)
		r = hide_copied(m, &list->v[i]);
	/* the marks in scratch's part of a directory that is there no more, old ones and new */
	if (!r && stack_lookup(&m->v->stack, m->from, &left) == -ENOENT)
		r = whiteout_replace_dir(m->v, m->from);
	return r;
}

/* Take the old directory away along its route. @ret_begun: some of it is gone, also on failure */
static int remove_old_dir(const struct move *m, const struct copied_list *list, bool *ret_begun)
{
	bool whiteout = false;
	int r = 0;

	if (!m->remove.in_place && !m->remove.layer)
		return whiteout_put(m->v, m->from);
	if (m->remove.layer)
		r = begin_removal(m, list, &whiteout);
	if (r < 0)
		return r;
	*ret_begun = m->remove.layer;
	if (whiteout)
		return 0;
	return m->remove.layer ? hide_left(m, list) : whiteout_replace_dir(m->v, m->from);
}

/*
 * May the file go from its own layer? What goes must be what was copied. Where the view shows the
 * layer of the copy at the old name as well, the copy may cover it, or a directory above it.
 */
static int check_old_file(const struct move *m, const struct dirset *in, const struct copied *c,
			  const struct object *copy)
{
	const struct stack *st = &m->v->stack;
	struct found now;
	int r = stack_child_alone(st, in, path_base(m->from), m->remove.layer, &now);

	if (r < 0)
		return r == -ENOENT ? -ESTALE : r;
	if (!object_same(&now.obj, &c->obj))
		return -ESTALE;
	if (!is_as_copied(&now.obj, c))
		return -EBUSY; /* written to since it was copied */
	r = stack_lookup(st, m->from, &now);
	if (r < 0)
		return r == -ENOTDIR ? 0 : r == -ENOENT ? -ESTALE : r;
	return object_same(&now.obj, &c->obj) || object_same(&now.obj, copy) ? 0 : -ESTALE;
}

static int remove_old_file(const struct move *m, const struct dirset *in, const struct copied *c,
			   const struct object *copy)
{
	struct view *v = m->v;
	bool whiteout = false;
	int r = m->remove.in_place ? check_old_file(m, in, c, copy) : 0;

	if (r < 0)
		return r;
	if (!m->remove.in_place || !m->remove.layer || m->from_f->via_link)
		return remove_file(v, in, m->from, m->from_f, &m->remove);
	r = remove_hide_below(v, in, m->from, false, c->layer, &whiteout);
	if (r < 0)
		return r;
	r = remove_copied(m, in, c);
	if (!r)
		made_gone(&v->stack, m->from, &m->from_f->obj);
	else if (whiteout)
		(void)whiteout_drop(v, m->from); /* it is still there: show it; @r tells */
	return r;
}

int move_remove_old(const struct move *m, const struct dirset *in, const struct copied_list *list,
		    const struct object *copy, bool *ret_begun)
{
	return m->is_dir ? remove_old_dir(m, list, ret_begun)
			 : remove_old_file(m, in, &list->v[0], copy);
}
