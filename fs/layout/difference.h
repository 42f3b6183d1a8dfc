/* SPDX-License-Identifier: MIT */
/* What an edit of a profile makes different: from one ruleset of a checkout to another. */
#ifndef SPECFS_LAYOUT_DIFFERENCE_H
#define SPECFS_LAYOUT_DIFFERENCE_H

#include "layout/ruleset.h"

struct difference {
	struct strv places;     /* of the view, at and below which something else may be shown;
				 * "" is all of it */
	bool writes;            /* changes may go elsewhere */
	bool redirects;         /* other directories are to be redirected */
};

#define DIFFERENCE_INIT { STRV_INIT }

/** difference_find - set @ret, which is empty; 0 or -ENOMEM */
int difference_find(const struct ruleset *was, const struct ruleset *is, struct difference *ret);

/** difference_is_none - do both rulesets say the same? */
bool difference_is_none(const struct difference *d);
void difference_clear(struct difference *d);

static inline void cleanup_difference_p(struct difference *d)
{
	difference_clear(d);
}

#define cleanup_difference CLEANUP(cleanup_difference_p)

#endif
