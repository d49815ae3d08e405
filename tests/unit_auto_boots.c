/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_auto_boots.c - the stop rule, the order of the boots, repeats, and how often the
 *	rule makes a verdict wrong
 */
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>

#include "host/auto_boots.h"
#include "results/base/cleanup.h"
#include "tests/store_fixture.h"

/* --- the order ------------------------------------------------------------------- */

static void every_round_has_each_kernel_once(void **state)
{
	struct planned_boots all = { 0 }, fixed = { 0 };
	unsigned int numbers[5] = { 0 };
	struct boot_order o;

	(void)state;
	order_init(&o, 5, 3);
	for (unsigned int round = 1; round <= 40; round++) {
		unsigned int seen = 0;

		order_round(&o, &all);
		assert_int_equal(all.n, 5 * round);
		for (size_t i = all.n - 5; i < all.n; i++) {
			seen |= 1u << all.v[i].kernel;
			assert_int_equal(all.v[i].number, round);
			assert_int_equal(all.v[i].index, i + 1);
			assert_int_equal(all.v[i].repeats, 0);
		}
		assert_int_equal(seen, 31);
	}
	order_free(&o);
	/* The seed reproduces it, and a fixed number of boots begins the same way. */
	order_boots(5, 20, 3, &fixed);
	for (size_t i = 0; i < fixed.n; i++) {
		assert_int_equal(fixed.v[i].kernel, all.v[i].kernel);
		assert_int_equal(fixed.v[i].number, ++numbers[fixed.v[i].kernel]);
	}
	planned_boots_free(&all);
	planned_boots_free(&fixed);
}

static void a_repeat_has_a_number_of_its_own(void **state)
{
	struct planned_boots all = { 0 };
	struct boot_order o;
	size_t kernel;

	(void)state;
	order_init(&o, 3, 1);
	order_round(&o, &all);
	order_round(&o, &all);
	kernel = all.v[4].kernel;
	order_repeat(&o, 4, &all);
	assert_int_equal(all.v[6].kernel, kernel);
	assert_int_equal(all.v[6].number, 3);
	assert_int_equal(all.v[6].index, 7);
	assert_int_equal(all.v[6].repeats, 5);
	order_round(&o, &all);
	for (size_t i = 7; i < 10; i++) {
		assert_int_equal(all.v[i].index, i + 1);
		assert_int_equal(all.v[i].number, all.v[i].kernel == kernel ? 4 : 3);
	}
	order_free(&o);
	planned_boots_free(&all);
}

/* --- the rule -------------------------------------------------------------------- */

static void the_rule_stops_at_a_width(void **state)
{
	struct auto_state s = { .rounds_min = 5, .longest_round_s = 60 };

	(void)state;
	assert_int_equal(auto_decide(&s), AUTO_ROUND);
	/* Precise at once, and yet not before the least number of boots, and one more */
	s.reached = true;
	for (s.rounds = 1; s.rounds < 6; s.rounds++)
		assert_int_equal(auto_decide(&s), AUTO_ROUND);
	assert_int_equal(s.reached_at, 5);
	/* Whatever that one shows: what has been decided is not asked again. */
	s.reached = false;
	assert_int_equal(auto_decide(&s), AUTO_PRECISE);

	s = (struct auto_state){ .rounds_min = 4, .rounds = 30 };
	assert_int_equal(auto_decide(&s), AUTO_ROUND);
	s.rounds = AUTO_ROUNDS_MAX;
	assert_int_equal(auto_decide(&s), AUTO_ENOUGH);
}

static void the_rule_keeps_the_budget(void **state)
{
	struct auto_state s = { .rounds_min = 4, .budget_s = 600 };

	(void)state;
	/* The first round nobody can know the length of. */
	assert_int_equal(auto_decide(&s), AUTO_ROUND);
	s.rounds = 1;
	s.elapsed_s = 400;
	s.longest_round_s = 200;
	assert_int_equal(auto_decide(&s), AUTO_ROUND);
	s.elapsed_s = 401;
	assert_int_equal(auto_decide(&s), AUTO_BUDGET);
	s.rounds = 3;
	s.reached = true;
	assert_int_equal(auto_decide(&s), AUTO_BUDGET);
	s.rounds = 5;
	s.reached_at = 4;
	assert_int_equal(auto_decide(&s), AUTO_PRECISE);
}

