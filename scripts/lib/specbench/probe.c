/* SPDX-License-Identifier: MIT */
/*
 * The workloads of scripts/bench whose single steps are too short to be timed from Python. Each is
 * done once in a tree and prints how long it took, in nanoseconds, then how many steps it had.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { CHUNK = 1 << 20, PAGE = 4096, SMALL = 1500, PER_DIR = 100, PATH_BYTES = 4096 };

static char chunk[CHUNK];
static uint64_t steps;
static volatile uint64_t sum; /* so that what is read is not left out */

static void die(const char *what, ...)
{
	int err = errno;
	va_list ap;

	va_start(ap, what);
	vfprintf(stderr, what, ap);
	va_end(ap);
	fprintf(stderr, ": %s\n", strerror(err));
	exit(1);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int open_or_die(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0644);

	if (fd < 0)
		die("%s", path);
	return fd;
}

/* ------------------------------------------------------------------ trees */

enum look { LOOK_LIST, LOOK_STAT, LOOK_READ };

static void read_file(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ssize_t n;

	if (fd < 0 && errno == ELOOP)
		return;
	if (fd < 0)
		die("%s", name);
	while ((n = read(fd, chunk, sizeof(chunk))) > 0)
		sum += (uint64_t)n;
	if (n < 0)
		die("%s", name);
	close(fd);
}

static void walk(int at, const char *name, enum look look)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	struct stat st;

	if (!d)
		die("%s", name);
	while ((e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		steps++;
		if (look == LOOK_STAT && fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			die("%s", e->d_name);
		if (e->d_type == DT_DIR)
			walk(fd, e->d_name, look);
		else if (look == LOOK_READ)
			read_file(fd, e->d_name);
	}
	closedir(d);
}

static void walk_all(int n, char **v, enum look look)
{
	for (int i = 0; i < n; i++)
		walk(AT_FDCWD, v[i], look);
}

/* Ask for names that are in none of the directories; @tag makes them new. */
static void missing(int n, char **v, const char *tag, int each)
{
	char path[PATH_BYTES];
	struct stat st;

	for (int k = 0; k < each; k++) {
		for (int i = 0; i < n; i++, steps++) {
			snprintf(path, sizeof(path), "%s/no-%s-%d.h", v[i], tag, k);
			if (!stat(path, &st) || errno != ENOENT)
				die("%s is there", path);
		}
	}
}

/* ------------------------------------------------------------------ small files */

static const char *small_name(char *path, const char *top, int i, const char *suffix)
{
	snprintf(path, PATH_BYTES, "%s/%d/file-%d%s", top, i / PER_DIR, i, suffix);
	return path;
}

static void small_files(const char *top, int n)
{
	char a[PATH_BYTES], b[PATH_BYTES];

	for (int i = 0; i < n; i++) {
		int fd = open_or_die(small_name(a, top, i, ".tmp"), O_WRONLY | O_CREAT | O_EXCL);

		if (write(fd, chunk, SMALL) != SMALL || close(fd) < 0)
			die("%s", a);
	}
	for (int i = 0; i < n; i++)
		if (rename(small_name(a, top, i, ".tmp"), small_name(b, top, i, ".o")) < 0)
			die("%s", a);
	for (int i = 0; i < n; i++)
		if (unlink(small_name(b, top, i, ".o")) < 0)
			die("%s", b);
	steps = (uint64_t)n * 4;
}

static void small_dirs(const char *top, int n, int make)
{
	char path[PATH_BYTES];

	for (int i = 0; i < n; i += PER_DIR) {
		snprintf(path, sizeof(path), "%s/%d", top, i / PER_DIR);
		if ((make ? mkdir(path, 0755) : rmdir(path)) < 0)
			die("%s", path);
	}
}

/* ------------------------------------------------------------------ a large file */

static void read_all(int fd)
{
	ssize_t n;

	while ((n = read(fd, chunk, sizeof(chunk))) > 0)
		steps++;
	if (n < 0)
		die("read");
}

static void write_new(const char *path, int mib)
{
	int fd = open_or_die(path, O_WRONLY | O_CREAT | O_TRUNC);

	for (int i = 0; i < mib; i++, steps++)
		if (write(fd, chunk, sizeof(chunk)) != (ssize_t)sizeof(chunk))
			die("%s", path);
	if (close(fd) < 0)
		die("%s", path);
}

static void random_io(int fd, int n, int write)
{
	off_t pages = lseek(fd, 0, SEEK_END) / PAGE;
	uint64_t x = 88172645463325252u;

	for (int i = 0; i < n; i++, steps++) {
		off_t at;
		ssize_t done;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		at = (off_t)(x % (uint64_t)pages) * PAGE;
		done = write ? pwrite(fd, chunk, PAGE, at) : pread(fd, chunk, PAGE, at);
		if (done != PAGE)
			die("random access");
	}
}

static void read_map(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	const char *p = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		die("mmap");
	for (off_t at = 0; at < size; at += PAGE, steps++)
		sum += (uint64_t)p[at];
	munmap((void *)p, (size_t)size);
}

static void drop(const char *path)
{
	int fd = open_or_die(path, O_RDONLY);

	if (fsync(fd) < 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
		die("%s", path);
	close(fd);
}

/* ------------------------------------------------------------------ */

static int file_work(const char *what, const char *path, int n)
{
	int writes = !strcmp(what, "random-write");
	int fd;

	if (!strcmp(what, "write")) {
		write_new(path, n);
		return 0;
	}
	fd = open_or_die(path, writes ? O_RDWR : O_RDONLY);
	if (!strcmp(what, "sequential"))
		read_all(fd);
	else if (!strcmp(what, "random") || writes)
		random_io(fd, n, writes);
	else if (!strcmp(what, "map"))
		read_map(fd);
	else
		return -1;
	close(fd);
	return 0;
}

static int tree_work(int argc, char **argv)
{
	const char *what = argv[1];

	if (!strcmp(what, "list"))
		walk_all(argc - 2, argv + 2, LOOK_LIST);
	else if (!strcmp(what, "stat"))
		walk_all(argc - 2, argv + 2, LOOK_STAT);
	else if (!strcmp(what, "read"))
		walk_all(argc - 2, argv + 2, LOOK_READ);
	else if (!strcmp(what, "missing"))
		missing(argc - 4, argv + 4, argv[2], atoi(argv[3]));
	else
		return -1;
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t start;
	int r;

	if (argc < 3)
		return 2;
	if (!strcmp(argv[1], "drop")) {
		drop(argv[2]);
		return 0;
	}
	memset(chunk, 'x', sizeof(chunk));
	if (!strcmp(argv[1], "small"))
		small_dirs(argv[2], atoi(argv[3]), 1);
	start = now();
	if (!strcmp(argv[1], "small")) {
		small_files(argv[2], atoi(argv[3]));
		r = 0;
	} else {
		r = tree_work(argc, argv);
		if (r < 0)
			r = file_work(argv[1], argv[2], argc > 3 ? atoi(argv[3]) : 0);
	}
	if (r < 0)
		return 2;
	printf("%llu %llu\n", (unsigned long long)(now() - start), (unsigned long long)steps);
	if (!strcmp(argv[1], "small"))
		small_dirs(argv[2], atoi(argv[3]), 0);
	return 0;
}
