/* SPDX-License-Identifier: MIT */
/*
 * A daemon that dies, and a file system that fails, at every system call of every change in turn.
 * Afterwards no file of the checkout is lost or half-written, the view opens again, shows the old
 * or the new state of each name, and nothing interim is left.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "tree.h"
#include "viewfix.h"

#if defined(__x86_64__)

#define TEST(t) cmocka_unit_test_setup_teardown(t, viewfix_setup, viewfix_teardown)

enum { STEPS_MAX = 3000 };

/* One change, what it is about, and what may be seen there before and after. */
struct scenario {
	const char *name;
	int (*run)(struct viewfix *f);
	const char *path;   /* view path */
	const char *before; /* what vf_text() says of it */
	const char *after;
	const char *path2; /* a second one, or NULL */
	const char *before2;
	const char *after2;
	bool either; /* at least one of the two must show what they held before */
	/* made in the checkout afterwards: seen if the directory @path is, as it is on failure */
	const char *later;
	/* of an exchange: paths below the two names, whose texts @before and @before2 are */
	const char *inner;
	const char *inner2;
};

static int edit(struct viewfix *f, const char *path)
{
	struct found found;
	int r = stack_lookup(&f->v->stack, path, &found);

	return r < 0 ? r : change_prepare(f->v, path, &found, -1);
}

static int edit_scratch(struct viewfix *f)
{
	return edit(f, "s/f");
}

static int edit_spec(struct viewfix *f)
{
	return edit(f, "lib/f");
}

static int make_spec(struct viewfix *f)
{
	return vf_mkdir(f, "lib/n");
}

static int make_scratch(struct viewfix *f)
{
	return vf_symlink(f, "s/n", "x");
}

static int make_over_whiteout(struct viewfix *f)
{
	return vf_mkdir(f, "s/gone");
}

static int rm_both(struct viewfix *f)
{
	return vf_rm(f, "lib/both");
}

static int rm_trunk(struct viewfix *f)
{
	return vf_rm(f, "src/f");
}

static int rm_scratch(struct viewfix *f)
{
	return vf_rm(f, "s/f");
}

static int rm_hidden(struct viewfix *f)
{
	return vf_rm(f, "lib/f");
}

static int rmdir_spec(struct viewfix *f)
{
	return vf_rmdir(f, "lib/e");
}

/* It is hidden, and scratch has a part of it. */
static int rmdir_hiding(struct viewfix *f)
{
	return vf_rmdir(f, "src/h");
}

static int rename_in_trunk(struct viewfix *f)
{
	return vf_rename(f, "src/f", "src/t", 0);
}

static int rename_over_in_trunk(struct viewfix *f)
{
	return vf_rename(f, "src/f", "src/g", 0);
}

static int rename_copy_to_spec(struct viewfix *f)
{
	return vf_rename(f, "lib/f", "lib/t", 0);
}

static int rename_trunk_to_scratch(struct viewfix *f)
{
	return vf_rename(f, "src/f", "s/t", 0);
}

static int rename_scratch_to_trunk(struct viewfix *f)
{
	return vf_rename(f, "s/f", "src/t", 0);
}

static int rename_scratch_over_spec(struct viewfix *f)
{
	return vf_rename(f, "s/mine", "lib/both", 0);
}

static int rename_in_scratch(struct viewfix *f)
{
	return vf_rename(f, "s/mine", "s/t", 0);
}

static int rename_dir_to_spec(struct viewfix *f)
{
	return vf_rename(f, "src/d", "lib/t", 0);
}

static int rename_dir_in_scratch(struct viewfix *f)
{
	return vf_rename(f, "s/d", "s/t", 0);
}

static int rename_graft(struct viewfix *f)
{
	return vf_rename(f, "gr/b/f", "s/t", 0);
}

static int rename_merged(struct viewfix *f)
{
	return vf_rename(f, "lib/m", "src/t", 0);
}

/* Names that a whiteout hides, and trunk still has. */
static int rename_over_whiteout(struct viewfix *f)
{
	return vf_rename(f, "src/f", "lib/w", 0);
}

