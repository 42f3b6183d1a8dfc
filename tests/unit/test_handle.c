/* SPDX-License-Identifier: MIT */
/* Descriptors of nodes: how many there are, which of them go first, and which may not go at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "node/table.h"
#include "tree.h"

enum { LIMIT = 4, FILES = 8 };

struct fix {
	char *tmp;
	int dir;
	struct slots *slots;
	struct snapshots *snaps;
	struct table *t;
	struct node *root;
	struct node *n[FILES];
};

static struct node *make_node(struct fix *f, const char *name)
{
	struct found o = { .layer = 1 };
	struct enter e = { .name = name, .found = &o, .own = true, .share = SHARE_NO };
	struct node *n = NULL;

	assert_int_equal(object_stat(f->dir, name, &o.obj), 0);
	o.st = o.obj.st;
	e.dir = f->root;
	assert_int_equal(table_enter(f->t, &e, &n), 0);
	return n;
}

static int setup(void **state)
{
	struct fix *f = calloc(1, sizeof(*f));
	struct found root = { .parts = 1 };

	assert_non_null(f);
	f->tmp = tree_tmp();
	f->dir = open(f->tmp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(f->dir >= 0);
	root.st.st_mode = S_IFDIR | 0755;
	assert_int_equal(slots_new(LIMIT, &f->slots), 0);
	assert_int_equal(snapshots_new(1000, &f->snaps), 0);
	assert_int_equal(table_new(&root, f->slots, f->snaps, &f->t), 0);
	assert_int_equal(table_get(f->t, NODE_ROOT, &f->root), 0);
	for (int i = 0; i < FILES; i++) {
		char what[] = { 'f', (char)('0' + i), '=', 'x', '\0' };
		char name[] = { 'f', (char)('0' + i), '\0' };

		tree_make(f->tmp, what, NULL);
		f->n[i] = make_node(f, name);
	}
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fix *f = *state;

	for (int i = 0; i < FILES; i++)
		node_unref(f->n[i]);
	node_unref(f->root);
	table_free(f->t);
	assert_int_equal(slots_count(f->slots, NULL), 0);
	snapshots_free(f->snaps);
	slots_free(f->slots);
	close(f->dir);
	tree_remove(f->tmp);
	free(f->tmp);
	free(f);
	return 0;
}

static struct handle *install(struct fix *f, int i, enum handle_kind kind)
{
	char name[] = { 'f', (char)('0' + i), '\0' };
	struct handle *h = NULL;
	int fd = openat(f->dir, name, (kind == HANDLE_WRITE ? O_RDWR : O_RDONLY) | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(handle_install(f->slots, f->n[i], kind, fd, true, &h), 0);
	return h;
}

static bool has(struct fix *f, int i, enum handle_kind kind)
{
	struct handle *h = handle_get(f->slots, f->n[i], kind);

	handle_put(h);
	return h != NULL;
}

static void oldest_unused_goes_first(void **state)
{
	struct fix *f = *state;

	for (int i = 0; i < LIMIT; i++)
		handle_put(install(f, i, HANDLE_READ));
	assert_true(has(f, 0, HANDLE_READ)); /* used again: 1 is the oldest now */
	handle_put(install(f, LIMIT, HANDLE_READ));
	assert_int_equal(slots_count(f->slots, NULL), LIMIT);
	assert_false(has(f, 1, HANDLE_READ));
	assert_true(has(f, 0, HANDLE_READ));
}

static void one_in_use_stays_open(void **state)
{
	struct fix *f = *state;
	struct handle *h = install(f, 0, HANDLE_READ);
	char c;

	for (int i = 1; i < FILES; i++)
		handle_put(install(f, i, HANDLE_READ));
	assert_int_equal(pread(h->fd, &c, 1, 0), 1);
	/* dropped by its node, it still serves who uses it */
	handle_drop(f->slots, f->n[0], HANDLE_READ);
	assert_false(has(f, 0, HANDLE_READ));
	assert_int_equal(pread(h->fd, &c, 1, 0), 1);
	handle_put(h);
}

static void unlinked_file_is_never_closed(void **state)
{
	struct fix *f = *state;
	size_t pinned;

	handle_put(install(f, 0, HANDLE_READ));
	assert_int_equal(unlinkat(f->dir, "f0", 0), 0);
	for (int i = 1; i < FILES; i++)
		handle_put(install(f, i, HANDLE_READ));
	(void)slots_count(f->slots, &pinned);
	assert_int_equal(pinned, 1);
	assert_true(has(f, 0, HANDLE_READ));
}

static void nameless_node_keeps_its_descriptor(void **state)
{
	struct fix *f = *state;

	handle_put(install(f, 0, HANDLE_READ));
	table_removed(f->t, f->root, "f0", ORPHAN_HIDDEN);
	for (int i = 1; i < FILES; i++)
		handle_put(install(f, i, HANDLE_READ));
	assert_true(has(f, 0, HANDLE_READ));
}

