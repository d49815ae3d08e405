/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare_judge.c - from cells to comparisons, verdicts, and the mean over loads
 */
#include "results/compare_judge.h"

#include <math.h>

#include "results/base/cleanup.h"
#include "results/compare_words.h"

/* --- verdicts ---------------------------------------------------------------------- */

static bool has_data(const struct comparison *x)
{
	return isfinite(x->r.ratio);
}

/* enough() - has either side the boots that a single comparison needs? With fewer no
 * test can tell, and no interval holds for every noise either */
static bool enough(const struct ratio *r)
{
	size_t need = rank_min_boots(INFER_LEVEL);

	return r->boots[0] >= need && r->boots[1] >= need;
}

/* ratio_of() - without an interval where it would not hold */
static struct ratio ratio_of(const struct nested *a, const struct nested *b)
{
	struct ratio r = ratio_infer(a, b);

	if (!enough(&r)) {
		r.ci = (struct interval) { NAN, NAN };
		r.welch_p = r.rank_p = r.p = NAN;
	}
	return r;
}

/* adjust() - Holm over all that could be told at all: what could not is no chance to
 * be wrong */
static void adjust(struct compare *c)
{
	size_t n = c->comparisons.n;
	cleanup_free double *p = xcalloc(n + 1, sizeof(*p));

	for (size_t i = 0; i < n; i++) {
		const struct ratio *r = &c->comparisons.v[i].r;

		p[i] = enough(r) ? r->p : NAN;
		c->family += isfinite(p[i]);
	}
	holm_adjust(p, n, p);
	for (size_t i = 0; i < n; i++) {
		c->comparisons.v[i].holm_p = p[i];
		c->rejected += p[i] <= INFER_LEVEL;
	}
}

/* side_is_worse() - than the baseline, if the ratio is believed */
static bool side_is_worse(const struct compare *c, const struct comparison *x)
{
	return (x->r.ratio > 1) != c->rows.v[x->row].metric->more_is_better;
}

/* misled() - do the runs that timed out forbid a verdict? */
static bool misled(const struct compare *c, const struct comparison *x, bool told)
{
	size_t base = compare_cell_at(c, x->row, 0)->censored;
	size_t side = compare_cell_at(c, x->row, x->side)->censored;

	if (!told || !c->rows.v[x->row].metric->bounded)
		return base || side;
	return side_is_worse(c, x) ? base : side;
}

/* beyond_a_byte() - is it more than a byte of the image alone would do? */
static bool beyond_a_byte(const struct compare *c, const struct comparison *x)
{
	return !c->exact || x->r.ci.low > 1 + COMPARE_EXACT_PCT / 100 ||
	       x->r.ci.high < 1 - COMPARE_EXACT_PCT / 100;
}

static void judge(const struct compare *c, struct comparison *x, double level)
{
	double far = fmax(ratio_pct(x->r.ci.high), -ratio_pct(x->r.ci.low));
	double margin = c->margin_pct / 100;

	x->finding = FINDING_NO_DATA;
	if (!has_data(x))
		return;
	x->finding = FINDING_FEW_BOOTS;
	x->boots_needed = rank_min_boots(level);
	if (!isfinite(x->holm_p))
		return;
	x->finding = FINDING_CANNOT_TELL;
	if (x->holm_p <= INFER_LEVEL && misled(c, x, true))
		return;
	if (x->holm_p <= INFER_LEVEL && beyond_a_byte(c, x)) {
		x->finding = side_is_worse(c, x) ? FINDING_WORSE : FINDING_BETTER;
		return;
	}
	if (misled(c, x, false))
		return;
	if (x->r.ci.low >= 1 - margin && x->r.ci.high <= 1 + margin) {
		x->finding = FINDING_SAME;
		x->told_pct = c->margin_pct;
	} else if (x->r.min_p > level && x->holm_p > INFER_LEVEL) {
		x->finding = FINDING_FEW_BOOTS;
	} else {
		x->told_pct = far;
	}
}

/* outlook() - what would more boots tell? */
static void outlook(const struct compare *c, struct comparison *x, double level)
{
	const struct ratio *r = &x->r;
	size_t fewer = r->boots[0] < r->boots[1] ? r->boots[0] : r->boots[1], n;

	x->mdc_pct = detectable_pct(r->sd_log[0], r->sd_log[1], r->boots[0],
				    r->boots[1], level);
	if (!isfinite(x->mdc_pct))
		x->mdc_pct = NAN;
	n = boots_to_tell(r->sd_log[0], r->sd_log[1], c->margin_pct, level);
	x->more_boots = n > fewer ? n - fewer : 0;
}

