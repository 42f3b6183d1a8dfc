/* SPDX-License-Identifier: MIT */
/*
 * Others who edit the checkout at every system call of a change in turn. What they have put there
 * is seen in the view, and what a change says that it has made is of the kind that was asked for.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "tree.h"
#include "viewfix.h"

#define TEST(t) cmocka_unit_test_setup_teardown(t, viewfix_setup, viewfix_teardown)

enum { MOMENT_MAX = 3, OTHER_KIND = 40, SKIPPED = 99 };

/* A change in the view, and an edit underneath: what is made is at @path. */
struct scenario {
	const char *name;
	int (*change)(struct viewfix *f); /* OTHER_KIND if it has made something else */
	const char *path;		  /* view path, below trunk the same */
	const char *text;		  /* what the edit puts there; NULL: a directory */
	bool takes_place;		  /* the edit takes the name from what is there */
	bool hides;			  /* an edit after that is not seen, also at once */
	const char *moved;		  /* view path that the change takes it to, or NULL */
};

static int rmdir_dir(struct viewfix *f)
{
	return vf_rmdir(f, "src/d");
}

/* Not empty on disk: there is what the view hides, and what is removed in scratch only. */
static int rmdir_hiding(struct viewfix *f)
{
	return vf_rmdir(f, "src/h");
}

static int rename_over_dir(struct viewfix *f)
{
	return vf_rename(f, "src/e", "src/d", 0);
}

static int rename_dir(struct viewfix *f)
{
	return vf_rename(f, "src/r", "src/t", 0);
}

/* By copying, into a spec directory; the old one goes, or can't for what the view hides in it. */
static int move_dir(struct viewfix *f)
{
	return vf_rename(f, "src/r", "lib/t", 0);
}

static int move_hiding(struct viewfix *f)
{
	return vf_rename(f, "src/h", "lib/t", 0);
}

static int move_link(struct viewfix *f)
{
	return vf_rename(f, "src/l", "lib/u", 0);
}

/* To a name that trunk has and a whiteout hides. */
static int move_over_whiteout(struct viewfix *f)
{
	return vf_rename(f, "src/f", "lib/w", 0);
}

/* A new object of @type, and whether it is one. */
static int make(struct viewfix *f, mode_t type)
{
	struct found dir = vf_look(f, "src");
	struct cred who = { .uid = geteuid(), .gid = getegid() };
	struct found made;
	int fd = -1;
	int r;

	if (type == S_IFDIR)
		r = change_mkdir(f->v, "src", &dir, "n", 0755, &who, &made);
	else if (type == S_IFLNK)
		r = change_symlink(f->v, "src", &dir, "n", "text", &who, &made);
	else if (type == S_IFREG)
		r = change_create(f->v, "src", &dir, "n", 0644, &who, &made, &fd);
	else
		r = change_mknod(f->v, "src", &dir, "n", type | 0644, 0, &who, &made);
	if (fd >= 0)
		close(fd);
	if (r < 0)
		return r;
	return (made.st.st_mode & S_IFMT) == type && (made.obj.st.st_mode & S_IFMT) == type
		       ? 0
		       : OTHER_KIND;
}

static int make_dir(struct viewfix *f)
{
	return make(f, S_IFDIR);
}

static int make_symlink(struct viewfix *f)
{
	return make(f, S_IFLNK);
}

static int make_file(struct viewfix *f)
{
	return make(f, S_IFREG);
}

static int make_fifo(struct viewfix *f)
{
	return make(f, S_IFIFO);
}

static int make_link(struct viewfix *f)
{
	struct found dir = vf_look(f, "src");
	struct found from = vf_look(f, "src/f");
	struct found was = from;
	struct found made;
	int r = change_link(f->v, "src/f", &from, "src", &dir, "n", &made);

	if (r < 0)
		return r;
	return object_same(&made.obj, &was.obj) && object_same(&from.obj, &was.obj) ? 0
										    : OTHER_KIND;
}

