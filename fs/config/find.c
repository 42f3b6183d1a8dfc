/* SPDX-License-Identifier: MIT */
/*
 * Finding a profile: by name, by file, or by what the checkout looks like. The declarations are in
 * profile.h.
 */
#include "base/dirglob.h"
#include "base/fd.h"
#include "base/glob.h"
#include "base/path.h"
#include "config/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define OWN_PROFILE ".specfs.ini"
#define FALLBACK    "generic"

/* The directories of shipped profiles, the first one's files before those of the others. */
static int list_dirs(struct strv *ret)
{
	const char *env = getenv("SPECFS_PROFILE_DIR");
	const char *const dirs[] = { env ? env : "", SPECFS_PROFILES_INSTALLED,
				     SPECFS_PROFILES_SOURCE };

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		if (*dirs[i] && strv_add(ret, dirs[i]) < 0)
			return -ENOMEM;
	return 0;
}

/* Append the names of the profiles in @dir that @ret has not got yet. */
static int list_names(const char *dir, struct strv *ret)
{
	cleanup_fd int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_strv struct strv files = STRV_INIT;
	int r = fd < 0 ? 0 : dirglob(fd, "*.ini", &files);

	for (size_t i = 0; r >= 0 && i < files.n; i++) {
		files.v[i][strlen(files.v[i]) - strlen(".ini")] = '\0';
		if (*files.v[i] && !strv_has(ret, files.v[i]))
			r = strv_add(ret, files.v[i]);
	}
	return r;
}

/* The file of shipped profile @name, or -ENOENT. */
static int shipped_file(const struct strv *dirs, const char *name, struct strbuf *ret)
{
	for (size_t i = 0; i < dirs->n; i++) {
		strbuf_reset(ret);
		strbuf_addf(ret, "%s/%s.ini", dirs->v[i], name);
		if (strbuf_failed(ret))
			return -ENOMEM;
		if (!access(ret->buf, F_OK))
			return 0;
	}
	return -ENOENT;
}

static int load_shipped(const struct strv *dirs, const char *name, struct diag *d,
			struct profile **ret)
{
	cleanup_strbuf struct strbuf file = STRBUF_INIT;
	cleanup_strbuf struct strbuf known = STRBUF_INIT;
	cleanup_strv struct strv names = STRV_INIT;
	int r = shipped_file(dirs, name, &file);

	if (!r)
		return profile_load(file.buf, d, ret);
	if (r != -ENOENT)
		return r;
	for (size_t i = 0; i < dirs->n; i++) {
		r = list_names(dirs->v[i], &names);
		if (r < 0)
			return r;
	}
	strv_sort(&names);
	for (size_t i = 0; i < names.n; i++)
		strbuf_addf(&known, "%s%s", i ? ", " : "", names.v[i]);
	return diag_add(d, -ENOENT, NULL, 0,
			"no profile '%s', expected %s or the path of an INI file", name,
			names.n ? known.buf : "one of none that are installed");
}

/* What a directory of the checkout holds. */
enum content {
	CONTENT_NONE,       /* no file: somebody may just have made it */
	CONTENT_LEFT_OVERS, /* only what the profile hides: git left it, and removed the rest */
	CONTENT_FILES,
};

/* Returns an enum content, or a negative errno; what cannot be read is taken for files. */
static int look_into(int root_fd, const char *path, const struct strv *hide)
{
	cleanup_fd int fd = fd_open_beneath(root_fd, path, O_RDONLY | O_DIRECTORY, 0);
	cleanup_dir DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	int most = CONTENT_NONE;

	if (!d)
		return CONTENT_FILES;
	(void)steal_fd(&fd); /* the stream's now */
	while (most < CONTENT_FILES && (e = readdir(d))) {
		cleanup_strbuf struct strbuf below = STRBUF_INIT;
		int r = CONTENT_FILES;

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (path_join(&below, path, e->d_name) < 0)
			return -ENOMEM;
		if (glob_covers(hide, below.buf, e->d_type == DT_DIR))
			r = CONTENT_LEFT_OVERS;
		else if (e->d_type == DT_DIR)
			r = look_into(root_fd, below.buf, hide);
		if (r < 0)
			return r;
		most = r > most ? r : most;
	}
	return most;
}

static bool is_directory(int root_fd, const char *path)
{
	cleanup_fd int fd = fd_open_beneath(root_fd, path, O_PATH | O_DIRECTORY, 0);

	return fd >= 0;
}

/* Set @ret to the first path that makes @p fit the checkout; "" if it does not. A directory that
 * holds left-overs and nothing else is none. */
