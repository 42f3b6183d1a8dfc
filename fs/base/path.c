/* SPDX-License-Identifier: MIT */
/* Pure path algebra: see path.h. */
#include "base/path.h"

#include <errno.h>
#include <string.h>

static bool is_dots(const char *s, size_t len)
{
	return (len == 1 && s[0] == '.') || (len == 2 && s[0] == '.' && s[1] == '.');
}

bool path_is_clean(const char *path)
{
	if (!*path)
		return true;
	for (;;) {
		size_t len = strcspn(path, "/");

		if (!len || is_dots(path, len))
			return false;
		if (!path[len])
			return true;
		path += len + 1;
	}
}

int path_normalize(const char *path, struct strbuf *ret)
{
	size_t start = ret->len;

	if (*path == '/')
		return -EINVAL;
	while (*path) {
		size_t len = strcspn(path, "/");

		if (len == 2 && path[0] == '.' && path[1] == '.') {
			size_t cut;

			if (ret->len == start)
				return -EXDEV;
			for (cut = ret->len; cut > start && ret->buf[cut - 1] != '/'; cut--)
				;
			strbuf_truncate(ret, cut > start ? cut - 1 : start);
		} else if (len && !is_dots(path, len)) {
			if (ret->len > start)
				strbuf_addc(ret, '/');
			strbuf_add(ret, path, len);
		}
		path += len;
		path += *path == '/';
	}
	return strbuf_failed(ret);
}

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

size_t path_parent_len(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) : 0;
}

const char *path_below(const char *path, const char *prefix)
{
	size_t len = strlen(prefix);

	if (!len)
		return path;
	if (strncmp(path, prefix, len))
		return NULL;
	if (path[len] == '/')
		return path + len + 1;
	return path[len] ? NULL : path + len;
}

bool path_is_below(const char *path, const char *prefix)
{
	const char *rest = path_below(path, prefix);

	return rest && *rest;
}

int path_join(struct strbuf *ret, const char *dir, const char *name)
{
	strbuf_reset(ret);
	strbuf_adds(ret, dir);
	if (*dir && *name)
		strbuf_addc(ret, '/');
	strbuf_adds(ret, name);
	return strbuf_failed(ret);
}

int path_relative(const char *from, const char *to, struct strbuf *ret)
{
	size_t common = 0;
	size_t i = 0;

	for (;; i++) {
		bool end_from = !from[i] || from[i] == '/';
		bool end_to = !to[i] || to[i] == '/';

		if (end_from && end_to)
			common = i;
		if (!from[i] || !to[i] || from[i] != to[i])
			break;
	}
	from += common;
	to += common;
	from += *from == '/';
	to += *to == '/';
	if (!*from && !*to)
		strbuf_addc(ret, '.');
	for (const char *p = from; *p;) {
		p += strcspn(p, "/");
		p += *p == '/';
		strbuf_adds(ret, *p || *to ? "../" : "..");
	}
	strbuf_adds(ret, to);
	return strbuf_failed(ret);
}

void path_unescape(char *path)
{
	char *out = path;

	for (char *s = path; *s; s++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
		    s[3] >= '0' && s[3] <= '7') {
			*out++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 3;
		} else {
			*out++ = *s;
		}
	}
	*out = '\0';
}
