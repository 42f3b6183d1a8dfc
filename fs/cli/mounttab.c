/* SPDX-License-Identifier: MIT */
/* The mount table: see mounttab.h. Source of its form: proc(5), /proc/[pid]/mountinfo. */
#include "cli/mounttab.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/path.h"
#include "layer/bind.h"

enum { TABLE_MAX_BYTES = 64 << 20, LINKS_MAX = 40 };

static uid_t user_of(const char *super_options)
{
	const char *u = super_options ? strstr(super_options, "user_id=") : NULL;

	return u ? (uid_t)strtoul(u + strlen("user_id="), NULL, 10) : 0;
}

static bool parse_device(const char *s, struct mount_entry *ret)
{
	char *end;

	ret->major = (unsigned)strtoul(s, &end, 10);
	if (end == s || *end != ':')
		return false;
	s = end + 1;
	ret->minor = (unsigned)strtoul(s, &end, 10);
	return end != s && !*end;
}

/* id parent major:minor root at options [optional...] - type source super-options */
static int parse_line(char *line, struct mount_entry *ret)
{
	char *f[6], *save = NULL, *w, *type, *source, *super;
	struct mount_entry m = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(f); i++) {
		f[i] = strtok_r(i ? NULL : line, " ", &save);
		if (!f[i])
			return -EINVAL;
	}
	do
		w = strtok_r(NULL, " ", &save);
	while (w && strcmp(w, "-"));
	type = strtok_r(NULL, " ", &save);
	if (!w || !type || !parse_device(f[2], &m))
		return -EINVAL;
	source = save; /* may be empty: then a space follows at once */
	super = source ? strchr(source, ' ') : NULL;
	if (!super)
		return -EINVAL;
	*super++ = '\0';
	path_unescape(f[3]);
	path_unescape(f[4]);
	path_unescape(source);
	m.user = user_of(super);
	m.at = strdup(f[4]);
	m.root = strdup(f[3]);
	m.source = strdup(source);
	m.type = strdup(type);
	*ret = m;
	return m.at && m.root && m.source && m.type ? 0 : -ENOMEM;
}

static void entry_clear(struct mount_entry *m)
{
	free(m->at);
	free(m->root);
	free(m->source);
	free(m->type);
}

void mount_table_clear(struct mount_table *t)
{
	for (size_t i = 0; i < t->n; i++)
		entry_clear(&t->v[i]);
	free(t->v);
	*t = (struct mount_table){ 0 };
}

static struct mount_table steal_table(struct mount_table *t)
{
	struct mount_table stolen = *t;

	*t = (struct mount_table){ 0 };
	return stolen;
}

int mount_table_parse(char *text, struct mount_table *ret)
{
	cleanup_mount_table struct mount_table t = { 0 };
	char *save = NULL;

	for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		struct mount_entry m = { 0 };
		struct mount_entry *v;
		int r = parse_line(l, &m);

		if (r == -EINVAL)
			continue;
		v = r < 0 ? NULL : realloc(t.v, (t.n + 1) * sizeof(*v));
		if (!v) {
			entry_clear(&m);
			return -ENOMEM;
		}
		t.v = v;
		t.v[t.n++] = m;
	}
	*ret = steal_table(&t);
	return 0;
}

int mount_table_read(struct mount_table *ret)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;
	int r = fd_read_file(AT_FDCWD, "/proc/self/mountinfo", TABLE_MAX_BYTES, &sb);

	return r < 0 ? r : mount_table_parse(sb.buf, ret);
}

bool mount_is_view(const struct mount_entry *m)
{
	return !strcmp(m->type, "fuse.specfs");
}

const struct mount_entry *mount_at(const struct mount_table *t, const char *path)
{
	for (size_t i = t->n; i-- > 0;)
		if (!strcmp(t->v[i].at, path))
			return &t->v[i];
	return NULL;
}

const char *abs_below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	if (len == 1) /* "/" */
		return path + 1;
	if (strncmp(path, dir, len) || (path[len] && path[len] != '/'))
		return NULL;
	return path[len] ? path + len + 1 : path + len;
}

/* Is it a redirected directory of one of the views? */
static bool is_redirect(const struct mount_table *t, const struct mount_entry *m)
{
	for (size_t i = 0; i < t->n && strstr(m->root, "/upper/"); i++)
		if (mount_is_view(&t->v[i]) && bind_is_of_view(m->at, m->root, t->v[i].at))
			return true;
	return false;
}

const struct mount_entry *mount_around(const struct mount_table *t, const char *path)
{
	const struct mount_entry *best = NULL;

	for (size_t i = 0; i < t->n; i++)
		if (abs_below(path, t->v[i].at) &&
		    (!best || strlen(t->v[i].at) >= strlen(best->at)) &&
		    !is_redirect(t, &t->v[i]))
			best = &t->v[i];
	return best;
}

