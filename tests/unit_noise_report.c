/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_noise_report.c - from VERDICT's noise receipts to the rule and the reports
 */
#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "results/base/cleanup.h"
#include "results/noise.h"
#include "results/render.h"
#include "tests/store_fixture.h"

#define S INT64_C(1000000000)
#define LOADS "[\"no_load\",\"io_load\"]"
#define PLAN "run=no_load\nrun=io_load\nrun=io_load\n"

/* A quiet host: 100 s, of which the vCPU ran 90 and waited 0.5; two CPUs, 10 s used
 * by others */
#define QUIET "\"window_ns\":100000000000,\"vcpus\":1,\"vcpu_run_ns\":90000000000," \
	"\"vcpu_wait_ns\":500000000,\"vcpu_involuntary\":321,"			\
	"\"worst_wait_ns\":500000000,\"worst_slices\":1000,"			\
	"\"main_wait_ns\":600000000,\"main_slices\":10000,"			\
	"\"host_busy_ns\":102000000000,\"host_idle_ns\":98000000000,"		\
	"\"host_steal_ns\":0,\"others_busy_ns\":10000000000,"			\
	"\"psi_cpu_some_us\":2000000,\"psi_io_some_us\":3000000,"		\
	"\"psi_memory_some_us\":0,\"load_1min_milli\":1250"

/* --- the rule -------------------------------------------------------------------- */

struct made {
	struct boot_record b;
	struct run_record r;
};

/* A boot of one run that ended, with this receipt */
static void make(struct made *m, const char *accel, const char *receipt)
{
	cleanup_free char *host = xasprintf("{\"noise\":[{\"run\":7},{\"run\":1%s%s}]}",
					    *receipt ? "," : "", receipt);

	*m = (struct made){
		.b.context = json_pack("{s:s}", "accel", accel),
		.b.host = json_loads(host, 0, NULL),
		.r = { .number = 1, .ended = true, .started = true },
	};
	assert_non_null(m->b.host);
	for (int f = 0; f < FIG_COUNT; f++)
		m->r.fig[f] = FIGURE_NONE;
}

static void unmake(struct made *m)
{
	json_decref(m->b.context);
	json_decref(m->b.host);
}

/* noisy() - @why must be said of @receipt, or with NULL nothing */
static void noisy(const char *receipt, const char *why)
{
	CLEANUP(unmake) struct made m;
	cleanup_free char *got = NULL;

	make(&m, "tcg", receipt);
	if (run_noisy(&m.b, &m.r, &got) != (why != NULL))
		fail_msg("'%s' is%s noisy", receipt, why ? " not" : "");
	if (why)
		assert_string_equal(got, why);
	else
		assert_null(got);
	assert_int_equal(run_noisy(&m.b, &m.r, NULL), why != NULL);
}

static void waiting_is_noise(void **state)
{
	(void)state;
	noisy("\"window_ns\":100000,\"vcpus\":1,\"worst_wait_ns\":4100",
	      "the vCPU waited 4.1 % of the window for a CPU of the host");
	noisy("\"window_ns\":100000,\"vcpus\":2,\"worst_wait_ns\":4100",
	      "a vCPU waited 4.1 % of the window for a CPU of the host");
	noisy("\"window_ns\":100000,\"worst_wait_ns\":1000", NULL);
	noisy("\"window_ns\":100000,\"worst_wait_ns\":1001",
	      "the vCPU waited 1.0 % of the window for a CPU of the host");
	noisy("\"window_ns\":100000,\"main_wait_ns\":50000",
	      "QEMU's main loop waited 50.0 % of the window for a CPU of the host");
}

static void being_woken_is_none(void **state)
{
	(void)state;
	/* 1 000 000 slices of 15 us in 100 s: a guest that sleeps often */
	noisy("\"window_ns\":100000000000,\"worst_wait_ns\":15000000000,\"worst_slices\":1000000",
	      NULL);
	noisy("\"window_ns\":100000000000,\"worst_wait_ns\":25000000000,\"worst_slices\":1000000",
	      "the vCPU waited 5.0 % of the window for a CPU of the host");
}

static void steal_is_noise(void **state)
{
	CLEANUP(unmake) struct made m;
	cleanup_free char *why = NULL;

	(void)state;
	noisy("\"host_busy_ns\":980,\"host_idle_ns\":10000,\"host_steal_ns\":20",
	      "2.0 % of the CPU time that the host wanted was stolen from it");
	noisy("\"host_busy_ns\":991,\"host_idle_ns\":10000,\"host_steal_ns\":9",
	      NULL);
	/* What the guest says needs no receipt. */
	make(&m, "kvm", "");
	for (int f = FIG_CPU_USER_NS; f <= FIG_CPU_STEAL_NS; f++)
		m.r.fig[f] = 0;
	m.r.fig[FIG_CPU_USER_NS] = 950;
	assert_false(run_noisy(&m.b, &m.r, NULL));
	m.r.fig[FIG_CPU_STEAL_NS] = 50;
	assert_true(run_noisy(&m.b, &m.r, &why));
	assert_string_equal(why, "the host took 5.0 % of the guest's CPU time");
}

