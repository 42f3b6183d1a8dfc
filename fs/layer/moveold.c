/* SPDX-License-Identifier: MIT */
/* Taking an old name away, once what it had has been copied: see moveold.h. */
#include "layer/moveold.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/path.h"
#include "layer/copyup.h"
#include "layer/remove.h"
#include "layer/whiteout.h"

/* Is the object still the one, in the state, that was copied? */
static bool is_as_copied(const struct object *now, const struct copied *c)
{
	if (!object_same(now, &c->obj))
		return false;
	return !S_ISREG(now->st.st_mode) || (now->st.st_size == c->obj.st.st_size &&
					     now->st.st_mtim.tv_sec == c->obj.st.st_mtim.tv_sec &&
					     now->st.st_mtim.tv_nsec == c->obj.st.st_mtim.tv_nsec);
}

/* Remove from its own layer what was copied, unless it has changed since. */
static void purge(const struct move *m, const struct copied_list *list, unsigned layer)
{
	for (size_t k = 0; k < list->n; k++) {
		const struct copied *c = &list->v[k];
		struct object now;
		const char *name;
		cleanup_fd int dir = -1;

		if (c->layer != layer || !c->removable)
			continue;
		dir = copyup_parents(m->v, c->path, layer, &name);
		/* what can't go stays where it is, and is hidden as a whole below */
		if (dir >= 0 && !object_stat(dir, name, &now) && is_as_copied(&now, c))
			(void)unlinkat(dir, name, S_ISDIR(now.st.st_mode) ? AT_REMOVEDIR : 0);
	}
}

/* Hide what would show at the old name, and remove there what was copied. */
static int begin_removal(const struct move *m, const struct copied_list *list, bool *ret_whiteout)
{
	unsigned layer = m->remove.layer;
	int r;

	if (!m->remove.in_place)
		return remove_hide(m->v, m->from, true, layer);
	r = remove_hide_below(m->v, m->from_in, m->from, true, layer, ret_whiteout);
	if (!r)
		purge(m, list, layer);
	return r;
}

/* Take the old directory away along its route. @ret_begun: some of it is gone, also on failure */
static int remove_old_dir(const struct move *m, const struct copied_list *list, bool *ret_begun)
{
	bool whiteout = false;
	struct found left;
	int r = 0;

	if (!m->remove.in_place && !m->remove.layer)
		return whiteout_put(m->v, m->from);
	if (m->remove.layer)
		r = begin_removal(m, list, &whiteout);
	if (r < 0)
		return r;
	*ret_begun = m->remove.layer;
	if (!whiteout && m->from_f->parts & 1)
		r = whiteout_replace_dir(m->v, m->from);
	if (r < 0)
		return r;
	*ret_begun = true;
	/* something that could not go, or that nobody copied */
	if (!whiteout && stack_lookup(&m->v->stack, m->from, &left) == 0)
		r = whiteout_put(m->v, m->from);
	return r;
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

int move_remove_old(const struct move *m, const struct dirset *in, const struct copied_list *list,
		    const struct object *copy, bool *ret_begun)
{
	int r = 0;

	if (m->is_dir)
		return remove_old_dir(m, list, ret_begun);
	if (m->remove.in_place)
		r = check_old_file(m, in, &list->v[0], copy);
	return r < 0 ? r : remove_file(m->v, in, m->from, m->from_f, &m->remove);
}
