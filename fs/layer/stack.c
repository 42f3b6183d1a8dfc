/* SPDX-License-Identifier: MIT */
/*
 * How the layers merge: see stack.h. A look-up asks the layers of the parent directory one after
 * the other, highest first, for their candidate (candidate.h) and stops where one ends the search.
 */
#include "layer/stack.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "layer/candidate.h"
#include "layer/hijack.h"
#include "layer/kept.h"
#include "layer/listing.h"
#include "layer/made.h"
#include "layer/mark.h"
#include "layer/redirect.h"

void stack_init(struct stack *st)
{
	*st = (struct stack){ .root_fd = -1 };
	for (unsigned i = 0; i < STACK_ALL; i++)
		st->layers[i].base_fd = -1;
}

void stack_clear(struct stack *st)
{
	for (unsigned i = 0; i < st->n; i++) {
		hide_free(st->hides[i]);
		layer_clear(&st->layers[i]);
	}
	while (st->n_former)
		layer_clear(&st->layers[STACK_MAX + --st->n_former]);
	if (st->root_fd >= 0)
		close(st->root_fd);
	inomap_free(st->inos);
	hijacks_free(st->hijacks);
	kept_free(st->kept);
	made_free(st->made);
	stack_init(st);
}

int stack_add(struct stack *st, const struct layer *l)
{
	struct hide *h = NULL;

	if (st->n == STACK_MAX)
		return -E2BIG;
	st->layers[st->n] = *l;
	if (l->kind == LAYER_SPEC) {
		int r = hide_new(&st->layers[st->n], &h);

		if (r < 0)
			return r;
	}
	st->hides[st->n] = h;
	return (int)st->n++;
}

int stack_too_many(struct diag *d)
{
	return diag_add(d, -E2BIG, NULL, 0,
			"more than %d layers, expected fewer backends, maps or overlays",
			STACK_MAX);
}

int stack_settle(struct stack *st)
{
	const struct layer *lowest = NULL;
	struct object o;
	int r;

	for (unsigned i = 0; i < st->n; i++)
		if (st->layers[i].base_fd >= 0 && st->layers[i].kind != LAYER_GENERATED)
			lowest = &st->layers[i];
	if (!lowest)
		return -EINVAL;
	r = object_stat(lowest->base_fd, "", &o);
	if (r < 0)
		return r;
	st->root_st = o.st;
	if (o.btime_nsec)
		st->root_st.st_mtim = (struct timespec){
			.tv_sec = (time_t)(o.btime_nsec / 1000000000u),
			.tv_nsec = (long)(o.btime_nsec % 1000000000u),
		};
	st->root_st.st_atim = st->root_st.st_mtim;
	st->root_st.st_ctim = st->root_st.st_mtim;
	r = inomap_new(o.st.st_dev, &st->inos);
	return r < 0 ? r : hijacks_new(&st->hijacks);
}

void dirset_init(struct dirset *ds)
{
	ds->path = "";
	ds->parts = 0;
	memset(ds->fd, 0xff, sizeof(ds->fd));
}

void dirset_close(struct dirset *ds)
{
	for (uint64_t left = ds->parts; left; left &= left - 1) {
		int i = __builtin_ctzll(left);

		if (ds->fd[i] >= 0)
			close(ds->fd[i]);
	}
	dirset_init(ds);
}

static bool is_gone(int err)
{
	return err == -ENOENT || err == -ENOTDIR || err == -ELOOP;
}

int stack_open_dir(const struct stack *st, const char *path, uint64_t parts, struct dirset *ret)
{
	cleanup_dirset struct dirset ds;

	dirset_init(&ds);
	ds.path = path;
	for (uint64_t left = parts; left; left &= left - 1) {
		int i = __builtin_ctzll(left);
		const struct layer *l = &st->layers[i];
		const char *rel;
		int fd;

		if (l->kind == LAYER_GENERATED ||
		    (l->rule && rule_place(l->rule, path, &rel) == RULE_ABOVE &&
		     !candidate_is_glob_place(l, path))) {
			ds.parts |= UINT64_C(1) << i;
			continue;
		}
		fd = candidate_open_dir(l, path);
		if (is_gone(fd))
			continue;
		if (fd < 0)
			return fd;
		ds.fd[i] = fd;
		ds.parts |= UINT64_C(1) << i;
	}
	*ret = ds;
	dirset_init(&ds);
	return 0;
}

