/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * power.c - what so many boots can tell, and how many would tell so much
 */
#include "results/inference.h"

#include <math.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>

#include "results/base/cleanup.h"
#include "results/stats.h"

/* Experiments that detectable_pct() makes up, and the number that each begins with */
#define POWER_TRIALS 1000
#define POWER_SEED 20030604
/* Up to so many pairs of boots; with more it is a formula, and this factor, measured
 * by such trials: both tests together ask for a bit more than Welch's alone */
#define TRIAL_PAIRS 400
#define BOTH_TESTS 1.05

/* struct design - so many boots of such spread, told at such a level */
struct design {
	double sd[2];
	size_t n[2];
	double level;
	size_t against;		/* pairs that may speak against it, by rank */
	double t_pooled;	/* quantile of Student's t at this level */
};

/* told_from() - of one experiment, made up of normal noise: the change from which on
 * both tests tell it */
static double told_from(const struct design *d, gsl_rng *rng, double *x, double *gap)
{
	size_t na = d->n[0], nb = d->n[1], pairs = na * nb;
	double va, vb, diff, pooled, welch, student;

	for (size_t i = 0; i < na + nb; i++)
		x[i] = gsl_ran_gaussian(rng, d->sd[i >= na]);
	for (size_t i = 0; i < pairs; i++)
		gap[i] = x[i / nb] - x[na + i % nb];
	diff = gsl_stats_mean(x, 1, na) - gsl_stats_mean(x + na, 1, nb);
	va = gsl_stats_variance(x, 1, na);
	vb = gsl_stats_variance(x + na, 1, nb);
	pooled = ((double)(na - 1) * va + (double)(nb - 1) * vb) / (double)(na + nb - 2);
	va /= (double)na;
	vb /= (double)nb;
	welch = gsl_cdf_tdist_Qinv(d->level / 2, stats_welch_dof(va, vb, na, nb)) *
		sqrt(va + vb);
	student = d->t_pooled * sqrt(pooled * (1 / (double)na + 1 / (double)nb));
	gsl_sort(gap, 1, pairs);
	return fmax(diff + fmax(welch, student), gap[pairs - 1 - d->against]);
}

/* by_trial() - the change that INFER_POWER of the experiments tell */
static double by_trial(const struct design *d)
{
	cleanup_free double *x = xcalloc(d->n[0] + d->n[1], sizeof(*x));
	cleanup_free double *gap = xcalloc(d->n[0] * d->n[1], sizeof(*gap));
	double from[POWER_TRIALS];
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);

	gsl_rng_set(rng, POWER_SEED);
	for (size_t i = 0; i < POWER_TRIALS; i++)
		from[i] = told_from(d, rng, x, gap);
	gsl_rng_free(rng);
	gsl_sort(from, 1, POWER_TRIALS);
	return gsl_stats_quantile_from_sorted_data(from, 1, POWER_TRIALS, INFER_POWER);
}

/* by_formula() - what Welch's test alone tells; near enough from many boots on, never
 * more than what both do */
static double by_formula(double sd_a, double sd_b, size_t na, size_t nb, double level)
{
	double va = sd_a * sd_a / (double)na, vb = sd_b * sd_b / (double)nb;
	double dof = stats_welch_dof(va, vb, na, nb);

	return (gsl_cdf_tdist_Qinv(level / 2, dof) +
		gsl_cdf_tdist_Pinv(INFER_POWER, dof)) * sqrt(va + vb);
}

double detectable_pct(double sd_a, double sd_b, size_t na, size_t nb, double level)
{
	struct design d = { { sd_a, sd_b }, { na, nb }, level, 0, 0 };

	if (na < 2 || nb < 2 || !isfinite(sd_a + sd_b) || !(level > 0 && level < 1))
		return NAN;
	if (rank_min_p(na, nb) > level)
		return INFINITY;
	if (sd_a * sd_a + sd_b * sd_b == 0)
		return 0;
	if (na * nb <= TRIAL_PAIRS) {
		d.against = rank_pairs_against(na, nb, level);
		d.t_pooled = gsl_cdf_tdist_Qinv(level / 2, (double)(na + nb) - 2);
		return ratio_pct(exp(by_trial(&d)));
	}
	return ratio_pct(exp(BOTH_TESTS * by_formula(sd_a, sd_b, na, nb, level)));
}

size_t boots_to_tell(double sd_a, double sd_b, double pct, double level)
{
	bool spread = sd_a * sd_a + sd_b * sd_b > 0;
	size_t low = 1, high = BOOTS_MAX;

	if (!(pct > 0) || !isfinite(sd_a + sd_b) || !(level > 0 && level < 1))
		return 0;
	/* As many as Welch's test needs, found quickly; then one more and one more */
	while (spread && high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (ratio_pct(exp(by_formula(sd_a, sd_b, mid, mid, level))) > pct)
			low = mid;
		else
			high = mid;
	}
	low = rank_min_boots(level);
	for (size_t n = spread && high > low ? high : low; n < BOOTS_MAX; n++)
		if (detectable_pct(sd_a, sd_b, n, n, level) <= pct)
			return n;
	return BOOTS_MAX;
}
