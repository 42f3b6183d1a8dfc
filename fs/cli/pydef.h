/* SPDX-License-Identifier: MIT */
/*
 * What a Python source file defines at its top level, told from its text; nothing is executed.
 * What stands in an `if`, `try` or other block, comes by `import *`, or is made by setattr() and
 * the like is not seen.
 */
#ifndef SPECFS_CLI_PYDEF_H
#define SPECFS_CLI_PYDEF_H

#include <stddef.h>

#include "base/cleanup.h"

enum pydef_kind {
	PYDEF_NONE,
	PYDEF_VALUE,            /* NAME = ..., which may be a function */
	PYDEF_CLASS,
	PYDEF_IMPORT,           /* from MODULE import NAME */
	PYDEF_FUNCTION,         /* def NAME, decorated or not, async or not */
};

struct pydef {
	enum pydef_kind kind;
	unsigned line;
	char *module;           /* import: as written, with its leading dots */
	char *name;             /* import: what it is called there */
};

void pydef_clear(struct pydef *d);

#define cleanup_pydef CLEANUP(pydef_clear)

/**
 * pydef_find - how @text defines @name
 * @ret: release with pydef_clear()
 *
 * Of several definitions a def is taken before an import, that before a class or a value; of the
 * same kind, the last one. Returns 0, also if there is none, or -ENOMEM.
 */
int pydef_find(const char *text, const char *name, struct pydef *ret);

/**
 * pydef_asks - where @text asks the hooks for @name
 * @ret_line: of the first such call
 *
 * Returns the function it calls, "spec_func", "spec_call" or "spec", NULL if none; NULL also when
 * out of memory.
 */
const char *pydef_asks(const char *text, const char *name, unsigned *ret_line);

#endif