void compare_judge(struct compare *c, const struct compare_options *o)
{
	size_t with_data = 0;
	double level;

	for (size_t r = 0; r < c->rows.n; r++)
		for (size_t s = 1; s < c->n_sides; s++) {
			const struct compare_cell *a = compare_cell_at(c, r, 0);
			const struct compare_cell *b = compare_cell_at(c, r, s);
			struct comparison x = {
				.row = r, .side = s,
				.r = ratio_of(&a->data, &b->data),
				.told_pct = NAN, .mdc_pct = NAN,
				.known_mdc_pct = NAN,
			};

			with_data += has_data(&x);
			comparisons_add(&c->comparisons, x);
		}
	adjust(c);
	/* What a difference would have to reach yet, the others being as they are */
	level = INFER_LEVEL / (double)(with_data > c->rejected ?
				       with_data - c->rejected : 1);
	for (size_t i = 0; i < c->comparisons.n; i++) {
		struct comparison *x = &c->comparisons.v[i];
		size_t fewer = x->r.boots[x->r.boots[1] < x->r.boots[0]];

		judge(c, x, level);
		if (!o || !o->no_outlook)
			outlook(c, x, level);
		if (o && o->known_mdc_pct && has_data(x))
			x->known_mdc_pct = o->known_mdc_pct(&c->rows.v[x->row],
							    fewer, o->known_arg);
		compare_words(c, x);
	}
}

/* --- the mean over loads ------------------------------------------------------------ */

static bool in_mean(const struct compare *c, size_t row, size_t side)
{
	const struct compare_cell *a = compare_cell_at(c, row, 0);
	const struct compare_cell *b = compare_cell_at(c, row, side);

	return isfinite(a->mean) && isfinite(b->mean) && !a->censored && !b->censored;
}

/* boot_value() - of a boot in a cell, the mean logarithm of its runs; NAN: none */
static double boot_value(const struct compare_cell *cell, const struct boot_record *b)
{
	cleanup_free double *logs = nested_boot_logs(&cell->data);

	for (size_t i = 0; i < cell->boots.n; i++)
		if (cell->boots.v[i] == b)
			return logs[i];
	return NAN;
}

/* whole_boots() - of a side, each boot's geometric mean over the rows in @in */
static void whole_boots(const struct compare *c, const bool *in, size_t side,
			struct nested *n)
{
	const struct boot_records *boots = c->sides[side].boots;

	for (size_t i = 0; i < boots->n; i++) {
		double sum = 0, rows = 0;

		for (size_t r = 0; r < c->rows.n; r++) {
			if (!in[r])
				continue;
			sum += boot_value(compare_cell_at(c, r, side), &boots->v[i]);
			rows++;
		}
		if (isfinite(sum))
			nested_add(n, exp(sum / rows), true);
	}
}

static void make_mean(struct compare *c, const struct metric *m, size_t side)
{
	CLEANUP(nested_free) struct nested a = { 0 }, b = { 0 };
	cleanup_free bool *in = xcalloc(c->rows.n, sizeof(*in));
	struct compare_mean mean = { .metric = m, .side = side };
	CLEANUP(buf_free) struct buf out = { 0 };

	for (size_t r = 0; r < c->rows.n; r++) {
		if (c->rows.v[r].metric != m)
			continue;
		in[r] = in_mean(c, r, side);
		mean.rows += in[r];
		if (!in[r])
			buf_printf(&out, "%s%s", out.len ? ", " : "",
				   c->rows.v[r].title);
	}
	if (mean.rows < 2)
		return;
	whole_boots(c, in, 0, &a);
	whole_boots(c, in, side, &b);
	mean.r = ratio_of(&a, &b);
	mean.left_out = xstrdup(out.len ? out.data : "");
	compare_means_add(&c->means, mean);
}

void compare_means_make(struct compare *c)
{
	for (const struct metric *m = metrics(); m->name; m++)
		for (size_t s = 1; s < c->n_sides; s++)
			make_mean(c, m, s);
}