static int rename_copy_over_whiteout(struct viewfix *f)
{
	return vf_rename(f, "src/l", "lib/w", 0);
}

static int rename_scratch_over_whiteout(struct viewfix *f)
{
	return vf_rename(f, "s/mine", "lib/w", 0);
}

static int exchange_files(struct viewfix *f)
{
	return vf_rename(f, "src/f", "s/mine", RENAME_EXCHANGE);
}

static int exchange_links(struct viewfix *f)
{
	return vf_rename(f, "src/l", "s/l", RENAME_EXCHANGE);
}

static int exchange_file_and_dir(struct viewfix *f)
{
	return vf_rename(f, "src/d", "s/mine", RENAME_EXCHANGE);
}

static int exchange_into_spec(struct viewfix *f)
{
	return vf_rename(f, "lib/l", "lib/both", RENAME_EXCHANGE);
}

static int exchange_dirs(struct viewfix *f)
{
	return vf_rename(f, "src/d", "lib/d", RENAME_EXCHANGE);
}

static const struct scenario scenarios[] = {
	{ "copy-up to scratch", edit_scratch, "s/f", "s", "s" },
	{ "copy-up to spec", edit_spec, "lib/f", "lib", "lib" },
	{ "mkdir in spec", make_spec, "lib/n", "ENOENT", "EISDIR" },
	{ "symlink in scratch", make_scratch, "s/n", "ENOENT", "->x" },
	{ "mkdir over a whiteout", make_over_whiteout, "s/gone", "ENOENT", "EISDIR" },
	{ "rm of spec and trunk", rm_both, "lib/both", "spec", "ENOENT" },
	{ "rm in trunk", rm_trunk, "src/f", "src", "ENOENT" },
	{ "rm in scratch", rm_scratch, "s/f", "s", "ENOENT" },
	{ "rm by hide line", rm_hidden, "lib/f", "lib", "ENOENT" },
	{ "rmdir of spec and trunk", rmdir_spec, "lib/e", "EISDIR", "ENOENT" },
	{ "rmdir of what hides", rmdir_hiding, "src/h", "EISDIR", "ENOENT",
	  .later = "src/h/later" },
	{ "rename in trunk", rename_in_trunk, "src/f", "src", "ENOENT", "src/t", "ENOENT", "src",
	  true },
	{ "rename over in trunk", rename_over_in_trunk, "src/f", "src", "ENOENT", "src/g", "g",
	  "src", true },
	{ "rename into spec", rename_copy_to_spec, "lib/f", "lib", "ENOENT", "lib/t", "ENOENT",
	  "lib", true },
	{ "rename trunk to scratch", rename_trunk_to_scratch, "src/f", "src", "ENOENT", "s/t",
	  "ENOENT", "src", true },
	{ "rename scratch to trunk", rename_scratch_to_trunk, "s/f", "s", "ENOENT", "src/t",
	  "ENOENT", "s", true },
	{ "rename scratch over spec", rename_scratch_over_spec, "s/mine", "mine", "ENOENT",
	  "lib/both", "spec", "mine", true },
	{ "rename in scratch", rename_in_scratch, "s/mine", "mine", "ENOENT", "s/t", "ENOENT",
	  "mine", true },
	{ "rename of a tree into spec", rename_dir_to_spec, "src/d/in/x", "srcx", "ENOENT",
	  "lib/t/in/x", "ENOENT", "srcx", true },
	{ "rename of a tree in scratch", rename_dir_in_scratch, "s/d/in/x", "sx", "ENOENT",
	  "s/t/in/x", "ENOENT", "sx", true },
	{ "rename out of a graft", rename_graft, "gr/b/f", "back", "ENOENT", "s/t", "ENOENT",
	  "back", true },
	{ "rename of a merged tree", rename_merged, "lib/m/s", "ms", "ENOENT", "src/t/s", "ENOENT",
	  "ms", true },
	{ "rename to a deleted name", rename_over_whiteout, "src/f", "src", "ENOENT", "lib/w",
	  "ENOENT", "src", true },
	{ "rename of a link to one", rename_copy_over_whiteout, "src/l", "->one", "ENOENT",
	  "lib/w", "ENOENT", "->one", true },
	{ "rename out of scratch to one", rename_scratch_over_whiteout, "s/mine", "mine", "ENOENT",
	  "lib/w", "ENOENT", "mine", true },
	{ .name = "exchange of files", .run = exchange_files, .path = "src/f", .before = "src",
	  .path2 = "s/mine", .before2 = "mine", .inner = "", .inner2 = "" },
	{ .name = "exchange of links", .run = exchange_links, .path = "src/l", .before = "->one",
	  .path2 = "s/l", .before2 = "->two", .inner = "", .inner2 = "" },
	{ .name = "exchange of file and tree", .run = exchange_file_and_dir, .path = "src/d",
	  .before = "srcx", .path2 = "s/mine", .before2 = "mine", .inner = "/in/x", .inner2 = "" },
	{ .name = "exchange in spec", .run = exchange_into_spec, .path = "lib/l",
	  .before = "->three", .path2 = "lib/both", .before2 = "spec", .inner = "", .inner2 = "" },
	{ .name = "exchange of trees", .run = exchange_dirs, .path = "src/d", .before = "srcx",
	  .path2 = "lib/d", .before2 = "libx", .inner = "/in/x", .inner2 = "/x" },
};

