/* SPDX-License-Identifier: MIT */
/*
 * The record of a mounted view: what it is made of and who serves it, as JSON in the lock file of
 * its scratch directory. A link in $XDG_CACHE_HOME/specfs/mounts, named by the mount's device,
 * leads there, so that a dead daemon's mount can still be told and cleared away.
 * Source: specfs(1), FILES.
 */
#ifndef SPECFS_CLI_RECORD_H
#define SPECFS_CLI_RECORD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/mounttab.h"

DEFINE_CLEANUP(json, json_t, json_decref)
#define cleanup_json CLEANUP(cleanup_json_p)

/** record_stamp - add who we are to a record: pid, start, pid namespace */
int record_stamp(json_t *record);

/**
 * record_open_dir - make and open the directory of links, before the view is mounted
 *
 * Once it is, the path may lead into the view, which does not answer yet. Returns a descriptor, or
 * a negative errno that record_publish() takes, too.
 */
int record_open_dir(bool *ret_made);

/** record_remove_dir - take back a directory of links that record_open_dir() made */
void record_remove_dir(void);

/**
 * record_publish - write the record and make it findable
 * @lock_fd: the lock file of @scratch, open for writing
 * @dir_fd:  of record_open_dir()
 *
 * Returns 0, or a negative errno if it could not be written. Without a cache directory there is no
 * link: the view works, but only its own process tells of it.
 */
int record_publish(const json_t *record, int lock_fd, const char *scratch, int dir_fd);

/** record_withdraw - the view is gone: blank the lock file (@lock_fd, or -1), remove the link, and
 * the mountpoint too if the record says that we made it and it is empty */
void record_withdraw(const json_t *record, int lock_fd);

/** record_read - the record in the lock file at @path; NULL if there is none */
json_t *record_read(const char *path);

/** record_of_scratch - the record of the view that has @scratch; NULL if there is none */
json_t *record_of_scratch(const char *scratch);

/** record_of_mount - the record that a link of the caller's leads to; NULL if there is none */
json_t *record_of_mount(const struct mount_entry *m);

/** record_of_process - the record of the view that @pid serves; NULL: none, or not to be seen */
json_t *record_of_process(pid_t pid);

/** record_pid - the process that serves it; 0 if it is one of another pid namespace */
pid_t record_pid(const json_t *record);
uint64_t record_start(const json_t *record);

/** record_fits - is it the record of that mount? */
bool record_fits(const json_t *record, const struct mount_entry *m);

#endif
