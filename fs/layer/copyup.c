/* SPDX-License-Identifier: MIT */
/*
 * Copying an object to its destination: see copyup.h. Here it is decided where the copy is made and
 * how it is published; copyobj.c copies.
 */
#include "layer/copyup.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "layer/base.h"
#include "layer/copyobj.h"
#include "layer/interim.h"
#include "layer/kept.h"
#include "layer/linktext.h"
#include "layer/made.h"
#include "layer/mark.h"
#include "layer/remove.h"

/* One copy-up at work. */
struct job {
	struct view *v;
	const char *path;
	const struct found *f;
	unsigned to;
	off_t size;
	int from;	  /* the original, readable; -1 for virtual ones; owned */
	int parent;	  /* directory in the destination; owned */
	const char *name; /* in it */
};

static void job_clear(struct job *j)
{
	if (j->from >= 0)
		close(j->from);
	if (j->parent >= 0)
		close(j->parent);
}

#define cleanup_job CLEANUP(job_clear)

/* Does the copy go on showing the original's number? Hard links' other names keep it, and those
 * of a file of the installation. */
static bool keeps_ino(const struct job *j)
{
	return !j->to && S_ISREG(j->f->obj.st.st_mode) && j->f->obj.st.st_nlink <= 1 && !j->f->lent;
}

static int fill_file(const struct job *j, int fd)
{
	/* first, as long as it is surely writable */
	int r = keeps_ino(j) ? mark_set_ino(fd, j->f->st.st_ino) : 0;

	if (r < 0)
		return r;
	if (j->from >= 0) {
		r = copyobj_file(j->from, &j->f->st, j->size, fd);
	} else {
		const char *text = stack_virtual_content(&j->v->stack, j->f);
		size_t len = strlen(text);

		if (j->size >= 0 && (size_t)j->size < len)
			len = (size_t)j->size;
		r = fd_write_all(fd, text, len);
		if (!r)
			r = copyobj_attrs(-1, &j->f->st, fd);
	}
	return r;
}

/* Note which trunk version the specialization comes from: the one that was copied, if it is. */
static int record_base(const struct job *j)
{
	const struct stack *st = &j->v->stack;

	if (j->f->layer != st->n - 1 || st->layers[j->to].kind != LAYER_SPEC)
		return base_record_new(st, j->to, j->path);
	return base_record(&st->layers[j->to], j->path, j->from);
}

