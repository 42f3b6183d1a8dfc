/* SPDX-License-Identifier: MIT */
/* The place of a run, and the kinds of views: see site.h. */
#include "site.h"

#include <errno.h>
#include <fcntl.h>
#include <git2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"

static const struct mrule flagtree_rules[] = {
	{ "ro*", TO_NOBODY },	{ "@ignored", TO_SCRATCH }, { "@backend", TO_OWNER },
	{ "@mapped", TO_SPEC }, { "@any", TO_OWNER },	    { NULL, TO_OWNER },
};

static const struct mrule owner_rules[] = {
	{ "ro*", TO_NOBODY },
	{ "@any", TO_OWNER },
	{ NULL, TO_OWNER },
};

/* Neighbours go to different places. */
static const struct mrule mixed_rules[] = {
	{ "a*", TO_SCRATCH },	{ "b*", TO_SPEC },    { "ig*", TO_TRUNK }, { "@backend", TO_OWNER },
	{ "@mapped", TO_SPEC }, { "@any", TO_OWNER }, { NULL, TO_OWNER },
};

const struct setup setups[] = {
	{ .name = "scratch-all", .rules = flagtree_rules, .scratch_all = true },
	{ .name = "flagtree", .rules = flagtree_rules },
	{ .name = "outside", .rules = flagtree_rules, .external = true },
	{ .name = "whole", .rules = flagtree_rules, .whole = true },
	{ .name = "owner", .rules = owner_rules },
	{ .name = "owner-outside", .rules = owner_rules, .external = true },
	{ .name = "mixed", .rules = mixed_rules },
	{ .name = "except", .rules = flagtree_rules, .except = true },
	{ .name = "only", .rules = flagtree_rules, .only = true },
	{ .name = "only-owner", .rules = owner_rules, .only = true, .external = true },
	{ .name = "graft", .rules = flagtree_rules, .graft = true },
	{ .name = "graft-mixed", .rules = mixed_rules, .graft = true, .external = true },
	{ .name = "made", .rules = flagtree_rules, .made = true },
	{ .name = "readonly", .rules = flagtree_rules, .readonly = true },
	{ .name = "overlay" },
	{ .name = "overlay-owner", .write_owner = true },
	{ .name = NULL },
};

const struct setup *setup_find(const char *name)
{
	for (const struct setup *s = setups; s->name; s++)
		if (!strcmp(s->name, name))
			return s;
	return NULL;
}

static int make_dir(const struct site *s, const char *name)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/%s", s->tmp, name);
	return mkdir(path, 0755) < 0 && errno != EEXIST ? -errno : 0;
}

static int make_file(const struct site *s, const char *name, const char *text)
{
	char path[PATH_MAX];
	cleanup_fd int fd = -1;

	(void)snprintf(path, sizeof(path), "%s/%s", s->tmp, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	return fd < 0 ? -errno : fd_write_all(fd, text, strlen(text));
}

static int make_repository(const struct site *s)
{
	char path[PATH_MAX];
	git_repository *repo = NULL;
	int r;

	(void)snprintf(path, sizeof(path), "%s/trunk", s->tmp);
	git_libgit2_init();
	r = git_repository_init(&repo, path, 0);
	git_repository_free(repo);
	git_libgit2_shutdown();
	if (r < 0)
		return -EIO;
	r = make_dir(s, "trunk/.git/info");
	return r < 0 ? r : make_file(s, "trunk/.git/info/exclude", "ig*\n");
}

static const char *where_name(enum where w)
{
	static const char *const names[] = {
		[TO_SCRATCH] = "scratch", [TO_OWNER] = "owner", [TO_SPEC] = "spec",
		[TO_TRUNK] = "trunk",	  [TO_NOBODY] = "deny",
	};

	return names[w];
}

static int make_profile(const struct site *s)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	const struct setup *k = s->setup;

	strbuf_adds(&text, "[profile]\nname = prop\nbackends = spec/*/\n[hide]\nnames = hd*\n");
	for (unsigned i = 0; i < (k->whole ? 1 : s->arenas); i++) {
		strbuf_addf(&text, "[map m%u]\nat = ", i);
		strbuf_addf(&text, k->whole ? "." : "m%u", i);
		strbuf_addf(&text, "\nfrom = %s%sspec/${backend}/", k->external ? s->tmp : "",
			    k->external ? "/" : "");
		strbuf_addf(&text, k->whole ? "w\n" : "m%u\n", i);
		strbuf_adds(&text, k->except ? "except = d*\n" : "");
		if (k->made)
			strbuf_addf(&text, "[file f%u]\nat = f%u\ncontent = made\n"
				    "[link l%u]\nat = l%u\nto = c%u\n", i, i, i, i, i);
		if (k->graft)
			strbuf_addf(&text, "[graft g%u]\nat = g${backend}%u\nfrom = ", i, i);
		if (k->graft)
			strbuf_addf(&text, "%s%sspec/${backend}/m%u\n", k->external ? s->tmp : "",
				    k->external ? "/" : "", i);
		strbuf_adds(&text, k->only ? "only = a* c*\n" : "");
	}
	strbuf_adds(&text, "[write]\n");
	for (const struct mrule *r = k->rules; r->what; r++)
		strbuf_addf(&text, "%s = %s\n", r->what, where_name(r->to));
	return strbuf_failed(&text) < 0 ? -ENOMEM : make_file(s, "profile.ini", text.buf);
}

