/* SPDX-License-Identifier: MIT */
/* The loader: right and wrong shared objects. argv[1] is the folder of the built providers. */
#include "hooks/loader.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char *dir;

struct fix {
	struct strbuf path;
	struct strbuf why;
	const struct specfs_provider *p;
};

static int setup(void **state)
{
	struct fix *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	strbuf_init(&f->path);
	strbuf_init(&f->why);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fix *f = *state;

	strbuf_clear(&f->path);
	strbuf_clear(&f->why);
	free(f);
	return 0;
}

static int open_named(struct fix *f, const char *name)
{
	strbuf_reset(&f->path);
	strbuf_addf(&f->path, "%s/%s", dir, name);
	return loader_open(f->path.buf, &f->p, &f->why);
}

static void right_one_gives_its_table(void **state)
{
	struct fix *f = *state;

	assert_int_equal(open_named(f, "libprovider-good.so"), 0);
	assert_string_equal(f->p->name, "demo");
	assert_int_equal(f->p->n_hooks, 2);
	assert_string_equal(f->p->hooks[0].name, "lower_size");
	assert_string_equal(f->p->hooks[0].type, "int (const char *, int)");
	assert_string_equal(f->p->hooks[1].name, "touch_it");
	assert_string_equal(f->why.buf, "");
}

static void absent_one_is_enoent(void **state)
{
	struct fix *f = *state;

	assert_int_equal(open_named(f, "no-such.so"), -ENOENT);
	assert_non_null(strstr(f->why.buf, "No such file"));
	assert_null(f->p);
}

static void text_file_is_elibbad(void **state)
{
	struct fix *f = *state;

	assert_int_equal(loader_open("/proc/self/status", &f->p, &f->why), -ELIBBAD);
	assert_true(f->why.len > 0);
	assert_null(f->p);
}

static void no_provider_is_elibbad(void **state)
{
	struct fix *f = *state;

	assert_int_equal(open_named(f, "libprovider-none.so"), -ELIBBAD);
	assert_non_null(strstr(f->why.buf, "specfs_provider_table"));
	assert_null(f->p);
}

static void each_failure_has_words(void **state)
{
	assert_non_null(strstr(loader_strerror(-EPROTO), "version 1"));
	assert_non_null(strstr(loader_strerror(-EINVAL), "lacks"));
	assert_string_equal(loader_strerror(-ENOMEM), strerror(ENOMEM));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(right_one_gives_its_table, setup, teardown),
		cmocka_unit_test_setup_teardown(absent_one_is_enoent, setup, teardown),
		cmocka_unit_test_setup_teardown(text_file_is_elibbad, setup, teardown),
		cmocka_unit_test_setup_teardown(no_provider_is_elibbad, setup, teardown),
		cmocka_unit_test(each_failure_has_words),
	};

	if (argc != 2) {
		fprintf(stderr, "usage: test_loader DIR\n");
		return 2;
	}
	dir = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