/* The latest times of all parts. */
static void later(struct timespec *t, const struct timespec *other)
{
	if (other->tv_sec > t->tv_sec ||
	    (other->tv_sec == t->tv_sec && other->tv_nsec > t->tv_nsec))
		*t = *other;
}

static void merge_times(struct stat *st, const struct stat *part)
{
	later(&st->st_mtim, &part->st_mtim);
	later(&st->st_ctim, &part->st_ctim);
}

/* What a look-up has gathered so far. */
struct search {
	const struct stack *st;
	const char *path; /* view path of the name asked for */
	const char *name;
	struct found f;
	bool any;	 /* something real was found: @f.layer and @f.obj are set */
	uint64_t places; /* layers that only have their own place below this name */
	bool listed;	 /* the directory was just listed, and no hide list has a line for it */
	unsigned lowest; /* lowest directory part on disk */
	struct object lowest_obj;
	unsigned n_disk;   /* directory parts on disk */
	struct stat times; /* latest times */
};

bool stack_hides(const struct stack *st, unsigned layer, const char *path, bool is_dir)
{
	for (unsigned i = 0; i < layer; i++) {
		const char *rel;

		if (st->hides[i] && rule_place(st->layers[i].rule, path, &rel) == RULE_INSIDE &&
		    *rel && hide_covers(st->hides[i], rel, is_dir))
			return true;
	}
	return false;
}

/* Take a directory of layer @i into the search. */
static void take_dir(struct search *s, unsigned i, const struct candidate *c)
{
	s->f.parts |= UINT64_C(1) << i;
	if (!s->any || s->f.implied) {
		s->f.layer = i;
		s->f.obj = c->obj;
		s->f.implied = c->implied;
	}
	if (!s->n_disk)
		s->times = c->obj.st;
	merge_times(&s->times, &c->obj.st);
	s->any = true;
	s->lowest = i;
	s->lowest_obj = c->obj;
	s->n_disk++;
}

/* Does a directory that is only implied, with nothing else behind it, show nothing? 1, 0, errno */
static int is_hollow(const struct search *s)
{
	if (!s->f.implied || candidate_places_exist(s->st, s->places))
		return 0;
	return listing_is_empty_at(s->st, s->path, s->f.parts);
}

/* Take a non-directory of layer @i, unless there is a directory above it. */
static int take_other(struct search *s, unsigned i, const struct candidate *c)
{
	int r = s->any ? is_hollow(s) : !candidate_places_exist(s->st, s->places);

	if (r <= 0)
		return r < 0 ? r : 1;
	s->f = (struct found){
		.layer = i,
		.obj = c->obj,
		.via_link = c->via_link,
		.virtual = c->virtual,
		.lent = c->lent,
	};
	s->n_disk = 0;
	s->any = true;
	return 1;
}

/* Take layer @i's candidate. Returns 1 when the search is over, 0 or an errno. */
static int take(struct search *s, unsigned i, const struct candidate *c)
{
	switch (c->kind) {
	case CANDIDATE_NONE:
		return 0;
	case CANDIDATE_WHITEOUT:
		return 1;
	case CANDIDATE_PLACE:
		s->places |= UINT64_C(1) << i;
		return 0;
	case CANDIDATE_DIR:
		take_dir(s, i, c);
		return c->opaque;
	case CANDIDATE_OTHER:
		break;
	}
	return take_other(s, i, c);
}

/*
 * The number of a directory. One that no layer but scratch has on disk had its place's before
 * scratch's directory was made for a change below it; one of a spec directory is seen below the
 * trunk's path, too.
 */
static uint64_t dir_ino(const struct search *s)
{
	const struct layer *l = &s->st->layers[s->lowest];
	const struct stat *st = &s->lowest_obj.st;

	switch (l->kind) {
	case LAYER_SPEC:
	case LAYER_GRAFT:
		if (!s->places)
			return inomap_alias(s->st->inos, l->rule->at, st->st_dev, st->st_ino);
		break;
	case LAYER_SCRATCH:
		if (!s->places && !s->f.implied)
			return inomap_file(s->st->inos, st->st_dev, st->st_ino);
		break;
	default:
		return inomap_file(s->st->inos, st->st_dev, st->st_ino);
	}
	return inomap_place(s->st->inos, s->path);
}

