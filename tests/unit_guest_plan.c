/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_guest_plan.c - the guest's reader of its plan
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "guest/bench.h"
#include "guest/json.h"
#include "guest/plan.h"

#define GOOD \
	"format=1\ncpus=2\nmem=268435456\nexact=1\njob=quick-1\njobs=8\n" \
	"seed=18446744073709551615\nlead_ms=3000\nrun_timeout_s=1800\n" \
	"sample_ms=0\n"

static int parse(const char *text, struct plan *p, struct fail *f)
{
	char copy[4096];

	assert_true(strlen(text) < sizeof(copy));
	strcpy(copy, text);
	f->text[0] = '\0';
	return guest_plan_parse(copy, p, f);
}

static void expect_refusal(const char *text, const char *why)
{
	struct plan p;
	struct fail f;

	assert_int_equal(parse(text, &p, &f), -1);
	if (!strstr(f.text, why))
		fail_msg("'%s' does not say '%s'", f.text, why);
	guest_plan_free(&p);
}

static void test_all_keys(void **state)
{
	struct plan p;
	struct fail f;

	(void)state;
	assert_int_equal(parse(GOOD "spindle.main=1,2,3,4,5\nspindle.other=0,0,0,0,9\n"
			       "size.io_load=42\nrun=no_load\nrun=io_load\n"
			       "run=io_load\n", &p, &f), 0);
	assert_int_equal(p.cpus, 2);
	assert_int_equal(p.mem, 268435456);
	assert_true(p.exact);
	assert_string_equal(p.job, "quick-1");
	assert_int_equal(p.jobs, 8);
	assert_true(p.seed == UINT64_MAX);
	assert_int_equal(p.lead_ms, 3000);
	assert_int_equal(p.run_timeout_s, 1800);
	assert_int_equal(p.sample_ms, 0);
	assert_int_equal(p.main_spindle.rbps, 1);
	assert_int_equal(p.main_spindle.wbps, 2);
	assert_int_equal(p.main_spindle.seek_us, 3);
	assert_int_equal(p.main_spindle.settle_us, 4);
	assert_int_equal(p.main_spindle.rotation_us, 5);
	assert_int_equal(p.other_spindle.rotation_us, 9);
	assert_true(guest_plan_modelled(&p.main_spindle));
	assert_true(guest_plan_modelled(&p.other_spindle));
	assert_int_equal(guest_plan_size(&p, "io_load"), 42);
	assert_int_equal(guest_plan_size(&p, "no_load"), 0);
	assert_int_equal(p.nruns, 3);
	assert_string_equal(p.runs[0], "no_load");
	assert_string_equal(p.runs[2], "io_load");
	guest_plan_free(&p);
}

static void test_benchmarks(void **state)
{
	struct plan p;
	struct fail f;

	(void)state;
	assert_int_equal(parse(GOOD "bench.tiobench.threads=1,2,4,8\n"
			       "bench.qsbench.seed=0\nbench=tiobench\n"
			       "run=no_load\nbench=tiobench\n", &p, &f), 0);
	assert_int_equal(p.nruns, 3);
	assert_int_equal(p.ncontest, 1);
	assert_true(p.benches[0] && !p.benches[1] && p.benches[2]);
	assert_string_equal(p.runs[2], "tiobench");
	assert_int_equal(p.bench[0].of[0].n, 4);
	assert_int_equal(p.bench[0].of[0].v[3], 8);
	assert_int_equal(bench_check(&p, "tiobench", &f), -1);
	assert_non_null(strstr(f.text, "no line 'bench.tiobench.block='"));
	assert_int_equal(bench_check(&p, "dbench", &f), -1);
	guest_plan_free(&p);

	assert_int_equal(parse(GOOD "bench.qsbench.processes=1\n"
			       "bench.qsbench.elements=5\n"
			       "bench.qsbench.seed=0\n", &p, &f), 0);
	assert_int_equal(bench_check(&p, "qsbench", &f), 0);
	guest_plan_free(&p);
	/* Without contest's runs there may be no job */
	assert_int_equal(parse("format=1\ncpus=1\nmem=1\nexact=0\njob=none\njobs=1\n"
			       "seed=1\nlead_ms=0\nrun_timeout_s=1\nsample_ms=0\n"
			       "bench=chat\n", &p, &f), 0);
	guest_plan_free(&p);
	expect_refusal(GOOD "bench.tiobench.colour=1\n", "unknown key 'bench.tiobench.colour'");
	expect_refusal(GOOD "bench.x.y=1\n", "unknown key");
	expect_refusal(GOOD "bench.tiobench=1\n", "unknown key");
	expect_refusal(GOOD "bench.tiobench.threads=1,1\n", "a setting");
	expect_refusal(GOOD "bench.tiobench.threads=1,\n", "a setting");
	expect_refusal(GOOD "bench.tiobench.threads=\n", "a setting");
	expect_refusal(GOOD "bench.tiobench.block=4096,512\n", "a setting");
	expect_refusal(GOOD "bench.tiobench.threads=257\n", "a setting");
	expect_refusal(GOOD "bench.chat.rooms=1\nbench.chat.rooms=1\n", "given twice");
}

