/* SPDX-License-Identifier: MIT */
/* Redirecting directories of a mounted view: see redirects.h. */
#include "daemon/redirects.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "layer/bind.h"
#include "layer/redirect.h"
#include "ops/place.h"

/* How a directory is redirected, or NULL in @ret_why: why not. */
static enum redirect_form choose(struct session *s, const struct session_options *o,
				 const char *dir, const char **ret_why)
{
	*ret_why = NULL;
	if (o->redirect == REDIRECTS_SYMLINK)
		return REDIRECT_SYMLINK;
	/* who made a mount elsewhere may also mount in it */
	if (o->redirect == REDIRECTS_BIND || o->mounted_fd >= 0 || bind_may())
		return REDIRECT_BIND;
	if (!redirect_link_is_clean(s->view, dir))
		*ret_why = "you may not mount, and git would see a symlink, which .gitignore does "
			   "not cover; '-o redirect=symlink' makes it all the same";
	return REDIRECT_SYMLINK;
}

/* Who makes a directory must find none. Symlinks are made at once: one that came in place of the
 * new directory would surprise who has just made it. */
static int wait_for(struct session *s, const struct session_options *o, const char *dir)
{
	cleanup_diag struct diag d = DIAG_INIT;
	int r = redirect_check(s->view, dir, &d);

	if (r < 0)
		return redirect_refuse(s->view, dir, REDIRECT_BIND,
				       d.lines.n ? d.lines.v[0] : strerror(-r));
	if (o->mounted_fd >= 0)
		return redirect_refuse(s->view, dir, REDIRECT_BIND,
				       "it was not there when 'specfs run' began");
	return redirect_want(s->view, dir, REDIRECT_BIND);
}

static int prepare(struct session *s, const struct session_options *o, const char *dir)
{
	cleanup_diag struct diag d = DIAG_INIT;
	struct found f;
	const char *why;
	enum redirect_form form = choose(s, o, dir, &why);
	int r;

	if (why)
		return redirect_refuse(s->view, dir, form, why);
	if (form == REDIRECT_BIND && stack_lookup(&s->view->stack, dir, &f) == -ENOENT)
		return wait_for(s, o, dir);
	r = redirect_begin(s->view, dir, form, true, &d);
	return r < 0 ? redirect_refuse(s->view, dir, form,
				       d.lines.n ? d.lines.v[0] : strerror(-r)) : 0;
}

void redirects_prepare(struct session *s, const struct session_options *o)
{
	const struct profile *p = s->view->profile;
	int r = 0;

	if (!s->view->redirects)
		return;
	redirect_recover(s->view);
	if (!p || o->redirect == REDIRECTS_NONE)
		return;
	for (size_t i = 0; i < p->redirect.n && !r; i++)
		r = prepare(s, o, p->redirect.v[i]);
	if (r < 0)
		log_warn("directories are not redirected: %s", strerror(-r));
}

void redirects_log(const struct session *s)
{
	struct redirect *list = NULL;
	size_t n = 0;

	if (!s->view->redirects || redirect_list(s->view->redirects, &list, &n) < 0)
		return;
	for (size_t i = 0; i < n; i++)
		if (list[i].why_not && !list[i].wanted)
			log_info("'%s' is served through the mount: %s", list[i].dir,
				 list[i].why_not);
	redirect_list_free(list, n);
}

static void tell_kernel(struct session *s, const char *dir)
{
	if (s->inval)
		inval_path(s->inval, dir); /* else nothing is cached for long */
}

/* It could not be mounted: serve it as any other directory. */
static void fall_back(struct session *s, const char *dir, int err)
{
	log_warn("'%s' cannot be mounted from scratch: %s", dir, strerror(-err));
	tree_write(s->srv);
	(void)redirect_refuse(s->view, dir, REDIRECT_BIND, strerror(-err)); /* it is logged */
	tree_done(s->srv);
}

void redirects_bind(struct session *s)
{
	struct redirect *list = NULL;
	size_t n = 0;

	if (redirect_list(s->view->redirects, &list, &n) < 0) {
		log_warn("directories are not redirected: %s", strerror(ENOMEM));
		return;
	}
	for (size_t i = 0; i < n; i++) {
		int r;

		if (list[i].why_not || list[i].form != REDIRECT_BIND)
			continue;
		r = bind_make(s->mountpoint, s->view->scratch, list[i].dir);
		if (r < 0)
			fall_back(s, list[i].dir, r);
	}
	redirect_list_free(list, n);
}

void redirects_bind_new(struct session *s, uint64_t parent, const char *dir)
{
	cleanup_diag struct diag d = DIAG_INIT;
	int r;

	/* no name has a slash: this only waits until the kernel has made the directory its own;
	 * before that it knows for sure that there is none */
	(void)fuse_lowlevel_notify_inval_entry(s->fuse, parent, "/", 1);
	tree_write(s->srv);
	r = redirect_is_wanted(s->view->redirects, dir)
		    ? redirect_begin(s->view, dir, REDIRECT_BIND, true, &d)
		    : -ECANCELED;
	if (r < 0 && r != -ECANCELED)
		(void)redirect_refuse(s->view, dir, REDIRECT_BIND,
				      d.lines.n ? d.lines.v[0] : strerror(-r)); /* it is logged */
	tree_done(s->srv);
	if (r == -ECANCELED)
		return;
	if (r < 0) {
		log_warn("'%s' is served through the mount: %s", dir,
			 d.lines.n ? d.lines.v[0] : strerror(-r));
		return;
	}
	r = bind_make(s->mountpoint, s->view->scratch, dir);
	if (r < 0)
		fall_back(s, dir, r);
}

static int begin(struct session *s, const char *dir, enum redirect_form form, struct diag *d)
{
	int r;

	tree_write(s->srv);
	r = redirect_begin(s->view, dir, form, false, d);
	tree_done(s->srv);
	if (!r)
		tell_kernel(s, dir);
	return r;
}

static int end(struct session *s, const char *dir, struct diag *d)
{
	int r;

	tree_write(s->srv);
	r = redirect_end(s->view, dir);
	tree_done(s->srv);
	if (r < 0)
		return diag_add(d, r, NULL, 0, "'%s' is not redirected", dir);
	tell_kernel(s, dir);
	return 0;
}

int redirects_command(struct session *s, const char *line, struct diag *d)
{
	if (!s->view->redirects)
		return diag_add(d, -EROFS, NULL, 0, "the view has no scratch directory");
	if (!strncmp(line, "begin bind ", 11))
		return begin(s, line + 11, REDIRECT_BIND, d);
	if (!strncmp(line, "begin symlink ", 14))
		return begin(s, line + 14, REDIRECT_SYMLINK, d);
	return strncmp(line, "end ", 4) ? -EINVAL : end(s, line + 4, d);
}
