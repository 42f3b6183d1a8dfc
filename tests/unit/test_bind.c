/* SPDX-License-Identifier: MIT */
/* Which mounts are redirected directories of a view, told from the mount table's words alone. */
#include "check.h"
#include "layer/bind.h"

static void a_redirect_is_told_by_its_place(void **state)
{
	static const struct {
		const char *at;
		const char *root;
		const char *view;
		bool is;
	} cases[] = {
		{ "/m/build", "/s/upper/build", "/m", true },
		{ "/m/build", "/upper/build", "/m", true },
		{ "/m/a b/c", "/var/u/s/upper/a b/c", "/m", true },
		{ "/m/build", "/s/upper/other", "/m", false },
		{ "/m/build", "/s/upper/x/build", "/m", false },
		{ "/m/build", "/s/xupper/build", "/m", false },
		{ "/m/build", "/build", "/m", false },
		{ "/m/build", "build", "/m", false },
		{ "/m", "/s/upper", "/m", false },
		{ "/mm/build", "/s/upper/build", "/m", false },
		{ "/other/build", "/s/upper/build", "/m", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_int(cases[i].root,
			  bind_is_of_view(cases[i].at, cases[i].root, cases[i].view), cases[i].is);
}

static void nothing_is_listed_where_nothing_is_mounted(void **state)
{
	struct strv dirs = STRV_INIT;

	(void)state;
	assert_int_equal(bind_list("/no-such-view", &dirs), 0);
	assert_int_equal(dirs.n, 0);
}

static void what_is_not_there_cannot_be_mounted(void **state)
{
	(void)state;
	assert_true(bind_make("/no-such-view", "/no-such-scratch", "build") < 0);
	assert_true(bind_undo("/no-such-view", "build", false) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_redirect_is_told_by_its_place),
		cmocka_unit_test(nothing_is_listed_where_nothing_is_mounted),
		cmocka_unit_test(what_is_not_there_cannot_be_mounted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
