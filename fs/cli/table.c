/* SPDX-License-Identifier: MIT */
/* The commands of specfs: one row each, one file cmd_*.c each. */
#include <stddef.h>

#include "cli/command.h"

extern const struct command cmd_backends;
extern const struct command cmd_list;
extern const struct command cmd_mount;
extern const struct command cmd_redirect;
extern const struct command cmd_run;
extern const struct command cmd_status;
extern const struct command cmd_sync;
extern const struct command cmd_umount;
extern const struct command cmd_which;

const struct command *const commands[] = {
	&cmd_mount,
	&cmd_umount,
	&cmd_run,
	&cmd_list,
	&cmd_status,
	&cmd_which,
	&cmd_sync,
	&cmd_redirect,
	&cmd_backends,
	NULL,
};
