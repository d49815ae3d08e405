/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bisect_drive.c - which commit is tried next, how often, and when it is judged
 */
#include <math.h>
#include <string.h>

#include "host/bisect.h"
#include "results/base/cleanup.h"

enum { GOOD_END, BAD_END };

/* struct drive - @prepared: a flag for each step, of this process */
struct drive {
	struct bisect *b;
	const struct bisect_ops *ops;
	struct bisect_git git;
	struct sizes prepared;
};

static void drive_free(struct drive *d)
{
	git_close(&d->git);
	sizes_free(&d->prepared);
}

static void __attribute__((format(printf, 2, 3)))
say(const struct drive *d, const char *fmt, ...)
{
	cleanup_free char *line = NULL;
	va_list ap;

	if (!d->ops->say)
		return;
	va_start(ap, fmt);
	line = xvasprintf(fmt, ap);
	va_end(ap);
	d->ops->say(d->ops->data, line);
}

static struct bisect_step *step_at(const struct drive *d, size_t i)
{
	return &d->b->steps.v[i];
}

static const char *end_name(size_t i)
{
	return i == GOOD_END ? "GOOD" : "BAD";
}

/* --- measuring ------------------------------------------------------------------- */

/* The kernel of a step, once in a process; @skip: its commit has none */
static int prepare(struct drive *d, size_t i, char **skip, struct error *err)
{
	while (d->prepared.n <= i)
		sizes_add(&d->prepared, 0);
	if (d->prepared.v[i])
		return 0;
	if (git_checkout(&d->git, step_at(d, i)->commit, err) < 0 ||
	    d->ops->prepare(d->ops->data, d->b, i, skip, err) < 0)
		return -1;
	if (!*skip)
		d->prepared.v[i] = 1;
	return bisect_save(d->b, err);
}

/* figures() - of a step; an end has no reason to be skipped */
static int figures(struct drive *d, size_t i, struct nested *out, char **skip,
		   struct error *err)
{
	*out = (struct nested){ { 0 }, { 0 } };
	return d->ops->figures(d->ops->data, d->b, i, out, skip, err);
}

static int end_fails(const struct drive *d, size_t end, const char *why,
		     struct error *err)
{
	return error_set(err, 0, "%s, %.12s, cannot be measured: %s; take another commit for it",
			 end_name(end), step_at(d, end)->commit, why);
}

/* struct measured - the figures of the ends and the step */
struct measured {
	struct nested good, bad, step;
};

static void measured_free(struct measured *m)
{
	nested_free(&m->good);
	nested_free(&m->bad);
	nested_free(&m->step);
}

/* take() - all figures that are needed to judge step @i, which may be an end */
static int take(struct drive *d, size_t i, struct measured *m, char **skip,
		struct error *err)
{
	struct nested *const ends[BISECT_ENDS] = { &m->good, &m->bad };

	measured_free(m);
	*m = (struct measured){ .step = { .v = { 0 } } };
	for (size_t e = 0; e < BISECT_ENDS; e++) {
		cleanup_free char *why = NULL;

		if (figures(d, e, ends[e], &why, err) < 0)
			return -1;
		if (why)
			return end_fails(d, e, why, err);
	}
	return i < BISECT_ENDS ? 0 : figures(d, i, &m->step, skip, err);
}

/* measure() - until step @i and both ends have @boots boots, in turns */
static int measure(struct drive *d, size_t i, unsigned int boots, char **skip,
		   struct error *err)
{
	CLEANUP(measured_free) struct measured m = { .step = { .v = { 0 } } };
	const size_t all[] = { GOOD_END, BAD_END, i };
	size_t missing[3], n = 0;

	if (take(d, i, &m, skip, err) < 0)
		return -1;
	for (size_t k = 0; !*skip && k < (i < BISECT_ENDS ? 2 : 3); k++) {
		const struct nested *f = k == 0 ? &m.good : k == 1 ? &m.bad : &m.step;
		cleanup_free char *why = NULL;

		if (f->runs.n >= boots)
			continue;
		if (prepare(d, all[k], &why, err) < 0)
			return -1;
		if (why && all[k] < BISECT_ENDS)
			return end_fails(d, all[k], why, err);
		if (why)
			*skip = steal_ptr(why);
		missing[n++] = all[k];
	}
	if (*skip || !n)
		return 0;
	return d->ops->measure(d->ops->data, d->b, missing, n, boots, err);
}

