/* SPDX-License-Identifier: MIT */
/* Called by mount(8): see fstab.h. The call is turned into one of `specfs mount`. */
#include "cli/fstab.h"

#include <errno.h>
#include <string.h>

#include "cli/command.h"
#include "cli/report.h"

static bool is_helper(const char *argv0)
{
	const char *base = strrchr(argv0, '/');

	return !strncmp(base ? base + 1 : argv0, "mount.", 6);
}

bool fstab_is_call(int argc, char **argv)
{
	if (argc < 1)
		return false;
	if (is_helper(argv[0]))
		return true;
	return argc >= 3 && strchr(argv[1], '/') && argv[1][0] != '-' && argv[2][0] != '-' &&
	       (argc == 3 || !strcmp(argv[3], "-o"));
}

bool fstab_ignores(const char *name)
{
	static const char *const names[] = {
		"rw", "user", "users", "owner", "group", "nouser", "auto", "noauto",
		"nofail", "_netdev", "defaults", "dev", "nodev", "suid", "nosuid", "exec",
		"async", "sync", "dirsync", "atime", "noatime", "relatime", "norelatime",
		"strictatime", "nostrictatime", "diratime", "nodiratime", "lazytime",
		"nolazytime", "loud", "silent", "mand", "nomand", "iversion", "noiversion",
		"comment", "helper", "uhelper", NULL,
	};

	if (!strncmp(name, "x-", 2) || !strncmp(name, "X-", 2))
		return true;
	for (size_t i = 0; names[i]; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* What a call says. */
struct call {
	struct strv words;
	struct strv lists;      /* each -o */
	bool fake;
	bool verbose;
};

static int read_call(int argc, char **argv, struct call *ret)
{
	for (int i = 1; i < argc; i++) {
		const char *w = argv[i];
		int r = 0;

		if (w[0] != '-' || !w[1]) {
			r = strv_add(&ret->words, w);
		} else if (strspn(w + 1, "sfnv") == strlen(w + 1)) {
			ret->fake |= strchr(w, 'f') != NULL;
			ret->verbose |= strchr(w, 'v') != NULL;
		} else if (strchr("otN", w[1]) && !w[2] && i + 1 < argc) {
			i++;
			r = w[1] == 'o' ? strv_add(&ret->lists, argv[i]) : 0;
		} else {
			return fault("unknown option '%s' in a call from mount(8)", w);
		}
		if (r < 0)
			return fault("%s", strerror(-r));
	}
	if (ret->words.n != 2)
		return fault("mount(8) calls with a checkout and a mountpoint, and nothing else");
	return EXIT_OK;
}

static int run_call(const struct call *c)
{
	cleanup_strv struct strv argv = STRV_INIT;
	int r = 0;

	for (size_t i = 0; i < c->lists.n && r >= 0; i++) {
		r = strv_add(&argv, "-o");
		r = r < 0 ? r : strv_add(&argv, c->lists.v[i]);
	}
	r = r < 0 || c->verbose ? r : strv_add(&argv, "--quiet");
	r = r < 0 ? r : strv_add(&argv, "--");
	for (size_t i = 0; i < c->words.n && r >= 0; i++)
		r = strv_add(&argv, c->words.v[i]);
	if (r < 0)
		return fault("%s", strerror(-r));
	return command_main(command_find("mount"), (int)argv.n, argv.v);
}

int fstab_main(int argc, char **argv)
{
	struct call c = { 0 };
	int r;

	report_open("mount");
	r = read_call(argc, argv, &c);
	if (r == EXIT_OK && !c.fake)
		r = run_call(&c);
	strv_clear(&c.words);
	strv_clear(&c.lists);
	return r;
}