static uint64_t shown_ino(const struct search *s, const struct dirset *dir)
{
	const struct object *o = &s->f.obj;
	uint64_t kept = 0;

	if (s->f.virtual)
		return inomap_place(s->st->inos, s->path);
	if (S_ISDIR(o->st.st_mode))
		return dir_ino(s);
	if (S_ISREG(o->st.st_mode) && dir->fd[s->f.layer] >= 0 &&
	    s->st->layers[s->f.layer].kind == LAYER_SCRATCH)
		kept = mark_read_ino(dir->fd[s->f.layer], s->name);
	return kept ? kept : kept_shown(s->st, o);
}

/* Make up a directory that no layer has on disk. */
static void make_virtual_dir(struct search *s)
{
	s->f.virtual = true;
	s->f.layer = (unsigned)__builtin_ctzll(s->places);
	s->f.obj = (struct object){ .st = s->st->root_st };
	s->f.obj.st.st_mode = S_IFDIR | 0755;
	s->f.obj.st.st_size = 0;
	s->f.obj.st.st_nlink = 1;
}

/* Turn what was gathered into the answer. */
static int conclude(struct search *s, const struct dirset *dir, struct found *ret)
{
	if (!s->any) {
		if (!candidate_places_exist(s->st, s->places))
			return -ENOENT;
		make_virtual_dir(s);
	}
	if (S_ISDIR(s->f.obj.st.st_mode))
		s->f.parts |= s->places;
	s->f.st = s->f.obj.st;
	s->f.st.st_ino = shown_ino(s, dir);
	if (s->f.lent) {
		s->f.st.st_uid = s->st->root_st.st_uid;
		s->f.st.st_gid = s->st->root_st.st_gid;
		s->f.st.st_mode |= S_IWUSR;
	}
	if (s->n_disk)
		merge_times(&s->f.st, &s->times);
	/* a layer counts its own sub-directories; 1 means "not counted" */
	if (s->n_disk > 1 || s->f.parts & s->places)
		s->f.st.st_nlink = 1;
	s->f.generation = s->st->generation;
	*ret = s->f;
	return 0;
}

/* Ask the layers of @layers for @name, highest first. */
static int search_run(struct search *s, const struct dirset *dir, uint64_t layers)
{
	for (uint64_t left = dir->parts & layers; left; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);
		struct candidate c = { .kind = CANDIDATE_NONE };
		int r = candidate_find(s->st, i, dir, s->path, s->name, &c);

		if (r < 0)
			return r;
		if (!s->listed && c.kind != CANDIDATE_NONE && c.kind != CANDIDATE_WHITEOUT &&
		    stack_hides(s->st, i, s->path, c.kind != CANDIDATE_OTHER))
			break;
		r = take(s, i, &c);
		if (r)
			return r < 0 ? r : 0;
	}
	return 0;
}

/* Is a symlink shown at @path in place of scratch's directory, whatever is there? */
static bool take_redirect(const struct stack *st, const char *path, struct found *ret)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;

	if (!redirect_link(st->redirects, path, &text))
		return false;
	*ret = (struct found){ .virtual = true, .obj.st = st->root_st };
	ret->obj.st.st_mode = S_IFLNK | 0777;
	ret->obj.st.st_size = (off_t)text.len;
	ret->obj.st.st_nlink = 1;
	ret->obj.st.st_blocks = 0;
	ret->st = ret->obj.st;
	ret->st.st_ino = inomap_place(st->inos, path);
	return true;
}

static int child_in(const struct stack *st, const struct dirset *dir, const char *name,
		    uint64_t layers, struct found *ret)
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	struct search s = { .st = st, .name = name, .listed = layers != UINT64_MAX };
	struct found f;
	int r = path_join(&path, dir->path, name);

	if (r < 0)
		return r;
	if (strlen(name) > NAME_MAX)
		return -ENAMETOOLONG;
	if (layers & 1 && take_redirect(st, path.buf, ret))
		return 0;
	s.path = path.buf;
	r = search_run(&s, dir, layers);
	if (!r)
		r = conclude(&s, dir, &f);
	if (!r)
		r = is_hollow(&s);
	if (r)
		return r < 0 ? r : -ENOENT;
	*ret = f;
	return 0;
}

