/* SPDX-License-Identifier: MIT */
/* A table of nodes for tests, and look-ups in it that see what the test says. */
#ifndef SPECFS_TESTS_TABLEFIX_H
#define SPECFS_TESTS_TABLEFIX_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "node/table.h"

#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)

struct fix {
	struct slots *slots;
	struct snapshots *snaps;
	struct table *t;
	struct node *root;
	struct strbuf path;
	struct node *lost; /* by the last enter() */
};

/* An object of layer 1: device 7, number @ino. */
static inline struct found object(mode_t mode, ino_t ino)
{
	struct found f = { .layer = 1 };

	f.obj.st.st_mode = mode | 0644;
	f.obj.st.st_ino = ino;
	f.obj.st.st_dev = 7;
	f.obj.btime_nsec = ino * 10;
	f.st = f.obj.st;
	if (S_ISDIR(mode))
		f.parts = 2;
	return f;
}

/* Of every test. */
static inline int setup(void **state)
{
	struct fix *f = calloc(1, sizeof(*f));
	struct found root = object(S_IFDIR, 1);

	assert_non_null(f);
	strbuf_init(&f->path);
	assert_int_equal(slots_new(100, &f->slots), 0);
	assert_int_equal(snapshots_new(1000, &f->snaps), 0);
	assert_int_equal(table_new(&root, f->slots, f->snaps, &f->t), 0);
	assert_int_equal(table_get(f->t, NODE_ROOT, &f->root), 0);
	*state = f;
	return 0;
}

/* Of every test. */
static inline int teardown(void **state)
{
	struct fix *f = *state;

	node_unref(f->root);
	table_free(f->t);
	snapshots_free(f->snaps);
	slots_free(f->slots);
	strbuf_clear(&f->path);
	free(f);
	return 0;
}

/* Enter as a look-up does; returns the id. The node is not referenced, only counted. */
static inline uint64_t enter(struct fix *f, struct node *dir, const char *name,
			     const struct found *found)
{
	struct enter e = { .dir = dir, .name = name, .found = found, .share = SHARE_NO };
	struct node *n = NULL;
	uint64_t id;

	e.seq = table_seq(f->t, dir);
	assert_int_equal(table_enter(f->t, &e, &n), 0);
	id = n->id;
	node_unref(n);
	f->lost = e.lost;
	node_unref(e.lost);
	return id;
}

/* The node, referenced. */
static inline struct node *get(struct fix *f, uint64_t id)
{
	struct node *n = NULL;

	assert_int_equal(table_get(f->t, id, &n), 0);
	return n;
}

/* Its path, or "gone". */
static inline const char *path_of(struct fix *f, uint64_t id)
{
	struct node *n = get(f, id);
	int r;

	strbuf_reset(&f->path);
	r = table_path(f->t, n, &f->path);
	node_unref(n);
	return r ? "gone" : f->path.buf;
}

#endif
