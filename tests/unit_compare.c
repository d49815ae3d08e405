/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_compare.c - verdicts from journals: each finding, what is lost, what is refused
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "results/base/cleanup.h"
#include "results/compare.h"
#include "tests/store_fixture.h"

#define S INT64_C(1000000000)

/* --- journals ---------------------------------------------------------------------- */

/* struct made - a boot of kernel "old" or "new"; what is NULL or 0 is as usual */
struct made {
	bool new;
	int number, seed;
	const char *accel, *guest, *plan_line, *cmdline;
};

static void begin(struct fixture *f, const struct made *m)
{
	const char *label = m->new ? "new" : "old";
	char *ctx = xasprintf("{\"kontest\":\"0.1.0\",\"run_id\":\"%s\","
		"\"plan\":{\"name\":\"p\",\"text\":\"t\",\"digest\":\"d\",\"order_seed\":1,\"boots\":6,\"runs\":1,\"kernels\":[\"old\",\"new\"]},"
		"\"boot\":{\"index\":%d,\"number\":%d,\"seed\":%d},"
		"\"kernel\":{\"label\":\"%s\",\"spec\":\"s\",\"release\":\"r\",\"version\":null,\"digest\":\"k%s\",\"order\":%d},"
		"\"profile\":{\"name\":\"small\",\"digest\":\"pd\",\"text\":\"x\",\"cpus\":1,\"memory\":1},"
		"\"loads\":[\"no_load\",\"io_load\"],\"job\":{\"name\":\"quick-1\",\"digest\":\"jd\",\"jobs\":4},"
		"\"image\":{\"guest\":\"%s\",\"lock\":\"l\",\"cmdline\":\"%s\"},\"accel\":\"%s\","
		"\"qemu\":{\"version\":\"7.2.18\",\"cpu\":\"c\"},\"host\":{\"start\":\"2026-01-31T10:00:00Z\"}}",
		RUN_A, 2 * m->number + m->new, m->number,
		m->seed ? m->seed : m->number, label, label, m->new,
		m->guest ? m->guest : "g", m->cmdline ? m->cmdline : "quiet",
		m->accel ? m->accel : "tcg");
	char *plan = xasprintf("format=1\nseed=%d\nlead_ms=100\n%srun=no_load\nrun=io_load\n",
			       m->number, m->plan_line ? m->plan_line : "");

	must(journal_create(f->journal, RUN_A, plan, ctx, &f->err), &f->err);
	append(f->journal, JOURNAL_RECEIPT, "{\"cpus_online\":1}");
	free(plan);
	free(ctx);
}

/* run_of() - a good run; @done Loads of 100 */
static void run_of(struct fixture *f, int number, const char *load, double seconds,
		   int64_t done)
{
	append_run(f->journal, &(struct made_run) {
		number, load, "ok", llround(seconds * 1e9), S, S, done,
		done ? 100 : 0 });
}

static void boot(struct fixture *f, const struct made *m, double no_load, double io_load)
{
	begin(f, m);
	run_of(f, 1, "no_load", no_load, 0);
	run_of(f, 2, "io_load", io_load, 1000);
	end_boot(f);
}

/* boots() - @n of them, no_load Times from @seconds on, a tenth apart; io_load's twice */
static void boots(struct fixture *f, bool new, int n, double seconds, const char *accel)
{
	for (int i = 0; i < n; i++)
		boot(f, &(struct made) { .new = new, .number = i + 1, .accel = accel },
		     seconds + 0.1 * i, 2 * (seconds + 0.1 * (i * 5 % 7)));
}

/* --- comparing RUN_A ---------------------------------------------------------------- */

struct compared {
	struct boot_records boots;
	struct table table;
	struct compare_side sides[2];
	struct strings differences;
	struct compare c;
};

static void compared_free(struct compared *d)
{
	compare_free(&d->c);
	strings_clear(&d->differences);
	table_free(&d->table);
	boot_records_clear(&d->boots);
}

