/* SPDX-License-Identifier: MIT */
/* Asking the daemon: see ask.h. The other side is daemon/socket.c. */
#include "cli/ask.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"

enum { REPLY_MAX_BYTES = 1 << 16 };

/* Send the line and read what comes back until the daemon hangs up. */
static int converse(const char *scratch, const char *line, struct strbuf *reply)
{
	cleanup_fd int dir = open(scratch, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	int r;

	if (dir < 0 || fd < 0)
		return -errno;
	strbuf_addf(&text, "%s\n", line);
	if (strbuf_failed(&text) < 0)
		return -ENOMEM;
	/* a socket's path may have 107 bytes only: name it through the directory's descriptor */
	snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/control", dir);
	if (connect(fd, (const struct sockaddr *)&a, sizeof(a)) < 0)
		return -errno;
	r = fd_write_all(fd, text.buf, text.len);
	return r < 0 ? r : fd_read_all(fd, REPLY_MAX_BYTES, reply);
}

int ask_daemon(const char *scratch, const char *line, struct diag *d)
{
	cleanup_strbuf struct strbuf reply = STRBUF_INIT;
	int r = scratch ? converse(scratch, line, &reply) : -ENOENT;

	if (r < 0)
		return diag_add(d, r, NULL, 0, "the daemon does not answer at '%s/control': %s",
				scratch ? scratch : "", strerror(-r));
	reply.buf[strcspn(reply.buf, "\n")] = '\0';
	if (!strcmp(reply.buf, "ok"))
		return 0;
	return diag_add(d, -ECOMM, NULL, 0, "%s",
			!strncmp(reply.buf, "error ", 6) ? reply.buf + 6 : reply.buf);
}