int stack_child(const struct stack *st, const struct dirset *dir, const char *name,
		struct found *ret)
{
	return child_in(st, dir, name, UINT64_MAX, ret);
}

int stack_child_alone(const struct stack *st, const struct dirset *dir, const char *name,
		      unsigned layer, struct found *ret)
{
	return child_in(st, dir, name, UINT64_C(1) << layer, ret);
}

int stack_root(const struct stack *st, struct found *ret)
{
	struct search s = { .st = st, .path = "", .name = "" };
	struct dirset none;
	struct found f;
	int r;

	dirset_init(&none);
	for (unsigned i = 0; i < st->n; i++) {
		struct candidate c = { .kind = CANDIDATE_NONE };

		r = candidate_root(st, i, &c);
		if (r < 0)
			return r;
		r = take(&s, i, &c);
		if (r < 0)
			return r;
		if (r)
			break;
	}
	r = conclude(&s, &none, &f);
	if (!r)
		*ret = f;
	return r;
}

int stack_lookup(const struct stack *st, const char *path, struct found *ret)
{
	cleanup_free char *walked = strdup(path);
	struct found f;
	size_t done = 0;
	int r;

	if (!walked)
		return -ENOMEM;
	r = stack_root(st, &f);
	while (!r && path[done]) {
		cleanup_dirset struct dirset ds;
		size_t len = strcspn(path + done, "/");
		char name[NAME_MAX + 1];

		dirset_init(&ds);
		if (!S_ISDIR(f.obj.st.st_mode))
			return -ENOTDIR;
		if (len > NAME_MAX)
			return -ENAMETOOLONG;
		memcpy(name, path + done, len);
		name[len] = '\0';
		walked[done ? done - 1 : 0] = '\0';
		r = stack_open_dir(st, walked, f.parts, &ds);
		if (!r)
			r = stack_child(st, &ds, name, &f);
		memcpy(walked, path, done + len);
		done += len;
		done += path[done] == '/';
	}
	if (!r)
		*ret = f;
	return r;
}

int stack_layer_may_have(const struct stack *st, unsigned layer, const char *path)
{
	const struct layer *l = &st->layers[layer];
	cleanup_fd int fd = -1;
	const char *rel;

	if (l->rule) {
		enum rule_place place = rule_place(l->rule, path, &rel);

		if (place == RULE_OUTSIDE)
			return 0;
		if (place == RULE_ABOVE || l->kind == LAYER_GENERATED)
			return 1;
	}
	fd = layer_open(l, path, O_PATH, 0);
	if (fd >= 0)
		return 1;
	return is_gone(fd) ? 0 : fd;
}

/*
 * Could a layer from @i down have anything at @path? One call a layer, which spares what only
 * scratch has the whole look-up. 1, 0 or a negative errno.
 */
static int may_be_below(const struct stack *st, const char *path, unsigned i)
{
	int r = 0;

	for (; !r && i < st->n; i++)
		r = stack_layer_may_have(st, i, path);
	return r;
}

int stack_has_below_in(const struct stack *st, const struct dirset *in, const char *path,
		       unsigned above)
{
	struct search s = { .st = st, .path = path, .name = path_base(path) };
	int r;

	if (!in)
		return stack_has_below(st, path, above);
	if (above + 1 >= STACK_MAX)
		return 0;
	r = search_run(&s, in, UINT64_MAX << (above + 1));
	if (r < 0 || !s.any)
		return r < 0 ? r : candidate_places_exist(st, s.places);
	r = is_hollow(&s);
	return r < 0 ? r : !r;
}

int stack_has_below(const struct stack *st, const char *path, unsigned above)
{
	cleanup_free char *parent = strndup(path, path_parent_len(path));
	cleanup_dirset struct dirset ds;
	struct found f;
	int r;

	dirset_init(&ds);
	if (!parent)
		return -ENOMEM;
	if (above + 1 >= STACK_MAX)
		return 0;
	r = may_be_below(st, path, above + 1);
	if (r <= 0)
		return r;
	r = stack_lookup(st, parent, &f);
	if (is_gone(r))
		return 0;
	if (!r)
		r = stack_open_dir(st, parent, f.parts, &ds);
	return r < 0 ? r : stack_has_below_in(st, &ds, path, above);
}
