/* SPDX-License-Identifier: MIT */
/* The growing string: see strbuf.h. */
#include "base/strbuf.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

char strbuf_empty[1] = "";

void strbuf_init(struct strbuf *sb)
{
	*sb = (struct strbuf)STRBUF_INIT;
}

void strbuf_clear(struct strbuf *sb)
{
	if (sb->cap)
		free(sb->buf);
	strbuf_init(sb);
}

void strbuf_reset(struct strbuf *sb)
{
	strbuf_truncate(sb, 0);
	sb->failed = false;
}

void strbuf_truncate(struct strbuf *sb, size_t len)
{
	if (len >= sb->len)
		return;
	sb->len = len;
	sb->buf[len] = '\0';
}

/* Make room for @extra more bytes and the NUL. */
static bool strbuf_grow(struct strbuf *sb, size_t extra)
{
	size_t need = sb->len + extra + 1;
	size_t cap = sb->cap ? sb->cap : 64;
	char *p;

	if (sb->failed)
		return false;
	if (extra > PTRDIFF_MAX - sb->len - 1) {
		sb->failed = true;
		return false;
	}
	if (need <= sb->cap)
		return true;
	while (cap < need)
		cap *= 2;
	p = realloc(sb->cap ? sb->buf : NULL, cap);
	if (!p) {
		sb->failed = true;
		return false;
	}
	if (!sb->cap)
		p[0] = '\0';
	sb->buf = p;
	sb->cap = cap;
	return true;
}

void strbuf_add(struct strbuf *sb, const void *data, size_t len)
{
	if (!len || !strbuf_grow(sb, len))
		return;
	memcpy(sb->buf + sb->len, data, len);
	sb->len += len;
	sb->buf[sb->len] = '\0';
}

void strbuf_adds(struct strbuf *sb, const char *s)
{
	strbuf_add(sb, s, strlen(s));
}

void strbuf_addc(struct strbuf *sb, char c)
{
	strbuf_add(sb, &c, 1);
}

void strbuf_vaddf(struct strbuf *sb, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	if (n < 0)
		sb->failed = true;
	else if (strbuf_grow(sb, (size_t)n)) {
		vsnprintf(sb->buf + sb->len, (size_t)n + 1, fmt, again);
		sb->len += (size_t)n;
	}
	va_end(again);
}

void strbuf_addf(struct strbuf *sb, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(sb, fmt, ap);
	va_end(ap);
}

int strbuf_failed(const struct strbuf *sb)
{
	return sb->failed ? -ENOMEM : 0;
}

char *strbuf_detach(struct strbuf *sb)
{
	char *s = NULL;

	if (!sb->failed)
		s = sb->cap ? sb->buf : strdup("");
	if (sb->failed && sb->cap)
		free(sb->buf);
	strbuf_init(sb);
	return s;
}
