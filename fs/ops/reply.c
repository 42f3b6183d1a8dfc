/* SPDX-License-Identifier: MIT */
/* Replies: see reply.h. A reply that cannot be sent belongs to a request that is no more. */
#include "ops/reply.h"

#include <errno.h>

#include "ops/hidden.h"
#include "ops/size.h"

void reply_err(fuse_req_t req, int r)
{
	(void)fuse_reply_err(req, r < 0 ? -r : 0);
}

static void take_back(struct server *srv, uint64_t id)
{
	if (hidden_is(id))
		hidden_forget(srv, id, 1);
	else
		table_forget(srv->table, id, 1);
}

static void reply_known(struct server *srv, fuse_req_t req, const struct fuse_entry_param *e,
			const struct fuse_file_info *fi)
{
	bool again = e->attr_timeout == 0;
	int r;

	if (again)
		size_await(srv, e->ino, &e->attr);
	r = fi ? fuse_reply_create(req, e, fi) : fuse_reply_entry(req, e);
	if (r < 0)
		take_back(srv, e->ino);
	else if (again)
		size_told(srv, e->ino, &e->attr);
}

void reply_entry(struct server *srv, fuse_req_t req, int r, const struct fuse_entry_param *e)
{
	struct fuse_entry_param none = { .entry_timeout = e->entry_timeout };

	if (!r)
		reply_known(srv, req, e, NULL);
	else if (r == -ENOENT && none.entry_timeout > 0)
		(void)fuse_reply_entry(req, &none);
	else
		reply_err(req, r);
}

void reply_created(struct server *srv, fuse_req_t req, int r, const struct fuse_entry_param *e,
		   const struct fuse_file_info *fi)
{
	if (r < 0)
		reply_err(req, r);
	else
		reply_known(srv, req, e, fi);
}

void reply_attr(fuse_req_t req, int r, const struct stat *st, double timeout_sec)
{
	if (r < 0)
		reply_err(req, r);
	else
		(void)fuse_reply_attr(req, st, timeout_sec);
}

void reply_size(fuse_req_t req, ssize_t r)
{
	if (r < 0)
		reply_err(req, (int)r);
	else
		(void)fuse_reply_write(req, (size_t)r);
}
