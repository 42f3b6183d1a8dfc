/* SPDX-License-Identifier: MIT */
/*
 * What a view differs in: see differ.h. A directory's names are read before it is gone into, so
 * that no descriptor is held on the way down.
 */
#include "cli/differ.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/fd.h"
#include "base/path.h"
#include "cli/report.h"
#include "layer/mark.h"

enum { HIDE_MAX_BYTES = 1 << 20 };

/* The names in view path @path of one layer, sorted; none if it has no such directory. */
static int read_names(const struct layer *l, const char *path, struct strv *ret)
{
	cleanup_fd int fd = layer_open(l, path, O_RDONLY | O_DIRECTORY, 0);
	cleanup_dir DIR *dir = NULL;

	if (fd < 0)
		return fd == -ENOENT || fd == -ENOTDIR ? 0 : fd;
	dir = fdopendir(fd);
	if (!dir)
		return -errno;
	(void)steal_fd(&fd);
	for (struct dirent *e = readdir(dir); e; e = readdir(dir))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") &&
		    strv_add(ret, e->d_name) < 0)
			return -ENOMEM;
	strv_sort(ret);
	return 0;
}

/* The walk through scratch. */
struct scratch_walk {
	const struct view *v;
	const struct layer *l;
	bool all;
	json_t *list;
};

/* One object of scratch. */
struct item {
	struct object o;
	bool whiteout, opaque, implied;
	bool below;             /* a lower layer has something at its path */
};

static int look_at(const struct scratch_walk *w, const char *path, struct item *ret)
{
	cleanup_strbuf struct strbuf parent = STRBUF_INIT;
	cleanup_fd int dir = -1;
	const char *name = path_base(path);
	int r;

	*ret = (struct item){ .below = stack_has_below(&w->v->stack, path, 0) };
	strbuf_add(&parent, path, path_parent_len(path));
	if (strbuf_failed(&parent))
		return -ENOMEM;
	dir = layer_open_dir(w->l, parent.buf);
	r = dir < 0 ? dir : object_stat(dir, name, &ret->o);
	if (r < 0)
		return r;
	ret->whiteout = mark_is_whiteout(dir, name, &ret->o);
	if (S_ISDIR(ret->o.st.st_mode))
		mark_read_dir(dir, name, &ret->opaque, &ret->implied);
	return 0;
}

static const char *change_of(const struct item *i)
{
	bool is_dir = S_ISDIR(i->o.st.st_mode);

	if (i->whiteout)
		return i->below ? "deleted" : NULL;
	if (!i->below)
		return "new";
	if (is_dir && i->opaque)
		return "replaced";
	return is_dir && i->implied ? NULL : "changed";
}

/* How many names other than directories lie in directory @path of scratch. */
static int count_files(const struct scratch_walk *w, const char *path, json_int_t *ret)
{
	cleanup_strv struct strv names = STRV_INIT;
	int r = read_names(w->l, path, &names);

	for (size_t i = 0; i < names.n && r >= 0; i++) {
		cleanup_strbuf struct strbuf sub = STRBUF_INIT;
		struct item it;

		r = path_join(&sub, path, names.v[i]);
		r = r < 0 ? r : look_at(w, sub.buf, &it);
		if (r < 0)
			return r == -ENOENT ? 0 : r;
		if (S_ISDIR(it.o.st.st_mode))
			r = count_files(w, sub.buf, ret);
		else
			*ret += !it.whiteout;
	}
	return r;
}

static int walk_scratch(const struct scratch_walk *w, const char *path);

static int tell_item(const struct scratch_walk *w, const char *path, const struct item *i)
{
	bool is_dir = S_ISDIR(i->o.st.st_mode);
	bool fold = is_dir && !i->below && !w->all;
	const char *change = change_of(i);
	json_int_t files = 0;
	int r = fold ? count_files(w, path, &files) : 0;
	json_t *o;

	if (r < 0)
		return r;
	if (fold && i->implied && !files)
		return 0; /* the view does not show it */
	if (!change)
		return is_dir ? walk_scratch(w, path) : 0;
	o = json_pack("{s:s, s:o, s:s}", "change", change, "path", json_text(path), "type",
		      is_dir ? "directory" : "file");
	if (fold)
		json_object_set_new(o, "files", json_integer(files));
	if (json_array_append_new(w->list, o))
		return -ENOMEM;
	return is_dir && !fold ? walk_scratch(w, path) : 0;
}

