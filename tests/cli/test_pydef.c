/* SPDX-License-Identifier: MIT */
/* Definitions in Python text. */
#include <stdio.h>

#include "check.h"
#include "cli/pydef.h"

static const char *found(const char *text, const char *name)
{
	static const char *const words[] = {
		[PYDEF_NONE] = "none",     [PYDEF_VALUE] = "value",       [PYDEF_CLASS] = "class",
		[PYDEF_IMPORT] = "import", [PYDEF_FUNCTION] = "function",
	};
	static char out[128];
	struct pydef d = { 0 };

	assert_int_equal(pydef_find(text, name, &d), 0);
	if (d.kind == PYDEF_IMPORT)
		(void)snprintf(out, sizeof(out), "%u import %s %s", d.line, d.module, d.name);
	else
		(void)snprintf(out, sizeof(out), "%u %s", d.line, words[d.kind]);
	pydef_clear(&d);
	return out;
}

static void definitions_at_the_top_are_found(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "def f(): pass\n", "1 function" },
		{ "\n\n@jit\n@other(1,\n  2)\ndef f(a,\n  b): pass", "6 function" },
		{ "async  def  f (): pass\n", "1 function" },
		{ "class f: pass\n", "1 class" },
		{ "x = 1\nf = lambda: 0\n", "2 value" },
		{ "f: int = 3\n", "1 value" },
		{ "f == 3\n", "0 none" },
		{ "def ff(): pass\ndef f_(): pass\nxf = 1\n", "0 none" },
		{ "if x:\n    def f(): pass\n", "0 none" },
		{ "def g():\n    def f(): pass\n", "0 none" },
		{ "# def f(): pass\n", "0 none" },
		{ "\"\"\"\ndef f(): pass\n\"\"\"\n", "0 none" },
		{ "s = '''\\'''\ndef f(): pass\n'''\ndef f(): pass\n", "4 function" },
		{ "s = 'it\\'s'\ndef f(): pass\n", "2 function" },
		{ "s = \"# no comment\"\ndef f(): pass\n", "2 function" },
		{ "x = [\ndef f(): pass\n]\n", "0 none" },
		{ "x = ')' + (\n\"(\"\n)\ndef f(): pass\n", "4 function" },
		{ "x = 1 + \\\nf = 3\n", "0 none" },
		{ "def f(): pass\ndef f(): pass\n", "2 function" },
		{ "def f(): pass\nf = wrap(f)\n", "1 function" },
		{ "s = 'open\ndef f(): pass\n", "2 function" },
		{ "", "0 none" },
		{ "def", "0 none" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_str(cases[i].text, found(cases[i].text, "f"), cases[i].want);
}

static void imports_say_from_where(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "from .testing import f\n", "1 import .testing f" },
		{ "from . import f", "1 import . f" },
		{ "from a.b import x, f, y\n", "1 import a.b f" },
		{ "from ..a import g as f\n", "1 import ..a g" },
		{ "from .a import f as g\n", "0 none" },
		{ "from .a import (\n    x,  # one\n    g as f,\n)\n", "1 import .a g" },
		{ "from .a import x, \\\n    f\n", "1 import .a f" },
		{ "from .a import *\n", "0 none" },
		{ "from .a import f\nfrom .b import f\n", "2 import .b f" },
		{ "from .a import f\ndef f(): pass\n", "2 function" },
		{ "def f(): pass\nfrom .a import f\n", "1 function" },
		{ "from .a import\n", "0 none" },
		{ "from", "0 none" },
		{ "import f\n", "0 none" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_str(cases[i].text, found(cases[i].text, "f"), cases[i].want);
}

static void questions_to_the_hooks_are_found(void **state)
{
	static const struct {
		const char *text, *callee;
		unsigned line;
	} cases[] = {
		{ "f = spec_func(\"f\") or f\n", "spec_func", 1 },
		{ "\nx = spec_call( 'f', 1)\n", "spec_call", 2 },
		{ "def g():\n  return spec(\n    'f')\n", "spec", 2 },
		{ "spec_func(\"ff\")\nspec_func('f\")\n", NULL, 0 },
		{ "my_spec_func('f')\nx.spec('f')\nspec_path('f')\n", NULL, 0 },
		{ "# spec_func('f')\n\"spec_func('f')\"\n", NULL, 0 },
		{ "spec_func(f)\nspec_func", NULL, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		unsigned line = 0;
		const char *callee = pydef_asks(cases[i].text, "f", &line);

		check_str(cases[i].text, callee ? callee : "-",
			  cases[i].callee ? cases[i].callee : "-");
		check_int(cases[i].text, line, cases[i].line);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(definitions_at_the_top_are_found),
		cmocka_unit_test(imports_say_from_where),
		cmocka_unit_test(questions_to_the_hooks_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
