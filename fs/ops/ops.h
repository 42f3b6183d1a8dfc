/* SPDX-License-Identifier: MIT */
/* The ops, as server_ops lists them; each is in the file named at its group. */
#ifndef SPECFS_OPS_OPS_H
#define SPECFS_OPS_OPS_H

#include "ops/server.h"

/* op_lookup.c */
void op_lookup(fuse_req_t req, fuse_ino_t dir, const char *name);
void op_forget(fuse_req_t req, fuse_ino_t id, uint64_t count);
void op_forget_multi(fuse_req_t req, size_t n, struct fuse_forget_data *v);
void op_getattr(fuse_req_t req, fuse_ino_t id, struct fuse_file_info *fi);
void op_readlink(fuse_req_t req, fuse_ino_t id);
void op_statfs(fuse_req_t req, fuse_ino_t id);

/* op_dir.c */
void op_opendir(fuse_req_t req, fuse_ino_t id, struct fuse_file_info *fi);
void op_readdir(fuse_req_t req, fuse_ino_t id, size_t size, off_t offset,
		struct fuse_file_info *fi);
void op_readdirplus(fuse_req_t req, fuse_ino_t id, size_t size, off_t offset,
		    struct fuse_file_info *fi);
void op_fsyncdir(fuse_req_t req, fuse_ino_t id, int datasync, struct fuse_file_info *fi);

/* op_file.c */
void op_open(fuse_req_t req, fuse_ino_t id, struct fuse_file_info *fi);
void op_create(fuse_req_t req, fuse_ino_t dir, const char *name, mode_t mode,
	       struct fuse_file_info *fi);
#ifdef HAVE_FUSE_TMPFILE
void op_tmpfile(fuse_req_t req, fuse_ino_t dir, mode_t mode, struct fuse_file_info *fi);
#endif
void op_fsync(fuse_req_t req, fuse_ino_t id, int datasync, struct fuse_file_info *fi);
void op_fallocate(fuse_req_t req, fuse_ino_t id, int mode, off_t offset, off_t length,
		  struct fuse_file_info *fi);
void op_lseek(fuse_req_t req, fuse_ino_t id, off_t offset, int whence, struct fuse_file_info *fi);
void op_copy_file_range(fuse_req_t req, fuse_ino_t id_in, off_t off_in,
			struct fuse_file_info *fi_in, fuse_ino_t id_out, off_t off_out,
			struct fuse_file_info *fi_out, size_t len, int flags);
void op_ioctl(fuse_req_t req, fuse_ino_t id, unsigned cmd, void *arg, struct fuse_file_info *fi,
	      unsigned flags, const void *in, size_t in_size, size_t out_size);

/* op_data.c */
void op_read(fuse_req_t req, fuse_ino_t id, size_t size, off_t offset, struct fuse_file_info *fi);
void op_write_buf(fuse_req_t req, fuse_ino_t id, struct fuse_bufvec *in, off_t offset,
		  struct fuse_file_info *fi);

/* op_setattr.c */
void op_setattr(fuse_req_t req, fuse_ino_t id, struct stat *st, int valid,
		struct fuse_file_info *fi);

/* op_name.c */
void op_mknod(fuse_req_t req, fuse_ino_t dir, const char *name, mode_t mode, dev_t rdev);
void op_mkdir(fuse_req_t req, fuse_ino_t dir, const char *name, mode_t mode);
void op_symlink(fuse_req_t req, const char *text, fuse_ino_t dir, const char *name);
void op_link(fuse_req_t req, fuse_ino_t id, fuse_ino_t dir, const char *name);
void op_unlink(fuse_req_t req, fuse_ino_t dir, const char *name);
void op_rmdir(fuse_req_t req, fuse_ino_t dir, const char *name);

/* op_rename.c */
void op_rename(fuse_req_t req, fuse_ino_t dir, const char *name, fuse_ino_t new_dir,
	       const char *new_name, unsigned flags);

/* op_xattr.c */
void op_getxattr(fuse_req_t req, fuse_ino_t id, const char *name, size_t size);
void op_listxattr(fuse_req_t req, fuse_ino_t id, size_t size);
void op_setxattr(fuse_req_t req, fuse_ino_t id, const char *name, const char *value, size_t size,
		 int flags);
void op_removexattr(fuse_req_t req, fuse_ino_t id, const char *name);

#endif
