/* SPDX-License-Identifier: MIT */
/* The record of a mounted view: see record.h. */
#include "cli/record.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/log.h"
#include "cli/process.h"
#include "cli/report.h"
#include "layer/view.h"

enum { RECORD_MAX_BYTES = 1 << 20 };

static int pid_namespace(char ret[64])
{
	ssize_t n = readlink("/proc/self/ns/pid", ret, 63);

	if (n < 0)
		return -errno;
	ret[n] = '\0';
	return 0;
}

int record_stamp(json_t *record)
{
	char ns[64] = "";
	int r = pid_namespace(ns);

	if (r < 0)
		return r;
	if (json_object_set_new(record, "pid", json_integer(getpid())) ||
	    json_object_set_new(record, "start",
				json_integer((json_int_t)process_start(getpid()))) ||
	    json_object_set_new(record, "pid_namespace", json_string(ns)))
		return -ENOMEM;
	return 0;
}

static int link_path(json_int_t device, struct strbuf *ret)
{
	int r = view_cache_dir(ret);

	if (r < 0)
		return r;
	strbuf_addf(ret, "/mounts/%lld", (long long)device);
	return strbuf_failed(ret);
}

/* Makes the parents of @path; the first failure shows when the link is made. */
static void make_parents(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(path, 0700); /* usually there already */
		*slash = '/';
	}
}

static int links_dir(struct strbuf *ret)
{
	int r = link_path(0, ret);

	if (!r)
		*strrchr(ret->buf, '/') = '\0';
	return r;
}

int record_open_dir(bool *ret_made)
{
	cleanup_strbuf struct strbuf at = STRBUF_INIT;
	int r = links_dir(&at);
	int fd;

	if (r < 0)
		return r;
	make_parents(at.buf);
	*ret_made = mkdir(at.buf, 0700) == 0;
	fd = open(at.buf, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

void record_remove_dir(void)
{
	cleanup_strbuf struct strbuf at = STRBUF_INIT;

	if (links_dir(&at) == 0)
		(void)rmdir(at.buf); /* stays if another view has a link there by now */
}

static int publish_link(const json_t *record, const char *scratch, int dir_fd)
{
	cleanup_strbuf struct strbuf name = STRBUF_INIT;
	cleanup_strbuf struct strbuf to = STRBUF_INIT;

	if (dir_fd < 0)
		return dir_fd;
	strbuf_addf(&name, "%lld",
		    (long long)json_integer_value(json_object_get(record, "device")));
	strbuf_addf(&to, "%s/lock", scratch);
	if (strbuf_failed(&name) || strbuf_failed(&to))
		return -ENOMEM;
	(void)unlinkat(dir_fd, name.buf, 0); /* of an earlier mount with this number */
	return symlinkat(to.buf, dir_fd, name.buf) < 0 ? -errno : 0;
}

/*
 * The lock file keeps its length, filled up with blanks, and so its place on the disk: a view can
 * be mounted again when the disk is full.
 */
static int overwrite(int lock_fd, const char *text)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;
	struct stat st;

	if (fstat(lock_fd, &st) < 0 || lseek(lock_fd, 0, SEEK_SET) < 0)
		return -errno;
	if (st.st_size > RECORD_MAX_BYTES && ftruncate(lock_fd, 0) < 0)
		return -errno;
	strbuf_adds(&sb, text);
	while (!strbuf_failed(&sb) && (off_t)sb.len < st.st_size && sb.len < RECORD_MAX_BYTES)
		strbuf_addc(&sb, ' ');
	return strbuf_failed(&sb) ? -ENOMEM : fd_write_all(lock_fd, sb.buf, sb.len);
}

int record_publish(const json_t *record, int lock_fd, const char *scratch, int dir_fd)
{
	cleanup_free char *text = json_dumps(record, JSON_INDENT(2));
	int r;

	if (!text)
		return -ENOMEM;
	r = overwrite(lock_fd, text);
	if (r < 0)
		return r;
	r = publish_link(record, scratch, dir_fd);
	if (r < 0)
		log_debug("cli", "no link to the record: %s", strerror(-r));
	return 0;
}

void record_withdraw(const json_t *record, int lock_fd)
{
	cleanup_strbuf struct strbuf at = STRBUF_INIT;
	const char *mountpoint = json_get_text(record, "mountpoint");
	int r;

	if (json_is_true(json_object_get(record, "made_mountpoint")) && mountpoint)
		(void)rmdir(mountpoint); /* stays if somebody put something in it */
	if (link_path(json_integer_value(json_object_get(record, "device")), &at) == 0)
		(void)unlink(at.buf); /* there may be none */
	r = lock_fd < 0 ? 0 : overwrite(lock_fd, "{}");
	if (r < 0)
		log_debug("cli", "the record stays in the lock file: %s", strerror(-r));
}

json_t *record_read(const char *path)
{
	cleanup_strbuf struct strbuf sb = STRBUF_INIT;
	json_t *record;

	if (fd_read_file(AT_FDCWD, path, RECORD_MAX_BYTES, &sb) < 0)
		return NULL;
	record = json_loads(sb.buf, 0, NULL);
	if (json_is_object(record) && json_get_text(record, "mountpoint"))
		return record;
	json_decref(record);
	return NULL;
}

json_t *record_of_scratch(const char *scratch)
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT;

	strbuf_addf(&path, "%s/lock", scratch);
	return strbuf_failed(&path) ? NULL : record_read(path.buf);
}

bool record_fits(const json_t *record, const struct mount_entry *m)
{
	const char *source = json_get_text(record, "root");

	return json_integer_value(json_object_get(record, "device")) == m->minor && source &&
	       !strcmp(source, m->source);
}

json_t *record_of_mount(const struct mount_entry *m)
{
	cleanup_strbuf struct strbuf at = STRBUF_INIT;
	json_t *record;

	if (link_path(m->minor, &at) < 0)
		return NULL;
	record = record_read(at.buf);
	if (record && record_fits(record, m))
		return record;
	json_decref(record);
	return NULL;
}

json_t *record_of_process(pid_t pid)
{
	cleanup_strbuf struct strbuf path = STRBUF_INIT;

	for (unsigned n = 0; process_find_link(pid, "/lock", n, &path) == 0; n++) {
		json_t *record = record_read(path.buf);

		if (record && record_pid(record) == pid)
			return record;
		json_decref(record);
	}
	return NULL;
}

pid_t record_pid(const json_t *record)
{
	const char *ns = json_get_text(record, "pid_namespace");
	char ours[64] = "";

	if (pid_namespace(ours) < 0 || !ns || strcmp(ns, ours))
		return 0;
	return (pid_t)json_integer_value(json_object_get(record, "pid"));
}

uint64_t record_start(const json_t *record)
{
	return (uint64_t)json_integer_value(json_object_get(record, "start"));
}
