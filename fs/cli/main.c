/* SPDX-License-Identifier: MIT */
/*
 * The command `specfs`: which of its commands is called. It also answers to the way in which
 * mount(8) calls a file system's program: see fstab.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/command.h"
#include "cli/fstab.h"
#include "cli/report.h"
#include "specfs/version.h"

static void print_usage(FILE *out)
{
	fprintf(out, "usage: specfs COMMAND [OPTION]... [ARGUMENT]...\n"
		     "Mount a checkout as one backend sees it.\n\ncommands:\n");
	for (size_t i = 0; commands[i]; i++)
		fprintf(out, "  %-12s%s\n", commands[i]->name, commands[i]->summary);
	fprintf(out, "\n'specfs COMMAND --help' tells a command's options, specfs(1) the rest.\n"
		     "exit status: 0 ok, 1 found something (or not what was asked), 2 could not\n");
}

/* Whatever is opened later must not become somebody's standard output. */
static void fill_standard_fds(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO && fcntl(fd, F_SETFD, 0) == 0);
	if (fd > STDERR_FILENO)
		close(fd);
}

/* Facts that did not arrive are a fault too. */
static int finish(int status)
{
	if (ferror(stdout) || fflush(stdout) == EOF)
		return fault("cannot write the output: %s", strerror(errno));
	return status;
}

static int help(int argc, char **argv)
{
	const struct command *c = argc > 0 ? command_find(argv[0]) : NULL;

	if (argc > 0 && !c)
		return fault("unknown command '%s'; 'specfs --help' lists them", argv[0]);
	if (c)
		command_print_help(c, stdout);
	else
		print_usage(stdout);
	return EXIT_OK;
}

static int dispatch(int argc, char **argv)
{
	const struct command *c;

	if (fstab_is_call(argc, argv))
		return fstab_main(argc, argv);
	if (argc < 2)
		return fault("no command given; 'specfs --help' lists them");
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
		return help(argc - 2, argv + 2);
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("specfs %s\n", SPECFS_VERSION);
		return EXIT_OK;
	}
	c = command_find(argv[1]);
	if (!c && argv[1][0] == '-')
		return fault("unknown option '%s' before the command; see 'specfs --help'",
			     argv[1]);
	if (!c)
		return fault("unknown command '%s'; 'specfs --help' lists them", argv[1]);
	return command_main(c, argc - 2, argv + 2);
}

int main(int argc, char **argv)
{
	fill_standard_fds();
	log_open("specfs");
	return finish(dispatch(argc, argv));
}
