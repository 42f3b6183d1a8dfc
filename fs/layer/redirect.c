/* SPDX-License-Identifier: MIT */
/*
 * Which directories are redirected: see redirect.h. Those that are there for that only are written
 * down in scratch's file `redirects`, so that they go even if the daemon is killed. Which may be
 * redirected is judged in redirectable.c.
 */
#include "layer/redirect.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "layer/change.h"
#include "layer/listing.h"

#define STATE_FILE "redirects"

enum { STATE_MAX_BYTES = 1 << 20, DIR_MODE = 0755 };

struct redirects {
	const char *scratch;            /* constant */
	atomic_uint n_links;            /* symlinks: look-ups cost nothing where there are none */
	atomic_uint n_active;
	atomic_uint n_wanted;
	pthread_rwlock_t lock;          /* guards what follows */
	struct redirect *v;
	size_t n;
};

int redirects_new(const char *scratch, struct redirects **ret)
{
	struct redirects *rs = calloc(1, sizeof(*rs));

	if (!rs)
		return -ENOMEM;
	rs->scratch = scratch;
	pthread_rwlock_init(&rs->lock, NULL);
	*ret = rs;
	return 0;
}

static void clear(struct redirect *r)
{
	free(r->dir);
	free(r->why_not);
}

void redirect_list_free(struct redirect *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		clear(&list[i]);
	free(list);
}

void redirects_free(struct redirects *rs)
{
	if (!rs)
		return;
	redirect_list_free(rs->v, rs->n);
	pthread_rwlock_destroy(&rs->lock);
	free(rs);
}

const char *redirect_form_name(enum redirect_form form)
{
	return form == REDIRECT_BIND ? "bind" : "symlink";
}

/* The lock is only for what is read and changed here: it never fails. */
static void lock_read(const struct redirects *rs)
{
	pthread_rwlock_rdlock((pthread_rwlock_t *)&rs->lock);
}

static void lock_write(struct redirects *rs)
{
	pthread_rwlock_wrlock(&rs->lock);
}

static void unlock(const struct redirects *rs)
{
	pthread_rwlock_unlock((pthread_rwlock_t *)&rs->lock);
}

static bool is_active(const struct redirect *r)
{
	return !r->why_not;
}

/* The lock is held. */
static struct redirect *find(const struct redirects *rs, const char *dir)
{
	for (size_t i = 0; i < rs->n; i++)
		if (!strcmp(rs->v[i].dir, dir))
			return &rs->v[i];
	return NULL;
}

/* Count it, or with @by -1 no longer. */
static void count(struct redirects *rs, const struct redirect *r, int by)
{
	if (is_active(r))
		atomic_fetch_add(&rs->n_active, (unsigned)by);
	if (is_active(r) && r->form == REDIRECT_SYMLINK)
		atomic_fetch_add(&rs->n_links, (unsigned)by);
	if (r->wanted)
		atomic_fetch_add(&rs->n_wanted, (unsigned)by);
}

/* The lock is held for writing. */
static void drop(struct redirects *rs, struct redirect *r)
{
	size_t i = (size_t)(r - rs->v);

	count(rs, r, -1);
	clear(r);
	memmove(r, r + 1, (rs->n - i - 1) * sizeof(*r));
	rs->n--;
}

/* The lock is held for writing: the place for @dir, that of an earlier one or a new one; or NULL */
static struct redirect *place_for(struct redirects *rs, const char *dir)
{
	struct redirect *known = find(rs, dir);
	struct redirect *grown;

	if (known) {
		count(rs, known, -1);
		clear(known);
		return known;
	}
	grown = reallocarray(rs->v, rs->n + 1, sizeof(*rs->v));
	if (!grown)
		return NULL;
	rs->v = grown;
	return &rs->v[rs->n++];
}

/* Remember one, in place of an earlier one of that directory. Takes the strings of @r. */
static int put(struct redirects *rs, struct redirect *r)
{
	struct redirect *place = NULL;

	lock_write(rs);
	if (r->dir)
		place = place_for(rs, r->dir);
	if (place) {
		*place = *r;
		count(rs, r, 1);
	}
	unlock(rs);
	if (!place)
		clear(r);
	return place ? 0 : -ENOMEM;
}

