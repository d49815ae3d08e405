/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inference.h - is a difference more than chance? Statistics on arrays, through GSL
 *
 * The boot is the unit of replication, runs in it are sub-samples. Figures are
 * compared as ratios, so all is done on logarithms: a side's mean is the geometric
 * mean over its boots of the geometric mean over each boot's runs, a difference is
 * the ratio of two such means. Two-sided throughout. Which method, and why, is
 * argued in results/README.md and shown by tests/unit_simulation.c.
 */
#ifndef KONTEST_INFERENCE_H
#define KONTEST_INFERENCE_H

#include "results/base/text.h"

#define INFER_LEVEL 0.05	/* of errors that are put up with, in a whole report */
#define INFER_CONFIDENCE 0.95	/* of intervals */
#define INFER_POWER 0.80	/* of a change that "can be told" */

DEFINE_VECTOR(doubles, double)
DEFINE_VECTOR(sizes, size_t)

/**
 * struct nested - the observations of a side: runs in boots
 * @v: values, boot by boot; owned
 * @runs: of each boot, how many values are its; owned
 *
 * Initialise with { 0 }.
 */
struct nested {
	struct doubles v;
	struct sizes runs;
};

/* nested_add() - another run, of the last boot or of a @new_boot */
void nested_add(struct nested *n, double v, bool new_boot);
void nested_free(struct nested *n);
/* nested_boot_logs() - of each boot the mean of its values' logarithms; owned by the
 * caller, n->runs.n of them. NAN where a value is not above 0 */
double *nested_boot_logs(const struct nested *n);

/* struct interval - both ends; NAN: there is none */
struct interval {
	double low, high;
};

/**
 * struct welch - two means compared
 * @diff: mean of b - mean of a
 * @ci: of @diff
 * @t, @dof: the statistic and its degrees of freedom
 * @p: that of no difference
 */
struct welch {
	double diff;
	struct interval ci;
	double t, dof, p;
};

/**
 * welch_test() - do two samples that may spread differently have one mean?
 * @a, @b: independent observations; @na, @nb: how many
 * @confidence: of the interval
 *
 * Welch, Biometrika 34 (1947), 28-35; degrees of freedom of Satterthwaite (1946).
 * Two constant samples differ surely (p 0, an interval of no width) or not at all
 * (p 1).
 *
 * Return: all NAN but @diff with fewer than two of either or where a value is NAN.
 */
struct welch welch_test(const double *a, size_t na, const double *b, size_t nb,
			double confidence);

/* student_test() - the same with one spread that both samples share, Student's t of two
 * samples */
struct welch student_test(const double *a, size_t na, const double *b, size_t nb,
			  double confidence);

/**
 * struct rank_test - Mann and Whitney's test
 * @u: pairs in which b is above a, and half of those that are equal
 * @p: that of no difference
 * @exact: by counting all ways to deal the ranks out; else the normal approximation
 */
struct rank_test {
	double u, p;
	bool exact;
};

/* How many observations are counted through; more take the normal approximation */
#define RANK_EXACT_MAX 100

/**
 * rank_test() - would chance part two samples so?
 * @a, @b: independent observations; @na, @nb: how many
 *
 * Mann and Whitney, Annals of Mathematical Statistics 18 (1947), 50-60. The p-value
 * is the share of all ways to deal out the na + nb midranks in which U is at least as
 * far from na nb / 2, so it holds with ties too; the ways are counted, none is drawn.
 * It asks nothing of the shape of the noise. Above RANK_EXACT_MAX together: normal,
 * with the correction for ties and for continuity.
 *
 * Return: NAN without one of each or where a value is NAN.
 */
struct rank_test rank_test(const double *a, size_t na, const double *b, size_t nb);

/* rank_min_p() - the smallest p-value that rank_test() can give: 2 / C(na + nb, na);
 * 1 without one of each */
double rank_min_p(size_t na, size_t nb);
/* rank_min_boots() - observations that either side needs, both having as many, for
 * rank_min_p() to be at most @level; 0 for a @level that is none (0 < level < 1) */
size_t rank_min_boots(double level);

/* rank_pairs_against() - the most of the @na * @nb pairs that may stand the other way round
 * for rank_test() to give a p of @level or less, which rank_min_p() must be capable of */
size_t rank_pairs_against(size_t na, size_t nb, double level);