static void lost_permission_keeps_the_descriptor(void **state)
{
	struct fix *f = *state;

	if (geteuid() == 0)
		skip(); /* nothing is forbidden to root */
	handle_put(install(f, 0, HANDLE_WRITE));
	assert_int_equal(fchmodat(f->dir, "f0", 0444, 0), 0);
	for (int i = 1; i < FILES; i++)
		handle_put(install(f, i, HANDLE_READ));
	assert_true(has(f, 0, HANDLE_WRITE));
	/* allowed again, it may go */
	assert_int_equal(fchmodat(f->dir, "f0", 0644, 0), 0);
	for (int i = 1; i < FILES; i++)
		handle_put(install(f, i, HANDLE_READ));
	for (int i = 1; i < FILES; i++)
		handle_put(install(f, i, HANDLE_READ));
	assert_false(has(f, 0, HANDLE_WRITE));
}

static void second_installation_uses_the_first(void **state)
{
	struct fix *f = *state;
	struct handle *a = install(f, 0, HANDLE_READ);
	struct handle *b = install(f, 0, HANDLE_READ);

	assert_ptr_equal(a, b);
	assert_int_equal(slots_count(f->slots, NULL), 1);
	handle_put(a);
	handle_put(b);
}

static void making_room_closes_unused_ones(void **state)
{
	struct fix *f = *state;
	struct handle *h = install(f, 0, HANDLE_READ);

	handle_put(install(f, 1, HANDLE_READ));
	handle_put(install(f, 2, HANDLE_READ));
	assert_int_equal(slots_make_room(f->slots, 10), 2);
	assert_int_equal(slots_count(f->slots, NULL), 1);
	handle_put(h);
}

struct taking {
	struct fix *f;
	_Atomic bool done;
	int fd;
};

static void *take(void *arg)
{
	struct taking *t = arg;
	bool readable;

	t->fd = handle_take(t->f->slots, t->f->n[0], HANDLE_WRITE, &readable);
	t->done = true;
	return NULL;
}

static void taking_waits_for_users(void **state)
{
	struct fix *f = *state;
	struct taking t = { .f = f, .fd = -1 };
	struct handle *h = install(f, 0, HANDLE_WRITE);
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, take, &t), 0);
	while (has(f, 0, HANDLE_WRITE))
		sched_yield();
	assert_false(t.done); /* it cannot be: we still use it */
	handle_put(h);
	pthread_join(thread, NULL);
	assert_true(t.fd >= 0);
	assert_int_equal(handle_install(f->slots, f->n[0], HANDLE_WRITE, t.fd, true, &h), 0);
	handle_put(h);
	assert_int_equal(slots_count(f->slots, NULL), 1);
}

static void young_descriptor_for_writing_stays(void **state)
{
	struct fix *f = *state;

	handle_put(install(f, 0, HANDLE_WRITE));
	assert_true(slots_age(f->slots, false));
	assert_true(has(f, 0, HANDLE_WRITE));
	slots_stop(f->slots);
	assert_false(slots_age(f->slots, true));
}

static void node_takes_its_descriptors_along(void **state)
{
	struct fix *f = *state;
	uint64_t id = f->n[0]->id;

	handle_put(install(f, 0, HANDLE_READ));
	handle_put(install(f, 0, HANDLE_WRITE));
	node_unref(f->n[0]);
	f->n[0] = NULL;
	assert_int_equal(slots_count(f->slots, NULL), 2);
	table_forget(f->t, id, 1);
	assert_int_equal(slots_count(f->slots, NULL), 0);
}

static void descriptors_for_writing_go_if_they_can_be_had_again(void **state)
{
	struct fix *f = *state;
	char path[256];

	handle_put(install(f, 0, HANDLE_READ));
	handle_put(install(f, 0, HANDLE_WRITE));
	handle_put(install(f, 1, HANDLE_WRITE));
	handle_put(install(f, 2, HANDLE_WRITE));
	snprintf(path, sizeof(path), "%s/f1", f->tmp);
	assert_int_equal(unlink(path), 0);
	slots_drop_writers(f->slots);
	assert_true(has(f, 0, HANDLE_READ));
	assert_false(has(f, 0, HANDLE_WRITE));
	assert_true(has(f, 1, HANDLE_WRITE)); /* there is no other way to it */
	assert_false(has(f, 2, HANDLE_WRITE));
	assert_int_equal(slots_count(f->slots, NULL), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(oldest_unused_goes_first, setup, teardown),
		cmocka_unit_test_setup_teardown(one_in_use_stays_open, setup, teardown),
		cmocka_unit_test_setup_teardown(unlinked_file_is_never_closed, setup, teardown),
		cmocka_unit_test_setup_teardown(nameless_node_keeps_its_descriptor, setup,
						teardown),
		cmocka_unit_test_setup_teardown(lost_permission_keeps_the_descriptor, setup,
						teardown),
		cmocka_unit_test_setup_teardown(second_installation_uses_the_first, setup,
						teardown),
		cmocka_unit_test_setup_teardown(making_room_closes_unused_ones, setup, teardown),
		cmocka_unit_test_setup_teardown(taking_waits_for_users, setup, teardown),
		cmocka_unit_test_setup_teardown(young_descriptor_for_writing_stays, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			descriptors_for_writing_go_if_they_can_be_had_again, setup, teardown),
		cmocka_unit_test_setup_teardown(node_takes_its_descriptors_along, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
