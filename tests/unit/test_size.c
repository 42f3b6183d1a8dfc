/* SPDX-License-Identifier: MIT */
/*
 * Sizes, as the kernel learns of them while others change a file. The kernel is played here: it
 * asks when the daemon looks at its own mount, and what it is told is noted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "ops/firm.h"
#include "ops/hidden.h"
#include "ops/size.h"
#include "tablefix.h"

enum { ROOM = 12288 };

struct kernel {
	struct fix *f;
	struct server srv;
	struct node *n; /* the file's */
	int fd;
	off_t size;	    /* what it believes in */
	struct timespec mtime; /* the same */
	struct stat told;   /* by the last look, all of it */
	unsigned drops;	    /* of its pages */
	unsigned looks;	    /* of the daemon */
	unsigned queued;    /* times that its size was to be settled */
	void (*in_look)(struct kernel *k); /* when it has been told, before that look is over */
	off_t named;	    /* what it was told with the name of the last look */
	off_t second;	    /* what in_look was told */
	bool waits;	    /* did the READ of in_look have to? */
};

/* What libfuse knows of a request. */
struct fuse_req {
	struct fuse_ctx ctx;
	off_t told;
	struct stat st;
};

const struct fuse_ctx *__wrap_fuse_req_ctx(fuse_req_t req);
int __wrap_fuse_reply_attr(fuse_req_t req, const struct stat *st, double timeout_sec);
int __wrap_fuse_reply_entry(fuse_req_t req, const struct fuse_entry_param *e);

const struct fuse_ctx *__wrap_fuse_req_ctx(fuse_req_t req)
{
	return &req->ctx;
}

int __wrap_fuse_reply_attr(fuse_req_t req, const struct stat *st, double timeout_sec)
{
	assert_true(timeout_sec == 0);
	req->told = st->st_size;
	req->st = *st;
	return 0;
}

int __wrap_fuse_reply_entry(fuse_req_t req, const struct fuse_entry_param *e)
{
	assert_true(e->attr_timeout == 0);
	req->told = e->attr.st_size;
	return 0;
}

/* The kernel looks up the name of a look; returns what it is told. */
static off_t ask_name(struct kernel *k, const char *name)
{
	struct fuse_req req = { .ctx.pid = gettid(), .told = -1 };

	assert_true(size_looked_up(&k->srv, &req, HIDDEN_DIR, name));
	return req.told;
}

/* The kernel asks for what a look is for; returns what it is told. */
static off_t ask(struct kernel *k)
{
	struct fuse_req req = { .ctx.pid = gettid(), .told = -1 };

	assert_true(size_looked(&k->srv, &req, k->n->id));
	k->told = req.st;
	return req.told;
}

static off_t look(void *arg, const char *name)
{
	struct kernel *k = arg;
	void (*in_look)(struct kernel *k) = k->in_look;

	assert_false(firm_is_under_way(k->n));
	k->looks++;
	k->named = ask_name(k, name);
	size_look_sees(&k->srv, &k->mtime);
	k->size = ask(k);
	k->in_look = NULL; /* its own looks are plain ones */
	if (in_look)
		in_look(k);
	return k->size;
}

static void drop(void *arg, uint64_t id)
{
	struct kernel *k = arg;

	assert_int_equal(id, k->n->id);
	k->drops++;
}

static void wait_looks(void *arg, uint64_t id)
{
	(void)arg;
	(void)id;
}

static int stale_attr(void *arg, uint64_t id)
{
	(void)arg;
	(void)id;
	return -ENOENT; /* the answer that names the file is on its way */
}

static void note_stale(void *arg, uint64_t id)
{
	struct kernel *k = arg;

	(void)id;
	k->queued++;
}

static struct size_ways ways_of(struct kernel *k)
{
	return (struct size_ways){ .drop = drop, .wait = wait_looks, .look = look, .arg = k };
}

static void settle(struct kernel *k)
{
	const struct size_ways ways = ways_of(k);

	size_settle(&k->srv, k->n->id, true, &ways, NULL, 0);
}