static int first_hit(int root_fd, const struct profile *p, struct strbuf *ret)
{
	strbuf_reset(ret);
	for (size_t i = 0; i < p->detect.n && !ret->len; i++) {
		cleanup_strv struct strv hits = STRV_INIT;
		int r = dirglob(root_fd, p->detect.v[i], &hits);

		if (r < 0)
			return r;
		for (size_t k = 0; k < hits.n && r >= 0 && !ret->len; k++) {
			r = is_directory(root_fd, hits.v[k])
				    ? look_into(root_fd, hits.v[k], &p->hide)
				    : CONTENT_FILES;
			if (r >= 0 && r != CONTENT_LEFT_OVERS)
				strbuf_adds(ret, hits.v[k]);
		}
		if (r < 0)
			return r;
	}
	return strbuf_failed(ret);
}

/*
 * Go through the shipped profiles in the order of their names. The first that fits is taken; the
 * reason mentions others that fit as well.
 */
static int detect(int root_fd, const struct strv *dirs, struct diag *d, struct profile **ret,
		  struct strbuf *why)
{
	cleanup_profile struct profile *found = NULL;
	cleanup_strv struct strv names = STRV_INIT;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < dirs->n; i++)
		r = list_names(dirs->v[i], &names);
	strv_sort(&names);
	for (size_t i = 0; r >= 0 && i < names.n; i++) {
		cleanup_profile struct profile *p = NULL;
		cleanup_strbuf struct strbuf hit = STRBUF_INIT;

		r = load_shipped(dirs, names.v[i], d, &p);
		if (!r)
			r = first_hit(root_fd, p, &hit);
		if (r < 0 || !hit.len)
			continue;
		if (found) {
			strbuf_addf(why, "; '%s' would fit as well, because %s exists", p->name,
				    hit.buf);
			continue;
		}
		strbuf_addf(why, "profile '%s' because %s exists", p->name, hit.buf);
		found = steal_ptr(&p);
	}
	if (r < 0)
		return r;
	if (found) {
		*ret = steal_ptr(&found);
		return 0;
	}
	strbuf_adds(why, "profile '" FALLBACK "' because no other one fits this checkout");
	return load_shipped(dirs, FALLBACK, d, ret);
}

int profile_own_path(const char *root, struct strbuf *ret)
{
	strbuf_addf(ret, "%s/" OWN_PROFILE, root);
	return strbuf_failed(ret);
}

static bool is_file_name(const char *which)
{
	size_t len = strlen(which);

	return strchr(which, '/') || (len > 4 && !strcmp(which + len - 4, ".ini"));
}

/* As profile_find(), the reason appended to @why. */
static int find(const char *root, const char *which, struct diag *d, struct profile **ret,
		struct strbuf *why)
{
	cleanup_strv struct strv dirs = STRV_INIT;
	cleanup_strbuf struct strbuf own = STRBUF_INIT;
	cleanup_fd int root_fd = -1;
	int r = list_dirs(&dirs);

	if (r < 0)
		return r;
	if (which && is_file_name(which)) {
		r = profile_load(which, d, ret);
		if (!r)
			strbuf_addf(why, "profile '%s' because '%s' was asked for", (*ret)->name,
				    which);
		return r;
	}
	if (which) {
		r = load_shipped(&dirs, which, d, ret);
		if (!r)
			strbuf_addf(why, "profile '%s' because it was asked for", (*ret)->name);
		return r;
	}
	root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root_fd < 0)
		return diag_add(d, -errno, root, 0, "cannot open the checkout: %s",
				strerror(errno));
	if (!faccessat(root_fd, OWN_PROFILE, F_OK, 0)) {
		r = profile_own_path(root, &own);
		if (!r)
			r = profile_load(own.buf, d, ret);
		if (!r)
			strbuf_addf(why,
				    "profile '%s' because the checkout has its own " OWN_PROFILE,
				    (*ret)->name);
		return r;
	}
	return detect(root_fd, &dirs, d, ret, why);
}

int profile_find(const char *root, const char *which, struct diag *d, struct profile **ret,
		 char **ret_why)
{
	cleanup_strbuf struct strbuf why = STRBUF_INIT;
	cleanup_profile struct profile *p = NULL;
	char *text;
	int r = find(root, which, d, &p, &why);

	if (r < 0)
		return r;
	text = strbuf_detach(&why);
	if (!text)
		return -ENOMEM;
	*ret_why = text;
	*ret = steal_ptr(&p);
	return 0;
}
