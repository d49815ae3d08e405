/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stats.h - means and confidence, through GSL
 */
#ifndef KONTEST_STATS_H
#define KONTEST_STATS_H

#include <stddef.h>

/* stats_mean() - arithmetic mean; NAN when @n is 0 */
double stats_mean(const double *v, size_t n);

/* stats_sd() - standard deviation of the sample (n - 1); NAN below 2 values */
double stats_sd(const double *v, size_t n);

/**
 * stats_t_quantile() - two-sided quantile of Student's t
 * @confidence: for instance 0.95, between 0 and 1
 * @dof: degrees of freedom, at least 1
 *
 * Return: t with P(-t <= T <= t) = @confidence; NAN for bad arguments.
 */
double stats_t_quantile(double confidence, size_t dof);

/**
 * stats_half_width() - half the confidence interval of a mean
 * @v: independent observations (here: one a boot, see report.h)
 * @n: how many
 * @confidence: for instance 0.95
 *
 * t(confidence, n - 1) * sd / sqrt(n), the interval of Student (1908).
 *
 * Return: the half-width in the unit of @v; NAN below 2 observations.
 */
double stats_half_width(const double *v, size_t n, double confidence);

/* stats_welch_dof() - Satterthwaite's degrees of freedom of a difference; @va, @vb:
 * variances of the two means, of @na and @nb observations; NAN when they are both 0 or
 * of fewer than two */
double stats_welch_dof(double va, double vb, size_t na, size_t nb);

/**
 * stats_welch_half_width() - half the confidence interval of a difference of
 *	two means, of samples that may spread differently
 * @a, @b: independent observations; @na, @nb: how many
 * @confidence: for instance 0.95
 *
 * t(confidence, dof) * sqrt(va + vb) with va, vb = variance / n of each, and
 * dof = (va + vb)^2 / (va^2 / (na - 1) + vb^2 / (nb - 1)): Welch, Biometrika 34
 * (1947), 28-35, with the degrees of freedom of Satterthwaite (1946).
 *
 * Return: the half-width; NAN when either has fewer than 2 observations or one that is
 * no number.
 */
double stats_welch_half_width(const double *a, size_t na, const double *b,
			      size_t nb, double confidence);

#endif
