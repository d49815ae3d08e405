/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/bisect_judge.h"

#include <math.h>

#include <gsl/gsl_cdf.h>

#include "results/base/cleanup.h"
#include "results/stats.h"

/* struct side - @n boots' mean logarithms; @variance: of their mean */
struct side {
	size_t n;
	double mean, variance;
};

const char *bisect_verdict_name(enum bisect_verdict v)
{
	static const char *const names[BISECT_VERDICTS] = {
		"open", "good", "bad", "skip"
	};

	return names[v];
}

static struct side side_of(const struct nested *f)
{
	cleanup_free double *logs = nested_boot_logs(f);
	size_t n = f->runs.n;
	double sd = stats_sd(logs, n);

	return (struct side){
		.n = n,
		.mean = stats_mean(logs, n),
		.variance = sd * sd / (double)n,
	};
}

/* Of x - (g + b) / 2 */
static const double weight[] = { 1, 0.5, 0.5 };

/* Half of the interval when x and both ends are off, where it hurts most */
static double resolution_half(double resolution_pct)
{
	return (weight[0] + weight[1] + weight[2]) * log1p(resolution_pct / 100);
}

/* Half of the interval by the spread of the boots; NAN: one boot has none */
static double spread_half(const struct side *x, const struct side *g,
			  const struct side *b)
{
	const struct side *sides[] = { x, g, b };
	double variance = 0, square = 0;

	for (size_t i = 0; i < 3; i++) {
		double v = weight[i] * weight[i] * sides[i]->variance;

		if (sides[i]->n < 2)
			return NAN;
		variance += v;
		square += v * v / (double)(sides[i]->n - 1);
	}
	if (variance == 0)
		return 0;
	return gsl_cdf_tdist_Pinv(0.5 + INFER_CONFIDENCE / 2,
				  variance * variance / square) * sqrt(variance);
}

struct bisect_call bisect_judge(const struct nested *good, const struct nested *bad,
				const struct nested *commit, double resolution_pct)
{
	struct side g = side_of(good), b = side_of(bad), x = side_of(commit);
	double mid = (g.mean + b.mean) / 2, spread = spread_half(&x, &g, &b);
	/* fmax() takes the other one for a NAN. */
	double half = resolution_pct > 0 && x.n ?
		      fmax(spread, resolution_half(resolution_pct)) : spread;
	struct bisect_call call = {
		.boots = x.n,
		.mean = exp(x.mean),
		.low = exp(x.mean - half),
		.high = exp(x.mean + half),
		.boundary = exp(mid),
	};

	if (!(fabs(x.mean - mid) > half) || g.mean == b.mean)
		return call;
	call.verdict = (x.mean > mid) == (b.mean > g.mean) ? BISECT_BAD : BISECT_GOOD;
	return call;
}

struct bisect_gap bisect_gap(const struct nested *good, const struct nested *bad,
			     double resolution_pct, double threshold_pct)
{
	struct ratio r = ratio_infer(good, bad);
	double away = ratio_pct(fmax(r.ratio, 1 / r.ratio));
	double seen = ratio_pct(exp(2 * resolution_half(resolution_pct)));
	struct bisect_gap gap = {
		.pct = ratio_pct(r.ratio),
		.low = ratio_pct(r.ci.low),
		.high = ratio_pct(r.ci.high),
		.floor_pct = fmax(threshold_pct, seen),
		.need = boots_to_tell(r.sd_log[0], r.sd_log[1], away, INFER_LEVEL),
	};

	gap.small = !(away > gap.floor_pct);
	if (resolution_pct > 0)
		gap.told = bisect_judge(good, bad, good, resolution_pct).verdict ==
			   BISECT_GOOD &&
			   bisect_judge(good, bad, bad, resolution_pct).verdict ==
			   BISECT_BAD;
	else
		gap.told = r.p <= INFER_LEVEL;
	gap.told = gap.told && !gap.small;
	return gap;
}
