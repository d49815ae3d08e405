/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_inference.c - each statistic, held to figures that others have published
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "results/base/cleanup.h"
#include "results/inference.h"

#define N(v) (sizeof(v) / sizeof((v)[0]))

static void near(double got, double want, double within)
{
	if (!(fabs(got - want) <= within))
		fail_msg("%.10g, not %.10g", got, want);
}

/* --- Welch ------------------------------------------------------------------------- */

/* Student's sleep data: R's example(t.test), t.test(extra ~ group, data = sleep):
 * t = -1.8608, df = 17.776, p-value = 0.07939, interval -3.3654832 to 0.2054832; scipy's
 * ttest_ind(equal_var=False) has the same p, 0.0793941401873582 */
static void welch_of_student(void **state)
{
	static const double one[] = { 0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0,
				      2.0 };
	static const double two[] = { 1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6,
				      3.4 };
	struct welch w = welch_test(two, N(two), one, N(one), 0.95);

	(void)state;
	near(w.t, -1.8608, 0.00005);
	near(w.dof, 17.776, 0.0005);
	near(w.p, 0.0793941401873582, 1e-12);
	near(w.ci.low, -3.3654832, 5e-8);
	near(w.ci.high, 0.2054832, 5e-8);
	near(w.diff, 0.75 - 2.33, 1e-12);
}

/* The same data, var.equal = TRUE: df = 18, p-value = 0.07919, interval -3.363874 to
 * 0.203874 */
static void student_of_student(void **state)
{
	static const double one[] = { 0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0,
				      2.0 };
	static const double two[] = { 1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6,
				      3.4 };
	struct welch w = student_test(two, N(two), one, N(one), 0.95);

	(void)state;
	near(w.t, -1.8608, 0.00005);
	near(w.dof, 18, 0);
	near(w.p, 0.07919, 0.000005);
	near(w.ci.low, -3.363874, 5e-7);
	near(w.ci.high, 0.203874, 5e-7);
	assert_true(isnan(student_test(one, 1, two, 3, 0.95).p));
}

static void welch_of_little(void **state)
{
	static const double one[] = { 3 }, flat[] = { 2, 2, 2 }, more[] = { 5, 5 };
	static const double bad[] = { 1, NAN, 2 };
	struct welch w = welch_test(one, 1, flat, 3, 0.95);

	(void)state;
	near(w.diff, -1, 0);
	assert_true(isnan(w.p) && isnan(w.t) && isnan(w.dof) && isnan(w.ci.low));
	w = welch_test(flat, 3, flat, 3, 0.95);
	assert_true(w.p == 1 && w.ci.low == 0 && w.ci.high == 0);
	w = welch_test(flat, 3, more, 2, 0.95);
	assert_true(w.p == 0 && w.ci.low == 3 && w.ci.high == 3);
	w = welch_test(flat, 3, bad, 3, 0.95);
	assert_true(isnan(w.diff) && isnan(w.p));
	w = welch_test(flat, 0, more, 2, 0.95);
	assert_true(isnan(w.diff) && isnan(w.p));
	/* one constant side: n - 1 of the other are the degrees of freedom */
	w = welch_test(flat, 3, (const double[]) { 1, 2, 4 }, 3, 0.95);
	near(w.dof, 2, 1e-12);
}

/* --- Mann and Whitney ---------------------------------------------------------------- */

/* scipy.stats.mannwhitneyu's example: U = 17 for the males, of 20 pairs, p = 0.1111 */
static void ranks_of_scipy(void **state)
{
	static const double males[] = { 19, 22, 16, 29, 24 };
	static const double females[] = { 20, 11, 17, 12 };
	struct rank_test r = rank_test(females, 4, males, 5);

	(void)state;
	assert_true(r.exact);
	near(r.u, 17, 0);
	near(r.p, 14.0 / 126, 1e-12);
	r = rank_test(males, 5, females, 4);
	near(r.u, 3, 0);
	near(r.p, 14.0 / 126, 1e-12);
}

/* R's example(wilcox.test), Hollander and Wolfe (1973), page 69: W = 35, one-sided
 * p-value = 0.1272; SAS NPAR1WAY of the same data: exact, Pr >= |S - Mean| 0.2544 */
static void ranks_of_hollander_and_wolfe(void **state)
{
	static const double x[] = { 0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73,
				    1.46 };
	static const double y[] = { 1.15, 0.88, 0.90, 0.74, 1.21 };
	struct rank_test r = rank_test(y, N(y), x, N(x));

	(void)state;
	near(r.u, 35, 0);
	near(r.p, 0.2544, 0.00005);
}

/* Ties: blood pressures of Mehta and Patel, R's example(wilcox.exact) of exactRankTests:
 * two-sided p-value = 0.0989, which is 135 of the C(15, 4) = 1365 ways */
