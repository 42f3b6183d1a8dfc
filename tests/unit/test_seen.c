/* SPDX-License-Identifier: MIT */
/* What a node remembers of a look-up. */
#include "node/seen.h"

#include <sys/sysmacros.h>

#include "check.h"

/* A file, every field with a value of its own and as large as it may get. */
static struct found file(void)
{
	struct found f = {
		.layer = STACK_MAX - 1,
		.obj.btime_nsec = UINT64_MAX - 1,
		.parts = UINT64_C(1) << 63 | 5,
		.via_link = true,
		.lent = true,
	};

	f.st = (struct stat){
		.st_dev = makedev(0xfffff, 0xffffffff),
		.st_ino = UINT64_MAX - 2,
		.st_mode = S_IFREG | 07755,
		.st_nlink = UINT32_MAX,
		.st_uid = UINT32_MAX - 1,
		.st_gid = UINT32_MAX - 2,
		.st_rdev = makedev(0xffff, 0xfffffffe),
		.st_size = INT64_MAX,
		.st_blksize = 1 << 30,
		.st_blocks = INT64_MAX - 1,
		.st_atim = { -1, 999999999 },
		.st_mtim = { INT64_C(1) << 40, 1 },
		.st_ctim = { 3, 4 },
	};
	f.obj.st = f.st;
	f.obj.st.st_ino = 17;
	f.obj.st.st_mode = S_IFREG | 0555;
	return f;
}

static void a_file_is_remembered_whole(void **state)
{
	struct found f = file();
	struct found got;
	struct seen s;

	seen_set(&s, &f);
	seen_get(&s, &got);
	assert_memory_equal(&got.st, &f.st, sizeof(f.st));
	assert_memory_equal(&got.obj, &f.obj, sizeof(f.obj));
	assert_int_equal(got.layer, f.layer);
	assert_true(got.parts == f.parts);
	assert_true(got.via_link && got.lent && !got.virtual && !got.implied);
}

static void a_directory_shows_what_it_did(void **state)
{
	struct found f = { .virtual = true, .implied = true, .parts = 3 };
	struct found got;
	struct seen s;

	f.obj.st.st_mode = S_IFDIR | 0700;
	f.obj.st.st_mtim.tv_sec = 1;
	f.st = f.obj.st;
	f.st.st_mtim.tv_sec = 2;
	f.st.st_nlink = 1;
	seen_set(&s, &f);
	seen_get(&s, &got);
	assert_memory_equal(&got.st, &f.st, sizeof(f.st));
	assert_true(object_same(&got.obj, &f.obj));
	assert_true(got.virtual && got.implied && !got.via_link && !got.lent);
}

static void keys_differ_by_each_part(void **state)
{
	struct object o = file().obj;
	struct object_key a = object_key(&o);
	struct object_key b = a;

	assert_true(object_key_same(&a, &b));
	b.dev++;
	assert_false(object_key_same(&a, &b));
	b = a;
	b.ino++;
	assert_false(object_key_same(&a, &b));
	b = a;
	b.btime_nsec++;
	assert_false(object_key_same(&a, &b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_remembered_whole),
		cmocka_unit_test(a_directory_shows_what_it_did),
		cmocka_unit_test(keys_differ_by_each_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