static const struct scenario scenarios[] = {
	{ "rmdir", rmdir_dir, "src/d/new", "new", false, false },
	{ "rmdir of what hides", rmdir_hiding, "src/h/new", "new", false, true },
	{ "rename over a directory", rename_over_dir, "src/d/new", "new", false, false },
	{ "move", move_dir, "src/r/in/new", "new", false, false, "lib/t/in/new" },
	{ "move of what hides", move_hiding, "src/h/new", "new", false, true, "lib/t/new" },
	{ "move of what would not be shown", move_dir, "src/r/no", "new", false, false,
	  "lib/t/no" },
	{ "move of a file in it", move_dir, "src/r/x", "new", true, false, "lib/t/x" },
	{ "move of a link", move_link, "src/l", "new", true, false, "lib/u" },
	{ "move to a deleted name", move_over_whiteout, "src/f", "new", true, false, "lib/w" },
	{ "move of another directory", move_dir, "src/r/in/d", NULL, false, false, "lib/t/in/d" },
	{ "mkdir", make_dir, "src/n", "new", true, false },
	{ "symlink", make_symlink, "src/n", "new", true, false },
	{ "create", make_file, "src/n", NULL, true, false },
	{ "mknod", make_fifo, "src/n", NULL, true, false },
	{ "link", make_link, "src/n", "new", true, false },
};

/* The edit underneath. Where its directory is not there, or no name to take, nothing is done. */
static bool edit(struct viewfix *f, const struct scenario *s)
{
	char path[128];
	struct stat st;
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", f->trunk, s->path);
	if (s->takes_place && lstat(path, &st) < 0)
		return false;
	if (s->takes_place && (S_ISDIR(st.st_mode) ? rmdir(path) : unlink(path)) < 0)
		return false;
	if (!s->text)
		return mkdir(path, 0755) == 0;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return false;
	assert_int_equal(write(fd, s->text, strlen(s->text)), (ssize_t)strlen(s->text));
	close(fd);
	return true;
}

static void undo(struct viewfix *f, const struct scenario *s)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", f->trunk, s->path);
	(void)unlink(path); /* the change may have moved it */
}

/* In the child: wait to be traced, then do it. */
static _Noreturn void child(struct viewfix *f, const struct scenario *s)
{
	int r;

	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
		_exit(SKIPPED);
	(void)raise(SIGSTOP);
	r = s->change(f);
	_exit(r < 0 ? 1 : r);
}

/*
 * Do the change with the edit before its @call'th system call, or the first one after that at which
 * it can be done; undone again @moment calls later, or never if that is 0. *@call becomes that one;
 * @ret_seen: the view showed it at once. Returns the change's exit status, -1 without an edit.
 */
static int run(struct viewfix *f, const struct scenario *s, unsigned moment, unsigned *call,
	       bool *ret_seen)
{
	bool edited = false;
	unsigned stops = 0;
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid)
		child(f, s);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSTOPPED(status))
		assert_int_equal(ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_EXITKILL), 0);
	while (WIFSTOPPED(status)) {
		/* stops come before and after each call */
		if (!edited && stops % 2 == 0 && stops / 2 >= *call) {
			edited = edit(f, s);
			*call = stops / 2;
			*ret_seen = edited && s->text && !strcmp(vf_text(f, s->path), s->text);
		}
		if (edited && moment && stops == 2 * (*call + moment))
			undo(f, s);
		stops++;
		assert_int_equal(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
	}
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == SKIPPED)
		skip();
	return edited ? WEXITSTATUS(status) : -1;
}

/* What others have put at @path is there on disk, or where the change has taken it. */
static void check_seen(struct viewfix *f, const char *what, const char *path, const char *text)
{
	if (!text)
		check_int(what, S_ISDIR(vf_look(f, path).st.st_mode), true);
	else
		check_str(what, vf_text(f, path), text);
}

