/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_wide.c - the wide table: rates, what is noise, shares, disks, units
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "results/base/cleanup.h"
#include "results/grid.h"
#include "results/render.h"
#include "results/stats.h"
#include "tests/store_fixture.h"

#define S INT64_C(1000000000)
#define LOADS "[\"no_load\",\"io_load\"]"
#define PLAN "run=no_load\nrun=io_load\n"

/* A boot on the accelerator @accel: "exact" or "tcg-" (as long) */
static void begin(struct fixture *f, const char *accel, int number, int boots)
{
	char *ctx = context_json(RUN_A, "6.1", 0, number, boots,
				 "2026-01-31T10:00:00Z", LOADS);

	memcpy(strstr(ctx, "\"accel\":\"exact\"") + strlen("\"accel\":\""),
	       accel, strlen("exact"));
	must(journal_create(f->journal, RUN_A, PLAN, ctx, &f->err), &f->err);
	append(f->journal, JOURNAL_RECEIPT, "{\"cpus_online\":1}");
	free(ctx);
}

/* One boot: no_load of @no_load_ms, io_load of @io_load_ms with 2.5 Loads */
static void boot(struct fixture *f, const char *accel, int number, int boots,
		 int64_t no_load_ms, int64_t io_load_ms)
{
	begin(f, accel, number, boots);
	append_run(f->journal, &(struct made_run){ 1, "no_load", "ok",
		no_load_ms * 1000000, 19 * S, 0, 0, 1 });
	append_run(f->journal, &(struct made_run){ 2, "io_load", "ok",
		io_load_ms * 1000000, 20 * S, 5 * S, 250, 100 });
	end_boot(f);
}

/* figure() - one of the first kernel's figures under io_load; NAN: null */
static double figure(struct fixture *f, const char *name)
{
	cleanup_free char *text = print_run(f, "json");
	json_auto_t *j = json_loads(text, 0, NULL);
	const json_t *v = json_object_get(json_array_get(json_object_get(
		json_array_get(json_object_get(j, "table"), 1), "kernels"), 0),
		name);

	assert_non_null(v);
	return json_is_null(v) ? NAN : json_number_value(v);
}

static void near(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("%.9g is not %.9g", got, want);
}

/* --- the marginal rate: Loads / (Time - no_load Time), or nothing -------------- */

static void one_exact_boot_has_none(void **state)
{
	struct fixture *f = *state;

	boot(f, "exact", 1, 1, 20000, 25000);
	assert_true(isnan(figure(f, "marginal_per_s")));
	assert_true(isnan(figure(f, "marginal_noise_s")));
	near(figure(f, "loads_per_s"), 0.1, 1e-8);
}

static void job_that_got_faster_has_none(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 2; i++)
		boot(f, "exact", i + 1, 2, 20000 + i, 15000 + i);
	assert_true(isnan(figure(f, "marginal_per_s")));
}

static void one_measured_boot_has_none(void **state)
{
	struct fixture *f = *state;

	boot(f, "tcg--", 1, 1, 20000, 90000);
	assert_true(isnan(figure(f, "marginal_per_s")));
	assert_true(isnan(figure(f, "marginal_noise_s")));
}

static void boots_tell_what_is_noise(void **state)
{
	struct fixture *f = *state;

	/*
	 * no_load 20, 21, 22 s and io_load 24, 26, 28 s: variances of the means
	 * 1/3 and 4/3, 2.9412 degrees of freedom, t = 3.2181 (between 4.3027 of
	 * 2 and 3.1824 of 3): +- 4.155 s, less than the 5 s of difference.
	 */
	for (int i = 0; i < 3; i++)
		boot(f, "tcg--", i + 1, 3, 20000 + 1000 * i, 24000 + 2000 * i);
	near(figure(f, "marginal_noise_s"), 4.155, 5e-3);
	near(figure(f, "marginal_per_s"), 2.5 / 5, 1e-8);
}

static void boots_too_far_apart_have_none(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 3; i++)
		boot(f, "exact", i + 1, 3, 20000 + 1000 * i, 23000 + 4000 * i);
	assert_true(figure(f, "marginal_noise_s") > 6);
	assert_true(isnan(figure(f, "marginal_per_s")));
}

static void welch(void **state)
{
	/* Pairs of Student's sleep data (1908): the textbook interval of Welch's
	 * test is -3.3654832 ... 0.2054832 with 17.776 degrees of freedom */
	static const double a[] = { 0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8,
				    0.0, 2.0 };
	static const double b[] = { 1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6,
				    4.6, 3.4 };

	(void)state;
	near(stats_welch_half_width(a, 10, b, 10, 0.95), 1.7854832, 5e-7);
	assert_true(isnan(stats_welch_half_width(a, 1, b, 2, 0.95)));
	assert_true(isnan(stats_welch_half_width(a, 2, b, 2, 1)));
	/* no spread, no noise */
	near(stats_welch_half_width((double[]){ 3, 3 }, 2, (double[]){ 4, 4 },
				    2, 0.95), 0, 0);
}

/* --- what is shown ------------------------------------------------------------- */

