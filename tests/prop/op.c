/* SPDX-License-Identifier: MIT */
/* Steps of a run: see op.h. */
#include "op.h"

long op_mtime_nsec(const struct op *o)
{
	return (o->offset * 7919) % 1000000000;
}

void op_print(FILE *out, const struct op *o, const char *where)
{
	static const char *const names[] = {
		[OP_CREATE] = "create", [OP_WRITE] = "write",	  [OP_TRUNCATE] = "truncate",
		[OP_MKDIR] = "mkdir",	[OP_SYMLINK] = "symlink", [OP_LINK] = "link",
		[OP_UNLINK] = "unlink", [OP_RMDIR] = "rmdir",	  [OP_RENAME] = "rename",
		[OP_CHMOD] = "chmod",	[OP_UTIMENS] = "utimens", [OP_PURGE] = "purge",
		[OP_HIDE] = "hide",	[OP_REMOUNT] = "remount",
	};

	fprintf(out, "%-8s %-8s", where, names[o->kind]);
	if (o->kind == OP_REMOUNT || o->kind == OP_HIDE)
		fprintf(out, " ");
	else
		fprintf(out, " '%s'", o->path);
	if (o->kind == OP_LINK || o->kind == OP_RENAME)
		fprintf(out, " -> '%s'", o->to);
	if (o->kind == OP_RENAME && o->flags)
		fprintf(out, o->flags == RENAME_EXCHANGE ? " exchange" : " noreplace");
	if (o->kind == OP_CREATE || o->kind == OP_MKDIR || o->kind == OP_CHMOD)
		fprintf(out, " %04o", o->mode);
	if (o->kind == OP_WRITE || o->kind == OP_TRUNCATE || o->kind == OP_UTIMENS)
		fprintf(out, " @%ld", o->offset);
	if (o->kind == OP_CREATE || o->kind == OP_WRITE || o->kind == OP_SYMLINK)
		fprintf(out, " \"%s\"", o->data);
	for (const char *p = o->kind == OP_HIDE ? o->data : ""; *p; p++)
		fprintf(out, "%c", *p == '\n' ? '|' : *p);
	fprintf(out, "\n");
}

uint64_t rng_next(struct rng *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

unsigned rng_below(struct rng *r, unsigned n)
{
	return (unsigned)(rng_next(r) % n);
}