static void load(struct fixture *f, struct compared *d)
{
	must(store_load_run(f->s, RUN_A, &d->boots, &f->err), &f->err);
	table_make(&d->table, &d->boots);
	for (size_t s = 0; s < 2; s++)
		d->sides[s] = (struct compare_side) {
			.run_id = RUN_A, .boots = &d->boots, .table = &d->table,
			.kernel = s };
	compare_same(d->sides, 2, &d->differences);
}

static void compare(struct fixture *f, struct compared *d, const struct compare_options *o)
{
	load(f, d);
	must(compare_make(&d->c, d->sides, 2, o, &f->err), &f->err);
}

static const struct comparison *of(const struct compared *d, const char *load_name,
				   const char *metric)
{
	for (size_t r = 0; r < d->c.rows.n; r++)
		if (!strcmp(d->c.rows.v[r].load, load_name) &&
		    !strcmp(d->c.rows.v[r].metric->name, metric))
			return compare_at(&d->c, r, 1);
	fail_msg("no row %s, %s", load_name, metric);
	return NULL;
}

static void has(const char *text, const char *what)
{
	if (!strstr(text, what))
		fail_msg("no '%s' in: %s", what, text);
}

#define COMPARED(name) CLEANUP(compared_free) struct compared name = { .boots = { 0 } }

/* --- verdicts ----------------------------------------------------------------------- */

static void slower_is_worse(void **state)
{
	struct fixture *f = *state;
	COMPARED(d);
	const struct comparison *x;

	boots(f, false, 6, 100, NULL);
	boots(f, true, 6, 110, NULL);
	compare(f, &d, NULL);
	assert_int_equal(d.differences.n, 0);
	x = of(&d, "no_load", "time");
	assert_int_equal(x->finding, FINDING_WORSE);
	assert_string_equal(x->verdict, "worse");
	/* geometric means of 100 to 100.5 and 110 to 110.5 */
	assert_true(fabs(x->r.ratio - 110.2498 / 100.2499) < 1e-5);
	assert_true(x->r.ci.low > 1.09 && x->r.ci.high < 1.11);
	/* two loads, each 2 / C(12, 6), the lesser of both twice */
	assert_true(fabs(x->r.rank_p - 2.0 / 924) < 1e-12);
	assert_true(fabs(x->holm_p - 4.0 / 924) < 1e-12);
	assert_int_equal(d.c.family, 2);
	has(x->sentence, "no_load, Time: new is worse than old: +10.0 % [+9.");
	has(x->sentence, "(p 0.0043, 6 boots).");
}

/* The same figures, but more Loads in a second are better */
static void faster_is_better(void **state)
{
	const struct compare_options all = { .metric = "all" };
	struct fixture *f = *state;
	COMPARED(d);

	boots(f, false, 6, 110, NULL);
	boots(f, true, 6, 100, NULL);
	compare(f, &d, &all);
	assert_int_equal(d.c.rows.n, 3);	/* no_load has no Loads */
	assert_int_equal(of(&d, "no_load", "time")->finding, FINDING_BETTER);
	assert_int_equal(of(&d, "io_load", "time")->finding, FINDING_BETTER);
	assert_int_equal(of(&d, "io_load", "loads_per_s")->finding, FINDING_BETTER);
	assert_true(of(&d, "io_load", "loads_per_s")->r.ratio > 1.09);
	/* the geometric mean: of Time alone, of which there are two */
	assert_int_equal(d.c.means.n, 1);
	assert_int_equal(d.c.means.v[0].rows, 2);
	assert_int_equal(d.c.means.v[0].r.boots[0], 6);
	assert_true(fabs(d.c.means.v[0].r.ratio -
			 sqrt(of(&d, "no_load", "time")->r.ratio *
			      of(&d, "io_load", "time")->r.ratio)) < 1e-9);
}

