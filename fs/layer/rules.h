/* SPDX-License-Identifier: MIT */
/*
 * What a profile makes of a checkout: the profile, its rules for a chain of backends, and the
 * layers of these rules, opened. Read when a view is opened, and again when its profile changes.
 */
#ifndef SPECFS_LAYER_RULES_H
#define SPECFS_LAYER_RULES_H

#include "base/diag.h"
#include "layer/layer.h"
#include "layout/ruleset.h"

/* What they are made from; all borrowed. */
struct rules_source {
	const char *root;             /* real path of ROOT */
	int root_fd;                  /* the same, O_PATH */
	const char *which;            /* see profile_find() */
	const struct strv *backends;  /* most special first */
};

struct rules {
	struct profile *profile;
	char *why;              /* this profile was taken */
	struct ruleset *set;
	struct layer *layers;   /* of the rules that have one, highest first */
	unsigned n_layers;
};

/**
 * rules_read - find and read the profile, open what its rules lead to
 *
 * Every mistake is found here. Returns 0, or a negative errno with a line in @d.
 */
int rules_read(const struct rules_source *src, struct diag *d, struct rules *ret);

/** rules_check_scratch - -EINVAL, with a line in @d, if scratch (or NULL) and a layer contain one
 * another */
int rules_check_scratch(const struct rules *r, const char *scratch, struct diag *d);

/** rules_take_layer - move layer @i out of @r: its strings and descriptor are the caller's */
struct layer rules_take_layer(struct rules *r, unsigned i);

/** rules_clear - free what is still in it */
void rules_clear(struct rules *r);

static inline void cleanup_rules_p(struct rules *r)
{
	rules_clear(r);
}

#define cleanup_rules CLEANUP(cleanup_rules_p)

#endif
