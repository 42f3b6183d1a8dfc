/* SPDX-License-Identifier: MIT */
/* What is followed: see follow.h. */
#include "daemon/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/hashset.h"
#include "base/log.h"
#include "base/path.h"
#include "node/table.h"

/* What has a way of its own to it beside the layers' directories: the profile's file. */
enum { WAY_PROFILE = STACK_MAX, WAYS };

/* ... which is named, is what a symlink leads to, or would be read instead if it were there. */
enum { PLACES = 3 };

/* A watched directory is a part of a node, or lies on the way to a layer's own directory. */
struct link {
	uint64_t watch_id;
	uint64_t node_id;       /* 0: on the way to layer @layer, or WAY_PROFILE */
	unsigned layer;
	struct link *next_of_watch;
	struct link *next_of_owner;
	char path[];            /* node: view path; way: the name to look out for, "" for any */
};

/* The links that share a watch, or an owner (a node, or the way to a layer). */
struct bundle {
	uint64_t id;
	struct link *first;
	struct hashed hashed;
};

struct follow {
	const struct view *view;        /* constant */
	struct watch *watch;            /* constant */
	pthread_mutex_t lock;           /* guards what follows */
	bool said_remote;
	bool said_refused;
	struct hashset by_watch;
	struct hashset by_node;
	struct link *ways[WAYS];
	struct link *gone;              /* of layers that are no more; still of their watches */
};

static uint64_t bundle_hash(const struct hashed *h)
{
	return hash_number(CONTAINER_OF(h, struct bundle, hashed)->id);
}

static struct bundle *bundle_find(const struct hashset *all, uint64_t id)
{
	for (struct hashed *h = hashset_chain(all, hash_number(id)); h; h = h->next) {
		struct bundle *b = CONTAINER_OF(h, struct bundle, hashed);

		if (b->id == id)
			return b;
	}
	return NULL;
}

static struct bundle *bundle_get(struct hashset *all, uint64_t id)
{
	struct bundle *b = bundle_find(all, id);

	if (b)
		return b;
	b = calloc(1, sizeof(*b));
	if (!b)
		return NULL;
	b->id = id;
	hashset_add(all, &b->hashed);
	return b;
}

static void bundle_drop_if_empty(struct hashset *all, struct bundle *b)
{
	if (b && !b->first) {
		hashset_remove(all, &b->hashed);
		free(b);
	}
}

/* Take a link out of its watch's bundle, end the watch, free it. Its owner has let go of it. */
static void link_end(struct follow *f, struct link *l)
{
	struct bundle *b = bundle_find(&f->by_watch, l->watch_id);
	cleanup_fd int fd = -1;

	for (struct link **p = b ? &b->first : NULL; p && *p; p = &(*p)->next_of_watch) {
		if (*p == l) {
			*p = l->next_of_watch;
			break;
		}
	}
	bundle_drop_if_empty(&f->by_watch, b);
	if (l->node_id)
		fd = layer_open_dir(&f->view->stack.layers[l->layer], l->path);
	watch_remove(f->watch, l->watch_id, fd);
	free(l);
}

static int link_add(struct follow *f, struct link **owner, uint64_t node_id, unsigned layer,
		    uint64_t watch_id, const char *path)
{
	size_t len = strlen(path) + 1;
	struct link *l = malloc(sizeof(*l) + len);
	struct bundle *b = l ? bundle_get(&f->by_watch, watch_id) : NULL;

	if (!b) {
		free(l);
		return -ENOMEM;
	}
	*l = (struct link){ .watch_id = watch_id, .node_id = node_id, .layer = layer };
	memcpy(l->path, path, len);
	l->next_of_watch = b->first;
	b->first = l;
	l->next_of_owner = *owner;
	*owner = l;
	return 0;
}

/* May this process change the directory at @path of layer @i under another view path? */
static bool has_second_place(const struct stack *st, unsigned i, const char *path)
{
	const struct layer *l = &st->layers[i];

	if (l->rule)
		return true;
	for (unsigned k = 0; k < st->n; k++) {
		const struct layer *o = &st->layers[k];

		if (o->rule && o->in_root && (path_below(path, o->dir) || path_below(o->dir, path)))
			return true;
	}
	return false;
}

static bool is_watchable(const struct stack *st, int i)
{
	enum layer_kind kind = st->layers[i].kind;

	return kind != LAYER_SCRATCH && kind != LAYER_GENERATED;
}