/* --- with a store ---------------------------------------------------------------- */

#define KERNELS 2
#define MINUTE 60.0

/* struct world - an experiment whose boots are written, not booted */
struct world {
	struct fixture *f;
	struct plan plan;
	struct experiment e;
	struct candidate candidates[KERNELS];
	struct auto_boots a;
	gsl_rng *rng;
	double sd;		/* of a boot's Time, in % */
	unsigned int noisy_until;	/* boots up to that index are noisy */
	bool b_panics;
	size_t done;
};

/* The clock of the tests: one world at a time. */
static double clock_s;

static double test_clock(void)
{
	return clock_s;
}

static void world_make(struct world *w, void **state, const char *key, const char *value)
{
	struct error err = { 0 };

	clock_s = 1000;
	*w = (struct world){ .f = *state, .rng = gsl_rng_alloc(gsl_rng_mt19937) };
	plan_init(&w->plan);
	must(plan_set(&w->plan, "loads", "no_load", &err), &err);
	must(plan_set(&w->plan, "budget", "1000", &err), &err);
	must(plan_set(&w->plan, key, value, &err), &err);
	must(plan_add_kernel(&w->plan, "a", "a", &err), &err);
	must(plan_add_kernel(&w->plan, "b", "b", &err), &err);
	must(plan_finish(&w->plan, &err), &err);
	w->e = (struct experiment){
		.plan = &w->plan, .candidates = w->candidates, .n_candidates = KERNELS,
		.accel = ACCEL_TCG, .run_id = RUN_A,
	};
	w->candidates[0].kernel.label = (char *)"a";
	w->candidates[1].kernel.label = (char *)"b";
	w->plan.order_seed = 5;
	auto_init(&w->a, &w->e, w->f->s);
	w->a.now_s = test_clock;
}

static void world_free(struct world *w)
{
	auto_free(&w->a);
	planned_boots_free(&w->e.boots);
	plan_free(&w->plan);
	gsl_rng_free(w->rng);
}

static char *context_of(const struct world *w, const struct planned_boot *p)
{
	cleanup_free char *repeats = p->repeats ?
		xasprintf(",\"repeats\":%u", p->repeats) : xstrdup("");

	return xasprintf("{\"plan\":{\"name\":\"p\",\"boots\":%u,\"kernels\":[\"a\",\"b\"]},"
		"\"boot\":{\"index\":%u,\"number\":%u%s},\"kernel\":{\"label\":\"%s\",\"order\":%zu},"
		"\"loads\":[\"no_load\"],\"accel\":\"tcg\",\"host\":{\"start\":\"2026-01-01T00:00:%02uZ\"}}",
		w->e.rounds, p->index, p->number, repeats, p->kernel ? "b" : "a",
		p->kernel, p->index % 60);
}

/* A boot takes a minute; its Time is 10 s and noise. */
static void boot(struct world *w, const struct planned_boot *p)
{
	cleanup_free char *context = context_of(w, p);
	double s = 10 * (1 + gsl_ran_gaussian(w->rng, w->sd / 100));
	struct made_run r = { 1, "no_load", "ok", (int64_t)(s * 1e9), 1, 0, 0, 0 };
	bool noisy = p->index <= w->noisy_until, panics = w->b_panics && p->kernel;
	const char *noise = noisy ? "5000" : "0";
	cleanup_free char *verdict = xasprintf("{\"verdict\":\"%s\",\"evidence\":\"\",\"console\":[],"
		"\"host\":{\"noise\":[{\"run\":1,\"window_ns\":100000,\"worst_wait_ns\":%s}]}}",
		panics ? "panic" : "ok", noise);
	struct error err = { 0 };
	char id[SHA256_HEX];

	clock_s += MINUTE;
	unlink(w->f->journal);
	must(journal_create(w->f->journal, RUN_A, "run=no_load\n", context, &err), &err);
	append(w->f->journal, JOURNAL_RECEIPT, "{}");
	if (!panics) {
		append_run(w->f->journal, &r);
		append(w->f->journal, JOURNAL_END, "{\"runs\":1}");
	}
	append(w->f->journal, JOURNAL_VERDICT, verdict);
	must(store_add(w->f->s, w->f->journal, id, &err), &err);
	w->done++;
}

