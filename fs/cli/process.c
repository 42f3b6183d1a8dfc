/* SPDX-License-Identifier: MIT */
/* Other processes: see process.h. Source of the forms: proc(5). */
#include "cli/process.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/strv.h"
#include "cli/mounttab.h"

enum { PROC_FILE_MAX = 16 << 20, USERS_TOLD = 5, FIELD_START = 22 };

static int read_proc(pid_t pid, const char *name, struct strbuf *ret)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, name);
	return fd_read_file(AT_FDCWD, path, PROC_FILE_MAX, ret);
}

/* State letter and start time out of /proc/PID/stat; the name in it may hold anything. */
static bool read_stat(pid_t pid, char *ret_state, uint64_t *ret_start)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;
	const char *p;

	if (pid <= 0 || read_proc(pid, "stat", &sb) < 0)
		return false;
	p = strrchr(sb.buf, ')');
	if (!p || p[1] != ' ')
		return false;
	p += 2;
	*ret_state = *p;
	for (int field = 3; field < FIELD_START; field++) {
		p = strchr(p, ' ');
		if (!p)
			return false;
		p++;
	}
	*ret_start = strtoull(p, NULL, 10);
	return true;
}

uint64_t process_start(pid_t pid)
{
	uint64_t start;
	char state;

	return read_stat(pid, &state, &start) ? start : 0;
}

/* Is SIGKILL on its way to it? "ShdPnd:\t0000000000000100" */
static bool is_killed(pid_t pid)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;
	static const char *const keys[] = { "\nShdPnd:", "\nSigPnd:" };

	if (read_proc(pid, "status", &sb) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const char *p = strstr(sb.buf, keys[i]);

		if (p && (strtoull(p + strlen(keys[i]), NULL, 16) >> (9 - 1) & 1))
			return true;
	}
	return false;
}

/* A zombie whose other threads are gone has closed everything: only its number is left. */
static bool has_other_threads(pid_t pid)
{
	cleanup_dir DIR *dir = NULL;
	char path[64];
	unsigned n = 0;

	snprintf(path, sizeof(path), "/proc/%ld/task", (long)pid);
	dir = opendir(path);
	if (!dir)
		return false;
	for (struct dirent *e = readdir(dir); e; e = readdir(dir))
		n += e->d_name[0] != '.';
	return n > 1;
}

enum process_state process_state(pid_t pid, uint64_t start)
{
	uint64_t now;
	char state;

	if (!read_stat(pid, &state, &now) || now != start || state == 'X')
		return PROCESS_GONE;
	if (state == 'Z')
		return has_other_threads(pid) ? PROCESS_DYING : PROCESS_GONE;
	return is_killed(pid) ? PROCESS_DYING : PROCESS_RUNS;
}

bool process_wait(pid_t pid, uint64_t start, int limit_ms)
{
	struct timespec pause = { .tv_nsec = 2000000 };

	for (int waited = 0; process_state(pid, start) != PROCESS_GONE; waited += 2) {
		if (waited >= limit_ms)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

pid_t process_next(DIR *dir)
{
	for (struct dirent *e = readdir(dir); e; e = readdir(dir))
		if (isdigit((unsigned char)e->d_name[0]))
			return (pid_t)strtol(e->d_name, NULL, 10);
	return 0;
}

void process_name(pid_t pid, struct strbuf *ret)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;

	if (read_proc(pid, "comm", &sb) < 0)
		return;
	strbuf_add(ret, sb.buf, strcspn(sb.buf, "\n"));
}

static bool link_below(pid_t pid, const char *name, const char *at)
{
	char path[64 + NAME_MAX], text[PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, name);
	n = readlink(path, text, sizeof(text) - 1);
	if (n <= 0 || text[0] != '/')
		return false;
	text[n] = '\0';
	return abs_below(text, at) != NULL;
}

static bool fd_below(pid_t pid, const char *at)
{
	cleanup_dir DIR *dir = NULL;
	char path[64], name[NAME_MAX + 8];

	snprintf(path, sizeof(path), "/proc/%ld/fd", (long)pid);
	dir = opendir(path);
	if (!dir)
		return false;
	for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
		snprintf(name, sizeof(name), "fd/%s", e->d_name);
		if (e->d_name[0] != '.' && link_below(pid, name, at))
			return true;
	}
	return false;
}