/* One line a reason; which directories it is about can be many. The lock is held. */
static void refuse(struct follow *f, struct node *dir, const char *path, int r)
{
	bool *said = r == -EREMOTE ? &f->said_remote : &f->said_refused;

	if (!atomic_exchange(&dir->unwatched, true))
		log_debug("watch", "cannot watch '%s': %s", path, strerror(-r));
	if (*said)
		return;
	*said = true;
	path = *path ? path : ".";
	if (r == -EREMOTE)
		log_warn("'%s' is on a file system that others may change unseen: nothing of it is "
			 "cached, nor of other directories like it", path);
	else
		log_warn("'%s' can't be watched (%s): nothing of it is cached, nor of others that "
			 "can't%s", path, r == -ENOSPC ? "the system's limit is reached"
						       : strerror(-r),
			 r == -ENOSPC ? "; fs.fanotify.max_user_marks or "
					"fs.inotify.max_user_watches" : "");
}

static void follow_part(struct follow *f, struct node *dir, struct bundle *b, unsigned i, int fd,
			const char *path)
{
	uint64_t id;
	int r = watch_add(f->watch, fd, has_second_place(&f->view->stack, i, path), &id);

	if (r < 0) {
		refuse(f, dir, path, r);
		return;
	}
	r = link_add(f, &b->first, dir->id, i, id, path);
	if (r < 0) {
		watch_remove(f->watch, id, fd);
		refuse(f, dir, path, r);
	}
}

/* The parts are those of the node now; the lock is held. */
static void follow_parts(struct follow *f, struct node *dir, const struct dirset *parts)
{
	const struct stack *st = &f->view->stack;
	uint64_t missing = parts->parts & ~atomic_load(&dir->watched);
	struct bundle *b;

	b = bundle_get(&f->by_node, dir->id);
	for (uint64_t left = b ? missing : 0; left; left &= left - 1) {
		int i = __builtin_ctzll(left);

		if (parts->fd[i] >= 0 && is_watchable(st, i))
			follow_part(f, dir, b, (unsigned)i, parts->fd[i], parts->path);
	}
	if (!b)
		refuse(f, dir, parts->path, -ENOMEM);
	bundle_drop_if_empty(&f->by_node, b);
	atomic_fetch_or_explicit(&dir->watched, missing, memory_order_release);
}

int follow_dir(struct follow *f, struct node *dir, const struct dirset *parts, uint64_t seq)
{
	uint64_t watched = atomic_load_explicit(&dir->watched, memory_order_acquire);
	bool late;

	if (!(parts->parts & ~watched))
		return 0;
	pthread_mutex_lock(&f->lock);
	late = table_seq(dir->table, dir) != seq;
	if (!late)
		follow_parts(f, dir, parts);
	pthread_mutex_unlock(&f->lock);
	return late ? -EAGAIN : 0;
}

bool follow_is_right(struct follow *f, const struct node *dir, const struct dirset *parts)
{
	const struct bundle *b;
	bool right = true;

	pthread_mutex_lock(&f->lock);
	b = bundle_find(&f->by_node, dir->id);
	for (const struct link *l = b ? b->first : NULL; l && right; l = l->next_of_owner)
		right = parts->fd[l->layer] >= 0 &&
			watch_is(f->watch, l->watch_id, parts->fd[l->layer]);
	pthread_mutex_unlock(&f->lock);
	return right;
}

/* Forget all links of a node; the lock is held. */
static void drop_node(struct follow *f, uint64_t id)
{
	struct bundle *b = bundle_find(&f->by_node, id);

	while (b && b->first) {
		struct link *l = b->first;

		b->first = l->next_of_owner;
		link_end(f, l);
	}
	bundle_drop_if_empty(&f->by_node, b);
}

void follow_again(struct follow *f, struct node *dir)
{
	pthread_mutex_lock(&f->lock);
	table_turned(dir->table, dir);
	drop_node(f, dir->id);
	atomic_store(&dir->watched, 0);
	pthread_mutex_unlock(&f->lock);
}

void follow_gone(struct follow *f, struct node *dir)
{
	pthread_mutex_lock(&f->lock);
	drop_node(f, dir->id);
	pthread_mutex_unlock(&f->lock);
}

int follow_nodes(struct follow *f, uint64_t watch_id, uint64_t **ret, size_t *ret_n)
{
	cleanup_free uint64_t *ids = NULL;
	size_t n = 0;
	struct bundle *b;

	pthread_mutex_lock(&f->lock);
	b = bundle_find(&f->by_watch, watch_id);
	for (const struct link *l = b ? b->first : NULL; l; l = l->next_of_watch)
		n += l->node_id != 0;
	ids = n ? calloc(n, sizeof(*ids)) : NULL;
	if (n && !ids) {
		pthread_mutex_unlock(&f->lock);
		return -ENOMEM;
	}
	n = 0;
	for (const struct link *l = b && ids ? b->first : NULL; l; l = l->next_of_watch)
		if (l->node_id)
			ids[n++] = l->node_id;
	pthread_mutex_unlock(&f->lock);
	*ret = steal_ptr(&ids);
	*ret_n = n;
	return 0;
}

