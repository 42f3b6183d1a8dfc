/* SPDX-License-Identifier: MIT */
/*
 * What git tracks: see tracked.h. git replaces its index as a whole, so an open one never changes.
 * Source: gitformat-index(5), versions 2 to 4.
 */
#include "layer/tracked.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "layer/layer.h"

enum {
	MARK_STRIDE = 128, /* entries from one mark to the next */
	BUFFER = 1 << 15,  /* more than the longest entry, and than most strides */
	HEADER = 12,       /* before the first entry */
	FLAGS_AT = 60,     /* in an entry, whose fixed part ends with them */
	FIXED = 62,
	FLAG_EXTENDED = 0x4000, /* two more bytes of flags follow */
	ENTRY_MIN = 80,         /* bytes there are from any entry on: a hash ends the file */
};

/* Where reading may go on: after an entry of that name. */
struct mark {
	uint64_t offset;
	char *name;
};

struct tracked {
	int dir_fd; /* -1: there is no index */
	char *file;
	struct object seen; /* its stat when it was opened; all zero: there was none */
	int fd;
	uint32_t version;
	uint32_t n; /* entries */
	struct mark *marks;
	size_t n_marks;

	/* the entry that was read last */
	uint32_t done; /* entries up to it */
	uint64_t offset; /* behind it */
	size_t name_len;
	char name[PATH_MAX];

	uint64_t buffer_at;
	size_t buffer_len;
	unsigned char buffer[BUFFER];
};

/* Let go of the index that is open. */
static void end(struct tracked *t)
{
	for (size_t i = 0; i < t->n_marks; i++)
		free(t->marks[i].name);
	free(t->marks);
	t->marks = NULL;
	t->n_marks = 0;
	t->n = 0;
	t->buffer_len = 0;
	if (t->fd >= 0)
		close(steal_fd(&t->fd));
}

void tracked_free(struct tracked *t)
{
	if (!t)
		return;
	end(t);
	if (t->dir_fd >= 0)
		close(t->dir_fd);
	free(t->file);
	free(t);
}

