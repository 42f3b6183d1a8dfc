/* SPDX-License-Identifier: MIT */
/* A stack for tests: see stackfix.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stackfix.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "layer/mark.h"
#include "tree.h"

static char *below(struct fix *f, const char *dir, const char *path)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_addf(&sb, "%s/%s%s%s", f->tmp, dir, *path ? "/" : "", path);
	return strbuf_detach(&sb);
}

int fix_setup(void **state)
{
	struct fix *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	stack_init(&f->st);
	strbuf_init(&f->out);
	f->tmp = tree_tmp();
	tree_make(f->tmp, "trunk/", "scratch/", NULL);
	f->rules.profile = &f->profile;
	f->rules.rules = f->rule;
	*state = f;
	return 0;
}

int fix_teardown(void **state)
{
	struct fix *f = *state;

	stack_clear(&f->st);
	for (size_t i = 0; i < f->rules.n_rules; i++)
		rule_clear(&f->rule[i]);
	strv_clear(&f->profile.hide);
	strv_clear(&f->profile.hide_links);
	strbuf_clear(&f->out);
	tree_remove(f->tmp);
	free(f->tmp);
	free(f);
	return 0;
}

struct rule *fix_rule(struct fix *f, enum rule_kind kind, const char *at, const char *from)
{
	struct rule *r = &f->rule[f->rules.n_rules++];

	assert_true(f->rules.n_rules <= FIX_RULES);
	r->kind = kind;
	r->name = strdup("map test");
	r->backend = strdup("b");
	r->at = strdup(at);
	r->from = strdup(from ? from : "");
	return r;
}

static void add_layer(struct fix *f, enum layer_kind kind, const char *dir, const char *from,
		      const struct rule *rule)
{
	struct layer l = { .kind = kind, .rule = rule, .in_root = rule != NULL };
	char *base = below(f, dir, "");

	l.base_fd = open(base, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(l.base_fd >= 0);
	l.label = strdup(dir);
	l.path = below(f, dir, from);
	l.dir = strdup(from);
	free(base);
	assert_true(stack_add(&f->st, &l) >= 0);
}

void fix_settle(struct fix *f)
{
	static const enum layer_kind kind[] = {
		[RULE_MAP] = LAYER_SPEC,
		[RULE_GRAFT] = LAYER_GRAFT,
		[RULE_LINK] = LAYER_GENERATED,
		[RULE_FILE] = LAYER_GENERATED,
	};
	char *root = below(f, "trunk", "");

	f->st.rules = &f->rules;
	f->st.root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	free(root);
	assert_true(f->st.root_fd >= 0);
	add_layer(f, LAYER_SCRATCH, "scratch", "", NULL);
	for (size_t i = 0; i < f->rules.n_rules; i++)
		add_layer(f, kind[f->rule[i].kind], "trunk", f->rule[i].from, &f->rule[i]);
	add_layer(f, LAYER_TRUNK, "trunk", "", NULL);
	assert_int_equal(stack_settle(&f->st), 0);
}

int fix_lookup(struct fix *f, const char *path)
{
	return stack_lookup(&f->st, path, &f->f);
}

const char *fix_text(struct fix *f, const char *path)
{
	int fd;

	strbuf_reset(&f->out);
	assert_int_equal(fix_lookup(f, path), 0);
	if (f->f.virtual) {
		strbuf_adds(&f->out, stack_virtual_content(&f->st, &f->f));
		return f->out.buf;
	}
	fd = stack_open_file(&f->st, path, &f->f, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(fd_read_all(fd, 4096, &f->out), 0);
	close(fd);
	return f->out.buf;
}

const char *fix_names(struct fix *f, const char *path)
{
	struct listing *l = NULL;
	struct strv names = STRV_INIT;
	struct dirset ds;

	dirset_init(&ds);
	assert_int_equal(fix_lookup(f, path), 0);
	assert_int_equal(stack_open_dir(&f->st, path, f->f.parts, &ds), 0);
	assert_int_equal(listing_read(&f->st, &ds, &l), 0);
	for (size_t i = 0; i < l->n; i++) {
		struct found child;

		assert_int_equal(stack_child(&f->st, &ds, l->v[i].name, &child), 0);
		assert_int_equal(child.st.st_ino, l->v[i].ino);
		assert_int_equal(IFTODT(child.st.st_mode), l->v[i].type);
		assert_int_equal(listing_seek(l, l->v[i].offset), i + 1);
		assert_int_equal(strv_add(&names, l->v[i].name), 0);
	}
	strv_sort(&names);
	strbuf_reset(&f->out);
	for (size_t i = 0; i < names.n; i++)
		strbuf_addf(&f->out, "%s%s", i ? " " : "", names.v[i]);
	strv_clear(&names);
	listing_free(l);
	dirset_close(&ds);
	return f->out.buf;
}

void fix_mark(struct fix *f, const char *path, const char *mark)
{
	char *full = below(f, "scratch", path);
	int fd = open(full, O_PATH | O_CLOEXEC);

	free(full);
	assert_true(fd >= 0);
	assert_int_equal(mark_set(fd, mark), 0);
	close(fd);
}

void fix_whiteout(struct fix *f, const char *path)
{
	char *full = below(f, "scratch", path);
	int fd = open(full, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);

	free(full);
	assert_true(fd >= 0);
	assert_int_equal(mark_set(fd, MARK_WHITEOUT), 0);
	assert_int_equal(fchmod(fd, MARK_WHITEOUT_MODE & 07777), 0);
	close(fd);
}