static int file_in_scratch(struct job *j, struct object *ret)
{
	cleanup_interim struct interim i = INTERIM_INIT;
	cleanup_fd int fd = -1;
	int r = interim_begin(j->v, j->to, j->path, j->parent, &i);

	if (r < 0)
		return r;
	fd = openat(i.dir_fd, i.name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	r = fill_file(j, fd);
	if (!r)
		r = interim_publish_over(&i, j->parent, j->name);
	return r < 0 ? r : object_stat(fd, "", ret);
}

/* A specialization goes on showing the number of the trunk file that it comes from. */
static int keep_number(const struct job *j, int fd)
{
	const struct stack *st = &j->v->stack;
	struct object o;
	int r = object_stat(fd, "", &o);

	if (!r && j->f->layer == st->n - 1 && st->layers[j->to].kind == LAYER_SPEC)
		kept_add(st, j->path, &j->f->obj, &o);
	return r;
}

/* On disk before anybody can see it: people's directories have no half files after a power cut. */
static int finish_file(const struct job *j, int fd)
{
	int r = fill_file(j, fd);

	if (!r && fsync(fd) < 0)
		r = -errno;
	if (!r)
		r = record_base(j);
	return r < 0 ? r : keep_number(j, fd);
}

static int file_under_name(struct job *j, struct object *ret)
{
	cleanup_interim struct interim i = INTERIM_INIT;
	cleanup_fd int fd = -1;
	int r = interim_begin(j->v, j->to, j->path, j->parent, &i);

	if (r < 0)
		return r;
	fd = openat(i.dir_fd, i.name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	r = finish_file(j, fd);
	if (!r)
		r = interim_publish_new(&i, j->parent, j->name);
	return r < 0 ? r : object_stat(fd, "", ret);
}

static int file_without_name(struct job *j, int fd, struct object *ret)
{
	char path[32];
	int r = finish_file(j, fd);

	if (r < 0)
		return r;
	if (linkat(AT_FDCWD, fd_proc_path(fd, path), j->parent, j->name, AT_SYMLINK_FOLLOW) < 0)
		return -errno;
	return object_stat(fd, "", ret);
}

static int copy_file(struct job *j, struct object *ret)
{
	cleanup_fd int fd = -1;

	if (!j->to)
		return file_in_scratch(j, ret);
	fd = openat(j->parent, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return file_without_name(j, fd, ret);
	/* EACCES: the directory denies its owner, which an interim name may overcome */
	if (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL || errno == ENOENT ||
	    errno == EACCES)
		return file_under_name(j, ret);
	return -errno;
}

static int copy_other(struct job *j, struct object *ret)
{
	cleanup_interim struct interim i = INTERIM_INIT;
	cleanup_strbuf struct strbuf shown = STRBUF_INIT;
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	int r = 0;

	if (S_ISLNK(j->f->obj.st.st_mode)) {
		r = stack_readlink(&j->v->stack, j->path, j->f, &shown);
		if (!r)
			r = linktext_for(&j->v->stack.layers[j->to], j->path, shown.buf, &text);
	}
	if (!r)
		r = interim_begin(j->v, j->to, j->path, j->parent, &i);
	if (!r)
		r = copyobj_other(&j->f->st, text.buf, i.dir_fd, i.name);
	if (!r)
		r = object_stat(i.dir_fd, i.name, ret);
	if (r < 0)
		return r;
	made_add(&j->v->stack, j->to, j->path, ret);
	return j->to ? interim_publish_new(&i, j->parent, j->name)
		     : interim_publish_over(&i, j->parent, j->name);
}

/* Give the directory that is there for its children only attributes of its own. */
static int settle_dir(const struct job *j, int fd)
{
	int r = copyobj_attrs(j->from, &j->f->st, fd);

	return r < 0 ? r : mark_remove(fd, MARK_IMPLIED);
}

static int make_dir(struct job *j)
{
	cleanup_interim struct interim i = INTERIM_INIT;
	cleanup_fd int fd = -1;
	int r = interim_begin(j->v, j->to, j->path, j->parent, &i);

	if (r < 0)
		return r;
	if (mkdirat(i.dir_fd, i.name, 0700) < 0)
		return -errno;
	fd = openat(i.dir_fd, i.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = copyobj_attrs(j->from, &j->f->st, fd);
	return r < 0 ? r : interim_publish_new(&i, j->parent, j->name);
}

static int copy_dir(struct job *j)
{
	cleanup_fd int fd =
		openat(j->parent, j->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0)
		return j->to ? -ESTALE : settle_dir(j, fd);
	return errno == ENOENT ? make_dir(j) : -errno;
}

static int open_original(struct job *j)
{
	mode_t type = j->f->obj.st.st_mode & S_IFMT;

	if (j->f->virtual || (type != S_IFREG && type != S_IFDIR))
		return 0;
	j->from = stack_open_file(&j->v->stack, j->path, j->f,
				  type == S_IFDIR ? O_RDONLY | O_DIRECTORY : O_RDONLY);
	/* a directory that can't be read: only its extended attributes stay behind */
	if (j->from == -EACCES && type == S_IFDIR)
		return 0;
	return j->from < 0 ? j->from : 0;
}

/* The root of the view in scratch: it is always there. */
static int copy_root(struct job *j)
{
	cleanup_fd int fd = -1;

	if (j->to)
		return -EBUSY;
	fd = fd_reopen(j->v->stack.layers[0].base_fd, O_RDONLY | O_DIRECTORY);
	return fd < 0 ? fd : settle_dir(j, fd);
}

static int copy(struct job *j, struct object *ret)
{
	struct stat before;
	int r;

	j->parent = copyup_parents(j->v, j->path, j->to, &j->name);
	if (j->parent < 0)
		return j->parent;
	if (fstat(j->parent, &before) < 0)
		return -errno;
	if (S_ISREG(j->f->obj.st.st_mode))
		r = copy_file(j, ret);
	else if (S_ISDIR(j->f->obj.st.st_mode))
		r = copy_dir(j);
	else
		r = copy_other(j, ret);
	if (!r && !j->to) /* a copy is no new name in its directory */
		copyobj_set_times(j->parent, &before);
	return r == -EEXIST ? -ESTALE : r; /* the layer got one of its own meanwhile */
}

int copyup(struct view *v, const char *path, struct found *f, unsigned to, off_t size)
{
	const struct found orig = *f;
	cleanup_job struct job j = {
		.v = v,
		.path = path,
		.f = &orig,
		.to = to,
		.size = size,
		.from = -1,
		.parent = -1,
	};
	struct object o = { 0 };
	uint64_t kept;
	int r;

	if (f->layer == to && !f->virtual)
		return 0;
	if (!v->work)
		return -EROFS;
	r = open_original(&j);
	if (!r)
		r = *path ? copy(&j, &o) : copy_root(&j);
	if (r < 0)
		return r;
	if (to && !S_ISDIR(orig.obj.st.st_mode))
		remove_undo_hide(v, path, to, &o);
	if (S_ISDIR(orig.obj.st.st_mode))
		return stack_lookup(&v->stack, path, f);
	*f = (struct found){ .layer = to, .obj = o, .st = o.st };
	kept = keeps_ino(&j) ? orig.st.st_ino : to ? kept_number(&v->stack, &o) : 0;
	f->st.st_ino = kept ? kept : inomap_file(v->stack.inos, o.st.st_dev, o.st.st_ino);
	return 0;
}
