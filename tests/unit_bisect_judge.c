/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_bisect_judge.c - good, bad, or not to be told
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "host/bisect_judge.h"

/* of() - one run in each boot */
static struct nested of(const double *v, size_t n)
{
	struct nested f = { 0 };

	for (size_t i = 0; i < n; i++)
		nested_add(&f, v[i], true);
	return f;
}

#define OF(...) of((const double[]){ __VA_ARGS__ }, \
		   sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double))

static struct bisect_call judge(struct nested good, struct nested bad, struct nested x,
				double resolution_pct)
{
	struct bisect_call c = bisect_judge(&good, &bad, &x, resolution_pct);

	nested_free(&good);
	nested_free(&bad);
	nested_free(&x);
	return c;
}

static struct bisect_gap gap_of(struct nested good, struct nested bad, double resolution_pct,
				double threshold_pct)
{
	struct bisect_gap g = bisect_gap(&good, &bad, resolution_pct, threshold_pct);

	nested_free(&good);
	nested_free(&bad);
	return g;
}

static void near(double a, double b)
{
	assert_true(fabs(a - b) < 1e-6 * fabs(b));
}

/* Reference values: the same formulas in Python, with Student's t
 * integrated by Simpson's rule */
static void the_interval_is_satterthwaites(void **state)
{
	struct bisect_call c = judge(OF(10.0, 10.4, 9.8, 10.1), OF(12.0, 12.6, 12.2, 11.9),
				     OF(10.2, 10.5, 9.9, 10.6), 0);

	(void)state;
	near(c.mean, 10.2963343);
	near(c.low, 9.8368012);
	near(c.high, 10.7773347);
	near(c.boundary, 11.0727354);
	assert_int_equal(c.verdict, BISECT_GOOD);
	assert_int_equal(c.boots, 4);
}

static void a_side_is_a_side_whichever_is_slower(void **state)
{
	struct bisect_call c;

	(void)state;
	c = judge(OF(12.0, 12.1), OF(10.0, 10.1), OF(10.05, 10.0), 0);
	assert_int_equal(c.verdict, BISECT_BAD);
	c = judge(OF(12.0, 12.1), OF(10.0, 10.1), OF(13.0, 13.1), 0);
	assert_int_equal(c.verdict, BISECT_GOOD);
}

static void what_the_interval_does_not_clear_stays_open(void **state)
{
	struct bisect_call c = judge(OF(10.0, 10.4, 9.8, 10.1), OF(12.0, 12.6, 12.2, 11.9),
				     OF(10.0, 11.4, 10.2, 12.0), 0);

	(void)state;
	assert_int_equal(c.verdict, BISECT_OPEN);
	assert_true(c.low < c.boundary && c.boundary < c.high);
}

/* The ends' own noise widens the interval: a commit whose boots agree is not enough. */
static void uncertain_ends_leave_it_open(void **state)
{
	struct bisect_call c = judge(OF(9.0, 11.0), OF(11.0, 13.0), OF(10.50, 10.51), 0);

	(void)state;
	assert_int_equal(c.verdict, BISECT_OPEN);
}

static void one_boot_tells_with_a_resolution_alone(void **state)
{
	struct bisect_call c = judge(OF(10.0), OF(12.0), OF(10.0), 0);

	(void)state;
	assert_int_equal(c.verdict, BISECT_OPEN);
	assert_true(isnan(c.low) && isnan(c.high));
	c = judge(OF(10.0), OF(12.0), OF(10.0), 0.5);
	assert_int_equal(c.verdict, BISECT_GOOD);
	c = judge(OF(10.0), OF(12.0), OF(12.0), 0.5);
	assert_int_equal(c.verdict, BISECT_BAD);
	/* No figure at all */
	c = judge(OF(10.0), OF(12.0), (struct nested){ 0 }, true);
	assert_int_equal(c.verdict, BISECT_OPEN);
	assert_int_equal(c.boots, 0);
}

/* Each of the three figures may be 0.5 % off: 1 % from the boundary is needed. */
static void a_resolution_is_a_floor(void **state)
{
	double mid = sqrt(10.0 * 12.0);

	(void)state;
	assert_int_equal(judge(OF(10.0), OF(12.0), OF(mid * 1.009), 0.5).verdict, BISECT_OPEN);
	assert_int_equal(judge(OF(10.0), OF(12.0), OF(mid * 1.011), 0.5).verdict, BISECT_BAD);
	assert_int_equal(judge(OF(10.0), OF(12.0), OF(mid / 1.011), 0.5).verdict, BISECT_GOOD);
	/* Which boots of one image do not make any finer */
	assert_int_equal(judge(OF(10.0, 10.0), OF(12.0, 12.0), OF(mid * 1.009, mid * 1.009),
			       0.5).verdict, BISECT_OPEN);
	/* And their spread counts on top */
	assert_int_equal(judge(OF(9.0, 11.0), OF(11.0, 13.0), OF(mid * 1.02, mid * 1.03),
			       0.5).verdict, BISECT_OPEN);
}

