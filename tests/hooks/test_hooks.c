/* SPDX-License-Identifier: MIT */
/*
 * The installed functions, through the installed header alone, linked to the shared or the static
 * library. SPECFS_HOOKS names the right provider; argv[1] is the folder of the built providers.
 */
#include "specfs/hooks.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static const char *dir;

/* Text that went to stderr while @call ran; the caller frees it. */
static char *stderr_of(void (*call)(void))
{
	int saved = dup(STDERR_FILENO);
	FILE *tmp = tmpfile();
	char *text = calloc(1, 4096);

	assert_true(saved >= 0 && tmp && text);
	dup2(fileno(tmp), STDERR_FILENO);
	call();
	dup2(saved, STDERR_FILENO);
	close(saved);
	assert_int_equal(fseek(tmp, 0, SEEK_SET), 0);
	(void)!fread(text, 1, 4095, tmp); /* nothing read is an empty text */
	fclose(tmp);
	return text;
}

static int load_named(const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return specfs_hooks_load(path);
}

static int counted;

static int count(void)
{
	return ++counted;
}

static void provider_of_the_environment_is_called(void **state)
{
	int n = 1;
	void (*touch)(int *) = specfs_func(void (int *), "touch_it");

	assert_int_equal(specfs_call(int (const char *, int), "lower_size", -1, ("abc", 5)), 15);
	assert_non_null(touch);
	touch(&n);
	assert_int_equal(n, 2);
}

static void missing_name_goes_its_own_way(void **state)
{
	counted = 0;
	assert_null(specfs_func(int (void), "no_such"));
	assert_int_equal(specfs_call(int (int), "no_such", -1, (count())), -1);
	assert_int_equal(counted, 0);
	assert_int_equal(specfs_call(int (const char *, int), "lower_size", count(), ("ab", 1)), 2);
	assert_int_equal(counted, 0);
	assert_int_equal(specfs_call(int (void), "no_such", count(), ()), 1);
}

static void ask_with_other_type(void)
{
	assert_null(specfs_func(long (const char *), "lower_size"));
	assert_null(specfs_func(long (const char *), "lower_size"));
}

static void other_type_is_refused_and_told_once(void **state)
{
	char *text = stderr_of(ask_with_other_type);
	const char *first = strstr(text, "expected 'long (const char *)'");

	assert_non_null(first);
	assert_null(strstr(first + 1, "expected"));
	free(text);
	assert_non_null(specfs_hooks_find("lower_size", NULL));
}

static void load_wrong_ones(void)
{
	assert_int_equal(load_named("no-such.so"), -ENOENT);
	assert_int_equal(load_named("libprovider-none.so"), -ELIBBAD);
	assert_int_equal(load_named("libprovider-other.so"), -EPROTO);
}

static void wrong_provider_is_told_with_its_path(void **state)
{
	char *text = stderr_of(load_wrong_ones);

	assert_non_null(strstr(text, "no-such.so': cannot read it"));
	assert_non_null(strstr(text, "libprovider-none.so': it exports no"));
	assert_non_null(strstr(text, "libprovider-other.so': its table has another layout"));
	free(text);
}

static int own(const char *name, int scale)
{
	return -7;
}

static void environment_comes_before_own_functions(void **state)
{
	static const struct specfs_hook rows[] = {
		SPECFS_HOOK_AS("lower_size", int (const char *, int), own),
		SPECFS_HOOK_AS("own_size", int (const char *, int), own),
	};
	static const struct specfs_provider p = {
		.abi = SPECFS_HOOKS_ABI,
		.hook_size = sizeof(rows[0]),
		.name = "own",
		.hooks = rows,
		.n_hooks = 2,
	};

	assert_int_equal(specfs_hooks_register(&p), 0);
	assert_int_equal(specfs_call(int (const char *, int), "lower_size", -1, ("abc", 5)), 15);
	assert_int_equal(specfs_call(int (const char *, int), "own_size", -1, ("abc", 5)), -7);
}

static void *ask_often(void *arg)
{
	for (int i = 0; i < 20000; i++)
		if (specfs_call(int (const char *, int), "lower_size", -1, ("abcd", i)) != 4 * i ||
		    specfs_func(void (void), "no_such"))
			return arg;
	return NULL;
}

static void every_thread_gets_the_same(void **state)
{
	pthread_t thread[4];

	for (size_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, ask_often, &counted), 0);
	for (size_t i = 0; i < 4; i++) {
		void *bad;

		assert_int_equal(pthread_join(thread[i], &bad), 0);
		assert_null(bad);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(provider_of_the_environment_is_called),
		cmocka_unit_test(missing_name_goes_its_own_way),
		cmocka_unit_test(other_type_is_refused_and_told_once),
		cmocka_unit_test(wrong_provider_is_told_with_its_path),
		cmocka_unit_test(environment_comes_before_own_functions),
		cmocka_unit_test(every_thread_gets_the_same),
	};

	if (argc != 2) {
		fprintf(stderr, "usage: test_hooks DIR\n");
		return 2;
	}
	dir = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