static uint32_t number(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* The bytes at @offset, at least @want; NULL if there are fewer. */
static const unsigned char *bytes(struct tracked *t, uint64_t offset, size_t want)
{
	uint64_t skip = offset - t->buffer_at;
	ssize_t n;

	if (offset >= t->buffer_at && skip + want <= t->buffer_len)
		return t->buffer + skip;
	do
		n = pread(t->fd, t->buffer, sizeof(t->buffer), (off_t)offset);
	while (n < 0 && errno == EINTR);
	t->buffer_at = offset;
	t->buffer_len = n < 0 ? 0 : (size_t)n;
	return want <= t->buffer_len ? t->buffer : NULL;
}

/* Open the index anew if it is another one by now; until it can be read, it has nothing. */
static int refresh(struct tracked *t)
{
	const unsigned char *p;
	struct object now;

	if (t->dir_fd < 0 || object_stat(t->dir_fd, t->file, &now) < 0)
		now = (struct object){ 0 };
	if (object_unchanged(&t->seen, &now))
		return 0;
	end(t);
	t->seen = now;
	if (!S_ISREG(now.st.st_mode))
		return 0;
	t->fd = openat(t->dir_fd, t->file, O_RDONLY | O_CLOEXEC);
	if (t->fd < 0)
		return errno == ENOENT ? 0 : -errno;
	/* what is open may be newer than what was seen: then it is opened once more */
	p = bytes(t, 0, HEADER);
	if (!p || memcmp(p, "DIRC", 4))
		return -EINVAL;
	t->version = number(p + 4);
	if (t->version < 2 || t->version > 4)
		return -EINVAL;
	t->n = number(p + 8);
	return 0;
}

int tracked_open(const char *path, struct tracked **ret)
{
	cleanup_tracked struct tracked *t = calloc(1, sizeof(*t));
	const char *slash = strrchr(path, '/');
	cleanup_free char *dir = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	int r;

	if (!t || !dir)
		return -ENOMEM;
	t->fd = t->dir_fd = -1;
	t->file = strdup(slash ? slash + 1 : path);
	if (!t->file)
		return -ENOMEM;
	t->dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	r = refresh(t);
	if (r < 0)
		return r;
	*ret = steal_ptr(&t);
	return 0;
}

/* How many bytes of the name before are not in this one's; *@p goes behind it. */
static size_t cut(const unsigned char **p)
{
	size_t n = **p & 0x7f;

	for (int i = 0; *(*p)++ & 0x80 && i < 4; i++)
		n = ((n + 1) << 7) | (**p & 0x7f);
	return n;
}

static void add_mark(struct tracked *t)
{
	struct mark *more;
	struct mark m = { .offset = t->offset };

	if (t->done % MARK_STRIDE || t->done / MARK_STRIDE != t->n_marks + 1)
		return;
	m.name = strdup(t->name);
	more = m.name ? reallocarray(t->marks, t->n_marks + 1, sizeof(*more)) : NULL;
	if (!more) {
		free(m.name); /* then there is more to read next time */
		return;
	}
	t->marks = more;
	t->marks[t->n_marks++] = m;
}

/* Read the next entry. Returns false at the end, and where the index makes no sense. */
static bool next(struct tracked *t)
{
	const unsigned char *p = t->done < t->n ? bytes(t, t->offset, ENTRY_MIN) : NULL;
	const unsigned char *text;
	const unsigned char *nul;
	size_t keep = 0;
	size_t left;
	size_t len;

	if (!p)
		return false;
	text = p + FIXED;
	if (t->version >= 3 && (p[FLAGS_AT] << 8 & FLAG_EXTENDED))
		text += 2;
	if (t->version == 4) {
		size_t gone = cut(&text);

		if (gone > t->name_len)
			return false;
		keep = t->name_len - gone;
	}
	left = t->buffer_len - (size_t)(text - t->buffer);
	nul = memchr(text, 0, left);
	if (!nul && p != t->buffer) {
		t->buffer_len = 0; /* the entry goes on beyond the buffer: from its beginning */
		return next(t);
	}
	len = nul ? (size_t)(nul - text) : 0;
	if (!len || keep + len >= sizeof(t->name))
		return false;
	memcpy(t->name + keep, text, len + 1);
	t->name_len = keep + len;
	len = (size_t)(nul - p);
	t->offset += t->version == 4 ? len + 1 : (len + 8) & ~(size_t)7;
	t->done++;
	add_mark(t);
	return true;
}

/* Go on reading behind the last mark before @key. */
static void go_before(struct tracked *t, const char *key)
{
	size_t low = 0;
	size_t high = t->n_marks;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (strcmp(t->marks[mid].name, key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	t->done = (uint32_t)low * MARK_STRIDE;
	t->offset = low ? t->marks[low - 1].offset : HEADER;
	t->name_len = low ? strlen(t->marks[low - 1].name) : 0;
	memcpy(t->name, low ? t->marks[low - 1].name : "", t->name_len + 1);
}

/* The first name that does not come before @key, or NULL. Names are in the order of strcmp(3). */
static const char *first_from(struct tracked *t, const char *key)
{
	go_before(t, key);
	while (next(t))
		if (strcmp(t->name, key) >= 0)
			return t->name;
	return NULL;
}

bool tracked_has(struct tracked *t, const char *path)
{
	cleanup_strbuf struct strbuf below = STRBUF_INIT;
	const char *name;

	(void)refresh(t); /* an index that can't be read has nothing */
	name = first_from(t, path);
	if (!name || !strcmp(name, path))
		return name != NULL;
	strbuf_addf(&below, "%s/", path);
	if (strbuf_failed(&below) < 0)
		return false;
	name = first_from(t, below.buf);
	return name && !strncmp(name, below.buf, below.len);
}