static struct viewfix *prepare(void **state)
{
	struct viewfix *f;

	viewfix_teardown(state);
	viewfix_setup(state);
	f = *state;
	tree_make(f->tmp, "trunk/src/f=src", "trunk/src/g=g", "trunk/src/d/in/x=srcx",
		  "trunk/lib/f=lib", "trunk/lib/both=trunk", "trunk/spec/b/lib/both=spec",
		  "trunk/lib/e/", "trunk/spec/b/lib/e/", "trunk/spec/b/back/f=back", "trunk/s/f=s",
		  "trunk/s/gone=gone", "trunk/lib/w=w", "trunk/s/d/in/x=sx", "trunk/src/l->one",
		  "trunk/lib/l->three", "trunk/lib/d/x=libx",
		  "trunk/src/h/hidden.txt=h", "trunk/lib/m/t=mt", "trunk/spec/b/lib/m/s=ms", NULL);
	f->o.scratch_all = true;
	vf_open(f, "b");
	assert_int_equal(vf_rm(f, "lib/w"), 0);
	f->o.scratch_all = false;
	vf_remount(f);
	assert_int_equal(vf_put(f, "s/mine", "mine"), 0);
	assert_int_equal(vf_symlink(f, "s/l", "two"), 0);
	assert_int_equal(vf_mkdir(f, "lib/m/__pycache__"), 0);
	assert_int_equal(vf_rm(f, "s/gone"), 0);
	assert_int_equal(vf_mkdir(f, "src/h/__pycache__"), 0);
	assert_int_equal(vf_rmdir(f, "src/h/__pycache__"), 0);
	return f;
}

/* Files of the checkout that no scenario may take away or change in place. */
static void check_checkout(struct viewfix *f, const char *what)
{
	static const char *const kept[][2] = {
		{ "trunk/lib/f", "lib" },   { "trunk/lib/both", "trunk" },
		{ "trunk/s/f", "s" },	    { "trunk/s/gone", "gone" },
		{ "trunk/s/d/in/x", "sx" }, { "trunk/spec/b/back/f", "back" },
		{ "trunk/src/h/hidden.txt", "h" }, { "trunk/lib/w", "w" },
	};

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		check_str(what, vf_on_disk(f, kept[i][0]), kept[i][1]);
}

static bool is_one_of(struct viewfix *f, const char *path, const char *a, const char *b)
{
	const char *text = vf_text(f, path);

	return !strcmp(text, a) || !strcmp(text, b);
}

static bool is_at(struct viewfix *f, const char *path, const char *inner, const char *text)
{
	char full[96];

	(void)snprintf(full, sizeof(full), "%s%s", path, inner);
	return !strcmp(vf_text(f, full), text);
}

