/* SPDX-License-Identifier: MIT */
/* A view for tests of changes: see viewfix.h. */
#include "viewfix.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/path.h"
#include "check.h"
#include "layer/listing.h"
#include "tree.h"

#define PROFILE                                                                                \
	"trunk/.specfs.ini="                                                                   \
	"[profile]\nname = t\nbackends = spec/*/\n"                                            \
	"[map lib]\nat = lib\nfrom = spec/${backend}/lib\n"                                    \
	"[map py]\nat = py\nfrom = spec/${backend}/py\n"                                       \
	"[map extra]\nat = extra\nfrom = spec/${backend}/extra\n"                              \
	"[link tools]\nat = py/tools\nto = spec/${backend}/tools/*\n"                           \
	"[graft back]\nat = gr/${backend}\nfrom = spec/${backend}/back\n"                      \
	"[file marker]\nat = MARKER\ncontent = ${backend}\n"                                   \
	"[hide]\nnames = __pycache__/ hidden.txt\n"                                            \
	"[write]\n/.git = deny\n/deny* = deny\n/s = scratch\n/t = trunk\n@ignored = scratch\n" \
	"@backend = owner\n@mapped = spec\n@any = owner\n"

static char *below(const char *dir, const char *name)
{
	struct strbuf s = STRBUF_INIT;
	char *path;

	assert_int_equal(path_join(&s, dir, name), 0);
	path = strbuf_detach(&s);
	assert_non_null(path);
	return path;
}

int viewfix_setup(void **state)
{
	struct viewfix *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	umask(0);
	f->tmp = tree_tmp();
	f->trunk = below(f->tmp, "trunk");
	f->o.root = f->trunk;
	f->o.scratch = below(f->tmp, "scratch");
	tree_make(f->tmp, PROFILE, NULL);
	*state = f;
	return 0;
}

int viewfix_setup_by_path(void **state)
{
	struct viewfix *f;
	int r = viewfix_setup(state);

	f = *state;
	f->by_path = true;
	return r;
}

int viewfix_teardown(void **state)
{
	struct viewfix *f = *state;

	view_free(f->v);
	tree_remove(f->tmp);
	free(f->tmp);
	free(f->trunk);
	free((char *)f->o.scratch);
	strv_clear(&f->o.backends);
	strv_clear(&f->o.overlays);
	free(f);
	return 0;
}

static void open_view(struct viewfix *f)
{
	struct diag d = DIAG_INIT;
	int r = view_open(&f->o, &d, &f->v);

	if (r < 0)
		fail_msg("view_open: %s: %s", strerror(-r), d.lines.n ? d.lines.v[0] : "no line");
	diag_clear(&d);
}

void vf_open(struct viewfix *f, const char *backends)
{
	assert_int_equal(strv_add_words(&f->o.backends, backends, ","), 0);
	for (size_t i = 0; i < f->o.backends.n; i++) {
		char dir[64];

		(void)snprintf(dir, sizeof(dir), "trunk/spec/%s/extra/", f->o.backends.v[i]);
		tree_make(f->tmp, dir, NULL);
	}
	open_view(f);
}

void vf_remount(struct viewfix *f)
{
	view_free(f->v);
	f->v = NULL;
	open_view(f);
}

/* The errno's name, for comparisons. */
static const char *errno_name(struct viewfix *f, int r)
{
	(void)snprintf(f->text, sizeof(f->text), "%s", strerrorname_np(-r));
	return f->text;
}

struct found vf_look(struct viewfix *f, const char *path)
{
	struct found found;
	int r = stack_lookup(&f->v->stack, path, &found);

	if (r < 0)
		fail_msg("lookup of '%s': %s", path, strerror(-r));
	return found;
}

bool vf_shows(struct viewfix *f, const char *path, const struct found *before)
{
	struct found now = vf_look(f, path);

	return !before->virtual && object_same(&now.obj, &before->obj);
}

static int parent_of(struct viewfix *f, const char *path, char **ret_dir, struct found *ret)
{
	*ret_dir = strndup(path, path_parent_len(path));
	assert_non_null(*ret_dir);
	return stack_lookup(&f->v->stack, *ret_dir, ret);
}

