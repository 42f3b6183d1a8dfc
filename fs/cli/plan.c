/* SPDX-License-Identifier: MIT */
/* From what the user wrote to what is to be mounted: see plan.h. */
#include "cli/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "cli/place.h"
#include "cli/report.h"
#include "layer/bind.h"
#include "layout/backend.h"

enum { FUSE_CONF_MAX_BYTES = 1 << 20 };

int plan_read_lists(const struct option_table *t, const char *command,
		    bool (*ignore)(const char *name), struct mount_args *a)
{
	for (size_t i = 0; i < a->lists.n; i++) {
		cleanup_diag struct diag d = DIAG_INIT;
		int r = options_parse_list(t, a->lists.v[i], ignore, a, &d);

		if (r < 0)
			return d.lines.n ? fault("%s; see 'specfs %s --help'", d.lines.v[0],
						 command)
					 : fault_diag(&d, r);
	}
	return EXIT_OK;
}

/* "auto", "strict" or "ttl=SECONDS" */
static int set_cache(const struct mount_args *a, struct session_options *s)
{
	char *end;

	if (!a->cache || !strcmp(a->cache, "auto")) {
		s->cache = CACHE_AUTO;
	} else if (!strcmp(a->cache, "strict")) {
		s->cache = CACHE_STRICT;
	} else if (!strncmp(a->cache, "ttl=", 4)) {
		s->cache = CACHE_TTL;
		s->ttl_sec = strtod(a->cache + 4, &end);
		if (end == a->cache + 4 || *end || !isfinite(s->ttl_sec) || s->ttl_sec <= 0)
			return fault("mount option 'cache': '%s' is no number of seconds above 0",
				     a->cache + 4);
	} else {
		return fault("mount option 'cache': '%s' is none of auto, strict, ttl=SECONDS",
			     a->cache);
	}
	return EXIT_OK;
}

/* Past the mount only who may mount can lead; `specfs run` can in its own namespace. */
static int set_redirect(const struct mount_args *a, struct session_options *s)
{
	static const char *const modes[] = {
		[REDIRECTS_AUTO] = "auto",
		[REDIRECTS_BIND] = "bind",
		[REDIRECTS_SYMLINK] = "symlink",
		[REDIRECTS_NONE] = "none",
	};

	for (size_t i = 0; a->redirect && i < ARRAY_SIZE(modes); i++) {
		if (strcmp(a->redirect, modes[i]))
			continue;
		s->redirect = (enum redirect_mode)i;
		if (s->redirect != REDIRECTS_BIND || a->over_root || bind_may())
			return EXIT_OK;
		return fault("mount option 'redirect=bind' is for who may mount: root, or anybody "
			     "with 'specfs run'");
	}
	return a->redirect ? fault("mount option 'redirect': '%s' is none of auto, bind, symlink, "
				   "none", a->redirect)
			   : EXIT_OK;
}

/* Where changes underneath cannot be repeated through the mount. */
static int check_events(const struct mount_args *a, const struct session_options *s)
{
	if (!a->events)
		return EXIT_OK;
	if (a->over_root)
		return fault("mount option 'events' is not for 'specfs run'");
	if (a->readonly)
		return fault("mount option 'events' is not for views that are read-only");
	if (s->cache != CACHE_AUTO)
		return fault("mount option 'events' needs cache=auto, which watches the layers");
	return EXIT_OK;
}

static bool users_may_allow_other(void)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;
	char *save = NULL;

	if (fd_read_file(AT_FDCWD, "/etc/fuse.conf", FUSE_CONF_MAX_BYTES, &sb) < 0)
		return false;
	for (char *l = strtok_r(sb.buf, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		char *word = l + strspn(l, " \t");

		if (!strncmp(word, "user_allow_other", 16) &&
		    !word[16 + strspn(word + 16, " \t\r")])
			return true;
	}
	return false;
}

static int set_session(const struct mount_args *a, struct plan *p)
{
	struct session_options *s = &p->session;
	int r;

	s->readonly = a->readonly;
	s->allow_other = a->allow_other;
	s->allow_root = a->allow_root;
	s->events = a->events;
	s->noexec = a->noexec;
	s->io_uring = a->io_uring;
	s->max_threads = a->max_threads;
	s->debug_fuse = a->debug;
	s->mounted_fd = -1;
	p->cache = a->cache ? a->cache : "auto";
	if (a->remount)
		return fault("a view cannot be remounted: unmount it and mount it again");
	if (a->allow_other && a->allow_root)
		return fault("mount options 'allow_other' and 'allow_root' exclude each other");
	if ((a->allow_other || a->allow_root) && geteuid() != 0 && !users_may_allow_other())
		return fault("mount option '%s' is for root, unless the line 'user_allow_other' is "
			     "in /etc/fuse.conf", a->allow_other ? "allow_other" : "allow_root");
	if (a->write && strcmp(a->write, "owner"))
		return fault("mount option 'write': '%s' is not known, expected owner", a->write);
	if (a->write && !a->overlays.n)
		return fault("mount option 'write=owner' is for views with -l DIR; without, the "
			     "profile's rules decide");
	r = set_redirect(a, s);
	r = r ? r : set_cache(a, s);
	return r ? r : check_events(a, s);
}

