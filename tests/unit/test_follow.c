/* SPDX-License-Identifier: MIT */
/*
 * What is followed, when others put another directory in the place of one that a request has just
 * opened: the new one is watched, and nothing is told of the old one.
 */
#include "daemon/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "ops/entry.h"
#include "ops/place.h"
#include "tree.h"
#include "viewfix.h"

enum { LIMIT_SEC = 40, MAX_FILES = 16 };

struct fix {
	struct viewfix *view;
	struct server *srv;
	struct follow *follow;
	struct node *dir; /* src/d */
	bool swap;	  /* when it is opened next */
	pthread_mutex_t lock;
	pthread_cond_t more;
	char name[64];	   /* to look out for */
	uint64_t watch_id; /* where it came; 0: nowhere yet */
};

static void note(void *arg, const struct watch_event *e)
{
	struct fix *f = arg;

	pthread_mutex_lock(&f->lock);
	if (*f->name && !strcmp(e->name, f->name))
		f->watch_id = e->dir;
	pthread_cond_broadcast(&f->more);
	pthread_mutex_unlock(&f->lock);
}

static void move(struct fix *f, const char *from, const char *to)
{
	char a[256];
	char b[256];

	(void)snprintf(a, sizeof(a), "%s/%s", f->view->trunk, from);
	(void)snprintf(b, sizeof(b), "%s/%s", f->view->trunk, to);
	assert_int_equal(rename(a, b), 0);
}

/* Others put src/e in the place of src/d. */
static void swap(struct fix *f)
{
	move(f, "src/d", "src/old");
	move(f, "src/e", "src/d");
}

/* A request has opened the directory, and what others do then is dealt with before it gets on. */
static int on_dir(void *arg, struct node *dir, const struct dirset *parts, uint64_t seq)
{
	struct fix *f = arg;

	if (f->swap && dir == f->dir) {
		f->swap = false;
		swap(f);
		view_changed(f->srv->view);
		follow_again(f->follow, dir);
	}
	return follow_dir(f->follow, dir, parts, seq);
}

static void look_up(struct fix *f, uint64_t dir, const char *name, struct node **ret)
{
	struct fuse_entry_param e;

	assert_int_equal(entry_lookup(f->srv, dir, name, &e), 0);
	assert_int_equal(table_get(f->srv->table, e.ino, ret), 0);
}

static int setup(void **state)
{
	static const struct server_config config = { .timeout_sec = 60, .cache_listings = true };
	struct fix *f = calloc(1, sizeof(*f));
	struct node *src;
	void *view;

	assert_non_null(f);
	assert_int_equal(viewfix_setup(&view), 0);
	f->view = view;
	tree_make(f->view->tmp, "trunk/src/d/old=o", "trunk/src/e/new=n", NULL);
	vf_open(f->view, "b");
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->more, NULL);
	assert_int_equal(server_new(f->view->v, &config, MAX_FILES, &f->srv), 0);
	assert_int_equal(follow_new(f->view->v, note, f, &f->follow), 0);
	f->srv->on_dir = on_dir;
	f->srv->watch_arg = f;
	look_up(f, NODE_ROOT, "src", &src);
	look_up(f, src->id, "d", &f->dir);
	node_unref(src);
	assert_true(atomic_load(&f->dir->watched));
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fix *f = *state;
	void *view = f->view;

	node_unref(f->dir);
	server_free(f->srv);
	follow_free(f->follow);
	pthread_cond_destroy(&f->more);
	pthread_mutex_destroy(&f->lock);
	free(f);
	return viewfix_teardown(&view);
}

/* In another process: own changes are not reported. */
static void make_by_others(struct fix *f, const char *object)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		tree_make(f->view->tmp, object, NULL);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Make @path underneath; is it heard of, as a name in src/d? */
static bool is_heard_of(struct fix *f, const char *path)
{
	char full[256];
	uint64_t *ids = NULL;
	struct timespec until;
	uint64_t watch_id;
	bool found = false;
	size_t n = 0;

	(void)snprintf(f->name, sizeof(f->name), "%s", strrchr(path, '/') + 1);
	(void)snprintf(full, sizeof(full), "trunk/%s=x", path);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += LIMIT_SEC;
	make_by_others(f, full);
	pthread_mutex_lock(&f->lock);
	while (!f->watch_id)
		if (pthread_cond_timedwait(&f->more, &f->lock, &until) == ETIMEDOUT)
			break;
	watch_id = f->watch_id;
	pthread_mutex_unlock(&f->lock);
	assert_int_equal(follow_nodes(f->follow, watch_id, &ids, &n), 0);
	for (size_t i = 0; i < n; i++)
		found |= ids[i] == f->dir->id;
	free(ids);
	return found;
}

static void a_directory_that_was_replaced_while_it_was_opened_is_opened_again(void **state)
{
	struct fix *f = *state;
	struct fuse_entry_param e;

	f->swap = true;
	assert_int_equal(entry_lookup(f->srv, f->dir->id, "new", &e), 0);
	assert_false(f->swap);
	assert_int_equal(entry_lookup(f->srv, f->dir->id, "old", &e), -ENOENT);
	assert_true(is_heard_of(f, "src/d/later"));
}

static void what_was_seen_in_the_old_one_comes_too_late(void **state)
{
	struct fix *f = *state;
	struct place p = PLACE_INIT;
	struct fuse_entry_param e;
	struct found found;

	assert_int_equal(place_open(f->srv, f->dir->id, &p), 0);
	assert_int_equal(place_child(&p, "old", &found), 0);
	swap(f);
	follow_again(f->follow, f->dir);
	assert_int_equal(entry_enter(&p, "old", &found, false, NULL, &e), -EAGAIN);
	assert_int_equal(entry_absent(&p, "new"), -EAGAIN);
	place_close(&p);
}

static void another_directory_than_the_watched_one_is_known(void **state)
{
	struct fix *f = *state;
	struct place p = PLACE_INIT;

	assert_int_equal(place_open(f->srv, f->dir->id, &p), 0);
	assert_true(follow_is_right(f->follow, f->dir, &p.parts));
	place_close(&p);
	swap(f);
	view_changed(f->srv->view); /* what is kept open is the old one */
	assert_int_equal(place_open(f->srv, f->dir->id, &p), 0);
	assert_false(follow_is_right(f->follow, f->dir, &p.parts));
	place_close(&p);
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_directory_that_was_replaced_while_it_was_opened_is_opened_again),
		TEST(what_was_seen_in_the_old_one_comes_too_late),
		TEST(another_directory_than_the_watched_one_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