/* What run_boots() does; returns the boots. */
static size_t run_all(struct world *w)
{
	struct error err = { 0 };
	int more;

	while ((more = auto_more(&w->a, &err)) > 0) {
		assert_true(w->done < w->e.boots.n);
		while (w->done < w->e.boots.n)
			boot(w, &w->e.boots.v[w->done]);
		assert_true(w->done <= 400);
	}
	must(more, &err);
	return w->done;
}

static char *end_of(struct world *w)
{
	char *text = NULL;
	size_t len;
	struct error err = { 0 };
	FILE *out = open_memstream(&text, &len);

	must(auto_say_end(&w->a, out, &err), &err);
	fclose(out);
	return text;
}

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in: %s", part, text);
}

/* Where the spread is small, the least number of boots is all, and one more. */
static void small_spread_needs_few_boots(void **state)
{
	struct world w;
	cleanup_free char *end = NULL;

	world_make(&w, state, "boots", "auto");
	w.sd = 0.2;
	assert_int_equal(run_all(&w), 10);
	assert_int_equal(w.a.why, AUTO_PRECISE);
	end = end_of(&w);
	has(end, "5 rounds in 10.0 min: every interval that can be had was +-2 % or narrower after 4\n");
	assert_null(strstr(end, "needs"));
	world_free(&w);
}

/* For +-2 % of a ratio: t sqrt(2) sd / sqrt(n), with sd = 3 some 18 boots */
static void greater_spread_needs_more(void **state)
{
	struct world w;

	world_make(&w, state, "boots", "auto");
	w.sd = 3;
	assert_in_range(run_all(&w), 2 * 12, 2 * 26);
	assert_int_equal(w.a.why, AUTO_PRECISE);
	assert_int_equal(w.a.state.reached_at + 1, w.e.rounds);
	world_free(&w);
}

static void the_budget_ends_it(void **state)
{
	struct world w;
	cleanup_free char *end = NULL;

	world_make(&w, state, "boots", "auto");
	w.sd = 10;
	w.a.state.budget_s = 13.5 * MINUTE;
	assert_int_equal(run_all(&w), 12);
	assert_int_equal(w.a.why, AUTO_BUDGET);
	end = end_of(&w);
	has(end, "might not hold another, the longest took 2.0 min");
	has(end, "no_load, b against a: +-");
	has(end, "after 6 boots of each: needs about ");
	has(end, " more of each for +-2 %, about ");
	has(end, " to tell 2 % four times in five");
	world_free(&w);
}

/* Nobody waits for a kernel that never gets through. */
static void a_kernel_that_panics_ends_it(void **state)
{
	struct world w;
	cleanup_free char *end = NULL;

	world_make(&w, state, "boots", "auto");
	w.b_panics = true;
	assert_int_equal(run_all(&w), 10);
	assert_int_equal(w.a.why, AUTO_PRECISE);
	end = end_of(&w);
	has(end, "no_load, b against a: no good run");
	world_free(&w);
}

static void noisy_boots_are_repeated_once(void **state)
{
	struct boot_records boots = { 0 };
	struct error err = { 0 };
	struct table t;
	struct world w;
	cleanup_free char *end = NULL;

	world_make(&w, state, "repeat-noisy", "yes");
	w.plan.boots = 3;
	w.noisy_until = 3;	/* both of the first round, and one of its repeats */
	assert_int_equal(run_all(&w), 8);
	assert_int_equal(w.a.why, AUTO_ENOUGH);
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(w.e.boots.v[i].repeats, i == 2 || i == 3 ? i - 1 : 0);
	must(store_load_run(w.f->s, RUN_A, &boots, &err), &err);
	assert_int_equal(boots.n, 8);
	table_make(&t, &boots);
	for (size_t k = 0; k < 2; k++) {
		const struct cell *c = table_cell(&t, 0, k);

		/* The repeat stands for the noisy one, which is named. */
		assert_int_equal(c->good.n, 3);
		assert_int_equal(c->good.v[0].boot->number, 2);
		assert_int_equal(c->notes.n, 1);
		has(c->notes.v[0], " boot 1 run 1: noisy, repeated as boot 2");
	}
	table_free(&t);
	boot_records_clear(&boots);
	end = end_of(&w);
	has(end, "2 noisy boots were repeated; 1 of the repeats were noisy too");
	world_free(&w);
}

