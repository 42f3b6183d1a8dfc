/* SPDX-License-Identifier: MIT */
/* Moving one object of the model to another name: what renaming and exchanging share. */
#ifndef SPECFS_PROP_MMOVE_H
#define SPECFS_PROP_MMOVE_H

#include "model.h"

/* A rename that has been judged. */
struct moving {
	struct model *m;
	const char *from;
	const char *to;
	struct seen s; /* at @from */
	bool is_dir;
	struct mroute remove; /* of @from */
	unsigned dest;	      /* layer that takes @to */
	bool over;	      /* it has something there that is replaced: */
	struct mdata replaced;
};

/** mmove_do - carry out what is routed: 0 or -EROFS, when the model may have changed */
int mmove_do(const struct moving *asked);

/** mmove_check - does a rule deny the removal of anything in @mv->from? 0 or -EROFS */
int mmove_check(const struct moving *mv);

/** mmove_is_alike - would layer @layer's directory @from show the same names if it were at @to? */
bool mmove_is_alike(const struct model *m, unsigned layer, const char *from, const char *to);

/** mexchange - RENAME_EXCHANGE of two names that are there, which are not one object */
int mexchange(struct model *m, const char *a, const char *b);

#endif
