/* SPDX-License-Identifier: MIT */
/* Backends of a checkout: see backend.h. */
#include "layout/backend.h"

#include "base/dirglob.h"
#include "base/fd.h"
#include "base/path.h"
#include "layout/checkout.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* What counting the files of one rule needs. */
struct count {
	int root_fd;
	const struct ruleset *rules;
	const struct rule *rule;
	struct strv *shown;  /* real paths, so that a file of two maps counts once */
	struct strv *served; /* the same, of what serves the hooks only */
};

static bool ask_hijacked(void *arg, const char *dir)
{
	const struct count *c = arg;
	cleanup_strbuf struct strbuf path = STRBUF_INIT;

	return path_join(&path, c->rule->at, dir) == 0 && checkout_hijacks(c->root_fd, path.buf);
}

/* Where the object at @rel of the rule's directory is counted; NULL if nowhere. */
static struct strv *list_for(struct count *c, const char *rel, mode_t mode)
{
	struct rule patterns_only = *c->rule;
	cleanup_strbuf struct strbuf view = STRBUF_INIT;
	bool is_dir = S_ISDIR(mode);

	patterns_only.hijack = false;
	if (path_join(&view, c->rule->at, rel) < 0 ||
	    ruleset_hides(c->rules, view.buf, is_dir, S_ISLNK(mode)) ||
	    !rule_shows(&patterns_only, rel, is_dir, NULL, NULL))
		return NULL;
	if (c->rule->role == ROLE_PROVIDER || !rule_shows(c->rule, rel, is_dir, ask_hijacked, c))
		return c->served;
	return c->shown;
}

/* Gone meanwhile, or closed to us: in the view, too, it is. */
static bool is_uncountable(int err)
{
	return err == ENOENT || err == EACCES;
}

static int count_dir(struct count *c, int fd, const char *rel);

static int count_name(struct count *c, int dir_fd, const char *dir, const char *name)
{
	cleanup_strbuf struct strbuf rel = STRBUF_INIT;
	cleanup_strbuf struct strbuf real = STRBUF_INIT;
	struct strv *list;
	struct stat st;
	int fd;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return is_uncountable(errno) ? 0 : -errno;
	if (path_join(&rel, dir, name) < 0)
		return -ENOMEM;
	list = list_for(c, rel.buf, st.st_mode);
	if (!list)
		return 0;
	if (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode))
		return path_join(&real, c->rule->from, rel.buf) < 0 ? -ENOMEM
								    : strv_add(list, real.buf);
	if (!S_ISDIR(st.st_mode))
		return 0;
	fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return is_uncountable(errno) ? 0 : -errno;
	return count_dir(c, fd, rel.buf);
}

/* Takes @fd. */
static int count_dir(struct count *c, int fd, const char *rel)
{
	cleanup_dir DIR *listing = fdopendir(fd);
	struct dirent *de;

	if (!listing) {
		close(fd);
		return -ENOMEM;
	}
	while ((de = readdir(listing))) {
		int r;

		if (!strcmp(de->d_name, ".") || !strcmp(de->d_name, ".."))
			continue;
		r = count_name(c, fd, rel, de->d_name);
		if (r < 0)
			return r;
	}
	return 0;
}

