/* SPDX-License-Identifier: MIT */
/*
 * The keys of a profile. A key exists once, as a row of this table: parsing, its messages and the
 * manual's lists come from the row.
 */
#ifndef SPECFS_CONFIG_KEYS_H
#define SPECFS_CONFIG_KEYS_H

#include <stdbool.h>
#include <stddef.h>

enum key_type {
	KEY_TEXT,       /* one line, as it is */
	KEY_CONTENT,    /* text of several lines; may hold ${backend} */
	KEY_FLAG,       /* a bool: false is the first of the two words of `unit` */
	KEY_CHOICE,     /* an enum that counts from 0 through the words of `unit` */
	KEY_AT,         /* a place of the view; "." is the root; may hold ${backend} */
	KEY_FROM,       /* a path below ROOT or absolute; may hold ${backend} */
	KEY_BELOW,      /* a path below a directory; may hold ${backend} */
	KEY_PATTERNS,   /* list of gitignore patterns */
	KEY_GLOBS,      /* list of paths below ROOT with globs */
	KEY_PATHS,      /* list of paths of the view */
};

/* Whose field a row fills: the section itself tells. */
struct config_key {
	const char *section;    /* first word of the header */
	const char *name;
	enum key_type type;
	bool required;
	const char *def;        /* in the spelling of the file; "" is nothing */
	const char *unit;       /* what a value is; of a choice "word|word" */
	size_t offset;          /* of the field in struct profile or struct profile_rule */
	const char *help;       /* one sentence */
};

/* A kind of section. */
struct config_section {
	const char *kind;
	bool named;             /* "[kind NAME]", any number of them; else once, without a name */
	bool free_keys;         /* its keys are patterns, not rows of config_keys[] */
	const char *help;
};

extern const struct config_key config_keys[];
extern const size_t n_config_keys;
extern const struct config_section config_sections[];
extern const size_t n_config_sections;

/** config_section_find - the section kind called @kind, or NULL */
const struct config_section *config_section_find(const char *kind);

/** config_key_find - the row of @name in sections of @kind, or NULL */
const struct config_key *config_key_find(const char *kind, const char *name);

#endif
