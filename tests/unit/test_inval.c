/* SPDX-License-Identifier: MIT */
/* What waits to be told to the kernel, which is played, and the memory it takes. */
#include "daemon/inval.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#include "check.h"
#include "daemon/pending.h"
#include "viewfix.h"

enum { MAX_FILES = 16, MANY = 20000, FEW = 1000, LIMIT_SEC = 30 };

struct fix {
	struct viewfix *view;
	struct server *srv;
	struct inval *inval;
};

static atomic_uint given_back;
static atomic_uint told;

int __wrap_malloc_trim(size_t pad);
int __wrap_fuse_lowlevel_notify_inval_entry(struct fuse_session *se, fuse_ino_t parent,
					    const char *name, size_t len);
void __wrap_device_expire_entry(struct fuse_session *fuse, uint64_t dir, const char *name);
int __wrap_fuse_lowlevel_notify_inval_inode(struct fuse_session *se, fuse_ino_t ino, off_t off,
					    off_t len);

int __wrap_malloc_trim(size_t pad)
{
	assert_int_equal(pad, 0);
	atomic_fetch_add(&given_back, 1);
	return 0;
}

int __wrap_fuse_lowlevel_notify_inval_entry(struct fuse_session *se, fuse_ino_t parent,
					    const char *name, size_t len)
{
	(void)se;
	(void)parent;
	(void)name;
	(void)len;
	atomic_fetch_add(&told, 1);
	return 0;
}

int __wrap_fuse_lowlevel_notify_inval_inode(struct fuse_session *se, fuse_ino_t ino, off_t off,
					    off_t len)
{
	(void)se;
	(void)ino;
	(void)off;
	(void)len;
	atomic_fetch_add(&told, 1);
	return 0;
}

void __wrap_device_expire_entry(struct fuse_session *fuse, uint64_t dir, const char *name)
{
	(void)fuse;
	(void)dir;
	(void)name;
	atomic_fetch_add(&told, 1);
}

static int setup(void **state)
{
	static const struct server_config config = { .timeout_sec = 60, .cache_listings = true };
	struct fix *f = calloc(1, sizeof(*f));
	void *view;

	assert_non_null(f);
	assert_int_equal(viewfix_setup(&view), 0);
	f->view = view;
	vf_open(f->view, "b");
	assert_int_equal(server_new(f->view->v, &config, MAX_FILES, &f->srv), 0);
	assert_int_equal(inval_new(f->srv, NULL, &f->inval), 0);
	atomic_store(&given_back, 0);
	atomic_store(&told, 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fix *f = *state;
	void *view = f->view;

	inval_end(f->inval);
	inval_free(f->inval);
	server_free(f->srv);
	free(f);
	return viewfix_teardown(&view);
}

static bool all_told(struct fix *f)
{
	struct inval_stats s;

	inval_stats(f->inval, &s, NULL);
	return !s.pending;
}

static void await(struct fix *f, bool (*fn)(struct fix *f))
{
	static const struct timespec pause = { .tv_nsec = 1000000 };

	for (int msec = 0; !fn(f); msec++) {
		assert_true(msec < LIMIT_SEC * 1000);
		nanosleep(&pause, NULL);
	}
}

static bool is_given_back(struct fix *f)
{
	(void)f;
	return atomic_load(&given_back) > 0;
}

/* Before anybody tells: as many wait as if who does had no time. */
static void names_wait(struct fix *f, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "name-%u", i);
		inval_node(f->inval, NODE_ROOT, name);
	}
}

static void pages_wait(struct fix *f, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		inval_pages(f->inval, NODE_ROOT + 1 + i);
}

static void is_given_back_after(struct fix *f, void (*wait)(struct fix *f, unsigned n))
{
	wait(f, MANY);
	assert_int_equal(inval_begin(f->inval), 0);
	await(f, is_given_back);
	assert_true(all_told(f));
	assert_true(atomic_load(&told) >= MANY);
}

static void what_many_names_took_is_given_back(void **state)
{
	is_given_back_after(*state, names_wait);
}

static void what_many_pages_took_is_given_back(void **state)
{
	is_given_back_after(*state, pages_wait);
}

static void for_few_nobody_asks(void **state)
{
	struct fix *f = *state;

	names_wait(f, FEW);
	pages_wait(f, FEW);
	assert_int_equal(inval_begin(f->inval), 0);
	await(f, all_told);
	inval_end(f->inval);
	assert_int_equal(atomic_load(&given_back), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_many_names_took_is_given_back, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_many_pages_took_is_given_back, setup,
						teardown),
		cmocka_unit_test_setup_teardown(for_few_nobody_asks, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
