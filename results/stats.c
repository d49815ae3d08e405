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
