/* SPDX-License-Identifier: MIT */
/* The record of a specialization's origin: see base.h. */
#include "layer/base.h"

#include <errno.h>
#include <fcntl.h>
#include <git2.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/strv.h"
#include "layer/hide.h"
#include "layer/workdir.h"

enum {
	BASE_MAX = 16 << 20,
	HASH_MAX = 64 << 20, /* half a second; nobody merges what is bigger by lines */
};

static pthread_mutex_t base_lock = PTHREAD_MUTEX_INITIALIZER; /* one writer of any list */

static int blob_id(int fd, char ret[GIT_OID_HEXSZ + 1])
{
	char path[32];
	git_oid id;
	int r;

	if (git_libgit2_init() < 0)
		return -EIO;
	r = git_odb_hashfile(&id, fd_proc_path(fd, path), GIT_OBJECT_BLOB);
	if (!r)
		git_oid_tostr(ret, GIT_OID_HEXSZ + 1, &id);
	git_libgit2_shutdown();
	return r < 0 ? -EIO : 0;
}

/* Take the lines over, but the one about @rel. */
static int other_lines(char *text, const char *rel, struct strv *ret)
{
	size_t len = strlen(rel);
	char *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (!strncmp(line, rel, len) && line[len] == '\t')
			continue;
		if (strv_add(ret, line) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Put the new list together; *@id may be empty. */
static int with_line(char *old, const char *rel, const char *id, struct strbuf *ret)
{
	cleanup_strbuf struct strbuf line = STRBUF_INIT;
	cleanup_strv struct strv lines = STRV_INIT;

	strbuf_addf(&line, "%s\t%s", rel, id);
	if (strbuf_failed(&line) < 0 || other_lines(old, rel, &lines) < 0 ||
	    (*id && strv_add(&lines, line.buf) < 0))
		return -ENOMEM;
	strv_sort(&lines);
	for (size_t i = 0; i < lines.n; i++)
		strbuf_addf(ret, "%s\n", lines.v[i]);
	return strbuf_failed(ret);
}

static int replace_list(int dir, const char *rel, const char *id)
{
	cleanup_strbuf struct strbuf old = STRBUF_INIT;
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	char tmp[WORKDIR_NAME_MAX];
	int r = fd_read_file(dir, BASE_FILE, BASE_MAX, &old);

	if (r == -ENOENT && !*id)
		return 0; /* no line to take out */
	if (r == -ENOENT)
		r = 0;
	if (!r)
		r = with_line(old.buf, rel, id, &text);
	if (r < 0)
		return r;
	workdir_list_tmp(BASE_FILE, tmp);
	(void)unlinkat(dir, tmp, 0); /* one that a crash has left; usually there is none */
	return fd_replace_file(dir, BASE_FILE, tmp, 0644, text.buf, text.len);
}

int base_record(const struct layer *l, const char *path, int trunk_fd)
{
	cleanup_fd int dir = -1;
	char id[GIT_OID_HEXSZ + 1] = ""; /* of what is too big: none */
	const char *rel;
	struct stat st;
	int r;

	if (!l->rule || rule_place(l->rule, path, &rel) != RULE_INSIDE || !*rel ||
	    strpbrk(rel, "\n\t"))
		return 0;
	r = fstat(trunk_fd, &st) < 0 ? -errno : 0;
	if (!r && st.st_size <= HASH_MAX)
		r = blob_id(trunk_fd, id);
	if (r < 0)
		return r;
	dir = fd_open_beneath(l->base_fd, l->dir, O_PATH | O_DIRECTORY, 0);
	if (dir < 0)
		return dir;
	pthread_mutex_lock(&base_lock);
	r = replace_list(dir, rel, id);
	pthread_mutex_unlock(&base_lock);
	return r;
}

int base_record_new(const struct stack *st, unsigned to, const char *path)
{
	const struct layer *trunk = &st->layers[st->n - 1];
	cleanup_fd int fd = -1;
	struct stat s;

	if (st->layers[to].kind != LAYER_SPEC || trunk->kind != LAYER_TRUNK)
		return 0;
	fd = layer_open(trunk, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	if (fd < 0 || fstat(fd, &s) < 0 || !S_ISREG(s.st_mode))
		return 0; /* trunk has no such file */
	return base_record(&st->layers[to], path, fd);
}