const char *vf_text(struct viewfix *f, const char *path)
{
	struct strbuf s = STRBUF_INIT;
	struct found found;
	int r = stack_lookup(&f->v->stack, path, &found);

	if (r < 0)
		return errno_name(f, r);
	if (S_ISDIR(found.st.st_mode))
		return errno_name(f, -EISDIR);
	if (S_ISLNK(found.st.st_mode)) {
		strbuf_adds(&s, "->");
		r = stack_readlink(&f->v->stack, path, &found, &s);
	} else if (found.virtual) {
		strbuf_adds(&s, stack_virtual_content(&f->v->stack, &found));
	} else {
		int fd = stack_open_file(&f->v->stack, path, &found, O_RDONLY);

		r = fd < 0 ? fd : fd_read_all(fd, sizeof(f->text) - 1, &s);
		if (fd >= 0)
			close(fd);
	}
	if (r >= 0)
		(void)snprintf(f->text, sizeof(f->text), "%s", s.buf);
	strbuf_clear(&s);
	return r < 0 ? errno_name(f, r) : f->text;
}

const char *vf_names(struct viewfix *f, const char *dir)
{
	struct found found = vf_look(f, dir);
	struct listing *l = NULL;
	struct strv names = STRV_INIT;
	struct dirset ds;
	size_t used = 0;

	dirset_init(&ds);
	assert_int_equal(stack_open_dir(&f->v->stack, dir, found.parts, &ds), 0);
	assert_int_equal(listing_read(&f->v->stack, &ds, &l), 0);
	dirset_close(&ds);
	for (size_t i = 0; i < l->n; i++)
		assert_int_equal(strv_add(&names, l->v[i].name), 0);
	listing_free(l);
	strv_sort(&names);
	f->text[0] = '\0';
	for (size_t i = 0; i < names.n; i++)
		used += (size_t)snprintf(f->text + used, sizeof(f->text) - used, "%s%s",
					 i ? " " : "", names.v[i]);
	strv_clear(&names);
	return f->text;
}

const char *vf_layer(struct viewfix *f, const char *path)
{
	struct found found;
	int r = stack_lookup(&f->v->stack, path, &found);

	return r < 0 ? errno_name(f, r) : f->v->stack.layers[found.layer].label;
}

const char *vf_on_disk(struct viewfix *f, const char *path)
{
	char *text;

	if (!tree_exists(f->tmp, path))
		return "-";
	text = tree_content(f->tmp, path);
	(void)snprintf(f->text, sizeof(f->text), "%s", text);
	free(text);
	return f->text;
}

static struct cred me(void)
{
	return (struct cred){ .uid = geteuid(), .gid = getegid() };
}

int vf_put(struct viewfix *f, const char *path, const char *text)
{
	struct cred who = me();
	struct found found;
	struct found parent;
	char *dir = NULL;
	int fd = -1;
	int r = stack_lookup(&f->v->stack, path, &found);

	if (!r) {
		r = change_prepare(f->v, path, &found, 0);
		fd = r < 0 ? r : stack_open_file(&f->v->stack, path, &found, O_RDWR);
		if (fd >= 0)
			assert_int_equal(ftruncate(fd, 0), 0);
	} else if (r == -ENOENT) {
		r = parent_of(f, path, &dir, &parent);
		if (!r)
			r = change_create(f->v, dir, &parent, path_base(path), 0644, &who, &found,
					  &fd);
	}
	free(dir);
	if (!r && fd < 0)
		r = fd;
	if (r < 0)
		return r;
	r = fd_write_all(fd, text, strlen(text));
	close(fd);
	return r;
}

int vf_mkdir(struct viewfix *f, const char *path)
{
	struct cred who = me();
	struct found found;
	struct found parent;
	char *dir;
	int r = parent_of(f, path, &dir, &parent);

	if (!r)
		r = change_mkdir(f->v, dir, &parent, path_base(path), 0755, &who, &found);
	if (!r)
		assert_true(S_ISDIR(found.st.st_mode));
	free(dir);
	return r;
}