/**
 * holm_adjust() - p-values for a report of several comparisons
 * @p: n of them; NAN: not tested, and not counted
 * @adjusted: n, may be @p; NAN where @p is
 *
 * Holm, Scandinavian Journal of Statistics 6 (1979), 65-70: whatever is called a
 * difference at an adjusted p of 0.05, the chance that any of it is none is 5 %.
 */
void holm_adjust(const double *p, size_t n, double *adjusted);

/* Of the bootstrap: fixed, so that a report can be made again to the byte */
#define BOOTSTRAP_SEED 20030603
#define BOOTSTRAP_RESAMPLES 2000
/* Boots of either side from which on its interval covers what it says: with 5 it is 89 % */
#define BOOTSTRAP_BOOTS 20

/**
 * nested_bootstrap() - interval of a ratio of means by resampling boots, then runs
 * @a, @b: values above 0
 * @confidence: for instance 0.95
 * @seed: of gsl_rng_mt19937
 *
 * Percentiles of the ratio over BOOTSTRAP_RESAMPLES resamples (Efron 1979; two stages:
 * Davison and Hinkley 1997, section 3.8). With few boots it is too narrow, as
 * tests/unit_simulation.c shows, so no verdict rests on it: from BOOTSTRAP_BOOTS on it
 * stands beside.
 *
 * Return: interval of b / a; NAN with fewer than two boots on either side.
 */
struct interval nested_bootstrap(const struct nested *a, const struct nested *b,
				 double confidence, unsigned long seed);

/**
 * struct ratio - one side against another
 * @boots, @runs: behind it; [0] the baseline's, [1] the other's
 * @mean: geometric mean of each
 * @sd_log: standard deviation of the boots' mean logarithms, of each
 * @ratio: mean[1] / mean[0]
 * @ci: of @ratio, INFER_CONFIDENCE, Welch on the boots' mean logarithms; Student's where
 *	that is wider, which it can be when one side has fewer boots than the other: of
 *	few that happen to lie close together Welch believes that they always do
 * @welch_p: of no difference, by the same test; @rank_p: by the ranks
 * @p: the greater of both: that of Welch is only as good as the noise is regular,
 *	that of the ranks holds for any noise
 * @min_p: the smallest that @p can be with so many boots
 *
 * NAN where it cannot be told: means without a run, all else but @min_p with fewer
 * than two boots of either or with a value that is not above 0.
 */
struct ratio {
	size_t boots[2], runs[2];
	double mean[2], sd_log[2];
	double ratio;
	struct interval ci;
	double welch_p, rank_p, p, min_p;
};

/* ratio_infer() - of @b to @a, the baseline */
struct ratio ratio_infer(const struct nested *a, const struct nested *b);

/* nested_ci() - interval of one side's own geometric mean (Student's t on the boots'
 * mean logarithms); NAN with fewer than two boots */
struct interval nested_ci(const struct nested *n, double confidence);

/* ratio_pct() - a ratio as a difference in %: 1.02 is 2 */
double ratio_pct(double ratio);

/**
 * detectable_pct() - the smallest change that so many boots tell
 * @sd_a, @sd_b: standard deviations of the boots' mean logarithms
 * @na, @nb: boots of each
 * @level: at which a change is told, for instance INFER_LEVEL
 *
 * The change in %, upwards, that both tests of ratio_infer() tell at @level with a
 * chance of INFER_POWER, if the noise is normal. With few boots it is found by trials,
 * always the same ones: each experiment that is made up has a change from which on both
 * tells it, and INFER_POWER of them have it no higher than this. With more it is
 * (t(1 - level / 2) + t(INFER_POWER)) * standard error, on the logarithms (Bloom,
 * Evaluation Review 19 (1995), 547-556), and 5 % for the ranks. A spread known from few
 * boots is known badly, and so is this.
 *
 * Return: %; NAN with fewer than two boots, INFINITY when no change reaches @level.
 */
double detectable_pct(double sd_a, double sd_b, size_t na, size_t nb, double level);

/* Boots beyond which nobody goes: boots_to_tell() says no more than that */
#define BOOTS_MAX 10000

/**
 * boots_to_tell() - boots of each kernel that tell a change
 * @sd_a, @sd_b: as above
 * @pct: the change in %, above 0
 * @level: as above
 *
 * Return: the smallest number n with detectable_pct(..., n, n, level) <= @pct;
 * BOOTS_MAX when more would be needed; 0 when a spread is not known.
 */
size_t boots_to_tell(double sd_a, double sd_b, double pct, double level);

#endif
