/* SPDX-License-Identifier: MIT */
/* The route of a change: see route.h. Nothing here changes anything. */
#include "layer/route.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/path.h"
#include "layer/made.h"
#include "layer/mark.h"
#include "layer/view.h"

static int settle(struct route *ret, enum dest dest, unsigned layer, bool in_place,
		  const char *rule)
{
	*ret = (struct route){ .dest = dest, .layer = layer, .in_place = in_place };
	snprintf(ret->rule, sizeof(ret->rule), "%s", rule);
	return dest == DEST_DENY ? -EROFS : 0;
}

static unsigned trunk_of(const struct stack *st)
{
	return st->n - 1;
}

static bool has_trunk(const struct stack *st)
{
	return st->layers[trunk_of(st)].kind == LAYER_TRUNK;
}

/* The highest layer of @kind, or -1. */
static int first_of(const struct stack *st, enum layer_kind kind)
{
	for (unsigned i = 0; i < st->n; i++)
		if (st->layers[i].kind == kind)
			return (int)i;
	return -1;
}

int route_map_of(const struct view *v, const char *path, bool is_dir)
{
	const struct stack *st = &v->stack;

	if (!v->rules || ruleset_hides(v->rules, path, is_dir, false))
		return -1;
	for (unsigned i = 0; i < st->n; i++) {
		const struct rule *r = st->layers[i].rule;
		struct hijack_arg arg = { .st = st, .rule = r };
		const char *rel;

		if (st->layers[i].kind == LAYER_SPEC && rule_place(r, path, &rel) == RULE_INSIDE &&
		    rule_covers(r, rel, is_dir, stack_is_hijacked, &arg))
			return (int)i;
	}
	return -1;
}

/* Does git ignore what view path @path is in layer @l? Only the checkout is git's. */
static bool is_ignored(const struct view *v, const struct layer *l, const char *path, bool is_dir)
{
	cleanup_strbuf struct strbuf p = STRBUF_INIT;

	return v->ignore && l->in_root && layer_path(l, path, &p) &&
	       ignore_covers(v->ignore, p.buf, is_dir);
}

static const char *class_name(const struct write_rule *w)
{
	switch (w->class) {
	case WRITE_GLOB:
		return w->pattern;
	case WRITE_IGNORED:
		return "@ignored";
	case WRITE_BACKEND:
		return "@backend";
	case WRITE_MAPPED:
		return "@mapped";
	case WRITE_ANY:
		break;
	}
	return "@any";
}

/* "flagtree.ini:57: @mapped = spec", or with words of its own after it. */
static void name_rule(const struct view *v, const struct write_rule *w, const char *more, char *buf,
		      size_t size)
{
	if (!w)
		snprintf(buf, size, "no rule matches: owner%s", more);
	else
		snprintf(buf, size, "%s:%u: %s = %s%s", path_base(v->profile->file), w->line,
			 class_name(w), dest_name(w->dest), more);
}

static int by_rule(const struct view *v, const struct write_rule *w, enum dest dest, unsigned layer,
		   bool in_place, const char *more, struct route *ret)
{
	char text[sizeof(ret->rule)];

	name_rule(v, w, more, text, sizeof(text));
	return settle(ret, dest, layer, in_place, text);
}

/* A pattern that denies @path decides also over what scratch has. */
static const struct write_rule *denying_glob(const struct view *v, const struct write_facts *f)
{
	const struct write_rule *w = v->rules ? ruleset_write_rule(v->rules, f) : NULL;

	return w && w->class == WRITE_GLOB && w->dest == DEST_DENY ? w : NULL;
}

