/* SPDX-License-Identifier: MIT */
/* One layer: see layer.h. */
#include "layer/layer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "base/strbuf.h"

bool layer_path(const struct layer *l, const char *path, struct strbuf *ret)
{
	const char *rel = path;

	if (l->kind == LAYER_GENERATED || l->base_fd < 0)
		return false;
	if (l->rule && rule_place(l->rule, path, &rel) != RULE_INSIDE)
		return false;
	return path_join(ret, l->dir, rel) == 0;
}

int layer_real_path(const struct layer *l, const char *path, struct strbuf *ret)
{
	const char *rel = path;

	if (l->kind == LAYER_GENERATED || l->base_fd < 0)
		return -ENOENT;
	if (l->rule && rule_place(l->rule, path, &rel) != RULE_INSIDE)
		return -ENOENT;
	strbuf_adds(ret, l->path);
	if (*rel)
		strbuf_addf(ret, "/%s", rel);
	return strbuf_failed(ret);
}

void layer_clear(struct layer *l)
{
	free(l->label);
	free(l->path);
	free(l->dir);
	if (l->base_fd >= 0)
		close(l->base_fd);
	*l = (struct layer){ .base_fd = -1 };
}

int layer_open(const struct layer *l, const char *path, int flags, mode_t mode)
{
	cleanup_strbuf struct strbuf p = STRBUF_INIT;

	if (!layer_path(l, path, &p))
		return strbuf_failed(&p) ? -ENOMEM : -ENOENT;
	return fd_open_beneath(l->base_fd, p.buf, flags, mode);
}

int layer_open_dir(const struct layer *l, const char *path)
{
	return layer_open(l, path, O_PATH | O_DIRECTORY, 0);
}

int object_stat(int dir_fd, const char *name, struct object *ret)
{
	int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_SYNC_AS_STAT;
	struct statx x;

	if (!*name)
		flags |= AT_EMPTY_PATH;
	if (statx(dir_fd, name, flags, STATX_BASIC_STATS | STATX_BTIME, &x) < 0)
		return -errno;
	*ret = (struct object){
		.st = {
			.st_dev = makedev(x.stx_dev_major, x.stx_dev_minor),
			.st_ino = x.stx_ino,
			.st_mode = x.stx_mode,
			.st_nlink = x.stx_nlink,
			.st_uid = x.stx_uid,
			.st_gid = x.stx_gid,
			.st_rdev = makedev(x.stx_rdev_major, x.stx_rdev_minor),
			.st_size = (off_t)x.stx_size,
			.st_blksize = x.stx_blksize,
			.st_blocks = (blkcnt_t)x.stx_blocks,
			.st_atim = { x.stx_atime.tv_sec, x.stx_atime.tv_nsec },
			.st_mtim = { x.stx_mtime.tv_sec, x.stx_mtime.tv_nsec },
			.st_ctim = { x.stx_ctime.tv_sec, x.stx_ctime.tv_nsec },
		},
	};
	if (x.stx_mask & STATX_BTIME)
		ret->btime_nsec = (uint64_t)x.stx_btime.tv_sec * 1000000000u + x.stx_btime.tv_nsec;
	return 0;
}

bool object_same(const struct object *a, const struct object *b)
{
	return a->st.st_dev == b->st.st_dev && a->st.st_ino == b->st.st_ino &&
	       a->btime_nsec == b->btime_nsec &&
	       (a->st.st_mode & S_IFMT) == (b->st.st_mode & S_IFMT);
}

bool object_unchanged(const struct object *a, const struct object *b)
{
	return object_same(a, b) && a->st.st_size == b->st.st_size &&
	       a->st.st_ctim.tv_sec == b->st.st_ctim.tv_sec &&
	       a->st.st_ctim.tv_nsec == b->st.st_ctim.tv_nsec;
}
