/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "host/replay.h"
#include "results/base/cleanup.h"
#include "results/base/proc.h"
#include "tests/make_journal.h"
#include "tests/scratch_dir.h"

/* A boot of kernel "k", its run as long as @wall_ns; its path is added. */
static void boot(struct strings *paths, const char *name, int number, int64_t wall_ns,
		 bool whole)
{
	char *path = xasprintf("%s/%s", dir, name);
	cleanup_free char *context = context_json(RUN_A, "k", 0, number, 2,
						  "2003-06-03T00:00:00Z", "[\"no_load\"]");
	const struct made_run run = { 1, "no_load", "ok", wall_ns, 5, 6, 0, 1 };
	struct error err = { 0 };

	must(journal_create(path, RUN_A, "run=no_load\n", context, &err), &err);
	append_run(path, &run);
	if (whole)
		finish(path);
	strings_add(paths, path);
}

static char *difference(const struct strings *a, const struct strings *b, size_t *figures)
{
	struct error err = { 0 };
	char *what;

	must(replay_first_difference(a, b, figures, &what, &err), &err);
	return what;
}

static void same_figures(void **state)
{
	CLEANUP(strings_clear) struct strings a = { 0 }, b = { 0 };
	size_t figures = 0;

	(void)state;
	boot(&a, "a1", 1, 1000000000001, true);
	boot(&a, "a2", 2, 7, true);
	/* In whatever order they are stored. */
	boot(&b, "b2", 2, 7, true);
	boot(&b, "b1", 1, 1000000000001, true);
	assert_null(difference(&a, &b, &figures));
	assert_true(figures > 40);
}

static void last_digit(void **state)
{
	CLEANUP(strings_clear) struct strings a = { 0 }, b = { 0 };
	cleanup_free char *what = NULL;
	size_t figures;

	(void)state;
	boot(&a, "c1", 1, 9007199254740993, true);
	boot(&b, "d1", 1, 9007199254740992, true);
	what = difference(&a, &b, &figures);
	assert_string_equal(what, "kernel k, boot 1: no_load, run 1: wall_ns: there 9007199254740993, here 9007199254740992");
}

static void missing_is_different(void **state)
{
	CLEANUP(strings_clear) struct strings a = { 0 }, b = { 0 }, none = { 0 };
	cleanup_free char *what = NULL, *fewer = NULL, *nothing = NULL, *more = NULL;
	size_t figures;

	(void)state;
	boot(&a, "e1", 1, 7, true);
	boot(&b, "f1", 1, 7, false);
	what = difference(&a, &b, &figures);
	assert_string_equal(what, "kernel k, boot 1: the journal goes on there, and ends here");
	boot(&a, "e2", 2, 7, true);
	strings_add(&none, xstrdup(a.v[0]));
	fewer = difference(&a, &none, &figures);
	assert_string_equal(fewer, "2 boots there, 1 here, and 1 of them belong together");
	more = difference(&none, &a, &figures);
	assert_string_equal(more, "1 boots there, 2 here, and 1 of them belong together");
}

static void figure_only_there(void **state)
{
	CLEANUP(strings_clear) struct strings a = { 0 }, b = { 0 };
	cleanup_free char *what = NULL, *back = NULL;
	size_t figures;

	(void)state;
	boot(&a, "g1", 1, 7, false);
	boot(&b, "h1", 1, 7, false);
	append(a.v[0], JOURNAL_SAMPLE, "{\"run\":1,\"psi\":{\"cpu_some_us\":3}}");
	append(b.v[0], JOURNAL_SAMPLE, "{\"run\":1,\"psi\":{}}");
	what = difference(&a, &b, &figures);
	assert_string_equal(what, "kernel k, boot 1: psi.cpu_some_us: there 3, here nothing");
	back = difference(&b, &a, &figures);
	assert_string_equal(back, "kernel k, boot 1: psi.cpu_some_us: not there, but here");
}

