/* SPDX-License-Identifier: MIT */
/* Runs and how they are cut down: see run.h. */
#include "run.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "gen.h"

static bool remount(struct arena *a)
{
	int r;

	a->be->stop(a->site);
	r = a->be->start(a->site);
	model_reopen(&a->m);
	return r < 0 ? arena_fail(a, "opening the view again: %s", strerrorname_np(-r)) : true;
}

static bool do_op(struct arena *a, const struct op *o)
{
	bool ok = o->kind == OP_REMOUNT ? remount(a) : arena_step(a, o);

	return ok && (o->look || o->kind == OP_REMOUNT) ? arena_settle(a) && arena_check(a) : ok;
}

/* A fresh site with its view open; false with r->fault set. */
static bool begin(struct run *r, struct site *s, struct arena *a)
{
	int err = site_make(s, r->setup, r->arenas ? r->arenas : 1);

	r->fault[0] = '\0';
	if (!err)
		err = r->be->start(s);
	if (err < 0)
		(void)snprintf(r->fault, sizeof(r->fault), "the view can't be opened: %s",
			       strerror(-err));
	else
		arena_init(a, s, r->be, r->number);
	return !err;
}

static void end(struct run *r, struct site *s, struct arena *a)
{
	(void)snprintf(r->fault, sizeof(r->fault), "%s", a->fault);
	r->fault_kind = a->fault_kind;
	r->be->stop(s);
	arena_clear(a);
	site_remove(s);
}

bool run_random(struct run *r, size_t n)
{
	struct gen g;
	struct rng when = { .state = ~r->seed };
	struct arena a;
	struct site s;
	bool ok = true;

	gen_init(&g, r->seed);
	r->ops = calloc(n, sizeof(*r->ops));
	if (!r->ops || !begin(r, &s, &a))
		return false;
	while (ok && r->n < n) {
		struct op *o = &r->ops[r->n++];

		if (rng_below(&when, 60))
			gen_next(&g, &a, o);
		else
			*o = (struct op){ .kind = OP_REMOUNT, .layer = IN_VIEW };
		o->look = r->n == n || !rng_below(&when, 8);
		ok = do_op(&a, o);
	}
	end(r, &s, &a);
	return ok;
}

/* Do given steps; how many it took to fail, or 0. */
static size_t replay(struct run *r, const struct op *ops, size_t n)
{
	struct arena a;
	struct site s;
	size_t i = 0;
	bool ok = true;

	if (!begin(r, &s, &a))
		return 0;
	while (ok && i < n)
		ok = do_op(&a, &ops[i++]);
	end(r, &s, &a);
	return ok ? 0 : i;
}

/* Take the first @n steps of @ops for the run's if they fail as its own did. */
static void try_steps(struct run *r, struct op *ops, size_t n)
{
	const char *kind = r->fault_kind;
	size_t failed;

	if (n)
		ops[n - 1].look = true;
	failed = replay(r, ops, n);
	if (failed && r->fault_kind == kind) {
		memcpy(r->ops, ops, failed * sizeof(*ops));
		r->n = failed;
	}
	r->fault_kind = kind;
}

/* Leave out @len steps from @at on, if it can be. */
static void cut(struct run *r, size_t at, size_t len, struct op *buf)
{
	memcpy(buf, r->ops, at * sizeof(*buf));
	memcpy(buf + at, r->ops + at + len, (r->n - at - len) * sizeof(*buf));
	try_steps(r, buf, r->n - len);
}

/* Look at the last step alone, if that shows it: it is quicker. */
static void look_less(struct run *r, struct op *buf)
{
	memcpy(buf, r->ops, r->n * sizeof(*buf));
	for (size_t i = 0; i < r->n; i++)
		buf[i].look = false;
	try_steps(r, buf, r->n);
}

bool run_shrink(struct run *r, unsigned limit_sec)
{
	cleanup_free struct op *buf = calloc(r->n, sizeof(*buf));
	char first[sizeof(r->fault)];
	time_t end_at = time(NULL) + limit_sec;

	memcpy(first, r->fault, sizeof(first));
	if (!buf || !replay(r, r->ops, r->n)) { /* it depends on something outside */
		memcpy(r->fault, first, sizeof(first));
		return false;
	}
	look_less(r, buf);
	for (size_t len = r->n / 2; len && time(NULL) < end_at;) {
		size_t before = r->n;

		for (size_t at = r->n; at > 0 && time(NULL) < end_at;) {
			at = at > len ? at - len : 0;
			if (at + len < r->n)
				cut(r, at, len, buf);
		}
		if (len > 1 || r->n == before)
			len /= 2;
	}
	(void)replay(r, r->ops, r->n);
	return true;
}

void run_print(const struct run *r)
{
	struct model m;

	model_init(&m, r->setup, '0');
	for (size_t i = 0; i < r->n; i++) {
		static const char *const roles[] = {
			"scratch", "spec", "overlay", "trunk", "graft", "made",
		};
		const struct op *o = &r->ops[i];
		char where[24] = "view";

		if (o->layer != IN_VIEW)
			(void)snprintf(where, sizeof(where), "%s%s", roles[m.layers[o->layer].role],
				       m.layers[o->layer].role == ROLE_CHECKOUT ? ""
				       : o->layer == 1				? "1"
										: "2");
		fprintf(stderr, "  %3zu ", i + 1);
		op_print(stderr, o, where);
	}
	fprintf(stderr, "  => %s\n", r->fault);
	model_clear(&m);
}

void run_clear(struct run *r)
{
	free(r->ops);
	r->ops = NULL;
	r->n = 0;
}