static void ranks_with_ties(void **state)
{
	static const double treated[] = { 94, 108, 110, 90 };
	static const double control[] = { 80, 94, 85, 90, 90, 90, 108, 94, 78, 105, 88 };
	static const double few[] = { 1, 1, 2 }, many[] = { 2, 3, 3, 3, 4 };
	static const double same[] = { 7, 7, 7, 7 };
	struct rank_test r = rank_test(control, N(control), treated, N(treated));

	(void)state;
	near(r.p, 135.0 / 1365, 1e-12);
	near(r.p, 0.0989, 0.00005);
	near(rank_test(treated, N(treated), control, N(control)).p, r.p, 1e-12);
	/* counted through by hand: no other choice of 3 of the 8 ranks is so far off but
	 * the one with the other 2 */
	near(rank_test(few, 3, many, 5).p, 2.0 / 56, 1e-12);
	near(rank_test(same, 4, same, 4).p, 1, 0);
	near(rank_test(same, 4, same, 4).u, 8, 0);
}

static void ranks_of_many(void **state)
{
	double a[60], b[60];
	struct rank_test exact, normal;

	(void)state;
	/* b above a in 60 %, with ties: the approximation comes near the count */
	for (size_t i = 0; i < 60; i++) {
		a[i] = (double)(i % 20);
		b[i] = (double)(i * 7 % 20) + (double)(i % 5);
	}
	exact = rank_test(a, 50, b, 50);
	normal = rank_test(a, 51, b, 50);
	assert_true(exact.exact && !normal.exact);
	near(normal.p, exact.p, 0.2 * exact.p);
	assert_true(exact.p < 0.05 && exact.p > 0.0001);
	for (size_t i = 0; i < 60; i++)
		a[i] = b[i] = 1;
	near(rank_test(a, 60, b, 60).p, 1, 0);
}

static void ranks_of_little(void **state)
{
	static const double one[] = { 1 }, two[] = { 2, NAN };

	(void)state;
	near(rank_test(one, 1, two, 1).p, 1, 0);
	assert_true(isnan(rank_test(one, 1, two, 2).p));
	assert_true(isnan(rank_test(one, 1, two, 0).p));
	near(rank_min_p(4, 4), 2.0 / 70, 1e-15);
	near(rank_min_p(3, 5), 2.0 / 56, 1e-15);
	near(rank_min_p(0, 5), 1, 0);
	near(rank_min_p(40, 40) / (2 / 1.07507208733336e23), 1, 1e-10);
	assert_int_equal(rank_min_boots(0.05), 4);	/* 2 / 20 = 0.1, 2 / 70 = 0.029 */
	assert_int_equal(rank_min_boots(0.05 / 2), 5);
	assert_int_equal(rank_min_boots(0.05 / 11), 6);
	assert_int_equal(rank_min_boots(0), 0);
	assert_int_equal(rank_min_boots(NAN), 0);
}

/* --- Holm ------------------------------------------------------------------------------ */

/* Of stdlib's padjust, which follows R's p.adjust: 0.957, 0.804, 0.957, 0.957, 0.565; and
 * the example of Holm's method in Wikipedia, by R: 0.03, 0.06, 0.06, 0.02 */
static void holm_of_r(void **state)
{
	static const double p[] = { 0.319, 0.201, 0.4, 0.374, 0.113 };
	static const double want[] = { 0.957, 0.804, 0.957, 0.957, 0.565 };
	static const double wiki[] = { 0.01, 0.04, 0.03, 0.005 };
	static const double adjusted[] = { 0.03, 0.06, 0.06, 0.02 };
	double got[5], gaps[] = { NAN, 0.02, NAN, 0.9, 0.02 };

	(void)state;
	holm_adjust(p, 5, got);
	for (size_t i = 0; i < 5; i++)
		near(got[i], want[i], 1e-12);
	holm_adjust(wiki, 4, got);
	for (size_t i = 0; i < 4; i++)
		near(got[i], adjusted[i], 1e-12);
	holm_adjust(gaps, 5, gaps);
	assert_true(isnan(gaps[0]) && isnan(gaps[2]));
	near(gaps[1], 0.06, 1e-12);
	near(gaps[4], 0.06, 1e-12);
	near(gaps[3], 0.9, 1e-12);
	holm_adjust(gaps, 0, gaps);
}

/* --- ratios ---------------------------------------------------------------------------- */

static struct nested nest(const double *v, const size_t *runs, size_t boots)
{
	struct nested n = { 0 };

	for (size_t b = 0; b < boots; b++)
		for (size_t r = 0; r < runs[b]; r++)
			nested_add(&n, *v++, r == 0);
	return n;
}