/* A file of @size bytes, told to the kernel as that. */
static void begin(struct kernel *k, void **state, off_t size)
{
	char path[] = "/tmp/specfs-size-XXXXXX";
	struct found found = object(S_IFREG, 5);
	struct handle *h = NULL;
	struct stat st;
	double timeout = 1;

	*k = (struct kernel){ .f = *state, .fd = mkstemp(path), .size = size };
	assert_true(k->fd >= 0 && unlink(path) == 0 && ftruncate(k->fd, size) == 0);
	k->srv.table = k->f->t;
	k->srv.slots = k->f->slots;
	k->srv.stale_data = note_stale;
	k->srv.watch_arg = k;
	k->srv.stale_attr = stale_attr;
	k->srv.config.timeout_sec = 1;
	assert_int_equal(pthread_rwlock_init(&k->srv.tree, NULL), 0);
	assert_int_equal(size_looks_new(&k->srv.looks), 0);
	k->n = get(k->f, enter(k->f, k->f->root, "log", &found));
	assert_int_equal(
		handle_install(k->f->slots, k->n, HANDLE_READ, dup(k->fd), true, &h), 0);
	handle_put(h);
	assert_int_equal(fstat(k->fd, &st), 0);
	size_tell(&k->srv, k->n, &st, &timeout);
	assert_int_equal(st.st_size, size);
	assert_true(timeout > 0);
}

static void end(struct kernel *k)
{
	size_looks_free(k->srv.looks);
	pthread_rwlock_destroy(&k->srv.tree);
	node_unref(k->n);
	close(k->fd);
}

static void a_new_size_is_brought_by_a_look_after_the_pages_have_gone(void **state)
{
	struct kernel k;

	begin(&k, state, 100);
	assert_int_equal(ftruncate(k.fd, 40), 0);
	settle(&k);
	assert_int_equal(k.size, 40);
	assert_int_equal(k.drops, 1);
	assert_int_equal(k.looks, 1);
	settle(&k);
	assert_int_equal(k.drops, 2);
	assert_int_equal(k.looks, 1); /* it knows */
	end(&k);
}

/* It makes the kernel know the file if no answer has: a READ must find out that there is less. */
static void the_name_of_a_look_tells_what_other_answers_have_told(void **state)
{
	struct kernel k;

	begin(&k, state, 30);
	assert_int_equal(ftruncate(k.fd, 400), 0);
	settle(&k);
	assert_int_equal(k.named, 30);
	assert_int_equal(k.size, 400);
	end(&k);
}

/* A READ of what the file has become meanwhile, and the look that it waits for. */
static void read_more(struct kernel *k)
{
	const struct size_ways ways = ways_of(k);
	struct stat st;
	off_t now;

	assert_int_equal(ftruncate(k->fd, 52), 0);
	k->waits = size_read(&k->srv, k->n, 0, ROOM, 52);
	assert_int_equal(fstat(k->fd, &st), 0);
	size_lowering(k->n);
	now = size_bring(&k->srv, k->n->id, &st, 52, &ways);
	k->second = k->size;
	size_lower(k->n, now);
}

/*
 * The kernel cuts at 39 what that READ brings once it can: it must not have been told by then that
 * there are 52.
 */
static void a_second_look_tells_no_more_than_the_first_which_still_has_to_cut(void **state)
{
	struct kernel k;

	begin(&k, state, 10400);
	assert_int_equal(ftruncate(k.fd, 39), 0);
	k.in_look = read_more;
	settle(&k);
	assert_true(k.waits);
	assert_int_equal(k.second, 39);
	assert_int_equal(atomic_load(&k.n->data_end), 40); /* until its pages go */
	assert_int_equal(atomic_load(&k.n->told_end), 40);
	settle(&k);
	assert_int_equal(k.size, 52);
	assert_int_equal(atomic_load(&k.n->told_end), 53);
	end(&k);
}

/* A READ of before the file became as long as the look has told. */
static void read_less(struct kernel *k)
{
	k->waits = size_read(&k->srv, k->n, 0, 4096, 1040);
}

static void grow(struct kernel *k)
{
	assert_int_equal(ftruncate(k->fd, 1560), 0);
}

static off_t grow_and_look(void *arg, const char *name)
{
	grow(arg);
	return look(arg, name);
}

static void drop_and_grow(void *arg, uint64_t id)
{
	drop(arg, id);
	grow(arg);
}

static void a_read_of_before_the_look_waits_even_if_the_file_grew_after_the_drop(void **state)
{
	struct kernel k;
	struct size_ways ways;

	begin(&k, state, 520);
	ways = ways_of(&k);
	ways.drop = drop_and_grow;
	assert_int_equal(ftruncate(k.fd, 1040), 0);
	k.in_look = read_less;
	size_settle(&k.srv, k.n->id, true, &ways, NULL, 0);
	assert_true(k.waits);
	end(&k);
}