static int locate_overlays(const struct mount_table *t, const struct strv *given, struct diag *d,
			   struct strv *ret)
{
	for (size_t i = 0; i < given->n; i++) {
		cleanup_strbuf struct strbuf at = STRBUF_INIT;
		struct stat st;
		int r = place_locate(t, "layer", given->v[i], d, &at);

		if (r < 0)
			return r;
		if (stat(at.buf, &st) < 0)
			return diag_add(d, -errno, NULL, 0, "layer '%s': %s", at.buf,
					strerror(errno));
		if (!S_ISDIR(st.st_mode))
			return diag_add(d, -ENOTDIR, NULL, 0, "layer '%s' is not a directory",
					at.buf);
		if (strv_has(ret, at.buf))
			return diag_add(d, -EEXIST, NULL, 0, "layer '%s' is given twice", at.buf);
		r = strv_add(ret, at.buf);
		if (r < 0)
			return r;
	}
	return 0;
}

/* A profile is a path if it looks like one; see profile_find(). */
static bool is_file_name(const char *profile)
{
	size_t len = strlen(profile);

	return strchr(profile, '/') || (len > 4 && !strcmp(profile + len - 4, ".ini"));
}

static int set_places(const struct mount_table *t, const struct mount_args *a,
		      const struct strv *words, struct plan *p, struct diag *d)
{
	const char *given = words->n > 0 ? words->v[0] : NULL;
	int r = place_root(t, given, d, &p->root);

	r = r < 0 ? r : locate_overlays(t, &a->overlays, d, &p->overlays);
	if (r >= 0 && a->profile && is_file_name(a->profile))
		r = place_locate(t, "profile", a->profile, d, &p->profile);
	else if (r >= 0 && a->profile)
		strbuf_adds(&p->profile, a->profile);
	if (r >= 0 && a->scratch) {
		r = path_locate_new(t, a->scratch, &p->scratch);
		if (r < 0)
			return diag_add(d, r, NULL, 0, "scratch '%s': %s", a->scratch,
					strerror(-r));
	}
	if (r >= 0 && words->n > 1)
		r = place_locate(t, "mountpoint", words->v[1], d, &p->mountpoint);
	if (r >= 0 && (strbuf_failed(&p->profile) || strbuf_failed(&p->scratch)))
		r = -ENOMEM;
	return r;
}

/* ROOT must not be taken out of a view by accident: what would be mounted is not what was named. */
static int check_root(const struct mount_table *t, const struct strv *words)
{
	cleanup_strbuf struct strbuf at = STRBUF_INIT;
	const struct mount_entry *m;

	if (path_locate(t, words->n ? words->v[0] : ".", &at) < 0)
		return EXIT_OK; /* told better by the caller */
	m = mount_around(t, at.buf);
	if (m && mount_is_view(m))
		return fault("'%s' lies in the mounted view '%s': name the checkout, '%s'",
			     at.buf, m->at, m->source);
	return EXIT_OK;
}

/* Beside the checkout, named after it and the chain. */
static int default_mountpoint(struct plan *p, const struct strv *backends)
{
	if (p->root.len <= 1)
		return fault("a mountpoint must be named: there is no place beside '/'");
	strbuf_addf(&p->mountpoint, "%s-", p->root.buf);
	for (size_t i = 0; i < backends->n; i++)
		strbuf_addf(&p->mountpoint, "%s%s", i ? "+" : "", backends->v[i]);
	if (!backends->n)
		strbuf_adds(&p->mountpoint, "view");
	return strbuf_failed(&p->mountpoint) ? fault("out of memory") : EXIT_OK;
}

static void join_names(const struct backend_info *list, size_t n, struct strbuf *ret)
{
	for (size_t i = 0; i < n; i++)
		strbuf_addf(ret, "%s%s", i ? ", " : "", list[i].name);
}