/* What the journal's reader wants to find, in numbers of every kind */
static void test_result_json(void **state)
{
	static struct bench_shared s;
	struct bench_settings set = {
		.of = { { .v = { 1, 2 }, .n = 2 }, { .v = { 4096 }, .n = 1 },
			{ .v = { 1 << 20 }, .n = 1 }, { .v = { 9 }, .n = 1 } },
	};
	char text[4096];
	struct jsonw w;
	struct bench_row *row = bench_add_row(&s, 2);

	(void)state;
	row->v[0] = 2;
	row->v[4] = UINT64_MAX - 1;
	jsonw_begin(&w, text, sizeof(text));
	jsonw_open(&w, NULL, '{');
	bench_result_json(&w, bench_find("tiobench"), &set, &s);
	jsonw_close(&w, '}');
	assert_true(jsonw_ok(&w));
	assert_string_equal(text, "{\"settings\":{\"threads\":[1,2],\"block\":4096,"
		"\"size\":1048576,\"random-ops\":9},\"rows\":[{\"phase\":\"sequential-read\","
		"\"threads\":2,\"wall_ns\":18446744073709551614}]}");
}

static void test_carried_plan_takes_the_machine(void **state)
{
	struct plan p;
	struct fail f;

	(void)state;
	assert_int_equal(parse("format=1\ncpus=0\nmem=0\nexact=0\njob=quick-1\n"
			       "jobs=0\nseed=1\nlead_ms=0\nrun_timeout_s=1\n"
			       "sample_ms=5\nrun=no_load\n", &p, &f), 0);
	guest_plan_fill(&p, 3, 1000);
	assert_int_equal(p.cpus, 3);
	assert_int_equal(p.mem, 1000);
	assert_int_equal(p.jobs, 12);
	guest_plan_free(&p);
	assert_int_equal(parse(GOOD, &p, &f), 0);
	guest_plan_fill(&p, 3, 1000);
	assert_int_equal(p.cpus, 2);
	assert_int_equal(p.mem, 268435456);
	assert_int_equal(p.jobs, 8);
	guest_plan_free(&p);
}

static void test_refusals(void **state)
{
	(void)state;
	expect_refusal("", "no line 'format='");
	expect_refusal("cpus=1\n", "must begin with format=1");
	expect_refusal("format=2\n", "1 (this guest knows no other)");
	expect_refusal("format=1\ncpus=1\n", "no line 'mem='");
	expect_refusal(GOOD "colour=red\n", "line 11: unknown key 'colour'");
	expect_refusal(GOOD "cpus=2\n", "line 11: 'cpus' is given twice");
	expect_refusal(GOOD "nonsense\n", "line 11: 'nonsense' is no key=value");
	expect_refusal(GOOD "spindle.main=1,2,3,4\n", "RBPS,WBPS,SEEK_US");
	expect_refusal(GOOD "spindle.main=1,2,3,4,5,6\n", "RBPS,WBPS,SEEK_US");
	expect_refusal(GOOD "spindle.main=1,,3,4,5\n", "RBPS,WBPS,SEEK_US");
	expect_refusal(GOOD "spindle.main=1,2,10000001,4,5\n", "RBPS,WBPS,SEEK_US");
	expect_refusal(GOOD "size.=1\n", "names no load");
	expect_refusal(GOOD "size.x=1\nsize.x=1\n", "given twice");
	expect_refusal(GOOD "size.x=-1\n", "a number expected");
	expect_refusal(GOOD "run=../../etc\n", "a name expected");
	expect_refusal(GOOD "run=\n", "a name expected");
	expect_refusal("format=1\ncpus=1x\n", "number from 0 to 4096");
	expect_refusal("format=1\nexact=2\n", "number from 0 to 1");
	expect_refusal("format=1\nmem=99999999999999999999\n", "a number");
	expect_refusal("format=1\nrun_timeout_s=0\n", "number from 1");
}

static void test_runs_need_a_job(void **state)
{
	(void)state;
	expect_refusal("format=1\ncpus=1\nmem=1\nexact=0\njob=none\njobs=1\n"
		       "seed=1\nlead_ms=0\nrun_timeout_s=1\nsample_ms=0\n"
		       "run=no_load\n", "job=none");
}

static void test_job(void **state)
{
	struct plan p;
	struct fail f;

	(void)state;
	assert_int_equal(parse(GOOD "job.target=kernel/sched/\njob.command=a=b; c\n"
			       "job.prepare=rm -f *.o\n", &p, &f), 0);
	assert_string_equal(p.job_target, "kernel/sched/");
	assert_string_equal(p.job_command, "a=b; c");
	assert_string_equal(p.job_prepare, "rm -f *.o");
	guest_plan_free(&p);
	expect_refusal(GOOD "job.target=-f/x\n", "a make target expected");
	expect_refusal(GOOD "job.target=a=b\n", "a make target expected");
	expect_refusal(GOOD "job.command=\n", "bytes expected");
	expect_refusal(GOOD "job.target=a\njob.target=b\n", "given twice");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_keys),
		cmocka_unit_test(test_job),
		cmocka_unit_test(test_benchmarks),
		cmocka_unit_test(test_result_json),
		cmocka_unit_test(test_carried_plan_takes_the_machine),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_runs_need_a_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
