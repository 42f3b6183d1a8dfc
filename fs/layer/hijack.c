/* SPDX-License-Identifier: MIT */
/* Which packages call spec_path: see hijack.h. */
#include "layer/hijack.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <uthash.h>

#include "base/path.h"
#include "layer/layer.h"
#include "layout/checkout.h"

struct hijack_entry {
	struct object seen;             /* __init__.py when it was read; all zero: there was none */
	bool calls;
	UT_hash_handle hh;
	char dir[];
};

struct hijacks {
	pthread_rwlock_t lock;          /* guards the entries */
	struct hijack_entry *entries;
};

int hijacks_new(struct hijacks **ret)
{
	struct hijacks *h = calloc(1, sizeof(*h));

	if (!h)
		return -ENOMEM;
	pthread_rwlock_init(&h->lock, NULL);
	*ret = h;
	return 0;
}

void hijacks_free(struct hijacks *h)
{
	struct hijack_entry *e;
	struct hijack_entry *next;

	if (!h)
		return;
	HASH_ITER(hh, h->entries, e, next) {
		HASH_DEL(h->entries, e);
		free(e);
	}
	pthread_rwlock_destroy(&h->lock);
	free(h);
}

/* Remember an answer; without memory it is asked for again next time. */
static void remember(struct hijacks *h, const char *dir, const struct object *now, bool calls)
{
	size_t len = strlen(dir);
	struct hijack_entry *e;

	pthread_rwlock_wrlock(&h->lock);
	HASH_FIND(hh, h->entries, dir, len, e);
	if (!e) {
		e = calloc(1, sizeof(*e) + len + 1);
		if (e) {
			memcpy(e->dir, dir, len + 1);
			HASH_ADD_KEYPTR(hh, h->entries, e->dir, len, e);
		}
	}
	if (e) {
		e->seen = *now;
		e->calls = calls;
	}
	pthread_rwlock_unlock(&h->lock);
}

bool hijacks_ask(struct hijacks *h, int root_fd, const char *dir)
{
	cleanup_strbuf struct strbuf init = STRBUF_INIT;
	struct hijack_entry *e;
	struct object now;
	bool current;
	bool calls = false;

	if (path_join(&init, dir, "__init__.py") < 0)
		return false;
	if (object_stat(root_fd, init.buf, &now) < 0)
		now = (struct object){ 0 };
	pthread_rwlock_rdlock(&h->lock);
	HASH_FIND(hh, h->entries, dir, strlen(dir), e);
	current = e && object_unchanged(&e->seen, &now);
	if (current)
		calls = e->calls;
	pthread_rwlock_unlock(&h->lock);
	if (current)
		return calls;
	calls = now.st.st_ino && checkout_hijacks(root_fd, dir);
	remember(h, dir, &now, calls);
	return calls;
}
