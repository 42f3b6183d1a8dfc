/* SPDX-License-Identifier: MIT */
/* Prints the option tables of every command as the manual has them; test_manual.py compares. */
#include <stdio.h>

#include "cli/command.h"

int main(void)
{
	for (size_t i = 0; commands[i]; i++) {
		const struct command *c = commands[i];

		printf("@command %s\n%s\n", c->name, c->words);
		printf("@options %s\n", c->name);
		options_print_mdoc(&c->options, false, stdout);
		if (!c->list.n)
			continue;
		printf("@list %s\n", c->name);
		options_print_mdoc(&c->list, true, stdout);
	}
	return 0;
}
