/* SPDX-License-Identifier: MIT */
/* A profile that is edited while its view is mounted: see reread.h. */
#include "daemon/reread.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/log.h"
#include "base/path.h"
#include "layer/reload.h"
#include "ops/place.h"

enum { LOOK_MSEC = 1000 };

struct reread {
	struct session *session;        /* constant */
	struct strv redirect;           /* the profile's when the view was mounted; constant */
	pthread_mutex_t one;            /* one exchange at a time; taken before all others */
	pthread_t looker;               /* of `one` until its end, as is: */
	int stop_fd;                    /* of that thread; -1 without one */

	pthread_mutex_t lock;           /* guards what follows; taken after all others */
	char *error;                    /* what is wrong with the file as it is now, or NULL */
};

int reread_new(struct session *s, struct reread **ret)
{
	const struct profile *p = s->view->profile;
	struct reread *rr = calloc(1, sizeof(*rr));

	if (!rr)
		return -ENOMEM;
	rr->session = s;
	rr->stop_fd = -1;
	pthread_mutex_init(&rr->one, NULL);
	pthread_mutex_init(&rr->lock, NULL);
	for (size_t i = 0; p && i < p->redirect.n; i++) {
		if (strv_add(&rr->redirect, p->redirect.v[i]) < 0) {
			reread_free(rr);
			return -ENOMEM;
		}
	}
	*ret = rr;
	return 0;
}

void reread_free(struct reread *rr)
{
	if (!rr)
		return;
	reread_end(rr);
	strv_clear(&rr->redirect);
	free(rr->error);
	pthread_mutex_destroy(&rr->one);
	pthread_mutex_destroy(&rr->lock);
	free(rr);
}

/* Remember what is wrong, or with NULL that nothing is. Returns whether that is news. */
static bool note_error(struct reread *rr, const char *text)
{
	bool news;

	pthread_mutex_lock(&rr->lock);
	news = text && (!rr->error || strcmp(rr->error, text) != 0);
	if (news || !text) {
		free(rr->error);
		rr->error = text ? strdup(text) : NULL;
	}
	pthread_mutex_unlock(&rr->lock);
	return news;
}

/* One line for all that is wrong: the first fault, and how many more there are. */
static int refuse(struct reread *rr, const struct diag *d, int r)
{
	cleanup_strbuf struct strbuf text = STRBUF_INIT;

	strbuf_adds(&text, d->lines.n ? d->lines.v[0] : strerror(-r));
	if (d->lines.n > 1)
		strbuf_addf(&text, " (and %zu more)", d->lines.n - 1);
	if (strbuf_failed(&text) == 0 && note_error(rr, text.buf))
		log_warn("%s: the view keeps the rules that it has", text.buf);
	return r;
}

/* Has the file just been emptied, to be written anew? */
static bool is_emptied(const struct view *v)
{
	struct stat st;

	return stat(v->profile->file, &st) == 0 && !st.st_size;
}

struct exchange {
	struct session *s;
	struct node *root;
	struct reload *reload; /* NULL: forget former layers */
};

/* The root of the view, which everything starts at. If it can't be read just now, each layer may
 * have a part. */
static void find_root(const struct view *v, struct found *ret)
{
	if (stack_root(&v->stack, ret) == 0)
		return;
	*ret = (struct found){
		.layer = v->stack.n - 1,
		.generation = v->stack.generation,
		.st = v->stack.root_st,
		.obj.st = v->stack.root_st,
		.parts = UINT64_MAX >> (STACK_MAX - v->stack.n),
	};
}

/* Nobody else uses the view. */
static void exchange(void *arg, unsigned map[STACK_ALL])
{
	const struct exchange *x = arg;
	struct found root;

	if (x->reload)
		reload_swap(x->s->view, x->reload, map);
	else
		reload_forget(x->s->view, map);
	find_root(x->s->view, &root);
	table_renumber(x->s->srv->table, map, x->root, &root);
}

