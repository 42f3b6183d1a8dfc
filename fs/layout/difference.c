/* SPDX-License-Identifier: MIT */
/* What an edit of a profile makes different: see difference.h. */
#include "layout/difference.h"

#include <errno.h>
#include <string.h>

/* The rule of @rs that says what @r does, from number @from on; NULL if there is none. */
static const struct rule *find(const struct ruleset *rs, size_t from, const struct rule *r)
{
	for (size_t i = from; i < rs->n_rules; i++)
		if (rule_equal(&rs->rules[i], r))
			return &rs->rules[i];
	return NULL;
}

static int add_place(struct difference *d, const char *at)
{
	return strv_has(&d->places, at) ? 0 : strv_add(&d->places, at);
}

/* The places of the rules that @rs has and @other has not. */
static int add_missing(struct difference *d, const struct ruleset *rs, const struct ruleset *other)
{
	for (size_t i = 0; i < rs->n_rules; i++)
		if (!find(other, 0, &rs->rules[i]) && add_place(d, rs->rules[i].at) < 0)
			return -ENOMEM;
	return 0;
}

/* The places of those that both have, but in another order: a higher one hides a lower one. */
static int add_moved(struct difference *d, const struct ruleset *was, const struct ruleset *is)
{
	size_t next = 0;

	for (size_t i = 0; i < is->n_rules; i++) {
		const struct rule *r = &is->rules[i];
		const struct rule *old = find(was, next, r);

		if (old)
			next = (size_t)(old - was->rules) + 1;
		else if (find(was, 0, r) && add_place(d, r->at) < 0)
			return -ENOMEM;
	}
	return 0;
}

static bool same_writes(const struct profile *a, const struct profile *b)
{
	if (a->n_writes != b->n_writes)
		return false;
	for (size_t i = 0; i < a->n_writes; i++) {
		const struct write_rule *x = &a->writes[i];
		const struct write_rule *y = &b->writes[i];

		if (x->class != y->class || x->dest != y->dest ||
		    strcmp(x->pattern ? x->pattern : "", y->pattern ? y->pattern : "") != 0)
			return false;
	}
	return true;
}

int difference_find(const struct ruleset *was, const struct ruleset *is, struct difference *ret)
{
	const struct profile *a = was->profile;
	const struct profile *b = is->profile;
	int r = 0;

	if (!strv_equal(&a->hide, &b->hide) || !strv_equal(&a->hide_links, &b->hide_links))
		r = add_place(ret, "");
	if (!r)
		r = add_missing(ret, was, is);
	if (!r)
		r = add_missing(ret, is, was);
	if (!r)
		r = add_moved(ret, was, is);
	ret->writes = !same_writes(a, b);
	ret->redirects = !strv_equal(&a->redirect, &b->redirect);
	return r;
}

bool difference_is_none(const struct difference *d)
{
	return !d->places.n && !d->writes && !d->redirects;
}

void difference_clear(struct difference *d)
{
	strv_clear(&d->places);
}
