/* SPDX-License-Identifier: MIT */
/* Layers that get other indices: what the table of nodes knows of them. */
#include <sys/stat.h>

#include "check.h"
#include "node/table.h"

struct fix {
	struct slots *slots;
	struct snapshots *snaps;
	struct table *t;
	struct node *root;
};

static struct found object(mode_t mode, ino_t ino, unsigned layer, uint64_t parts)
{
	struct found f = { .layer = layer, .parts = parts };

	f.obj.st.st_mode = mode | 0644;
	f.obj.st.st_ino = ino;
	f.st = f.obj.st;
	return f;
}

static int setup(void **state)
{
	struct fix *f = calloc(1, sizeof(*f));
	struct found root = object(S_IFDIR, 1, 1, 2);

	assert_non_null(f);
	assert_int_equal(slots_new(100, &f->slots), 0);
	assert_int_equal(snapshots_new(1000, &f->snaps), 0);
	assert_int_equal(table_new(&root, f->slots, f->snaps, &f->t), 0);
	assert_int_equal(table_get(f->t, NODE_ROOT, &f->root), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fix *f = *state;

	node_unref(f->root);
	table_free(f->t);
	snapshots_free(f->snaps);
	slots_free(f->slots);
	free(f);
	return 0;
}

static struct node *enter(struct fix *f, struct node *dir, const char *name,
			  const struct found *found)
{
	struct enter e = { .dir = dir, .name = name, .found = found, .share = SHARE_NO };
	struct node *n = NULL;

	e.seq = table_seq(f->t, dir);
	assert_int_equal(table_enter(f->t, &e, &n), 0);
	return n;
}

static void other_indices_reach_every_node_and_name(void **state)
{
	struct fix *f = *state;
	struct found dir = object(S_IFDIR, 20, 1, 2 | 4 | 8);
	struct found one = object(S_IFREG, 21, 2, 0);
	struct found root = object(S_IFDIR, 1, 0, 1 | 2 | 4);
	unsigned map[STACK_ALL] = { 0, 2, STACK_MAX, 1 };
	struct node *d;
	struct node *n;
	struct found now;

	d = enter(f, f->root, "d", &dir);
	n = enter(f, d, "one", &one);
	atomic_store(&d->watched, 2 | 4);
	root.generation = 5;
	table_renumber(f->t, map, f->root, &root);
	node_found(d, &now);
	assert_int_equal(now.layer, 2);
	assert_int_equal(now.parts, 4 | 2); /* 1 is 2 now, 3 is 1, and 2 is a former one */
	assert_int_equal(atomic_load(&d->watched), 4);
	assert_int_equal(n->names->layer, STACK_MAX);
	node_found(n, &now);
	assert_int_equal(now.layer, STACK_MAX);
	node_found(f->root, &now);
	assert_int_equal(now.parts, 1 | 2 | 4);
	assert_int_equal(now.generation, 5);
	atomic_store(&d->watched, 0);
	node_unref(n);
	node_unref(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(other_indices_reach_every_node_and_name, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
