/* SPDX-License-Identifier: MIT */
/*
 * May a directory be redirected? Past the mount nothing is merged and no rule is asked, so all that
 * is there, and all that may come, must be scratch's. See redirect.h.
 */
#include <errno.h>
#include <string.h>

#include "base/glob.h"
#include "base/path.h"
#include "layer/redirect.h"
#include "layer/view.h"

/* A file made there, for rules. */
#define NEW_NAME "specfs-new"

static int check_name(const struct view *v, const char *dir, struct diag *d)
{
	if (!*dir || !path_is_clean(dir))
		return diag_add(d, -EINVAL, NULL, 0, "it is no path below the root of the view");
	if (strchr(dir, '\n'))
		return diag_add(d, -EINVAL, NULL, 0, "its name has a line break");
	if (path_below(dir, ".specfs"))
		return diag_add(d, -EINVAL, NULL, 0, "it is the view's control directory");
	if (v->readonly || !v->scratch)
		return diag_add(d, -EROFS, NULL, 0, "the view is read-only");
	return 0;
}

/* One in another would be of no use, and one around another would cover it. */
static int check_others(const struct view *v, const char *dir, struct diag *d)
{
	struct redirect *list = NULL;
	size_t n = 0;
	int r = redirect_list(v->redirects, &list, &n);

	for (size_t i = 0; i < n && !r; i++) {
		const char *other = list[i].dir;

		if (list[i].why_not)
			continue;
		if (!strcmp(other, dir))
			r = diag_add(d, -EEXIST, NULL, 0, "it is redirected already");
		else if (path_below(dir, other))
			r = diag_add(d, -EEXIST, NULL, 0,
				     "it lies in '%s', which is redirected already", other);
		else if (path_below(other, dir))
			r = diag_add(d, -EBUSY, NULL, 0,
				     "'%s', which lies in it, is redirected already", other);
	}
	redirect_list_free(list, n);
	return r;
}

/* The directory that is @len bytes of @dir. */
static int check_parent(struct view *v, const char *dir, size_t len, struct found *ret,
			struct diag *d)
{
	cleanup_free char *at = strndup(dir, len);
	int r = at ? stack_lookup(&v->stack, at, ret) : -ENOMEM;

	if (!r && !S_ISDIR(ret->st.st_mode))
		return diag_add(d, -ENOTDIR, NULL, 0, "'%s' is %s", at,
				S_ISLNK(ret->st.st_mode) ? "a symlink" : "no directory");
	if (r < 0)
		return diag_add(d, r, NULL, 0, "'%.*s': %s", (int)len, dir, strerror(-r));
	return 0;
}

/* Every directory above must be one of the view: no symlink is followed. @ret: the nearest */
static int check_parents(struct view *v, const char *dir, struct found *ret, struct diag *d)
{
	int r = check_parent(v, dir, 0, ret, d);

	for (const char *slash = strchr(dir, '/'); !r && slash; slash = strchr(slash + 1, '/'))
		r = check_parent(v, dir, (size_t)(slash - dir), ret, d);
	return r;
}

/* What is there already: scratch's own directory, with nothing of another layer in it. */
static int check_existing(const struct view *v, const struct found *f, struct diag *d)
{
	uint64_t others = f->parts & ~UINT64_C(1);

	if (!S_ISDIR(f->st.st_mode))
		return diag_add(d, -ENOTDIR, NULL, 0, "it is %s",
				S_ISLNK(f->st.st_mode) ? "a symlink" : "no directory");
	if (others || f->virtual)
		return diag_add(d, -EBUSY, NULL, 0,
				"%s has a part in it, expected a directory that scratch alone has",
				others ? v->stack.layers[__builtin_ctzll(others)].label
				       : "the profile");
	if (f->implied)
		return diag_add(d, -EBUSY, NULL, 0,
				"it holds changed copies of other layers' files, expected a "
				"directory that scratch alone has");
	return 0;
}

/* Whatever is made there must go to scratch. */
static int check_route(struct view *v, const char *dir, const struct found *parent,
		       const struct found *f, struct diag *d)
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	struct route route = { 0 };
	int r;

	if (!f)
		r = route_new(v, dir, S_IFDIR, parent, &route);
	else if (path_join(&path, dir, NEW_NAME) < 0)
		return -ENOMEM;
	else
		r = route_new(v, path.buf, S_IFREG, f, &route);
	if (r < 0 && r != -EROFS)
		return r;
	if (route.dest == DEST_SCRATCH && !route.layer)
		return 0;
	return diag_add(d, -EPERM, NULL, 0,
			"what is made there does not go to scratch (%s)", route.rule);
}

/* A rule that denies something below would no longer be heard. */
static int check_denials(const struct view *v, const char *dir, struct diag *d)
{
	for (size_t i = 0; v->profile && i < v->profile->n_writes; i++) {
		const struct write_rule *w = &v->profile->writes[i];
		cleanup_strv struct strv one = STRV_INIT;

		if (w->class != WRITE_GLOB || w->dest != DEST_DENY)
			continue;
		if (strv_add(&one, w->pattern) < 0)
			return -ENOMEM;
		if (glob_may_match_below(&one, dir))
			return diag_add(d, -EPERM, NULL, 0,
					"a rule denies changes in it (%s:%u: %s = deny)",
					path_base(v->profile->file), w->line, w->pattern);
	}
	return 0;
}

int redirect_check(struct view *v, const char *dir, struct diag *d)
{
	struct found parent;
	struct found f;
	int r = check_name(v, dir, d);

	r = r < 0 ? r : check_others(v, dir, d);
	r = r < 0 ? r : check_parents(v, dir, &parent, d);
	if (r < 0)
		return r;
	r = stack_lookup(&v->stack, dir, &f);
	if (r < 0 && r != -ENOENT)
		return diag_add(d, r, NULL, 0, "%s", strerror(-r));
	if (!r) {
		r = check_existing(v, &f, d);
		r = r < 0 ? r : check_route(v, dir, &parent, &f, d);
	} else {
		r = check_route(v, dir, &parent, NULL, d);
	}
	return r < 0 ? r : check_denials(v, dir, d);
}

bool redirect_link_is_clean(struct view *v, const char *dir)
{
	return !v->ignore || ignore_covers(v->ignore, dir, false);
}
