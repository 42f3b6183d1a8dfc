/* SPDX-License-Identifier: MIT */
/* Callers: see caller.h. */
#include "ops/caller.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/strbuf.h"

enum { STATUS_MAX = 1 << 20 }; /* 65536 groups of ten digits, and the rest */

/* Is @gid in the line of groups that @p begins? */
static bool has_group(const char *p, gid_t gid)
{
	for (;;) {
		char *end;
		unsigned long g = strtoul(p, &end, 10);

		if (end == p)
			return false;
		if (g == gid)
			return true;
		p = end + strspn(end, " ");
		if (*p == '\n')
			return false;
	}
}

bool caller_is_in_group(const struct caller *c, gid_t gid)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;
	static const char key[] = "\nGroups:\t";
	const char *line;
	char path[32];

	if (c->gid == gid)
		return true;
	if (c->pid <= 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%ld/status", (long)c->pid);
	if (fd_read_file(AT_FDCWD, path, STATUS_MAX, &sb) < 0)
		return false;
	line = strstr(sb.buf, key);
	return line && line[sizeof(key) - 1] != '\n' && has_group(line + sizeof(key) - 1, gid);
}

bool caller_keeps_setgid(const struct caller *c, const struct stat *st)
{
	return !(st->st_mode & S_ISGID) || c->uid == 0 || caller_is_in_group(c, st->st_gid);
}

mode_t caller_kills(const struct caller *c, const struct stat *st)
{
	mode_t kills = st->st_mode & S_ISUID;

	if (c->uid == 0)
		return 0;
	if ((st->st_mode & S_IXGRP) || !caller_keeps_setgid(c, st))
		kills |= st->st_mode & S_ISGID;
	return kills;
}
