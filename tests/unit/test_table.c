/* SPDX-License-Identifier: MIT */
/* Which node a look-up's result is, and what becomes of nodes, names and references. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "node/table.h"

#include "tablefix.h"

static void same_object_is_the_same_node(void **state)
{
	struct fix *f = *state;
	struct found o = object(S_IFREG, 5);
	uint64_t id = enter(f, f->root, "a", &o);

	assert_int_equal(enter(f, f->root, "a", &o), id);
	assert_string_equal(path_of(f, id), "a");
	assert_int_equal(table_count(f->t), 2);
}

static void another_object_is_another_node(void **state)
{
	struct fix *f = *state;
	struct found one = object(S_IFREG, 5);
	struct found two = object(S_IFREG, 6);
	uint64_t id = enter(f, f->root, "a", &one);

	assert_int_not_equal(enter(f, f->root, "a", &two), id);
	assert_non_null(f->lost);
	assert_string_equal(path_of(f, id), "gone");
}

static void number_used_again_is_another_node(void **state)
{
	struct fix *f = *state;
	struct found one = object(S_IFREG, 5);
	struct found two = object(S_IFREG, 5);
	uint64_t id = enter(f, f->root, "a", &one);

	two.obj.btime_nsec++;
	assert_int_not_equal(enter(f, f->root, "a", &two), id);
}

static void directory_stays_while_there_is_one(void **state)
{
	struct fix *f = *state;
	struct found one = object(S_IFDIR, 5);
	struct found two = object(S_IFDIR, 6);
	struct found file = object(S_IFREG, 7);
	uint64_t id = enter(f, f->root, "d", &one);

	assert_int_equal(enter(f, f->root, "d", &two), id);
	assert_int_not_equal(enter(f, f->root, "d", &file), id);
}

static void forgotten_node_is_gone(void **state)
{
	struct fix *f = *state;
	struct found o = object(S_IFREG, 5);
	uint64_t id = enter(f, f->root, "a", &o);
	struct node *n = NULL;

	(void)enter(f, f->root, "a", &o);
	table_forget(f->t, id, 1);
	assert_string_equal(path_of(f, id), "a");
	table_forget(f->t, id, 1);
	assert_int_equal(table_get(f->t, id, &n), -ESTALE);
	assert_int_equal(table_count(f->t), 1);
	/* and no id is used again */
	assert_true(enter(f, f->root, "a", &o) > id);
}

static void forgetting_too_much_harms_nobody(void **state)
{
	struct fix *f = *state;
	struct found o = object(S_IFREG, 5);

	table_forget(f->t, enter(f, f->root, "a", &o), 100);
	table_forget(f->t, 12345, 1);
	table_forget(f->t, NODE_ROOT, 1);
	assert_int_equal(table_count(f->t), 1);
}

static void another_reference_needs_a_first_one(void **state)
{
	struct fix *f = *state;
	struct found o = object(S_IFREG, 5);
	uint64_t id = enter(f, f->root, "a", &o);
	struct node *n = get(f, id);

	assert_int_equal(table_known(f->t, id), 0);
	table_forget(f->t, id, 1);
	assert_string_equal(path_of(f, id), "a");
	table_forget(f->t, id, 1);
	assert_int_equal(table_known(f->t, id), -ENOENT);
	assert_int_equal(table_known(f->t, 12345), -ENOENT);
	node_unref(n);
	assert_int_equal(table_count(f->t), 1);
}

static void who_forgets_a_file_forgets_its_size(void **state)
{
	struct fix *f = *state;
	struct found o = object(S_IFREG, 5);
	uint64_t id = enter(f, f->root, "a", &o);
	struct node *n = get(f, id);

	n->told_end = 7;
	n->data_end = 5;
	(void)enter(f, f->root, "a", &o);
	table_forget(f->t, id, 1);
	assert_int_equal(n->told_end, 7);
	table_forget(f->t, id, 1);
	assert_int_equal(n->told_end, 0);
	assert_int_equal(n->data_end, 0);
	node_unref(n);
}

static void child_pins_its_parents(void **state)
{
	struct fix *f = *state;
	struct found d = object(S_IFDIR, 5);
	struct found o = object(S_IFREG, 6);
	uint64_t a = enter(f, f->root, "a", &d);
	struct node *na = get(f, a);
	uint64_t b = enter(f, na, "b", &d);
	struct node *nb = get(f, b);
	uint64_t c = enter(f, nb, "c", &o);

	node_unref(na);
	node_unref(nb);
	table_forget(f->t, a, 1);
	table_forget(f->t, b, 1);
	assert_string_equal(path_of(f, c), "a/b/c");
	table_forget(f->t, c, 1);
	assert_int_equal(table_count(f->t), 1);
}