static void the_same_within_the_margin(void **state)
{
	const struct compare_options fine = { .margin_pct = 0.1 };
	struct fixture *f = *state;
	COMPARED(d);
	COMPARED(narrow);
	const struct comparison *x;

	boots(f, false, 6, 100, NULL);
	boots(f, true, 6, 100.05, NULL);
	compare(f, &d, NULL);
	x = of(&d, "no_load", "time");
	assert_int_equal(x->finding, FINDING_SAME);
	assert_string_equal(x->verdict, "same within 1.0 %");
	has(x->sentence, "new is the same as old within 1.0 %: +0.050 % [-0.");
	compare(f, &narrow, &fine);
	x = of(&narrow, "no_load", "time");
	assert_int_equal(x->finding, FINDING_CANNOT_TELL);
	/* the interval's farther end, rounded up */
	assert_true(x->told_pct > 0.2 && x->told_pct < 0.4);
	assert_true(fabs(x->told_pct - 100 * (x->r.ci.high - 1)) < 1e-9);
	has(x->verdict, "cannot tell below 0.");
	assert_true(x->mdc_pct > 0.1 && x->more_boots > 0);
	has(x->sentence, " more of each kernel would tell 0.1");
}

/* 2 boots: the difference is plain, and chance all the same in one case of three */
static void few_boots(void **state)
{
	struct fixture *f = *state;
	COMPARED(d);
	const struct comparison *x;

	boots(f, false, 2, 100, NULL);
	boots(f, true, 2, 150, NULL);
	compare(f, &d, NULL);
	x = of(&d, "no_load", "time");
	assert_int_equal(x->finding, FINDING_FEW_BOOTS);
	assert_int_equal(x->boots_needed, 5);	/* two loads: 2 / C(8, 4) > 0.025 */
	assert_string_equal(x->verdict, "not enough boots: 2, needs 5");
	assert_true(isnan(x->r.ci.low) && isnan(x->r.p) && isnan(x->holm_p));
	assert_int_equal(d.c.family, 0);
	has(x->sentence, "Seen: +50.0 %.");
	has(x->sentence, "Of old, 4 of 6 runs are in no figure: 4 missing.");
}

/* As many as one comparison needs, and there are two */
static void enough_for_one(void **state)
{
	const struct compare_options loads = { .metric = "loads_per_s" };
	struct fixture *f = *state;
	COMPARED(both);
	COMPARED(one);

	boots(f, false, 4, 100, NULL);
	boots(f, true, 4, 150, NULL);
	compare(f, &both, NULL);
	assert_int_equal(of(&both, "no_load", "time")->finding, FINDING_FEW_BOOTS);
	assert_string_equal(of(&both, "no_load", "time")->verdict,
			    "not enough boots: 4, needs 5");
	assert_true(isfinite(of(&both, "no_load", "time")->r.ci.low));
	compare(f, &one, &loads);
	assert_int_equal(of(&one, "io_load", "loads_per_s")->finding, FINDING_WORSE);
	assert_int_equal(of(&one, "io_load", "loads_per_s")->boots_needed, 4);
}

static void noise_cannot_be_told(void **state)
{
	static const double old[] = { 100, 120, 95, 130, 105, 99 };
	static const double new[] = { 104, 125, 97, 118, 122, 101 };
	struct fixture *f = *state;
	COMPARED(d);
	const struct comparison *x;

	for (int i = 0; i < 6; i++) {
		boot(f, &(struct made) { .number = i + 1 }, old[i], 200);
		boot(f, &(struct made) { .new = true, .number = i + 1 }, new[i], 200);
	}
	compare(f, &d, NULL);
	x = of(&d, "no_load", "time");
	assert_int_equal(x->finding, FINDING_CANNOT_TELL);
	assert_true(x->told_pct > 15 && x->mdc_pct > 15 && x->more_boots > 100);
	/* constant, and the same */
	x = of(&d, "io_load", "time");
	assert_int_equal(x->finding, FINDING_SAME);
	assert_true(x->r.ratio == 1 && x->r.ci.low == 1 && x->r.ci.high == 1 &&
		    x->r.p == 1);
}

/* --- runs that are no figure ---------------------------------------------------------- */

