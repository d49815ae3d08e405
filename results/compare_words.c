/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare_words.c - verdicts and what stands behind them, as sentences
 */
#include "results/compare_words.h"

#include <math.h>
#include <string.h>

#include "results/base/cleanup.h"

/* --- numbers ---------------------------------------------------------------------- */

static int pct_decimals(double pct)
{
	double v = fabs(pct);

	return v >= 100 ? 0 : v >= 1 ? 1 : v >= 0.1 ? 2 : 3;
}

static double rounded(double v, int decimals, enum pct_round round)
{
	double unit = pow(10, decimals), scaled = v * unit;

	/* What is whole but for the last bits is not pushed a whole step further */
	if (round == ROUND_NEAREST || fabs(scaled - nearbyint(scaled)) < 1e-9)
		return nearbyint(scaled) / unit;
	return (round == ROUND_UP ? ceil(scaled) : floor(scaled)) / unit;
}

char *pct_text(double pct, enum pct_round round)
{
	int decimals = pct_decimals(pct);
	double v = rounded(pct, decimals, round);

	if (!isfinite(pct))
		return xstrdup("-");
	/* No sign before nothing */
	return v == 0 ? xasprintf("%.*f", decimals, 0.0)
		      : xasprintf("%+.*f", decimals, v);
}

char *size_text(double pct)
{
	int decimals = pct_decimals(pct);

	if (!isfinite(pct))
		return xstrdup("-");
	return xasprintf("%.*f", decimals, rounded(pct, decimals, ROUND_UP));
}

char *interval_text(struct interval ratio)
{
	cleanup_free char *low = pct_text(ratio_pct(ratio.low), ROUND_DOWN);
	cleanup_free char *high = pct_text(ratio_pct(ratio.high), ROUND_UP);

	if (!isfinite(ratio.low) || !isfinite(ratio.high))
		return xstrdup("-");
	return xasprintf("[%s, %s]", low, high);
}

char *p_text(double p)
{
	if (isnan(p))
		return xstrdup("-");
	return p < 0.0001 ? xstrdup("<0.0001") : xasprintf("%.4f", p);
}

/* --- what was lost ------------------------------------------------------------------ */

static void put_count(struct buf *b, size_t n, const char *what, const char **before)
{
	if (!n)
		return;
	buf_printf(b, "%s%zu %s", *before, n, what);
	*before = ", ";
}

char *lost_text(const struct compare_cell *cell)
{
	size_t lost = cell_lost(cell);
	struct buf b = { 0 };
	const char *before = "";

	if (!lost && !cell->repeated)
		return NULL;
	buf_printf(&b, "%zu of %zu runs are in no figure: ", lost + cell->repeated,
		   lost + cell->repeated + cell->data.v.n);
	put_count(&b, cell->censored, "timed out or hung", &before);
	put_count(&b, cell->failed, "failed", &before);
	put_count(&b, cell->missing, "missing", &before);
	put_count(&b, cell->repeated, "of a seed that is there already, or of a noisy boot done again", &before);
	return b.data;
}

static void put_lost(const struct compare *c, size_t row, size_t side, struct buf *b)
{
	const struct compare_cell *cell = compare_cell_at(c, row, side);
	cleanup_free char *lost = lost_text(cell);

	if (lost)
		buf_printf(b, " Of %s, %s.", c->sides[side].title, lost);
	if (cell->noisy)
		buf_printf(b, " During %zu of %zu runs of %s the host was noisy; they count.",
			   cell->noisy, cell->data.v.n, c->sides[side].title);
}

/* --- verdicts ------------------------------------------------------------------------ */

static char *boots_words(const struct ratio *r)
{
	return r->boots[0] == r->boots[1] ?
	       xasprintf("%zu", r->boots[0]) :
	       xasprintf("%zu and %zu", r->boots[0], r->boots[1]);
}

static char *verdict_words(const struct comparison *x)
{
	cleanup_free char *size = size_text(x->told_pct);
	cleanup_free char *boots = boots_words(&x->r);

	switch (x->finding) {
	case FINDING_NO_DATA:
		return xstrdup("no data");
	case FINDING_FEW_BOOTS:
		return xasprintf("not enough boots: %s, needs %zu", boots,
				 x->boots_needed);
	case FINDING_SAME:
		return xasprintf("same within %s %%", size);
	case FINDING_BETTER:
		return xstrdup("better");
	case FINDING_WORSE:
		return xstrdup("worse");
	case FINDING_CANNOT_TELL:
		break;
	}
	return isfinite(x->told_pct) ? xasprintf("cannot tell below %s %%", size)
				     : xstrdup("cannot tell: runs timed out");
}

/* put_figures() - "+4.1 % [+2.0, +6.2]" */
static void put_figures(const struct comparison *x, struct buf *b)
{
	cleanup_free char *diff = pct_text(ratio_pct(x->r.ratio), ROUND_NEAREST);
	cleanup_free char *ci = interval_text(x->r.ci);

	buf_printf(b, "%s %%", diff);
	if (isfinite(x->r.ci.low))
		buf_printf(b, " %s", ci);
}

static void put_outlook(const struct compare *c, const struct comparison *x,
			struct buf *b)
{
	cleanup_free char *margin = size_text(c->margin_pct);
	cleanup_free char *mdc = size_text(x->mdc_pct);
	cleanup_free char *boots = boots_words(&x->r);

	if (x->mdc_pct > 0)
		buf_printf(b, " With this spread %s boots tell %s %% four times in five",
			   boots, mdc);
	if (x->mdc_pct > c->margin_pct && x->more_boots)
		buf_printf(b, "; %s%zu more of each kernel would tell %s %%",
			   x->more_boots > BOOTS_MAX / 2 ? "more than " : "about ",
			   x->more_boots > BOOTS_MAX / 2 ? (size_t)BOOTS_MAX / 2
							 : x->more_boots, margin);
	if (x->mdc_pct > 0)
		buf_adds(b, ".");
}

