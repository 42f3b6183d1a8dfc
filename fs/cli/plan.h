/* SPDX-License-Identifier: MIT */
/*
 * What `specfs mount` was asked for, with every default filled in and every mistake found that can
 * be found without making anything.
 */
#ifndef SPECFS_CLI_PLAN_H
#define SPECFS_CLI_PLAN_H

#include "cli/command.h"
#include "cli/mounttab.h"
#include "daemon/session.h"
#include "layer/view.h"

/* The options of `specfs mount`, and of its -o. */
struct mount_args {
	struct command_args common;
	struct strv backends;
	const char *profile;
	struct strv overlays;
	const char *scratch;
	bool readonly;
	bool foreground;
	bool scratch_all;
	bool quiet;
	struct strv lists;      /* each -o */
	const char *cache;
	const char *write;
	const char *redirect;
	bool allow_other;
	bool allow_root;
	bool events;
	bool noexec;
	bool io_uring;
	bool debug;
	bool remount;
	bool over_root; /* `specfs run` */
	unsigned max_threads;
};

struct plan {
	struct strbuf root;
	struct strbuf mountpoint;
	struct strv overlays;   /* absolute */
	struct strbuf profile;  /* absolute if it is a path; "" for none */
	struct strbuf scratch;
	struct view_options view;       /* borrows from the above and from the arguments */
	struct session_options session;
	const char *cache;
	bool foreground;
	bool quiet;
	bool json;
	bool over_root; /* over ROOT itself, in a mount namespace that a child makes */
};

/**
 * plan_read_lists - read what was given with -o into @a
 * @t:       the rows of the lists
 * @command: whose --help tells them
 * @ignore:  is an unknown word to be passed over?
 *
 * Returns EXIT_OK, or EXIT_FAULT with the fault told.
 */
int plan_read_lists(const struct option_table *t, const char *command,
		    bool (*ignore)(const char *name), struct mount_args *a);

/**
 * plan_make - fill @ret; release with plan_clear() in any case
 * @a: outlives the plan
 *
 * A mountpoint that a dead daemon left is cleared away here, with a line that says so. Returns
 * EXIT_OK, or EXIT_FAULT with the fault told.
 */
int plan_make(const struct mount_args *a, const struct strv *words, struct plan *ret);
void plan_clear(struct plan *p);

/** plan_mountpoint - may a view of @p be mounted at its mountpoint? For plan_make() */
int plan_mountpoint(const struct mount_table *t, const struct plan *p);

/** plan_tell_path - tell if the mountpoint's own path leads the trunk astray. For plan_make() */
void plan_tell_path(const struct plan *p);

/** plan_check_layer - is the mountpoint apart from @dir, which the view needs as its @what? */
int plan_check_layer(const struct plan *p, const char *what, const char *dir);

#endif