/* The directory, below ROOT, that a rule takes its objects from; NULL if it is not there. */
static const char *source_of(const struct layer *l)
{
	if (!l->rule || l->rule->kind == RULE_FILE)
		return NULL;
	if (l->kind == LAYER_GENERATED)
		return l->rule->from;
	return l->in_root ? l->dir : NULL;
}

/* Watch one directory of way @i, open as @fd: below it, @name leads on. */
static int watch_way_at(struct follow *f, unsigned i, int fd, const char *name)
{
	uint64_t id;
	int r = watch_add(f->watch, fd, true, &id);

	if (!r) {
		r = link_add(f, &f->ways[i], 0, i, id, name);
		if (r < 0)
			watch_remove(f->watch, id, fd);
	}
	return r;
}

/* The same by its path below ROOT. */
static int watch_way(struct follow *f, unsigned i, const char *dir, const char *name)
{
	cleanup_fd int fd = fd_open_beneath(f->view->stack.root_fd, dir, O_PATH | O_DIRECTORY, 0);

	return fd < 0 ? fd : watch_way_at(f, i, fd, name);
}

static void end_way(struct follow *f, struct link *way)
{
	while (way) {
		struct link *next = way->next_of_owner;

		link_end(f, way);
		way = next;
	}
}

/* Watch all of the way to a layer's own directory that is there. */
static void follow_layer(struct follow *f, unsigned i)
{
	const struct layer *l = &f->view->stack.layers[i];
	const char *from = source_of(l);
	cleanup_free char *dir = from && f->view->stack.root_fd >= 0 ? strdup(from) : NULL;
	size_t done = 0;

	end_way(f, steal_ptr(&f->ways[i]));
	if (!dir)
		return;
	while (from[done]) {
		size_t len = strcspn(from + done, "/");
		cleanup_free char *name = strndup(from + done, len);

		dir[done ? done - 1 : 0] = '\0';
		if (!name || watch_way(f, i, dir, name) < 0)
			return; /* what is missing is made by a change of what is watched */
		memcpy(dir, from, done + len);
		done += len;
		done += from[done] == '/';
	}
	if (l->kind == LAYER_GENERATED && l->rule->glob)
		(void)watch_way(f, i, from, ""); /* the same */
}

/* Where the profile may be read from. */
struct place {
	char *file;
	int dir_fd;
};

