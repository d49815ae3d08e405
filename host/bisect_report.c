/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bisect_report.c - what was found, and why it is to be believed
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "host/bisect.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"
#include "results/columns.h"
#include "results/grid.h"

#define SUBJECT_MAX 40

static char *title(const struct bisect_step *s)
{
	cleanup_free char *subject = text_clean(s->subject, NULL);
	char label[GIT_LABEL];
	size_t n = strlen(subject);

	bisect_label(s->commit, label);
	if (n <= SUBJECT_MAX)
		return xasprintf("%s %s", label, subject);
	n = SUBJECT_MAX - 3;
	/* Not in the middle of a character */
	while (n && (subject[n] & 0xc0) == 0x80)
		n--;
	return xasprintf("%s %.*s...", label, (int)n, subject);
}

static void add_row(const struct bisect *b, size_t i, struct grid *g)
{
	const struct bisect_step *s = &b->steps.v[i];
	const struct bisect_call *c = &s->call;
	bool known = c->boots > 0;

	grid_add(g, title(s));
	grid_add(g, xasprintf("%s%s", i == 0 ? "GOOD" : i == 1 ? "BAD" :
			      bisect_verdict_name(s->verdict),
			      b->first_bad && strstr(b->first_bad, s->commit) ?
			      ", first" : ""));
	grid_add_number(g, (double)c->boots, 0);
	grid_add_number(g, known ? c->mean : NAN, 3);
	grid_add_number(g, known ? c->low : NAN, 3);
	grid_add_number(g, known ? c->high : NAN, 3);
	grid_add_number(g, known ? c->boundary : NAN, 3);
}

static void put_evidence(const struct bisect *b, struct buf *out)
{
	static const char *const titles[] = {
		"Commit", "Verdict", "Boots", "Mean", "Low", "High", "Boundary", NULL
	};
	const struct bisect_metric *m = bisect_metric(b->metric);
	struct grid g = { .titles = titles, .text = 2 };

	buf_printf(out, "%s under %s, %s; Low and High: ", m->what, b->load, m->unit);
	if (b->resolution_pct > 0)
		buf_printf(out, "at least what figures that are %g %% off come to (--resolution)\n",
			   b->resolution_pct);
	else
		buf_adds(out, "95 % interval, with that of the boundary in it\n");
	for (size_t i = 0; i < b->steps.n; i++)
		add_row(b, i, &g);
	grid_put(&g, out);
	grid_free(&g);
}

static void put_skipped(const struct bisect *b, struct buf *out)
{
	bool any = false;

	for (size_t i = 0; i < b->steps.n; i++) {
		const struct bisect_step *s = &b->steps.v[i];
		cleanup_free char *why = text_clean(s->reason ? s->reason : "", NULL);

		if (s->verdict != BISECT_SKIP)
			continue;
		if (!any)
			buf_adds(out, "\nSkipped:\n");
		any = true;
		buf_printf(out, "  %.12s  %s\n", s->commit, why);
	}
}

static void put_found(const struct bisect *b, struct buf *out)
{
	buf_adds(out, "First bad commit:\n");
	for (const char *l = b->first_bad; *l; l += strcspn(l, "\n"), l += *l == '\n') {
		cleanup_free char *line = xstrndup(l, strcspn(l, "\n"));
		cleanup_free char *clean = text_clean(line, NULL);

		buf_printf(out, "%s%s\n", *clean ? "  " : "", clean);
	}
	buf_adds(out, "\n");
}

static void put_same(const struct bisect *b, struct buf *out)
{
	const struct bisect_gap *g = &b->gap;
	size_t have = b->steps.v[0].call.boots;

	buf_printf(out, "GOOD and BAD cannot be told apart: %+.2f %%", g->pct);
	if (isfinite(g->low))
		buf_printf(out, " (95 %% interval %+.2f to %+.2f %%)", g->low, g->high);
	buf_printf(out, ", %zu boot%s of each\n", have, have == 1 ? "" : "s");
	if (g->small)
		buf_printf(out, "That is no more than %.3g %%, %s.\n", g->floor_pct,
			   g->floor_pct > b->threshold_pct ?
			   "four times what one boot may be off (--resolution)" :
			   "the threshold (--threshold)");
	if (!g->small && g->need > have)
		buf_printf(out, "To tell it needs about %zu more boots of each: kontest bisect --resume %.8s --max-boots %zu\n",
			   g->need - have, b->id, g->need);
	buf_adds(out, "\n");
}

static void put_several(const struct bisect *b, struct buf *out)
{
	buf_printf(out, "Skipped commits leave %zu, any of which may be the first bad one:\n",
		   b->left.n);
	for (size_t i = 0; i < b->left.n; i++)
		buf_printf(out, "  %.12s\n", b->left.v[i]);
	buf_adds(out, "\n");
}

int bisect_print(const struct bisect *b, FILE *out, struct error *err)
{
	cleanup_free char *log = bisect_file(b, "bisect.log");
	CLEANUP(buf_free) struct buf text = { 0 };

	if (b->status == BISECT_FOUND)
		put_found(b, &text);
	else if (b->status == BISECT_SEVERAL)
		put_several(b, &text);
	else if (b->status == BISECT_SAME)
		put_same(b, &text);
	else
		buf_printf(&text, "Not done: kontest bisect --resume %.8s\n\n", b->id);
	put_evidence(b, &text);
	put_skipped(b, &text);
	buf_printf(&text, "\nkontest report %.8s shows these boots%s%s%s\n", b->id,
		   path_exists(log) ? "; git bisect replay " : "",
		   path_exists(log) ? log : "", path_exists(log) ? " goes the same way" : "");
	fputs(text.data, out);
	if (fflush(out) || ferror(out))
		return error_set(err, errno, "print the bisect");
	return 0;
}

/* --- bisect.log ------------------------------------------------------------------------ */

static void put_verdict(const struct bisect_step *s, struct buf *out)
{
	const char *how = bisect_verdict_name(s->verdict);
	cleanup_free char *subject = text_clean(s->subject, NULL);
	cleanup_free char *reason = text_clean(s->reason ? s->reason : "", NULL);

	if (s->call.boots)
		buf_printf(out, "# %.6g (%.6g to %.6g), %zu boots, boundary %.6g\n",
			   s->call.mean, s->call.low, s->call.high, s->call.boots,
			   s->call.boundary);
	if (s->reason)
		buf_printf(out, "# %s\n", reason);
	buf_printf(out, "# %s: [%s] %s\n", how, s->commit, subject);
}

int bisect_write_log(const struct bisect *b, struct error *err)
{
	cleanup_free char *path = bisect_file(b, "bisect.log");
	CLEANUP(buf_free) struct buf text = { 0 };

	put_verdict(&b->steps.v[1], &text);
	put_verdict(&b->steps.v[0], &text);
	buf_printf(&text, "git bisect start '%s' '%s'\n", b->steps.v[1].commit,
		   b->steps.v[0].commit);
	for (size_t i = BISECT_ENDS; i < b->steps.n; i++) {
		const struct bisect_step *s = &b->steps.v[i];

		if (s->verdict == BISECT_OPEN)
			continue;
		put_verdict(s, &text);
		buf_printf(&text, "git bisect %s %s\n", bisect_verdict_name(s->verdict),
			   s->commit);
	}
	return file_write(path, text.data, text.len, err);
}
