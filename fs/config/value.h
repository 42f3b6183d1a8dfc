/* SPDX-License-Identifier: MIT */
/*
 * Typed values: a text from an INI file into the field that its key's row names.
 */
#ifndef SPECFS_CONFIG_VALUE_H
#define SPECFS_CONFIG_VALUE_H

#include "config/ini.h"
#include "config/keys.h"
#include "config/profile.h"

/**
 * value_parse - put a value into its field
 * @object: the struct profile or struct profile_rule that @k's offset counts in
 * @more:   @text goes on with what the field has already
 *
 * Returns 0, -ENOMEM, or -EINVAL with a line in @at->diag.
 */
int value_parse(const struct config_key *k, const char *text, bool more,
		const struct ini_place *at, void *object);

/**
 * value_parse_write - a line of [write]: @pattern = @dest
 *
 * @ret's line is that of @at; its pattern is the caller's. Errors as value_parse().
 */
int value_parse_write(const char *pattern, const char *dest, const struct ini_place *at,
		      struct write_rule *ret);

/** value_check_variables - -EINVAL with a line if @text holds another ${variable} than @allowed */
int value_check_variables(const char *text, const char *allowed, const struct ini_place *at);

#endif
