/* SPDX-License-Identifier: MIT */
/* The text that a symlink gets in a layer which lies elsewhere than its place. */
#include "check.h"
#include "layer/linktext.h"

static void text_leads_to_the_same_place(void **state)
{
	struct rule map = { .kind = RULE_MAP,
			    .at = (char[]){ "py/t" },
			    .from = (char[]){ "tp/b/spec" } };
	const struct layer spec = { .kind = LAYER_SPEC,
				    .rule = &map,
				    .dir = (char[]){ "tp/b/spec" },
				    .base_fd = 0,
				    .in_root = true };
	const struct layer outside = { .kind = LAYER_SPEC,
				       .rule = &map,
				       .dir = (char[]){ "" },
				       .base_fd = 0,
				       .in_root = false };
	const struct layer trunk = { .kind = LAYER_TRUNK, .dir = (char[]){ "" }, .in_root = true };
	static const struct {
		const char *path;
		const char *text;
		const char *in_spec;
	} cases[] = {
		{ "py/t/l", "x", "x" },
		{ "py/t/d/l", "../x", "../x" },
		{ "py/t/l", "../u", "../../../py/u" },
		{ "py/t/d/l", "../../u/v", "../../../../py/u/v" },
		{ "py/t/l", "../../lib", "../../../lib" },
		{ "py/t/l", "/etc/hosts", "/etc/hosts" },
		{ "py/t/l", "../../../out", "../../../out" },
		{ "py/t/l", "", "" },
	};
	struct strbuf s = STRBUF_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		strbuf_reset(&s);
		check_int(cases[i].text, linktext_for(&spec, cases[i].path, cases[i].text, &s), 0);
		check_str(cases[i].text, s.buf, cases[i].in_spec);
		strbuf_reset(&s);
		check_int(cases[i].text, linktext_for(&trunk, cases[i].path, cases[i].text, &s), 0);
		check_str(cases[i].text, s.buf, cases[i].text);
		strbuf_reset(&s);
		check_int(cases[i].text, linktext_for(&outside, cases[i].path, cases[i].text, &s),
			  0);
		check_str(cases[i].text, s.buf, cases[i].text);
	}
	strbuf_clear(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_leads_to_the_same_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
