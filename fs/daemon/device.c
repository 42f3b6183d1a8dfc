/* SPDX-License-Identifier: MIT */
/*
 * Reading and writing the device ourselves: see device.h. Only the greeting is looked at, which
 * is the first request and the first reply of a connection. Source: linux/fuse.h,
 * FUSE_HANDLE_KILLPRIV_V2 and FUSE_PARALLEL_DIROPS.
 */
#include "daemon/device.h"

#include <fcntl.h>
#include <linux/fuse.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#if defined(HAVE_FUSE_CUSTOM_IO) && !defined(FUSE_CAP_HANDLE_KILLPRIV_V2)

/* What this libfuse does not answer, the second although it is wanted (seen with 3.14.0). */
#define LEFT_OUT (FUSE_HANDLE_KILLPRIV_V2 | FUSE_PARALLEL_DIROPS)

/* A process serves one connection. */
static _Atomic uint64_t greeting; /* unique number of the greeting, until it is answered */
static _Atomic uint32_t offered;  /* in it, of LEFT_OUT */

static ssize_t device_read(int fd, void *buf, size_t size, void *userdata)
{
	ssize_t n = read(fd, buf, size);
	const struct fuse_in_header *h = buf;
	const struct fuse_init_in *in = (const void *)(h + 1);

	if (n >= (ssize_t)(sizeof(*h) + offsetof(struct fuse_init_in, flags) + sizeof(in->flags)) &&
	    h->opcode == FUSE_INIT) {
		atomic_store(&offered, in->flags & LEFT_OUT);
		atomic_store(&greeting, h->unique);
	}
	return n;
}

/* Is it the answer to the greeting, and a good one? */
static bool is_answer(const struct iovec *v, int count)
{
	uint64_t unique = atomic_load_explicit(&greeting, memory_order_relaxed);
	const struct fuse_out_header *h = v->iov_base;

	return unique && count == 2 && h->unique == unique && !h->error &&
	       v[1].iov_len >= offsetof(struct fuse_init_out, flags) + sizeof(uint32_t) &&
	       v[1].iov_len <= sizeof(struct fuse_init_out);
}

static ssize_t device_writev(int fd, struct iovec *v, int count, void *userdata)
{
	struct fuse_init_out out;
	struct iovec more[2];

	if (!is_answer(v, count))
		return writev(fd, v, count);
	atomic_store(&greeting, 0);
	memcpy(&out, v[1].iov_base, v[1].iov_len);
	out.flags |= atomic_load(&offered);
	more[0] = v[0];
	more[1] = (struct iovec){ .iov_base = &out, .iov_len = v[1].iov_len };
	return writev(fd, more, 2);
}

static ssize_t device_splice(int from, off_t *off_in, int to, off_t *off_out, size_t size,
			     unsigned flags, void *userdata)
{
	return splice(from, off_in, to, off_out, size, flags);
}

void device_extend(struct fuse_session *fuse)
{
	static const struct fuse_custom_io io = {
		.read = device_read,
		.writev = device_writev,
		.splice_receive = device_splice,
		.splice_send = device_splice,
	};

	/* if libfuse does not want it, it goes on by itself */
	(void)fuse_session_custom_io(fuse, &io, fuse_session_fd(fuse));
}

#else

void device_extend(struct fuse_session *fuse)
{
}

#endif

/* As in linux/fuse.h, which may be older than the kernel. */
enum { NOTIFY_INVAL_ENTRY = 3, NOTIFY_PRUNE = 9, EXPIRE_ONLY = 1 };

struct inval_entry_out {
	uint64_t dir;
	uint32_t name_len;
	uint32_t flags;
};

struct prune_out {
	uint32_t n;
	uint32_t padding;
	uint64_t spare;
	uint64_t id;
};

/* What is not known need not be told; so failures are none. */
static void notify(struct fuse_session *fuse, int code, void *arg, size_t size, const char *name)
{
	size_t len = name ? strlen(name) + 1 : 0;
	struct fuse_out_header h = {
		.len = (uint32_t)(sizeof(h) + size + len),
		.error = code,
	};
	struct iovec v[] = {
		{ .iov_base = &h, .iov_len = sizeof(h) },
		{ .iov_base = arg, .iov_len = size },
		{ .iov_base = (void *)name, .iov_len = len },
	};

	(void)!writev(fuse_session_fd(fuse), v, name ? 3 : 2);
}

void device_expire_entry(struct fuse_session *fuse, uint64_t dir, const char *name)
{
	struct inval_entry_out out = {
		.dir = dir,
		.name_len = (uint32_t)strlen(name),
		.flags = EXPIRE_ONLY,
	};

	notify(fuse, NOTIFY_INVAL_ENTRY, &out, sizeof(out), name);
}

void device_prune(struct fuse_session *fuse, uint64_t id)
{
	struct prune_out out = { .n = 1, .id = id };

	notify(fuse, NOTIFY_PRUNE, &out, sizeof(out), NULL);
}
