/* SPDX-License-Identifier: MIT */
/* Directories that deny their owner: see openup.h. */
#include "layer/openup.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

void openup_begin(int fd, mode_t need, struct openup *ret)
{
	char path[32];
	struct stat st;

	*ret = (struct openup){ .fd = fd };
	if (fd < 0 || geteuid() == 0 || fstat(fd, &st) < 0 || !S_ISDIR(st.st_mode) ||
	    (st.st_mode & need) == need)
		return;
	if (!chmod(fd_proc_path(fd, path), (st.st_mode & 07777) | need))
		ret->mode = st.st_mode;
}

void openup_end(const struct openup *o)
{
	char path[32];

	if (o->mode)
		(void)chmod(fd_proc_path(o->fd, path), o->mode & 07777); /* what was done counts */
}
