/* SPDX-License-Identifier: MIT */
/* READs that wait until the kernel believes in less. The looks that have to make it are played. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "daemon/inval.h"
#include "daemon/look.h"
#include "ops/size.h"
#include "tablefix.h"

enum {
	SIZE = 40,
	BLOCKED = 2, /* looks that wait for a page that a READ is filling */
	MORE = 8,    /* one more helps; on a busy machine some may be begun before it has */
	LIMIT_SEC = 40,
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t replied = PTHREAD_COND_INITIALIZER;
static unsigned looks;
static unsigned replies;
static unsigned looks_before_reply;

off_t __wrap_size_bring(struct server *srv, uint64_t id, struct stat *st, off_t size,
			const struct size_ways *ways);
int __wrap_fuse_reply_buf(fuse_req_t req, const char *buf, size_t size);

off_t __wrap_size_bring(struct server *srv, uint64_t id, struct stat *st, off_t size,
			const struct size_ways *ways)
{
	(void)srv;
	(void)id;
	(void)st;
	(void)ways;
	pthread_mutex_lock(&lock);
	if (looks++ < BLOCKED)
		while (!replies)
			pthread_cond_wait(&replied, &lock);
	pthread_mutex_unlock(&lock);
	return size;
}

int __wrap_fuse_reply_buf(fuse_req_t req, const char *buf, size_t size)
{
	(void)req;
	(void)buf;
	pthread_mutex_lock(&lock);
	replies += size == SIZE;
	looks_before_reply = looks;
	pthread_cond_broadcast(&replied);
	pthread_mutex_unlock(&lock);
	return 0;
}

/* Returns whether the READ was replied to at all. */
static bool await_reply(void)
{
	struct timespec until;
	int r = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += LIMIT_SEC;
	pthread_mutex_lock(&lock);
	while (!replies && r != ETIMEDOUT)
		r = pthread_cond_timedwait(&replied, &lock, &until);
	r = (int)replies;
	pthread_mutex_unlock(&lock);
	return r > 0;
}

/* The size was lowered once more between the two looks, so that each has pages to cut. */
static void a_read_does_not_wait_for_looks_that_wait_for_it(void **state)
{
	struct fix *f = *state;
	struct server srv = { .table = f->t, .slots = f->slots };
	struct found found = object(S_IFREG, 5);
	struct node *n = get(f, enter(f, f->root, "log", &found));
	char path[] = "/tmp/specfs-look-XXXXXX";
	char data[SIZE] = { 0 };
	struct handle *h = NULL;
	struct inval *i;
	int fd = mkstemp(path);
	bool came;

	assert_true(fd >= 0 && unlink(path) == 0);
	assert_int_equal(pthread_rwlock_init(&srv.tree, NULL), 0);
	assert_int_equal(handle_install(f->slots, n, HANDLE_READ, fd, true, &h), 0);
	handle_put(h);
	assert_int_equal(inval_new_unwatched(&srv, NULL, &i), 0);
	inval_mounted(i, "/", 0);
	assert_int_equal(inval_begin(i), 0);
	assert_true(look_read_later(i, n->id, NULL, data, SIZE, SIZE));
	came = await_reply();
	inval_end(i);
	inval_free(i);
	assert_true(came);
	/* fewer: it was given up */
	assert_in_range(looks_before_reply, BLOCKED + 1, BLOCKED + MORE);
	node_unref(n);
	pthread_rwlock_destroy(&srv.tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_read_does_not_wait_for_looks_that_wait_for_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