/* censored_boot() - its io_load timed out */
static void censored_boot(struct fixture *f, bool new, int number, double no_load)
{
	begin(f, &(struct made) { .new = new, .number = number });
	run_of(f, 1, "no_load", no_load, 0);
	append(f->journal, JOURNAL_RUN_START, "{\"run\":2,\"load\":\"io_load\",\"index\":1}");
	append(f->journal, JOURNAL_RUN_END,
	       "{\"run\":2,\"load\":\"io_load\",\"index\":1,\"verdict\":\"timed-out\",\"wall_ns\":1800000000000}");
	end_boot(f);
}

/* The quick runs that are left look better. They are not called so. */
static void censored_is_not_better(void **state)
{
	const struct compare_options all = { .metric = "all" };
	struct fixture *f = *state;
	COMPARED(d);
	const struct comparison *x;

	boots(f, false, 6, 110, NULL);
	boots(f, true, 5, 100, NULL);
	censored_boot(f, true, 6, 100.5);
	compare(f, &d, &all);
	x = of(&d, "io_load", "time");
	assert_int_equal(x->finding, FINDING_CANNOT_TELL);
	assert_string_equal(x->verdict, "cannot tell: runs timed out");
	assert_true(isnan(x->told_pct));
	assert_int_equal(compare_cell_at(&d.c, x->row, 1)->censored, 1);
	assert_int_equal(compare_cell_at(&d.c, x->row, 1)->data.v.n, 5);
	/* 1800 s are in no mean */
	assert_true(compare_cell_at(&d.c, x->row, 1)->mean < 210);
	has(x->sentence, "Of new, 1 of 6 runs are in no figure: 1 timed out or hung.");
	/* its no_load was good, and is better */
	assert_int_equal(of(&d, "no_load", "time")->finding, FINDING_BETTER);
	assert_int_equal(of(&d, "io_load", "loads_per_s")->finding, FINDING_CANNOT_TELL);
	assert_int_equal(d.c.means.n, 0);
}

/* With those runs it would be slower yet */
static void censored_and_worse(void **state)
{
	const struct compare_options all = { .metric = "all" };
	struct fixture *f = *state;
	COMPARED(d);

	boots(f, false, 6, 100, NULL);
	boots(f, true, 5, 110, NULL);
	censored_boot(f, true, 6, 110.5);
	compare(f, &d, &all);
	assert_int_equal(of(&d, "io_load", "time")->finding, FINDING_WORSE);
	/* but nobody knows how many Loads it had done in a second */
	assert_int_equal(of(&d, "io_load", "loads_per_s")->finding, FINDING_CANNOT_TELL);
}

/* What is missing on the worse side does no harm; on the baseline's it does */
static void censored_baseline(void **state)
{
	struct fixture *f = *state;
	COMPARED(d);

	boots(f, false, 5, 100, NULL);
	censored_boot(f, false, 6, 100.5);
	boots(f, true, 6, 110, NULL);
	compare(f, &d, NULL);
	assert_int_equal(of(&d, "io_load", "time")->finding, FINDING_CANNOT_TELL);
	assert_int_equal(of(&d, "no_load", "time")->finding, FINDING_WORSE);
}

static void lost_runs_are_counted(void **state)
{
	struct fixture *f = *state;
	COMPARED(d);
	const struct compare_cell *cell;
	char id[SHA256_HEX];

	boots(f, false, 4, 100, NULL);
	/* boot 5 died in its io_load, boot 6 left nothing */
	begin(f, &(struct made) { .number = 5 });
	run_of(f, 1, "no_load", 100.2, 0);
	append(f->journal, JOURNAL_RUN_START, "{\"run\":2,\"load\":\"io_load\",\"index\":1}");
	append(f->journal, JOURNAL_VERDICT,
	       "{\"verdict\":\"panic\",\"evidence\":\"Kernel panic\"}");
	must(store_add(f->s, f->journal, id, &f->err), &f->err);
	/* boot 1 of new hung in its no_load, so io_load was never begun */
	begin(f, &(struct made) { .new = true, .number = 1 });
	append(f->journal, JOURNAL_RUN_START, "{\"run\":1,\"load\":\"no_load\",\"index\":1}");
	append(f->journal, JOURNAL_VERDICT, "{\"verdict\":\"hung\",\"evidence\":\"e\"}");
	must(store_add(f->s, f->journal, id, &f->err), &f->err);
	compare(f, &d, NULL);
	cell = compare_cell_at(&d.c, 0, 0);
	assert_int_equal(cell->data.v.n, 5);
	assert_int_equal(cell_lost(cell), 1);
	cell = compare_cell_at(&d.c, 1, 0);
	assert_int_equal(cell->failed, 1);
	assert_int_equal(cell->missing, 1);
	assert_int_equal(cell->data.v.n, 4);
	cell = compare_cell_at(&d.c, 0, 1);
	assert_int_equal(cell->censored, 1);
	assert_int_equal(cell->missing, 5);
	cell = compare_cell_at(&d.c, 1, 1);
	assert_int_equal(cell->censored, 0);
	assert_int_equal(cell->missing, 6);
	assert_int_equal(of(&d, "no_load", "time")->finding, FINDING_NO_DATA);
	has(of(&d, "no_load", "time")->sentence, "no data: new has no good run.");
	assert_true(isnan(cell->mean) && isnan(of(&d, "io_load", "time")->r.ratio));
}

