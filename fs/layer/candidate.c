/* SPDX-License-Identifier: MIT */
/* What one layer has at a view path: see candidate.h. */
#include "layer/candidate.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "layer/hijack.h"
#include "layer/made.h"
#include "layer/mark.h"

static bool is_gone(int err)
{
	return err == -ENOENT || err == -ENOTDIR || err == -ELOOP;
}

bool stack_is_hijacked(void *arg, const char *dir)
{
	const struct hijack_arg *a = arg;
	cleanup_strbuf struct strbuf path = STRBUF_INIT;

	if (a->st->root_fd < 0 || path_join(&path, a->rule->at, dir) < 0)
		return false;
	return hijacks_ask(a->st->hijacks, a->st->root_fd, path.buf);
}

/* How much of @path, which is inside a graft, is the place of the graft itself. */
static size_t graft_root_len(const struct rule *r, const char *path, const char *rel)
{
	if (r->glob)
		return (size_t)(rel - path) + strcspn(rel, "/");
	if (!*rel || rel == path)
		return strlen(path) - strlen(rel);
	return (size_t)(rel - path) - 1;
}

/*
 * Does [hide] keep it out as something left over in the checkout? A graft's place is the profile's
 * own: patterns that hit it mean what native use left there, and say nothing of what is below.
 */
static bool is_left_over(const struct stack *st, const struct layer *l, const char *path,
			 bool is_dir, bool is_link)
{
	cleanup_strbuf struct strbuf root = STRBUF_INIT;
	const char *rel;

	if (!st->rules || !ruleset_hides(st->rules, path, is_dir, is_link))
		return false;
	if (l->kind != LAYER_GRAFT || rule_place(l->rule, path, &rel) != RULE_INSIDE)
		return true;
	strbuf_add(&root, path, graft_root_len(l->rule, path, rel));
	if (strbuf_failed(&root) < 0)
		return true;
	return !ruleset_hides(st->rules, root.buf, true, false);
}

bool stack_layer_shows(const struct stack *st, unsigned layer, const char *path, mode_t mode)
{
	const struct layer *l = &st->layers[layer];
	struct hijack_arg arg = { .st = st, .rule = l->rule };
	const char *rel;

	if (l->kind == LAYER_SCRATCH || l->kind == LAYER_GENERATED || l->kind == LAYER_SUPPLIED)
		return true;
	if (!strncmp(path_base(path), ".specfs-tmp.", 12))
		return false;
	if (is_left_over(st, l, path, S_ISDIR(mode), S_ISLNK(mode)))
		return false;
	if (!l->rule)
		return true;
	return rule_place(l->rule, path, &rel) == RULE_INSIDE &&
	       rule_shows(l->rule, rel, S_ISDIR(mode), stack_is_hijacked, &arg);
}

/* A symlink of a spec directory or graft that leads to a regular file is that file, unless it was
 * made here. */
static void follow_file(const struct stack *st, const struct layer *l, const char *path,
			struct candidate *c)
{
	cleanup_strbuf struct strbuf p = STRBUF_INIT;
	cleanup_fd int fd = -1;
	struct object o;

	if (made_is_link(st, path, &c->obj) || !layer_path(l, path, &p))
		return;
	fd = fd_open_follow(l->base_fd, p.buf, O_PATH);
	if (fd < 0 || object_stat(fd, "", &o) < 0 || !S_ISREG(o.st.st_mode))
		return; /* dangling, a directory, out of the checkout: it stays a link */
	c->obj = o;
	c->via_link = true;
}

/* Does a spec sub-package hide the trunk's? (packages = opaque) */
static bool is_opaque_package(const struct stack *st, const struct layer *l, const char *path,
			      const char *rel, int dir_fd, const char *name)
{
	cleanup_strbuf struct strbuf init = STRBUF_INIT;
	struct hijack_arg arg = { .st = st, .rule = l->rule };

	if (!l->rule->packages_opaque || path_join(&init, name, "__init__.py") < 0 ||
	    faccessat(dir_fd, init.buf, F_OK, AT_SYMLINK_NOFOLLOW) < 0 ||
	    path_join(&init, path, "__init__.py") < 0)
		return false;
	/* a hijacked directory's own __init__.py is a provider: the trunk's package stays */
	return rule_shows(l->rule, init.buf + (rel - path), false, stack_is_hijacked, &arg);
}

/* Is a directory of a map there only because something below it may be shown? */
static bool is_on_the_way(const struct stack *st, const struct layer *l, const char *rel)
{
	struct hijack_arg arg = { .st = st, .rule = l->rule };

	return (l->rule->only.n || l->rule->hijack) &&
	       !rule_covers(l->rule, rel, true, stack_is_hijacked, &arg);
}

/* Would the layer show a directory at @path only for what may be in it? */
static bool may_be_on_the_way(const struct stack *st, const struct layer *l, const char *path)
{
	const char *rel;

	return rule_place(l->rule, path, &rel) == RULE_INSIDE && is_on_the_way(st, l, rel);
}