static void check(struct viewfix *f, const struct scenario *s, unsigned call, int status)
{
	char what[128];
	char path[128];
	char disk[64];

	(void)snprintf(what, sizeof(what), "%s, edit before call %u", s->name, call);
	if (status == OTHER_KIND)
		fail_msg("%s: it says that it has made what others have", what);
	(void)snprintf(path, sizeof(path), "trunk/%s", s->path);
	if (!tree_exists(f->tmp, path)) { /* the change came after the edit */
		if (s->moved)
			check_seen(f, what, s->moved, s->text);
		return;
	}
	if (s->text)
		(void)snprintf(disk, sizeof(disk), "%s", vf_on_disk(f, path));
	check_seen(f, what, s->path, s->text ? disk : NULL);
	check_str(what, vf_text(f, "src/h/gone.o"), "ENOENT");
}

static void fresh(void **state, struct viewfix **ret)
{
	assert_int_equal(viewfix_setup(state), 0);
	*ret = *state;
	tree_make((*ret)->tmp,
		  "trunk/.specfs.ini=[profile]\nname = t\nbackends = spec/*/\n"
		  "[map lib]\nat = lib\nfrom = spec/${backend}/lib\nexcept = no\n"
		  "[hide]\nnames = hidden.txt\n[write]\n*.o = scratch\n@any = owner\n",
		  "trunk/spec/b/lib/", "trunk/lib/w=w", "trunk/src/f=f", "trunk/src/l->f",
		  "trunk/src/d/", "trunk/src/e/", "trunk/src/r/x=x", "trunk/src/r/in/y=y",
		  "trunk/src/h/hidden.txt=h", "trunk/src/h/gone.o=o", NULL);
	(*ret)->o.scratch_all = true;
	vf_open(*ret, "b");
	assert_int_equal(vf_rm(*ret, "lib/w"), 0);
	(*ret)->o.scratch_all = false;
	vf_remount(*ret);
	assert_int_equal(vf_rm(*ret, "src/h/gone.o"), 0);
}

static void what_others_put_there_is_seen(void **state)
{
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		unsigned n = 0;
		int status = 0;
		bool seen = false;

		for (unsigned call = 0; status >= 0; call++, n++) {
			struct viewfix *f;

			assert_int_equal(viewfix_teardown(state), 0);
			fresh(state, &f);
			status = run(f, &scenarios[i], 0, &call, &seen);
			if (status >= 0 && (seen || !scenarios[i].hides))
				check(f, &scenarios[i], call, status);
		}
		assert_true(n > 1); /* there was an edit */
	}
}

/* What the view hides and what scratch has instead is decided by what is there all the time. */
static const struct moment {
	struct scenario s;
	const char *made; /* below T, by the change if it succeeds; NULL: none */
} moments[] = {
	{ { "rmdir", rmdir_dir, "src/d/new", "new", false, false }, NULL },
	{ { "mkdir", make_dir, "src/n", "new", false, false }, "trunk/src/n" },
	{ { "rename", rename_dir, "src/t", "new", false, false }, "trunk/src/t/x" },
};

static void check_after_moment(struct viewfix *f, const struct moment *m, const char *what,
			       int status)
{
	if (m->made && !status)
		check_int(what, tree_exists(f->tmp, m->made), true);
	if (!tree_exists(f->tmp, "trunk/src/d"))
		return;
	tree_make(f->tmp, "trunk/src/d/later=later", NULL);
	check_str(what, vf_text(f, "src/d/later"), "later");
}

static void cut_in(void **state, const struct moment *m, unsigned moment)
{
	int status = 0;
	bool seen;

	for (unsigned call = 0; status >= 0; call++) {
		struct viewfix *f;
		char what[128];

		assert_int_equal(viewfix_teardown(state), 0);
		fresh(state, &f);
		status = run(f, &m->s, moment, &call, &seen);
		(void)snprintf(what, sizeof(what), "%s, edit before call %u, undone %u later",
			       m->s.name, call, moment);
		if (status >= 0)
			check_after_moment(f, m, what, status);
	}
}

static void what_was_there_for_a_moment_makes_no_difference(void **state)
{
	for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++)
		for (unsigned moment = 1; moment <= MOMENT_MAX; moment++)
			cut_in(state, &moments[i], moment);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_others_put_there_is_seen),
		TEST(what_was_there_for_a_moment_makes_no_difference),
	};

	tree_use_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
