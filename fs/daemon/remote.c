/* SPDX-License-Identifier: MIT */
/* Remote file systems: see remote.h. Source of the numbers: statfs(2), linux/magic.h. */
#include "daemon/remote.h"

#include <stddef.h>
#include <sys/vfs.h>

#include "base/cleanup.h"

static const struct {
	unsigned long type;
	const char *name;
} types[] = {
	{ 0x00006969, "nfs" },    { 0xff534d42, "cifs" },   { 0xfe534d42, "smb" },
	{ 0x0000517b, "smb" },    { 0x01021997, "9p" },	    { 0x65735546, "fuse" },
	{ 0x00c36400, "ceph" },	  { 0x5346414f, "afs" },    { 0x6b414653, "afs" },
	{ 0x73757245, "coda" },	  { 0x0bd00bd0, "lustre" }, { 0x01161970, "gfs2" },
	{ 0x7461636f, "ocfs2" },  { 0x47504653, "gpfs" },   { 0x786f4256, "vboxsf" },
	{ 0x0000564c, "ncp" },	  { 0x61756673, "aufs" },   { 0xbacbacbc, "vmhgfs" },
};

const char *remote_name(unsigned long type)
{
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (types[i].type == type)
			return types[i].name;
	return NULL;
}

const char *remote_of(int fd)
{
	struct statfs st;

	/* some machines' type is a signed 32-bit number */
	return fstatfs(fd, &st) < 0 ? NULL : remote_name((unsigned long)st.f_type & 0xffffffff);
}
