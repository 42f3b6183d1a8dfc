/* SPDX-License-Identifier: MIT */
/*
 * How mount(8) calls a file system's program, from fstab or with -t fuse.specfs:
 *
 *     specfs SOURCE MOUNTPOINT [-o OPTIONS]               (by mount.fuse3)
 *     mount.fuse.specfs SOURCE MOUNTPOINT [-sfnv] [-o OPTIONS] [-t TYPE] [-N NAMESPACE]
 *
 * Source: mount(8), EXTERNAL HELPERS; mount.fuse3(8).
 */
#ifndef SPECFS_CLI_FSTAB_H
#define SPECFS_CLI_FSTAB_H

#include <stdbool.h>

/** fstab_is_call - is this one of these, and not a command of ours? */
bool fstab_is_call(int argc, char **argv);

/** fstab_main - mount as asked; an exit status */
int fstab_main(int argc, char **argv);

/** fstab_ignores - is mount option @name one that mount(8) has dealt with, or nothing to us? */
bool fstab_ignores(const char *name);

#endif
