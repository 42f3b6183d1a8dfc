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
	struct op *ops; /* all so far; after each round the view was opened again */
	size_t n;
	bool ok;
};

static void *work(void *arg)
{
	struct worker *w = arg;

	for (size_t i = 0; w->ok && i < ROUND; i++) {
		struct op *o = &w->ops[w->n++];

		gen_next(&w->g, &w->a, o);
		w->ok = arena_step(&w->a, o);
		o->look = !rng_below(&w->g.rng, 20) || i + 1 == ROUND;
		if (w->ok && o->look)
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

static void print_last(const struct worker *w)
{
	for (size_t k = w->n > 20 ? w->n - 20 : 0; k < w->n; k++) {
		char where[24];

		(void)snprintf(where, sizeof(where), "layer%d", w->ops[k].layer);
		op_print(stderr, &w->ops[k], w->ops[k].layer == IN_VIEW ? "view" : where);
	}
	fprintf(stderr, "=> %s\n", w->a.fault);
}

/* What went wrong, and whether it takes the others to go wrong. */
static void explain(const struct setup *setup, const struct backend *be, struct worker *w,
		    unsigned shrink_sec)
{
	for (unsigned i = 0; i < THREADS; i++) {
		struct run r = {
			.setup = setup,
			.be = be,
			.arenas = THREADS,
			.number = i,
			.ops = w[i].ops,
			.n = w[i].n,
			.fault_kind = w[i].a.fault_kind,
		};

		if (w[i].ok)
			continue;
		fprintf(stderr, "thread %u, its last steps:\n", i);
		print_last(&w[i]);
		if (!run_shrink(&r, shrink_sec))
			continue;
		fprintf(stderr, "by itself:\n");
		run_print(&r);
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
		w[i].ops[w[i].n++] = (struct op){ .kind = OP_REMOUNT, .layer = IN_VIEW };
		model_reopen(&w[i].a.m);
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

/* Room for the steps of all rounds; false if there is none. */
static bool make_room(struct worker *w, size_t n)
{
	size_t rounds = (n + (size_t)ROUND * THREADS - 1) / ((size_t)ROUND * THREADS);
	bool ok = true;

	for (unsigned i = 0; i < THREADS; i++) {
		w[i].ops = calloc(rounds * (ROUND + 1), sizeof(struct op));
		ok = ok && w[i].ops;
	}
	return ok;
}

bool run_threads(const struct setup *setup, const struct backend *be, uint64_t seed, size_t n,
		 unsigned shrink_sec)
{
	cleanup_free struct worker *w = calloc(THREADS, sizeof(*w));
	struct site s;
	bool ok;
	int r = w && make_room(w, n) ? site_make(&s, setup, THREADS) : -ENOMEM;

	if (!r)
		r = be->start(&s);
	if (r < 0) {
		fprintf(stderr, "the view can't be opened: %s\n", strerror(-r));
		return false;
	}
	for (unsigned i = 0; i < THREADS; i++) {
		w[i].site = s;
		arena_init(&w[i].a, &w[i].site, be, i);
		gen_init(&w[i].g, seed + i);
		w[i].ok = true;
	}
	ok = rounds(be, &s, w, n);
	be->stop(&s);
	site_remove(&s);
	if (!ok)
		explain(setup, be, w, shrink_sec);
	for (unsigned i = 0; i < THREADS; i++) {
		arena_clear(&w[i].a);
		free(w[i].ops);
	}
	return ok;
}