static void ends_that_are_too_close_are_refused(void **state)
{
	struct bisect_gap g = gap_of(OF(10.0), OF(10.1), 0.5, 1);

	(void)state;
	assert_true(g.small && !g.told);
	assert_true(g.floor_pct > 2.0 && g.floor_pct < 2.05);
	near(g.pct, 1.0);
	g = gap_of(OF(10.0), OF(10.25), 0.5, 1);
	assert_true(g.told && !g.small);
	g = gap_of(OF(10.25), OF(10.0), 0.5, 1);
	assert_true(g.told);
	g = gap_of(OF(10.0), OF(10.25), 0.5, 5);
	assert_true(g.small && !g.told);
	/* Surely different, and too little to count */
	g = gap_of(OF(10.0, 10.01, 9.99, 10.0), OF(10.05, 10.06, 10.04, 10.05), 0, 1);
	assert_true(g.small && !g.told);
	g = gap_of(OF(10.0, 10.01, 9.99, 10.0), OF(10.05, 10.06, 10.04, 10.05), 0, 0.1);
	assert_true(g.told);
}

static void noisy_ends_say_how_many_boots_they_need(void **state)
{
	struct bisect_gap g = gap_of(OF(10.0, 11.0, 9.0, 10.5), OF(10.8, 9.5, 11.5, 10.6),
				     0, 1);

	(void)state;
	assert_false(g.told);
	assert_false(g.small);
	assert_true(g.low < 0 && g.high > 0);
	assert_true(g.need > 4 && g.need < BOOTS_MAX);
	/* As many boots can never tell */
	g = gap_of(OF(10.0, 10.1), OF(12.0, 12.1), 0, 1);
	assert_false(g.told);
	assert_true(g.need >= rank_min_boots(INFER_LEVEL));
}

/* rates() - of so many commits whose true mean is at @at (0: GOOD, 1: BAD) */
static void rates(double at, size_t n, double *good, double *bad)
{
	const double distance = log(1.05), sd = 0.02;
	const int trials = 4000;
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	int verdicts[BISECT_VERDICTS] = { 0 };

	gsl_rng_set(rng, 7);
	for (int i = 0; i < trials; i++) {
		const double mean[] = { 0, distance, at * distance };
		struct nested f[3] = { 0 };

		for (size_t k = 0; k < 3; k++)
			for (size_t b = 0; b < n; b++)
				nested_add(&f[k], exp(mean[k] + gsl_ran_gaussian(rng, sd)), true);
		verdicts[judge(f[0], f[1], f[2], 0).verdict]++;
	}
	gsl_rng_free(rng);
	*good = verdicts[BISECT_GOOD] / (double)trials;
	*bad = verdicts[BISECT_BAD] / (double)trials;
	printf("at %.2f, %zu boots each: good %.4f, bad %.4f\n", at, n, *good, *bad);
}

/* 4000 trials: the standard error of a rate of 5 % is 0.35 % */
static void verdicts_are_as_wrong_as_promised(void **state)
{
	double good, bad;

	(void)state;
	for (size_t n = 2; n <= 16; n *= 2) {
		rates(0.5, n, &good, &bad);
		assert_true(good + bad < 0.05 + 3 * 0.0035);
		rates(0, n, &good, &bad);
		assert_true(bad < 0.005);
	}
	/* And with boots enough they are given */
	assert_true(good > 0.95);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_interval_is_satterthwaites),
		cmocka_unit_test(a_side_is_a_side_whichever_is_slower),
		cmocka_unit_test(what_the_interval_does_not_clear_stays_open),
		cmocka_unit_test(uncertain_ends_leave_it_open),
		cmocka_unit_test(one_boot_tells_with_a_resolution_alone),
		cmocka_unit_test(a_resolution_is_a_floor),
		cmocka_unit_test(ends_that_are_too_close_are_refused),
		cmocka_unit_test(noisy_ends_say_how_many_boots_they_need),
		cmocka_unit_test(verdicts_are_as_wrong_as_promised),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