static void late_look_up_is_refused(void **state)
{
	struct fix *f = *state;
	struct found o = object(S_IFREG, 5);
	struct enter e = { .dir = f->root, .name = "a", .found = &o, .share = SHARE_NO };
	struct node *n = NULL;
	struct node *lost = NULL;

	e.seq = table_seq(f->t, f->root);
	table_removed(f->t, f->root, "a", ORPHAN_OWN);
	assert_int_equal(table_enter(f->t, &e, &n), -EAGAIN);
	assert_int_equal(table_absent(f->t, f->root, "a", e.seq, &lost), -EAGAIN);
	e.own = true;
	assert_int_equal(table_enter(f->t, &e, &n), 0);
	node_unref(n);
}

static void absent_name_leaves_the_node(void **state)
{
	struct fix *f = *state;
	struct found o = object(S_IFREG, 5);
	uint64_t id = enter(f, f->root, "a", &o);
	struct node *lost = NULL;
	struct node *n;

	assert_int_equal(table_absent(f->t, f->root, "a", table_seq(f->t, f->root), &lost), 0);
	n = get(f, id);
	assert_ptr_equal(lost, n);
	assert_int_equal(table_orphan(f->t, n), ORPHAN_HIDDEN);
	table_set_orphan(f->t, n, ORPHAN_OWN);
	assert_int_equal(table_orphan(f->t, n), ORPHAN_OWN);
	assert_true(n->nameless);
	node_unref(n);
	node_unref(lost);
	table_forget(f->t, id, 1);
	assert_int_equal(table_count(f->t), 1);
}

static void hard_link_asks_before_it_shares(void **state)
{
	struct fix *f = *state;
	struct found o = object(S_IFREG, 5);
	uint64_t id = enter(f, f->root, "a", &o);
	struct enter e = { .dir = f->root, .name = "b", .found = &o, .share = SHARE_ASK };
	struct node *n = NULL;

	e.seq = table_seq(f->t, f->root);
	assert_int_equal(table_enter(f->t, &e, &n), ENTER_ASK);
	assert_int_equal(e.other->id, id);
	e.share = SHARE_YES;
	assert_int_equal(table_enter(f->t, &e, &n), 0);
	assert_int_equal(n->id, id);
	node_unref(n);
	node_unref(e.other);
	/* the other name keeps the node alive and named */
	table_removed(f->t, f->root, "b", ORPHAN_OWN);
	assert_string_equal(path_of(f, id), "a");
}

static void path_and_layer_belong_to_one_name(void **state)
{
	struct fix *f = *state;
	struct found as_a = object(S_IFREG, 5);
	struct found as_b = as_a;
	uint64_t id = enter(f, f->root, "a", &as_a);
	struct node *n = get(f, id);
	struct enter e = { .dir = f->root, .name = "b", .found = &as_b, .share = SHARE_YES };
	struct node *same = NULL;
	struct found now;

	as_b.layer = as_a.layer + 3;
	e.other = n;
	e.seq = table_seq(f->t, f->root);
	assert_int_equal(table_enter(f->t, &e, &same), 0);
	assert_ptr_equal(same, n);
	node_unref(same);
	assert_string_equal(path_of(f, id), "b");
	node_found(n, &now);
	assert_int_equal(now.layer, as_b.layer);
	/* looked up by the other name again */
	assert_int_equal(enter(f, f->root, "a", &as_a), id);
	assert_string_equal(path_of(f, id), "a");
	node_found(n, &now);
	assert_int_equal(now.layer, as_a.layer);
	/* and when that name goes */
	table_removed(f->t, f->root, "a", ORPHAN_OWN);
	assert_string_equal(path_of(f, id), "b");
	node_found(n, &now);
	assert_int_equal(now.layer, as_b.layer);
	node_unref(n);
}

static void unshared_link_has_its_own_node(void **state)
{
	struct fix *f = *state;
	struct found o = object(S_IFREG, 5);
	uint64_t id = enter(f, f->root, "a", &o);
	uint64_t other = enter(f, f->root, "b", &o);

	assert_int_not_equal(id, other);
	/* and still has when the first one goes */
	table_forget(f->t, id, 1);
	assert_int_equal(enter(f, f->root, "b", &o), other);
}