static void exchange_held(struct session *s, struct reload *reload)
{
	cleanup_node struct node *root = NULL;
	struct exchange x = { .s = s, .reload = reload };
	unsigned map[STACK_ALL];

	if (table_get(s->srv->table, NODE_ROOT, &root) < 0)
		return; /* it is there as long as the table is */
	x.root = root;
	tree_write(s->srv);
	if (reload)
		slots_drop_writers(s->srv->slots);
	if (s->inval)
		follow_renumber(inval_follow(s->inval), exchange, &x);
	else
		exchange(&x, map);
	tree_done(s->srv);
}

/* A layer that holds the mount would be asked for what the mount asks for. */
static int check_mountpoint(const struct session *s, const struct reload *reload, struct diag *d)
{
	int i = s->mounted ? reload_reaches(reload, s->mountpoint) : -1;

	return i < 0 ? 0
		     : reload_refuse_layer(reload, i, "and the mountpoint contain one another, "
						      "expected separate directories", d);
}

static bool other_redirects(const struct reread *rr)
{
	return !strv_equal(&rr->redirect, &rr->session->view->profile->redirect);
}

/* Look at the file; what is new is for the thread that tells the kernel, where there is one. */
static void look(struct reread *rr)
{
	struct session *s = rr->session;
	cleanup_strv struct strv places = STRV_INIT;
	cleanup_reload_mark struct reload_mark mark = { 0 };
	bool due;

	tree_read(s->srv);
	due = reload_mark(s->view, &mark) < 0;
	tree_done(s->srv);
	due |= reload_is_due(&mark);
	if (due && s->inval)
		inval_profile(s->inval);
	else if (due)
		(void)reread_now(rr, REREAD_NOW, &places); /* the kernel keeps nothing */
}

static void *look_run(void *arg)
{
	struct reread *rr = arg;
	struct pollfd p = { .fd = rr->stop_fd, .events = POLLIN };

	while (poll(&p, 1, LOOK_MSEC) <= 0)
		look(rr);
	return NULL;
}

/* Have a thread look at the file now and then, if none does. */
static int start_looking(struct reread *rr)
{
	int r;

	if (rr->stop_fd >= 0)
		return 0;
	rr->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (rr->stop_fd < 0)
		return -errno;
	r = -pthread_create(&rr->looker, NULL, look_run, rr);
	if (r < 0) {
		close(rr->stop_fd);
		rr->stop_fd = -1;
	}
	return r;
}

/* What was read is in force: follow its file, which may be another one, and say so. */
static void announce(struct reread *rr, bool news)
{
	struct session *s = rr->session;

	if (s->inval && strcmp(s->view->profile->file, s->view->former.profile->file) != 0) {
		if (!follow_profile(inval_follow(s->inval)) && start_looking(rr) < 0)
			log_warn("edits of '%s' are seen by 'specfs sync' only",
				 s->view->profile->file);
		inval_profile(s->inval); /* it may have been written before it was followed */
	}
	if (s->on_rules)
		s->on_rules(s->on_rules_arg, s->view);
	if (news)
		log_info("the rules of '%s' are in force: %s%s", s->view->profile->file,
			 s->view->profile_why,
			 other_redirects(rr) ? "; [redirect] takes effect at the next mount" : "");
}

/* What the view shows below a redirected directory is not seen: that leads past the mount. */
static void warn_of_redirects(const struct session *s, const struct strv *places)
{
	struct redirect *list = NULL;
	size_t n = 0;

	if (s->view->redirects)
		(void)redirect_list(s->view->redirects, &list, &n); /* none without memory */
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < places->n && !list[i].why_not; k++)
			if (path_below(places->v[k], list[i].dir))
				log_warn("'%s' is redirected: what the profile has at '%s' is not "
					 "seen before 'specfs redirect remove' or the next mount",
					 list[i].dir, places->v[k]);
	redirect_list_free(list, n);
}

