/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/experiment.h"
#include "host/plan.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"

static int read_text(struct plan *p, const char *text, struct error *err)
{
	char path[] = "/tmp/unit_plan.XXXXXX";
	int fd = mkstemp(path), ret;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	ret = plan_read(p, path, err);
	unlink(path);
	return ret;
}

static void plan_is_read_as_written(void **state)
{
	struct plan p;
	struct error err = { 0 };

	(void)state;
	plan_init(&p);
	assert_int_equal(read_text(&p,
		"[plan]\nname = hz\nprofile = small\nboots = 3\nruns = 2\n"
		"loads = no_load, io_load:4 ,process_load\norder-seed = 7\n"
		"accel = exact ; a remark\n[size]\nio_load = 64MiB\n"
		"[kernel 100 Hz]\nimage = a\ncmdline = x=1 y\n[kernel b]\nimage = b\n",
		&err), 0);
	assert_int_equal(plan_finish(&p, &err), 0);
	assert_string_equal(p.name, "hz");
	assert_int_equal(p.boots, 3);
	assert_true(p.accel_set && p.accel == ACCEL_EXACT);
	assert_true(p.seed_set && p.order_seed == 7);
	assert_int_equal(p.loads.n, 3);
	assert_string_equal(p.loads.v[0].name, "no_load");
	assert_int_equal(p.loads.v[0].runs, 2);
	assert_string_equal(p.loads.v[1].name, "io_load");
	assert_int_equal(p.loads.v[1].runs, 4);
	assert_int_equal(p.loads.v[1].size, 64 << 20);
	assert_int_equal(p.loads.v[2].runs, 2);
	assert_int_equal(p.kernels.n, 2);
	assert_string_equal(p.kernels.v[0].label, "100 Hz");
	assert_string_equal(p.kernels.v[0].cmdline, "x=1 y");
	assert_string_equal(p.job, "quick-1");
	plan_free(&p);
}

/* Its canonical text is what a replay reads again. */
static void the_number_of_boots_is_left_open(void **state)
{
	struct plan p, again;
	struct error err = { 0 };

	(void)state;
	plan_init(&p);
	assert_int_equal(read_text(&p,
		"[plan]\nboots = auto\nbudget = 90\nprecision = 0.5\nrepeat-noisy = yes\n"
		"[kernel a]\nimage = a\n", &err), 0);
	assert_int_equal(plan_finish(&p, &err), 0);
	assert_true(p.more.boots && p.more.repeat_noisy);
	assert_int_equal(p.more.budget_min, 90);
	assert_true(p.more.precision_pct == 0.5);
	assert_non_null(strstr(p.text,
		"\nboots = auto\nbudget = 90\nprecision = 0.5\nrepeat-noisy = yes\nruns = 1\n"));
	plan_init(&again);
	if (read_text(&again, p.text, &err) != 0 || plan_set(&again, "name", p.name, &err) != 0 ||
	    plan_finish(&again, &err) != 0)
		fail_msg("%s", err.text);
	assert_string_equal(again.digest, p.digest);
	plan_free(&again);

	/* An option gives a number: what was for auto alone is void then. */
	assert_int_equal(plan_set(&p, "boots", "3", &err), 0);
	assert_int_equal(plan_set(&p, "repeat-noisy", "no", &err), 0);
	assert_int_equal(plan_finish(&p, &err), 0);
	assert_false(p.more.boots);
	assert_non_null(strstr(p.text, "\nboots = 3\nruns = 1\n"));
	plan_free(&p);
}

