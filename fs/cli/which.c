/* SPDX-License-Identifier: MIT */
/* One path of a view: see which.h. The text is made from the same facts as the JSON. */
#include "cli/which.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/path.h"
#include "cli/record.h"
#include "cli/report.h"

static const char *type_name(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return "file";
	case S_IFDIR:
		return "directory";
	case S_IFLNK:
		return "symlink";
	case S_IFIFO:
		return "fifo";
	case S_IFSOCK:
		return "socket";
	default:
		return "device";
	}
}

json_t *which_place_json(const struct view *v, unsigned layer, const char *path)
{
	const struct layer *l = &v->stack.layers[layer];
	cleanup_strbuf struct strbuf real = STRBUF_INIT;
	bool has_path = *l->path && layer_real_path(l, path, &real) == 0;

	return json_pack("{s:o, s:o}", "layer", json_text(l->label), "path",
			 json_text(has_path ? real.buf : NULL));
}

/* Is there anything at @path of a lower layer that would be seen if nothing lay above it? */
static bool has_candidate(const struct view *v, unsigned layer, const char *path)
{
	const struct layer *l = &v->stack.layers[layer];
	cleanup_fd int fd = l->base_fd < 0 ? -1 : layer_open(l, path, O_PATH, 0);
	struct object o;

	return fd >= 0 && object_stat(fd, "", &o) == 0 &&
	       stack_layer_shows(&v->stack, layer, path, o.st.st_mode);
}

static int add_places(const struct view *v, const char *path, const struct found *f, json_t *parts,
		      json_t *hides)
{
	bool is_dir = S_ISDIR(f->st.st_mode);

	for (unsigned i = 0; i < v->stack.n; i++) {
		bool is_part = is_dir && f->parts & UINT64_C(1) << i;

		if (i == f->layer || (!is_part && (i < f->layer || !has_candidate(v, i, path))))
			continue;
		if (json_array_append_new(is_part ? parts : hides, which_place_json(v, i, path)))
			return -ENOMEM;
	}
	return 0;
}

/* Where a change goes: destination, the layer and its real path, how, and by which rule. */
static json_t *route_json(const struct view *v, const char *path, const struct route *rt, int r)
{
	cleanup_json json_t *o = NULL;

	if (r < 0)
		return json_pack("{s:s, s:s}", "destination", "deny", "rule",
				 r == -EROFS ? rt->rule : strerror(-r));
	o = which_place_json(v, rt->layer, path);
	if (!o || json_object_set_new(o, "destination", json_string(dest_name(rt->dest))) ||
	    json_object_set_new(o, "in_place", json_boolean(rt->in_place)) ||
	    json_object_set_new(o, "rule", json_text(rt->rule)))
		return NULL;
	return steal_ptr(&o);
}

static json_t *existing_json(struct view *v, const char *path, const struct found *f,
			     enum route_op op)
{
	struct route rt = { 0 };
	int r = route_existing(v, path, f, op, &rt);

	return route_json(v, path, &rt, r);
}

/*
 * A new file: @path itself where nothing is, else one like it: in the directory, or beside the file
 * and with its suffix, as rules go by names.
 */
static json_t *new_json(struct view *v, const char *path, const struct found *f)
{
	cleanup_strbuf struct strbuf dir = STRBUF_INIT;
	cleanup_strbuf struct strbuf name = STRBUF_INIT;
	struct found parent;
	struct route rt = { 0 };
	int r;

	if (f && S_ISDIR(f->st.st_mode)) {
		strbuf_adds(&dir, path);
		strbuf_adds(&name, "specfs-new");
	} else {
		const char *base = path_base(path);
		const char *dot = f ? strrchr(base, '.') : NULL;

		strbuf_add(&dir, path, path_parent_len(path));
		strbuf_addf(&name, "%s%s", f ? "specfs-new" : base, dot ? dot : "");
	}
	r = strbuf_failed(&dir) | strbuf_failed(&name);
	if (r >= 0)
		r = stack_lookup(&v->stack, dir.buf, &parent);
	strbuf_addf(&dir, "%s%s", dir.len ? "/" : "", name.buf);
	if (r < 0 || strbuf_failed(&dir) < 0)
		return json_null();
	r = route_new(v, dir.buf, S_IFREG, &parent, &rt);
	return route_json(v, dir.buf, &rt, r);
}