static int make_specs(const struct site *s)
{
	static const char *const tops[] = { "trunk/spec", "spec" };
	char dir[64];
	int r = 0;

	for (unsigned i = 0; i < 2 && !r; i++) {
		r = make_dir(s, tops[i]);
		for (char b = 'a'; b <= 'b' && !r; b++) {
			(void)snprintf(dir, sizeof(dir), "%s/%c", tops[i], b);
			r = make_dir(s, dir);
			(void)snprintf(dir, sizeof(dir), "%s/%c/w", tops[i], b);
			if (!r)
				r = make_dir(s, dir);
			for (unsigned k = 0; k < s->arenas && !r; k++) {
				(void)snprintf(dir, sizeof(dir), "%s/%c/m%u", tops[i], b, k);
				r = make_dir(s, dir);
			}
		}
	}
	return r;
}

/* The directory for it all: below $TMPDIR, else in memory if that will do, else below /tmp. */
static int make_top(struct site *s)
{
	const char *base = getenv("TMPDIR");
	bool tried = base != NULL;

	for (;;) {
		(void)snprintf(s->tmp, sizeof(s->tmp), "%s/specfs-prop-XXXXXX",
			       base ? base : tried ? "/tmp" : "/dev/shm");
		if (mkdtemp(s->tmp)) {
			if (tried || !setxattr(s->tmp, "user.specfs.test", "", 0, 0))
				return 0;
			(void)rmdir(s->tmp); /* it is empty */
		} else if (tried) {
			return -errno;
		}
		tried = true;
	}
}

int site_make(struct site *s, const struct setup *setup, unsigned arenas)
{
	int r;

	*s = (struct site){ .setup = setup, .arenas = arenas, .mount_fd = -1 };
	umask(0);
	r = make_top(s);
	if (!r)
		r = make_dir(s, "trunk");
	if (!r)
		r = make_repository(s);
	if (!r && setup->rules)
		r = make_specs(s);
	if (!r && setup->rules)
		r = make_profile(s);
	if (!r && !setup->rules)
		r = make_dir(s, "over1");
	if (!r && !setup->rules)
		r = make_dir(s, "over2");
	return r < 0 ? r : make_dir(s, "mnt");
}

void site_remove(struct site *s)
{
	cleanup_fd int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (getenv("SPECFS_KEEP")) {
		fprintf(stderr, "kept: %s\n", s->tmp);
		return;
	}
	if (fd >= 0 && posix_purge(fd, s->tmp + 1) != 0)
		fprintf(stderr, "'%s' can't be removed\n", s->tmp);
}

int site_open_layer(const struct site *s, const struct model *m, unsigned layer, char suffix)
{
	const struct mlayer *l = &m->layers[layer];
	char path[PATH_MAX];
	int fd;

	if (l->role == ROLE_CHECKOUT)
		(void)snprintf(path, sizeof(path), "%s/trunk", s->tmp);
	else if (l->role == ROLE_OVERLAY)
		(void)snprintf(path, sizeof(path), "%s/over%u", s->tmp, layer);
	else
		(void)snprintf(path, sizeof(path), "%s/%sspec/%c/%c%c", s->tmp,
			       s->setup->external ? "" : "trunk/", "?ab"[layer],
			       s -> setup -> whole ? 'w' : 'm', s->setup->whole ? '\0' : suffix);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static char *below(const struct site *s, const char *name)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/%s", s->tmp, name);
	return strdup(path);
}

int site_options(const struct site *s, struct view_options *ret)
{
	bool ok;

	*ret = (struct view_options){
		.root = below(s, "trunk"),
		.scratch = below(s, "scratch"),
		.profile = s->setup->rules ? below(s, "profile.ini") : NULL,
		.scratch_all = s->setup->scratch_all,
		.write_owner = s->setup->write_owner,
		.readonly = s->setup->readonly,
	};
	ok = ret->root && ret->scratch && (ret->profile || !s->setup->rules);
	for (unsigned i = 1; i <= 2 && ok; i++) {
		char name[8] = { "?ab"[i] };
		cleanup_free char *dir = NULL;

		if (s->setup->rules) {
			ok = strv_add(&ret->backends, name) == 0;
			continue;
		}
		(void)snprintf(name, sizeof(name), "over%u", i);
		dir = below(s, name);
		ok = dir && strv_add(&ret->overlays, dir) == 0;
	}
	return ok ? 0 : -ENOMEM;
}

void site_options_clear(struct view_options *o)
{
	strv_clear(&o->backends);
	strv_clear(&o->overlays);
	free((char *)o->root);
	free((char *)o->scratch);
	free((char *)o->profile);
}