/* Is the object at the name in the root that an exchange moves it to, or at the other? */
static bool is_aside(struct viewfix *f, const char *inner, const char *text)
{
	char names[512];

	(void)snprintf(names, sizeof(names), "%s", vf_names(f, ""));
	for (char *save = NULL, *name = strtok_r(names, " ", &save); name;
	     name = strtok_r(NULL, " ", &save))
		if (!strncmp(name, WORKDIR_SWAP_PREFIX, strlen(WORKDIR_SWAP_PREFIX)) &&
		    is_at(f, name, inner, text))
			return true;
	return false;
}

static void check_exchanged(struct viewfix *f, const struct scenario *s, const char *what,
			    bool done)
{
	bool stayed = is_at(f, s->path, s->inner, s->before);
	bool stayed2 = is_at(f, s->path2, s->inner2, s->before2);
	bool moved = is_at(f, s->path2, s->inner, s->before);
	bool moved2 = is_at(f, s->path, s->inner2, s->before2);

	if ((moved && moved2) || (!done && stayed && stayed2))
		return;
	/* the view can't tell what a half removed tree is a copy of: all of it stays */
	if (!done && (*s->inner || *s->inner2) &&
	    (stayed || moved || is_aside(f, s->inner, s->before)) &&
	    (stayed2 || moved2 || is_aside(f, s->inner2, s->before2)))
		return;
	fail_msg("%s: exchanged%s%s%s%s%s", what, stayed ? " 1 stayed" : "",
		 stayed2 ? " 2 stayed" : "", moved ? " 1 moved" : "", moved2 ? " 2 moved" : "",
		 done ? ", done" : "");
}

/* The state after scenario @s was cut short; @done: it said that it succeeded. */
static void check_after(struct viewfix *f, const struct scenario *s, unsigned step, bool done)
{
	char what[160];

	(void)snprintf(what, sizeof(what), "%s, call %u", s->name, step);
	check_checkout(f, what);
	check_int(what, vf_is_clean(f), true);
	if (s->inner) {
		check_exchanged(f, s, what, done);
		return;
	}
	if (!is_one_of(f, s->path, done ? s->after : s->before, s->after))
		fail_msg("%s: '%s' is '%s'", what, s->path, vf_text(f, s->path));
	if (s->path2 && !is_one_of(f, s->path2, done ? s->after2 : s->before2, s->after2))
		fail_msg("%s: '%s' is '%s'", what, s->path2, vf_text(f, s->path2));
	if (s->either && strcmp(vf_text(f, s->path), s->before) &&
	    strcmp(vf_text(f, s->path2), s->after2))
		fail_msg("%s: neither name is there", what);
}

/* A directory that is still there is the one of the checkout. */
static void check_later(struct viewfix *f, const struct scenario *s, unsigned step, bool failed)
{
	char what[160];
	char file[64];

	if (!s->later || (!failed && strcmp(vf_text(f, s->path), "EISDIR") != 0))
		return;
	(void)snprintf(what, sizeof(what), "%s, call %u", s->name, step);
	check_str(what, vf_text(f, s->path), s->before);
	(void)snprintf(file, sizeof(file), "trunk/%s=later", s->later);
	tree_make(f->tmp, file, NULL);
	check_str(what, vf_text(f, s->later), "later");
}

/* In the child: wait to be traced, then do it. */
static _Noreturn void child(struct viewfix *f, const struct scenario *s)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
		_exit(99);
	(void)raise(SIGSTOP);
	_exit(s->run(f) < 0 ? 1 : 0);
}

/* How a run ended. */
enum outcome { DONE, FAILED, CUT, UNCUT, UNTRACEABLE };

static enum outcome ended(int status)
{
	if (!WIFEXITED(status) || WEXITSTATUS(status) == 99)
		return UNTRACEABLE;
	return WEXITSTATUS(status) ? FAILED : DONE;
}

/* Wait for the next entry to, or exit from, a system call. */
static bool next_stop(pid_t pid, int *status)
{
	if (ptrace(PTRACE_SYSCALL, pid, NULL, NULL) < 0 || waitpid(pid, status, 0) < 0)
		return false;
	return WIFSTOPPED(*status);
}