/* put_doubt() - why no verdict, where the interval alone seems to give one */
static void put_doubt(const struct compare *c, const struct comparison *x,
		      struct buf *b)
{
	cleanup_free char *rank = p_text(x->r.rank_p), *holm = p_text(x->holm_p);

	if (x->r.ci.low <= 1 && x->r.ci.high >= 1)
		return;
	if (x->holm_p <= INFER_LEVEL)
		buf_printf(b, " The interval is not beyond the %g %% that a changed byte of the image does to a compile in exact mode.",
			   COMPARE_EXACT_PCT);
	else if (x->r.rank_p > INFER_LEVEL)
		buf_printf(b, " The interval leaves out 0, but by their ranks the boots may be alike (p %s).",
			   rank);
	else if (c->family > 1)
		buf_printf(b, " The interval leaves out 0, but one of %zu comparisons may by chance (p of all %s).",
			   c->family, holm);
}

static void put_cannot_tell(const struct compare *c, const struct comparison *x,
			    struct buf *b)
{
	cleanup_free char *size = size_text(x->told_pct);

	if (!isfinite(x->told_pct)) {
		buf_adds(b, ". Runs that timed out are in no figure, so those that are left look better than the kernel is.");
		return;
	}
	buf_printf(b, ": more than %s %% is ruled out, less is not.", size);
	put_doubt(c, x, b);
	put_outlook(c, x, b);
}

static void put_told(const struct comparison *x, struct buf *b)
{
	cleanup_free char *holm = p_text(x->holm_p), *boots = boots_words(&x->r);

	buf_printf(b, " (p %s, %s boots)", holm, boots);
}

static void put_no_data(const struct compare *c, const struct comparison *x,
			struct buf *b)
{
	const char *before = " ";

	for (size_t i = 0; i < 2; i++) {
		size_t side = i ? x->side : 0;
		const struct compare_cell *cell = compare_cell_at(c, x->row, side);

		if (cell->zero)
			buf_printf(b, "%sa figure of %s is 0, so there is no ratio",
				   before, c->sides[side].title);
		else if (cell->data.v.n == 0)
			buf_printf(b, "%s%s has no good run", before,
				   c->sides[side].title);
		else
			continue;
		before = ", ";
	}
}

static char *sentence(const struct compare *c, const struct comparison *x)
{
	const struct compare_row *row = &c->rows.v[x->row];
	const char *a = c->sides[0].title, *s = c->sides[x->side].title;
	cleanup_free char *margin = size_text(c->margin_pct);
	cleanup_free char *known = size_text(x->known_mdc_pct);
	struct buf b = { 0 };

	buf_printf(&b, "%s, %s: ", row->title, row->metric->title);
	switch (x->finding) {
	case FINDING_NO_DATA:
		buf_printf(&b, "%s against %s: no data:", s, a);
		put_no_data(c, x, &b);
		buf_adds(&b, ".");
		break;
	case FINDING_FEW_BOOTS:
		buf_printf(&b, "%s against %s: %s of each kernel. Seen: ", s, a,
			   x->verdict);
		put_figures(x, &b);
		buf_adds(&b, ".");
		break;
	case FINDING_SAME:
		buf_printf(&b, "%s is the same as %s within %s %%: ", s, a, margin);
		put_figures(x, &b);
		buf_adds(&b, ".");
		break;
	case FINDING_CANNOT_TELL:
		buf_printf(&b, "cannot tell %s from %s: ", s, a);
		put_figures(x, &b);
		put_cannot_tell(c, x, &b);
		break;
	case FINDING_BETTER:
	case FINDING_WORSE:
		buf_printf(&b, "%s is %s than %s: ", s, x->verdict, a);
		put_figures(x, &b);
		put_told(x, &b);
		buf_adds(&b, x->r.ci.low >= 1 - c->margin_pct / 100 &&
			 x->r.ci.high <= 1 + c->margin_pct / 100 ?
			 ", and less than the margin." : ".");
		break;
	}
	if (isfinite(x->known_mdc_pct))
		buf_printf(&b, " The calibration of this host found so many boots to tell %s %%.",
			   known);
	put_lost(c, x->row, 0, &b);
	put_lost(c, x->row, x->side, &b);
	return b.data;
}

void compare_words(const struct compare *c, struct comparison *x)
{
	x->verdict = verdict_words(x);
	x->sentence = sentence(c, x);
}

char *compare_method(const struct compare *c)
{
	cleanup_free char *margin = size_text(c->margin_pct);
	struct buf b = { 0 };

	buf_printf(&b, "Method: the boot is the unit. Means are geometric, over each boot's runs and then over boots; a difference is the ratio to %s, with the 95 %% interval of Welch's t on the boots' mean logarithms (Student's where that is wider, which takes unlike numbers of boots). p is the greater of that test's and the exact Mann-Whitney test's",
		   c->sides[0].title);
	if (c->family > 1)
		buf_printf(&b, ", adjusted by Holm over the %zu comparisons of this report that have boots enough for one",
			   c->family);
	buf_printf(&b, ". Better or worse: p at most 0.05. Same: the whole interval within %s %%. ",
		   margin);
	if (c->exact)
		buf_printf(&b, "Exact mode: boots differ by their seed, and only a difference beyond %g %% counts, which a changed byte of the image does to a compile alone. ",
			   COMPARE_EXACT_PCT);
	buf_adds(&b, "Runs that failed, timed out or are missing are counted, and in no figure.");
	return b.data;
}
