/* SPDX-License-Identifier: MIT */
/*
 * The process that serves a view: see serve.h. Whatever was made on the way is taken back when a
 * later step fails.
 */
#include "cli/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/memory.h"
#include "cli/handover.h"
#include "cli/process.h"
#include "cli/record.h"
#include "cli/report.h"
#include "specfs/version.h"

enum {
	OLD_DAEMON_LIMIT_MS = 15000,
	OLD_RUN_LIMIT_MS = 2000,
	NAMELESS_LIMIT_MS = 5000, /* for a holder without a record, in steps of... */
	NAMELESS_PAUSE_MS = 10,
	SCRATCH_ATTEMPTS = 3,
};

/* What a start has made so far. */
struct start {
	const struct plan *p;
	bool made_mountpoint;
	bool new_scratch;
	bool made_records;
	int below_fd;           /* the directory under the mount */
};

/* Takes back a scratch directory that holds nothing yet, unless another view has it by now. */
static void remove_scratch(const char *scratch)
{
	cleanup_fd int fd = open(scratch, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_fd int lock = fd < 0 ? -1 : openat(fd, "lock", O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	static const char *const lists[] = { "numbers", "made" };

	if (fd < 0 || (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) < 0))
		return;
	/* each only if it is there and empty: what was written stays */
	(void)unlinkat(fd, "upper", AT_REMOVEDIR);
	(void)unlinkat(fd, "work", AT_REMOVEDIR);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		struct stat st;

		if (fstatat(fd, lists[i], &st, AT_SYMLINK_NOFOLLOW) == 0 && !st.st_size)
			(void)unlinkat(fd, lists[i], 0);
	}
	(void)unlinkat(fd, "lock", 0);
	(void)rmdir(scratch);
}

static void take_back(struct start *s)
{
	if (s->made_mountpoint)
		(void)rmdir(s->p->mountpoint.buf); /* empty: nothing was mounted */
	if (s->made_records)
		record_remove_dir();
	if (s->new_scratch)
		remove_scratch(s->p->scratch.buf);
}

/*
 * Another view holds scratch. One that is just going away is waited for; then 0. Without a record
 * of its own it either starts, and will soon have one, or has withdrawn it already and ends.
 */
static int wait_for_holder(const char *scratch, const struct diag *d, int *left_ms)
{
	struct timespec pause = { .tv_nsec = NAMELESS_PAUSE_MS * 1000000L };
	cleanup_json json_t *record = record_of_scratch(scratch);
	cleanup_mount_table struct mount_table t = { 0 };
	const char *at = json_get_text(record, "mountpoint");
	pid_t pid = record ? record_pid(record) : 0;
	const struct mount_entry *m;

	if (!record || !pid || process_state(pid, record_start(record)) == PROCESS_GONE) {
		if (*left_ms <= 0)
			return fault_diag(d, -EBUSY);
		*left_ms -= NAMELESS_PAUSE_MS;
		(void)nanosleep(&pause, NULL); /* cut short by a signal: then we try sooner */
		return EXIT_OK;
	}
	if (json_is_true(json_object_get(record, "over_root"))) {
		if (process_wait(pid, record_start(record), OLD_RUN_LIMIT_MS))
			return EXIT_OK;
		return fault("scratch '%s' is in use by 'specfs run' in '%s' (process %ld): name "
			     "another one with -s DIR", scratch, at, (long)pid);
	}
	if (mount_table_read(&t) == 0 && (m = mount_at(&t, at)) != NULL && record_fits(record, m))
		return fault("scratch '%s' is in use by the view mounted at '%s' (process %ld): "
			     "name another one with -s DIR", scratch, at, (long)pid);
	if (!process_wait(pid, record_start(record), OLD_DAEMON_LIMIT_MS))
		return fault("scratch '%s' is in use by process %ld, which served '%s' and does "
			     "not end", scratch, (long)pid, at);
	return EXIT_OK;
}

