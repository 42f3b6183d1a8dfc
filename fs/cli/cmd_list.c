/* SPDX-License-Identifier: MIT */
/* specfs list: every view that is mounted on this machine. A dead one does not hold it up. */
#include <errno.h>
#include <string.h>

#include "cli/command.h"
#include "cli/report.h"
#include "cli/serving.h"

static const struct option_row rows[] = {
	OPTION_ROW_JSON,
	OPTION_ROW_HELP,
};

static json_t *to_json(const struct mount_entry *m, const struct serving *s)
{
	cleanup_json json_t *o = json_object();
	json_t *backends = json_object_get(s->record, "backends");

	if (!o || json_object_set_new(o, "mountpoint", json_text(m->at)) ||
	    json_object_set_new(o, "root", json_text(m->source)) ||
	    json_object_set(o, "backends", backends ? backends : json_null()) ||
	    json_object_set_new(o, "profile", json_text(json_get_text(s->record, "profile"))) ||
	    json_object_set_new(o, "scratch", json_text(json_get_text(s->record, "scratch"))) ||
	    json_object_set_new(o, "pid", s->pid ? json_integer(s->pid) : json_null()) ||
	    json_object_set_new(o, "user", json_integer(m->user)) ||
	    json_object_set_new(o, "state", json_string(serving_word(s))))
		return NULL;
	return steal_ptr(&o);
}

static int add_row(struct columns *c, const struct mount_entry *m, const struct serving *s)
{
	cleanup_strbuf struct strbuf chain = STRBUF_INIT;
	cleanup_strv struct strv backends = STRV_INIT;
	char pid[24] = "";
	int r = json_get_strv(s->record, "backends", &backends);

	for (size_t i = 0; i < backends.n; i++)
		strbuf_addf(&chain, "%s%s", i ? "," : "", backends.v[i]);
	if (s->pid)
		snprintf(pid, sizeof(pid), "%ld", (long)s->pid);
	r = r < 0 ? r : strbuf_failed(&chain);
	r = r < 0 ? r : columns_add(c, m->at);
	r = r < 0 ? r : columns_add(c, chain.buf);
	r = r < 0 ? r : columns_add(c, pid);
	r = r < 0 ? r : columns_add(c, serving_word(s));
	return r < 0 ? r : columns_add(c, m->source);
}

static int add_head(struct columns *c)
{
	static const char *const heads[] = { "MOUNTPOINT", "BACKEND", "PID", "STATE", "ROOT" };
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(heads) && r >= 0; i++)
		r = columns_add(c, heads[i]);
	return r;
}

/* Adds each view to @c, or to array @a if there is one. Returns how many, or a negative errno. */
static int gather(const struct mount_table *t, struct columns *c, json_t *a)
{
	int n = 0, r = 0;

	for (size_t i = 0; i < t->n && r >= 0; i++) {
		cleanup_serving struct serving s = { 0 };

		if (!mount_is_view(&t->v[i]))
			continue;
		serving_find(&t->v[i], &s);
		if (a)
			r = json_array_append_new(a, to_json(&t->v[i], &s)) ? -ENOMEM : 0;
		else
			r = !n ? add_head(c) : 0;
		if (!a && r >= 0)
			r = add_row(c, &t->v[i], &s);
		n++;
	}
	return r < 0 ? r : n;
}

static int run(void *args, const struct strv *words)
{
	const struct command_args *common = args;
	cleanup_mount_table struct mount_table t = { 0 };
	struct columns c = { .n = 5 };
	json_t *a = common->json ? json_array() : NULL;
	int r = mount_table_read(&t);

	(void)words; /* it takes none */
	r = r < 0 ? r : gather(&t, &c, a);
	if (r < 0)
		json_decref(a);
	else if (a)
		r = print_json(a);
	else
		columns_print(&c);
	columns_clear(&c);
	return r < 0 ? fault("cannot read the mount table: %s", strerror(-r)) : EXIT_OK;
}

const struct command cmd_list = {
	.name = "list",
	.words = "",
	.summary = "list the mounted views of this machine",
	.options = OPTION_TABLE(rows),
	.args_size = sizeof(struct command_args),
	.run = run,
};