/* Rules that come before the profile's. Returns 1 if none of them decides. */
static int built_in(const struct view *v, const struct write_facts *facts, bool is_scratch,
		    bool in_place, const char *scratch_why, struct route *ret)
{
	const struct write_rule *deny;

	if (v->readonly)
		return settle(ret, DEST_DENY, 0, false, "the view is read-only");
	if (v->scratch_all)
		return settle(ret, DEST_SCRATCH, 0, in_place, "--scratch-all");
	deny = denying_glob(v, facts);
	if (deny)
		return by_rule(v, deny, DEST_DENY, 0, false, "", ret);
	if (is_scratch)
		return settle(ret, DEST_SCRATCH, 0, in_place, scratch_why);
	if (first_of(&v->stack, LAYER_OVERLAY) >= 0 && !v->write_owner)
		return settle(ret, DEST_SCRATCH, 0, in_place, "-l without -o write=owner");
	return 1;
}

static bool is_backend_layer(enum layer_kind kind)
{
	return kind == LAYER_SPEC || kind == LAYER_GRAFT;
}

static bool is_no_dir(const struct layer *l, const char *path)
{
	cleanup_fd int fd = layer_open_dir(l, path);

	return fd == -ENOTDIR || fd == -ELOOP;
}

/*
 * Has layer @i something else, which the view does not show, where @path needs a directory? Others
 * may just be putting one there: then it has only been seen too early.
 */
static bool is_blocked(const struct stack *st, unsigned i, const char *path)
{
	cleanup_free char *parent = strndup(path, path_parent_len(path));
	struct found f;

	return parent && is_no_dir(&st->layers[i], parent) && stack_lookup(st, parent, &f) == 0 &&
	       S_ISDIR(f.st.st_mode) && is_no_dir(&st->layers[i], parent);
}

/* `spec` of an existing object: the map's directory, which must lie above the owner. */
static int existing_to_spec(const struct view *v, const struct write_rule *w, const char *path,
			    const struct found *f, int map, struct route *ret)
{
	if (map < 0)
		return by_rule(v, w, DEST_DENY, 0, false, ", but no map covers this place", ret);
	if ((unsigned)map > f->layer)
		return by_rule(v, w, DEST_DENY, 0, false, ", but a higher layer owns it", ret);
	if ((unsigned)map != f->layer && is_blocked(&v->stack, (unsigned)map, path))
		return by_rule(v, w, DEST_DENY, 0, false, ", but something hidden is in the way",
			       ret);
	return by_rule(v, w, DEST_SPEC, (unsigned)map, (unsigned)map == f->layer, "", ret);
}

static int existing_by_rule(const struct view *v, const char *path, const struct found *f,
			    enum route_op op, const struct write_facts *facts, int map,
			    struct route *ret)
{
	const struct write_rule *w = v->rules ? ruleset_write_rule(v->rules, facts) : NULL;
	enum dest dest = w ? w->dest : DEST_OWNER;

	switch (dest) {
	case DEST_DENY:
		return by_rule(v, w, DEST_DENY, 0, false, "", ret);
	case DEST_SCRATCH:
		return by_rule(v, w, DEST_SCRATCH, 0, false, "", ret);
	case DEST_SPEC:
		return existing_to_spec(v, w, path, f, map, ret);
	case DEST_OWNER:
	case DEST_TRUNK:
		break;
	}
	if (op == ROUTE_REMOVE && v->stack.layers[f->layer].kind == LAYER_GRAFT &&
	    !made_may_go(&v->stack, f->layer, path, &f->obj))
		return by_rule(v, w, DEST_SCRATCH, 0, false, ", below a graft only hidden", ret);
	return by_rule(v, w, dest, f->layer, true, "", ret);
}

/* A mount or a symlink that leads out of the view stands there. */
static int refuse_redirected(int r, struct route *ret)
{
	(void)settle(ret, DEST_DENY, 0, false, "it is redirected, or a directory in it is");
	return r;
}

int route_existing(struct view *v, const char *path, const struct found *f, enum route_op op,
		   struct route *ret)
{
	const struct layer *l = &v->stack.layers[f->layer];
	bool is_dir = S_ISDIR(f->obj.st.st_mode);
	bool generated = f->virtual || f->lent || l->kind == LAYER_GENERATED;
	bool scratch = l->kind == LAYER_SCRATCH;
	struct write_facts facts = {
		.path = path,
		.is_dir = is_dir,
		.is_link = S_ISLNK(f->obj.st.st_mode),
	};
	int map;
	int r;