/* Runs are sub-samples: however many a boot has, it counts once */
static void ratio_by_boots(void **state)
{
	static const double a_v[] = { 10, 10, 40, 40 }, b_v[] = { 5, 20, 80, 80, 80 };
	static const size_t a_runs[] = { 1, 1, 1, 1 }, b_runs[] = { 2, 3 };
	CLEANUP(nested_free) struct nested a = nest(a_v, a_runs, 4);
	CLEANUP(nested_free) struct nested b = nest(b_v, b_runs, 2);
	struct ratio r = ratio_infer(&a, &b);

	(void)state;
	assert_int_equal(r.boots[0], 4);
	assert_int_equal(r.boots[1], 2);
	assert_int_equal(r.runs[1], 5);
	near(r.mean[0], 20, 1e-9);
	near(r.mean[1], sqrt(10 * 80), 1e-9);
	near(r.ratio, sqrt(2), 1e-12);
	near(r.sd_log[1], log(8) / sqrt(2), 1e-12);
	near(r.p, fmax(r.welch_p, r.rank_p), 0);
	assert_true(r.ci.low < r.ratio && r.ratio < r.ci.high);
	/* a ratio turned round is its inverse, and so are the ends of its interval */
	near(ratio_infer(&b, &a).ci.low, 1 / r.ci.high, 1e-12);
}

/* One run a boot, or three that are as long: not the last bit apart */
static void ratio_of_constants(void **state)
{
	CLEANUP(nested_free) struct nested one = { 0 }, three = { 0 };
	struct ratio r;

	(void)state;
	for (size_t i = 0; i < 12; i++) {
		if (i < 4)
			nested_add(&one, 73.123456789, true);
		nested_add(&three, 73.123456789, i % 3 == 0);
	}
	r = ratio_infer(&one, &three);
	assert_true(r.p == 1 && r.ratio == 1 && r.ci.low == 1 && r.ci.high == 1);
	assert_int_equal(r.boots[1], 4);
}

/* Four boots that lie close together by chance, against twenty that do not */
static void ratio_of_few_and_many(void **state)
{
	CLEANUP(nested_free) struct nested few = { 0 }, many = { 0 };
	struct ratio r;

	(void)state;
	for (size_t i = 0; i < 4; i++)
		nested_add(&few, 100 + 0.1 * (double)i, true);
	for (size_t i = 0; i < 20; i++)
		nested_add(&many, i % 2 ? 100 : 110 + 0.1 * (double)i, true);
	r = ratio_infer(&few, &many);
	/* Student's: t(22) = 2.074, a spread of 5.6 %, sqrt(1/4 + 1/20): +-6.1 %; Welch's
	 * would have been +-2.6 % about +5.4 % */
	assert_true(r.ci.low < 1 && r.ci.high > 1.11 && r.ci.high < 1.13);
	assert_true(r.welch_p > 0.05);
}

static void ratio_of_little(void **state)
{
	static const double v[] = { 3, 3, 0, 3 };
	static const size_t runs[] = { 1, 1, 1, 1 };
	CLEANUP(nested_free) struct nested none = { 0 }, one = nest(v, runs, 1);
	CLEANUP(nested_free) struct nested two = nest(v, runs, 2), zero = nest(v, runs, 4);
	struct ratio r = ratio_infer(&none, &one);

	(void)state;
	assert_true(isnan(r.mean[0]) && isnan(r.ratio) && isnan(r.p) && r.min_p == 1);
	near(r.mean[1], 3, 1e-12);
	r = ratio_infer(&one, &two);
	near(r.ratio, 1, 0);
	assert_true(isnan(r.p) && isnan(r.ci.low) && isnan(r.rank_p));
	r = ratio_infer(&two, &two);
	assert_true(r.p == 1 && r.ci.low == 1 && r.ci.high == 1);
	r = ratio_infer(&two, &zero);
	assert_true(isnan(r.ratio) && isnan(r.p) && isnan(r.mean[1]));
	assert_true(isnan(nested_ci(&one, 0.95).low));
}

/* --- the bootstrap ----------------------------------------------------------------------- */