static int count_rule(struct count *c)
{
	cleanup_fd int dir = checkout_open_from(c->root_fd, c->rule);
	int fd;

	if (dir < 0)
		return dir == -ENOENT || dir == -ENOTDIR ? 0 : dir;
	fd = fd_reopen(dir, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return is_uncountable(-fd) ? 0 : fd;
	return count_dir(c, fd, "");
}

static size_t count_unique(struct strv *files)
{
	size_t n = 0;

	strv_sort(files);
	for (size_t i = 0; i < files->n; i++)
		n += !i || strcmp(files->v[i - 1], files->v[i]) != 0;
	return n;
}

/*
 * 1 if the checkout has anything of this backend, 0 if not. @count: fill in the numbers, for which
 * all of its directories are read.
 */
static int examine(int root_fd, const struct profile *p, bool count, struct diag *d,
		   struct backend_info *info)
{
	cleanup_ruleset struct ruleset *rs = NULL;
	cleanup_strv struct strv chain = STRV_INIT;
	cleanup_strv struct strv shadows = STRV_INIT;
	cleanup_strv struct strv providers = STRV_INIT;
	struct count c = { .root_fd = root_fd, .shown = &shadows, .served = &providers };
	bool any = false;
	int r = strv_add(&chain, info->name);

	if (!r)
		r = ruleset_new(p, &chain, d, &rs);
	if (!r)
		r = checkout_settle(root_fd, rs);
	for (size_t i = 0; !r && i < rs->n_rules; i++) {
		const struct rule *rule = &rs->rules[i];
		cleanup_fd int fd = -1;

		if (!rule->backend || rule->kind == RULE_FILE)
			continue;
		fd = checkout_open_from(root_fd, rule);
		any |= fd >= 0;
		c.rules = rs;
		c.rule = rule;
		if (count && rule->kind == RULE_MAP)
			r = count_rule(&c);
		if (r < 0)
			r = diag_add(d, r, NULL, 0, "'%s' can't be read: %s", rule->from,
				     strerror(-r));
	}
	if (r < 0)
		return r;
	info->n_specializations = count_unique(&shadows);
	info->n_providers = count_unique(&providers);
	return any;
}

static int add_backend(int root_fd, const struct profile *p, const char *dir, bool count,
		       struct diag *d, struct backend_info **list, size_t *n)
{
	struct backend_info *grown = reallocarray(*list, *n + 1, sizeof(*grown));
	struct backend_info *info;
	int r;

	if (!grown)
		return -ENOMEM;
	*list = grown;
	info = &grown[*n];
	*info = (struct backend_info){ .name = strdup(path_base(dir)), .dir = strdup(dir) };
	r = info->name && info->dir ? 0 : -ENOMEM;
	if (!r && info->name[0] != '.')
		r = examine(root_fd, p, count, d, info);
	if (r > 0) {
		++*n;
		return 0;
	}
	free(info->name);
	free(info->dir);
	return r;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct backend_info *)a)->name,
		      ((const struct backend_info *)b)->name);
}

static bool has_name(const struct backend_info *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i].name, name))
			return true;
	return false;
}

static int find_all(int root_fd, const struct profile *p, bool count, struct diag *d,
		    struct backend_info **ret, size_t *ret_n)
{
	cleanup_strv struct strv dirs = STRV_INIT;
	struct backend_info *list = NULL;
	size_t n = 0;
	int r = 0;

	for (size_t i = 0; !r && i < p->backends.n; i++)
		r = dirglob(root_fd, p->backends.v[i], &dirs);
	for (size_t i = 0; !r && i < dirs.n; i++)
		if (!has_name(list, n, path_base(dirs.v[i])))
			r = add_backend(root_fd, p, dirs.v[i], count, d, &list, &n);
	if (r < 0) {
		backend_list_free(list, n);
		return r;
	}
	if (n)
		qsort(list, n, sizeof(*list), by_name);
	*ret = list;
	*ret_n = n;
	return 0;
}

int backend_list(int root_fd, const struct profile *p, struct diag *d, struct backend_info **ret,
		 size_t *ret_n)
{
	return find_all(root_fd, p, true, d, ret, ret_n);
}

void backend_list_free(struct backend_info *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(list[i].name);
		free(list[i].dir);
	}
	free(list);
}

int backend_check(int root_fd, const struct profile *p, const char *name, struct diag *d)
{
	cleanup_strbuf struct strbuf known = STRBUF_INIT;
	struct backend_info *list;
	size_t n;
	int r = find_all(root_fd, p, false, d, &list, &n); /* mounting does not count files */

	if (r < 0)
		return r;
	if (has_name(list, n, name)) {
		backend_list_free(list, n);
		return 0;
	}
	for (size_t i = 0; i < n; i++)
		strbuf_addf(&known, "%s%s", !i ? "" : i + 1 < n ? ", " : " or ", list[i].name);
	backend_list_free(list, n);
	if (!n)
		return diag_add(d, -ENOENT, NULL, 0,
				"no backend '%s': profile '%s' finds none in this "
				"checkout",
				name, p->name);
	return diag_add(d, -ENOENT, NULL, 0, "no backend '%s', expected %s", name, known.buf);
}
