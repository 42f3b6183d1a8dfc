/* SPDX-License-Identifier: MIT */
/*
 * A profile that is edited while its view is mounted: what is read anew replaces what the view goes
 * by, between two requests, or not at all. Whoever calls then tells the kernel.
 */
#ifndef SPECFS_DAEMON_REREAD_H
#define SPECFS_DAEMON_REREAD_H

#include "daemon/session_impl.h"

struct reread;

/* What there is to say of the profile's file; release with reread_facts_clear(). */
struct reread_facts {
	bool changed;   /* it is not what the view goes by */
	char *error;    /* why not, if that has been found out; or NULL */
	bool redirects; /* [redirect] is another one than when the view was mounted */
};

/** reread_new - for @s, whose server is there */
int reread_new(struct session *s, struct reread **ret);
void reread_free(struct reread *rr);

/** reread_begin - look now and then where no event tells of an edit */
int reread_begin(struct reread *rr);
/** reread_end - once nobody calls reread_now() any more */
void reread_end(struct reread *rr);

enum reread_how {
	REREAD_PATIENT, /* somebody may be writing it: rather try again than call it faulty */
	REREAD_NOW,
	REREAD_IF_DUE,  /* only if it looks as if it were another one, or was faulty */
};

/**
 * reread_now - read the profile, and have the view go by it if it is another one
 * @ret_places: empty; set to the places at and below which the view may show something else
 *
 * The caller holds no lock. Returns 1 if the rules were exchanged, and reread_done() is wanted; 0
 * if they are the same; -EAGAIN with REREAD_PATIENT; or what reading gave, which is logged, once.
 */
int reread_now(struct reread *rr, enum reread_how how, struct strv *ret_places);

/** reread_verdict - -EINVAL, with a line in @d, if the file is faulty and so not in force */
int reread_verdict(struct reread *rr, struct diag *d);

/** reread_done - the kernel has been told: what only the old rules needed may go */
void reread_done(struct reread *rr);

/** reread_tell - fill in @ret; the caller holds no lock, as it looks at the file by its path */
void reread_tell(struct reread *rr, struct reread_facts *ret);
void reread_facts_clear(struct reread_facts *f);

#endif
