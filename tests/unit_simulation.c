/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_simulation.c - what `kontest compare` says of kernels that are known to differ
 * by so much, a great many times: false verdicts, coverage of the interval, power
 *
 * Noise of four shapes between boots, and 1 % between the runs of a boot. Seeds are
 * fixed, so the same figures come each time. Bounds allow for the chance of so many
 * trials, 3.3 standard errors (1 in 1000).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "results/compare.h"

#define N(v) (sizeof(v) / sizeof((v)[0]))
#define ERRORS 3.3
#define RUN_SD 0.01

enum shape { NORMAL, LOG_NORMAL, BIMODAL, OUTLIERS, SHAPES };

static const char *const shapes[] = {
	[NORMAL] = "normal, sd 3 %",
	[LOG_NORMAL] = "log-normal, sd 0.2",
	[BIMODAL] = "bimodal, half 10 % slower",
	[OUTLIERS] = "outliers, 1 in 10 +30 %",
};

static double boot_noise(gsl_rng *rng, enum shape shape)
{
	switch (shape) {
	case LOG_NORMAL:
		return exp(gsl_ran_gaussian(rng, 0.2));
	case BIMODAL:
		return (gsl_rng_uniform(rng) < 0.5 ? 1.1 : 1) *
		       (1 + gsl_ran_gaussian(rng, 0.005));
	case OUTLIERS:
		return (gsl_rng_uniform(rng) < 0.1 ? 1.3 : 1) *
		       (1 + gsl_ran_gaussian(rng, 0.02));
	default:
		return 1 + gsl_ran_gaussian(rng, 0.03);
	}
}

/* mean_log() - of that noise: kernels of unlike noise are alike when this is */
static double mean_log(enum shape shape)
{
	switch (shape) {
	case BIMODAL:
		return log(1.1) / 2;
	case OUTLIERS:
		return log(1.3) / 10;
	default:
		return 0;
	}
}

/* --- an experiment, without journals ---------------------------------------------- */

#define LOADS_MAX 8
#define BOOTS 40
#define RUNS_MAX (LOADS_MAX * 4)

static char *const load_names[LOADS_MAX] = { "a", "b", "c", "d", "e", "f", "g", "h" };

/* struct trial - two kernels, "base" with n[0] boots and "other" with n[1] */
struct trial {
	size_t n[2], runs, loads;
	struct run_record run[BOOTS][RUNS_MAX];
	struct boot_record boot[BOOTS];
	struct boot_records boots;
	struct table table;
	struct compare_side side[2];
	gsl_rng *rng;
};

static void trial_start(struct trial *t, size_t na, size_t nb, size_t runs, size_t loads)
{
	t->n[0] = na;
	t->n[1] = nb;
	t->runs = runs;
	t->loads = loads;
	t->boots = (struct boot_records) { t->boot, na + nb, BOOTS };
	for (size_t b = 0; b < na + nb; b++) {
		bool other = b >= na;

		t->boot[b] = (struct boot_record) {
			.label = other ? "other" : "base", .order = other,
			.number = (int64_t)(other ? b - na : b) + 1,
			.loads = { (char **)load_names, loads, loads },
			.runs = { t->run[b], runs * loads, RUNS_MAX },
		};
		for (size_t r = 0; r < runs * loads; r++) {
			t->run[b][r] = (struct run_record) {
				.load = load_names[r / runs], .ended = true,
				.verdict = VERDICT_OK,
			};
			for (size_t f = 0; f < FIG_COUNT; f++)
				t->run[b][r].fig[f] = FIGURE_NONE;
		}
	}
	table_make(&t->table, &t->boots);
	for (size_t s = 0; s < 2; s++)
		t->side[s] = (struct compare_side) {
			.boots = &t->boots, .table = &t->table, .kernel = s,
		};
	t->rng = gsl_rng_alloc(gsl_rng_mt19937);
	gsl_rng_set(t->rng, 6);
}

static void trial_end(struct trial *t)
{
	table_free(&t->table);
	gsl_rng_free(t->rng);
}

/* trial_run() - measure anew and compare; the other kernel takes @ratio times as long,
 * and its boots' noise has the shape @other */
