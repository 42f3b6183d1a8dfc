/* SPDX-License-Identifier: MIT */
/* Who serves a mounted view: see serving.h. */
#include "cli/serving.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "cli/probe.h"
#include "cli/process.h"

enum { PROBE_LIMIT_MS = 3000 };

void serving_clear(struct serving *s)
{
	json_decref(s->record);
	*s = (struct serving){ 0 };
}

static bool is_specfs(pid_t pid)
{
	cleanup_strbuf struct strbuf name = STRBUF_INIT;

	process_name(pid, &name);
	return !strcmp(name.buf, "specfs");
}

/* The record that a running process of ours has for @m. */
static json_t *record_among_processes(const struct mount_entry *m)
{
	cleanup_dir DIR *dir = opendir("/proc");
	pid_t pid;

	while (dir && (pid = process_next(dir)) > 0) {
		json_t *record = is_specfs(pid) ? record_of_process(pid) : NULL;

		if (record && record_fits(record, m))
			return record;
		json_decref(record);
	}
	return NULL;
}

static void ask_mount(const struct mount_entry *m, struct serving *ret)
{
	int r = probe_stat(m->at, PROBE_LIMIT_MS);

	if (r == 0)
		ret->state = SERVING_ALIVE;
	else if (r == -ETIMEDOUT)
		ret->state = SERVING_SILENT;
	else if (r == -ENOTCONN || r == -ECONNABORTED)
		ret->state = SERVING_DEAD;
	else
		ret->state = SERVING_UNKNOWN;
}

void serving_find(const struct mount_entry *m, struct serving *ret)
{
	static const enum serving_state of_process[] = {
		[PROCESS_GONE] = SERVING_DEAD,
		[PROCESS_RUNS] = SERVING_ALIVE,
		[PROCESS_DYING] = SERVING_DYING,
	};

	*ret = (struct serving){ .record = record_of_mount(m) };
	if (!ret->record)
		ret->record = record_among_processes(m);
	if (ret->record) {
		ret->pid = record_pid(ret->record);
		ret->start = record_start(ret->record);
	}
	if (ret->pid)
		ret->state = of_process[process_state(ret->pid, ret->start)];
	else
		ask_mount(m, ret);
}

bool serving_is_lost(const struct serving *s)
{
	return s->state == SERVING_DEAD || s->state == SERVING_DYING;
}

const char *serving_word(const struct serving *s)
{
	static const char *const words[] = {
		[SERVING_ALIVE] = "alive",
		[SERVING_DEAD] = "dead",
		[SERVING_DYING] = "dead",
		[SERVING_SILENT] = "not answering",
		[SERVING_UNKNOWN] = "unknown",
	};

	return words[s->state];
}
