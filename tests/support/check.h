/* SPDX-License-Identifier: MIT */
/*
 * What every unit test includes: cmocka with the headers that it needs, and checks for tables of
 * cases, which say the case that failed.
 */
#ifndef SPECFS_TESTS_CHECK_H
#define SPECFS_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/** check_int - @got must be @want; @what names the case */
#define check_int(what, got, want)                                                                 \
	do {                                                                                       \
		long long got_ = (got), want_ = (want);                                            \
		if (got_ != want_)                                                                 \
			fail_msg("%s: %s is %lld, not %lld", what, #got, got_, want_);             \
	} while (0)

/** check_str - the same for strings */
#define check_str(what, got, want)                                                                 \
	do {                                                                                       \
		const char *gs_ = (got), *ws_ = (want);                                            \
		if (!gs_ || strcmp(gs_, ws_))                                                      \
			fail_msg("%s: %s is '%s', not '%s'", what, #got, gs_ ? gs_ : "(null)",     \
				 ws_);                                                             \
	} while (0)

#endif
