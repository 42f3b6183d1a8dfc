/* SPDX-License-Identifier: MIT */
/* The options that say what view is wanted, for every command that makes one; see plan.h. */
#ifndef SPECFS_CLI_MOUNTROWS_H
#define SPECFS_CLI_MOUNTROWS_H

#include <stddef.h>

#include "cli/plan.h"

#define MOUNT_FIELD(f) .field = offsetof(struct mount_args, f)

#define OPTION_ROWS_VIEW                                                                           \
	{ "backend", 'b', OPTION_WORDS, "BACKEND[,BACKEND...]",                                    \
	  .help = "backends of the checkout, most special first", MOUNT_FIELD(backends) },         \
	{ "profile", 'p', OPTION_STRING, "PROFILE|FILE", .fallback = "found from the checkout",    \
	  .help = "how the checkout is laid out: a profile's name, or an INI file",                \
	  MOUNT_FIELD(profile) },                                                                  \
	{ "layer", 'l', OPTION_LIST, "DIR",                                                        \
	  .help = "lay DIR over the root of the view, the first one highest; needs no backend",    \
	  MOUNT_FIELD(overlays) },                                                                 \
	{ "scratch", 's', OPTION_STRING, "DIR",                                                    \
	  .fallback = "a directory per view in $XDG_CACHE_HOME/specfs",                            \
	  .help = "where the view keeps what belongs neither to trunk nor to a backend",           \
	  MOUNT_FIELD(scratch) },                                                                  \
	{ "read-only", 'r', OPTION_FLAG, .help = "refuse every change", MOUNT_FIELD(readonly) },   \
	{ "scratch-all", 0, OPTION_FLAG,                                                           \
	  .help = "send every change to scratch: a throw-away workspace",                          \
	  MOUNT_FIELD(scratch_all) },                                                              \
	{ "options", 'o', OPTION_LIST, "OPTION[=VALUE][,...]",                                     \
	  .help = "mount options, see below", MOUNT_FIELD(lists) }

/* The words of -o. */
#define OPTION_ROWS_VIEW_LIST                                                                      \
	{ "cache", 0, OPTION_STRING, "auto|strict|ttl=SECONDS", .fallback = "auto",                \
	  .help = "keep what was read until a layer changes, never without asking, or for a time", \
	  MOUNT_FIELD(cache) },                                                                    \
	{ "write", 0, OPTION_STRING, "owner",                                                      \
	  .help = "with -l: change files where they are, make new ones in the highest layer",      \
	  MOUNT_FIELD(write) },                                                                    \
	{ "redirect", 0, OPTION_STRING, "auto|bind|symlink|none", .fallback = "auto",              \
	  .help = "how the profile's [redirect] directories leave the mount, see redirect",        \
	  MOUNT_FIELD(redirect) },                                                                 \
	{ "allow_other", 0, OPTION_FLAG, .help = "let other users in", MOUNT_FIELD(allow_other) }, \
	{ "allow_root", 0, OPTION_FLAG, .help = "let root in", MOUNT_FIELD(allow_root) },          \
	{ "events", 0, OPTION_FLAG,                                                                \
	  .help = "tell who watches in the view of changes underneath, too",                       \
	  MOUNT_FIELD(events) },                                                                   \
	{ "noexec", 0, OPTION_FLAG, .help = "run no program from the view", MOUNT_FIELD(noexec) }, \
	{ "io_uring", 0, OPTION_FLAG,                                                              \
	  .help = "take requests over io_uring (libfuse 3.18, Linux 6.14)",                        \
	  MOUNT_FIELD(io_uring) },                                                                 \
	{ "max_threads", 0, OPTION_UINT, "N", .fallback = "by the number of CPUs", .max = 1024,    \
	  .help = "how many threads answer", MOUNT_FIELD(max_threads) },                           \
	{ "debug", 0, OPTION_FLAG, .help = "log every request", MOUNT_FIELD(debug) },              \
	{ "ro", 0, OPTION_FLAG, .help = "as --read-only", MOUNT_FIELD(readonly) }

#endif