static bool map_below(pid_t pid, const char *at)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;
	char *save = NULL;

	if (read_proc(pid, "maps", &sb) < 0)
		return false;
	for (char *l = strtok_r(sb.buf, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		const char *path = strchr(l, '/');

		if (path && abs_below(path, at))
			return true;
	}
	return false;
}

/* What of the mount the process has, in words; NULL: nothing. */
static const char *use_of(pid_t pid, const char *at)
{
	if (link_below(pid, "cwd", at))
		return "working directory";
	if (link_below(pid, "root", at))
		return "root directory";
	if (fd_below(pid, at))
		return "open file";
	if (link_below(pid, "exe", at) || map_below(pid, at))
		return "mapped file";
	return NULL;
}

unsigned process_list_users(const char *at, pid_t but, struct strbuf *ret)
{
	cleanup_dir DIR *dir = opendir("/proc");
	unsigned n = 0;
	pid_t pid;

	while (dir && (pid = process_next(dir)) > 0) {
		const char *use = pid == but ? NULL : use_of(pid, at);

		if (!use || n++ >= USERS_TOLD)
			continue;
		strbuf_addf(ret, "%s%ld (", n > 1 ? ", " : "", (long)pid);
		process_name(pid, ret);
		strbuf_addf(ret, ", %s)", use);
	}
	if (n > USERS_TOLD)
		strbuf_addf(ret, " and %u more", n - USERS_TOLD);
	return n;
}

static bool has_mounted(pid_t pid, unsigned major, unsigned minor)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;
	cleanup_mount_table struct mount_table t = { 0 };

	if (read_proc(pid, "mountinfo", &sb) < 0 || mount_table_parse(sb.buf, &t) < 0)
		return false;
	for (size_t i = 0; i < t.n; i++)
		if (t.v[i].major == major && t.v[i].minor == minor)
			return true;
	return false;
}

unsigned process_list_namespaces(unsigned major, unsigned minor, struct strbuf *ret)
{
	cleanup_strv struct strv seen = STRV_INIT;
	cleanup_dir DIR *dir = opendir("/proc");
	unsigned n = 0;
	pid_t pid;

	while (dir && (pid = process_next(dir)) > 0) {
		char path[64], ns[64];
		ssize_t len;

		snprintf(path, sizeof(path), "/proc/%ld/ns/mnt", (long)pid);
		len = readlink(path, ns, sizeof(ns) - 1);
		if (len <= 0)
			continue;
		ns[len] = '\0';
		if (strv_has(&seen, ns) || strv_add(&seen, ns) < 0)
			continue;
		if (!has_mounted(pid, major, minor) || n++ >= USERS_TOLD)
			continue;
		strbuf_addf(ret, "%s%ld (", n > 1 ? ", " : "", (long)pid);
		process_name(pid, ret);
		strbuf_adds(ret, ")");
	}
	if (n > USERS_TOLD)
		strbuf_addf(ret, " and %u more", n - USERS_TOLD);
	return n;
}

int process_find_link(pid_t pid, const char *suffix, unsigned n, struct strbuf *ret)
{
	cleanup_dir DIR *dir = NULL;
	size_t suffix_len = strlen(suffix);
	char path[64 + NAME_MAX], text[PATH_MAX];

	snprintf(path, sizeof(path), "/proc/%ld/fd", (long)pid);
	dir = opendir(path);
	if (!dir)
		return errno == EACCES ? -EACCES : -ENOENT;
	for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
		ssize_t len;

		snprintf(path, sizeof(path), "/proc/%ld/fd/%s", (long)pid, e->d_name);
		len = readlink(path, text, sizeof(text));
		if (len < (ssize_t)suffix_len || len == sizeof(text) ||
		    memcmp(text + len - suffix_len, suffix, suffix_len) || n-- > 0)
			continue;
		strbuf_reset(ret);
		strbuf_add(ret, text, (size_t)len);
		return strbuf_failed(ret);
	}
	return -ENOENT;
}
