/* SPDX-License-Identifier: MIT */
/* What the files in .specfs say of a running daemon. */
#ifndef SPECFS_DAEMON_CONTROL_H
#define SPECFS_DAEMON_CONTROL_H

#include "daemon/session_impl.h"

/** control_content - append the content of .specfs/@name; -ENOENT if there is no such file */
int control_content(const struct session *s, const char *name, struct strbuf *ret);

#endif