/* Benchmarks beside contest: settings, defaults by the profile, the guest plan */
static void benchmarks_are_planned(void **state)
{
	struct experiment e = { 0 };
	struct cache cache = { 0 };
	struct planned_boot boot = { .number = 1, .index = 1 };
	struct plan p;
	struct error err = { 0 };
	cleanup_free char *text = NULL;

	(void)state;
	plan_init(&p);
	assert_int_equal(read_text(&p,
		"[plan]\nprofile = images/profiles/small.ini\nruns = 2\naccel = exact\n"
		"bench = tiobench:3, contest, chat\nloads = no_load\n"
		"[tiobench]\nsize = 16MiB\nthreads = 1, 4\n[qsbench]\nseed = 7\n"
		"[kernel a]\nimage = a\n", &err), 0);
	assert_int_equal(plan_finish(&p, &err), 0);
	assert_non_null(strstr(p.text, "\nbench = tiobench:3 contest chat:2\njob = "));
	assert_non_null(strstr(p.text, "[tiobench]\nthreads = 1,4\nsize = 16777216\n[kernel a]"));
	assert_int_equal(plan_bench_runs(&p.bench), 5);
	assert_true(plan_bench_network(&p.bench));
	if (experiment_profile(&e, &p, &cache, &err) != 0)
		fail_msg("%s", err.text);
	e.accel = ACCEL_TCG;
	text = guest_plan(&e, &boot);
	assert_non_null(strstr(text,
		"\nbench.tiobench.threads=1,4\nbench.tiobench.block=4096\n"
		"bench.tiobench.size=16777216\nbench.tiobench.random-ops=4000\n"
		"bench.chat.rooms=10\nbench.chat.users=20\nbench.chat.messages=20\n"
		"bench.chat.heap=0\nbench=tiobench\nbench=tiobench\nbench=tiobench\n"
		"run=no_load\nrun=no_load\nbench=chat\nbench=chat\n"));
	assert_null(strstr(text, "qsbench"));
	profile_free(&e.profile);
	plan_free(&p);
}

/* Without a word of it a plan is contest's, and its texts are as they were */
static void contest_alone_says_nothing_of_benchmarks(void **state)
{
	struct plan p;
	struct error err = { 0 };

	(void)state;
	plan_init(&p);
	assert_int_equal(read_text(&p, "[plan]\n[kernel a]\nimage = a\n", &err), 0);
	assert_int_equal(plan_finish(&p, &err), 0);
	assert_null(strstr(p.text, "bench"));
	assert_true(plan_bench_contest(&p.bench));
	assert_int_equal(plan_bench_runs(&p.bench), 0);
	plan_free(&p);

	/* And without contest nothing of its loads is run */
	plan_init(&p);
	assert_int_equal(read_text(&p, "[plan]\nbench = qsbench\n[kernel a]\nimage = a\n", &err), 0);
	assert_int_equal(plan_finish(&p, &err), 0);
	assert_int_equal(p.loads.n, 0);
	plan_free(&p);
}

static void bad_benchmarks_are_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "[plan]\nbench = dbench\n", "there is no benchmark 'dbench'; there are contest, tiobench, chat, qsbench" },
		{ "[plan]\nbench = chat, chat\n", "named twice" },
		{ "[plan]\nbench = chat:0\n", "no number of runs" },
		{ "[plan]\nbench = contest:2\n", "contest has the runs of its loads" },
		{ "[plan]\nbench =\n", "bench is empty" },
		{ "[tiobench]\nthreads = 0\n", "threads = 0: give up to 12 different numbers from 1 to 256" },
		{ "[tiobench]\nthreads = 2, 2\n", "threads = 2: give" },
		{ "[tiobench]\nsize = 1KiB\n", "size = 1KiB: give a size" },
		{ "[chat]\nrooms = 1, 2\n", "rooms = 1, 2: give a whole number" },
		{ "[chat]\nroom = 1\n", "unknown key 'room' in [chat]: there are rooms, users, messages, heap" },
	};
	struct error err;
	struct plan p;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err = (struct error){ 0 };
		plan_init(&p);
		assert_int_equal(read_text(&p, bad[i].text, &err), -1);
		if (!strstr(err.text, bad[i].says))
			fail_msg("no '%s' in '%s'", bad[i].says, err.text);
		plan_free(&p);
	}
	err = (struct error){ 0 };
	plan_init(&p);
	assert_int_equal(read_text(&p, "[plan]\nbench = chat\nloads = no_load\n[kernel a]\nimage = a\n", &err), 0);
	assert_int_equal(plan_finish(&p, &err), -1);
	assert_non_null(strstr(err.text, "loads are contest's"));
	plan_free(&p);
}