static int open_view(const struct plan *p, struct view **ret)
{
	int left_ms = NAMELESS_LIMIT_MS;

	for (int attempt = 0;; attempt++) {
		cleanup_diag struct diag d = DIAG_INIT;
		int r = view_open(&p->view, &d, ret);

		if (r >= 0)
			return EXIT_OK;
		if (r == -ENOENT && attempt < SCRATCH_ATTEMPTS && access(p->scratch.buf, F_OK) < 0)
			continue; /* another mount may have failed and taken it back under us */
		if (r != -EBUSY)
			return fault_diag(&d, r);
		r = wait_for_holder(p->scratch.buf, &d, &left_ms);
		if (r)
			return r;
	}
}

/* Directories that a profile names by absolute paths are known only now. */
static int check_layers(const struct plan *p, const struct view *v)
{
	for (unsigned i = 0; i < v->stack.n; i++) {
		const struct layer *l = &v->stack.layers[i];
		int r = *l->path ? plan_check_layer(p, l->label, l->path) : EXIT_OK;

		if (r)
			return r;
	}
	return EXIT_OK;
}

/* Left protected (protect_below()) by a daemon whose mount others have cleared away. */
static void unprotect(const char *at)
{
	struct stat st;

	if (lstat(at, &st) == 0 && st.st_uid == geteuid() && !(st.st_mode & 0222))
		(void)chmod(at, st.st_mode | 0200); /* fusermount3 tells if it matters */
}

/* It may also have been there when the plan was made and gone since: with the daemon before us. */
static int make_mountpoint(struct start *s)
{
	const char *at = s->p->mountpoint.buf;

	s->made_mountpoint = mkdir(at, 0755) == 0;
	if (!s->made_mountpoint && errno != EEXIST)
		return fault("mountpoint '%s' cannot be made: %s", at, strerror(errno));
	unprotect(at);
	s->below_fd = open(at, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->below_fd < 0)
		return fault("mountpoint '%s': %s", at, strerror(errno));
	return EXIT_OK;
}

/* Two commands may want the same mountpoint at once: the lock of the directory lets one of them in,
 * until its mount is there for the other to see. */
static int take_mountpoint(const struct start *s)
{
	cleanup_mount_table struct mount_table t = { 0 };
	const char *at = s->p->mountpoint.buf;
	int r = flock(s->below_fd, LOCK_EX) < 0 ? -errno : mount_table_read(&t);

	if (r < 0)
		return fault("mountpoint '%s' cannot be had for us alone: %s", at, strerror(-r));
	if (mount_at(&t, at))
		return fault("mountpoint '%s' is in use: another command has just mounted there",
			     at);
	return EXIT_OK;
}

/* While nobody serves the mount, what is saved there must fail and not land under it. */
static void protect_below(const struct start *s)
{
	char buf[32];

	if (s->made_mountpoint)
		(void)chmod(fd_proc_path(s->below_fd, buf), 0555); /* root may write all the same */
}

/* Who reads the record opens the view by it. */
static int record_set_profile(json_t *o, const struct view *v)
{
	return json_object_set_new(o, "profile", json_text(v->profile ? v->profile->name : NULL)) ||
			       json_object_set_new(
				       o, "profile_file",
				       json_text(v->profile ? v->profile->file : NULL)) ||
			       json_object_set_new(o, "why", json_text(v->profile_why))
		       ? -ENOMEM
		       : 0;
}

