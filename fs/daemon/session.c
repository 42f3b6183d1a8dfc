/* SPDX-License-Identifier: MIT */
/* A mounted view from session_new() to its end: see session.h. */
#include "daemon/session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "daemon/binder.h"
#include "daemon/control.h"
#include "daemon/device.h"
#include "daemon/inval.h"
#include "daemon/mounted.h"
#include "daemon/redirects.h"
#include "daemon/reread.h"
#include "daemon/socket.h"
#include "daemon/stop.h"
#include "daemon/uring.h"
#include "daemon/workers.h"
#include "ops/parts.h"

/* The last line that libfuse said: why it could not mount. */
static char said[256];

static void hear(enum fuse_log_level level, const char *fmt, va_list ap)
{
	if (level == FUSE_LOG_DEBUG) {
		vfprintf(stderr, fmt, ap);
		return;
	}
	vsnprintf(said, sizeof(said), fmt, ap);
	said[strcspn(said, "\n")] = '\0';
	log_debug("fuse", "%s", said);
}

int session_open_device(struct diag *d)
{
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	int err = errno;

	if (fd >= 0)
		return fd;
	if (err == ENOENT)
		return diag_add(d, -ENOENT, NULL, 0,
				"there is no /dev/fuse: load the kernel module (modprobe fuse), or "
				"give it to the container (--device /dev/fuse)");
	if (err == ENODEV || err == ENXIO)
		return diag_add(d, -ENOENT, NULL, 0,
				"/dev/fuse has no driver: load the kernel module (modprobe fuse)");
	if (geteuid() == 0)
		return diag_add(d, -EACCES, NULL, 0,
				"/dev/fuse may not be opened: give it to the container "
				"(--device /dev/fuse --cap-add SYS_ADMIN)");
	/* fusermount3 could, but libfuse opens it itself before it asks for help */
	return diag_add(d, -EACCES, NULL, 0,
			"no permission for /dev/fuse: it must be readable and writable for you "
			"(as root: chmod 666 /dev/fuse)");
}

static int check_device(struct diag *d)
{
	cleanup_fd int fd = session_open_device(d);

	return fd < 0 ? fd : 0;
}

static bool is_on_path(const char *program)
{
	cleanup_strbuf struct strbuf file = STRBUF_INIT;
	const char *path = getenv("PATH");

	for (const char *p = path ? path : "/usr/bin:/bin"; *p; p += *p == ':') {
		size_t len = strcspn(p, ":");

		strbuf_reset(&file);
		strbuf_add(&file, p, len);
		strbuf_addf(&file, "/%s", program);
		if (strbuf_failed(&file) == 0 && access(file.buf, X_OK) == 0)
			return true;
		p += len;
	}
	return false;
}

static int check_helper(struct diag *d)
{
	if (geteuid() == 0)
		return 0;
	if (!is_on_path("fusermount3"))
		return diag_add(d, -ENOENT, NULL, 0,
				"there is no fusermount3 on PATH, which mounts for ordinary "
				"users: install the package fuse3");
	/* it would mount, and then find nothing to unmount */
	if (access("/etc/mtab", F_OK) < 0)
		return diag_add(d, -ENOENT, NULL, 0,
				"there is no /etc/mtab, without which fusermount3 does not "
				"unmount (as root: ln -s /proc/self/mounts /etc/mtab)");
	return 0;
}

/* A comma would end the option. */
static void add_value(struct strbuf *sb, const char *key, const char *value)
{
	strbuf_addf(sb, ",%s=", key);
	for (; *value; value++) {
		if (*value == ',' || *value == '\\')
			strbuf_addc(sb, '\\');
		strbuf_addc(sb, *value);
	}
}

static int make_options(const struct session *s, const struct session_options *o, struct strbuf *sb)
{
	strbuf_adds(sb, "default_permissions,subtype=specfs");
	add_value(sb, "fsname", s->source);
	if (o->allow_other)
		strbuf_adds(sb, ",allow_other");
	if (o->allow_root && !o->allow_other)
		strbuf_adds(sb, ",allow_root");
	if (o->noexec)
		strbuf_adds(sb, ",noexec");
	if (o->readonly)
		strbuf_adds(sb, ",ro");
	if (o->io_uring)
		strbuf_adds(sb, ",io_uring");
	return strbuf_failed(sb);
}

