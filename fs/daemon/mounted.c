/* SPDX-License-Identifier: MIT */
/* The mount table: see mounted.h. Source: proc(5), /proc/[pid]/mountinfo. */
#include "daemon/mounted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/cleanup.h"

/* The table writes blanks, tabs, newlines and backslashes as "\" and three octal digits. */
static void unescape(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (s[0] == '\\' && strspn(s + 1, "01234567") >= 3) {
			*to++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

dev_t mounted_device(const char *path)
{
	cleanup_file FILE *f = fopen("/proc/self/mountinfo", "re");
	cleanup_free char *line = NULL;
	size_t cap = 0;
	dev_t ret = 0;

	while (f && getline(&line, &cap, f) > 0) {
		unsigned major;
		unsigned minor;
		int at = 0;

		/* "id parent major:minor root mountpoint ..." */
		if (sscanf(line, "%*s %*s %u:%u %*s %n", &major, &minor, &at) != 2 || !at)
			continue;
		line[at + (int)strcspn(line + at, " ")] = '\0';
		unescape(line + at);
		if (!strcmp(line + at, path))
			ret = makedev(major, minor);
	}
	return ret;
}