static void others_are_noise(void **state)
{
	(void)state;
	noisy("\"host_busy_ns\":500,\"host_idle_ns\":500,\"host_steal_ns\":0,\"others_busy_ns\":101",
	      "other processes used 10 % of the host's CPU time");
	noisy("\"host_busy_ns\":500,\"host_idle_ns\":500,\"host_steal_ns\":0,\"others_busy_ns\":100",
	      NULL);
	noisy("\"window_ns\":1000,\"vcpus\":1,\"worst_wait_ns\":500,\"host_busy_ns\":900,"
	      "\"host_idle_ns\":100,\"host_steal_ns\":0,\"others_busy_ns\":700",
	      "the vCPU waited 50.0 % of the window for a CPU of the host, other processes used 70 % of the host's CPU time");
}

static void unknown_is_not_noisy(void **state)
{
	(void)state;
	noisy("", NULL);
	noisy(QUIET, NULL);
	/* a wait, but of what? */
	noisy("\"worst_wait_ns\":500", NULL);
	noisy("\"window_ns\":0,\"worst_wait_ns\":500", NULL);
	/* not what a kontest writes */
	noisy("\"window_ns\":\"x\",\"worst_wait_ns\":500", NULL);
	noisy("\"window_ns\":-5,\"worst_wait_ns\":500", NULL);
	noisy("\"window_ns\":100.5,\"worst_wait_ns\":500", NULL);
}

static void never_in_exact_mode(void **state)
{
	CLEANUP(unmake) struct made m;

	(void)state;
	make(&m, "exact", "\"window_ns\":100,\"worst_wait_ns\":90");
	assert_false(boot_measured(&m.b));
	assert_false(run_noisy(&m.b, &m.r, NULL));
	json_object_set_new(m.b.context, "accel", json_string("kvm"));
	assert_true(run_noisy(&m.b, &m.r, NULL));
	/* nor of a run that has no end, nor by another run's receipt */
	m.r.ended = false;
	assert_false(run_noisy(&m.b, &m.r, NULL));
	m.r.ended = true;
	m.r.number = 7;
	assert_false(run_noisy(&m.b, &m.r, NULL));
}

static void every_figure_is_read(void **state)
{
	CLEANUP(buf_free) struct buf b = { 0 };
	CLEANUP(unmake) struct made m;
	struct run_noise n;

	(void)state;
	for (int f = 0; f < NOISE_COUNT; f++)
		buf_printf(&b, "%s\"%s\":%d", f ? "," : "",
			   noise_member((enum noise_figure)f), f + 5);
	make(&m, "tcg", b.data);
	assert_true(run_noise(&m.b, &m.r, &n));
	for (int f = 0; f < NOISE_COUNT; f++)
		assert_int_equal(n.fig[f], f + 5);
	m.r.number = 2;
	assert_false(run_noise(&m.b, &m.r, &n));
	assert_int_equal(n.fig[0], FIGURE_NONE);
}

/* --- the reports ------------------------------------------------------------------ */

/* A boot whose third run, the second of io_load, had a busy host */
static void boot(struct fixture *f, const char *accel, int number)
{
	cleanup_free char *ctx = context_json(RUN_A, "6.12", 0, number, 2,
					      "2026-01-31T10:00:00Z", LOADS);
	static const char end[] = "{\"verdict\":\"ok\",\"evidence\":\"\",\"console\":[],"
		"\"host\":{\"seconds\":1.5,\"cpus\":2,\"noise\":["
		"{\"run\":1," QUIET "},{\"run\":2," QUIET "},"
		"{\"run\":3,\"window_ns\":100000000000,\"vcpus\":1,"
		"\"vcpu_run_ns\":80000000000,\"worst_wait_ns\":4100000000}]}}";
	char id[SHA256_HEX];

	memcpy(strstr(ctx, "\"accel\":\"exact\"") + strlen("\"accel\":\""),
	       accel, strlen("exact"));
	must(journal_create(f->journal, RUN_A, PLAN, ctx, &f->err), &f->err);
	append(f->journal, JOURNAL_RECEIPT, "{\"cpus_online\":1}");
	for (int i = 1; i <= 3; i++)
		append_run(f->journal, &(struct made_run){ i,
			i == 1 ? "no_load" : "io_load", "ok", (20 + i) * S,
			19 * S, 0, 0, 1 });
	append(f->journal, JOURNAL_END, "{\"runs\":3}");
	append(f->journal, JOURNAL_VERDICT, end);
	must(store_add(f->s, f->journal, id, &f->err), &f->err);
}

#define LINE "noisy: run 2 of io_load on 6.12, boot 2: the vCPU waited 4.1 % of the window for a CPU of the host\n"