/* Without -b a view is the trunk alone; that may not be what was meant where there is a choice. */
static int tell_choice(const struct plan *p)
{
	cleanup_diag struct diag d = DIAG_INIT;
	cleanup_profile struct profile *profile = NULL;
	cleanup_free char *why = NULL;
	cleanup_strbuf struct strbuf names = STRBUF_INIT;
	cleanup_fd int root = open(p->root.buf, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct backend_info *list = NULL;
	size_t n = 0;
	int r = root < 0 ? diag_add(&d, -errno, NULL, 0, "checkout '%s': %s", p->root.buf,
				    strerror(errno)) : 0;

	if (r >= 0)
		r = profile_find(p->root.buf, p->view.profile, &d, &profile, &why);
	if (r >= 0)
		r = backend_list(root, profile, &d, &list, &n);
	if (r < 0)
		return fault_diag(&d, r);
	join_names(list, n, &names);
	backend_list_free(list, n);
	if (n && !p->quiet)
		note("without -b this is trunk alone, as no backend sees it; '%s' has %s",
		     p->root.buf, names.buf);
	return EXIT_OK;
}

static int check_backends(const struct strv *backends)
{
	for (size_t i = 0; i < backends->n; i++)
		for (size_t k = 0; k < i; k++)
			if (!strcmp(backends->v[i], backends->v[k]))
				return fault("backend '%s' is named twice", backends->v[i]);
	return EXIT_OK;
}

static void set_view(const struct mount_args *a, struct plan *p)
{
	p->view = (struct view_options){
		.root = p->root.buf,
		.profile = p->profile.len ? p->profile.buf : NULL,
		.backends = a->backends,
		.overlays = p->overlays,
		.scratch = p->scratch.len ? p->scratch.buf : NULL,
		.readonly = a->readonly,
		.scratch_all = a->scratch_all,
		.write_owner = a->write != NULL,
	};
	p->foreground = a->foreground;
	p->over_root = a->over_root;
	p->quiet = a->quiet;
	p->json = a->common.json;
}

/* Where the view's own files go: named, or by what the view is made of. */
static int set_scratch(struct plan *p)
{
	int r = p->scratch.len ? 0 : view_default_scratch(&p->view, &p->scratch);

	if (r == -ENOENT)
		return fault("no place for scratch: neither XDG_CACHE_HOME nor HOME is set; name "
			     "one with -s DIR");
	if (r < 0)
		return fault("no place for scratch: %s", strerror(-r));
	p->view.scratch = p->scratch.buf;
	return plan_check_layer(p, "scratch", p->scratch.buf);
}

/* Where the view will be seen; in a namespace of its own it hides nothing that is needed. */
static int set_mountpoint(const struct mount_table *t, const struct mount_args *a, struct plan *p)
{
	int r = EXIT_OK;

	if (a->over_root) {
		if (p->root.len <= 1)
			return fault("a view cannot be mounted over '/'");
		strbuf_adds(&p->mountpoint, p->root.buf);
		return strbuf_failed(&p->mountpoint) ? fault("out of memory") : EXIT_OK;
	}
	if (!p->mountpoint.len)
		r = default_mountpoint(p, &a->backends);
	return r ? r : plan_mountpoint(t, p);
}

int plan_make(const struct mount_args *a, const struct strv *words, struct plan *ret)
{
	cleanup_diag struct diag d = DIAG_INIT;
	cleanup_mount_table struct mount_table t = { 0 };
	int r;

	*ret = (struct plan){ .root = STRBUF_INIT, .mountpoint = STRBUF_INIT,
			      .profile = STRBUF_INIT, .scratch = STRBUF_INIT };
	r = set_session(a, ret);
	r = r ? r : check_backends(&a->backends);
	if (r)
		return r;
	r = mount_table_read(&t);
	if (r < 0)
		return fault("cannot read the mount table: %s", strerror(-r));
	r = check_root(&t, words);
	if (r)
		return r;
	r = set_places(&t, a, words, ret, &d);
	if (r < 0)
		return fault_diag(&d, r);
	set_view(a, ret);
	r = set_mountpoint(&t, a, ret);
	r = r ? r : set_scratch(ret);
	if (!r && !a->backends.n && !ret->overlays.n)
		r = tell_choice(ret);
	if (!r)
		plan_tell_path(ret);
	ret->session.mountpoint = ret->mountpoint.buf;
	ret->session.source = ret->root.buf;
	return r;
}

void plan_clear(struct plan *p)
{
	strbuf_clear(&p->root);
	strbuf_clear(&p->mountpoint);
	strbuf_clear(&p->profile);
	strbuf_clear(&p->scratch);
	strv_clear(&p->overlays);
}
