/* SPDX-License-Identifier: MIT */
/* Paths by pattern: see dirglob.h. A component without glob characters is looked up, not listed. */
#include "base/dirglob.h"

#include "base/fd.h"
#include "base/glob.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

struct search {
	int root_fd;
	bool dirs_only;
	struct strv *hits;
};

const char *dirglob_check(const char *pattern)
{
	size_t len = strlen(pattern);
	char first[2] = { pattern[0], '\0' };

	if (!len || (len == 1 && strchr("/.", first[0])))
		return "a path below the checkout";
	if (first[0] == '/')
		return "a path without a slash in front";
	if (first[0] == '!')
		return "a plain pattern, not one that negates";
	while (len && pattern[len - 1] == '/')
		len--;
	for (size_t pos = 0; pos < len;) {
		size_t n = strcspn(pattern + pos, "/");

		if (!n || n > NAME_MAX)
			return "components of 1 to 255 bytes";
		if (n <= 2 && !strncmp(pattern + pos, "..", n))
			return "a path without '.' and '..'";
		if (n == 2 && !strncmp(pattern + pos, "**", n))
			return "a path without '**'";
		pos += n + 1;
	}
	return NULL;
}

static bool type_fits(const struct search *s, int dir_fd, const char *name)
{
	struct stat st;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	return !s->dirs_only || S_ISDIR(st.st_mode);
}

static int search_dir(const struct search *s, const char *dir, const char *pattern);

/* One name fits the first component of the pattern; @rest is what follows. */
static int found(const struct search *s, int dir_fd, const char *dir, const char *name,
		 const char *rest)
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	int r = path_join(&path, dir, name);

	if (r < 0)
		return r;
	if (*rest)
		return search_dir(s, path.buf, rest);
	return type_fits(s, dir_fd, name) ? strv_add(s->hits, path.buf) : 0;
}

static int search_listing(const struct search *s, int dir_fd, const char *dir, const char *glob,
			  const char *rest)
{
	cleanup_dir DIR *listing = NULL;
	struct dirent *de;
	int fd = fd_reopen(dir_fd, O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		return 0;
	listing = fdopendir(fd);
	if (!listing) {
		close(fd);
		return -ENOMEM;
	}
	while ((de = readdir(listing))) {
		int r;

		if (!strcmp(de->d_name, ".") || !strcmp(de->d_name, "..") ||
		    !glob_match_one(glob, de->d_name, true))
			continue;
		r = found(s, dir_fd, dir, de->d_name, rest);
		if (r < 0)
			return r;
	}
	return 0;
}

static int search_dir(const struct search *s, const char *dir, const char *pattern)
{
	cleanup_fd int fd = fd_open_beneath(s->root_fd, dir, O_PATH | O_DIRECTORY, 0);
	size_t len = strcspn(pattern, "/");
	const char *rest = pattern + len + strspn(pattern + len, "/");
	char component[NAME_MAX + 1];

	if (fd < 0 || len > NAME_MAX)
		return 0;
	memcpy(component, pattern, len);
	component[len] = '\0';
	if (strpbrk(component, "*?[\\"))
		return search_listing(s, fd, dir, component, rest);
	return found(s, fd, dir, component, rest);
}

int dirglob(int root_fd, const char *pattern, struct strv *ret)
{
	cleanup_strv struct strv hits = STRV_INIT;
	size_t len = strlen(pattern);
	struct search s = {
		.root_fd = root_fd,
		.dirs_only = len && pattern[len - 1] == '/',
		.hits = &hits,
	};
	int r = search_dir(&s, "", pattern);

	if (r < 0)
		return r;
	strv_sort(&hits);
	for (size_t i = 0; i < hits.n; i++) {
		r = strv_add(ret, hits.v[i]);
		if (r < 0)
			return r;
	}
	return 0;
}
