/* SPDX-License-Identifier: MIT */
/*
 * May a view be mounted there? The mountpoint is looked at only where nothing is mounted; a mount
 * that a dead daemon left is cleared away. For plan_make(), see plan.h.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/path.h"
#include "cli/detach.h"
#include "cli/plan.h"
#include "cli/report.h"

enum { MODULE_MAX_BYTES = 1 << 20 };

int plan_check_layer(const struct plan *p, const char *what, const char *dir)
{
	const char *at = p->mountpoint.buf;

	if (!strcmp(at, dir))
		return fault("mountpoint '%s' is the %s itself: the view would hide what it is "
			     "made of", at, what);
	if (abs_below(at, dir))
		return fault("mountpoint '%s' is inside the %s '%s': the view would contain itself",
			     at, what, dir);
	if (abs_below(dir, at))
		return fault("the %s '%s' is inside mountpoint '%s': the view would hide it", what,
			     dir, at);
	return EXIT_OK;
}

static int check_layers(const struct plan *p)
{
	int r = plan_check_layer(p, "checkout", p->root.buf);

	for (size_t i = 0; i < p->overlays.n && !r; i++)
		r = plan_check_layer(p, "layer", p->overlays.v[i]);
	return r;
}

/* Returns EXIT_OK if nothing is mounted there any more. */
static int clear_view(const struct mount_entry *m)
{
	cleanup_serving struct serving s = { 0 };
	int r;

	serving_find(m, &s);
	if (s.state == SERVING_ALIVE && s.pid)
		return fault("'%s' is a mounted view already: of '%s', by process %ld", m->at,
			     m->source, (long)s.pid);
	if (!serving_is_lost(&s))
		return fault("'%s' is a mounted view already: of '%s' (%s)", m->at, m->source,
			     serving_word(&s));
	r = detach_lost(m, &s);
	if (r < 0 && r != -ETIMEDOUT) /* a process that does not end may still hold scratch */
		return fault("'%s' was left by a dead daemon and cannot be cleared away: %s", m->at,
			     strerror(-r));
	note("recovered '%s': the daemon that served it had died", m->at);
	return EXIT_OK;
}

/* Several may lie on top of each other. */
static int clear_views(const struct mount_table *t, const char *at)
{
	cleanup_mount_table struct mount_table now = { 0 };
	const struct mount_entry *m = mount_at(t, at);

	while (m) {
		int r;

		if (!mount_is_view(m))
			return fault("mountpoint '%s' is in use: '%s' (%s) is mounted there", at,
				     m->source, m->type);
		r = clear_view(m);
		if (r)
			return r;
		mount_table_clear(&now);
		r = mount_table_read(&now);
		if (r < 0)
			return fault("cannot read the mount table: %s", strerror(-r));
		m = mount_at(&now, at);
	}
	return EXIT_OK;
}

/* Inside another view, dead or alive, nothing of ours can be mounted. */
static int check_around(const struct mount_table *t, const char *at)
{
	const struct mount_entry *m = mount_around(t, at);

	if (m && mount_is_view(m) && strcmp(m->at, at))
		return fault("mountpoint '%s' lies in the mounted view '%s'", at, m->at);
	return EXIT_OK;
}

static int check_empty(const char *at)
{
	cleanup_dir DIR *dir = opendir(at);

	if (!dir)
		return fault("mountpoint '%s': %s", at, strerror(errno));
	for (struct dirent *e = readdir(dir); e; e = readdir(dir))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			return fault("mountpoint '%s' is not empty: the view would hide what is in "
				     "it", at);
	return EXIT_OK;
}

static int check_parent(const char *at)
{
	cleanup_free char *parent = strdup(at);
	char *slash = parent ? strrchr(parent, '/') : NULL;

	if (!slash)
		return fault("out of memory");
	slash[slash == parent] = '\0';
	if (access(parent, W_OK | X_OK) < 0)
		return fault("mountpoint '%s' does not exist and cannot be made: '%s': %s", at,
			     parent, strerror(errno));
	return EXIT_OK;
}

/* The trunk's module of hooks, if it looks for them from the first "/triton" of its path. */
static const char *searching_module(const struct plan *p)
{
	static const char *const modules[] = {
		"python/triton/_flagtree_spec.py",
		"python/triton/flagtree_spec.py",
	};
	cleanup_fd int root = open(p->root.buf, O_PATH | O_DIRECTORY | O_CLOEXEC);

	for (size_t i = 0; root >= 0 && i < ARRAY_SIZE(modules); i++) {
		cleanup_strbuf struct strbuf text = STRBUF_INIT;

		if (fd_read_file(root, modules[i], MODULE_MAX_BYTES, &text) == 0 &&
		    (strstr(text.buf, "\"/triton") || strstr(text.buf, "'/triton")))
			return modules[i];
	}
	return NULL;
}

void plan_tell_path(const struct plan *p)
{
	const char *hit = strstr(p->mountpoint.buf, "/triton");
	const char *module = hit && !p->quiet ? searching_module(p) : NULL;

	if (module)
		note("in '%s' the trunk's %s takes '%.*s' for its package, for it looks for the "
		     "first '/triton', and finds no hooks: name another mountpoint",
		     p->mountpoint.buf, path_base(module),
		     (int)(hit - p->mountpoint.buf) + (int)strlen("/triton"), p->mountpoint.buf);
}

int plan_mountpoint(const struct mount_table *t, const struct plan *p)
{
	const char *at = p->mountpoint.buf;
	struct stat st;
	int r = check_layers(p);

	r = r ? r : check_around(t, at);
	r = r ? r : clear_views(t, at);
	if (r)
		return r;
	if (lstat(at, &st) < 0) {
		if (errno != ENOENT)
			return fault("mountpoint '%s': %s", at, strerror(errno));
		return check_parent(at);
	}
	if (!S_ISDIR(st.st_mode))
		return fault("mountpoint '%s' is not a directory", at);
	return check_empty(at);
}
