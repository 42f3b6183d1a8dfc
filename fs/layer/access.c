/* SPDX-License-Identifier: MIT */
/* Getting at an object of the view through its owner: its file, its link text. See stack.h. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "layer/candidate.h"
#include "layer/redirect.h"
#include "layer/stack.h"

const char *stack_virtual_content(const struct stack *st, const struct found *f)
{
	const struct rule *r = st->layers[f->layer].rule;

	return f->virtual && r && r->kind == RULE_FILE ? r->content : "";
}

static int open_owner(const struct layer *l, const char *path, const struct found *f, int flags)
{
	cleanup_strbuf struct strbuf p = STRBUF_INIT;

	if (!f->via_link)
		return layer_open(l, path, flags, 0);
	if (!layer_path(l, path, &p))
		return -ENOENT;
	return fd_open_follow(l->base_fd, p.buf, flags);
}

int stack_open_file(const struct stack *st, const char *path, const struct found *f, int flags)
{
	cleanup_fd int fd = -1;
	struct object now;
	int r;

	if (f->virtual)
		return -EIO;
	if (!(flags & O_PATH)) /* openat2 takes no other flags with it */
		flags |= O_NOCTTY | O_NONBLOCK;
	fd = open_owner(&st->layers[f->layer], path, f, flags);
	if (fd < 0)
		return fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP ? -ESTALE : fd;
	r = object_stat(fd, "", &now);
	if (r < 0)
		return r;
	return object_same(&now, &f->obj) ? steal_fd(&fd) : -ESTALE;
}

/* Read a link's own text. */
static int read_text(const struct stack *st, const char *path, const struct found *f,
		     struct strbuf *ret)
{
	cleanup_fd int fd = stack_open_file(st, path, f, O_PATH);
	char text[PATH_MAX];
	ssize_t n;

	if (fd < 0)
		return fd;
	n = readlinkat(fd, "", text, sizeof(text));
	if (n < 0)
		return -errno;
	strbuf_add(ret, text, (size_t)n);
	return strbuf_failed(ret);
}

/*
 * Where in the checkout a relative text of layer @l leads; false if it stays in the layer's own
 * directory, leaves the checkout or is absolute: then the text is right as it is.
 */
static bool leaves_layer(const struct layer *l, const char *path, const char *text,
			 struct strbuf *ret)
{
	cleanup_strbuf struct strbuf full = STRBUF_INIT;

	if (!l->in_root || !l->rule || *text == '/' || !layer_path(l, path, &full))
		return false;
	strbuf_truncate(&full, path_parent_len(full.buf));
	strbuf_addf(&full, "/%s", text);
	return path_normalize(full.buf + (full.buf[0] == '/'), ret) == 0 &&
	       !path_below(ret->buf, l->dir);
}

static int relative_from(const char *link, const char *target, struct strbuf *ret)
{
	cleanup_free char *dir = strndup(link, path_parent_len(link));

	return dir ? path_relative(dir, target, ret) : -ENOMEM;
}

int stack_readlink(const struct stack *st, const char *path, const struct found *f,
		   struct strbuf *ret)
{
	const struct layer *l = &st->layers[f->layer];
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	cleanup_strbuf struct strbuf target = STRBUF_INIT;
	int r;

	if (!S_ISLNK(f->obj.st.st_mode))
		return -EINVAL;
	if (f->virtual && !f->layer)
		return redirect_link(st->redirects, path, ret) ? strbuf_failed(ret) : -ENOENT;
	if (f->virtual) {
		r = candidate_link_target(l, path, &target);
		return r < 0 ? r : relative_from(path, target.buf, ret);
	}
	r = read_text(st, path, f, &text);
	if (r < 0)
		return r;
	if (leaves_layer(l, path, text.buf, &target))
		return relative_from(path, target.buf, ret);
	strbuf_add(ret, text.buf, text.len);
	return strbuf_failed(ret);
}