	if (op == ROUTE_REMOVE && redirect_holds(v->redirects, path))
		return refuse_redirected(-EBUSY, ret);
	if (f->virtual && scratch)
		return refuse_redirected(-EPERM, ret);
	r = built_in(v, &facts, scratch || generated, scratch,
			 generated ? "the view makes it" : "scratch has it already", ret);

	if (r <= 0)
		return r;
	map = route_map_of(v, path, is_dir);
	facts.ignored = is_ignored(v, l, path, is_dir);
	facts.backend_owned = is_backend_layer(l->kind);
	facts.mapped = map >= 0;
	return existing_by_rule(v, path, f, op, &facts, map, ret);
}

/* Is @path the place of something that the profile makes: a file, a link, the root of a graft? */
static bool is_made_place(const struct stack *st, const char *path)
{
	for (unsigned i = 0; i < st->n; i++) {
		const struct layer *l = &st->layers[i];
		const char *rel;

		if ((l->kind != LAYER_GENERATED && l->kind != LAYER_SUPPLIED &&
		     l->kind != LAYER_GRAFT) ||
		    rule_place(l->rule, path, &rel) != RULE_INSIDE)
			continue;
		if (l->kind == LAYER_GENERATED || !*rel || (l->rule->glob && !strchr(rel, '/')))
			return true;
	}
	return false;
}

/* The graft that owns directory @parent, or -1. */
static int graft_of(const struct stack *st, const char *path, const struct found *parent)
{
	for (uint64_t left = parent->parts; left; left &= left - 1) {
		int i = __builtin_ctzll(left);
		const char *rel;

		if (st->layers[i].kind == LAYER_GRAFT &&
		    rule_place(st->layers[i].rule, path, &rel) == RULE_INSIDE)
			return i;
	}
	return -1;
}

/* Where `owner` sends a new name; -1 if the view has no such layer. */
static int owner_of_new(const struct view *v, int graft, int map)
{
	int overlay;

	if (graft >= 0)
		return graft;
	overlay = first_of(&v->stack, LAYER_OVERLAY);
	if (overlay >= 0 && v->write_owner)
		return overlay;
	if (map >= 0)
		return map;
	return has_trunk(&v->stack) ? (int)trunk_of(&v->stack) : -1;
}

/* What layer @l has at @path on disk, shown or not. False if there is nothing. */
static bool on_disk(const struct layer *l, const char *path, struct object *ret)
{
	cleanup_fd int fd = layer_open(l, path, O_PATH, 0);

	return fd >= 0 && object_stat(fd, "", ret) == 0;
}

/*
 * Does the view hide what layer @i has at @path? What others had there for a moment only is not
 * hidden.
 */
static bool hides_on_disk(const struct stack *st, unsigned i, const char *path)
{
	struct object before;
	struct object after;
	struct found seen;

	/* what is seen there by now makes the creation fail, as it should */
	return on_disk(&st->layers[i], path, &before) && stack_lookup(st, path, &seen) < 0 &&
	       on_disk(&st->layers[i], path, &after) && object_same(&before, &after);
}

static bool is_whiteout(const struct layer *scratch, const char *path)
{
	cleanup_strbuf struct strbuf dir = STRBUF_INIT;
	cleanup_fd int fd = -1;
	struct object o;

	strbuf_add(&dir, path, path_parent_len(path));
	if (strbuf_failed(&dir) < 0)
		return false;
	fd = layer_open_dir(scratch, dir.buf);
	return fd >= 0 && object_stat(fd, path_base(path), &o) == 0 &&
	       mark_is_whiteout(fd, path_base(path), &o);
}

/* Would a deleted name's lower objects show again if the new one were made in layer @to? */
static bool would_uncover(const struct view *v, const char *path, bool is_dir, unsigned to)
{
	struct object o;

	if (!is_whiteout(&v->stack.layers[0], path))
		return false;
	if (is_dir)
		return stack_has_below(&v->stack, path, 0) != 0;
	for (unsigned i = 1; i < to; i++)
		if (on_disk(&v->stack.layers[i], path, &o))
			return true;
	return false;
}