static void trial_run(struct trial *t, enum shape base, enum shape other, double ratio,
		      double margin_pct, struct compare *c)
{
	const struct compare_options o = { .margin_pct = margin_pct,
					   .no_outlook = true };
	struct error err = { 0 };

	for (size_t b = 0; b < t->boots.n; b++) {
		bool is_other = t->boot[b].order == 1;

		for (size_t l = 0; l < t->loads; l++) {
			enum shape shape = is_other ? other : base;
			double boot = 100 * (is_other ? ratio : 1) *
				      boot_noise(t->rng, shape) / exp(mean_log(shape));

			for (size_t r = 0; r < t->runs; r++)
				t->boot[b].runs.v[l * t->runs + r].fig[FIG_WALL_NS] =
					llround(1e9 * boot *
						(1 + gsl_ran_gaussian(t->rng, RUN_SD)));
		}
	}
	if (compare_make(c, t->side, 2, &o, &err) < 0)
		fail_msg("%s", err.text);
}

static double error_of(double share, size_t trials)
{
	return ERRORS * sqrt(share * (1 - share) / (double)trials);
}

static bool told(enum finding f)
{
	return f == FINDING_BETTER || f == FINDING_WORSE;
}

/* --- false verdicts and coverage ------------------------------------------------------- */

/* struct tally - of so many trials */
struct tally {
	size_t trials, false_told, covered, intervals;
};

/* Two kernels that are alike, and two of which one takes 1.2 times as long */
static struct tally tally(size_t na, size_t nb, size_t runs, enum shape a, enum shape b,
			  size_t trials)
{
	static struct trial t;
	struct tally sum = { .trials = trials };

	trial_start(&t, na, nb, runs, 1);
	for (size_t i = 0; i < trials; i++) {
		const double ratio = i % 2 ? 1.2 : 1;
		const struct comparison *x;
		struct ratio r;
		struct compare c;

		trial_run(&t, a, b, ratio, 1, &c);
		x = compare_at(&c, 0, 1);
		/* below 4 boots compare has none; what it would have been */
		r = ratio_infer(&compare_cell_at(&c, 0, 0)->data,
				&compare_cell_at(&c, 0, 1)->data);
		sum.covered += r.ci.low <= ratio && ratio <= r.ci.high;
		sum.intervals += isfinite(x->r.ci.low);
		if (i % 2)
			sum.false_told += x->finding == FINDING_BETTER;
		else
			sum.false_told += told(x->finding);
		compare_free(&c);
	}
	trial_end(&t);
	return sum;
}

/*
 * What the interval covers with 2 and 3 boots depends on the noise: of two modes both
 * boots of a kernel are often in the same, and 2 boots cover 89 % only. Outliers make it
 * cover more than 97 %: one of them widens it more than it moves it. That errs on the
 * safe side; whoever does not know which boot is the outlier cannot do with less.
 */
static void alike_and_covered(void **state)
{
	static const size_t boots[] = { 2, 3, 4, 5, 6, 8, 10, 15, 20 };
	static const size_t runs[] = { 1, 2, 4 };

	(void)state;
	printf("%-26s %5s %5s  %8s  %8s\n", "noise", "boots", "runs", "false", "coverage");
	for (size_t s = 0; s < SHAPES; s++)
		for (size_t b = 0; b < N(boots); b++)
			for (size_t r = 0; r < N(runs); r++) {
				size_t n = boots[b], trials = n > 10 ? 1200 : 3000;
				struct tally t = tally(n, n, runs[r], s, s, trials);
				double wrong = (double)t.false_told / (double)(trials / 2);
				double cover = (double)t.covered / (double)trials;
				double most = s == OUTLIERS ? 0.99 : 0.97;

				printf("%-26s %5zu %5zu  %7.2f%%  %7.2f%%%s\n", shapes[s],
				       n, runs[r], 100 * wrong, 100 * cover,
				       n < 4 ? "  (not printed)" : "");
				if (n < 4) {
					assert_int_equal(t.false_told, 0);
					assert_int_equal(t.intervals, 0);
					continue;
				}
				assert_int_equal(t.intervals, trials);
				assert_true(wrong <= 0.05 + error_of(0.05, trials / 2));
				assert_true(cover >= 0.93 - error_of(0.93, trials));
				assert_true(cover <= most + error_of(most, trials));
			}
}

