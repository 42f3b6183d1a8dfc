/* SPDX-License-Identifier: MIT */
/*
 * One event, one line. Where lines go: stderr while a command runs in the foreground, syslog or a
 * file once the daemon is detached. SPECFS_DEBUG=topic,topic (or "all") turns debug topics on.
 */
#ifndef SPECFS_BASE_LOG_H
#define SPECFS_BASE_LOG_H

#include <stdarg.h>
#include <stdbool.h>

enum log_level { LOG_LEVEL_ERR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/** log_open - name the program and read SPECFS_DEBUG; @name is kept by pointer */
void log_open(const char *name);

/** log_to_fd - send lines to @fd from now on (borrowed), or to stderr with -1 */
void log_to_fd(int fd);

/** log_quiet - lowest level that is still shown; the default is info */
void log_set_level(enum log_level level);

/** log_topic - is debug topic @topic on? */
bool log_topic(const char *topic);

/** log_write - one line at @level; see log_warn() and its like */
void log_write(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** log_err - log at err, with ": strerror(-@r)" appended, and return @r, a negative errno */
int log_err(int r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define log_warn(...) log_write(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info(...) log_write(LOG_LEVEL_INFO, __VA_ARGS__)

/** log_debug - one line of @topic, if it is on; costs one comparison otherwise */
#define log_debug(topic, ...)                                                                      \
	do {                                                                                       \
		if (log_debug_on && log_topic(topic))                                              \
			log_write(LOG_LEVEL_DEBUG, topic ": " __VA_ARGS__);                        \
	} while (0)

extern bool log_debug_on;

#endif
