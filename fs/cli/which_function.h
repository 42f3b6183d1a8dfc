/* SPDX-License-Identifier: MIT */
/*
 * What becomes of one Python function in a view: which of the backend's modules provides it, which
 * function of the trunk it replaces, and by what means. Told from the texts alone, see pydef.h;
 * functions in C are not looked for. Source of the rules: specfs-hooks(3).
 */
#ifndef SPECFS_CLI_WHICH_FUNCTION_H
#define SPECFS_CLI_WHICH_FUNCTION_H

#include <jansson.h>
#include <stdbool.h>

#include "layer/view.h"

/** function_is_name - is @word MODULE:FUNCTION, as in "triton.testing:nvsmi"? */
bool function_is_name(const char *word);

/**
 * function_json - everything about the function called @word
 * @ret_provided: does the backend provide it?
 *
 * Returns the object that `specfs which --json` prints, or NULL when out of memory.
 */
json_t *function_json(const struct view *v, const char *word, bool *ret_provided);

/** function_print - what function_json() told, as text */
void function_print(const json_t *o);

#endif