/* What the profile's machine cannot do is refused before anything is built */
static void too_large_a_benchmark_is_refused(void **state)
{
	struct experiment e = { 0 };
	struct cache cache = { 0 };
	struct plan p;
	struct error err = { 0 };

	(void)state;
	plan_init(&p);
	assert_int_equal(read_text(&p,
		"[plan]\nprofile = images/profiles/small.ini\nbench = tiobench\n"
		"[tiobench]\nsize = 380MiB\n[kernel a]\nimage = a\n", &err), 0);
	assert_int_equal(plan_finish(&p, &err), 0);
	assert_int_equal(experiment_profile(&e, &p, &cache, &err), -1);
	assert_non_null(strstr(err.text, "[tiobench] on profile 'small': size is 380 MiB"));
	profile_free(&e.profile);
	plan_free(&p);
}

/* A command line may have two thousand bytes, and counts to the last. */
static void long_cmdline_is_whole(void **state)
{
	char words[2001];
	cleanup_free char *text = NULL;
	struct plan p;
	struct error err = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(words) - 1; i++)
		words[i] = i % 10 == 9 ? ' ' : (char)('a' + i / 10 % 26);
	words[sizeof(words) - 2] = 'z';
	words[sizeof(words) - 1] = '\0';
	text = xasprintf("[kernel a]\nimage = a\ncmdline = %s\n", words);
	plan_init(&p);
	assert_int_equal(read_text(&p, text, &err), 0);
	assert_int_equal(p.kernels.n, 1);
	assert_string_equal(p.kernels.v[0].cmdline, words);
	plan_free(&p);
}

/* One key that silently hides another would test what nobody asked for. */
static void ambiguous_plans_are_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "[plan]\nruns = 1\n# x\nruns = 2\n", "line 4: 'runs' is given twice in [plan], first in line 2" },
		{ "[kernel a]\nimage = a\n[plan]\nruns = 1\n[kernel a]\nimage = b\n", "line 6: 'image' is given twice" },
		{ "[kernel a]\nimage = a\ncmdline = x\n  y=1\n", "line 4: the line begins with a blank" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct error err = { 0 };
		struct plan p;

		plan_init(&p);
		assert_int_equal(read_text(&p, bad[i].text, &err), -1);
		if (!strstr(err.text, bad[i].says))
			fail_msg("no '%s' in '%s'", bad[i].says, err.text);
		plan_free(&p);
	}
}

static void blanks_around_a_cmdline_go(void **state)
{
	struct plan p;
	struct error err = { 0 };

	(void)state;
	plan_init(&p);
	assert_int_equal(plan_add_kernel(&p, "a", "x", &err), 0);
	assert_int_equal(plan_add_kernel(&p, "b", "y", &err), 0);
	/* As an option hands it over. */
	p.kernels.v[0].cmdline = xstrdup(" \tquiet  x=1 \n");
	p.kernels.v[1].cmdline = xstrdup("  ");
	assert_int_equal(plan_finish(&p, &err), 0);
	assert_string_equal(p.kernels.v[0].cmdline, "quiet  x=1");
	assert_null(p.kernels.v[1].cmdline);
	assert_non_null(strstr(p.text, "cmdline = quiet  x=1\n"));
	plan_free(&p);
}

static void size_given_before_loads_is_kept(void **state)
{
	struct plan p;
	struct error err = { 0 };

	(void)state;
	plan_init(&p);
	assert_int_equal(read_text(&p, "[size]\nio_load = 8M\n[plan]\nloads = io_load\n"
				   "[kernel a]\nimage = a\n", &err), 0);
	assert_int_equal(plan_finish(&p, &err), 0);
	assert_int_equal(p.loads.n, 1);
	assert_int_equal(p.loads.v[0].size, 8 << 20);
	assert_int_equal(p.loads.v[0].runs, 1);
	plan_free(&p);
}