static unsigned int more_boots(const struct drive *d, unsigned int boots)
{
	return boots > d->b->max_boots / 2 ? d->b->max_boots : boots * 2;
}

/* --- the ends --------------------------------------------------------------------- */

static void call_ends(struct drive *d, const struct measured *m)
{
	struct bisect_step *s = d->b->steps.v;
	double off = d->b->resolution_pct;

	s[GOOD_END].call = bisect_judge(&m->good, &m->bad, &m->good, off);
	s[BAD_END].call = bisect_judge(&m->good, &m->bad, &m->bad, off);
}

/* Would more boots be in vain? */
static bool hopeless(const struct drive *d, const struct measured *m)
{
	const struct bisect_gap *g = &d->b->gap;
	size_t n = m->good.runs.n < m->bad.runs.n ? m->good.runs.n : m->bad.runs.n;

	if (n >= d->b->max_boots)
		return true;
	/* More boots do not make it any finer. */
	if (g->small && d->b->resolution_pct > 0)
		return true;
	if (g->small && g->high < g->floor_pct && g->low > -g->floor_pct)
		return true;
	return n >= rank_min_boots(INFER_LEVEL) && g->need > d->b->max_boots;
}

/* tell_ends() - measured until they can be told apart; else status BISECT_SAME */
static int tell_ends(struct drive *d, struct error *err)
{
	struct bisect *b = d->b;
	unsigned int boots = b->boots;

	while (b->steps.v[GOOD_END].verdict != BISECT_GOOD) {
		CLEANUP(measured_free) struct measured m = { .step = { .v = { 0 } } };
		char *none = NULL;

		if (measure(d, GOOD_END, boots, &none, err) < 0 ||
		    take(d, GOOD_END, &m, &none, err) < 0)
			return -1;
		b->gap = bisect_gap(&m.good, &m.bad, b->resolution_pct, b->threshold_pct);
		call_ends(d, &m);
		if (b->gap.told) {
			b->steps.v[GOOD_END].verdict = BISECT_GOOD;
			b->steps.v[BAD_END].verdict = BISECT_BAD;
			say(d, "the ends: %+.2f %% from GOOD to BAD, %zu boots each; the boundary is at %.3f",
			    b->gap.pct, m.good.runs.n, b->steps.v[GOOD_END].call.boundary);
		} else if (hopeless(d, &m)) {
			b->status = BISECT_SAME;
			return bisect_save(b, err);
		} else {
			boots = more_boots(d, boots);
			say(d, "the ends: %+.2f %% from GOOD to BAD cannot be told yet: %u boots each",
			    b->gap.pct, boots);
		}
		if (bisect_save(b, err) < 0)
			return -1;
	}
	return 0;
}

/* --- a step ------------------------------------------------------------------------- */

static void skip_step(struct drive *d, size_t i, char *reason)
{
	struct bisect_step *s = step_at(d, i);

	s->verdict = BISECT_SKIP;
	free(s->reason);
	s->reason = reason;
	say(d, "%.12s: skip: %s", s->commit, reason);
}

/* judge_step() - by the boots that there are */
static int judge_step(struct drive *d, size_t i, char **skip, struct error *err)
{
	CLEANUP(measured_free) struct measured m = { .step = { .v = { 0 } } };
	struct bisect_step *s = step_at(d, i);

	if (take(d, i, &m, skip, err) < 0)
		return -1;
	if (*skip)
		return 0;
	call_ends(d, &m);
	s->call = bisect_judge(&m.good, &m.bad, &m.step, d->b->resolution_pct);
	s->verdict = s->call.verdict;
	say(d, "%.12s: %s: %.3f (%.3f to %.3f), %zu boot%s; the boundary is at %.3f",
	    s->commit, s->verdict == BISECT_OPEN ? "cannot be told yet" :
	    bisect_verdict_name(s->verdict), s->call.mean, s->call.low, s->call.high,
	    s->call.boots, s->call.boots == 1 ? "" : "s", s->call.boundary);
	return 0;
}