/* An object that vanishes meanwhile is no difference any more. */
static int walk_scratch(const struct scratch_walk *w, const char *path)
{
	cleanup_strv struct strv names = STRV_INIT;
	int r = read_names(w->l, path, &names);

	for (size_t i = 0; i < names.n && r >= 0; i++) {
		cleanup_strbuf struct strbuf sub = STRBUF_INIT;
		struct item it;

		r = path_join(&sub, path, names.v[i]);
		if (r < 0)
			return r;
		r = look_at(w, sub.buf, &it);
		if (r >= 0)
			r = tell_item(w, sub.buf, &it);
		else if (r == -ENOENT || r == -ENOTDIR)
			r = 0;
	}
	return r;
}

int differ_scratch(const struct view *v, bool all, json_t *list)
{
	struct scratch_walk w = { .v = v, .l = &v->stack.layers[0], .all = all, .list = list };

	return w.l->base_fd < 0 ? 0 : walk_scratch(&w, "");
}

static int add_specialization(const struct view *v, unsigned layer, const char *change,
			      const char *path, json_t *list)
{
	const struct layer *l = &v->stack.layers[layer];
	cleanup_strbuf struct strbuf real = STRBUF_INIT;
	int r = layer_real_path(l, path, &real);

	if (r < 0)
		return r;
	return json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:o}", "change", change,
						     "path", json_text(path), "layer",
						     json_text(l->label), "source",
						     json_text(real.buf))) ? -ENOMEM : 0;
}

static int tell_file(const struct view *v, unsigned layer, const char *path, json_t *list)
{
	struct found f;
	const char *change = "adds";
	int r = stack_lookup(&v->stack, path, &f);

	if (r < 0 && r != -ENOENT)
		return r;
	if (r == -ENOENT || f.layer != layer)
		change = "covered";
	else if (stack_has_below(&v->stack, path, layer))
		change = "replaces";
	return add_specialization(v, layer, change, path, list);
}

static int walk_spec(const struct view *v, unsigned layer, const char *path, json_t *list)
{
	const struct layer *l = &v->stack.layers[layer];
	cleanup_strv struct strv names = STRV_INIT;
	int r = read_names(l, path, &names);

	for (size_t i = 0; i < names.n && r >= 0; i++) {
		cleanup_strbuf struct strbuf sub = STRBUF_INIT;
		cleanup_fd int fd = -1;
		struct object o;

		r = path_join(&sub, path, names.v[i]);
		if (r < 0)
			return r;
		fd = layer_open(l, sub.buf, O_PATH, 0);
		if (fd < 0 || object_stat(fd, "", &o) < 0)
			continue; /* it has just gone */
		if (!stack_layer_shows(&v->stack, layer, sub.buf, o.st.st_mode))
			continue;
		r = S_ISDIR(o.st.st_mode) ? walk_spec(v, layer, sub.buf, list)
			   : tell_file(v, layer, sub.buf, list);
	}
	return r;
}

/* The lines of .specfs-hide, as they are: paths or patterns relative to the map's place. */
static int tell_hidden(const struct view *v, unsigned layer, json_t *list)
{
	const struct layer *l = &v->stack.layers[layer];
	cleanup_strbuf struct strbuf file = STRBUF_INIT;
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	cleanup_fd int fd = -1;
	char *save = NULL;
	int r = path_join(&file, l->dir, HIDE_FILE);

	if (r < 0)
		return r;
	fd = fd_open_beneath(l->base_fd, file.buf, O_RDONLY | O_NONBLOCK, 0);
	if (fd < 0)
		return 0; /* no list */
	r = fd_read_all(fd, HIDE_MAX_BYTES, &text);
	for (char *s = r < 0 ? NULL : strtok_r(text.buf, "\n", &save); s && r >= 0;
	     s = strtok_r(NULL, "\n", &save)) {
		cleanup_strbuf struct strbuf at = STRBUF_INIT;

		s += strspn(s, " \t/");
		s[strcspn(s, "\r")] = '\0';
		if (!*s || *s == '#')
			continue;
		strbuf_addf(&at, "%s%s%s", l->rule->at, *l->rule->at ? "/" : "", s);
		r = json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:n}", "change", "hides",
							  "path", json_text(at.buf), "layer",
							  json_text(l->label), "source"))
			    ? -ENOMEM : 0;
	}
	return r;
}

int differ_specializations(const struct view *v, json_t *list)
{
	int r = 0;

	for (unsigned i = 0; i < v->stack.n && r >= 0; i++) {
		const struct layer *l = &v->stack.layers[i];

		if (l->kind != LAYER_SPEC)
			continue;
		r = walk_spec(v, i, l->rule->at, list);
		r = r < 0 ? r : tell_hidden(v, i, list);
	}
	return r;
}
