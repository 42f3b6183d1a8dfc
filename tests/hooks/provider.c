/* SPDX-License-Identifier: MIT */
/*
 * A backend's shared object for the tests. WHICH chooses a right one (0), one of another layout (1)
 * or a shared object that is no provider (2).
 */
#include <string.h>

#include "specfs/hooks.h"

#if WHICH == 0
static int lower_size(const char *name, int scale)
{
	return (int)strlen(name) * scale;
}

static void touch(int *p)
{
	*p += 1;
}

static const struct specfs_hook rows[] = {
	SPECFS_HOOK(int (const char *, int), lower_size),
	SPECFS_HOOK_AS("touch_it", void (int *), touch),
};

SPECFS_PROVIDER("demo", rows);
#elif WHICH == 1
__attribute__((visibility("default"))) const struct specfs_provider specfs_provider_table = {
	.abi = SPECFS_HOOKS_ABI + 1,
	.hook_size = sizeof(struct specfs_hook),
	.name = "demo",
};
#else
int no_provider(void);

int no_provider(void)
{
	return 0;
}
#endif