static void text_reports_name_it(void **state)
{
	static const char *const formats[] = {
		"contest-0.61", "contest-0.60", "contest-0.51", "wide", NULL,
	};
	struct fixture *f = *state;

	boot(f, "tcg--", 1);
	boot(f, "tcg--", 2);
	for (size_t i = 0; formats[i]; i++) {
		cleanup_free char *text = print_run(f, formats[i]);

		assert_non_null(strstr(text, LINE));
		/* two boots, one line each, and the run counts all the same */
		assert_ptr_equal(strstr(text, "noisy: run 2 of io_load on 6.12, boot 1"),
				 strstr(text, "noisy: "));
		assert_string_equal(strstr(text, LINE), LINE);
	}
}

static void wide_has_the_host(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *text = NULL;

	boot(f, "tcg--", 1);
	text = print_run(f, "wide");
	assert_non_null(strstr(text, "\nThe host meanwhile ("));
	/* (500 ms - 1000 * 20 us) / 100 s; (600 - 200) ms; what io_load's noisy run
	 * does not say is no mean */
	assert_non_null(strstr(text,
		"no_load  6.12     90.0    0.5    0.4     321      5.0      0.0       2.0   0.0   3.0  1.25    0/1\n"
		"io_load  6.12     85.0    2.3      -       -        -        -         -     -     -     -    1/2\n"));
}

static void json_has_it_in_host(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *text = NULL;
	json_auto_t *j = NULL;
	const json_t *b, *host;

	boot(f, "tcg--", 1);
	text = print_run(f, "json");
	j = json_loads(text, 0, NULL);
	b = json_array_get(json_object_get(j, "boots"), 0);
	host = json_object_get(json_array_get(json_object_get(b, "runs"), 2),
			       "host");
	assert_true(json_is_true(json_object_get(host, "noisy")));
	assert_string_equal(json_string_value(json_object_get(host, "noisy_why")),
			    "the vCPU waited 4.1 % of the window for a CPU of the host");
	host = json_object_get(json_array_get(json_object_get(b, "runs"), 0),
			       "host");
	assert_true(json_is_false(json_object_get(host, "noisy")));
	host = json_object_get(json_object_get(b, "host"), "verdict");
	assert_int_equal(json_array_size(json_object_get(host, "noise")), 3);
	/* Noisy or not, it counts. */
	assert_true(json_is_true(json_object_get(json_array_get(
		json_object_get(b, "runs"), 2), "good")));
}

static void exact_reports_say_nothing(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *wide = NULL, *contest = NULL, *text = NULL;
	json_auto_t *j = NULL;
	const json_t *run;

	boot(f, "exact", 1);
	wide = print_run(f, "wide");
	contest = print_run(f, "contest-0.61");
	assert_null(strstr(wide, "noisy"));
	assert_null(strstr(wide, "The host"));
	assert_null(strstr(contest, "noisy"));
	text = print_run(f, "json");
	j = json_loads(text, 0, NULL);
	run = json_array_get(json_object_get(json_array_get(json_object_get(j,
		"boots"), 0), "runs"), 2);
	assert_null(json_object_get(run, "host"));
	/* recorded all the same */
	assert_non_null(strstr(text, "\"worst_wait_ns\": 4100000000"));
}

/* The verdict's effect: what a drifting clock measured is in no mean */
static void drifting_boot_counts_nothing(void **state)
{
	struct fixture *f = *state;
	cleanup_free char *ctx = context_json(RUN_A, "6.12", 0, 1, 1,
					      "2026-01-31T10:00:00Z", LOADS);
	cleanup_free char *text = NULL;
	char id[SHA256_HEX];

	must(journal_create(f->journal, RUN_A, "run=no_load\n", ctx, &f->err),
	     &f->err);
	append_run(f->journal, &(struct made_run){ 1, "no_load", "ok", 20 * S,
						   19 * S, 0, 0, 1 });
	append(f->journal, JOURNAL_END, "{\"runs\":1}");
	append(f->journal, JOURNAL_VERDICT, "{\"verdict\":\"clock-drift\",\"evidence\":"
	       "\"run 1, no_load, took 1 s\",\"console\":[],\"host\":{}}");
	must(store_add(f->s, f->journal, id, &f->err), &f->err);
	text = print_run(f, NULL);
	assert_non_null(strstr(text, "not counted, boot clock-drift: run 1, no_load, took 1 s"));
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waiting_is_noise),
		cmocka_unit_test(being_woken_is_none),
		cmocka_unit_test(steal_is_noise),
		cmocka_unit_test(others_are_noise),
		cmocka_unit_test(unknown_is_not_noisy),
		cmocka_unit_test(never_in_exact_mode),
		cmocka_unit_test(every_figure_is_read),
		T(text_reports_name_it),
		T(wide_has_the_host),
		T(json_has_it_in_host),
		T(exact_reports_say_nothing),
		T(drifting_boot_counts_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
