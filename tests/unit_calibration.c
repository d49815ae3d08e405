/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_calibration.c - a kernel against itself: its figures, and for whom they hold
 */
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>
#include <math.h>

#include "results/base/cleanup.h"
#include "results/calibration.h"
#include "tests/store_fixture.h"

/* struct made - a run of two labels, and what a test changes of it */
struct made {
	const char *run_id, *start, *accel, *profile, *cpu;
	bool calibration;
	double b_slower;	/* by that factor */
	unsigned int runs;
};

#define NOON "2026-01-01T12:00:00Z"
static const struct made usual = {
	.run_id = RUN_A, .start = NOON, .accel = "tcg", .profile = "small",
	.cpu = "this one", .calibration = true, .b_slower = 1, .runs = 1,
};

/* Times whose logarithms have a standard deviation of 0.01: that of 0, 1, 2, 3, 4 is
 * sqrt(2.5) */
#define BOOTS 5

static void make_boot(struct fixture *f, const struct made *m, int order, int number)
{
	cleanup_free char *context = xasprintf("{\"plan\":{\"name\":\"p\",\"boots\":%d,\"digest\":\"d\"},"
		"\"boot\":{\"index\":%d,\"number\":%d,\"seed\":%d},%s"
		"\"kernel\":{\"label\":\"%c\",\"release\":\"6.1\",\"order\":%d},"
		"\"profile\":{\"name\":\"%s\",\"digest\":\"%s\"},\"loads\":[\"no_load\"],"
		"\"job\":{\"name\":\"quick-1\",\"digest\":\"j\",\"jobs\":4},"
		"\"image\":{\"guest\":\"g\",\"lock\":\"l\",\"system\":\"s\",\"cmdline\":\"c\"},"
		"\"accel\":\"%s\",\"qemu\":{\"version\":\"7.2\",\"package\":\"q\",\"machine\":\"pc\",\"cpu\":\"qemu64\"},"
		"\"disk_bus\":\"virtio\",\"host\":{\"start\":\"%s\",\"cpu\":\"%s\",\"machine\":\"x86_64\"}}",
		BOOTS, 2 * number - order, number, 2 * number - order,
		m->calibration ? "\"calibration\":true," : "", order ? 'b' : 'a', order,
		m->profile, m->profile, m->accel, m->start, m->cpu);
	double s = 20 * exp(0.01 * (number - 1) / sqrt(2.5)) * (order ? m->b_slower : 1);
	CLEANUP(buf_free) struct buf plan = { 0 };

	for (unsigned int i = 0; i < m->runs; i++)
		buf_adds(&plan, "run=no_load\n");
	unlink(f->journal);
	must(journal_create(f->journal, m->run_id, plan.data, context, &f->err), &f->err);
	append(f->journal, JOURNAL_RECEIPT, "{}");
	for (unsigned int i = 0; i < m->runs; i++) {
		struct made_run r = { (int)i + 1, "no_load", "ok",
				      (int64_t)(s * 1e9), 1, 0, 0, 0 };

		append_run(f->journal, &r);
	}
	end_boot(f);
}

static void make_run(struct fixture *f, const struct made *m)
{
	for (int number = 1; number <= BOOTS; number++)
		for (int order = 0; order < 2; order++)
			make_boot(f, m, order, number);
}

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in: %s", part, text);
}

static void spread_and_change(void **state)
{
	struct fixture *f = *state;
	CLEANUP(calibration_free) struct calibration c = { 0 };
	CLEANUP(buf_free) struct buf text = { 0 };
	size_t dof;

	make_run(f, &usual);
	must(calibration_load(f->s, RUN_A, &c, &f->err), &f->err);
	assert_true(fabs(calibration_sd_pct(&c, 0, &dof) - 100 * expm1(0.01)) < 1e-6);
	assert_int_equal(dof, 8);
	/* With the spread of both together, as detectable_pct() has it */
	assert_true(fabs(calibration_mdc_pct(&c.verdicts.rows.v[0], 10, &c) -
			 detectable_pct(0.01, 0.01, 10, 10, INFER_LEVEL)) < 1e-6);
	assert_true(isnan(calibration_mdc_pct(&c.verdicts.rows.v[0], 2, &c)));
	assert_int_equal(calibration_wrong(&c), 0);
	calibration_put_text(&c, &text);
	has(text.data, "kernel 6.1 twice, as a and b; profile small, accel tcg, job quick-1, QEMU 7.2, host this one\n");
	has(text.data, "5+5     1.01 ");
	has(text.data, "Check passed: no verdict says better or worse.\n");
}