/*
 * Noise and boots that are not the same on both sides. Where one side's rare outliers are
 * in none of its few boots, and the other side's noise is of another kind, no method knows
 * of them: 8 boots of each cover 91 % then.
 */
static void unlike_sides(void **state)
{
	static const struct {
		size_t na, nb;
		enum shape a, b;
		double least;
	} with[] = {
		{ 4, 12, NORMAL, NORMAL, 0.93 },
		{ 12, 4, LOG_NORMAL, NORMAL, 0.93 },
		{ 4, 12, LOG_NORMAL, NORMAL, 0.93 },
		{ 6, 6, LOG_NORMAL, NORMAL, 0.93 },
		{ 4, 20, BIMODAL, BIMODAL, 0.93 },
		{ 5, 10, BIMODAL, BIMODAL, 0.93 },
		{ 4, 16, OUTLIERS, OUTLIERS, 0.93 },
		{ 6, 12, NORMAL, BIMODAL, 0.93 },
		{ 16, 4, BIMODAL, OUTLIERS, 0.93 },
		{ 8, 8, BIMODAL, OUTLIERS, 0.89 },
	};

	(void)state;
	for (size_t i = 0; i < N(with); i++) {
		struct tally t = tally(with[i].na, with[i].nb, 2, with[i].a, with[i].b,
				       2000);
		double wrong = (double)t.false_told / 1000;
		double cover = (double)t.covered / 2000;

		printf("%zu of %s against %zu of %s: false %.2f%%, coverage %.2f%%\n",
		       with[i].na, shapes[with[i].a], with[i].nb, shapes[with[i].b],
		       100 * wrong, 100 * cover);
		assert_true(wrong <= 0.05 + error_of(0.05, 1000));
		assert_true(cover >= with[i].least - error_of(with[i].least, 2000));
	}
}

/* The whole report: eight loads, no kernel differs, any better or worse is one too many */
static void whole_report(void **state)
{
	static const size_t boots[] = { 4, 6, 8, 12 };
	static struct trial t;

	(void)state;
	for (size_t s = 0; s < SHAPES; s++)
		for (size_t b = 0; b < N(boots); b++) {
			size_t wrong = 0, trials = 1000;

			trial_start(&t, boots[b], boots[b], 1, LOADS_MAX);
			for (size_t i = 0; i < trials; i++) {
				struct compare c;
				bool any = false;

				trial_run(&t, s, s, 1, 1, &c);
				for (size_t l = 0; l < LOADS_MAX; l++)
					any = any || told(compare_at(&c, l, 1)->finding);
				wrong += any;
				compare_free(&c);
			}
			trial_end(&t);
			printf("%s, %zu boots, 8 loads: %.1f%% of reports have a false verdict\n",
			       shapes[s], boots[b], 100 * (double)wrong / (double)trials);
			assert_true((double)wrong / (double)trials <=
				    0.05 + error_of(0.05, trials));
		}
}

/* "The same" of kernels that differ by a little more than the margin: at most 2.5 % */
static void not_the_same(void **state)
{
	static const size_t boots[] = { 4, 6, 10, 20 };
	static const double margins[] = { 1, 3, 10, 30 };
	static struct trial t;

	(void)state;
	for (size_t s = 0; s < SHAPES; s++)
		for (size_t b = 0; b < N(boots); b++)
			for (size_t m = 0; m < N(margins); m++) {
				size_t same = 0, trials = 500;

				trial_start(&t, boots[b], boots[b], 1, 1);
				for (size_t i = 0; i < trials; i++) {
					struct compare c;

					trial_run(&t, s, s, 1 + margins[m] * 1.001 / 100,
						  margins[m], &c);
					same += compare_at(&c, 0, 1)->finding ==
						FINDING_SAME;
					compare_free(&c);
				}
				trial_end(&t);
				assert_true((double)same / (double)trials <=
					    0.025 + error_of(0.025, trials));
			}
}

