/* SPDX-License-Identifier: MIT */
/*
 * Other processes, as /proc shows them: is one still there, who uses a mount, who holds a view's
 * scratch directory. Nothing here touches a mount.
 */
#ifndef SPECFS_CLI_PROCESS_H
#define SPECFS_CLI_PROCESS_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/strbuf.h"

enum process_state {
	PROCESS_GONE,           /* no such process, or another one has its number */
	PROCESS_RUNS,
	PROCESS_DYING,          /* killed, but a thread of it still waits in the kernel */
};

/** process_start - when a process started, in clock ticks since boot; 0 if it is gone */
uint64_t process_start(pid_t pid);

/** process_state - what has become of the process that had @pid and started at @start */
enum process_state process_state(pid_t pid, uint64_t start);

/** process_wait - wait until it is gone; false if it is still there after @limit_ms */
bool process_wait(pid_t pid, uint64_t start, int limit_ms);

/** process_next - the pids of this machine in turn; @dir: from opendir("/proc"); 0 ends */
pid_t process_next(DIR *dir);

/** process_name - append the name of a process's program */
void process_name(pid_t pid, struct strbuf *ret);

/**
 * process_list_users - append "PID (NAME, what it has), ..." of those who keep mount @at busy
 * @but: a process that does not count; 0: each does
 *
 * Only what the caller may see. Returns how many there are, also beyond the few that are told.
 */
unsigned process_list_users(const char *at, pid_t but, struct strbuf *ret);

/**
 * process_list_namespaces - append "PID (NAME), ..." of those that have a device mounted, one for
 * each mount namespace
 *
 * A namespace that was split off keeps a mount that was unmounted elsewhere. Returns how many there
 * are, also beyond the few that are told.
 */
unsigned process_list_namespaces(unsigned major, unsigned minor, struct strbuf *ret);

/**
 * process_find_link - a descriptor of @pid whose link text ends in @suffix
 * @n:   how many of them to pass over
 * @ret: the link's text
 *
 * Returns 0, -ENOENT (no more), or -EACCES where the caller may not look.
 */
int process_find_link(pid_t pid, const char *suffix, unsigned n, struct strbuf *ret);

#endif
