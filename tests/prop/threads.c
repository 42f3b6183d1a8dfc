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

enum { THREADS = 3, ROUND = 100 };

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
		if (w->ok && !rng_below(&w->g.rng, 20))
			w->ok = arena_settle(&w->a) && arena_check(&w->a);
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
		w[i].ok = w[i].ok && arena_settle(&w[i].a) && arena_check(&w[i].a);
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

/* Close the view, open it again, and compare it as each thread's model says. */
static bool remount(const struct backend *be, struct site *s, struct worker *w)
{
	bool ok = true;
	int r;

	be->stop(s);
	r = be->start(s);
	for (unsigned i = 0; i < THREADS; i++) {
		w[i].site.view = s->view;
		w[i].site.mount_fd = s->mount_fd;
		w[i].ok = r < 0 ? arena_fail(&w[i].a, "opening the view again: %s",
					     strerrorname_np(-r))
				: arena_check(&w[i].a);
		ok = ok && w[i].ok;
	}
	return ok;
}

static bool rounds(const struct backend *be, struct site *s, struct worker *w, size_t n)
{
	bool ok = true;

	for (size_t done = 0; ok && done < n; done += (size_t)ROUND * THREADS)
		ok = round_of(w) && remount(be, s, w);
	return ok;
}

bool run_threads(const struct setup *setup, const struct backend *be, uint64_t seed, size_t n)
{
	cleanup_free struct worker *w = calloc(THREADS, sizeof(*w));
	struct site s;
	bool ok;
	int r = w ? site_make(&s, setup, THREADS) : -ENOMEM;

	if (!r)
		r = be->start(&s);
	if (r < 0) {
		fprintf(stderr, "the view can't be opened: %s\n", strerror(-r));
		return false;
	}
	for (unsigned i = 0; i < THREADS; i++) {
		w[i].site = s;
		arena_init(&w[i].a, &w[i].site, be, i);
		w[i].g.rng.state = seed + i;
		w[i].ok = true;
	}
	ok = rounds(be, &s, w, n);
	if (!ok)
		print_round(w);
	be->stop(&s);
	for (unsigned i = 0; i < THREADS; i++)
		arena_clear(&w[i].a);
	site_remove(&s);
	return ok;
}
