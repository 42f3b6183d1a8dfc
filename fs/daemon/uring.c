/* SPDX-License-Identifier: MIT */
/* May requests come over io_uring: see uring.h. */
#include "daemon/uring.h"

#include <errno.h>
#include <fcntl.h>

#include "base/fd.h"

#ifdef FUSE_CAP_OVER_IO_URING

#define SWITCH "/sys/module/fuse/parameters/enable_uring"

enum {
	SWITCH_MAX_BYTES = 16,
};

int uring_check(struct diag *d)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;
	int r = fd_read_file(AT_FDCWD, SWITCH, SWITCH_MAX_BYTES, &sb);

	if (r < 0)
		return diag_add(d, -EOPNOTSUPP, NULL, 0,
				"mount option 'io_uring': this kernel has no FUSE over io_uring "
				"(there is no " SWITCH "); expected Linux 6.14 or later");
	if (sb.buf[0] != 'Y')
		return diag_add(d, -EOPNOTSUPP, NULL, 0,
				"mount option 'io_uring': the kernel's FUSE over io_uring is "
				"switched off (as root: echo Y > " SWITCH ")");
	return 0;
}

bool uring_is_on(const struct fuse_conn_info *conn)
{
	return conn->capable_ext & conn->want_ext & FUSE_CAP_OVER_IO_URING;
}

#else

int uring_check(struct diag *d)
{
	return diag_add(d, -EOPNOTSUPP, NULL, 0,
			"mount option 'io_uring': specfs was built with libfuse %d.%d, which has "
			"none; expected 3.18 or later", FUSE_MAJOR_VERSION, FUSE_MINOR_VERSION);
}

bool uring_is_on(const struct fuse_conn_info *conn)
{
	(void)conn;
	return false;
}

#endif
