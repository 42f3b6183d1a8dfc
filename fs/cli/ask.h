/* SPDX-License-Identifier: MIT */
/* Commands to the daemon of a mounted view, through the socket in its scratch directory. */
#ifndef SPECFS_CLI_ASK_H
#define SPECFS_CLI_ASK_H

#include "base/diag.h"

/**
 * ask_daemon - send one command and wait for the answer
 * @scratch: of the view; NULL if it is not known
 * @line:    without a newline
 *
 * Returns 0 if it was done; -ECOMM if the daemon could not do it, with what it said in @d; another
 * errno if it does not answer, with a line in @d.
 */
int ask_daemon(const char *scratch, const char *line, struct diag *d);

#endif
