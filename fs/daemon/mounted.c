/* SPDX-License-Identifier: MIT */
/* The mount table: see mounted.h. Source: proc(5), /proc/[pid]/mountinfo. */
#include "daemon/mounted.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/cleanup.h"
#include "base/path.h"

/* One line: "id parent major:minor root mountpoint ...". False if it is not of that form. */
static bool parse(char *line, char **ret_at, dev_t *ret_device)
{
	char *field[5];
	char *end;
	unsigned long major;
	unsigned long minor;

	for (size_t i = 0; i < ARRAY_SIZE(field); i++) {
		field[i] = strsep(&line, " ");
		if (!field[i])
			return false;
	}
	major = strtoul(field[2], &end, 10);
	if (*end != ':')
		return false;
	minor = strtoul(end + 1, &end, 10);
	if (*end)
		return false;
	path_unescape(field[4]);
	*ret_at = field[4];
	*ret_device = makedev((unsigned)major, (unsigned)minor);
	return true;
}

dev_t mounted_device(const char *path)
{
	cleanup_file FILE *f = fopen("/proc/self/mountinfo", "re");
	cleanup_free char *line = NULL;
	size_t cap = 0;
	dev_t ret = 0;

	while (f && getline(&line, &cap, f) > 0) {
		dev_t device;
		char *at;

		if (parse(line, &at, &device) && !strcmp(at, path))
			ret = device;
	}
	return ret;
}

int mounted_open(const char *path, dev_t device)
{
	cleanup_fd int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct statx st;

	if (fd < 0)
		return -errno;
	/* its attributes are not asked for: only whose it is */
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &st) < 0)
		return -errno;
	return makedev(st.stx_dev_major, st.stx_dev_minor) == device ? steal_fd(&fd) : -ENXIO;
}
