/* SPDX-License-Identifier: MIT */
/* Listings kept between two requests: shared, replaced, bounded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "node/snapshot.h"

enum { LIMIT = 1000 };

struct fix {
	struct snapshots *all;
	struct node n[3]; /* as far as snapshots look at them */
};

static int setup(void **state)
{
	struct fix *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	assert_int_equal(snapshots_new(LIMIT, &f->all), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fix *f = *state;

	for (int i = 0; i < 3; i++)
		snapshot_drop(f->all, &f->n[i], NULL);
	assert_int_equal(snapshots_bytes(f->all), 0);
	snapshots_free(f->all);
	free(f);
	return 0;
}

static struct snapshot *install(struct fix *f, int i, size_t bytes)
{
	struct listing *l = calloc(1, sizeof(*l));
	struct snapshot *sn = NULL;

	assert_non_null(l);
	l->bytes = bytes;
	assert_int_equal(snapshot_install(f->all, &f->n[i], l, &sn), 0);
	return sn;
}

static void newest_one_is_shared(void **state)
{
	struct fix *f = *state;
	struct snapshot *old = install(f, 0, 10);
	struct snapshot *new = install(f, 0, 20);
	struct snapshot *got = snapshot_get(f->all, &f->n[0]);

	assert_ptr_equal(got, new);
	assert_int_equal(old->listing->bytes, 10); /* still there for who reads it */
	assert_int_equal(snapshots_bytes(f->all), 20);
	snapshot_put(got);
	snapshot_put(new);
	snapshot_put(old);
}

static void dropping_an_old_one_keeps_the_new(void **state)
{
	struct fix *f = *state;
	struct snapshot *old = install(f, 0, 10);
	struct snapshot *new = install(f, 0, 20);
	struct snapshot *got;

	snapshot_drop(f->all, &f->n[0], old);
	got = snapshot_get(f->all, &f->n[0]);
	assert_ptr_equal(got, new);
	snapshot_put(got);
	snapshot_drop(f->all, &f->n[0], new);
	assert_null(snapshot_get(f->all, &f->n[0]));
	snapshot_put(new);
	snapshot_put(old);
}

static void oldest_unused_makes_room(void **state)
{
	struct fix *f = *state;
	struct snapshot *used = install(f, 0, LIMIT / 2);

	snapshot_put(install(f, 1, LIMIT / 2));
	snapshot_put(install(f, 2, LIMIT / 2));
	assert_null(snapshot_get(f->all, &f->n[1]));
	assert_int_equal(snapshots_bytes(f->all), LIMIT);
	snapshot_put(used);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(newest_one_is_shared, setup, teardown),
		cmocka_unit_test_setup_teardown(dropping_an_old_one_keeps_the_new, setup, teardown),
		cmocka_unit_test_setup_teardown(oldest_unused_makes_room, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
