/* SPDX-License-Identifier: MIT */
/*
 * A growing, always NUL-terminated string. Embed it, start from STRBUF_INIT, end with
 * strbuf_clear(). Out of memory is reported once, by strbuf_failed(), so that a chain of appends
 * needs one check.
 */
#ifndef SPECFS_BASE_STRBUF_H
#define SPECFS_BASE_STRBUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"

struct strbuf {
	char *buf;       /* never NULL once initialised: "" when empty */
	size_t len;      /* bytes, without the NUL */
	size_t cap;      /* bytes allocated; 0: buf is static */
	bool failed;     /* an append ran out of memory; the content is not to be used */
};

extern char strbuf_empty[];

#define STRBUF_INIT { .buf = strbuf_empty }

void strbuf_init(struct strbuf *sb);
/** strbuf_clear - free the content; leaves an empty usable buffer */
void strbuf_clear(struct strbuf *sb);
/** strbuf_reset - make it empty, keep the memory */
void strbuf_reset(struct strbuf *sb);
/** strbuf_truncate - cut to @len bytes; a larger @len changes nothing */
void strbuf_truncate(struct strbuf *sb, size_t len);
void strbuf_add(struct strbuf *sb, const void *data, size_t len);
void strbuf_adds(struct strbuf *sb, const char *s);
void strbuf_addc(struct strbuf *sb, char c);
void strbuf_addf(struct strbuf *sb, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void strbuf_vaddf(struct strbuf *sb, const char *fmt, va_list ap);

/** strbuf_failed - 0, or -ENOMEM if any append since the last reset ran out of memory */
int strbuf_failed(const struct strbuf *sb);

/**
 * strbuf_detach - take the string out
 *
 * Returns a malloc'ed string that the caller frees, or NULL when out of memory. @sb is empty then.
 */
char *strbuf_detach(struct strbuf *sb);

static inline void cleanup_strbuf_p(struct strbuf *sb)
{
	strbuf_clear(sb);
}

#define cleanup_strbuf CLEANUP(cleanup_strbuf_p)

#endif
