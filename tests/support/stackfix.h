/* SPDX-License-Identifier: MIT */
/*
 * A stack for tests: a temporary directory with "trunk" and "scratch" in it, and the rules that a
 * test adds before fix_settle().
 */
#ifndef SPECFS_TESTS_STACKFIX_H
#define SPECFS_TESTS_STACKFIX_H

#include "layer/listing.h"
#include "layer/stack.h"

enum { FIX_RULES = 8 };

struct fix {
	char *tmp;              /* holds trunk/ (ROOT) and scratch/ */
	struct profile profile;
	struct ruleset rules;
	struct rule rule[FIX_RULES];
	struct stack st;
	struct found f;
	struct strbuf out;
};

/** fix_setup, fix_teardown - of every test */
int fix_setup(void **state);
int fix_teardown(void **state);

/**
 * fix_rule - add a rule; @from is below trunk. Returns it for further settings (strings with
 * strdup)
 */
struct rule *fix_rule(struct fix *f, enum rule_kind kind, const char *at, const char *from);

/** fix_settle - build the stack: scratch, the rules in order, trunk */
void fix_settle(struct fix *f);

/** fix_lookup - stack_lookup() into f->f */
int fix_lookup(struct fix *f, const char *path);

/** fix_text - content of the file that the view shows at @path, in f->out */
const char *fix_text(struct fix *f, const char *path);

/** fix_names - names of a directory of the view, sorted and parted by blanks, in f->out */
const char *fix_names(struct fix *f, const char *path);

/** fix_whiteout, fix_mark - make a whiteout or set a mark in scratch */
void fix_whiteout(struct fix *f, const char *path);
void fix_mark(struct fix *f, const char *path, const char *mark);

#endif