/* What a prepared run says, and the plan and profile made of it. */
static void run_from_journals(void **state)
{
	CLEANUP(strings_clear) struct strings journals = { 0 };
	CLEANUP(rerun_free) struct rerun r = { 0 };
	cleanup_free char *cache_dir = xasprintf("%s/cache", dir);
	const struct cache cache = { .dir = cache_dir };
	const char *argv[] = { "python3", "tests/make_run.py", dir, cache_dir, NULL };
	struct planned_boot b = { .kernel = 1, .number = 1, .index = 1 };
	cleanup_free char *told = NULL;
	CLEANUP(journal_free) struct journal j = { 0 };
	struct error err = { 0 };

	(void)state;
	must(proc_run(argv, NULL, &err), &err);
	strings_add(&journals, xasprintf("%s/journal-1", dir));
	strings_add(&journals, xasprintf("%s/journal-2", dir));
	must(rerun_load(&r, &cache, &journals, &err), &err);
	assert_int_equal(r.e.n_candidates, 2);
	assert_string_equal(r.e.candidates[1].kernel.label, "two");
	assert_string_equal(r.e.candidates[1].kernel.release, "6.1.1");
	assert_string_equal(r.e.profile.name, "small");
	assert_int_equal(r.e.accel, ACCEL_EXACT);
	assert_int_equal(r.plan.lead_ms, 100);
	/* The author's text, whose kernels have no labels. */
	assert_string_equal(r.plan.digest, context_text(&r.boots.v[0], "plan", "digest"));
	/* What this kontest would tell the guest is what the author's did, but for
	 * the disks' speed, which the prepared journals leave out. */
	told = guest_plan(&r.e, &b);
	must(journal_read(journals.v[1], &j, &err), &err);
	assert_non_null(strstr(told, "exact=1\njob=quick-1\njobs=4\nseed=1\n"));
	assert_non_null(strstr(j.plan, "exact=1\njob=quick-1\njobs=4\nseed=1\n"));
}

/* Boots that a plan left to kontest: those that there are, in their order; which one a
 * repeat is of is told by its place here. */
static void boots_left_open_are_those_done(void **state)
{
	static const struct boot_record done[] = {
		{ .order = 0, .number = 1, .index = 2, .plan_boots = 1 },
		{ .order = 0, .number = 2, .index = 4, .plan_boots = 1, .repeats = 2 },
		{ .order = 0, .number = 3, .index = 7, .plan_boots = 2 },
		{ .order = 1, .number = 1, .index = 1, .plan_boots = 1 },
		{ .order = 1, .number = 2, .index = 6, .plan_boots = 2 },
	};
	static const struct planned_boot want[] = {
		{ .kernel = 1, .number = 1, .index = 1 },
		{ .kernel = 0, .number = 1, .index = 2 },
		{ .kernel = 0, .number = 2, .index = 3, .repeats = 2 },
		{ .kernel = 1, .number = 2, .index = 4 },
		{ .kernel = 0, .number = 3, .index = 5 },
	};
	struct rerun r = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(done) / sizeof(done[0]); i++)
		boot_records_add(&r.boots, done[i]);
	rerun_boots_done(&r);
	assert_int_equal(r.e.rounds, 2);
	assert_int_equal(r.e.boots.n, sizeof(want) / sizeof(want[0]));
	for (size_t i = 0; i < r.e.boots.n; i++) {
		const struct planned_boot *b = &r.e.boots.v[i];

		assert_int_equal(b->kernel, want[i].kernel);
		assert_int_equal(b->number, want[i].number);
		assert_int_equal(b->index, want[i].index);
		assert_int_equal(b->repeats, want[i].repeats);
	}
	planned_boots_free(&r.e.boots);
	boot_records_free(&r.boots);
}

static void kernel_without_a_boot(void **state)
{
	CLEANUP(strings_clear) struct strings journals = { 0 };
	CLEANUP(rerun_free) struct rerun r = { 0 };
	const struct cache cache = { .dir = dir };
	struct error err = { 0 };

	(void)state;
	strings_add(&journals, xasprintf("%s/journal-1", dir));
	assert_int_equal(rerun_load(&r, &cache, &journals, &err), -1);
	assert_non_null(strstr(err.text, "kernel 'two' never booted"));
}

static void load(struct boot_records *boots, const char *path)
{
	struct boot_record b;
	struct error err = { 0 };

	must(boot_record_load(path, &b, &err), &err);
	boot_records_add(boots, b);
}

/* A measured run there and here goes to the comparison, kernel by kernel */
static void verdicts_of_both_sides(void **state)
{
	CLEANUP(strings_clear) struct strings a = { 0 }, b = { 0 };
	CLEANUP(boot_records_clear) struct boot_records there = { 0 }, here = { 0 };
	cleanup_free char *text = NULL;
	struct error err = { 0 };
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	boot(&a, "there", 1, 2000000000, true);
	boot(&b, "here", 1, 3000000000, true);
	load(&there, a.v[0]);
	load(&here, b.v[0]);
	must(replay_verdicts(&there, &here, out, &err), &err);
	fclose(out);
	if (!strstr(text, "k there") || !strstr(text, "k here") ||
	    !strstr(text, "not enough boots: 1, needs 4"))
		fail_msg("%s", text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_figures),
		cmocka_unit_test(last_digit),
		cmocka_unit_test(missing_is_different),
		cmocka_unit_test(figure_only_there),
		cmocka_unit_test(run_from_journals),
		cmocka_unit_test(boots_left_open_are_those_done),
		cmocka_unit_test(kernel_without_a_boot),
		cmocka_unit_test(verdicts_of_both_sides),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