bool stack_is_loose(const struct stack *st, const struct dirset *dir, const char *name,
		    const struct found *f)
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	uint64_t left = dir->parts;

	if (f && S_ISDIR(f->obj.st.st_mode) && !f->implied)
		return false;
	if (f && !S_ISDIR(f->obj.st.st_mode))
		left &= (UINT64_C(1) << f->layer) - 1;
	for (; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);
		const struct layer *l = &st->layers[i];
		struct candidate c = { .kind = CANDIDATE_NONE };

		if (l->kind != LAYER_SPEC || !l->rule->only.n)
			continue;
		if (!path.len && path_join(&path, dir->path, name) < 0)
			return true;
		if (!may_be_on_the_way(st, l, path.buf))
			continue;
		if (candidate_find(st, i, dir, path.buf, name, &c) < 0 || c.kind == CANDIDATE_DIR)
			return true;
	}
	return false;
}

static void scratch_marks(int dir_fd, const char *name, struct candidate *c)
{
	if (c->kind == CANDIDATE_DIR)
		mark_read_dir(dir_fd, name, &c->opaque, &c->implied);
	else if (mark_is_whiteout(dir_fd, name, &c->obj))
		c->kind = CANDIDATE_WHITEOUT;
}

/* The candidate of a layer that has the parent directory on disk. */
static int on_disk(const struct stack *st, unsigned i, int dir_fd, const char *path,
		   const char *rel, const char *name, struct candidate *c)
{
	const struct layer *l = &st->layers[i];
	int r = object_stat(dir_fd, name, &c->obj);

	if (r < 0)
		return is_gone(r) ? 0 : r;
	c->kind = S_ISDIR(c->obj.st.st_mode) ? CANDIDATE_DIR : CANDIDATE_OTHER;
	if (l->kind == LAYER_SCRATCH) {
		scratch_marks(dir_fd, name, c);
		return 0;
	}
	if (!stack_layer_shows(st, i, path, c->obj.st.st_mode)) {
		c->kind = CANDIDATE_NONE;
		return 0;
	}
	if (!l->rule)
		return 0;
	if (S_ISLNK(c->obj.st.st_mode) && l->in_root)
		follow_file(st, l, path, c);
	else if (c->kind == CANDIDATE_DIR && l->kind == LAYER_SPEC) {
		c->opaque = is_opaque_package(st, l, path, rel, dir_fd, name);
		c->implied = is_on_the_way(st, l, rel);
	}
	return 0;
}

/* The root of a spec directory or graft. */
static int rule_root(const struct stack *st, const struct layer *l, const char *path,
		     struct candidate *c)
{
	cleanup_fd int fd = layer_open(l, path, O_PATH, 0);
	int r;

	if (fd < 0)
		return is_gone(fd) ? 0 : fd;
	r = object_stat(fd, "", &c->obj);
	if (r < 0)
		return r;
	if (S_ISDIR(c->obj.st.st_mode)) {
		c->kind = CANDIDATE_DIR;
		c->opaque = l->kind == LAYER_GRAFT || l->rule->opaque;
		c->implied = l->kind == LAYER_SPEC && is_on_the_way(st, l, "");
	} else if (l->kind == LAYER_GRAFT || l->kind == LAYER_SUPPLIED) {
		c->kind = CANDIDATE_OTHER;
	}
	return 0;
}

