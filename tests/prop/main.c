/* SPDX-License-Identifier: MIT */
/*
 * The property test: random operations in a view and underneath, against a model.
 *
 *     prop view|mount SETUP [threads]
 *
 * `view` drives the layers by calls, `mount` a real mount by system calls; `threads` lets several
 * threads work in one view, each by its own model. The first line of output repeats the run. Needs
 * nothing but its shared libraries, and for `mount` the specfs that SPECFS_BIN names.
 *
 *     SPECFS_SEED=N  the run's steps; a random number if it is not set. Above 32 bits: see gen.h
 *     SPECFS_OPS=N   how many steps
 *     SPECFS_BIN     the specfs to mount with
 *     TMPDIR         where its directories are made: a file system with user.* attributes; in
 *                    memory (/dev/shm) if it is not set, which is quickest; ext4 uses inode
 *                    numbers again
 *     SPECFS_KEEP=1  keep the directories
 *
 * Exit status: 0 nothing found; 1 a fault: its steps, cut down to those that matter, on stderr;
 * 2 wrong arguments; 77 no mount is possible here. SIGABRT: the mount could not be ended.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "run.h"

enum { OPS_VIEW = 1500, OPS_MOUNT = 300, SHRINK_SEC = 60 };

/* A number from the environment, or @otherwise; -1 if it is none. */
static long long number_of(const char *name, long long otherwise)
{
	const char *text = getenv(name);
	char *end;
	long long n;

	if (!text || !*text)
		return otherwise;
	errno = 0;
	n = strtoll(text, &end, 10);
	return errno || *end || n < 0 ? -1 : n;
}

static int usage(const char *what)
{
	fprintf(stderr, "prop: %s, expected: prop view|mount SETUP [threads], SETUP being one of",
		what);
	for (const struct setup *s = setups; s->name; s++)
		fprintf(stderr, " %s", s->name);
	fprintf(stderr, "\n");
	return 2;
}

static int run_one(struct run *r, size_t n)
{
	bool ok = run_random(r, n);

	if (!ok) {
		fprintf(stderr, "step %zu: %s\n", r->n, r->fault);
		if (r->n)
			(void)run_shrink(r, SHRINK_SEC); /* as they were, then */
		run_print(r);
	}
	run_clear(r);
	return ok ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct run r = { 0 };
	uint64_t chosen = 1;
	long long seed;
	long long ops;

	if (argc < 3 || argc > 4 || (argc == 4 && strcmp(argv[3], "threads") != 0))
		return usage("wrong arguments");
	if (strcmp(argv[1], "view") != 0 && strcmp(argv[1], "mount") != 0)
		return usage("unknown backend");
	r.be = *argv[1] == 'v' ? &view_backend : &mount_backend;
	r.setup = setup_find(argv[2]);
	if (!r.setup)
		return usage("unknown setup");
	if (r.be == &mount_backend && !mount_is_possible()) {
		printf("skipped: no $SPECFS_BIN or no /dev/fuse\n");
		return 77;
	}
	if (r.be == &mount_backend)
		mount_apart();
	if (getrandom(&chosen, sizeof(chosen), 0) != sizeof(chosen))
		return usage("no random numbers");
	seed = number_of("SPECFS_SEED", (long long)(chosen >> 1)); /* it has a sign */
	ops = number_of("SPECFS_OPS", r.be == &mount_backend ? OPS_MOUNT : OPS_VIEW);
	if (seed < 0 || ops <= 0)
		return usage("SPECFS_SEED and SPECFS_OPS must be numbers");
	r.seed = (uint64_t)seed;
	printf("SPECFS_SEED=%lld SPECFS_OPS=%lld %s %s %s%s\n", seed, ops, argv[0], argv[1],
	       argv[2], argc == 4 ? " threads" : "");
	fflush(stdout);
	if (argc == 4)
		return run_threads(r.setup, r.be, r.seed, (size_t)ops, SHRINK_SEC) ? 0 : 1;
	return run_one(&r, (size_t)ops);
}
