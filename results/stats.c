/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stats.c - means and confidence, through GSL
 */
#include "results/stats.h"

#include <math.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>

double stats_mean(const double *v, size_t n)
{
	return n ? gsl_stats_mean(v, 1, n) : NAN;
}

double stats_sd(const double *v, size_t n)
{
	return n >= 2 ? gsl_stats_sd(v, 1, n) : NAN;
}

double stats_t_quantile(double confidence, size_t dof)
{
	if (dof < 1 || !(confidence > 0 && confidence < 1))
		return NAN;
	return gsl_cdf_tdist_Pinv(0.5 + confidence / 2, (double)dof);
}

double stats_half_width(const double *v, size_t n, double confidence)
{
	if (n < 2)
		return NAN;
	return stats_t_quantile(confidence, n - 1) * stats_sd(v, n) /
	       sqrt((double)n);
}

double stats_welch_dof(double va, double vb, size_t na, size_t nb)
{
	/* Shares, not the variances themselves: their squares may underflow */
	double a = va / (va + vb), b = vb / (va + vb);

	if (na < 2 || nb < 2 || !isfinite(a + b))
		return NAN;
	return 1 / (a * a / (double)(na - 1) + b * b / (double)(nb - 1));
}

double stats_welch_half_width(const double *a, size_t na, const double *b,
			      size_t nb, double confidence)
{
	double va, vb;

	if (na < 2 || nb < 2 || !(confidence > 0 && confidence < 1))
		return NAN;
	va = gsl_stats_variance(a, 1, na) / (double)na;
	vb = gsl_stats_variance(b, 1, nb) / (double)nb;
	if (va + vb == 0)
		return 0;
	/* GSL ends the program for an argument that is no number. */
	if (!isfinite(va + vb))
		return NAN;
	return gsl_cdf_tdist_Pinv(0.5 + confidence / 2,
				  stats_welch_dof(va, vb, na, nb)) *
	       sqrt(va + vb);
}
