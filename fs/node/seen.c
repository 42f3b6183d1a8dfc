/* SPDX-License-Identifier: MIT */
/* Remembering what was found: see seen.h. */
#include "node/seen.h"

void seen_set(struct seen *s, const struct found *f)
{
	const struct stat *st = &f->st;

	*s = (struct seen){
		.key = object_key(&f->obj),
		.ino = st->st_ino,
		.parts = f->parts,
		.rdev = st->st_rdev,
		.size = st->st_size,
		.blocks = st->st_blocks,
		.atime_sec = st->st_atim.tv_sec,
		.mtime_sec = st->st_mtim.tv_sec,
		.ctime_sec = st->st_ctim.tv_sec,
		.atime_nsec = (uint32_t)st->st_atim.tv_nsec,
		.mtime_nsec = (uint32_t)st->st_mtim.tv_nsec,
		.ctime_nsec = (uint32_t)st->st_ctim.tv_nsec,
		.uid = st->st_uid,
		.gid = st->st_gid,
		.nlink = (uint32_t)st->st_nlink,
		.blksize = (uint32_t)st->st_blksize,
		.mode = (uint16_t)st->st_mode,
		.owner_mode = (uint16_t)f->obj.st.st_mode,
		.generation = f->generation,
		.layer = (uint8_t)f->layer,
		.via_link = f->via_link,
		.virtual = f->virtual,
		.implied = f->implied,
		.lent = f->lent,
	};
}

void seen_get(const struct seen *s, struct found *ret)
{
	*ret = (struct found){
		.layer = s->layer,
		.generation = s->generation,
		.st = {
			.st_dev = s->key.dev,
			.st_ino = s->ino,
			.st_mode = s->mode,
			.st_nlink = s->nlink,
			.st_uid = s->uid,
			.st_gid = s->gid,
			.st_rdev = s->rdev,
			.st_size = s->size,
			.st_blksize = (blksize_t)s->blksize,
			.st_blocks = s->blocks,
			.st_atim = { s->atime_sec, s->atime_nsec },
			.st_mtim = { s->mtime_sec, s->mtime_nsec },
			.st_ctim = { s->ctime_sec, s->ctime_nsec },
		},
		.parts = s->parts,
		.via_link = s->via_link,
		.virtual = s->virtual,
		.implied = s->implied,
		.lent = s->lent,
	};
	ret->obj = (struct object){ .st = ret->st, .btime_nsec = s->key.btime_nsec };
	ret->obj.st.st_ino = s->key.ino;
	ret->obj.st.st_mode = s->owner_mode;
}
