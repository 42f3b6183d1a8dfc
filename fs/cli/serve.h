/* SPDX-License-Identifier: MIT */
/*
 * The process that serves a view, and the side of `specfs mount`, which waits until it answers.
 */
#ifndef SPECFS_CLI_SERVE_H
#define SPECFS_CLI_SERVE_H

#include <jansson.h>

#include "cli/plan.h"

/**
 * serve - mount the planned view and answer until it is unmounted
 * @facts_fd: gets the view's record as JSON once it is mounted, then is closed
 * @ready_fd: gets a byte once requests are answered, then is closed
 *
 * With @facts_fd -1 this is the foreground: the log stays on stderr and the facts are printed here.
 * Otherwise the process leaves its terminal and logs to scratch's `log`. With a plan over ROOT
 * itself @facts_fd is -1, and @ready_fd is the socket by which the mount is handed over (see
 * handover.h); it gets a byte once the process logs, and then the one for being ready. Returns an
 * exit status.
 */
int serve(const struct plan *p, int facts_fd, int ready_fd);

/** launch - start serve() in the background and wait until the mount answers; an exit status */
int launch(const struct plan *p);

/** serve_tell - print what is mounted where, from its record; an exit status */
int serve_tell(const struct plan *p, const json_t *record);

#endif
