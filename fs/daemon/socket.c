/* SPDX-License-Identifier: MIT */
/* The control socket: see socket.h. */
#include "daemon/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/strbuf.h"

enum { LINE_MAX_BYTES = 8192, CLIENT_LIMIT_MS = 5000 };

struct socket_server {
	int dir_fd;     /* owned */
	int fd;
	int stop_fd;
	pthread_t thread;
	bool running;
	socket_command_fn fn;
	void *arg;
};

/* A socket's path may have 107 bytes only: name it through the directory's descriptor. */
static void address(int dir_fd, struct sockaddr_un *ret)
{
	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(ret->sun_path, sizeof(ret->sun_path), "/proc/self/fd/%d/" SOCKET_NAME, dir_fd);
}

static bool may_command(int fd)
{
	struct ucred who;
	socklen_t len = sizeof(who);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) == 0 &&
	       (who.uid == geteuid() || who.uid == 0);
}

/* Read one line; a client that does not send one in time is given up. */
static int read_line(int fd, char line[LINE_MAX_BYTES])
{
	size_t n = 0;

	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		ssize_t got;

		if (poll(&p, 1, CLIENT_LIMIT_MS) <= 0)
			return -ETIMEDOUT;
		got = read(fd, line + n, LINE_MAX_BYTES - 1 - n);
		if (got < 0)
			return -errno;
		n += (size_t)got;
		line[n] = '\0';
		if (strchr(line, '\n')) {
			*strchr(line, '\n') = '\0';
			return 0;
		}
		if (!got || n + 1 == LINE_MAX_BYTES)
			return -EINVAL;
	}
}

static void answer(struct socket_server *s, int fd)
{
	cleanup_strbuf struct strbuf reply = STRBUF_INIT;
	cleanup_diag struct diag d = DIAG_INIT;
	char line[LINE_MAX_BYTES];
	int r = may_command(fd) ? read_line(fd, line) : -EPERM;

	if (!r)
		r = s->fn(s->arg, line, &d);
	if (r < 0)
		strbuf_addf(&reply, "error %s\n", d.lines.n ? d.lines.v[0] : strerror(-r));
	else
		strbuf_adds(&reply, "ok\n");
	(void)send(fd, reply.buf, reply.len, MSG_NOSIGNAL); /* the client may have gone */
}

static void *run(void *arg)
{
	struct socket_server *s = arg;
	struct pollfd fds[] = {
		{ .fd = s->fd, .events = POLLIN },
		{ .fd = s->stop_fd, .events = POLLIN },
	};

	for (;;) {
		cleanup_fd int client = -1;

		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[1].revents)
			return NULL;
		client = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC);
		if (client >= 0)
			answer(s, client);
	}
}

static int listen_at(struct socket_server *s)
{
	struct sockaddr_un a;

	s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (s->fd < 0)
		return -errno;
	address(s->dir_fd, &a);
	(void)unlinkat(s->dir_fd, SOCKET_NAME, 0); /* of a daemon that was killed */
	if (bind(s->fd, (const struct sockaddr *)&a, sizeof(a)) < 0 ||
	    fchmodat(s->dir_fd, SOCKET_NAME, 0600, 0) < 0 || listen(s->fd, 16) < 0)
		return -errno;
	s->stop_fd = eventfd(0, EFD_CLOEXEC);
	return s->stop_fd < 0 ? -errno : 0;
}

int socket_begin(int dir_fd, socket_command_fn fn, void *arg, struct socket_server **ret)
{
	struct socket_server *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	*s = (struct socket_server){ .fd = -1, .stop_fd = -1, .fn = fn, .arg = arg };
	s->dir_fd = fcntl(dir_fd, F_DUPFD_CLOEXEC, 0);
	r = s->dir_fd < 0 ? -errno : listen_at(s);
	if (!r)
		r = -pthread_create(&s->thread, NULL, run, s);
	s->running = !r;
	if (r < 0) {
		socket_end(s);
		return r;
	}
	*ret = s;
	return 0;
}

void socket_end(struct socket_server *s)
{
	uint64_t one = 1;

	if (!s)
		return;
	if (s->running) {
		while (write(s->stop_fd, &one, sizeof(one)) < 0 && errno == EINTR)
			;
		pthread_join(s->thread, NULL);
		(void)unlinkat(s->dir_fd, SOCKET_NAME, 0); /* the next start removes it */
	}
	if (s->fd >= 0)
		close(s->fd);
	if (s->stop_fd >= 0)
		close(s->stop_fd);
	if (s->dir_fd >= 0)
		close(s->dir_fd);
	free(s);
}