/* --- power ---------------------------------------------------------------------------- */

static double power(size_t n, enum shape s, double change_pct, size_t trials)
{
	static struct trial t;
	size_t found = 0;

	trial_start(&t, n, n, 1, 1);
	for (size_t i = 0; i < trials; i++) {
		struct compare c;

		trial_run(&t, s, s, 1 + change_pct / 100, 1, &c);
		found += compare_at(&c, 0, 1)->finding == FINDING_WORSE;
		compare_free(&c);
	}
	trial_end(&t);
	return (double)found / (double)trials;
}

static void power_curve(void **state)
{
	static const double changes[] = { 1, 2, 3, 5, 7, 10, 15, 30 };
	static const size_t boots[] = { 4, 6, 10, 20 };

	(void)state;
	printf("how often a kernel that is slower by so much is called worse:\n%-26s %5s",
	       "noise", "boots");
	for (size_t c = 0; c < N(changes); c++)
		printf(" %4.0f%%", changes[c]);
	printf("\n");
	for (size_t s = 0; s < SHAPES; s++)
		for (size_t b = 0; b < N(boots); b++) {
			double last = 0;

			printf("%-26s %5zu", shapes[s], boots[b]);
			for (size_t c = 0; c < N(changes); c++) {
				double p = power(boots[b], s, changes[c], 400);

				printf(" %4.0f%%", 100 * p);
				/* a greater change is found no less often */
				assert_true(p >= last - 0.1);
				last = p;
			}
			printf("\n");
			if (boots[b] == 20)
				assert_true(last >= 0.95);
		}
}

/* detectable_pct() promises four times in five */
static void power_promised(void **state)
{
	static const size_t boots[] = { 4, 5, 6, 8, 10, 15, 20 };
	const double sd = hypot(0.03, RUN_SD);

	(void)state;
	for (size_t b = 0; b < N(boots); b++) {
		double change = detectable_pct(sd, sd, boots[b], boots[b], INFER_LEVEL);
		double p = power(boots[b], NORMAL, change, 2000);

		printf("%zu boots tell %.2f %% in %.1f %% of the trials\n", boots[b],
		       change, 100 * p);
		assert_true(fabs(p - INFER_POWER) < 0.02 + error_of(INFER_POWER, 2000));
	}
}

/* --- why not the bootstrap --------------------------------------------------------------- */

static double bootstrap_coverage(gsl_rng *rng, size_t boots, size_t trials)
{
	size_t covered = 0;

	for (size_t i = 0; i < trials; i++) {
		struct nested n[2] = { { { 0 }, { 0 } } };
		struct interval ci;

		for (size_t s = 0; s < 2; s++)
			for (size_t b = 0; b < boots; b++) {
				double boot = boot_noise(rng, NORMAL);

				for (size_t r = 0; r < 2; r++)
					nested_add(&n[s], boot * (1 + gsl_ran_gaussian(
						rng, RUN_SD)), r == 0);
			}
		ci = nested_bootstrap(&n[0], &n[1], 0.95, i);
		covered += ci.low <= 1 && 1 <= ci.high;
		nested_free(&n[0]);
		nested_free(&n[1]);
	}
	return (double)covered / (double)trials;
}

/* The other method that would do covers less than it says with few boots */
static void bootstrap_needs_boots(void **state)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	double few, many;

	(void)state;
	gsl_rng_set(rng, 7);
	few = bootstrap_coverage(rng, 5, 600);
	many = bootstrap_coverage(rng, BOOTSTRAP_BOOTS, 300);
	gsl_rng_free(rng);
	printf("bootstrap of boots and runs: coverage %.1f %% with 5 boots, %.1f %% with %d\n",
	       100 * few, 100 * many, BOOTSTRAP_BOOTS);
	assert_true(few < 0.93);
	assert_true(many >= 0.93 - error_of(0.93, 300));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alike_and_covered),
		cmocka_unit_test(unlike_sides),
		cmocka_unit_test(whole_report),
		cmocka_unit_test(not_the_same),
		cmocka_unit_test(power_curve),
		cmocka_unit_test(power_promised),
		cmocka_unit_test(bootstrap_needs_boots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