/* Boots that are not alike must not pass for noise. */
static void a_kernel_worse_than_itself_is_said(void **state)
{
	struct fixture *f = *state;
	CLEANUP(calibration_free) struct calibration c = { 0 };
	CLEANUP(buf_free) struct buf text = { 0 }, json = { 0 };
	struct made m = usual;

	m.b_slower = 1.2;
	make_run(f, &m);
	must(calibration_load(f->s, RUN_A, &c, &f->err), &f->err);
	assert_int_equal(calibration_wrong(&c), 1);
	calibration_put_text(&c, &text);
	has(text.data, "no_load: worse");
	has(text.data, "CHECK FAILED: 1 of these verdicts");
	calibration_put_json(&c, &json);
	has(json.data, "\"wrong\": 1,");
	has(json.data, "\"finding\": \"worse\",");
}

/* struct asker - the run that is to be compared */
struct asker {
	struct boot_records boots;
	struct table table;
	struct compare_side side;
};

static void ask(struct fixture *f, struct asker *a)
{
	*a = (struct asker){ 0 };
	must(store_load_run(f->s, RUN_B, &a->boots, &f->err), &f->err);
	table_make(&a->table, &a->boots);
	a->side = (struct compare_side){ .boots = &a->boots, .table = &a->table };
}

static void asked(struct asker *a)
{
	table_free(&a->table);
	boot_records_clear(&a->boots);
}

/* found() - is the calibration @cal found for a run like @run? */
static bool found(struct fixture *f, const struct made *cal, const struct made *run)
{
	CLEANUP(calibration_free) struct calibration c = { 0 };
	struct made other = *run;
	struct asker a;
	int ret;

	other.run_id = RUN_B;
	other.calibration = false;
	make_run(f, cal);
	make_run(f, &other);
	ask(f, &a);
	ret = calibration_find(f->s, &a.side, &c, &f->err);
	must(ret < 0 ? -1 : 0, &f->err);
	if (ret) {
		double pct = calibration_mdc_pct(&c.verdicts.rows.v[0], 10, &c);

		assert_string_equal(c.run_id, RUN_A);
		assert_int_equal(isnan(pct) != 0, cal->runs != run->runs);
	}
	asked(&a);
	return ret == 1;
}

static void it_holds_where_it_was_made(void **state)
{
	assert_true(found(*state, &usual, &usual));
}

static void not_for_another_profile(void **state)
{
	struct made m = usual;

	m.profile = "large";
	assert_false(found(*state, &usual, &m));
}

static void not_for_another_accelerator(void **state)
{
	struct made m = usual;

	m.accel = "kvm";
	assert_false(found(*state, &usual, &m));
}

static void not_on_another_host(void **state)
{
	struct made m = usual;

	m.cpu = "that one";
	assert_false(found(*state, &usual, &m));
}

static void in_exact_mode_the_host_is_nothing(void **state)
{
	struct made cal = usual, run = usual;

	cal.accel = run.accel = "exact";
	run.cpu = "that one";
	assert_true(found(*state, &cal, &run));
}

/* It is found and has no figure for that load: found() looks. */
static void not_with_other_runs_in_a_boot(void **state)
{
	struct made m = usual;

	m.runs = 2;
	assert_true(found(*state, &usual, &m));
}

static void a_run_is_no_calibration(void **state)
{
	struct fixture *f = *state;
	CLEANUP(calibration_free) struct calibration c = { 0 };
	struct made m = usual;

	m.calibration = false;
	assert_false(found(f, &m, &usual));
	assert_int_equal(calibration_load(f->s, RUN_A, &c, &f->err), -1);
	has(f->err.text, "is no calibration");
}

/* The newest that holds, from an index made again of the journals */
static void the_newest_is_found_again(void **state)
{
	struct fixture *f = *state;
	CLEANUP(calibration_free) struct calibration c = { 0 };
	struct made newer = usual, other = usual, run = usual;
	struct asker a;

	newer.run_id = "33333333-2222-4333-8444-555555555555";
	newer.start = "2026-01-02T12:00:00Z";
	other.run_id = "44444444-2222-4333-8444-555555555555";
	other.start = "2026-01-03T12:00:00Z";
	other.profile = "large";
	run.run_id = RUN_B;
	run.calibration = false;
	make_run(f, &usual);
	make_run(f, &newer);
	make_run(f, &other);
	make_run(f, &run);
	must(store_rebuild(f->s, &f->err), &f->err);
	ask(f, &a);
	assert_int_equal(calibration_find(f->s, &a.side, &c, &f->err), 1);
	assert_string_equal(c.run_id, newer.run_id);
	asked(&a);
}

int main(void)
{
#define test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		test(spread_and_change),
		test(a_kernel_worse_than_itself_is_said),
		test(it_holds_where_it_was_made),
		test(not_for_another_profile),
		test(not_for_another_accelerator),
		test(not_on_another_host),
		test(in_exact_mode_the_host_is_nothing),
		test(not_with_other_runs_in_a_boot),
		test(a_run_is_no_calibration),
		test(the_newest_is_found_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