static json_t *record_make(const struct start *s, const struct view *v, unsigned device)
{
	const struct plan *p = s->p;
	cleanup_json json_t *o = json_pack("{s:s}", "version", SPECFS_VERSION);
	cleanup_strbuf struct strbuf log = STRBUF_INIT;

	strbuf_addf(&log, "%s/log", v->scratch);
	if (!o || strbuf_failed(&log) ||
	    json_object_set_new(o, "mountpoint", json_text(p->mountpoint.buf)) ||
	    json_object_set_new(o, "root", json_text(p->root.buf)) ||
	    json_object_set_new(o, "backends", json_strv(&p->view.backends)) ||
	    json_object_set_new(o, "overlays", json_strv(&p->overlays)) ||
	    record_set_profile(o, v) < 0 ||
	    json_object_set_new(o, "scratch", json_text(v->scratch)) ||
	    json_object_set_new(o, "log", json_text(p->foreground ? NULL : log.buf)) ||
	    json_object_set_new(o, "cache", json_text(p->cache)) ||
	    json_object_set_new(o, "readonly", json_boolean(v->readonly)) ||
	    json_object_set_new(o, "scratch_all", json_boolean(v->scratch_all)) ||
	    json_object_set_new(o, "write_owner", json_boolean(v->write_owner)) ||
	    json_object_set_new(o, "made_mountpoint", json_boolean(s->made_mountpoint)) ||
	    json_object_set_new(o, "over_root", json_boolean(p->over_root)) ||
	    json_object_set_new(o, "device", json_integer(device)) || record_stamp(o) < 0)
		return NULL;
	return steal_ptr(&o);
}

static int find_device(const struct plan *p, unsigned *ret)
{
	cleanup_mount_table struct mount_table t = { 0 };
	const struct mount_entry *m;
	int r = mount_table_read(&t);

	if (r < 0)
		return fault("cannot read the mount table: %s", strerror(-r));
	m = mount_at(&t, p->mountpoint.buf);
	if (!m || !mount_is_view(m))
		return fault("'%s' is not in the mount table although it was mounted",
			     p->mountpoint.buf);
	*ret = m->minor;
	return EXIT_OK;
}

struct published {
	json_t *record; /* NULL until it is */
	int dir_fd;
};

/* The record of the view that has just been mounted, published. */
static int publish(const struct start *s, const struct view *v, dev_t device, int dir_fd,
		   json_t **ret)
{
	unsigned number = minor(device);
	int r = s->p->over_root ? EXIT_OK : find_device(s->p, &number);

	if (r)
		return r;
	*ret = record_make(s, v, number);
	if (!*ret)
		return fault("out of memory");
	r = record_publish(*ret, v->lock_fd, v->scratch, dir_fd);
	return r < 0 ? fault("cannot write '%s/lock': %s", v->scratch, strerror(-r)) : EXIT_OK;
}

/* From here on nobody reads our stderr: what is told goes into the log, an older one is kept. */
static int leave_terminal(const char *scratch)
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT;
	cleanup_strbuf struct strbuf old = STRBUF_INIT;
	cleanup_fd int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	cleanup_fd int log = -1;

	strbuf_addf(&path, "%s/log", scratch);
	strbuf_addf(&old, "%s/log.old", scratch);
	if (strbuf_failed(&path) || strbuf_failed(&old))
		return fault("out of memory");
	(void)rename(path.buf, old.buf); /* there may be none */
	log = open(path.buf, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (log < 0 || null < 0)
		return fault("cannot write the log '%s': %s", path.buf, strerror(errno));
	setsid();
	if (dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
	    dup2(log, STDERR_FILENO) < 0)
		return fault("cannot leave the terminal: %s", strerror(errno));
	return EXIT_OK;
}

static int send_facts(const json_t *record, int fd)
{
	cleanup_free char *text = json_dumps(record, 0);
	cleanup_fd int end = fd;

	if (!text || fd_write_all(end, text, strlen(text)) < 0)
		return fault("cannot tell the command what was mounted");
	return EXIT_OK;
}

/* From here on what goes wrong is in the log: the one at the other end of @fd says so. */
static int leave_for_log(const char *scratch, int fd)
{
	int r = leave_terminal(scratch);

	if (!r && fd_write_all(fd, "", 1) < 0)
		return fault("nobody waits for the mount any more");
	return r;
}

static int answer(const struct plan *p, struct session *s, const json_t *record, int facts_fd,
		  int ready_fd)
{
	int r;

	if (p->over_root) {
		r = leave_for_log(json_get_text(record, "scratch"), ready_fd);
	} else if (facts_fd < 0) {
		r = serve_tell(p, record);
		if (!r && fflush(stdout) == EOF)
			r = fault("cannot write the output: %s", strerror(errno));
	} else {
		r = send_facts(record, facts_fd);
		r = r ? r : leave_terminal(json_get_text(record, "scratch"));
	}
	if (r)
		return r;
	log_info("mounted '%s' at '%s'", p->root.buf, p->mountpoint.buf);
	r = session_loop(s, ready_fd);
	if (r < 0) {
		log_err(r, "the session of '%s' broke", p->mountpoint.buf);
		return EXIT_FAULT;
	}
	log_info("unmounted '%s'", p->mountpoint.buf);
	return EXIT_OK;
}

