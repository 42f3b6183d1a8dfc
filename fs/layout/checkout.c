/* SPDX-License-Identifier: MIT */
/* What rules ask of the checkout: see checkout.h. */
#include "layout/checkout.h"

#include "base/fd.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum { INIT_MAX_BYTES = 4 << 20 };

int checkout_open_from(int root_fd, const struct rule *r)
{
	int fd;

	if (r->from[0] != '/')
		return fd_open_beneath(root_fd, r->from, O_PATH | O_DIRECTORY, 0);
	fd = open(r->from, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static bool is_absence(int r)
{
	return r == -ENOENT || r == -ENOTDIR || r == -ELOOP;
}

/* Is there anything at @path below @dir_fd? 1, 0 or a negative errno. */
static int exists(int dir_fd, const char *path)
{
	cleanup_fd int fd = fd_open_beneath(dir_fd, path, O_PATH, 0);

	if (is_absence(fd))
		return 0;
	return fd < 0 ? fd : 1;
}

/* Does @r apply? 1, 0 or a negative errno. */
static int applies(int root_fd, const struct rule *r)
{
	int found;

	if (r->when) {
		found = exists(root_fd, r->when);
		if (found <= 0)
			return found;
	}
	if (r->unless) {
		cleanup_fd int from = checkout_open_from(root_fd, r);

		if (from < 0)
			return is_absence(from) ? 1 : from;
		found = exists(from, r->unless);
		return found < 0 ? found : !found;
	}
	return 1;
}

int checkout_settle(int root_fd, struct ruleset *rs)
{
	cleanup_free bool *keep = malloc(rs->n_rules + 1);
	size_t n = 0;

	if (!keep)
		return -ENOMEM;
	for (size_t i = 0; i < rs->n_rules; i++) {
		int r = applies(root_fd, &rs->rules[i]);

		if (r < 0)
			return r;
		keep[i] = r;
	}
	for (size_t i = 0; i < rs->n_rules; i++) {
		if (!keep[i])
			rule_clear(&rs->rules[i]);
		else if (n++ != i)
			rs->rules[n - 1] = rs->rules[i];
	}
	rs->n_rules = n;
	return 0;
}

static size_t skip_blanks(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && (s[n] == ' ' || s[n] == '\t'))
		n++;
	return n;
}

/* If @s goes on with @token after blanks, return how much that is, else 0. */
static size_t take(const char *s, size_t len, const char *token)
{
	size_t blanks = skip_blanks(s, len);
	size_t n = strlen(token);

	return len - blanks >= n && !memcmp(s + blanks, token, n) ? blanks + n : 0;
}

/* One line: "spec_path(__path__", blanks allowed where Python allows them. */
static bool line_hijacks(const char *line, size_t len)
{
	static const char *const tokens[] = { "spec_path", "(", "__path__" };

	for (size_t i = 0; i < ARRAY_SIZE(tokens); i++) {
		size_t n = take(line, len, tokens[i]);

		if (!n)
			return false;
		line += n;
		len -= n;
	}
	return take(line, len, ")") || take(line, len, ",");
}

bool checkout_text_hijacks(const char *text, size_t len)
{
	while (len) {
		const char *nl = memchr(text, '\n', len);
		size_t n = nl ? (size_t)(nl - text) : len;

		if (line_hijacks(text, n))
			return true;
		n += nl != NULL;
		text += n;
		len -= n;
	}
	return false;
}

bool checkout_hijacks(int root_fd, const char *dir)
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	cleanup_fd int fd = -1;

	if (path_join(&path, dir, "__init__.py") < 0)
		return false;
	fd = fd_open_beneath(root_fd, path.buf, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	if (fd < 0 || fd_read_all(fd, INIT_MAX_BYTES, &text) < 0)
		return false;
	return checkout_text_hijacks(text.buf, text.len);
}
