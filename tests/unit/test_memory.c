/* SPDX-License-Identifier: MIT */
/* Memory given back to the system. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/memory.h"

enum { PIECES = 40000, PIECE = 104, WHOLE_KB = PIECES * PIECE / 1024 };
enum { REQUESTS = 40, DATA_MAX = 1 << 20 };

static char *pieces[PIECES];

/* By another thread than the one that frees it: it has memory of its own. */
static void *take(void *arg)
{
	(void)arg;
	for (size_t i = 0; i < PIECES; i++) {
		pieces[i] = malloc(PIECE);
		assert_non_null(pieces[i]);
		memset(pieces[i], 1, PIECE);
	}
	return NULL;
}

static long used_kb(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];
	long kb = -1;

	assert_non_null(f);
	while (kb < 0 && fgets(line, sizeof(line), f))
		if (!strncmp(line, "RssAnon:", 8))
			kb = strtol(line + 8, NULL, 10);
	fclose(f);
	assert_true(kb > 0);
	return kb;
}

/* What a sanitizer has instead keeps what was freed, and tells by having no arena. */
static bool is_plain(void)
{
	return mallinfo2().arena > 0;
}

static void what_a_thread_took_is_given_back(void **state)
{
	pthread_t t;
	long before;
	long full;

	(void)state;
	memory_limit();
	if (!is_plain())
		skip();
	before = used_kb();
	assert_int_equal(pthread_create(&t, NULL, take, NULL), 0);
	assert_int_equal(pthread_join(t, NULL), 0);
	full = used_kb();
	assert_true(full - before > WHOLE_KB);
	for (size_t i = 0; i < PIECES; i++)
		free(pieces[i]);
	memory_give_back();
	assert_true(used_kb() - before < WHOLE_KB / 4);
}

/* As a READ does. Sets @arg to how many pages the thread got for it. */
static void *take_again(void *arg)
{
	long *ret = arg;
	struct rusage before;
	struct rusage after;

	getrusage(RUSAGE_THREAD, &before);
	for (int i = 0; i < REQUESTS; i++) {
		/* not known to the compiler, which would leave it all out */
		char *volatile buf = malloc(DATA_MAX);

		assert_non_null(buf);
		memset(buf, 1, DATA_MAX);
		free(buf);
	}
	getrusage(RUSAGE_THREAD, &after);
	*ret = after.ru_minflt - before.ru_minflt;
	return NULL;
}

static void a_thread_keeps_what_each_request_takes(void **state)
{
	long page = sysconf(_SC_PAGESIZE);
	pthread_t t;
	long got = 0;

	(void)state;
	memory_limit();
	if (!is_plain())
		skip();
	assert_int_equal(pthread_create(&t, NULL, take_again, &got), 0);
	assert_int_equal(pthread_join(t, NULL), 0);
	assert_in_range(got, 0, 3 * DATA_MAX / page);
}

static void it_is_due_whenever_half_have_gone(void **state)
{
	struct peak p = { 0 };

	(void)state;
	peak_note(&p, 9);
	assert_false(peak_fell(&p, 0, 10)); /* too few */
	peak_note(&p, 100);
	peak_note(&p, 60);
	assert_false(peak_fell(&p, 50, 10));
	assert_true(peak_fell(&p, 49, 10));
	assert_false(peak_fell(&p, 49, 10));
	assert_false(peak_fell(&p, 24, 10));
	assert_true(peak_fell(&p, 23, 10));
	peak_note(&p, 80);
	assert_true(peak_fell(&p, 0, 10));
	assert_false(peak_fell(&p, 0, 10));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_thread_took_is_given_back),
		cmocka_unit_test(a_thread_keeps_what_each_request_takes),
		cmocka_unit_test(it_is_due_whenever_half_have_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