static bool start(struct viewfix *f, const struct scenario *s, pid_t *ret)
{
	int status;

	*ret = fork();
	assert_true(*ret >= 0);
	if (!*ret)
		child(f, s);
	assert_int_equal(waitpid(*ret, &status, 0), *ret);
	if (!WIFSTOPPED(status))
		return false;
	return ptrace(PTRACE_SETOPTIONS, *ret, NULL, PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD) ==
	       0;
}

/* Does this call change a file system, or could a failing one fail it in a way that matters? */
static bool is_change(unsigned long long call)
{
	static const long calls[] = {
		SYS_write,     SYS_pwrite64,	    SYS_openat,	   SYS_openat2,	  SYS_mkdirat,
		SYS_unlinkat,  SYS_renameat,	    SYS_renameat2, SYS_linkat,	  SYS_symlinkat,
		SYS_mknodat,   SYS_fsync,	    SYS_syncfs,	   SYS_ftruncate, SYS_fchmod,
		SYS_fchmodat,  SYS_fchownat,	    SYS_fsetxattr, SYS_setxattr,  SYS_removexattr,
		SYS_utimensat, SYS_copy_file_range,
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if ((unsigned long long)calls[i] == call)
			return true;
	return false;
}

/*
 * Run @s up to its @step'th call that counts: kill it there with @err 0, else let the call fail
 * with @err without being made.
 */
static enum outcome run_until(struct viewfix *f, const struct scenario *s, unsigned step, int err)
{
	struct user_regs_struct regs;
	unsigned seen = 0;
	bool entry = false;
	bool hit = false;
	int status = 0;
	pid_t pid;

	if (!start(f, s, &pid))
		return UNTRACEABLE;
	while (next_stop(pid, &status)) {
		entry = !entry;
		if (hit || !entry)
			continue;
		assert_int_equal(ptrace(PTRACE_GETREGS, pid, NULL, &regs), 0);
		if (!is_change(regs.orig_rax) || seen++ != step)
			continue;
		hit = true;
		if (!err) {
			assert_int_equal(kill(pid, SIGKILL), 0);
			assert_int_equal(waitpid(pid, &status, 0), pid);
			return CUT;
		}
		regs.orig_rax = (unsigned long long)-1;
		assert_int_equal(ptrace(PTRACE_SETREGS, pid, NULL, &regs), 0);
		if (!next_stop(pid, &status))
			break;
		entry = false;
		assert_int_equal(ptrace(PTRACE_GETREGS, pid, NULL, &regs), 0);
		regs.rax = (unsigned long long)-(long long)err;
		assert_int_equal(ptrace(PTRACE_SETREGS, pid, NULL, &regs), 0);
	}
	return hit ? ended(status) : UNCUT;
}

/* Sanitizers make a run many times slower: there a sample of the calls must do. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { STRIDE = 7 };
#else
enum { STRIDE = 1 };
#endif

/* Every scenario, cut short at each of its calls, by errors in turn if it is not killed. */
static void cut_everywhere(void **state, const int *errors, unsigned n_errors)
{
	for (unsigned i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		enum outcome o = DONE;
		unsigned step;

		for (step = i % STRIDE; o != UNCUT && step < STEPS_MAX; step += STRIDE) {
			struct viewfix *f = prepare(state);

			o = run_until(f, &scenarios[i], step, errors[(step + i) % n_errors]);
			if (o == UNTRACEABLE)
				skip();
			vf_remount(f);
			check_after(f, &scenarios[i], step, o == DONE || o == UNCUT);
			check_later(f, &scenarios[i], step, o == FAILED);
		}
		check_int(scenarios[i].name, o == UNCUT && step > 2, true);
	}
}

static void nothing_is_lost_by_a_kill_at_any_call(void **state)
{
	static const int none[] = { 0 };

	cut_everywhere(state, none, 1);
}

static void nothing_is_lost_by_a_failure_of_any_call(void **state)
{
	static const int errors[] = { ENOSPC, EIO, EMFILE };

	cut_everywhere(state, errors, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_is_lost_by_a_kill_at_any_call),
		TEST(nothing_is_lost_by_a_failure_of_any_call),
	};

	tree_use_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return 77; /* registers are read the x86 way only */
}

#endif