static void size_alone_runs_the_default_loads(void **state)
{
	struct plan p;
	struct error err = { 0 };

	(void)state;
	plan_init(&p);
	assert_int_equal(read_text(&p, "[size]\nio_load = 8M\n[kernel a]\nimage = a\n",
				   &err), 0);
	assert_int_equal(plan_finish(&p, &err), 0);
	assert_int_equal(p.loads.n, 4);
	assert_string_equal(p.loads.v[3].name, "io_load");
	assert_int_equal(p.loads.v[3].size, 8 << 20);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(p.loads.v[i].runs, 1);
	plan_free(&p);
}

static void options_override_and_change_the_digest(void **state)
{
	struct plan a, b;
	struct error err = { 0 };

	(void)state;
	plan_init(&a);
	plan_init(&b);
	assert_int_equal(plan_add_kernel(&a, "k", "x", &err), 0);
	assert_int_equal(plan_add_kernel(&b, "k", "x", &err), 0);
	assert_int_equal(plan_set(&b, "runs", "2", &err), 0);
	assert_int_equal(plan_finish(&a, &err), 0);
	assert_int_equal(plan_finish(&b, &err), 0);
	assert_string_not_equal(a.digest, b.digest);
	plan_free(&a);
	plan_free(&b);
}

static void order_is_by_blocks_and_by_seed_alone(void **state)
{
	struct planned_boots a = { 0 }, b = { 0 }, c = { 0 };
	bool differs = false;

	(void)state;
	order_boots(5, 4, 1, &a);
	order_boots(5, 4, 1, &b);
	order_boots(5, 4, 2, &c);
	assert_int_equal(a.n, 20);
	for (size_t block = 0; block < 4; block++) {
		unsigned int seen = 0;

		for (size_t i = block * 5; i < block * 5 + 5; i++) {
			assert_int_equal(a.v[i].number, block + 1);
			assert_int_equal(a.v[i].index, i + 1);
			seen |= 1u << a.v[i].kernel;
		}
		assert_int_equal(seen, 31);
	}
	for (size_t i = 0; i < a.n; i++) {
		assert_int_equal(a.v[i].kernel, b.v[i].kernel);
		differs |= a.v[i].kernel != c.v[i].kernel;
	}
	assert_true(differs);
	planned_boots_free(&a);
	planned_boots_free(&b);
	planned_boots_free(&c);
}

/* What the guest is told must not depend on labels or paths: two kernels of one
 * plan get the same bytes, or exact figures would differ for no reason. */
static void guest_plan_is_the_same_for_all_kernels(void **state)
{
	struct plan p;
	struct error err = { 0 };
	struct experiment e = { .plan = &p, .accel = ACCEL_EXACT };
	struct planned_boot first = { .kernel = 0, .number = 1, .index = 1 };
	struct planned_boot second = { .kernel = 1, .number = 1, .index = 2 };
	cleanup_free char *a = NULL, *b = NULL;

	(void)state;
	plan_init(&p);
	assert_int_equal(plan_add_kernel(&p, "a", "/x", &err), 0);
	assert_int_equal(plan_add_kernel(&p, "a longer label", "/y/z", &err), 0);
	assert_int_equal(plan_set(&p, "loads", "no_load:2, io_load", &err), 0);
	assert_int_equal(plan_finish(&p, &err), 0);
	e.profile.cpus = 1;
	e.profile.memory = 160 << 20;
	e.profile.work = (struct profile_disk){
		.present = true, .size = 1 << 20, .wbps = 1000,
		.seek_us = 8500, .settle_us = 1000, .rpm = 7200 };
	p.jobs = 4;
	a = guest_plan(&e, &first);
	b = guest_plan(&e, &second);
	assert_string_equal(a, b);
	assert_string_equal(a, "format=1\ncpus=1\nmem=167772160\nexact=1\njob=quick-1\n"
		"jobs=4\nseed=1\nlead_ms=3000\nrun_timeout_s=1800\nsample_ms=0\n"
		"spindle.main=0,1000,8500,1000,8333\nrun=no_load\nrun=no_load\nrun=io_load\n");
	plan_free(&p);
}

