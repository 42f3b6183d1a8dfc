/* SPDX-License-Identifier: MIT */
/*
 * What git ignores: see route.h. libgit2 finds the repository and its configuration; the patterns
 * are judged by ignorefile.c, since libgit2 drops negations of an outer file's patterns, and the
 * index is read by tracked.c, since libgit2 would hold all of it in memory.
 */
#include <errno.h>
#include <git2.h>
#if __has_include(<git2/sys/errors.h>)
#include <git2/sys/errors.h> /* git_error_set_str(), from libgit2 1.8 on */
#endif
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "layer/ignorefile.h"
#include "layer/route.h"
#include "layer/tracked.h"

struct ignore {
	git_repository *repo;
	struct tracked *tracked;
	char *prefix; /* ROOT below the repository's working tree; "" */
	struct ignorefiles *files;
	pthread_mutex_t lock; /* guards tracked and files */
};

/* What libgit2's last failure is as an errno. */
static int git_errno(int r)
{
	switch (r) {
	case GIT_ENOTFOUND:
	case GIT_EBAREREPO:
		return -ENOENT;
	default:
		return git_error_last() && git_error_last()->klass == GIT_ERROR_NOMEMORY ? -ENOMEM
											 : -EIO;
	}
}

static int find_prefix(struct ignore *ig, const char *root)
{
	const char *work = git_repository_workdir(ig->repo);
	cleanup_free char *real = work ? realpath(work, NULL) : NULL;
	const char *below;

	if (!real)
		return -ENOENT;
	below = path_below(root + 1, real[1] ? real + 1 : "");
	if (!below)
		return -ENOENT;
	ig->prefix = strdup(below);
	return ig->prefix ? 0 : -ENOMEM;
}

/* Does git ignore @path, relative to the working tree? The lock is held. */
static bool is_ignored(struct ignore *ig, const char *path, bool is_dir)
{
	return ignorefiles_cover(ig->files, path, is_dir) && !tracked_has(ig->tracked, path);
}

/* The file that core.excludesFile names, or git's default for it; NULL if there is none. */
static char *global_file(git_repository *repo)
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	const char *xdg = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");
	git_buf value = { 0 };
	git_config *config = NULL;
	bool named = git_repository_config_snapshot(&config, repo) == 0 &&
		     git_config_get_path(&value, config, "core.excludesfile") == 0;

	if (named)
		strbuf_adds(&path, value.ptr);
	else if (xdg && *xdg)
		strbuf_addf(&path, "%s/git/ignore", xdg);
	else if (home)
		strbuf_addf(&path, "%s/.config/git/ignore", home);
	git_buf_dispose(&value);
	git_config_free(config);
	return path.len ? strbuf_detach(&path) : NULL;
}

static int open_files(struct ignore *ig)
{
	cleanup_strbuf struct strbuf exclude = STRBUF_INIT;
	cleanup_free char *global = global_file(ig->repo);
	git_buf info = { 0 };

	if (git_repository_item_path(&info, ig->repo, GIT_REPOSITORY_ITEM_INFO) == 0)
		strbuf_addf(&exclude, "%s/exclude", info.ptr);
	git_buf_dispose(&info);
	if (strbuf_failed(&exclude) < 0)
		return -ENOMEM;
	return ignorefiles_new(git_repository_workdir(ig->repo), exclude.len ? exclude.buf : NULL,
			       global, &ig->files);
}

/* Say what is wrong with the index as libgit2 would; see fault(). */
static int index_fault(const char *path, int err)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;

	if (err == -ENOMEM)
		return err;
	strbuf_addf(&text, "'%s': %s", path,
		    err == -EINVAL ? "no index of version 2 to 4" : strerror(-err));
	if (strbuf_failed(&text) < 0 || git_error_set_str(GIT_ERROR_INDEX, text.buf) < 0)
		return -ENOMEM;
	return -EIO;
}

static int open_index(struct ignore *ig)
{
	git_buf path = { 0 };
	int r = git_repository_item_path(&path, ig->repo, GIT_REPOSITORY_ITEM_INDEX);

	if (r < 0) {
		r = git_errno(r);
	} else {
		r = tracked_open(path.ptr, &ig->tracked);
		r = r < 0 ? index_fault(path.ptr, r) : 0;
	}
	git_buf_dispose(&path);
	return r;
}

static int open_repository(struct ignore *ig, const char *root)
{
	int r = git_repository_open_ext(&ig->repo, root, 0, NULL);

	if (r < 0)
		return git_errno(r);
	r = find_prefix(ig, root);
	if (r < 0)
		return r;
	r = open_index(ig);
	return r < 0 ? r : open_files(ig);
}

/* A home that the caller may not enter, as after `sudo -u`: libgit2, other than git, would fail. */
static void forget_closed_home(void)
{
	static const git_config_level_t levels[] = { GIT_CONFIG_LEVEL_GLOBAL,
						     GIT_CONFIG_LEVEL_XDG };
	const char *home = getenv("HOME");

	if (!home || !access(home, X_OK) || errno != EACCES)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		(void)git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, levels[i], "");
}

static int fault(struct diag *d, int r, const char *root)
{
	const git_error *e = git_error_last();

	return diag_add(d, r, NULL, 0, "the git repository of '%s' can't be read: %s", root,
			e && r == -EIO ? e->message : strerror(-r));
}

int ignore_open(const char *root, struct diag *d, struct ignore **ret)
{
	struct ignore *ig;
	int r;

	if (git_libgit2_init() < 0)
		return fault(d, -EIO, root);
	/* nothing of the repository is run, so another owner's is as good */
	(void)git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
	forget_closed_home();
	ig = calloc(1, sizeof(*ig));
	if (!ig) {
		git_libgit2_shutdown();
		return -ENOMEM;
	}
	pthread_mutex_init(&ig->lock, NULL);
	r = open_repository(ig, root);
	/* a ROOT that an enclosing repository ignores is none of its business */
	if (!r && *ig->prefix && is_ignored(ig, ig->prefix, true))
		r = -ENOENT;
	if (r < 0 && r != -ENOENT)
		r = fault(d, r, root);
	if (r < 0) {
		ignore_free(ig);
		ig = NULL;
	}
	if (r < 0 && r != -ENOENT)
		return r;
	*ret = ig;
	return 0;
}

void ignore_free(struct ignore *ig)
{
	if (!ig)
		return;
	ignorefiles_free(ig->files);
	tracked_free(ig->tracked);
	git_repository_free(ig->repo);
	pthread_mutex_destroy(&ig->lock);
	free(ig->prefix);
	free(ig);
	git_libgit2_shutdown();
}

bool ignore_covers(struct ignore *ig, const char *path, bool is_dir)
{
	cleanup_strbuf struct strbuf full = STRBUF_INIT;
	bool hit;

	if (!ig || !*path || path_join(&full, ig->prefix, path) < 0)
		return false;
	pthread_mutex_lock(&ig->lock);
	hit = is_ignored(ig, full.buf, is_dir);
	pthread_mutex_unlock(&ig->lock);
	return hit;
}
