/* SPDX-License-Identifier: MIT */
/* The registry: names, precedence, growth, bad tables, readers beside a writer. */
#include "hooks/registry.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#define MANY 5000

struct fix {
	struct registry reg;
	struct specfs_hook rows[MANY];
	char names[MANY][16];
};

static void fn_a(void)
{
}

static void fn_b(void)
{
}

static const struct specfs_hook rows_a[] = {
	{ "one", "void (void)", fn_a },
	{ "two", "void (void)", fn_a },
};
static const struct specfs_hook rows_b[] = {
	{ "two", "void (void)", fn_b },
	{ "three", "void (void)", fn_b },
};

static struct specfs_provider provider(const struct specfs_hook *rows, size_t n)
{
	return (struct specfs_provider){
		.abi = SPECFS_HOOKS_ABI,
		.hook_size = sizeof(*rows),
		.name = "test",
		.hooks = rows,
		.n_hooks = n,
	};
}

static int setup(void **state)
{
	struct fix *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	f->reg = (struct registry)REGISTRY_INIT;
	for (size_t i = 0; i < MANY; i++) {
		snprintf(f->names[i], sizeof(f->names[i]), "hook_%zu", i);
		f->rows[i] = (struct specfs_hook){ f->names[i], "void (void)", fn_a };
	}
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fix *f = *state;

	registry_clear(&f->reg);
	free(f);
	return 0;
}

static void empty_registry_has_no_name(void **state)
{
	struct fix *f = *state;
	size_t pos = 0;

	assert_null(registry_find(&f->reg, "one"));
	assert_null(registry_find(&f->reg, ""));
	assert_null(registry_next(&f->reg, &pos));
}

static void first_of_a_name_stays(void **state)
{
	struct fix *f = *state;
	struct specfs_provider a = provider(rows_a, 2), b = provider(rows_b, 2);
	size_t shadowed = 99;

	assert_int_equal(registry_add(&f->reg, &a, &shadowed), 0);
	assert_int_equal(shadowed, 0);
	assert_int_equal(registry_add(&f->reg, &b, &shadowed), 0);
	assert_int_equal(shadowed, 1);
	assert_ptr_equal(registry_find(&f->reg, "one"), &rows_a[0]);
	assert_ptr_equal(registry_find(&f->reg, "two"), &rows_a[1]);
	assert_ptr_equal(registry_find(&f->reg, "three"), &rows_b[1]);
	assert_null(registry_find(&f->reg, "four"));
	assert_null(registry_find(&f->reg, "thre"));
}

static void grows_and_keeps_every_row(void **state)
{
	struct fix *f = *state;
	size_t pos = 0, n = 0;

	for (size_t i = 0; i < MANY; i += 100) {
		struct specfs_provider p = provider(&f->rows[i], 100);

		assert_int_equal(registry_add(&f->reg, &p, NULL), 0);
	}
	for (size_t i = 0; i < MANY; i++)
		assert_ptr_equal(registry_find(&f->reg, f->names[i]), &f->rows[i]);
	assert_null(registry_find(&f->reg, "hook_5000"));
	while (registry_next(&f->reg, &pos))
		n++;
	assert_int_equal(n, MANY);
}

static void bad_table_adds_nothing(void **state)
{
	struct fix *f = *state;
	static const struct specfs_hook lacking[][2] = {
		{ { "good", "void (void)", fn_a }, { NULL, "void (void)", fn_a } },
		{ { "good", "void (void)", fn_a }, { "bad", NULL, fn_a } },
		{ { "good", "void (void)", fn_a }, { "bad", "void (void)", NULL } },
	};
	struct specfs_provider p;
	size_t shadowed = 99;

	for (size_t i = 0; i < 3; i++) {
		p = provider(lacking[i], 2);
		assert_int_equal(registry_add(&f->reg, &p, &shadowed), -EINVAL);
	}
	p = provider(rows_a, 2);
	p.abi++;
	assert_int_equal(registry_add(&f->reg, &p, &shadowed), -EPROTO);
	p = provider(rows_a, 2);
	p.hook_size += 8;
	assert_int_equal(registry_add(&f->reg, &p, &shadowed), -EPROTO);
	p = provider(NULL, 2);
	assert_int_equal(registry_add(&f->reg, &p, &shadowed), -EINVAL);
	p = provider(rows_a, 2);
	p.name = NULL;
	assert_int_equal(registry_add(&f->reg, &p, &shadowed), -EINVAL);
	p = provider(rows_a, SIZE_MAX / sizeof(struct specfs_hook));
	p.n_hooks = 0;
	assert_int_equal(registry_add(&f->reg, &p, &shadowed), 0);
	assert_null(registry_find(&f->reg, "good"));
	assert_null(registry_find(&f->reg, "one"));
}

/* Finds every row in turn until the last one is there; *@arg is the fixture. */
static void *read_all(void *arg)
{
	struct fix *f = arg;
	size_t wrong = 0;

	while (!registry_find(&f->reg, f->names[MANY - 1])) {
		for (size_t i = 0; i < MANY; i += 97) {
			const struct specfs_hook *h = registry_find(&f->reg, f->names[i]);

			wrong += h && h != &f->rows[i];
		}
	}
	for (size_t i = 0; i < MANY; i++)
		wrong += registry_find(&f->reg, f->names[i]) != &f->rows[i];
	return (void *)(uintptr_t)wrong;
}

static void readers_see_whole_rows_while_it_grows(void **state)
{
	struct fix *f = *state;
	pthread_t reader[3];

	for (size_t i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&reader[i], NULL, read_all, f), 0);
	for (size_t i = 0; i < MANY; i++) {
		struct specfs_provider p = provider(&f->rows[i], 1);

		assert_int_equal(registry_add(&f->reg, &p, NULL), 0);
	}
	for (size_t i = 0; i < 3; i++) {
		void *wrong;

		assert_int_equal(pthread_join(reader[i], &wrong), 0);
		assert_null(wrong);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(empty_registry_has_no_name, setup, teardown),
		cmocka_unit_test_setup_teardown(first_of_a_name_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(grows_and_keeps_every_row, setup, teardown),
		cmocka_unit_test_setup_teardown(bad_table_adds_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(readers_see_whole_rows_while_it_grows, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
