/* SPDX-License-Identifier: MIT */
/* The text of a new symlink: see linktext.h. */
#include "layer/linktext.h"

#include <errno.h>

#include "base/path.h"

/* The view path that @text leads to from the link at @path; -EXDEV if it leaves the view. */
static int target_of(const char *path, const char *text, struct strbuf *ret)
{
	cleanup_strbuf struct strbuf full = STRBUF_INIT;

	strbuf_add(&full, path, path_parent_len(path));
	strbuf_addf(&full, "%s%s", full.len ? "/" : "", text);
	return strbuf_failed(&full) < 0 ? -ENOMEM : path_normalize(full.buf, ret);
}

int linktext_for(const struct layer *l, const char *path, const char *text, struct strbuf *ret)
{
	cleanup_strbuf struct strbuf target = STRBUF_INIT;
	cleanup_strbuf struct strbuf at = STRBUF_INIT;
	const char *rel;
	int r;

	if (!l->rule || !l->in_root || *text == '/' || !*text) {
		strbuf_adds(ret, text);
		return strbuf_failed(ret);
	}
	r = target_of(path, text, &target);
	if (r == -ENOMEM)
		return r;
	if (r < 0 || rule_place(l->rule, target.buf, &rel) == RULE_INSIDE ||
	    !layer_path(l, path, &at)) {
		strbuf_adds(ret, text);
		return strbuf_failed(ret);
	}
	strbuf_truncate(&at, path_parent_len(at.buf));
	return path_relative(at.buf, target.buf, ret);
}
