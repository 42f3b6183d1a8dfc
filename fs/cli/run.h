/* SPDX-License-Identifier: MIT */
/*
 * `specfs run`: the daemon stays in the caller's mount namespace, where it sees the checkout as it
 * is; the program gets a namespace of its own, where the view is mounted over the checkout.
 */
#ifndef SPECFS_CLI_RUN_H
#define SPECFS_CLI_RUN_H

#include "cli/plan.h"

/**
 * run_program - run @program in the view, and return when it and the daemon have ended
 * @program: its words; ends with NULL
 *
 * A process that the program leaves behind keeps the view; it is not waited for. Returns the
 * program's exit status, 128 + N if signal N ended it, 126 or 127 if it cannot be run or found, or
 * EXIT_FAULT with the fault told.
 */
int run_program(const struct plan *p, char **program);

#endif