/* try_step() - to its verdict */
static int try_step(struct drive *d, size_t i, struct error *err)
{
	unsigned int boots = (unsigned int)d->b->steps.v[GOOD_END].call.boots;

	if (boots < d->b->boots)
		boots = d->b->boots;
	while (step_at(d, i)->verdict == BISECT_OPEN) {
		cleanup_free char *skip = NULL;

		if (measure(d, i, boots, &skip, err) < 0 ||
		    (!skip && judge_step(d, i, &skip, err) < 0))
			return -1;
		if (!skip && step_at(d, i)->verdict == BISECT_OPEN &&
		    boots >= d->b->max_boots)
			skip = xasprintf("%u boots cannot tell which side of the boundary it is on",
					 boots);
		if (skip)
			skip_step(d, i, steal_ptr(skip));
		boots = more_boots(d, boots);
	}
	return bisect_save(d->b, err);
}

/* --- the search ---------------------------------------------------------------------- */

static int mark(const struct drive *d, size_t i, struct git_next *next, struct error *err)
{
	const struct bisect_step *s = step_at(d, i);

	git_next_free(next);
	return git_mark(&d->git, bisect_verdict_name(s->verdict), s->commit, next, err);
}

/* begin() - git is told all that is known */
static int begin(const struct drive *d, struct git_next *next, struct error *err)
{
	const struct bisect *b = d->b;

	if (git_start(&d->git, b->steps.v[GOOD_END].commit, b->steps.v[BAD_END].commit,
		      next, err) < 0)
		return -1;
	for (size_t i = BISECT_ENDS; i < b->steps.n; i++)
		if (b->steps.v[i].verdict != BISECT_OPEN && !next->found &&
		    mark(d, i, next, err) < 0)
			return -1;
	return 0;
}

static int finish(struct drive *d, struct git_next *next, struct error *err)
{
	struct bisect *b = d->b;

	if (next->found) {
		free(b->first_bad);
		b->first_bad = git_describe_commit(&d->git, next->commit, err);
		if (!b->first_bad)
			return -1;
	}
	strings_clear(&b->left);
	b->left = next->left;
	next->left = (struct strings){ 0 };
	b->status = next->found ? BISECT_FOUND : BISECT_SEVERAL;
	if (bisect_save(b, err) < 0)
		return -1;
	return bisect_write_log(b, err);
}

static int search(struct drive *d, struct error *err)
{
	CLEANUP(git_next_free) struct git_next next = { 0 };

	if (begin(d, &next, err) < 0)
		return -1;
	while (!next.found && !next.left.n) {
		size_t i = bisect_step(d->b, next.commit, next.subject);

		if (next.words)
			say(d, "%s", next.words);
		say(d, "%.12s: %s", next.commit, next.subject);
		if (bisect_save(d->b, err) < 0 || try_step(d, i, err) < 0 ||
		    bisect_write_log(d->b, err) < 0 || mark(d, i, &next, err) < 0)
			return -1;
	}
	return finish(d, &next, err);
}

int bisect_drive(struct bisect *b, const struct bisect_ops *ops, struct error *err)
{
	CLEANUP(drive_free) struct drive d = { .b = b, .ops = ops };

	if (b->status != BISECT_RUNNING)
		return 0;
	if (git_open(&d.git, b->source, b->dir, err) < 0)
		return -1;
	for (size_t i = 0; i < BISECT_ENDS; i++) {
		struct bisect_step *s = &b->steps.v[i];
		char *subject = git_subject(&d.git, s->commit, err);

		if (!subject)
			return error_prefix(err, "%s", end_name(i));
		free(s->subject);
		s->subject = subject;
	}
	if (tell_ends(&d, err) < 0)
		return -1;
	return b->status == BISECT_RUNNING ? search(&d, err) : 0;
}