static void samples_are_asked_for(void **state)
{
	struct plan p;
	struct error err = { 0 };
	struct experiment e = { .plan = &p, .accel = ACCEL_EXACT };
	struct planned_boot boot = { .number = 1, .index = 1 };
	cleanup_free char *text = NULL;
	char without[SHA256_HEX];

	(void)state;
	plan_init(&p);
	assert_int_equal(plan_add_kernel(&p, "a", "/x", &err), 0);
	assert_int_equal(plan_finish(&p, &err), 0);
	assert_null(strstr(p.text, "sample-ms"));
	strcpy(without, p.digest);
	assert_int_equal(plan_set(&p, "sample-ms", "99", &err), -1);
	assert_non_null(strstr(err.text, "at least 100"));
	assert_int_equal(plan_set(&p, "sample-ms", "1000", &err), 0);
	assert_int_equal(plan_finish(&p, &err), 0);
	assert_string_not_equal(p.digest, without);
	assert_non_null(strstr(p.text, "\nsample-ms = 1000\n"));
	text = guest_plan(&e, &boot);
	assert_non_null(strstr(text, "\nsample_ms=1000\n"));
	plan_free(&p);
}

static void jobs_are_read(void **state)
{
	struct error err = { 0 };
	struct plan p;

	(void)state;
	plan_init(&p);
	assert_int_equal(read_text(&p, "[plan]\njob = linux:kernel/sched/\n[kernel b]\nimage = b\n", &err), 0);
	assert_int_equal(plan_finish(&p, &err), 0);
	assert_string_equal(p.job, "linux-6.1");
	assert_string_equal(p.job_target, "kernel/sched/");
	assert_non_null(strstr(p.text, "job = linux-6.1:kernel/sched/\n"));
	plan_free(&p);

	plan_init(&p);
	assert_int_equal(read_text(&p, "[plan]\njob = command\n[job]\ntree = /src\ncommand = make -j{jobs} all\nprepare = make clean\n[kernel b]\nimage = b\n", &err), 0);
	assert_int_equal(plan_finish(&p, &err), 0);
	assert_string_equal(p.job_command, "make -j{jobs} all");
	assert_non_null(strstr(p.text, "[job]\ntree = /src\ncommand = make -j{jobs} all\nprepare = make clean\n"));
	plan_free(&p);
}

static void wrong_jobs_are_refused(void **state)
{
	static const struct { const char *text, *why; } wrong[] = {
		{ "[plan]\njob = linux:a=b\n", "no target" },
		{ "[plan]\njob = linux:../etc\n", "no target" },
		{ "[plan]\njob = quick:x.o\n", "has no targets" },
		{ "[plan]\njob = command\n", "needs a section [job]" },
		{ "[plan]\njob = quick\n[job]\ncommand = ls\n", "is for job = command" },
		{ "[job]\ncommnd = ls\n", "there are tree, command and prepare" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		cleanup_free char *text = xasprintf("%s[kernel b]\nimage = b\n", wrong[i].text);
		struct error err = { 0 };
		struct plan p;

		plan_init(&p);
		assert_true(read_text(&p, text, &err) < 0 || plan_finish(&p, &err) < 0);
		if (!strstr(err.text, wrong[i].why))
			fail_msg("'%s' does not say '%s'", err.text, wrong[i].why);
		plan_free(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plan_is_read_as_written),
		cmocka_unit_test(jobs_are_read),
		cmocka_unit_test(wrong_jobs_are_refused),
		cmocka_unit_test(the_number_of_boots_is_left_open),
		cmocka_unit_test(benchmarks_are_planned),
		cmocka_unit_test(contest_alone_says_nothing_of_benchmarks),
		cmocka_unit_test(bad_benchmarks_are_refused),
		cmocka_unit_test(too_large_a_benchmark_is_refused),
		cmocka_unit_test(long_cmdline_is_whole),
		cmocka_unit_test(ambiguous_plans_are_refused),
		cmocka_unit_test(blanks_around_a_cmdline_go),
		cmocka_unit_test(size_given_before_loads_is_kept),
		cmocka_unit_test(size_alone_runs_the_default_loads),
		cmocka_unit_test(options_override_and_change_the_digest),
		cmocka_unit_test(order_is_by_blocks_and_by_seed_alone),
		cmocka_unit_test(guest_plan_is_the_same_for_all_kernels),
		cmocka_unit_test(samples_are_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
