/* SPDX-License-Identifier: MIT */
/*
 * Who made a request, and what set-id bits his change of a file leaves. The layer sees the daemon
 * instead, which may be root.
 */
#ifndef SPECFS_OPS_CALLER_H
#define SPECFS_OPS_CALLER_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

struct caller {
	uid_t uid;
	gid_t gid;
	pid_t pid; /* 0: of a PID namespace that we do not see */
};

/** caller_is_in_group - primary or supplementary; false if that can't be told */
bool caller_is_in_group(const struct caller *c, gid_t gid);

/** caller_keeps_setgid - after a chmod or an ACL of his, in the words of chmod(2) */
bool caller_keeps_setgid(const struct caller *c, const struct stat *st);

/**
 * caller_kills - which set-id bits of a file go when he changes its data
 *
 * Source: setattr_should_drop_suidgid() of Linux 6.2 and later.
 */
mode_t caller_kills(const struct caller *c, const struct stat *st);

#endif
