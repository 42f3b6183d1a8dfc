/* SPDX-License-Identifier: MIT */
/*
 * Prints what a look-up costs in C, in nanoseconds, as "hit miss call": the best of some rounds
 * that take turns. SPECFS_HOOKS names the provider of the tests. A part of scripts/bench-hooks.
 */
#include <stdio.h>
#include <time.h>

#include "specfs/hooks.h"

#define ROUNDS 20
#define TIMES 200000

static volatile int sink;

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void hit(void)
{
	sink += specfs_func(int (const char *, int), "lower_size") != NULL;
}

static void miss(void)
{
	sink += specfs_func(int (const char *, int), "get_max_tensorcore_tflops") != NULL;
}

static void call(void)
{
	sink += specfs_call(int (const char *, int), "lower_size", -1, ("x", 1));
}

int main(void)
{
	void (*const what[])(void) = { hit, miss, call };
	double best[3] = { 1e9, 1e9, 1e9 };

	if (!specfs_func(int (const char *, int), "lower_size")) {
		fprintf(stderr, "bench_find: SPECFS_HOOKS has to name libprovider-good.so\n");
		return 2;
	}
	for (int round = 0; round < ROUNDS; round++) {
		for (int w = 0; w < 3; w++) {
			double start = now_ns();

			for (int i = 0; i < TIMES; i++)
				what[w]();
			start = (now_ns() - start) / TIMES;
			if (start < best[w])
				best[w] = start;
		}
	}
	printf("%.1f %.1f %.1f\n", best[0], best[1], best[2]);
	return 0;
}