/* --- exact mode ------------------------------------------------------------------------- */

/* Boots of other seeds are the distribution; what a byte of the image may do is no verdict */
static void exact_boots(void **state)
{
	struct fixture *f = *state;
	COMPARED(d);
	const struct comparison *x;

	for (int i = 0; i < 6; i++) {
		boot(f, &(struct made) { .number = i + 1, .accel = "exact" },
		     100 + 0.01 * i, 200 + 0.01 * i);
		boot(f, &(struct made) { .new = true, .number = i + 1,
					 .accel = "exact" },
		     100.4 + 0.01 * i, 202 + 0.01 * i);
	}
	compare(f, &d, NULL);
	assert_true(d.c.exact);
	x = of(&d, "no_load", "time");
	assert_true(x->holm_p <= 0.05);
	assert_int_equal(x->finding, FINDING_SAME);	/* within 1 % */
	x = of(&d, "io_load", "time");
	assert_int_equal(x->finding, FINDING_WORSE);
	has(x->sentence, "+1.00 % [+0.9");
}

static void one_exact_boot(void **state)
{
	struct fixture *f = *state;
	COMPARED(d);

	boots(f, false, 1, 100, "exact");
	boots(f, true, 1, 150, "exact");
	compare(f, &d, NULL);
	assert_int_equal(of(&d, "no_load", "time")->finding, FINDING_FEW_BOOTS);
	assert_string_equal(of(&d, "no_load", "time")->verdict,
			    "not enough boots: 1, needs 5");
}

/* The same seed again is the same boot again, and no evidence */
static void exact_boot_twice(void **state)
{
	struct fixture *f = *state;
	COMPARED(d);

	for (int i = 0; i < 6; i++) {
		boot(f, &(struct made) { .number = i + 1, .seed = 7, .accel = "exact" },
		     100, 200);
		boot(f, &(struct made) { .new = true, .number = i + 1,
					 .accel = "exact" }, 110 + 0.1 * i, 200);
	}
	compare(f, &d, NULL);
	assert_int_equal(compare_cell_at(&d.c, 0, 0)->boots.n, 1);
	assert_int_equal(compare_cell_at(&d.c, 0, 0)->repeated, 5);
	assert_int_equal(of(&d, "no_load", "time")->finding, FINDING_FEW_BOOTS);
	has(of(&d, "no_load", "time")->sentence, "5 of a seed that is there already, or of a noisy boot done again");
}

/* --- what must agree ------------------------------------------------------------------- */