/* Does the file look like another one, or is it known to be faulty? */
static bool is_due(struct reread *rr)
{
	cleanup_reload_mark struct reload_mark mark = { 0 };
	bool faulty;

	pthread_mutex_lock(&rr->lock);
	faulty = rr->error != NULL;
	pthread_mutex_unlock(&rr->lock);
	return faulty || reload_mark(rr->session->view, &mark) < 0 || reload_is_due(&mark);
}

static int read_held(struct reread *rr, enum reread_how how, struct strv *ret_places)
{
	struct session *s = rr->session;
	cleanup_diag struct diag d = DIAG_INIT;
	cleanup_reload struct reload *reload = NULL;
	const struct difference *diff;
	bool news;
	int r;

	if (how == REREAD_IF_DUE && !is_due(rr))
		return 0;
	if (how == REREAD_PATIENT && is_emptied(s->view))
		return -EAGAIN;
	if (s->inval)
		(void)follow_profile(inval_follow(s->inval)); /* if that can't be, we look */
	r = reload_read(s->view, &d, &reload);
	if (!r)
		r = check_mountpoint(s, reload, &d);
	if (r < 0)
		return how == REREAD_PATIENT ? -EAGAIN : refuse(rr, &d, r);
	(void)note_error(rr, NULL);
	if (reload_is_same(s->view, reload))
		return 0;
	diff = reload_difference(reload);
	news = !difference_is_none(diff);
	for (size_t i = 0; i < diff->places.n; i++)
		if (strv_add(ret_places, diff->places.v[i]) < 0)
			return refuse(rr, &d, -ENOMEM);
	exchange_held(s, reload);
	announce(rr, news);
	warn_of_redirects(s, ret_places);
	return 1;
}

int reread_now(struct reread *rr, enum reread_how how, struct strv *ret_places)
{
	int r = 0;

	pthread_mutex_lock(&rr->one);
	if (rr->session->view->profile) /* else it will never have one */
		r = read_held(rr, how, ret_places);
	pthread_mutex_unlock(&rr->one);
	return r;
}

int reread_verdict(struct reread *rr, struct diag *d)
{
	int r = 0;

	pthread_mutex_lock(&rr->lock);
	if (rr->error)
		r = diag_add(d, -EINVAL, NULL, 0, "%s: the view keeps the rules that it has",
			     rr->error);
	pthread_mutex_unlock(&rr->lock);
	return r;
}

void reread_done(struct reread *rr)
{
	struct session *s = rr->session;

	pthread_mutex_lock(&rr->one);
	if (s->inval)
		follow_drop_gone(inval_follow(s->inval));
	if (s->view->stack.n_former)
		exchange_held(s, NULL);
	pthread_mutex_unlock(&rr->one);
}

void reread_tell(struct reread *rr, struct reread_facts *ret)
{
	struct session *s = rr->session;
	cleanup_reload_mark struct reload_mark mark = { 0 };

	tree_read(s->srv);
	*ret = (struct reread_facts){ .redirects = s->view->profile && other_redirects(rr) };
	ret->changed = reload_mark(s->view, &mark) < 0;
	tree_done(s->srv);
	ret->changed |= reload_is_due(&mark);
	pthread_mutex_lock(&rr->lock);
	if (rr->error) {
		ret->error = strdup(rr->error);
		ret->changed = true;
	}
	pthread_mutex_unlock(&rr->lock);
}

void reread_facts_clear(struct reread_facts *f)
{
	free(f->error);
	*f = (struct reread_facts){ 0 };
}

int reread_begin(struct reread *rr)
{
	const struct session *s = rr->session;
	int r = 0;

	pthread_mutex_lock(&rr->one);
	if (s->view->profile && !(s->inval && follow_profile(inval_follow(s->inval))))
		r = start_looking(rr);
	pthread_mutex_unlock(&rr->one);
	return r;
}

void reread_end(struct reread *rr)
{
	uint64_t one = 1;

	if (rr->stop_fd < 0)
		return;
	while (write(rr->stop_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	pthread_join(rr->looker, NULL);
	close(rr->stop_fd);
	rr->stop_fd = -1;
}