static int make_fuse(struct session *s, const struct session_options *o)
{
	cleanup_strbuf struct strbuf options = STRBUF_INIT;
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	struct fuse_lowlevel_ops ops = server_ops;
	int r = make_options(s, o, &options);

	if (r < 0)
		return r;
	if (fuse_opt_add_arg(&args, "specfs") < 0 || fuse_opt_add_arg(&args, "-o") < 0 ||
	    fuse_opt_add_arg(&args, options.buf) < 0 ||
	    (o->debug_fuse && fuse_opt_add_arg(&args, "-d") < 0)) {
		fuse_opt_free_args(&args);
		return -ENOMEM;
	}
	if (o->events)
		echo_ops(&ops);
	s->fuse = fuse_session_new(&args, &ops, sizeof(ops), s->srv);
	fuse_opt_free_args(&args);
	return s->fuse ? 0 : -ENOMEM;
}

/* Longer than any mount lives: what the kernel knows stays true until it is told otherwise. */
static const double FOREVER_SEC = 1e9;

static void config_of(const struct session_options *o, struct server_config *ret)
{
	*ret = (struct server_config){
		.timeout_sec = o->cache == CACHE_TTL ? o->ttl_sec : 0,
		.cache_listings = o->cache != CACHE_STRICT,
		.auto_inval = true,
		.readonly = o->readonly,
	};
}

static void tell_ready(struct session *s)
{
	if (s->ready_fd < 0)
		return;
	if (write(s->ready_fd, "", 1) != 1)
		log_warn("nobody waits for '%s' to be mounted any more", s->mountpoint);
	close(s->ready_fd);
	s->ready_fd = -1;
}

/* The kernel has said hello: requests are answered from now on. Mounting in the view makes some. */
static void begin_ready(void *arg, const struct fuse_conn_info *conn)
{
	struct session *s = arg;

	s->io_uring = s->io_uring && uring_is_on(conn);
	if (binder_begin(s, tell_ready) < 0)
		tell_ready(s);
}

static int content(void *arg, const char *name, struct strbuf *ret)
{
	return control_content(arg, name, ret);
}

static int stale_attr(void *arg, uint64_t id)
{
	struct session *s = arg;

	return fuse_lowlevel_notify_inval_inode(s->fuse, id, -1, 0);
}

/* Let the kernel cache for ever if it can be told of changes, else let it ask each time. */
static void begin_auto(struct session *s)
{
	int r = inval_new(s->srv, s->fuse, &s->inval);

	if (r < 0) {
		log_warn("changes of the layers can't be watched (%s): caching is off, as with "
			 "-o cache=strict", strerror(-r));
		s->srv->config.cache_listings = false;
		return;
	}
	inval_reread(s->inval, s->reread);
	s->srv->config.timeout_sec = FOREVER_SEC;
	s->srv->config.auto_inval = false;
}

static int init(struct session *s, const struct session_options *o)
{
	struct server_config config;
	int r;

	s->mountpoint = strdup(o->mountpoint);
	s->source = strdup(o->source ? o->source : "specfs");
	if (!s->mountpoint || !s->source)
		return -ENOMEM;
	limits_set(o->max_threads, &s->limits);
	config_of(o, &config);
	r = server_new(s->view, &config, s->limits.files, &s->srv);
	if (r < 0)
		return r;
	s->srv->arg = s;
	s->srv->on_init = begin_ready;
	s->srv->content = content;
	s->srv->stale_attr = stale_attr;
	r = make_fuse(s, o);
	if (!r)
		r = reread_new(s, &s->reread);
	if (!r && s->cache == CACHE_AUTO)
		begin_auto(s);
	if (!r && !s->inval)
		r = inval_new_unwatched(s->srv, s->fuse, &s->sizes);
	return r;
}

/* What fusermount3 wrote to its stderr, in place of what libfuse made of its failure. */
static void take_words(int fd)
{
	ssize_t n = read(fd, said, sizeof(said) - 1);

	if (n > 0) {
		said[n] = '\0';
		said[strcspn(said, "\n")] = '\0';
	}
}

