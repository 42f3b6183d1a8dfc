/* SPDX-License-Identifier: MIT */
/*
 * The ruleset: a profile with a chain of backends filled in. It says, for a view path, which rules
 * have a candidate, what is hidden, and where a change goes.
 */
#ifndef SPECFS_LAYOUT_RULESET_H
#define SPECFS_LAYOUT_RULESET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "config/profile.h"
#include "layout/rule.h"

struct ruleset {
	const struct profile *profile;  /* borrowed; outlives the ruleset */
	struct strv backends;           /* the chain, most special first; may be empty */
	struct rule *rules;             /* highest first: files and links, grafts, maps; in each the
					 * chain's backends in order, then what names none; in each
					 * as in the profile; at last what supply_add() adds */
	size_t n_rules;
};

/**
 * ruleset_new - fill the chain of backends into a profile
 * @backends: names, most special first; n may be 0 (rules that need a name are left out then)
 *
 * Returns 0, -EINVAL with a line in @d (a name with a slash, a place used twice), or -ENOMEM.
 */
int ruleset_new(const struct profile *p, const struct strv *backends, struct diag *d,
		struct ruleset **ret);
void ruleset_free(struct ruleset *rs);

DEFINE_CLEANUP(ruleset, struct ruleset, ruleset_free)
#define cleanup_ruleset CLEANUP(cleanup_ruleset_p)

/**
 * ruleset_hides - does [hide] keep this path of trunk and spec layers out of the view?
 * @is_link: it is a symlink; left-over links are told from real directories and files by that. What
 *           lies below a place of such links is never hidden for it
 */
bool ruleset_hides(const struct ruleset *rs, const char *path, bool is_dir, bool is_link);

/** ruleset_names_below - does [hide] name directory @path, or what may lie below it? */
bool ruleset_names_below(const struct ruleset *rs, const char *path);

/**
 * ruleset_map_of - the highest shadow map whose place covers @path, or NULL
 *
 * Patterns and hijacking included, as rule_covers() says. What [hide] hides is covered by none.
 */
const struct rule *ruleset_map_of(const struct ruleset *rs, const char *path, bool is_dir,
				  rule_is_hijacked_fn is_hijacked, void *arg);

/* What a [write] rule may ask about an object. */
struct write_facts {
	const char *path;       /* clean view path */
	bool is_dir;
	bool is_link;
	bool is_new;            /* nothing is there yet */
	bool ignored;           /* git ignores it */
	bool backend_owned;     /* a spec directory or graft owns it */
	bool mapped;            /* ruleset_map_of() has one */
};

/**
 * ruleset_write_rule - the first [write] rule that matches
 *
 * A glob matches the path or any directory above it. For new names "@backend" never matches.
 * "@ignored" also matches what [hide] hides: made in trunk or spec, it would not be seen.
 * Returns NULL if none does: the caller's default is owner.
 */
const struct write_rule *ruleset_write_rule(const struct ruleset *rs, const struct write_facts *f);

#endif