static int put_inactive(struct view *v, const char *dir, enum redirect_form form, bool wanted,
			const char *why)
{
	struct redirect r = {
		.dir = strdup(dir),
		.form = form,
		.wanted = wanted,
		.why_not = strdup(why),
	};

	if (!r.why_not) {
		free(r.dir);
		return -ENOMEM;
	}
	return put(v->redirects, &r);
}

int redirect_refuse(struct view *v, const char *dir, enum redirect_form form, const char *why)
{
	return put_inactive(v, dir, form, false, why);
}

int redirect_want(struct view *v, const char *dir, enum redirect_form form)
{
	return put_inactive(v, dir, form, true, "it is not there, and will be when it is made");
}

bool redirect_is_wanted(const struct redirects *rs, const char *dir)
{
	const struct redirect *r;
	bool wanted;

	if (!rs || !atomic_load_explicit(&rs->n_wanted, memory_order_relaxed))
		return false;
	lock_read(rs);
	r = find(rs, dir);
	wanted = r && r->wanted;
	unlock(rs);
	return wanted;
}

enum redirect_apart redirect_is_apart(const struct redirects *rs, const char *dir)
{
	enum redirect_apart apart = REDIRECT_APART_NOT;
	const struct redirect *r;

	if (!rs || (!atomic_load_explicit(&rs->n_wanted, memory_order_relaxed) &&
		    !atomic_load_explicit(&rs->n_active, memory_order_relaxed)))
		return apart;
	lock_read(rs);
	r = find(rs, dir);
	if (r && r->wanted)
		apart = REDIRECT_APART_SOON;
	else if (r && is_active(r) && r->form == REDIRECT_BIND)
		apart = REDIRECT_APART_NOW;
	unlock(rs);
	return apart;
}

int redirect_list(const struct redirects *rs, struct redirect **ret, size_t *ret_n)
{
	struct redirect *list;
	size_t n;
	int r = 0;

	lock_read(rs);
	n = rs->n;
	list = n ? calloc(n, sizeof(*list)) : NULL;
	r = n && !list ? -ENOMEM : 0;
	for (size_t i = 0; !r && i < n; i++) {
		list[i] = rs->v[i];
		list[i].dir = strdup(rs->v[i].dir);
		list[i].why_not = rs->v[i].why_not ? strdup(rs->v[i].why_not) : NULL;
		if (!list[i].dir || (rs->v[i].why_not && !list[i].why_not))
			r = -ENOMEM;
	}
	unlock(rs);
	if (r < 0) {
		redirect_list_free(list, list ? n : 0);
		return r;
	}
	*ret = list;
	*ret_n = n;
	return 0;
}

static bool holds(const struct redirects *rs, const char *path, bool with_links)
{
	bool held = false;

	if (!rs || !atomic_load_explicit(&rs->n_active, memory_order_relaxed))
		return false;
	lock_read(rs);
	for (size_t i = 0; i < rs->n && !held; i++)
		held = is_active(&rs->v[i]) && path_below(rs->v[i].dir, path) &&
		       (with_links || rs->v[i].form == REDIRECT_BIND);
	unlock(rs);
	return held;
}

bool redirect_holds(const struct redirects *rs, const char *path)
{
	return holds(rs, path, true);
}

bool redirect_holds_mount(const struct redirects *rs, const char *path)
{
	return holds(rs, path, false);
}

int redirect_place(const struct redirects *rs, const char *dir, struct strbuf *ret)
{
	strbuf_addf(ret, "%s/upper/%s", rs->scratch, dir);
	return strbuf_failed(ret);
}

bool redirect_link(const struct redirects *rs, const char *path, struct strbuf *ret)
{
	const struct redirect *r;
	bool is_link;

	if (!rs || !atomic_load_explicit(&rs->n_links, memory_order_relaxed))
		return false;
	lock_read(rs);
	r = find(rs, path);
	is_link = r && is_active(r) && r->form == REDIRECT_SYMLINK;
	unlock(rs);
	if (is_link)
		(void)redirect_place(rs, path, ret); /* the buffer remembers that it failed */
	return is_link;
}