static void name_in_a_directory_without_one_leads_nowhere(void **state)
{
	struct fix *f = *state;
	struct found dir = object(S_IFDIR, 4);
	struct found as_a = object(S_IFREG, 5);
	struct found as_b = as_a;
	uint64_t id = enter(f, f->root, "a", &as_a);
	struct node *n = get(f, id);
	struct node *d = get(f, enter(f, f->root, "d", &dir));
	struct enter e = { .dir = d, .name = "b", .found = &as_b, .share = SHARE_YES, .other = n };
	struct node *same = NULL;
	struct found now;

	as_b.layer = as_a.layer + 3;
	e.seq = table_seq(f->t, d);
	assert_int_equal(table_enter(f->t, &e, &same), 0);
	node_unref(same);
	assert_string_equal(path_of(f, id), "d/b");
	table_removed(f->t, f->root, "d", ORPHAN_HIDDEN);
	assert_string_equal(path_of(f, id), "a");
	node_found(n, &now);
	assert_int_equal(now.layer, as_a.layer);
	node_unref(d);
	node_unref(n);
}

static void copy_up_keeps_node_and_one_name(void **state)
{
	struct fix *f = *state;
	struct found o = object(S_IFREG, 5);
	struct found copy = object(S_IFREG, 9);
	uint64_t id = enter(f, f->root, "a", &o);
	struct node *n = get(f, id);
	struct enter e = { .dir = f->root, .name = "b", .found = &o, .share = SHARE_YES };
	struct enter late = { .dir = f->root, .name = "b", .found = &copy, .share = SHARE_NO };
	struct node *m = NULL;

	e.other = n;
	e.seq = table_seq(f->t, f->root);
	assert_int_equal(table_enter(f->t, &e, &m), 0);
	node_unref(m);
	assert_string_equal(path_of(f, id), "b");
	table_changing(f->t, n);
	/* while it is being copied a look-up that sees the copy has to wait */
	late.seq = table_seq(f->t, f->root);
	assert_int_equal(table_enter(f->t, &late, &m), -EBUSY);
	assert_ptr_equal(late.busy, n);
	node_unref(late.busy);
	assert_int_equal(table_absent(f->t, f->root, "b", late.seq, &m), -EBUSY);
	assert_ptr_equal(m, n);
	node_unref(m);
	table_changed(f->t, n, &copy);
	assert_int_equal(enter(f, f->root, "b", &copy), id);
	assert_int_not_equal(enter(f, f->root, "a", &o), id);
	node_unref(n);
}

static void rename_takes_node_along(void **state)
{
	struct fix *f = *state;
	struct found d = object(S_IFDIR, 4);
	struct found o = object(S_IFREG, 5);
	struct found old = object(S_IFREG, 6);
	uint64_t dir = enter(f, f->root, "d", &d);
	struct node *nd = get(f, dir);
	uint64_t id = enter(f, f->root, "a", &o);
	uint64_t over = enter(f, nd, "b", &old);
	struct node *n = get(f, id);
	struct node *no = get(f, over);

	assert_int_equal(table_moved(f->t, n, f->root, "a", nd, "b", &o, ORPHAN_OWN), 0);
	assert_string_equal(path_of(f, id), "d/b");
	assert_string_equal(path_of(f, over), "gone");
	assert_int_equal(table_orphan(f->t, no), ORPHAN_OWN);
	assert_null(table_child(f->t, f->root, "a"));
	/* the directory moves, and what is in it */
	assert_int_equal(table_moved(f->t, nd, f->root, "d", f->root, "e", &d, ORPHAN_OWN), 0);
	assert_string_equal(path_of(f, id), "e/b");
	node_unref(n);
	node_unref(no);
	node_unref(nd);
}

static void rename_onto_what_a_look_up_just_saw(void **state)
{
	struct fix *f = *state;
	struct found o = object(S_IFLNK, 5);
	uint64_t id = enter(f, f->root, "a", &o);
	uint64_t early = enter(f, f->root, "b", &o);
	struct node *n = get(f, id);

	assert_int_not_equal(id, early);
	assert_int_equal(table_moved(f->t, n, f->root, "a", f->root, "b", &o, ORPHAN_OWN), 0);
	assert_string_equal(path_of(f, id), "b");
	assert_string_equal(path_of(f, early), "gone");
	node_unref(n);
}

static void exchange_swaps_names(void **state)
{
	struct fix *f = *state;
	struct found a = object(S_IFREG, 5);
	struct found b = object(S_IFREG, 6);
	uint64_t ia = enter(f, f->root, "a", &a);
	uint64_t ib = enter(f, f->root, "b", &b);

	assert_int_equal(table_exchanged(f->t, f->root, "a", &b, f->root, "b", &a), 0);
	assert_string_equal(path_of(f, ia), "b");
	assert_string_equal(path_of(f, ib), "a");
	/* one of them unknown */
	table_forget(f->t, ib, 1);
	assert_int_equal(table_exchanged(f->t, f->root, "a", &a, f->root, "b", &b), 0);
	assert_string_equal(path_of(f, ia), "a");
}

