/* SPDX-License-Identifier: MIT */
/* A C++ program that offers functions and asks for them. Exits 0 if all came out right. */
#include "specfs/hooks.h"

#include <cstdio>
#include <string>

static int twice(const std::string &s, int n)
{
	return static_cast<int>(s.size()) * 2 * n;
}

static const struct specfs_hook rows[] = {
	SPECFS_HOOK(int (const std::string &, int), twice),
};

SPECFS_PROVIDER("cxx", rows);

int main()
{
	if (specfs_func(int (const std::string &, int), "twice"))
		return std::puts("found before it was registered"), 1;
	if (specfs_hooks_register(&specfs_provider_table) < 0)
		return std::puts("cannot register"), 1;
	if (specfs_call(int (const std::string &, int), "twice", -1, (std::string("abc"), 2)) != 12)
		return std::puts("wrong result"), 1;
	if (specfs_call(int (), "no_such", -1, ()) != -1)
		return std::puts("found a name that nobody offers"), 1;
	return 0;
}