static void bootstrap(void **state)
{
	static const double flat_v[] = { 2, 2, 2 }, v[] = { 90, 95, 100, 105, 110, 115 };
	static const double far_v[] = { 1, 1, 1, 16 };
	static const size_t one[] = { 1, 1, 1, 1, 1, 1 }, pairs[] = { 2, 2 };
	CLEANUP(nested_free) struct nested flat = nest(flat_v, one, 3);
	CLEANUP(nested_free) struct nested six = nest(v, one, 6), single = nest(v, one, 1);
	CLEANUP(nested_free) struct nested two = nest(far_v, pairs, 2);
	struct interval i = nested_bootstrap(&flat, &flat, 0.95, 1), again;

	(void)state;
	assert_true(i.low == 1 && i.high == 1);
	i = nested_bootstrap(&flat, &six, 0.95, 1);
	again = nested_bootstrap(&flat, &six, 0.95, 1);
	assert_true(i.low == again.low && i.high == again.high);
	again = nested_bootstrap(&flat, &six, 0.95, 2);
	assert_true(i.low != again.low);
	assert_true(i.low < 50.7 && i.high > 50.7 && i.low > 45 && i.high < 57.5);
	again = nested_bootstrap(&flat, &six, 0.5, 1);
	assert_true(i.low < again.low && i.high > again.high);
	/* Boots, then runs: one boot has 1 and 1, the other 1 and 16. That one drawn
	 * twice, with 16 for all four runs, comes up in 1 of 4 * 16 resamples, 1.6 %; with
	 * three of them 16 in 1 of 16: so 3/4 of log 16 is the quantile of 97.5 % */
	i = nested_bootstrap(&flat, &two, 0.95, 1);
	near(i.low, 0.5, 1e-12);
	near(i.high, exp(log(16) * 0.75) / 2, 1e-9);
	i = nested_bootstrap(&single, &six, 0.95, 1);
	assert_true(isnan(i.low) && isnan(i.high));
}

/* --- power ------------------------------------------------------------------------------ */

/*
 * R's power.t.test(delta = 1, sd = 1, power = 0.8) needs n = 16.71 of each for the t-test
 * alone. Both tests together ask for some 5 % more change, so for 9 to 20 % more boots.
 */
static void power_of_r(void **state)
{
	double delta = ratio_pct(exp(0.01));	/* as large as the spread */
	size_t n = boots_to_tell(0.01, 0.01, delta, 0.05);

	(void)state;
	assert_in_range(n, 17, 20);
	assert_true(detectable_pct(0.01, 0.01, n, n, 0.05) <= delta);
	assert_true(detectable_pct(0.01, 0.01, n - 1, n - 1, 0.05) > delta);
	/* many boots, where it is a formula: z(0.975) + z(0.8) = 2.8016 standard errors */
	near(log(1 + detectable_pct(0.1, 0.1, 5000, 5000, 0.05) / 100) /
	     (0.1 * sqrt(2.0 / 5000)), 1.05 * 2.8016, 0.003);
}

static void power_of_little(void **state)
{
	(void)state;
	assert_true(isinf(detectable_pct(0.01, 0.01, 3, 3, 0.05)));
	assert_true(isinf(detectable_pct(0, 0, 3, 3, 0.05)));
	assert_true(detectable_pct(0, 0, 4, 4, 0.05) == 0);
	assert_true(isnan(detectable_pct(0.01, 0.01, 1, 4, 0.05)));
	assert_true(isnan(detectable_pct(NAN, 0.01, 4, 4, 0.05)));
	assert_true(isnan(detectable_pct(0.01, 0.01, 4, 4, 0)));
	assert_true(detectable_pct(0, 0.01, 4, 4, 0.05) > 0);
	assert_int_equal(boots_to_tell(0, 0, 1, 0.05), 4);
	assert_int_equal(boots_to_tell(0, 0, 1, 0.05 / 11), 6);
	assert_int_equal(boots_to_tell(NAN, 0.01, 1, 0.05), 0);
	assert_int_equal(boots_to_tell(0.01, 0.01, 0, 0.05), 0);
	assert_int_equal(boots_to_tell(5, 5, 0.01, 0.05), BOOTS_MAX);
	/* more boots, more told; more spread, less */
	for (size_t n = 4; n < 40; n++)
		assert_true(detectable_pct(0.02, 0.02, n + 4, n + 4, 0.05) <
			    detectable_pct(0.02, 0.02, n, n, 0.05));
	assert_true(detectable_pct(0.04, 0.04, 6, 6, 0.05) >
		    1.9 * detectable_pct(0.02, 0.02, 6, 6, 0.05));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(welch_of_student),
		cmocka_unit_test(student_of_student),
		cmocka_unit_test(welch_of_little),
		cmocka_unit_test(ranks_of_scipy),
		cmocka_unit_test(ranks_of_hollander_and_wolfe),
		cmocka_unit_test(ranks_with_ties),
		cmocka_unit_test(ranks_of_many),
		cmocka_unit_test(ranks_of_little),
		cmocka_unit_test(holm_of_r),
		cmocka_unit_test(ratio_by_boots),
		cmocka_unit_test(ratio_of_constants),
		cmocka_unit_test(ratio_of_few_and_many),
		cmocka_unit_test(ratio_of_little),
		cmocka_unit_test(bootstrap),
		cmocka_unit_test(power_of_r),
		cmocka_unit_test(power_of_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