/* Mounts; what a helper has to say then is for the caller to tell, in its own line. */
static int mount_fuse(struct session *s)
{
	cleanup_fd int own = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
	cleanup_fd int in = -1, out = -1;
	int ends[2], r;

	said[0] = '\0';
	if (own < 0 || pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	in = ends[0];
	out = ends[1];
	if (dup2(out, STDERR_FILENO) < 0)
		return -errno;
	r = fuse_session_mount(s->fuse, s->mountpoint);
	if (dup2(own, STDERR_FILENO) < 0)
		return -errno;
	if (r < 0)
		take_words(in);
	return r < 0 ? -EACCES : 0;
}

static int mount_here(struct session *s, struct diag *d)
{
	int r = mount_fuse(s);

	if (r < 0)
		return diag_add(d, r, NULL, 0, "cannot mount at '%s': %s", s->mountpoint,
				said[0] ? said : strerror(-r));
	s->mounted = true;
	s->device = mounted_device(s->mountpoint);
	return 0;
}

/* The mount is there already, where we do not see it. */
static int take_over(struct session *s, const struct session_options *o, struct diag *d)
{
	char path[32];

	snprintf(path, sizeof(path), "/dev/fd/%d", o->mounted_fd);
	if (fuse_session_mount(s->fuse, path) < 0)
		return diag_add(d, -EBADF, NULL, 0, "cannot take over the mount: %s", said);
	s->device = o->device;
	return 0;
}

/* A view without them is a view, too. */
static void start_events(struct session *s)
{
	int r = s->inval ? events_new(s->srv, s->mountpoint, s->device, &s->events) : -EOPNOTSUPP;

	if (r < 0)
		log_warn("programs that watch in '%s' are not told of changes underneath: %s",
			 s->mountpoint, strerror(-r));
	else
		inval_repeat(s->inval, s->events);
}

int session_new(struct view *v, const struct session_options *o, struct diag *d,
		struct session **ret)
{
	cleanup_session struct session *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->view = v;
	s->cache = o->cache;
	s->ttl_sec = o->ttl_sec;
	s->readonly = o->readonly;
	s->io_uring = o->io_uring;
	s->on_rules = o->on_rules;
	s->on_rules_arg = o->on_rules_arg;
	s->ready_fd = -1;
	clock_gettime(CLOCK_REALTIME, &s->started);
	r = o->io_uring ? uring_check(d) : 0;
	if (!r && o->mounted_fd < 0)
		r = check_device(d);
	if (!r && o->mounted_fd < 0)
		r = check_helper(d);
	if (r < 0)
		return r;
	fuse_set_log_func(hear);
	umask(0);
	r = init(s, o);
	if (r < 0)
		return diag_add(d, r, NULL, 0, "cannot set up the mount: %s", strerror(-r));
	redirects_prepare(s, o);
	r = o->mounted_fd < 0 ? mount_here(s, d) : take_over(s, o, d);
	if (r < 0)
		return r;
	device_extend(s->fuse);
	if (o->events)
		start_events(s);
	*ret = steal_ptr(&s);
	return 0;
}

/* Nothing is asked for: what was kept for the next request only keeps others from unmounting. */
static void at_rest(void *arg)
{
	struct session *s = arg;

	(void)parts_drop(s->srv->parts); /* if there was any */
}

static int run_workers(struct session *s)
{
	s->srv->keep_parts = true;
	return workers_run(s->fuse, s->limits.threads, at_rest, s);
}

/* With io_uring the rings are libfuse's, and so are the threads. */
static int loop(struct session *s)
{
#if FUSE_USE_VERSION >= 312
	struct fuse_loop_config *c;
	int r;

	if (!s->io_uring)
		return run_workers(s);
	c = fuse_loop_cfg_create();
	if (!c)
		return -ENOMEM;
	fuse_loop_cfg_set_max_threads(c, s->limits.threads);
	fuse_loop_cfg_set_idle_threads(c, s->limits.threads);
	r = fuse_session_loop_mt(s->fuse, c);
	fuse_loop_cfg_destroy(c);
	return r < 0 ? r : 0;
#else
	return run_workers(s);
#endif
}

static void *age(void *arg)
{
	struct session *s = arg;

	while (slots_age(s->srv->slots, true))
		;
	return NULL;
}

/* Return once everything done before is visible, the profile's edits included. */
static int sync_all(struct session *s, struct diag *d)
{
	cleanup_strv struct strv places = STRV_INIT;
	int r = 0;

	if (s->inval)
		r = inval_sync(s->inval);
	else
		(void)reread_now(s->reread, REREAD_IF_DUE, &places); /* the verdict tells */
	if (s->cache == CACHE_TTL) {
		struct timespec ttl = { .tv_sec = (time_t)s->ttl_sec + 1 };

		while (nanosleep(&ttl, &ttl) < 0 && errno == EINTR)
			;
	}
	return r < 0 ? r : reread_verdict(s->reread, d);
}

/* A command that came through the control socket. */
static int command(void *arg, const char *line, struct diag *d)
{
	struct session *s = arg;

	if (!strncmp(line, "redirect ", 9))
		return redirects_command(s, line + 9, d);
	return strcmp(line, "sync") ? -EINVAL : sync_all(s, d);
}

/* Listen for commands; a view without a scratch directory has no place for that. */
static void begin_control(struct session *s)
{
	cleanup_fd int fd = -1;
	int r;

	if (!s->view->scratch)
		return;
	fd = open(s->view->scratch, O_PATH | O_DIRECTORY | O_CLOEXEC);
	r = fd < 0 ? -errno : socket_begin(fd, command, s, &s->socket);
	if (r < 0)
		log_warn("no control socket in '%s' (%s): 'specfs sync' will not work",
			 s->view->scratch, strerror(-r));
}

int session_loop(struct session *s, int ready_fd)
{
	int r;

	s->ready_fd = ready_fd;
	r = stop_begin(s);
	if (r < 0)
		return log_err(r, "cannot wait for signals");
	r = -pthread_create(&s->ager, NULL, age, s);
	if (r < 0) {
		stop_end(s);
		return log_err(r, "cannot start a thread");
	}
	if (s->mounted)
		inval_mounted(session_teller(s), s->mountpoint, s->device);
	r = inval_begin(session_teller(s));
	if (r < 0) {
		slots_stop(s->srv->slots);
		pthread_join(s->ager, NULL);
		stop_end(s);
		return log_err(r, "cannot start a thread");
	}
	redirects_log(s);
	if (s->events && events_begin(s->events) < 0)
		log_warn("cannot start a thread: programs that watch in '%s' are not told of "
			 "changes underneath", s->mountpoint);
	if (reread_begin(s->reread) < 0)
		log_warn("cannot start a thread: edits of the profile are seen by 'specfs sync' "
			 "only");
	begin_control(s);
	log_debug("daemon", "%u threads, %zu files", s->limits.threads, s->limits.files);
	r = loop(s);
	socket_end(s->socket);
	inval_end(session_teller(s));
	reread_end(s->reread); /* after who may start its thread */
	slots_stop(s->srv->slots);
	pthread_join(s->ager, NULL);
	stop_end(s);
	if (r < 0)
		return log_err(r, "the connection to the kernel broke");
	return 0;
}

/*
 * May we unmount by path? Not if another's mount is there: ours may have gone from here while it is
 * still alive in another namespace.
 */
static bool is_ours(const struct session *s)
{
	struct pollfd p = { .fd = fuse_session_fd(s->fuse) };
	dev_t there = mounted_device(s->mountpoint);

	/* with the connection gone libfuse only tidies up */
	return !there || there == s->device || (poll(&p, 1, 0) == 1 && (p.revents & POLLERR));
}

void session_free(struct session *s)
{
	if (!s)
		return;
	if (s->mounted && is_ours(s))
		fuse_session_unmount(s->fuse);
	binder_end(s->binder); /* with the device closed it waits for nobody */
	if (s->ready_fd >= 0)
		close(s->ready_fd);
	redirect_end_all(s->view);
	inval_free(session_teller(s));
	reread_free(s->reread);
	events_free(s->events);
	if (s->fuse)
		fuse_session_destroy(s->fuse);
	server_free(s->srv);
	free(s->mountpoint);
	free(s->source);
	free(s);
}