/* Is @path, or a directory above it, a mountpoint of ours? Then nothing there may be touched. */
static bool in_view(const struct mount_table *t, const char *path)
{
	const struct mount_entry *m = mount_around(t, path);

	return m && mount_is_view(m);
}

/* One pass of path_locate(): what is still to be walked, and where we are. */
struct walk {
	struct strbuf at;       /* absolute, "" is "/" */
	struct strbuf ahead;     /* "a/b/c" */
	unsigned links;
	bool may_miss;          /* any tail of the path may be missing */
};

static void step_up(struct walk *w)
{
	const char *slash = strrchr(w->at.buf, '/');

	strbuf_truncate(&w->at, slash ? (size_t)(slash - w->at.buf) : 0);
}

/* The next component turned out to be a symlink: its text is what must be walked next. */
static int follow(struct walk *w, size_t dir_len, const char *rest)
{
	cleanup_strbuf struct strbuf ahead = STRBUF_INIT;
	char text[PATH_MAX];
	ssize_t n = readlink(w->at.buf, text, sizeof(text) - 1);

	if (n < 0)
		return -errno;
	if (++w->links > LINKS_MAX)
		return -ELOOP;
	text[n] = '\0';
	strbuf_truncate(&w->at, text[0] == '/' ? 0 : dir_len);
	strbuf_addf(&ahead, "%s/%s", text, rest);
	strbuf_reset(&w->ahead);
	strbuf_adds(&w->ahead, ahead.buf);
	return strbuf_failed(&w->ahead);
}

static int step(const struct mount_table *t, struct walk *w, const char *name, const char *rest)
{
	size_t dir_len = w->at.len;
	struct stat st;

	if (!strcmp(name, ".") || !*name)
		return 0;
	if (!strcmp(name, "..")) {
		step_up(w);
		return 0;
	}
	strbuf_addf(&w->at, "/%s", name);
	if (strbuf_failed(&w->at) || w->at.len >= PATH_MAX)
		return strbuf_failed(&w->at) ? -ENOMEM : -ENAMETOOLONG;
	if (in_view(t, w->at.buf))
		return 0;
	if (lstat(w->at.buf, &st) < 0)
		return errno == ENOENT && (w->may_miss || !rest[strspn(rest, "/")]) ? 0 : -errno;
	return S_ISLNK(st.st_mode) ? follow(w, dir_len, rest) : 0;
}

static int walk_all(const struct mount_table *t, struct walk *w)
{
	while (w->ahead.len) {
		cleanup_strbuf struct strbuf rest = STRBUF_INIT;
		cleanup_strbuf struct strbuf name = STRBUF_INIT;
		size_t len = strcspn(w->ahead.buf, "/");
		int r;

		strbuf_add(&name, w->ahead.buf, len);
		strbuf_adds(&rest, w->ahead.buf + len + (w->ahead.buf[len] == '/'));
		strbuf_reset(&w->ahead);
		strbuf_adds(&w->ahead, rest.buf);
		if (strbuf_failed(&name) || strbuf_failed(&rest) || strbuf_failed(&w->ahead))
			return -ENOMEM;
		r = step(t, w, name.buf, rest.buf);
		if (r < 0)
			return r;
	}
	return 0;
}

static int locate(const struct mount_table *t, const char *path, bool may_miss, struct strbuf *ret)
{
	struct walk w = { .at = STRBUF_INIT, .ahead = STRBUF_INIT, .may_miss = may_miss };
	char cwd[PATH_MAX];
	int r = 0;

	if (path[0] != '/') {
		if (!getcwd(cwd, sizeof(cwd)))
			return -errno;
		if (cwd[0] != '/')
			return -ENOENT;
		strbuf_adds(&w.at, strcmp(cwd, "/") ? cwd : "");
	}
	strbuf_adds(&w.ahead, path);
	r = strbuf_failed(&w.at) | strbuf_failed(&w.ahead);
	r = r < 0 ? -ENOMEM : walk_all(t, &w);
	if (r == 0) {
		strbuf_reset(ret);
		strbuf_adds(ret, w.at.len ? w.at.buf : "/");
		r = strbuf_failed(ret);
	}
	strbuf_clear(&w.at);
	strbuf_clear(&w.ahead);
	return r;
}

int path_locate(const struct mount_table *t, const char *path, struct strbuf *ret)
{
	return locate(t, path, false, ret);
}

int path_locate_new(const struct mount_table *t, const char *path, struct strbuf *ret)
{
	return locate(t, path, true, ret);
}
