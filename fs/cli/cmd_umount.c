/* SPDX-License-Identifier: MIT */
/* specfs umount: take a view down, alive or dead, and return when nothing of it is left. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "cli/command.h"
#include "cli/detach.h"
#include "cli/place.h"
#include "cli/process.h"
#include "cli/redirects.h"
#include "cli/report.h"

enum {
	DAEMON_USUAL_MS = 2000, /* after that somebody else may have the mount, too */
	DAEMON_LIMIT_MS = 60000,
	BUSY_TRIES = 25,
	BUSY_PAUSE_MS = 20,
};

struct umount_args {
	struct command_args common;
	bool lazy;
};

static const struct option_row rows[] = {
	{ "lazy", 'l', OPTION_FLAG,
	  .help = "take it out of sight at once, even if it is in use; it ends with its last user",
	  .field = offsetof(struct umount_args, lazy) },
	OPTION_ROW_HELP,
};

/* The view that is mounted at @path; NULL after telling why there is none. */
static const struct mount_entry *find_view(const struct mount_table *t, const char *path)
{
	cleanup_diag struct diag d = DIAG_INIT;
	cleanup_strbuf struct strbuf at = STRBUF_INIT;
	const struct mount_entry *m;
	int r = place_locate(t, "mountpoint", path, &d, &at);

	if (r < 0) {
		fault_diag(&d, r);
		return NULL;
	}
	m = mount_at(t, at.buf);
	if (m && mount_is_view(m))
		return m;
	if (m)
		fault("'%s' is no view of specfs: '%s' (%s) is mounted there", at.buf, m->source,
		      m->type);
	else if ((m = mount_around(t, at.buf)) != NULL && mount_is_view(m))
		fault("'%s' is inside the view that is mounted at '%s': name that", at.buf, m->at);
	else
		fault("nothing is mounted at '%s'; 'specfs list' tells what is", at.buf);
	return NULL;
}

static int tell_busy(const char *at)
{
	cleanup_strbuf struct strbuf users = STRBUF_INIT;
	unsigned n = process_list_users(at, 0, &users);

	if (!n)
		return fault("'%s' is in use, by something that cannot be seen from here; "
			     "'specfs umount --lazy' takes it out of sight", at);
	return fault("'%s' is in use by process%s %s; 'specfs umount --lazy' takes it out of sight",
		     at, n > 1 ? "es" : "", users.buf);
}

static int tell_failure(const struct mount_entry *m, int r)
{
	if (r == -EBUSY)
		return tell_busy(m->at);
	if (r == -EPERM)
		return fault("'%s' was mounted by user %u, only that user and root may unmount it",
			     m->at, (unsigned)m->user);
	if (r == -ENOENT)
		return fault("'%s' cannot be unmounted: fusermount3 is not installed", m->at);
	return fault("'%s' cannot be unmounted: %s", m->at, strerror(-r));
}

/* It is out of sight here: wait for the daemon to end with it. */
static int wait_daemon(const struct mount_entry *m, const struct serving *s)
{
	cleanup_strbuf struct strbuf who = STRBUF_INIT;
	unsigned n;

	if (process_wait(s->pid, s->start, DAEMON_USUAL_MS))
		return EXIT_OK;
	n = process_list_namespaces(m->major, m->minor, &who);
	if (n)
		return fault("'%s' is unmounted, but not in the mount namespace%s of process%s %s; "
			     "its daemon, process %ld, goes with the last of them",
			     m->at, n > 1 ? "s" : "", n > 1 ? "es" : "", who.buf, (long)s->pid);
	if (process_wait(s->pid, s->start, DAEMON_LIMIT_MS))
		return EXIT_OK;
	return fault("'%s' is unmounted, but its daemon, process %ld, still runs: something that "
		     "cannot be seen from here, as in a container, may have the view mounted, too",
		     m->at, (long)s->pid);
}

/*
 * Who looks through /proc (lsof, another umount) holds each open file for a moment, and so does the
 * daemon where it looks at its own view: a mount that nobody else is seen to use is free soon.
 */
static int detach_patiently(const struct mount_entry *m, pid_t daemon)
{
	int r = detach(m->at, false);

	for (unsigned i = 0; r == -EBUSY && i < BUSY_TRIES; i++) {
		struct timespec pause = { .tv_nsec = BUSY_PAUSE_MS * 1000000L };
		cleanup_strbuf struct strbuf users = STRBUF_INIT;

		if (process_list_users(m->at, daemon, &users))
			break;
		(void)nanosleep(&pause, NULL); /* cut short by a signal: then we try sooner */
		r = detach(m->at, false);
	}
	return r;
}

/* What is redirected is mounted in the view and holds it. All goes, or nothing. Returns an exit
 * status after telling, or an errno to be told. */
static int detach_with_redirects(const struct mount_entry *m, const struct serving *s)
{
	cleanup_strv struct strv undone = STRV_INIT;
	cleanup_strbuf struct strbuf busy = STRBUF_INIT;
	const char *scratch = json_get_text(s->record, "scratch");
	int r = scratch ? redirects_undo(m->at, scratch, &undone, &busy) : 0;

	if (r == -EBUSY && busy.len)
		return tell_busy(busy.buf);
	if (r < 0)
		return r;
	r = detach_patiently(m, s->pid);
	if (r < 0)
		redirects_redo(m->at, scratch, &undone);
	return r;
}

static int take_down(const struct mount_entry *m, bool lazy)
{
	cleanup_serving struct serving s = { 0 };
	int r;

	serving_find(m, &s);
	if (serving_is_lost(&s) || s.state == SERVING_SILENT) {
		r = detach_lost(m, &s);
		if (r == -ETIMEDOUT)
			return fault("'%s' is unmounted, but its killed daemon, process %ld, does "
				     "not end", m->at, (long)s.pid);
		return r < 0 ? tell_failure(m, r) : EXIT_OK;
	}
	r = lazy ? detach(m->at, true) : detach_with_redirects(m, &s);
	if (r)
		return r < 0 ? tell_failure(m, r) : r;
	return lazy || !s.pid ? EXIT_OK : wait_daemon(m, &s);
}

static int run(void *args, const struct strv *words)
{
	const struct umount_args *a = args;
	cleanup_mount_table struct mount_table t = { 0 };
	const struct mount_entry *m;
	int r = mount_table_read(&t);

	if (r < 0)
		return fault("cannot read the mount table: %s", strerror(-r));
	m = find_view(&t, words->v[0]);
	return m ? take_down(m, a->lazy) : EXIT_FAULT;
}

const struct command cmd_umount = {
	.name = "umount",
	.words = "MOUNTPOINT",
	.summary = "unmount a view, whether its daemon lives or not",
	.about = "Returns when the daemon has ended and the scratch directory is free.",
	.options = OPTION_TABLE(rows),
	.min_words = 1,
	.max_words = 1,
	.args_size = sizeof(struct umount_args),
	.run = run,
};
