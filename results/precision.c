/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "results/precision.h"

#include <math.h>
#include <stdlib.h>

#include "results/base/cleanup.h"
#include "results/stats.h"

/* cell_times() - Time of a cell's good runs, boot by boot */
static void cell_times(const struct cell *c, struct nested *out)
{
	const struct boot_record *last = NULL;

	for (size_t i = 0; i < c->good.n; i++) {
		const struct sample *s = &c->good.v[i];

		nested_add(out, sample_time_s(s), s->boot != last);
		last = s->boot;
	}
}

static double half_pct(struct interval ci)
{
	return ratio_pct(sqrt(ci.high / ci.low));
}

static double sd_log(const struct nested *n)
{
	double *logs = nested_boot_logs(n), sd = stats_sd(logs, n->runs.n);

	free(logs);
	return sd;
}

/* Boots of each until the interval is that narrow: its half-width is a quantile of t
 * times the root of the sum of variances / n. @sides 1: one mean's own interval */
static size_t boots_for(double var, unsigned int sides, double wanted_pct)
{
	double half_log = log1p(wanted_pct / 100);

	for (size_t n = 2; n < BOOTS_MAX; n++) {
		double t = stats_t_quantile(INFER_CONFIDENCE, sides * (n - 1));

		if (t * sqrt(var / (double)n) <= half_log)
			return n;
	}
	return BOOTS_MAX;
}

/* family() - comparisons of a report */
static size_t family(size_t kernels, size_t rows)
{
	return (kernels > 1 ? kernels - 1 : 1) * (rows ? rows : 1);
}

static size_t beyond(size_t n, size_t have)
{
	return n > have ? n - have : 0;
}

/* @n: boots of each that the interval needs, as the spread is now */
static void set_more(struct precision *p, size_t n, const struct precision_wanted *w)
{
	p->more = beyond(w->boots_min, p->boots);
	if (isfinite(p->half_pct) && p->half_pct <= w->pct)
		return;
	/* Spreads that differ, or counts, cost degrees of freedom: one at least. */
	p->more = p->more ? p->more : 1;
	if (isfinite(p->half_pct) && beyond(n, p->boots) > p->more)
		p->more = beyond(n, p->boots);
}

static void one_side(const struct nested *n, const struct precision_wanted *w,
		     struct precision *p)
{
	double sd = sd_log(n);

	p->boots = n->runs.n;
	p->half_pct = half_pct(nested_ci(n, INFER_CONFIDENCE));
	set_more(p, boots_for(sd * sd, 1, w->pct), w);
}

static void two_sides(const struct nested *a, const struct nested *b, double level,
		      const struct precision_wanted *w, struct precision *p)
{
	struct ratio r = ratio_infer(a, b);
	double var = r.sd_log[0] * r.sd_log[0] + r.sd_log[1] * r.sd_log[1];

	p->boots = r.boots[0] < r.boots[1] ? r.boots[0] : r.boots[1];
	p->half_pct = half_pct(r.ci);
	set_more(p, boots_for(var, 2, w->pct), w);
	p->tell = beyond(boots_to_tell(r.sd_log[0], r.sd_log[1], w->pct,
				       level), p->boots);
}

void precision_make(const struct table *t, size_t rounds,
		    const struct precision_wanted *w, struct precisions *out)
{
	size_t rows = table_rows(t), first = t->kernels.n > 1;
	/* Of the first step of Holm's adjustment */
	double level = INFER_LEVEL / (double)family(t->kernels.n, rows);

	for (size_t row = 0; row < rows; row++) {
		CLEANUP(nested_free) struct nested base = { 0 };

		cell_times(table_cell(t, row, 0), &base);
		for (size_t k = first; k < t->kernels.n; k++) {
			CLEANUP(nested_free) struct nested n = { 0 };
			struct precision p = {
				.load = table_row_name(t, row),
				.baseline = first ? t->kernels.v[0].label : NULL,
				.kernel = t->kernels.v[k].label,
			};

			cell_times(table_cell(t, row, k), &n);
			if (first)
				two_sides(&base, &n, level, w, &p);
			else
				one_side(&n, w, &p);
			p.hopeless = !p.boots && rounds >= w->boots_min;
			precisions_add(out, p);
		}
	}
}

bool precision_reached(const struct precisions *v)
{
	for (size_t i = 0; i < v->n; i++)
		if (!v->v[i].hopeless && v->v[i].more)
			return false;
	return v->n > 0;
}

size_t precision_boots_min(size_t kernels, size_t rows)
{
	return rank_min_boots(INFER_LEVEL / (double)family(kernels, rows));
}

static void put_number(struct buf *b, size_t n, size_t have)
{
	bool far = n + have >= BOOTS_MAX;

	buf_printf(b, "%s%zu more", far ? "more than " : "about ", n);
}

char *precision_text(const struct precision *p, const struct precision_wanted *w)
{
	const char *each = p->baseline ? " of each" : "";
	struct buf b = { 0 };

	buf_printf(&b, "%s, %s", p->load, p->kernel);
	if (p->baseline)
		buf_printf(&b, " against %s", p->baseline);
	if (p->hopeless) {
		buf_adds(&b, ": no good run, so that nothing can be told, and more boots would be no remedy");
		return b.data;
	}
	if (isfinite(p->half_pct))
		buf_printf(&b, ": +-%.*f %%", p->half_pct >= 10 ? 0 :
			   p->half_pct >= 1 ? 1 : 2, p->half_pct);
	buf_printf(&b, "%s %zu boot%s%s", isfinite(p->half_pct) ? " after" : ": only",
		   p->boots, p->boots == 1 ? "" : "s", each);
	if (p->more) {
		buf_adds(&b, ": needs ");
		put_number(&b, p->more, p->boots);
		buf_printf(&b, "%s for +-%g %%", each, w->pct);
	}
	if (p->tell) {
		buf_adds(&b, p->more ? ", " : ": needs ");
		put_number(&b, p->tell, p->boots);
		buf_printf(&b, " to tell %g %% four times in five", w->pct);
	}
	return b.data;
}