/* The profile was edited: it may be another file, of another name. */
static void publish_again(void *arg, const struct view *v)
{
	struct published *p = arg;
	int r = p->record ? record_set_profile(p->record, v) : 0;

	if (!r && p->record)
		r = record_publish(p->record, v->lock_fd, v->scratch, p->dir_fd);
	if (r < 0)
		log_warn("'%s/lock' does not tell the new profile: %s", v->scratch, strerror(-r));
}

static int mount_and_answer(struct start *st, struct view *v, int facts_fd, int ready_fd)
{
	struct session_options o = st->p->session;
	cleanup_diag struct diag d = DIAG_INIT;
	cleanup_fd int records_fd = record_open_dir(&st->made_records);
	struct published published = { .dir_fd = records_fd };
	struct session *s = NULL;
	int r = 0;

	o.on_rules = publish_again;
	o.on_rules_arg = &published;

	if (st->p->over_root && handover_take(ready_fd, &o.mounted_fd, &o.device) < 0)
		return EXIT_FAULT; /* the one who should have mounted has said why not */
	memory_limit();
	r = session_new(v, &o, &d, &s);
	if (r < 0)
		return fault_diag(&d, r);
	if (st->below_fd >= 0) {
		protect_below(st);
		close(steal_fd(&st->below_fd));
	}
	r = publish(st, v, o.device, records_fd, &published.record);
	if (!r)
		r = answer(st->p, s, published.record, facts_fd, ready_fd);
	session_free(s);
	if (published.record)
		record_withdraw(published.record, v->lock_fd);
	json_decref(published.record);
	return r;
}

static void ending_signals(sigset_t *ret)
{
	sigemptyset(ret);
	sigaddset(ret, SIGINT);
	sigaddset(ret, SIGTERM);
	sigaddset(ret, SIGHUP);
}

/* A signal that comes while the mount is made waits until what was made can be taken back: here,
 * or by session_loop(). */
static void hold_signals(void)
{
	sigset_t set;

	ending_signals(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/* @tell: nobody else will say so */
static int check_signals(bool tell)
{
	sigset_t ends, come;

	ending_signals(&ends);
	sigpending(&come);
	sigandset(&come, &come, &ends);
	if (sigisemptyset(&come))
		return EXIT_OK;
	return tell ? fault("interrupted; nothing is mounted") : EXIT_FAULT;
}

/* Everything that a mount in our own namespace needs before it. */
static int prepare_mountpoint(struct start *s, const struct view *v)
{
	int r = check_layers(s->p, v);

	r = r ? r : make_mountpoint(s);
	return r ? r : take_mountpoint(s);
}

int serve(const struct plan *p, int facts_fd, int ready_fd)
{
	struct start s = {
		.p = p,
		.below_fd = -1,
		.new_scratch = access(p->scratch.buf, F_OK) < 0,
	};
	struct view *v = NULL;
	int r;

	/* whatever the program's file is called: serving.c finds us by this */
	(void)prctl(PR_SET_NAME, "specfs"); /* cannot fail */
	/* the directory that we were started in must not stay in use */
	if (chdir("/") < 0)
		return fault("cannot leave the working directory: %s", strerror(errno));
	hold_signals();
	r = open_view(p, &v);
	if (!r && !p->over_root)
		r = prepare_mountpoint(&s, v);
	r = r ? r : check_signals(facts_fd < 0 && !p->over_root);
	r = r ? r : mount_and_answer(&s, v, facts_fd, ready_fd);
	view_free(v);
	if (s.below_fd >= 0)
		close(s.below_fd);
	if (r)
		take_back(&s);
	return r;
}