static void drop_while_one_looks(void *arg, uint64_t id)
{
	struct kernel *k = arg;

	drop(arg, id);
	if (k->drops == 1)
		size_lowering(k->n);
}

static void pages_go_once_more_if_another_look_begins_before_they_have_gone(void **state)
{
	struct kernel k;
	struct size_ways ways;

	begin(&k, state, 520);
	ways = ways_of(&k);
	ways.drop = drop_while_one_looks;
	assert_int_equal(ftruncate(k.fd, 1040), 0);
	size_settle(&k.srv, k.n->id, true, &ways, NULL, 0);
	assert_int_equal(k.drops, 2);
	assert_int_equal(k.looks, 1);
	assert_int_equal(k.size, 1040);
	end(&k);
}

/* The kernel takes such a reply at any age: the old size in it is not to follow the new one. */
static void a_look_comes_after_firm_replies_that_know_of_less(void **state)
{
	struct kernel k;

	begin(&k, state, 520);
	firm_begin(k.n);
	assert_int_equal(ftruncate(k.fd, 1040), 0);
	firm_end(k.n);
	settle(&k); /* look() sees whether one is under way */
	assert_int_equal(k.looks, 1);
	assert_int_equal(k.size, 1040);
	end(&k);
}

/* While somebody goes on writing it would else never be done. */
static void a_look_that_has_waited_tells_what_was_there_before(void **state)
{
	struct kernel k;
	struct size_ways ways;

	begin(&k, state, 520);
	ways = ways_of(&k);
	ways.look = grow_and_look;
	firm_begin(k.n);
	firm_end(k.n);
	assert_int_equal(ftruncate(k.fd, 1040), 0);
	size_settle(&k.srv, k.n->id, true, &ways, NULL, 0);
	assert_int_equal(k.looks, 1);
	assert_int_equal(k.size, 1040);
	assert_int_equal(atomic_load(&k.n->told_end), 1041);
	end(&k);
}

static void looks_for_reads_tell_the_links_that_there_are_and_the_known_mtime(void **state)
{
	struct size_ways ways;
	struct kernel k;
	struct stat st;

	begin(&k, state, 520);
	ways = ways_of(&k);
	assert_int_equal(fstat(k.fd, &st), 0);
	st.st_nlink = 5; /* of before */
	k.mtime.tv_nsec = 7;
	assert_int_equal(size_bring(&k.srv, k.n->id, &st, 10, &ways), 10);
	assert_int_equal(k.told.st_nlink, 0); /* it is an unlinked one */
	assert_int_equal(k.told.st_mtim.tv_nsec, 7);
	settle(&k); /* tells the file's */
	assert_int_equal(k.told.st_mtim.tv_nsec, st.st_mtim.tv_nsec);
	end(&k);
}

/* It may still bring back what it knows, and cut pages there. */
static void after_a_recent_firm_reply_the_size_is_settled_each_time_it_is_asked_for(void **state)
{
	struct kernel k;
	struct stat st;
	double timeout = 1;

	begin(&k, state, 520);
	firm_begin(k.n);
	firm_end(k.n);
	assert_int_equal(ftruncate(k.fd, 1040), 0);
	settle(&k);
	assert_int_equal(fstat(k.fd, &st), 0);
	assert_true(size_is_news(&k.srv, k.n, &st));
	assert_false(size_tell(&k.srv, k.n, &st, &timeout));
	assert_true(timeout == 0);
	settle(&k);
	assert_int_equal(k.drops, 2);
	assert_int_equal(k.looks, 2);
	assert_int_equal(k.queued, 0); /* nobody asks: nothing is done */
	end(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_new_size_is_brought_by_a_look_after_the_pages_have_gone),
		TEST(the_name_of_a_look_tells_what_other_answers_have_told),
		TEST(a_second_look_tells_no_more_than_the_first_which_still_has_to_cut),
		TEST(a_read_of_before_the_look_waits_even_if_the_file_grew_after_the_drop),
		TEST(pages_go_once_more_if_another_look_begins_before_they_have_gone),
		TEST(a_look_comes_after_firm_replies_that_know_of_less),
		TEST(a_look_that_has_waited_tells_what_was_there_before),
		TEST(looks_for_reads_tell_the_links_that_there_are_and_the_known_mtime),
		TEST(after_a_recent_firm_reply_the_size_is_settled_each_time_it_is_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