static void the_budget_holds_repeats_too(void **state)
{
	struct world w;
	cleanup_free char *end = NULL;

	world_make(&w, state, "repeat-noisy", "yes");
	w.plan.boots = 2;
	w.noisy_until = 100;
	w.a.state.budget_s = 3 * MINUTE;
	/* One of the first round's, then the plan's second round, and no more */
	assert_int_equal(run_all(&w), 5);
	end = end_of(&w);
	has(end, "1 noisy boots were repeated");
	has(end, "3 noisy boots were not repeated, for want of budget");
	world_free(&w);
}

static void a_failed_repeat_replaces_nothing(void **state)
{
	struct boot_record v[3] = {
		{ .order = 0, .index = 1, .number = 1, .verdict = VERDICT_OK },
		{ .order = 0, .index = 2, .number = 2, .verdict = VERDICT_OK, .repeats = 1 },
		{ .order = 1, .index = 3, .number = 1, .verdict = VERDICT_OK, .repeats = 2 },
	};
	struct boot_records boots = { .v = v, .n = 3 };

	(void)state;
	boot_records_link(&boots);
	assert_int_equal(v[0].replaced_by, 2);
	/* Of another kernel: no such repeat is planned, and it replaces nothing. */
	assert_int_equal(v[1].replaced_by, 0);
	v[1].verdict = VERDICT_KILLED;
	boot_records_link(&boots);
	assert_int_equal(v[0].replaced_by, 0);
}

/* --- what looking again and again does to verdicts ------------------------------- */

#define TRIALS 4000

/* One experiment of two equal kernels under the rule: is a difference told? */
static bool told(gsl_rng *rng, double sd, unsigned int *rounds)
{
	double a[200], b[200];
	struct auto_state s = { .rounds_min = AUTO_ROUNDS_MIN };
	struct welch w = { 0 };

	while (s.rounds < 200 && auto_decide(&s) == AUTO_ROUND) {
		a[s.rounds] = gsl_ran_gaussian(rng, sd);
		b[s.rounds] = gsl_ran_gaussian(rng, sd);
		s.rounds++;
		if (s.rounds < 2)
			continue;
		w = welch_test(a, s.rounds, b, s.rounds, INFER_CONFIDENCE);
		s.reached = w.ci.high - w.ci.low <= 2;
	}
	*rounds += s.rounds;
	return fmax(w.p, rank_test(a, s.rounds, b, s.rounds).p) <= INFER_LEVEL;
}

static void the_rule_makes_no_verdicts(void **state)
{
	static const double sds[] = { 0.3, 1.0, 1.2, 1.4, 2.0 };
	double limit = INFER_LEVEL + 3 * sqrt(INFER_LEVEL * (1 - INFER_LEVEL) / TRIALS);
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);

	(void)state;
	gsl_rng_set(rng, 42);
	for (size_t i = 0; i < sizeof(sds) / sizeof(sds[0]); i++) {
		unsigned int wrong = 0, rounds = 0;

		for (int t = 0; t < TRIALS; t++)
			wrong += told(rng, sds[i], &rounds);
		print_message("sd %.1f of the wanted half-width: %.1f rounds, %.2f %% told where there is nothing\n",
			      sds[i], (double)rounds / TRIALS, 100.0 * wrong / TRIALS);
		assert_true((double)wrong / TRIALS <= limit);
	}
	gsl_rng_free(rng);
}

int main(void)
{
#define with_store(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_round_has_each_kernel_once),
		cmocka_unit_test(a_repeat_has_a_number_of_its_own),
		cmocka_unit_test(the_rule_stops_at_a_width),
		cmocka_unit_test(the_rule_keeps_the_budget),
		with_store(small_spread_needs_few_boots),
		with_store(greater_spread_needs_more),
		with_store(the_budget_ends_it),
		with_store(a_kernel_that_panics_ends_it),
		with_store(noisy_boots_are_repeated_once),
		with_store(the_budget_holds_repeats_too),
		cmocka_unit_test(a_failed_repeat_replaces_nothing),
		cmocka_unit_test(the_rule_makes_no_verdicts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