static void new_part_is_noted_up_to_the_root(void **state)
{
	struct fix *f = *state;
	struct found d = object(S_IFDIR, 4);
	uint64_t a = enter(f, f->root, "a", &d);
	struct node *na = get(f, a);
	uint64_t b = enter(f, na, "b", &d);
	struct node *nb = get(f, b);
	uint64_t seq = table_seq(f->t, na);
	struct found now;

	table_add_part(f->t, nb, 5);
	node_found(nb, &now);
	assert_int_equal(now.parts, 2 | 1 << 5);
	node_found(f->root, &now);
	assert_int_equal(now.parts, 2 | 1 << 5);
	/* what was found before is too old to say which parts there are */
	assert_int_not_equal(table_seq(f->t, na), seq);
	table_refresh(f->t, nb, na, "b", seq, &d);
	node_found(nb, &now);
	assert_int_equal(now.parts, 2 | 1 << 5);
	/* one above that was looked at before the layer had anything there */
	(void)enter(f, f->root, "a", &d);
	node_found(na, &now);
	assert_int_equal(now.parts, 2);
	table_add_part(f->t, nb, 5);
	node_found(na, &now);
	assert_int_equal(now.parts, 2 | 1 << 5);
	node_unref(na);
	node_unref(nb);
}

static void below_lists_all_known_nodes(void **state)
{
	struct fix *f = *state;
	struct found d = object(S_IFDIR, 4);
	struct found o = object(S_IFREG, 5);
	struct node *na = get(f, enter(f, f->root, "a", &d));
	struct node *nb = get(f, enter(f, na, "b", &d));
	struct node **v = NULL;
	size_t n = 0;

	for (int i = 0; i < 200; i++) {
		char name[] = { 'f', (char)('0' + i / 100), (char)('0' + i / 10 % 10),
				(char)('0' + i % 10), '\0' };

		o.obj.st.st_ino = 1000 + (ino_t)i;
		(void)enter(f, nb, name, &o);
	}
	assert_int_equal(table_below(f->t, f->root, &v, &n), 0);
	assert_int_equal(n, 202);
	assert_ptr_equal(v[0], na);
	assert_ptr_equal(v[1], nb);
	for (size_t i = 0; i < n; i++)
		node_unref(v[i]);
	free(v);
	node_unref(na);
	node_unref(nb);
}

static void long_names_and_deep_paths(void **state)
{
	struct fix *f = *state;
	struct found d = object(S_IFDIR, 4);
	char name[NAME_MAX + 2];
	struct enter e = { .dir = f->root, .name = name, .found = &d, .share = SHARE_NO };
	struct node *n = node_ref(f->root);
	struct node *next = NULL;

	memset(name, 'x', sizeof(name));
	name[NAME_MAX + 1] = '\0';
	e.seq = table_seq(f->t, f->root);
	assert_int_equal(table_enter(f->t, &e, &next), -ENAMETOOLONG);
	name[NAME_MAX] = '\0';
	for (int i = 0; i < 100; i++) {
		next = get(f, enter(f, n, name, &d));
		node_unref(n);
		n = next;
	}
	assert_int_equal(strlen(path_of(f, n->id)), 100 * (NAME_MAX + 1) - 1);
	node_unref(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(same_object_is_the_same_node),
		TEST(another_object_is_another_node),
		TEST(number_used_again_is_another_node),
		TEST(directory_stays_while_there_is_one),
		TEST(forgotten_node_is_gone),
		TEST(forgetting_too_much_harms_nobody),
		TEST(another_reference_needs_a_first_one),
		TEST(who_forgets_a_file_forgets_its_size),
		TEST(child_pins_its_parents),
		TEST(late_look_up_is_refused),
		TEST(absent_name_leaves_the_node),
		TEST(hard_link_asks_before_it_shares),
		TEST(path_and_layer_belong_to_one_name),
		TEST(name_in_a_directory_without_one_leads_nowhere),
		TEST(unshared_link_has_its_own_node),
		TEST(copy_up_keeps_node_and_one_name),
		TEST(rename_takes_node_along),
		TEST(rename_onto_what_a_look_up_just_saw),
		TEST(exchange_swaps_names),
		TEST(new_part_is_noted_up_to_the_root),
		TEST(below_lists_all_known_nodes),
		TEST(long_names_and_deep_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
