/* SPDX-License-Identifier: MIT */
/*
 * Bind mounts: see bind.h. Both ends are descriptors, so that nobody who swaps directories can lead
 * the mount elsewhere.
 */
#include "layer/bind.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/strbuf.h"

#define UPPER "/upper/"

static int clone_mount(int fd)
{
	int tree = open_tree(fd, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);

	return tree < 0 ? -errno : tree;
}

bool bind_may(void)
{
	cleanup_fd int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_fd int tree = root < 0 ? -1 : clone_mount(root);

	return tree >= 0; /* nobody sees it, it is gone with its descriptor */
}

/* The directory of the view at @root, and of no mount that lies in it. */
static int open_in_view(int root, const char *dir)
{
	struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV,
	};
	long fd = syscall(SYS_openat2, root, dir, &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}

static int open_in_scratch(const char *scratch, const char *dir)
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	cleanup_fd int upper = -1;

	strbuf_addf(&path, "%s/upper", scratch);
	if (strbuf_failed(&path) < 0)
		return -ENOMEM;
	upper = open(path.buf, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return upper < 0 ? -errno : fd_open_beneath(upper, dir, O_PATH | O_DIRECTORY, 0);
}

int bind_make(const char *at, const char *scratch, const char *dir)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV };
	cleanup_fd int root = open(at, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_fd int from = open_in_scratch(scratch, dir);
	cleanup_fd int to = from < 0 ? from : open_in_view(root, dir);
	cleanup_fd int tree = to < 0 ? to : clone_mount(from);
	struct statvfs sv;

	if (tree < 0)
		return tree;
	if (fstatvfs(root, &sv) < 0)
		return -errno;
	if (sv.f_flag & ST_NOEXEC)
		attr.attr_set |= MOUNT_ATTR_NOEXEC;
	if (mount_setattr(tree, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0)
		return -errno;
	return move_mount(tree, "", to, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0
		       ? -errno
		       : 0;
}

bool bind_is_of_view(const char *at, const char *root, const char *view)
{
	size_t len = strlen(view);
	size_t root_len = strlen(root);
	size_t tail;

	if (strncmp(at, view, len) || at[len] != '/')
		return false;
	tail = strlen(UPPER) + strlen(at + len + 1);
	return root_len >= tail && !strncmp(root + root_len - tail, UPPER, strlen(UPPER)) &&
	       !strcmp(root + root_len - strlen(at + len + 1), at + len + 1);
}

/* "id parent major:minor root mountpoint ..." */
static int take_line(char *line, const char *view, struct strv *ret)
{
	char *field[5];

	for (size_t i = 0; i < ARRAY_SIZE(field); i++) {
		field[i] = strsep(&line, " ");
		if (!field[i])
			return 0;
	}
	path_unescape(field[3]);
	path_unescape(field[4]);
	if (!bind_is_of_view(field[4], field[3], view) ||
	    strv_has(ret, field[4] + strlen(view) + 1))
		return 0;
	return strv_add(ret, field[4] + strlen(view) + 1);
}

int bind_list(const char *at, struct strv *ret)
{
	cleanup_file FILE *f = fopen("/proc/self/mountinfo", "re");
	cleanup_free char *line = NULL;
	size_t cap = 0;
	int r = f ? 0 : -errno;

	while (!r && getline(&line, &cap, f) > 0)
		r = take_line(line, at, ret);
	return r;
}

int bind_undo(const char *at, const char *dir, bool lazy)
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT;

	strbuf_addf(&path, "%s/%s", at, dir);
	if (strbuf_failed(&path) < 0)
		return -ENOMEM;
	return umount2(path.buf, UMOUNT_NOFOLLOW | (lazy ? MNT_DETACH : 0)) < 0 ? -errno : 0;
}
