/* SPDX-License-Identifier: MIT */
/* The log: see log.h. A line is written by one write(2), so that threads do not mix. */
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"

bool log_debug_on;

static const char *log_name = "specfs";
static const char *log_topics;
static int log_fd = STDERR_FILENO;
static enum log_level log_level = LOG_LEVEL_INFO;

void log_open(const char *name)
{
	log_name = name;
	log_topics = getenv("SPECFS_DEBUG");
	log_debug_on = log_topics && *log_topics;
}

void log_to_fd(int fd)
{
	log_fd = fd < 0 ? STDERR_FILENO : fd;
}

void log_set_level(enum log_level level)
{
	log_level = level;
}

bool log_topic(const char *topic)
{
	size_t len = strlen(topic);

	if (!log_topics)
		return false;
	for (const char *p = log_topics; *p; p += strcspn(p, ","), p += *p == ',') {
		size_t n = strcspn(p, ",");

		if ((n == len && !strncmp(p, topic, n)) || (n == 3 && !strncmp(p, "all", 3)))
			return true;
	}
	return false;
}

static void emit(enum log_level level, int err, const char *fmt, va_list ap)
{
	static const char *const word[] = { "error: ", "warning: ", "", "debug: " };
	cleanup_strbuf struct strbuf line = STRBUF_INIT;
	ssize_t n;

	strbuf_addf(&line, "%s: %s", log_name, word[level]);
	strbuf_vaddf(&line, fmt, ap);
	if (err)
		strbuf_addf(&line, ": %s", strerror(err));
	strbuf_addc(&line, '\n');
	n = write(log_fd, line.buf, line.len);
	(void)n; /* there is no other place to say that the log cannot be written */
}

void log_write(enum log_level level, const char *fmt, ...)
{
	va_list ap;

	if (level > log_level && level != LOG_LEVEL_DEBUG)
		return;
	va_start(ap, fmt);
	emit(level, 0, fmt, ap);
	va_end(ap);
}

int log_err(int r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	emit(LOG_LEVEL_ERR, -r, fmt, ap);
	va_end(ap);
	return r;
}