/* Write down which directories are there for redirects only. A name with a newline was refused. */
static int save(const struct view *v)
{
	const struct redirects *rs = v->redirects;
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	cleanup_fd int dir = open(v->scratch, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0)
		return -errno;
	lock_read(rs);
	for (size_t i = 0; i < rs->n; i++)
		if (is_active(&rs->v[i]) && rs->v[i].ours)
			strbuf_addf(&text, "%s\n", rs->v[i].dir);
	unlock(rs);
	if (strbuf_failed(&text) < 0)
		return -ENOMEM;
	if (text.len)
		return fd_replace_file(dir, STATE_FILE, STATE_FILE ".new", 0600, text.buf,
				       text.len);
	return unlinkat(dir, STATE_FILE, 0) < 0 && errno != ENOENT ? -errno : 0;
}

/* As the directory that it is made in belongs to somebody, so does it. */
static int make_dir(struct view *v, const char *dir)
{
	cleanup_free char *parent = strndup(dir, path_parent_len(dir));
	struct found f;
	struct found made;
	struct cred who;
	int r = parent ? stack_lookup(&v->stack, parent, &f) : -ENOMEM;

	if (r < 0)
		return r;
	who = (struct cred){ .uid = f.st.st_uid, .gid = f.st.st_gid };
	return change_mkdir(v, parent, &f, path_base(dir), DIR_MODE, &who, &made);
}

/* A directory that is there for its redirect goes if it is empty; what was put into it stays. */
static void remove_ours(struct view *v, const char *dir)
{
	struct found f;

	if (stack_lookup(&v->stack, dir, &f) == 0 && S_ISDIR(f.st.st_mode) && f.parts == 1)
		(void)change_rmdir(v, dir, &f); /* -ENOTEMPTY is as good */
}

/* Remember it; as a symlink only once the directory is there. */
static int put_new(struct view *v, const char *dir, enum redirect_form form, bool ours)
{
	struct redirect new = { .dir = strdup(dir), .form = form, .ours = ours };

	return put(v->redirects, &new);
}

int redirect_begin(struct view *v, const char *dir, enum redirect_form form, bool ours,
		   struct diag *d)
{
	struct found f;
	bool missing;
	int r = redirect_check(v, dir, d);

	if (r < 0)
		return r;
	missing = stack_lookup(&v->stack, dir, &f) == -ENOENT;
	ours |= missing;
	r = put_new(v, dir, REDIRECT_BIND, ours);
	/* written down before it is made: what is not there needs no removal */
	if (!r && missing)
		r = save(v);
	if (!r && missing)
		r = make_dir(v, dir);
	if (!r && form != REDIRECT_BIND)
		r = put_new(v, dir, form, ours);
	if (r < 0) {
		(void)redirect_end(v, dir); /* @r tells what failed */
		return diag_add(d, r, NULL, 0, "%s", strerror(-r));
	}
	return 0;
}

int redirect_end(struct view *v, const char *dir)
{
	struct redirects *rs = v->redirects;
	struct redirect *r;
	bool ours = false;

	lock_write(rs);
	r = find(rs, dir);
	if (r && is_active(r)) {
		ours = r->ours;
		drop(rs, r);
	} else {
		r = NULL;
	}
	unlock(rs);
	if (!r)
		return -ENOENT;
	if (ours) {
		remove_ours(v, dir);
		(void)save(v); /* a line too many does no harm */
	}
	return 0;
}

void redirect_end_all(struct view *v)
{
	struct redirect *list = NULL;
	size_t n = 0;

	if (!v->redirects || redirect_list(v->redirects, &list, &n) < 0)
		return; /* the next mount removes what is left */
	for (size_t i = 0; i < n; i++)
		if (is_active(&list[i]))
			(void)redirect_end(v, list[i].dir); /* it is there */
	redirect_list_free(list, n);
}

void redirect_recover(struct view *v)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	cleanup_fd int dir = open(v->scratch, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char *save_ptr = NULL;

	if (dir < 0 || fd_read_file(dir, STATE_FILE, STATE_MAX_BYTES, &text) < 0)
		return; /* there is none */
	for (char *l = strtok_r(text.buf, "\n", &save_ptr); l; l = strtok_r(NULL, "\n", &save_ptr))
		if (*l && path_is_clean(l))
			remove_ours(v, l);
	(void)unlinkat(dir, STATE_FILE, 0); /* read again next time, to the same end */
}
