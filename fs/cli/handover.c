/* SPDX-License-Identifier: MIT */
/* A mount's descriptor over a socket: see handover.h. Source: unix(7), SCM_RIGHTS. */
#include "cli/handover.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/* A message of one device number and one descriptor. */
struct parcel {
	struct msghdr head;
	struct iovec part;
	dev_t device;
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
};

static void parcel_init(struct parcel *p)
{
	memset(p, 0, sizeof(*p));
	p->part = (struct iovec){ .iov_base = &p->device, .iov_len = sizeof(p->device) };
	p->head = (struct msghdr){ .msg_iov = &p->part, .msg_iovlen = 1,
				   .msg_control = p->control,
				   .msg_controllen = sizeof(p->control) };
}

int handover_wait(int socket)
{
	char byte;
	ssize_t n;

	do
		n = recv(socket, &byte, 1, 0);
	while (n < 0 && errno == EINTR);
	return n == 1 ? 0 : -ECONNABORTED;
}

int handover_give(int socket, int fd, dev_t device)
{
	struct parcel p;
	struct cmsghdr *c;

	parcel_init(&p);
	p.device = device;
	c = CMSG_FIRSTHDR(&p.head);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(socket, &p.head, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int handover_take(int socket, int *ret_fd, dev_t *ret_device)
{
	struct parcel p;
	struct cmsghdr *c;
	ssize_t n;

	if (send(socket, "", 1, MSG_NOSIGNAL) < 0)
		return -ECONNABORTED;
	parcel_init(&p);
	do
		n = recvmsg(socket, &p.head, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	c = n == sizeof(p.device) ? CMSG_FIRSTHDR(&p.head) : NULL;
	if (!c || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(sizeof(*ret_fd)))
		return -ECONNABORTED;
	memcpy(ret_fd, CMSG_DATA(c), sizeof(*ret_fd));
	*ret_device = p.device;
	return 0;
}