static const char full_run[] =
	"{\"run\":2,\"load\":\"io_load\",\"index\":1,\"verdict\":\"ok\","
	"\"load_size\":167772160,\"size_unit\":\"bytes\",\"wall_ns\":50000000000,"
	"\"job\":{\"user_ns\":15000000000,\"system_ns\":5000000000,\"exit\":0},"
	"\"load_cpu\":{\"user_ns\":1000000000,\"system_ns\":4000000000},"
	"\"count\":{\"done\":250,\"per_load\":100,\"unit\":\"file of RAM size written\"},"
	"\"cpu\":{\"user_ns\":400,\"nice_ns\":100,\"system_ns\":150,\"idle_ns\":200,"
	"\"iowait_ns\":100,\"irq_ns\":20,\"softirq_ns\":10,\"steal_ns\":20},"
	"\"vm\":{\"pswpin\":3,\"pswpout\":5,\"pgfault\":900,\"pgmajfault\":7},"
	"\"psi\":{\"cpu_some_us\":25000000,\"memory_some_us\":500000,"
	"\"memory_full_us\":250000,\"io_some_us\":10000000,\"io_full_us\":5000000},"
	"\"ctxt\":4321,"
	"\"disk\":{\"read_bytes\":6291456,\"write_bytes\":11534336,\"reads\":60,\"writes\":40},"
	"\"disk_system\":{\"read_bytes\":1048576,\"write_bytes\":0,\"reads\":10,\"writes\":0},"
	"\"disk_work\":{\"read_bytes\":3145728,\"write_bytes\":2097152,\"reads\":30,\"writes\":10},"
	"\"disk_other\":{\"read_bytes\":0,\"write_bytes\":8388608,\"reads\":0,\"writes\":20},"
	"\"disk_swap\":{\"read_bytes\":2097152,\"write_bytes\":1048576,\"reads\":20,\"writes\":10},"
	"\"job_io\":{\"read_bytes\":4194304,\"write_bytes\":524288,\"reads\":40,\"writes\":5},"
	"\"load_io\":{\"read_bytes\":0,\"write_bytes\":9437184,\"reads\":0,\"writes\":25}}";

static void full(struct fixture *f)
{
	begin(f, "exact", 1, 1);
	append_run(f->journal, &(struct made_run){ 1, "no_load", "ok", 20 * S,
						   19 * S, 0, 0, 1 });
	append(f->journal, JOURNAL_RUN_START,
	       "{\"run\":2,\"load\":\"io_load\",\"index\":1}");
	append(f->journal, JOURNAL_RUN_END, full_run);
	end_boot(f);
}

/* The whole table: what the first run's kernel does not offer is "-" */
static void golden_table(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *text = NULL, *want = slurp("tests/golden/wide.txt");

	full(f);
	text = print_run(f, "wide");
	assert_string_equal(text, want);
	for (const char *line = text; *line; line = strchr(line, '\n') + 1)
		assert_true(strcspn(line, "\n") <= 160);
}

static void json_and_csv_have_it_too(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *text = NULL, *csv = NULL;
	json_auto_t *j = NULL;
	const json_t *load, *cell, *run;

	full(f);
	text = print_run(f, "json");
	j = json_loads(text, 0, NULL);
	load = json_array_get(json_object_get(j, "table"), 1);
	assert_string_equal(json_string_value(json_object_get(load, "unit")),
			    "file of RAM size written");
	assert_int_equal(json_integer_value(json_object_get(load, "size")),
			 167772160);
	cell = json_array_get(json_object_get(load, "kernels"), 0);
	near(json_number_value(json_object_get(cell, "psi_io_pct")), 20, 1e-9);
	near(json_number_value(json_object_get(cell, "steal_pct")), 2, 1e-9);
	near(json_number_value(json_object_get(json_object_get(json_object_get(
		cell, "means"), "disk_other"), "write_bytes")), 8388608, 0);
	run = json_array_get(json_object_get(json_array_get(json_object_get(j,
		"boots"), 0), "runs"), 1);
	assert_int_equal(json_integer_value(json_object_get(json_object_get(
		run, "load_io"), "write_bytes")), 9437184);
	assert_string_equal(json_string_value(json_object_get(run,
		"size_unit")), "bytes");
	csv = print_run(f, "csv");
	assert_non_null(strstr(csv, ",disk_other.write_bytes,"));
	assert_non_null(strstr(csv, ",load_io.writes,load_size\r\n"));
	assert_non_null(strstr(csv, ",25,167772160\r\n"));
}

static void columns_are_as_wide_as_their_text(void **state)
{
	static const char *const titles[] = { "L", "N", NULL };
	CLEANUP(grid_free) struct grid g = { .titles = titles, .text = 1 };
	CLEANUP(buf_free) struct buf b = { 0 };

	(void)state;
	grid_add_text(&g, "\xe6\xbc\xa2\xe5\xad\x97");
	grid_add_number(&g, 12.25, 2);
	grid_add_text(&g, "a\n");
	grid_add_number(&g, NAN, 2);
	grid_put(&g, &b);
	assert_string_equal(b.data, "L         N\n"
			    "\xe6\xbc\xa2\xe5\xad\x97  12.25\n"
			    "a?        -\n");
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(welch),
		cmocka_unit_test(columns_are_as_wide_as_their_text),
		T(one_exact_boot_has_none),
		T(job_that_got_faster_has_none),
		T(one_measured_boot_has_none),
		T(boots_tell_what_is_noise),
		T(boots_too_far_apart_have_none),
		T(golden_table),
		T(json_and_csv_have_it_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