static void differences_between_sides(void **state)
{
	struct fixture *f = *state;
	COMPARED(d);
	struct buf text = { 0 }, json = { 0 };

	boots(f, false, 4, 100, NULL);
	for (int i = 0; i < 4; i++)
		boot(f, &(struct made) { .new = true, .number = i + 1, .accel = "kvm",
					 .guest = "h",
					 .plan_line = "size.io_load=9\n" }, 100, 200);
	compare(f, &d, NULL);
	assert_int_equal(d.differences.n, 3);
	assert_string_equal(d.differences.v[0], "accelerator: tcg (old), kvm (new)");
	assert_string_equal(d.differences.v[1], "guest program: g (old), h (new)");
	has(d.differences.v[2], "guest's plan, size.io_load: 9 (new), not stated (old)");
	compare_put_text(&d.c, &d.differences, &text);
	assert_true(str_starts(text.data, "NOT THE SAME CONDITIONS: accelerator: tcg (old), kvm (new); guest program"));
	compare_put_json(&d.c, &d.differences, &json);
	has(json.data, "\"accelerator: tcg (old), kvm (new)\"");
	buf_free(&text);
	buf_free(&json);
}

/* Among the boots of one side: not pooled without a word */
static void differences_within_a_side(void **state)
{
	struct fixture *f = *state;
	COMPARED(d);

	boots(f, false, 4, 100, NULL);
	boot(f, &(struct made) { .number = 5, .accel = "kvm" }, 100, 200);
	boots(f, true, 4, 100, NULL);
	boot(f, &(struct made) { .new = true, .number = 5, .cmdline = "debug",
				 .plan_line = "sample_ms=10\n" }, 100, 200);
	load(f, &d);
	assert_int_equal(d.differences.n, 3);
	assert_string_equal(d.differences.v[0],
			    "accelerator: tcg and kvm, both among the boots of old");
	assert_string_equal(d.differences.v[1],
			    "command line: quiet and debug, both among the boots of new");
	has(d.differences.v[2], "guest's plan, sample_ms: 10");
}

/* A kernel's own things may differ between the sides: that is what is compared */
static void kernels_may_differ(void **state)
{
	struct fixture *f = *state;
	COMPARED(d);

	for (int i = 0; i < 4; i++) {
		boot(f, &(struct made) { .number = i + 1, .cmdline = "a",
					 .plan_line = "knob=x=1\n" }, 100, 200);
		boot(f, &(struct made) { .new = true, .number = i + 1, .cmdline = "b",
					 .plan_line = "knob=x=2\n" }, 100, 200);
	}
	load(f, &d);
	assert_int_equal(d.differences.n, 0);
}

static void unknown_metric(void **state)
{
	const struct compare_options bad = { .metric = "speed" };
	const struct compare_options none = { .metric = "rate" };
	struct fixture *f = *state;
	COMPARED(d);

	boots(f, false, 1, 100, NULL);
	boots(f, true, 1, 100, NULL);
	load(f, &d);
	assert_int_equal(compare_make(&d.c, d.sides, 2, &bad, &f->err), -1);
	has(f->err.text, "there is no metric 'speed'; there are time, ");
	assert_int_equal(compare_make(&d.c, d.sides, 2, &none, &f->err), -1);
	has(f->err.text, "these runs have no rate");
}

static double known(const struct compare_row *row, size_t n, void *arg)
{
	(void)arg;
	return n == 6 && !strcmp(row->load, "no_load") ? 2.5 : NAN;
}

static void calibration_is_quoted(void **state)
{
	const struct compare_options o = { .known_mdc_pct = known };
	struct fixture *f = *state;
	COMPARED(d);

	boots(f, false, 6, 100, NULL);
	boots(f, true, 6, 100, NULL);
	compare(f, &d, &o);
	has(of(&d, "no_load", "time")->sentence, "found so many boots to tell 2.5 %.");
	assert_null(strstr(of(&d, "io_load", "time")->sentence, "calibration"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(slower_is_worse), TEST(faster_is_better),
		TEST(the_same_within_the_margin), TEST(few_boots),
		TEST(enough_for_one), TEST(noise_cannot_be_told),
		TEST(censored_is_not_better), TEST(censored_and_worse),
		TEST(censored_baseline), TEST(lost_runs_are_counted),
		TEST(exact_boots), TEST(one_exact_boot), TEST(exact_boot_twice),
		TEST(differences_between_sides), TEST(differences_within_a_side),
		TEST(kernels_may_differ), TEST(unknown_metric),
		TEST(calibration_is_quoted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
