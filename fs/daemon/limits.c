/* SPDX-License-Identifier: MIT */
/* Limits: see limits.h. */
#include "daemon/limits.h"

#include <dirent.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"

enum {
	PER_THREAD = 16, /* the parts of two directories, and what a copy-up opens */
	SPARE = 12,	 /* log, signals, the device, watchers */
	FEWEST_FILES = 4,
	MOST_FILES = 32768, /* each pins an inode of a layer in memory */
	FEWEST_THREADS = 2,
	USUAL_THREADS = 8, /* some wait for a disk while others answer from memory */
	MOST_THREADS = 64,
};

static size_t count_open(void)
{
	cleanup_dir DIR *d = opendir("/proc/self/fd");
	size_t n = 0;

	while (d && readdir(d))
		n++;
	return n ? n : 16;
}

static size_t raise_limit(void)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) < 0)
		return 1024;
	if (rl.rlim_cur < rl.rlim_max) {
		struct rlimit all = { .rlim_cur = rl.rlim_max, .rlim_max = rl.rlim_max };

		if (setrlimit(RLIMIT_NOFILE, &all) == 0)
			rl = all;
	}
	return rl.rlim_cur > 1u << 30 ? 1u << 30 : (size_t)rl.rlim_cur;
}

static unsigned wanted_threads(unsigned asked)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (!asked)
		asked = cpus * 2 > USUAL_THREADS ? (unsigned)cpus * 2 : USUAL_THREADS;
	return asked < MOST_THREADS ? asked : MOST_THREADS;
}

void limits_set(unsigned threads, struct limits *ret)
{
	size_t limit = raise_limit();
	size_t used = count_open() + SPARE;
	size_t left = limit > used ? limit - used : 0;

	ret->threads = wanted_threads(threads);
	while (ret->threads > FEWEST_THREADS && (size_t)ret->threads * PER_THREAD * 2 > left)
		ret->threads--;
	left = left > (size_t)ret->threads * PER_THREAD ? left - (size_t)ret->threads * PER_THREAD
							: 0;
	ret->files = left < FEWEST_FILES ? FEWEST_FILES : left > MOST_FILES ? MOST_FILES : left;
}