/*
 * Why a new name can't be made in layer @to although a rule says so, or NULL: it would not be seen
 * there, or be mixed up with what the view hides.
 */
static const char *obstacle(const struct view *v, const char *path, mode_t mode,
			    const struct found *parent, unsigned to)
{
	const struct layer *l = &v->stack.layers[to];
	bool is_dir = S_ISDIR(mode);

	if (!stack_layer_shows(&v->stack, to, path, mode))
		return ", but the view hides this name there";
	if (stack_hides(&v->stack, to, path, is_dir))
		return ", but a hide list hides this name there";
	if (l->kind == LAYER_TRUNK && !(parent->parts & UINT64_C(1) << to))
		return ", but trunk has no part in this directory";
	if (!(parent->parts & UINT64_C(1) << to) && is_blocked(&v->stack, to, path))
		return ", but something hidden is in the way";
	if (hides_on_disk(&v->stack, to, path))
		return ", but something hidden is there";
	if (would_uncover(v, path, is_dir, to))
		return ", but scratch hides the name";
	return NULL;
}

static int new_by_rule(const struct view *v, const char *path, mode_t mode,
		       const struct found *parent, const struct write_facts *facts, int graft,
		       int map, struct route *ret)
{
	const struct write_rule *w = v->rules ? ruleset_write_rule(v->rules, facts) : NULL;
	enum dest dest = w ? w->dest : DEST_OWNER;
	const char *why;
	int to = 0;

	switch (dest) {
	case DEST_DENY:
		return by_rule(v, w, DEST_DENY, 0, false, "", ret);
	case DEST_SCRATCH:
		return by_rule(v, w, DEST_SCRATCH, 0, false, "", ret);
	case DEST_SPEC:
		if (map < 0)
			return by_rule(v, w, DEST_DENY, 0, false, ", but no map covers this place",
				       ret);
		to = map;
		break;
	case DEST_OWNER:
		to = owner_of_new(v, graft, map);
		break;
	case DEST_TRUNK:
		to = has_trunk(&v->stack) ? (int)trunk_of(&v->stack) : -1;
		break;
	}
	if (to < 0)
		return by_rule(v, w, DEST_SCRATCH, 0, false, ", but the view has no trunk", ret);
	if (graft >= 0 && to != graft)
		return by_rule(v, w, DEST_SCRATCH, 0, false, ", but a graft is here", ret);
	why = obstacle(v, path, mode, parent, (unsigned)to);
	if (why)
		return by_rule(v, w, DEST_SCRATCH, 0, false, why, ret);
	return by_rule(v, w, dest, (unsigned)to, false, "", ret);
}

int route_new(struct view *v, const char *path, mode_t mode, const struct found *parent,
	      struct route *ret)
{
	const struct stack *st = &v->stack;
	bool is_dir = S_ISDIR(mode);
	struct write_facts facts = {
		.path = path,
		.is_dir = is_dir,
		.is_link = S_ISLNK(mode),
		.is_new = true,
	};
	const char *why = "in a directory that only scratch has";
	bool scratch = parent->parts == 1;
	int graft;
	int map;
	int r;

	if (!scratch && parent->virtual) {
		why = "in a directory that only the view has";
		scratch = true;
	} else if (!scratch && is_made_place(st, path)) {
		why = "at a place that the profile makes";
		scratch = true;
	}
	r = built_in(v, &facts, scratch, false, why, ret);
	if (r <= 0)
		return r;
	graft = graft_of(st, path, parent);
	map = graft < 0 ? route_map_of(v, path, is_dir) : -1;
	facts.mapped = map >= 0;
	if (graft >= 0)
		facts.ignored = is_ignored(v, &st->layers[graft], path, is_dir);
	else
		facts.ignored = v->ignore && ignore_covers(v->ignore, path, is_dir);
	return new_by_rule(v, path, mode, parent, &facts, graft, map, ret);
}
