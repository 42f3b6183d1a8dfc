/* SPDX-License-Identifier: MIT */
/*
 * Making the directories above a path in a layer that lacks them, each with the attributes of the
 * view's directory: see copyup_parents() in copyup.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "layer/copyobj.h"
#include "layer/copyup.h"
#include "layer/interim.h"
#include "layer/mark.h"

/* What the view shows at @path; ROOT's owner and plain permissions where it shows nothing. */
static void describe(struct view *v, const char *path, struct found *ret, bool *ret_real)
{
	*ret_real = path && stack_lookup(&v->stack, path, ret) == 0 && S_ISDIR(ret->st.st_mode);
	if (*ret_real)
		return;
	*ret = (struct found){ .st = v->stack.root_st };
	ret->st.st_mode = S_IFDIR | 0755;
}

/*
 * Make directory @name in @dir_fd of layer @to as the view's directory @path is. @keep: the time of
 * @dir_fd stays as it is.
 */
static int make_dir(struct view *v, unsigned to, const char *path, const char *full, int dir_fd,
		    const char *name, bool keep)
{
	cleanup_interim struct interim i = INTERIM_INIT;
	cleanup_fd int from = -1;
	cleanup_fd int fd = -1;
	struct stat before;
	struct found f;
	bool real;
	int r;

	if (fstat(dir_fd, &before) < 0)
		return -errno;
	describe(v, path, &f, &real);
	r = interim_begin(v, to, full, dir_fd, &i);
	if (r < 0)
		return r;
	if (mkdirat(i.dir_fd, i.name, 0700) < 0)
		return -errno;
	fd = openat(i.dir_fd, i.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (real && !f.virtual)
		from = stack_open_file(&v->stack, path, &f, O_RDONLY | O_DIRECTORY);
	/* an implied one shows the lower one's; its own must let an ordinary user in */
	if (!to)
		f.st.st_mode |= 0700;
	r = to ? 0 : mark_set(fd, MARK_IMPLIED);
	if (!r)
		r = copyobj_attrs(from, &f.st, fd);
	if (!r)
		r = interim_publish_new(&i, dir_fd, name);
	if (!r && keep)
		copyobj_set_times(dir_fd, &before);
	return r == -EEXIST ? 0 : r; /* another thread was first */
}

/* Open component @name of layer directory @dir_fd, made if it is missing; @made: one was made. */
static int step(struct view *v, unsigned to, const char *path, const char *full, int dir_fd,
		const char *name, bool *made)
{
	/* in the view it gets no new name; but people's own directory really does */
	bool keep = !to || *made;
	int fd = openat(dir_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int r;

	if (fd >= 0)
		return fd;
	if (errno != ENOENT)
		return -errno;
	r = make_dir(v, to, path, full, dir_fd, name, keep);
	if (r < 0)
		return r;
	*made = true;
	fd = openat(dir_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/*
 * Walk down @lpath, the layer's own path of view path @path, to its parent. Both end in the same
 * components, so what is left of one tells where the walk is in the other.
 */
static int walk(struct view *v, unsigned to, const char *path, const char *lpath)
{
	const struct layer *l = &v->stack.layers[to];
	cleanup_free char *prefix = strdup(path);
	cleanup_fd int dir = fcntl(l->base_fd, F_DUPFD_CLOEXEC, 0);
	size_t path_len = strlen(path);
	size_t total = strlen(lpath);
	bool made = false;

	if (!prefix)
		return -ENOMEM;
	if (dir < 0)
		return -errno;
	for (const char *slash = strchr(lpath, '/'), *p = lpath; slash;
	     p = slash + 1, slash = strchr(p, '/')) {
		size_t left = total - (size_t)(slash - lpath);
		bool in_view = left <= path_len;
		char name[NAME_MAX + 1];
		int fd;

		if (slash - p > NAME_MAX)
			return -ENAMETOOLONG;
		memcpy(name, p, (size_t)(slash - p));
		name[slash - p] = '\0';
		memcpy(prefix, path, path_len);
		if (in_view)
			prefix[path_len - left] = '\0';
		fd = step(v, to, in_view ? prefix : NULL, path, dir, name, &made);
		if (fd < 0)
			return fd;
		close(dir);
		dir = fd;
	}
	return steal_fd(&dir);
}

/* @make: what is missing */
static int open_parents(struct view *v, const char *path, unsigned to, bool make,
			const char **ret_name)
{
	const struct layer *l = &v->stack.layers[to];
	cleanup_strbuf struct strbuf lpath = STRBUF_INIT;
	const char *name;
	int fd;

	if (!v->work)
		return -EROFS;
	if (!layer_path(l, path, &lpath))
		return strbuf_failed(&lpath) < 0 ? -ENOMEM : -EROFS;
	if (!lpath.len)
		return -EBUSY; /* a layer's own root */
	fd = fd_open_parent(l->base_fd, lpath.buf, &name);
	if (fd == -ENOENT && make)
		fd = walk(v, to, path, lpath.buf);
	if (fd < 0)
		return fd;
	/* the last component is the same in both, but for the root of a map or graft */
	name = path_base(path);
	*ret_name = !strcmp(name, path_base(lpath.buf)) ? name : path_base(l->dir);
	return fd;
}

int copyup_parents(struct view *v, const char *path, unsigned to, const char **ret_name)
{
	return open_parents(v, path, to, true, ret_name);
}

/* A map's or graft's own root is known by another name in its layer. */
static bool has_same_names(const struct layer *l)
{
	return l->kind == LAYER_SCRATCH || l->kind == LAYER_OVERLAY || l->kind == LAYER_TRUNK;
}

static int open_parent(struct view *v, const struct dirset *in, const char *path, unsigned to,
		       bool make, struct parent_dir *ret)
{
	if (v->work && in && in->fd[to] >= 0 && has_same_names(&v->stack.layers[to])) {
		*ret = (struct parent_dir){
			.fd = in->fd[to],
			.borrowed = true,
			.name = path_base(path),
		};
		return 0;
	}
	ret->borrowed = false;
	ret->fd = open_parents(v, path, to, make, &ret->name);
	return ret->fd < 0 ? ret->fd : 0;
}

int copyup_open_parent(struct view *v, const struct dirset *in, const char *path, unsigned to,
		       struct parent_dir *ret)
{
	return open_parent(v, in, path, to, true, ret);
}

int copyup_find_parent(struct view *v, const struct dirset *in, const char *path, unsigned layer,
		       struct parent_dir *ret)
{
	return open_parent(v, in, path, layer, false, ret);
}

void parent_dir_close(struct parent_dir *p)
{
	if (p->fd >= 0 && !p->borrowed)
		close(p->fd);
	p->fd = -1;
}