/* The path of the checkout lies in a spec directory: where else does the view show it? */
static json_t *shown_at_json(const struct view *v, const char *path)
{
	cleanup_json json_t *list = json_array();

	for (unsigned i = 0; i < v->stack.n; i++) {
		const struct layer *l = &v->stack.layers[i];
		cleanup_strbuf struct strbuf at = STRBUF_INIT;
		bool in_place = l->rule && l->in_root && *l->dir;
		const char *rel = in_place ? path_below(path, l->dir) : NULL;
		struct found f;

		if (!rel || l->rule->glob || path_join(&at, l->rule->at, rel) < 0)
			continue;
		if (stack_lookup(&v->stack, at.buf, &f) == 0 &&
		    (f.layer == i || f.parts & UINT64_C(1) << i) &&
		    json_array_append_new(list, json_text(at.buf)))
			return NULL;
	}
	return steal_ptr(&list);
}

static int add_existing(json_t *o, struct view *v, const char *path, const struct found *f)
{
	json_t *parts = json_array(), *hides = json_array();
	int r = json_object_set_new(o, "merged_with", parts);

	r |= json_object_set_new(o, "hides", hides);
	if (r || add_places(v, path, f, parts, hides) < 0)
		return -ENOMEM;
	r = json_object_set_new(o, "from", which_place_json(v, f->layer, path));
	r |= json_object_set_new(o, "shown_at", shown_at_json(v, path));
	r |= json_object_set_new(o, "edit", existing_json(v, path, f, ROUTE_EDIT));
	r |= json_object_set_new(o, "remove", existing_json(v, path, f, ROUTE_REMOVE));
	return r;
}

json_t *which_json(struct view *v, const char *shown, const char *path, const struct found *f)
{
	cleanup_json json_t *o = json_pack("{s:o, s:o, s:b}", "path", json_text(shown), "view_path",
					   json_text(path), "in_view", f != NULL);

	if (!o)
		return NULL;
	if (f && (json_object_set_new(o, "type", json_string(type_name(f->st.st_mode))) ||
		  add_existing(o, v, path, f)))
		return NULL;
	if (json_object_set_new(o, "create", new_json(v, path, f)))
		return NULL;
	return steal_ptr(&o);
}

json_t *which_absent_json(const char *shown)
{
	return json_pack("{s:o, s:n, s:b, s:n}", "path", json_text(shown), "view_path", "in_view",
			 0, "create");
}

static void print_place(const char *what, const json_t *o)
{
	const char *path = json_get_text(o, "path");

	printf("  %-12s", what);
	print_text(json_get_text(o, "layer"));
	if (path) {
		printf(": ");
		print_text(path);
	}
	printf("\n");
}

static void print_places(const char *what, const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		print_place(i ? "" : what, json_array_get(list, i));
}

static void print_names(const char *what, const json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		printf("  %-12s", i ? "" : what);
		print_text(json_string_value(json_array_get(list, i)));
		printf("\n");
	}
}

/* @in_place: what is done where the owner itself is changed; @else_: where it is not */
static void print_route(const char *what, const json_t *o, const char *in_place, const char *else_)
{
	const char *path = json_get_text(o, "path");

	if (!json_is_object(o))
		return;
	printf("  %-12s", what);
	if (!strcmp(json_get_text(o, "destination"), "deny")) {
		printf("refused");
	} else {
		printf("%s ", json_is_true(json_object_get(o, "in_place")) ? in_place : else_);
		print_text(json_get_text(o, "layer"));
		if (path) {
			printf(": ");
			print_text(path);
		}
	}
	printf(" (");
	print_text(json_get_text(o, "rule"));
	printf(")\n");
}

void which_print(const json_t *o)
{
	const char *type = json_get_text(o, "type");
	bool is_dir = type && !strcmp(type, "directory");

	print_text(json_get_text(o, "path"));
	printf(type ? ": %s\n" : ": not in the view\n", type);
	if (type) {
		print_place("from", json_object_get(o, "from"));
		print_places("merged with", json_object_get(o, "merged_with"));
		print_places("hides", json_object_get(o, "hides"));
		print_names("shown at", json_object_get(o, "shown_at"));
		print_route("edit", json_object_get(o, "edit"), "in place in", "copied up to");
		print_route("remove", json_object_get(o, "remove"), "from", "hidden by");
	}
	print_route(!type ? "create" : is_dir ? "new file in" : "new beside",
		    json_object_get(o, "create"), "in", "in");
}
