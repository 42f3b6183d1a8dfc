/* SPDX-License-Identifier: MIT */
/* The list of strings: see strv.h. */
#include "base/strv.h"

#include <errno.h>
#include <string.h>

void strv_clear(struct strv *sv)
{
	for (size_t i = 0; i < sv->n; i++)
		free(sv->v[i]);
	free(sv->v);
	*sv = (struct strv)STRV_INIT;
}

int strv_addn(struct strv *sv, const char *s, size_t len)
{
	char *copy;

	if (sv->n + 2 > sv->cap) {
		size_t cap = sv->cap ? sv->cap * 2 : 8;
		char **v = realloc(sv->v, cap * sizeof(*v));

		if (!v)
			return -ENOMEM;
		sv->v = v;
		sv->cap = cap;
	}
	copy = strndup(s, len);
	if (!copy)
		return -ENOMEM;
	sv->v[sv->n++] = copy;
	sv->v[sv->n] = NULL;
	return 0;
}

int strv_add(struct strv *sv, const char *s)
{
	return strv_addn(sv, s, strlen(s));
}

int strv_add_words(struct strv *sv, const char *s, const char *seps)
{
	for (s += strspn(s, seps); *s; s += strspn(s, seps)) {
		size_t len = strcspn(s, seps);
		int r = strv_addn(sv, s, len);

		if (r < 0)
			return r;
		s += len;
	}
	return 0;
}

bool strv_has(const struct strv *sv, const char *s)
{
	for (size_t i = 0; i < sv->n; i++)
		if (!strcmp(sv->v[i], s))
			return true;
	return false;
}

bool strv_equal(const struct strv *a, const struct strv *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->v[i], b->v[i]))
			return false;
	return true;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void strv_sort(struct strv *sv)
{
	if (sv->n)
		qsort(sv->v, sv->n, sizeof(*sv->v), compare);
}
