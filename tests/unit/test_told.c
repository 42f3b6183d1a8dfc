/* SPDX-License-Identifier: MIT */
/* What the table says of our own changes that the kernel has to be told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "tablefix.h"

static void note_id(void *arg, uint64_t id)
{
	uint64_t *noted = arg;

	*noted = *noted * 100 + id;
}

static void another_number_is_told_of_the_node_and_where_it_is_listed(void **state)
{
	struct fix *f = *state;
	struct found dir = object(S_IFDIR, 5);
	struct found was = object(S_IFREG, 6);
	struct found now = object(S_IFREG, 6);
	uint64_t noted = 0;
	struct node *d = NULL;
	struct node *n = NULL;

	table_on_change(f->t, note_id, NULL, &noted);
	assert_int_equal(table_get(f->t, enter(f, f->root, "d", &dir), &d), 0);
	assert_int_equal(table_get(f->t, enter(f, d, "a", &was), &n), 0);
	assert_int_equal(noted, 0);
	table_changed(f->t, n, &now);
	assert_int_equal(noted, 0);
	now.st.st_ino = 7;
	table_changed(f->t, n, &now);
	assert_int_equal(noted, n->id * 100 + d->id);
	noted = 0;
	dir.st.st_ino = 8;
	assert_int_equal(enter(f, f->root, "d", &dir), d->id);
	assert_int_equal(noted, d->id * 100 + NODE_ROOT);
	node_unref(n);
	node_unref(d);
}

static void recounting_tells_of_what_has_more_than_one_name(void **state)
{
	struct fix *f = *state;
	struct found two = object(S_IFREG, 5);
	struct found one = object(S_IFREG, 6);
	struct found dir = object(S_IFDIR, 7);
	uint64_t noted = 0;
	uint64_t id;

	two.st.st_nlink = dir.st.st_nlink = 2;
	one.st.st_nlink = 1;
	id = enter(f, f->root, "a", &two);
	(void)enter(f, f->root, "b", &one);
	(void)enter(f, f->root, "d", &dir);
	table_on_change(f->t, note_id, NULL, &noted);
	table_recount(f->t);
	assert_int_equal(noted, id);
}

static void note_name(void *arg, uint64_t dir, const char *name)
{
	char *text = arg;

	(void)snprintf(text, NAME_MAX, "%llu/%s", (unsigned long long)dir, name);
}

static void name_that_leads_nowhere_is_told(void **state)
{
	struct fix *f = *state;
	struct found a = object(S_IFREG, 5);
	char told[NAME_MAX] = "";
	uint64_t seq = table_seq(f->t, f->root);
	struct enter late = { .dir = f->root, .name = "a", .found = &a, .seq = seq };
	struct node *n;

	(void)enter(f, f->root, "a", &a);
	table_on_change(f->t, NULL, note_name, told);
	table_stray(f->t, f->root, "a");
	assert_string_equal(told, "1/a");
	assert_int_equal(table_enter(f->t, &late, &n), -EAGAIN);
}

static void note_each(void *arg, uint64_t dir, const char *name)
{
	strbuf_addf(arg, "%llu/%s ", (unsigned long long)dir, name);
}

static void all_names_of_a_node_are_told(void **state)
{
	struct fix *f = *state;
	struct strbuf told = STRBUF_INIT;
	struct found a = object(S_IFREG, 5);
	struct node *n = get(f, enter(f, f->root, "a", &a));
	struct enter e = { .dir = f->root, .name = "b", .found = &a, .share = SHARE_YES };
	struct node *same = NULL;

	e.other = n;
	e.seq = table_seq(f->t, f->root);
	assert_int_equal(table_enter(f->t, &e, &same), 0);
	assert_ptr_equal(same, n);
	(void)enter(f, f->root, "c", &(struct found){ .obj.st.st_mode = S_IFREG, .st = a.st });
	table_on_change(f->t, NULL, note_each, &told);
	table_stray_all(f->t, n);
	assert_string_equal(told.buf, "1/b 1/a ");
	strbuf_clear(&told);
	node_unref(same);
	node_unref(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(another_number_is_told_of_the_node_and_where_it_is_listed),
		TEST(recounting_tells_of_what_has_more_than_one_name),
		TEST(name_that_leads_nowhere_is_told),
		TEST(all_names_of_a_node_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
