/* SPDX-License-Identifier: MIT */
/* The hash set: what is in is found, whatever else came and went. */
#include "base/hashset.h"

#include <stdbool.h>

#include "base/cleanup.h"

#include "check.h"

enum { MANY = 100000 };

struct item {
	uint64_t number;
	bool in;
	struct hashed hashed;
};

static uint64_t item_hash(const struct hashed *h)
{
	return hash_number(CONTAINER_OF(h, struct item, hashed)->number);
}

/* All of one hash. */
static uint64_t same_hash(const struct hashed *h)
{
	return 7;
}

static struct item *find(const struct hashset *s, uint64_t hash, uint64_t number)
{
	for (struct hashed *h = hashset_chain(s, hash); h; h = h->next) {
		struct item *i = CONTAINER_OF(h, struct item, hashed);

		if (i->number == number)
			return i;
	}
	return NULL;
}

static void put(struct hashset *s, struct item *i, bool in)
{
	if (in && !i->in)
		hashset_add(s, &i->hashed);
	else if (!in && i->in)
		hashset_remove(s, &i->hashed);
	i->in = in;
}

static void count(void *arg, struct hashed *h)
{
	size_t *n = arg;

	assert_true(CONTAINER_OF(h, struct item, hashed)->in);
	++*n;
}

static void check_all(const struct hashset *s, struct item *items)
{
	size_t n = 0;

	for (size_t i = 0; i < MANY; i++) {
		struct item *found = find(s, hash_number(items[i].number), items[i].number);

		if (found != (items[i].in ? &items[i] : NULL))
			fail_msg("item %zu: in %d, found %p", i, items[i].in, (void *)found);
		n += items[i].in;
	}
	assert_int_equal(s->n, n);
	n = 0;
	hashset_each(s, count, &n);
	assert_int_equal(s->n, n);
}

static struct item *many(void)
{
	struct item *items = calloc(MANY, sizeof(*items));

	assert_non_null(items);
	for (size_t i = 0; i < MANY; i++)
		items[i].number = i;
	return items;
}

static void finds_what_is_in(void **state)
{
	struct item *items = many();
	struct hashset s;
	uint64_t r = 1;

	hashset_init(&s, item_hash);
	check_all(&s, items);
	/* filled, thinned out, filled again, and at random in between */
	for (int share = 0; share < 6; share++) {
		for (size_t i = 0; i < MANY; i++) {
			r = hash_number(r + i);
			put(&s, &items[i], share % 2 ? r % 16 == 0 : r % 8 != 0);
		}
		check_all(&s, items);
	}
	hashset_clear(&s);
	free(items);
}

static void gives_buckets_back(void **state)
{
	struct item *items = many();
	struct hashset s;
	size_t n = 0;

	hashset_init(&s, item_hash);
	for (size_t i = 0; i < MANY; i++)
		put(&s, &items[i], true);
	assert_int_equal(s.n_buckets, MANY);
	for (size_t i = 0; i < MANY; i++)
		put(&s, &items[i], i % 1000 == 0);
	assert_true(s.n_buckets <= MANY / 1000 * 2 + 1);
	check_all(&s, items);
	for (struct hashed *h = hashset_pop(&s); h; h = hashset_pop(&s), n++)
		assert_true(CONTAINER_OF(h, struct item, hashed)->in);
	assert_int_equal(n, MANY / 1000);
	assert_int_equal(s.n_buckets, HASHSET_FIRST);
	hashset_clear(&s);
	free(items);
}

static void one_hash_for_all(void **state)
{
	struct item items[200] = { 0 };
	struct hashset s;

	hashset_init(&s, same_hash);
	for (size_t i = 0; i < ARRAY_SIZE(items); i++) {
		items[i].number = i;
		put(&s, &items[i], true);
	}
	for (size_t i = 0; i < ARRAY_SIZE(items); i += 2)
		put(&s, &items[i], false);
	for (size_t i = 0; i < ARRAY_SIZE(items); i++)
		assert_ptr_equal(find(&s, 7, i), i % 2 ? &items[i] : NULL);
	hashset_clear(&s);
}

static void bytes_differ_by_their_start(void **state)
{
	assert_true(hash_bytes(1, "ab", 2) == hash_bytes(1, "ab", 2));
	assert_true(hash_bytes(1, "ab", 2) != hash_bytes(2, "ab", 2));
	assert_true(hash_bytes(1, "ab", 2) != hash_bytes(1, "ba", 2));
	assert_true(hash_bytes(1, "ab", 2) != hash_bytes(1, "ab", 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_what_is_in),
		cmocka_unit_test(gives_buckets_back),
		cmocka_unit_test(one_hash_for_all),
		cmocka_unit_test(bytes_differ_by_their_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
