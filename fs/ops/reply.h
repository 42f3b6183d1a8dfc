/* SPDX-License-Identifier: MIT */
/*
 * Replies: each op sends exactly one, with no lock held, for the reply may bring the forget that
 * frees the node.
 */
#ifndef SPECFS_OPS_REPLY_H
#define SPECFS_OPS_REPLY_H

#include "ops/server.h"

/** reply_err - @r: 0 or a negative errno */
void reply_err(fuse_req_t req, int r);

/**
 * reply_entry - tell the kernel of a node that was counted for it, or of failure @r
 *
 * If the reply does not arrive, the node's count is taken back. With -ENOENT the kernel may
 * remember that for @e->entry_timeout.
 */
void reply_entry(struct server *srv, fuse_req_t req, int r, const struct fuse_entry_param *e);

/** reply_created - the same after CREATE */
void reply_created(struct server *srv, fuse_req_t req, int r, const struct fuse_entry_param *e,
		   const struct fuse_file_info *fi);

/** reply_attr - attributes that the kernel may keep for @timeout_sec, or failure @r */
void reply_attr(fuse_req_t req, int r, const struct stat *st, double timeout_sec);

/** reply_size - a number of bytes, or failure @r < 0 */
void reply_size(fuse_req_t req, ssize_t r);

#endif
