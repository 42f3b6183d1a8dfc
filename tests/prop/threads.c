/* SPDX-License-Identifier: MIT */
/*
 * Several arenas of one view at once, each in a thread of its own: see run_threads() in run.h. They
 * share directories, hide lists' locks, scratch and its workdir, but no name.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "gen.h"
#include "run.h"

enum { THREADS = 2, ROUND = 150 };

/* One thread's part of a round. */
struct worker {
	pthread_t thread;
	struct site site; /* its own, of the same view */
	struct arena a;
	struct gen g;
	struct op ops[ROUND];
	size_t n;
	bool ok;
};

static void *work(void *arg)
{
	struct worker *w = arg;

	for (w->n = 0; w->ok && w->n < ROUND;) {
		struct op *o = &w->ops[w->n++];

		gen_next(&w->g, &w->a, o);
		w->ok = arena_step(&w->a, o);
		if (w->ok && !rng_below(&w->g.rng, 8))
			w->ok = arena_check(&w->a);
	}
	return NULL;
}

static bool round_of(struct worker *w)
{
	bool ok = true;

	for (unsigned i = 0; i < THREADS; i++)
		if (pthread_create(&w[i].thread, NULL, work, &w[i]) != 0)
			abort();
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(w[i].thread, NULL);
		w[i].ok = w[i].ok && arena_check(&w[i].a);
		ok = ok && w[i].ok;
	}
	return ok;
}

static void print_round(const struct worker *w)
{
	for (unsigned i = 0; i < THREADS; i++) {
		if (w[i].ok)
			continue;
		fprintf(stderr, "thread %u, its last steps:\n", i);
		for (size_t k = w[i].n > 20 ? w[i].n - 20 : 0; k < w[i].n; k++) {
			char where[24];

			(void)snprintf(where, sizeof(where), "layer%d", w[i].ops[k].layer);
			op_print(stderr, &w[i].ops[k],
				 w[i].ops[k].layer == IN_VIEW ? "view" : where);
		}
		fprintf(stderr, "=> %s\n", w[i].a.fault);
	}
}

static bool rounds(struct site *s, struct worker *w, size_t n)
{
	for (size_t done = 0; done < n; done += (size_t)ROUND * THREADS) {
		int r;

		if (!round_of(w))
			return false;
		view_backend.stop(s);
		r = view_backend.start(s);
		for (unsigned i = 0; i < THREADS; i++) {
			w[i].site.view = s->view;
			w[i].ok = r == 0 && arena_check(&w[i].a);
		}
		if (!w[0].ok || !w[1].ok)
			return false;
	}
	return true;
}

bool run_threads(const struct setup *setup, uint64_t seed, size_t n)
{
	cleanup_free struct worker *w = calloc(THREADS, sizeof(*w));
	struct site s;
	bool ok;
	int r = w ? site_make(&s, setup, THREADS) : -ENOMEM;

	if (!r)
		r = view_backend.start(&s);
	if (r < 0) {
		fprintf(stderr, "the view can't be opened: %s\n", strerror(-r));
		return false;
	}
	for (unsigned i = 0; i < THREADS; i++) {
		w[i].site = s;
		arena_init(&w[i].a, &w[i].site, &view_backend, i);
		w[i].g.rng.state = seed + i;
		w[i].ok = true;
	}
	ok = rounds(&s, w, n);
	if (!ok)
		print_round(w);
	view_backend.stop(&s);
	for (unsigned i = 0; i < THREADS; i++)
		arena_clear(&w[i].a);
	site_remove(&s);
	return ok;
}
