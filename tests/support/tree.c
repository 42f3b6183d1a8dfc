/* SPDX-License-Identifier: MIT */
/* Trees for tests: see tree.h. */
#include "tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cmocka.h>

static char *join(const char *root, const char *path)
{
	size_t size = strlen(root) + 1 + strlen(path) + 1;
	char *s = malloc(size);

	assert_non_null(s);
	(void)snprintf(s, size, "%s/%s", root, path); /* it fits */
	return s;
}

void tree_use_memory(void)
{
	char dir[] = "/dev/shm/specfs-probe-XXXXXX";

	if (getenv("TMPDIR") || !mkdtemp(dir))
		return;
	if (!setxattr(dir, "user.specfs.probe", "y", 1, 0))
		(void)setenv("TMPDIR", "/dev/shm", 1); /* else it only takes longer */
	(void)rmdir(dir);
}

char *tree_tmp(void)
{
	const char *base = getenv("TMPDIR");
	char *path = join(base ? base : "/tmp", "specfs-test-XXXXXX");

	assert_non_null(mkdtemp(path));
	return path;
}

static void make_parents(char *path)
{
	for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		(void)mkdir(path, 0755); /* an existing one is fine */
		*p = '/';
	}
}

static void make_file(const char *path, const char *content)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(content, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void make_one(const char *root, const char *what)
{
	char *path = join(root, what);
	char *name = path + strlen(root) + 1;
	char *link = strstr(name, "->");
	char *content = strchr(name, '=');

	if (link && (!content || link < content))
		*link = '\0';
	else if (content)
		*content = '\0';
	make_parents(path);
	if (link && !*link) {
		assert_int_equal(symlink(link + 2, path), 0);
	} else if (content) {
		make_file(path, content + 1);
	} else {
		assert_int_equal(path[strlen(path) - 1], '/');
	}
	free(path);
}

void tree_make(const char *root, ...)
{
	const char *what;
	va_list ap;

	va_start(ap, root);
	while ((what = va_arg(ap, const char *)))
		make_one(root, what);
	va_end(ap);
}

char *tree_content(const char *root, const char *path)
{
	char *full = join(root, path);
	FILE *f = fopen(full, "r");
	char *text = NULL;
	size_t cap = 0;

	free(full);
	assert_non_null(f);
	if (getdelim(&text, &cap, EOF, f) < 0) {
		free(text);
		text = strdup("");
	}
	fclose(f);
	assert_non_null(text);
	return text;
}

bool tree_exists(const char *root, const char *path)
{
	char *full = join(root, path);
	struct stat st;
	bool there = lstat(full, &st) == 0;

	free(full);
	return there;
}

/* By descriptors: there may be paths longer than PATH_MAX. */
static void remove_below(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct dirent *de;
	DIR *dir;

	if (fd < 0) {
		assert_int_equal(unlinkat(dir_fd, name, 0), 0);
		return;
	}
	dir = fdopendir(fd);
	assert_non_null(dir);
	while ((de = readdir(dir)))
		if (strcmp(de->d_name, ".") && strcmp(de->d_name, ".."))
			remove_below(fd, de->d_name);
	closedir(dir);
	assert_int_equal(unlinkat(dir_fd, name, AT_REMOVEDIR), 0);
}

void tree_remove(const char *path)
{
	remove_below(AT_FDCWD, path);
}