/* Has a layer below the supplied file's own one the same name in its directory on disk? */
static bool is_below(const struct stack *st, unsigned i, const struct dirset *dir, const char *name)
{
	for (unsigned j = i + 1; j < st->n; j++)
		if (dir->parts & UINT64_C(1) << j && dir->fd[j] >= 0 &&
		    faccessat(dir->fd[j], name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			return true;
	return false;
}

/* A file of the installation, shown only where the view has need of it. */
static int supplied(const struct stack *st, unsigned i, const struct dirset *dir, const char *path,
		    const char *name, struct candidate *c)
{
	const struct layer *l = &st->layers[i];
	struct found beside;
	int r = 0;

	for (size_t k = 0; l->rule->instead_of && l->rule->instead_of[k]; k++)
		if (stack_child(st, dir, l->rule->instead_of[k], &beside) == 0)
			return 0;
	if (!is_below(st, i, dir, name) && stack_child(st, dir, l->rule->beside, &beside) == 0)
		r = rule_root(st, l, path, c);
	if (r || c->kind != CANDIDATE_OTHER || !S_ISREG(c->obj.st.st_mode))
		c->kind = CANDIDATE_NONE;
	c->lent = true;
	return r;
}

int candidate_link_target(const struct layer *l, const char *path, struct strbuf *ret)
{
	const char *rel;

	if (l->rule->kind != RULE_LINK || rule_place(l->rule, path, &rel) != RULE_INSIDE ||
	    strchr(rel, '/'))
		return -ENOENT;
	return path_join(ret, l->rule->from, rel);
}

/* The object that a [file] or [link] rule makes. */
static int generated(const struct stack *st, const struct layer *l, const char *path,
		     const char *rel, struct candidate *c)
{
	cleanup_strbuf struct strbuf target = STRBUF_INIT;
	struct object o;

	c->obj.st = st->root_st;
	c->obj.st.st_nlink = 1;
	if (l->rule->kind == RULE_FILE) {
		if (*rel)
			return 0;
		c->obj.st.st_mode = S_IFREG | 0644;
		c->obj.st.st_size = (off_t)strlen(l->rule->content);
	} else {
		cleanup_strbuf struct strbuf text = STRBUF_INIT;
		cleanup_free char *dir = strndup(path, path_parent_len(path));

		if (!dir)
			return -ENOMEM;
		if (candidate_link_target(l, path, &target) < 0 || st->root_fd < 0 ||
		    object_stat(st->root_fd, target.buf, &o) < 0)
			return 0; /* never a dangling link */
		if (path_relative(dir, target.buf, &text) < 0)
			return -ENOMEM;
		c->obj.st.st_mode = S_IFLNK | 0777;
		c->obj.st.st_size = (off_t)text.len;
	}
	c->obj.st.st_blocks = 0;
	c->kind = CANDIDATE_OTHER;
	c->virtual = true;
	return 0;
}

int candidate_find(const struct stack *st, unsigned i, const struct dirset *dir, const char *path,
		   const char *name, struct candidate *ret)
{
	const struct layer *l = &st->layers[i];
	int dir_fd = dir->fd[i];
	const char *rel = path;

	if (l->rule) {
		enum rule_place place = rule_place(l->rule, path, &rel);

		if (place == RULE_OUTSIDE)
			return 0;
		if (place == RULE_ABOVE) {
			ret->kind = CANDIDATE_PLACE;
			return 0;
		}
		if (l->kind == LAYER_GENERATED)
			return generated(st, l, path, rel, ret);
		if (l->kind == LAYER_SUPPLIED)
			return *rel ? 0 : supplied(st, i, dir, path, name, ret);
		if (!*rel)
			return rule_root(st, l, path, ret);
	}
	if (dir_fd < 0)
		return 0;
	if (l->kind == LAYER_GRAFT && l->rule->glob && !strchr(rel, '/')) {
		int r = on_disk(st, i, dir_fd, path, rel, name, ret);

		ret->opaque = ret->kind == CANDIDATE_DIR;
		return r;
	}
	return on_disk(st, i, dir_fd, path, rel, name, ret);
}

int candidate_root(const struct stack *st, unsigned i, struct candidate *ret)
{
	const struct layer *l = &st->layers[i];
	const char *rel = "";
	int r;

	if (l->rule && rule_place(l->rule, "", &rel) != RULE_INSIDE) {
		ret->kind = CANDIDATE_PLACE;
		return 0;
	}
	if (l->kind == LAYER_GENERATED || l->base_fd < 0)
		return 0;
	if (l->rule)
		return rule_root(st, l, "", ret);
	r = object_stat(l->base_fd, l->dir, &ret->obj);
	if (r < 0)
		return is_gone(r) ? 0 : r;
	ret->kind = CANDIDATE_DIR;
	/* scratch's own root is no change of the root directory unless somebody changed it */
	if (l->kind == LAYER_SCRATCH) {
		bool opaque;

		mark_read_dir(l->base_fd, *l->dir ? l->dir : ".", &opaque, &ret->implied);
		ret->opaque = opaque;
	}
	return 0;
}

bool candidate_is_glob_place(const struct layer *l, const char *path)
{
	return l->rule && l->rule->glob && !strcmp(path, l->rule->at);
}

int candidate_open_dir(const struct layer *l, const char *path)
{
	if (candidate_is_glob_place(l, path))
		return fd_open_beneath(l->base_fd, l->dir, O_PATH | O_DIRECTORY, 0);
	return layer_open_dir(l, path);
}

/* Is there anything that the rule of @l would show? */
static bool place_exists(const struct stack *st, const struct layer *l)
{
	struct object o;

	if (!l->rule || l->kind == LAYER_SUPPLIED)
		return false;
	if (l->rule->kind == RULE_FILE)
		return true;
	if (l->kind == LAYER_GENERATED)
		return st->root_fd >= 0 && object_stat(st->root_fd, l->rule->from, &o) == 0;
	return l->base_fd >= 0 && object_stat(l->base_fd, l->dir, &o) == 0;
}

bool candidate_places_exist(const struct stack *st, uint64_t layers)
{
	for (; layers; layers &= layers - 1)
		if (place_exists(st, &st->layers[__builtin_ctzll(layers)]))
			return true;
	return false;
}