int vf_symlink(struct viewfix *f, const char *path, const char *text)
{
	struct cred who = me();
	struct found found;
	struct found parent;
	char *dir;
	int r = parent_of(f, path, &dir, &parent);

	if (!r)
		r = change_symlink(f->v, dir, &parent, path_base(path), text, &who, &found);
	free(dir);
	return r;
}

/* Open the directory that @path is in; *@ret_dir, which @ret points into, is to be freed. */
static int open_parent(struct viewfix *f, const char *path, char **ret_dir, struct found *ret_f,
		       struct dirset *ret)
{
	int r = parent_of(f, path, ret_dir, ret_f);

	return r < 0 ? r : stack_open_dir(&f->v->stack, *ret_dir, ret_f->parts, ret);
}

int vf_rm(struct viewfix *f, const char *path)
{
	cleanup_dirset struct dirset in;
	struct found parent;
	struct found found;
	char *dir = NULL;
	int r = stack_lookup(&f->v->stack, path, &found);

	dirset_init(&in);
	if (!r)
		r = open_parent(f, path, &dir, &parent, &in);
	if (!r)
		r = change_unlink(f->v, path, &found, f->by_path ? NULL : &in);
	free(dir);
	return r;
}

int vf_rmdir(struct viewfix *f, const char *path)
{
	struct found found;
	int r = stack_lookup(&f->v->stack, path, &found);

	return r < 0 ? r : change_rmdir(f->v, path, &found);
}

int vf_rename(struct viewfix *f, const char *from, const char *to, unsigned flags)
{
	cleanup_dirset struct dirset from_in;
	cleanup_dirset struct dirset to_in;
	struct found from_f;
	struct found to_f;
	struct found parent;
	char *from_dir = NULL;
	char *dir = NULL;
	int there = stack_lookup(&f->v->stack, to, &to_f);
	int r = stack_lookup(&f->v->stack, from, &from_f);

	dirset_init(&from_in);
	dirset_init(&to_in);
	if (!r && there < 0 && there != -ENOENT)
		r = there;
	if (!r)
		r = open_parent(f, from, &from_dir, &parent, &from_in);
	if (!r)
		r = open_parent(f, to, &dir, &parent, &to_in);
	if (!r) {
		struct change_name a = { .path = from, .f = &from_f };
		struct change_name b = { .path = to, .f = there ? NULL : &to_f };

		a.in = f->by_path ? NULL : &from_in;
		b.in = f->by_path ? NULL : &to_in;
		r = change_rename(f->v, &a, &b, &parent, flags);
	}
	free(from_dir);
	free(dir);
	f->copied = r > 0;
	return r < 0 ? r : 0;
}

int vf_link(struct viewfix *f, const char *from, const char *to)
{
	struct found found;
	struct found made;
	struct found parent;
	char *dir = NULL;
	int r = stack_lookup(&f->v->stack, from, &found);

	if (!r)
		r = parent_of(f, to, &dir, &parent);
	if (!r)
		r = change_link(f->v, from, &found, dir, &parent, path_base(to), &made);
	if (!r)
		assert_true(made.st.st_ino == found.st.st_ino);
	free(dir);
	return r;
}

int vf_chmod(struct viewfix *f, const char *path, mode_t mode)
{
	struct attr_change c = { .valid = CHANGE_MODE, .mode = mode };
	struct found found;
	int fd;
	int r = stack_lookup(&f->v->stack, path, &found);

	if (!r)
		r = change_prepare(f->v, path, &found, -1);
	if (r < 0)
		return r;
	fd = stack_open_file(&f->v->stack, path, &found, O_PATH);
	if (fd < 0)
		return fd;
	r = change_attrs(fd, &c);
	close(fd);
	return r;
}

static int is_interim(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	return !strncmp(path + at->base, WORKDIR_PREFIX, strlen(WORKDIR_PREFIX));
}

bool vf_is_clean(struct viewfix *f)
{
	char *work = below(f->o.scratch, "work");
	DIR *d = opendir(work);
	size_t n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	free(work);
	return n == 2 && nftw(f->tmp, is_interim, 32, FTW_PHYS) == 0;
}
