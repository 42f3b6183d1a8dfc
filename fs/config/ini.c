/* SPDX-License-Identifier: MIT */
/*
 * INI files: see ini.h. inih takes the lines from our reader, which looks at each one first: a line
 * that inih would cut or misread is reported and replaced by an empty one. Headers are reported
 * from here too, because inih tells nothing about a section without values.
 */
#include "config/ini.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <string.h>

enum {
	FILE_MAX_BYTES = 1 << 20,
	SECTION_MAX_BYTES = 49, /* inih 55, MAX_SECTION with its NUL */
};

struct reader {
	struct ini_place at;
	const struct ini_handler *handler;
	void *arg;
	const char *pos; /* next line of the text */
	const char *end;
	bool in_section;
	bool section_is_faulty; /* its values cannot be judged */
	bool told_crlf;
	bool indented; /* the line that was read last */
	char *key;     /* of the last value; NULL after a header */
	int err;       /* -EINVAL, or what ends the reading */
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static bool is_over(const struct reader *rd)
{
	return rd->err < 0 && rd->err != -EINVAL;
}

static void note(struct reader *rd, int r)
{
	if (r < 0 && !is_over(rd))
		rd->err = r;
}

static void trim(char *s)
{
	size_t len = strlen(s);

	while (len && is_blank(s[len - 1]))
		s[--len] = '\0';
}

/* @line is a header: its kind and name are reported, what is wrong with it too. */
static void read_header(struct reader *rd, const char *line)
{
	char text[SECTION_MAX_BYTES + 1];
	char *kind;
	size_t len = strcspn(line + 1, "]");
	const char *rest;
	char *name;

	free(rd->key);
	rd->key = NULL;
	rd->in_section = true;
	rd->section_is_faulty = true;
	if (line[1 + len] != ']') {
		note(rd, ini_fault(&rd->at, "a section header without its ']', expected '[kind]' "
					    "or '[kind name]'"));
		return;
	}
	if (len > SECTION_MAX_BYTES) {
		note(rd, ini_fault(&rd->at, "a section header of %zu bytes, expected at most %d",
				   len, SECTION_MAX_BYTES));
		return;
	}
	rest = line + len + 2;
	rest += strspn(rest, " \t");
	if (*rest && *rest != ';' && *rest != '#') {
		note(rd,
		     ini_fault(&rd->at, "'%s' after the section header, expected nothing", rest));
		return;
	}
	memcpy(text, line + 1, len);
	text[len] = '\0';
	trim(text);
	kind = text + strspn(text, " \t");
	name = kind + strcspn(kind, " \t");
	if (*name)
		*name++ = '\0';
	rd->section_is_faulty = false;
	note(rd, rd->handler->section(rd->arg, &rd->at, kind, name + strspn(name, " \t")));
}

/* Look at one line before inih does; false if it must not see it. */
static bool line_is_sound(struct reader *rd, const char *line, size_t len, size_t max)
{
	size_t indent = 0;

	if (memchr(line, '\0', len)) {
		note(rd, ini_fault(&rd->at, "a NUL byte, expected text"));
		return false;
	}
	if (len && line[len - 1] == '\r' && !rd->told_crlf) {
		rd->told_crlf = true;
		note(rd,
		     ini_fault(&rd->at, "the line ends with a carriage return, expected newlines "
					"alone throughout the file"));
	}
	if (len > max) {
		note(rd, ini_fault(&rd->at,
				   "a line of %zu bytes, expected at most %zu: a list may go "
				   "on in indented lines",
				   len, max));
		return false;
	}
	while (indent < len && is_blank(line[indent]))
		indent++;
	if (indent == len || line[indent] == ';' || line[indent] == '#')
		return false;
	if (indent && !rd->key) {
		if (!rd->section_is_faulty)
			note(rd,
			     ini_fault(&rd->at, "an indented line with no value above it to go on "
						"with, expected 'key = value' at its beginning"));
		return false;
	}
	return true;
}

/* inih's fgets: the next line into @buf, or "" in place of one that it shall not see. */
static char *next_line(char *buf, int size, void *arg)
{
	struct reader *rd = arg;
	size_t max = (size_t)size - 2;
	size_t len;
	const char *nl;

	if (rd->pos >= rd->end || is_over(rd))
		return NULL;
	nl = memchr(rd->pos, '\n', (size_t)(rd->end - rd->pos));
	len = (size_t)((nl ? nl : rd->end) - rd->pos);
	rd->at.line++;
	buf[0] = '\0';
	if (line_is_sound(rd, rd->pos, len, max)) {
		memcpy(buf, rd->pos, len);
		buf[len] = '\0';
		trim(buf);
		rd->indented = is_blank(buf[0]);
		if (buf[0] == '[') {
			read_header(rd, buf);
			if (rd->section_is_faulty)
				buf[0] = '\0';
		}
	}
	rd->pos = nl ? nl + 1 : rd->end;
	return buf;
}

/* inih has taken a value from the line that was read last. */
static int got_value(void *arg, const char *section, const char *key, const char *value)
{
	struct reader *rd = arg;

	(void)section; /* read_header() has told it */
	if (is_over(rd) || (rd->in_section && rd->section_is_faulty))
		return 1;
	if (!rd->in_section) {
		note(rd, ini_fault(&rd->at,
				   "'%s' stands before the first section, expected a header "
				   "such as '[profile]' above it",
				   key));
		return 1;
	}
	if (!rd->indented) {
		free(rd->key);
		rd->key = strdup(key);
		if (!rd->key) {
			note(rd, -ENOMEM);
			return 1;
		}
	}
	note(rd, rd->handler->value(rd->arg, &rd->at, rd->key, value, rd->indented));
	return 1;
}

static int read_text(const char *file, struct diag *d, struct strbuf *text)
{
	cleanup_fd int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int r = fd < 0 ? -errno : fd_read_all(fd, FILE_MAX_BYTES, text);

	if (r == -EFBIG)
		return diag_add(d, r, file, 0, "a profile of more than %d bytes", FILE_MAX_BYTES);
	if (r < 0)
		return diag_add(d, r, file, 0, "cannot read: %s", strerror(-r));
	return 0;
}

int ini_read_file(const char *file, struct diag *d, const struct ini_handler *h, void *arg)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;
	struct reader rd = { .at = { d, file, 0 }, .handler = h, .arg = arg };
	int r = read_text(file, d, &text);

	if (r < 0)
		return r;
	if (!strncmp(text.buf, "\xef\xbb\xbf", 3))
		return diag_add(d, -EINVAL, file, 1,
				"a byte order mark, expected UTF-8 without one");
	rd.pos = text.buf;
	rd.end = text.buf + text.len;
	r = ini_parse_stream(next_line, &rd, got_value, &rd);
	free(rd.key);
	if (is_over(&rd))
		return rd.err;
	if (r < 0)
		return -ENOMEM;
	if (r > 0)
		return diag_add(d, -EINVAL, file, (unsigned)r,
				"neither a '[section]' nor a comment, "
				"expected 'key = value'");
	return rd.err;
}
