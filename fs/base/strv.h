/* SPDX-License-Identifier: MIT */
/*
 * A growing list of strings that it owns. Embed it, start from STRV_INIT, end with strv_clear().
 */
#ifndef SPECFS_BASE_STRV_H
#define SPECFS_BASE_STRV_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"

struct strv {
	char **v;      /* NULL-terminated when n > 0; may be NULL when n == 0 */
	size_t n;
	size_t cap;
};

#define STRV_INIT { 0 }

void strv_clear(struct strv *sv);
/** strv_add - append a copy of @s; 0 or -ENOMEM */
int strv_add(struct strv *sv, const char *s);
/** strv_addn - append a copy of the first @len bytes of @s; 0 or -ENOMEM */
int strv_addn(struct strv *sv, const char *s, size_t len);
/** strv_add_words - append the words of @s that any character of @seps parts; 0 or -ENOMEM */
int strv_add_words(struct strv *sv, const char *s, const char *seps);
bool strv_has(const struct strv *sv, const char *s);
/** strv_equal - the same strings in the same order */
bool strv_equal(const struct strv *a, const struct strv *b);
void strv_sort(struct strv *sv);

static inline void cleanup_strv_p(struct strv *sv)
{
	strv_clear(sv);
}

#define cleanup_strv CLEANUP(cleanup_strv_p)

#endif
