/* SPDX-License-Identifier: MIT */
/* Which checkout is meant: see place.h. */
#include "cli/place.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int place_locate(const struct mount_table *t, const char *what, const char *path, struct diag *d,
		 struct strbuf *ret)
{
	int r = path_locate(t, path, ret);

	if (r < 0)
		return diag_add(d, r, NULL, 0, "%s '%s': %s", what, path, strerror(-r));
	return 0;
}

static bool has_entry(const char *dir, const char *name)
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT;

	strbuf_addf(&path, "%s/%s", strcmp(dir, "/") ? dir : "", name);
	return !strbuf_failed(&path) && access(path.buf, F_OK) == 0;
}

/* Cuts @dir down to the nearest directory with the signs of a checkout. */
static bool climb(struct strbuf *dir)
{
	cleanup_strbuf struct strbuf up = STRBUF_INIT;

	strbuf_adds(&up, dir->buf);
	if (strbuf_failed(&up) < 0)
		return false;
	while (!has_entry(up.buf, ".git") && !has_entry(up.buf, ".specfs.ini")) {
		const char *slash = strrchr(up.buf, '/');

		if (up.len <= 1)
			return false;
		strbuf_truncate(&up, slash == up.buf ? 1 : (size_t)(slash - up.buf));
	}
	strbuf_truncate(dir, up.len);
	return true;
}

/* If @at lies in a view, what matters is the checkout under it. */
static bool leave_view(const struct mount_table *t, struct strbuf *at)
{
	const struct mount_entry *m = mount_around(t, at->buf);

	if (!m || !mount_is_view(m))
		return false;
	strbuf_reset(at);
	strbuf_adds(at, m->source);
	return true;
}

int place_root(const struct mount_table *t, const char *given, struct diag *d, struct strbuf *ret)
{
	cleanup_strbuf struct strbuf at = STRBUF_INIT;
	struct stat st;
	int r = place_locate(t, given ? "checkout" : "working directory", given ? given : ".", d,
			     &at);

	if (r < 0)
		return r;
	if (!leave_view(t, &at) && !given && !climb(&at))
		return diag_add(d, -ENOENT, NULL, 0,
				"there is no checkout around '%s' (no .git, no .specfs.ini): "
				"name one", at.buf);
	if (strbuf_failed(&at))
		return -ENOMEM;
	if (stat(at.buf, &st) < 0)
		return diag_add(d, -errno, NULL, 0, "checkout '%s': %s", at.buf, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return diag_add(d, -ENOTDIR, NULL, 0, "checkout '%s' is not a directory", at.buf);
	strbuf_reset(ret);
	strbuf_adds(ret, at.buf);
	return strbuf_failed(ret);
}
