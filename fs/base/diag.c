/* SPDX-License-Identifier: MIT */
/* Messages for the user: see diag.h. */
#include "base/diag.h"

#include <stdarg.h>

#include "base/strbuf.h"

int diag_add(struct diag *d, int r, const char *file, unsigned line, const char *fmt, ...)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;
	va_list ap;

	if (file && line)
		strbuf_addf(&sb, "%s:%u: ", file, line);
	else if (file)
		strbuf_addf(&sb, "%s: ", file);
	va_start(ap, fmt);
	strbuf_vaddf(&sb, fmt, ap);
	va_end(ap);
	if (!strbuf_failed(&sb))
		(void)strv_add(&d->lines, sb.buf); /* out of memory: the code @r still tells */
	return r;
}

void diag_clear(struct diag *d)
{
	strv_clear(&d->lines);
}