/* Nothing is locked: a path may lead anywhere. */
static int open_place(const char *file, struct place *ret)
{
	cleanup_free char *dir = strndup(file, path_parent_len(file));

	ret->file = strdup(file);
	if (!dir || !ret->file)
		return -ENOMEM;
	ret->dir_fd = open(*dir ? dir : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return ret->dir_fd < 0 ? -errno : 0;
}

static int open_places(const struct view *v, struct place ret[PLACES])
{
	cleanup_free char *real = realpath(v->profile->file, NULL);
	cleanup_strbuf struct strbuf own = STRBUF_INIT;
	int r = open_place(v->profile->file, &ret[0]);

	if (!r && real && strcmp(real, v->profile->file) != 0)
		r = open_place(real, &ret[1]);
	if (!r && !v->profile_asked)
		r = profile_own_path(v->root, &own);
	if (!r && own.len)
		r = open_place(own.buf, &ret[2]);
	return r;
}

bool follow_profile(struct follow *f)
{
	struct place places[PLACES];
	struct link *old;
	int r;

	if (!f->view->profile)
		return true;
	for (unsigned i = 0; i < PLACES; i++)
		places[i] = (struct place){ .dir_fd = -1 };
	r = open_places(f->view, places);
	pthread_mutex_lock(&f->lock);
	old = steal_ptr(&f->ways[WAY_PROFILE]);
	for (const struct place *p = places; p < places + PLACES && !r; p++)
		if (p->dir_fd >= 0)
			r = watch_way_at(f, WAY_PROFILE, p->dir_fd, path_base(p->file));
	end_way(f, old);
	pthread_mutex_unlock(&f->lock);
	for (unsigned i = 0; i < PLACES; i++) {
		free(places[i].file);
		if (places[i].dir_fd >= 0)
			close(places[i].dir_fd);
	}
	return r == 0;
}

/* A node's part in layer @i is now one of another layer, or of none. */
static void renumber_part(struct follow *f, struct link **p, const unsigned map[STACK_ALL])
{
	struct link *l = *p;

	l->layer = map[l->layer];
	if (l->layer >= STACK_MAX) {
		*p = l->next_of_owner;
		l->next_of_owner = f->gone;
		f->gone = l;
	} else if (has_second_place(&f->view->stack, l->layer, l->path)) {
		watch_with_own(f->watch, l->watch_id);
	}
}

void follow_renumber(struct follow *f, void (*swap)(void *arg, unsigned map[STACK_ALL]), void *arg)
{
	struct link *ways[WAY_PROFILE];
	unsigned map[STACK_ALL];
	struct hashed *left = NULL;
	struct hashed *h;

	pthread_mutex_lock(&f->lock);
	swap(arg, map);
	while ((h = hashset_pop(&f->by_node))) {
		struct bundle *b = CONTAINER_OF(h, struct bundle, hashed);

		for (struct link **p = &b->first; *p;) {
			struct link *l = *p;

			renumber_part(f, p, map);
			if (*p == l)
				p = &l->next_of_owner;
		}
		if (b->first) {
			h->next = left;
			left = h;
		} else {
			free(b);
		}
	}
	while ((h = left)) {
		left = h->next;
		hashset_add(&f->by_node, h);
	}
	for (unsigned i = 0; i < WAY_PROFILE; i++)
		ways[i] = steal_ptr(&f->ways[i]);
	for (unsigned i = 0; i < f->view->stack.n; i++)
		follow_layer(f, i);
	for (unsigned i = 0; i < WAY_PROFILE; i++)
		end_way(f, ways[i]);
	pthread_mutex_unlock(&f->lock);
}

void follow_drop_gone(struct follow *f)
{
	bool more = true;

	while (more) {
		struct link *l;

		pthread_mutex_lock(&f->lock);
		l = f->gone;
		if (l) {
			f->gone = l->next_of_owner;
			link_end(f, l);
		}
		more = f->gone != NULL;
		pthread_mutex_unlock(&f->lock);
	}
}

uint64_t follow_way(struct follow *f, uint64_t watch_id, const char *name, bool *ret_profile)
{
	uint64_t layers = 0;
	struct bundle *b;

	*ret_profile = false;

	pthread_mutex_lock(&f->lock);
	b = bundle_find(&f->by_watch, watch_id);
	for (const struct link *l = b ? b->first : NULL; l; l = l->next_of_watch) {
		if (l->node_id || (*l->path && strcmp(l->path, name) != 0))
			continue;
		if (l->layer == WAY_PROFILE)
			*ret_profile = true;
		else
			layers |= UINT64_C(1) << l->layer;
	}
	for (uint64_t left = layers; left; left &= left - 1)
		follow_layer(f, (unsigned)__builtin_ctzll(left));
	pthread_mutex_unlock(&f->lock);
	return layers;
}

int follow_new(const struct view *v, watch_fn fn, void *arg, struct follow **ret)
{
	struct follow *f = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return -ENOMEM;
	f->view = v;
	pthread_mutex_init(&f->lock, NULL);
	hashset_init(&f->by_watch, bundle_hash);
	hashset_init(&f->by_node, bundle_hash);
	r = watch_new(fn, arg, v->stack.root_fd, &f->watch);
	if (r < 0) {
		pthread_mutex_destroy(&f->lock);
		free(f);
		return r;
	}
	for (unsigned i = 0; i < v->stack.n; i++)
		follow_layer(f, i);
	*ret = f;
	return 0;
}

void follow_free(struct follow *f)
{
	struct hashed *h;

	if (!f)
		return;
	watch_free(f->watch);
	while ((h = hashset_pop(&f->by_watch))) {
		struct bundle *b = CONTAINER_OF(h, struct bundle, hashed);

		while (b->first) {
			struct link *l = b->first;

			b->first = l->next_of_watch;
			free(l);
		}
		free(b);
	}
	while ((h = hashset_pop(&f->by_node)))
		free(CONTAINER_OF(h, struct bundle, hashed));
	hashset_clear(&f->by_watch);
	hashset_clear(&f->by_node);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

void follow_stats(struct follow *f, struct watch_stats *ret)
{
	watch_stats(f->watch, ret);
}

int follow_private(struct follow *f, int dir_fd, uint64_t *ret_id)
{
	return watch_add(f->watch, dir_fd, true, ret_id);
}
