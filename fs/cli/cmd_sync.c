/* SPDX-License-Identifier: MIT */
/* specfs sync: return when every change of the layers made so far is seen in the mount. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/fd.h"
#include "cli/command.h"
#include "cli/look.h"
#include "cli/place.h"
#include "cli/report.h"

enum { REPLY_MAX = 4096 };

struct sync_args {
	struct command_args common;
};

static const struct option_row rows[] = {
	OPTION_ROW_HELP,
};

/* Ask the daemon and read its one line. Returns 0 if it says "ok", or a negative errno. */
static int ask(const char *scratch, const char *line, struct strbuf *reply)
{
	cleanup_fd int dir = open(scratch, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int r;

	if (dir < 0 || fd < 0)
		return -errno;
	snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/control", dir);
	if (connect(fd, (const struct sockaddr *)&a, sizeof(a)) < 0)
		return -errno;
	r = fd_write_all(fd, line, strlen(line));
	return r < 0 ? r : fd_read_all(fd, REPLY_MAX, reply);
}

static int sync_view(const struct mount_entry *m, const struct serving *s)
{
	cleanup_strbuf struct strbuf reply = STRBUF_INIT;
	const char *scratch = json_string_value(json_object_get(s->record, "scratch"));
	int r = scratch ? ask(scratch, "sync\n", &reply) : -ENOENT;

	if (r < 0)
		return fault("the daemon of '%s' does not answer at '%s/control': %s", m->at,
			     scratch ? scratch : "", strerror(-r));
	if (!strcmp(reply.buf, "ok\n"))
		return EXIT_OK;
	reply.buf[strcspn(reply.buf, "\n")] = '\0';
	return fault("'%s' could not be brought up to date: the daemon said '%s'", m->at,
		     reply.buf);
}

static int run(void *args, const struct strv *words)
{
	cleanup_mount_table struct mount_table t = { 0 };
	cleanup_diag struct diag d = DIAG_INIT;
	cleanup_strbuf struct strbuf at = STRBUF_INIT;
	cleanup_serving struct serving s = { 0 };
	const struct mount_entry *m;
	int r = mount_table_read(&t);

	(void)args;
	if (r < 0)
		return fault("cannot read the mount table: %s", strerror(-r));
	r = place_locate(&t, "mountpoint", words->v[0], &d, &at);
	r = r < 0 ? r : look_find_view(&t, at.buf, &d, &m, &s);
	return r < 0 ? fault_diag(&d, r) : sync_view(m, &s);
}

const struct command cmd_sync = {
	.name = "sync",
	.words = "MOUNTPOINT",
	.summary = "return when every change made to the layers is seen",
	.about = "Changes are seen by themselves, on a quiet machine within 50 milliseconds. Those "
		 "that no watch can see, through shared maps or another name of a hard link, are "
		 "looked for too.",
	.options = OPTION_TABLE(rows),
	.min_words = 1,
	.max_words = 1,
	.args_size = sizeof(struct sync_args),
	.run = run,
};
