/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_tunable.c - sweeps: sections, labels, order, what a boot is told
 */
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

#define HEAD "[plan]\nprofile = images/profiles/small.ini\naccel = exact\nloads = no_load\n" \
	     "[kernel k]\nimage = k\n"

static int read_plan(struct plan *p, const char *text, struct error *err)
{
	char path[] = "/tmp/unit_tunable.XXXXXX";
	int fd = mkstemp(path), ret;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	plan_init(p);
	ret = plan_read(p, path, err);
	unlink(path);
	return ret ? ret : plan_finish(p, err);
}

static void good(struct plan *p, const char *text)
{
	struct error err = { 0 };

	if (read_plan(p, text, &err) != 0)
		fail_msg("%s", err.text);
}

static void expect_label(const struct plan *p, size_t point, const char *want)
{
	cleanup_free char *label = point_label(&p->tunables, point, "k");

	assert_string_equal(label, want);
}

static void a_section_is_a_row_a_value(void **state)
{
	CLEANUP(buf_free) struct buf lines = { 0 }, base = { 0 };
	struct plan p;

	(void)state;
	good(&p, HEAD "[tunable slice]\nknob = sched/base_slice_ns\n"
		      "values = 3000000, 10000000 ,30000000\n");
	assert_int_equal(plan_points(&p.tunables), 3);
	expect_label(&p, 0, "k_base_sl3000");
	expect_label(&p, 2, "k_base_sl30000");
	point_lines(&p.tunables, 1, &lines);
	assert_string_equal(lines.data, "knob=/sys/kernel/debug/sched/base_slice_ns=10000000\n");
	baseline_lines(&p.tunables, &base);
	assert_string_equal(base.data, "knob=/sys/kernel/debug/sched/base_slice_ns\n");
	assert_non_null(strstr(p.text, "[tunable slice]\nknob = sched/base_slice_ns\n"
				       "short = base_sl\nvalues = 3000000, 10000000, 30000000\n"));
	plan_free(&p);
}

/* The labels of the mails come out of the names of their knobs */
static void short_names_are_those_of_the_mails(void **state)
{
	static const struct {
		const char *knob, *values, *label;
	} of[] = {
		{ "/proc/sys/sched/max_timeslice", "100", "k_max_tim100" },
		{ "/proc/sys/sched/child_penalty", "50", "k_chi_pen50" },
		{ "/proc/sys/sched/max_sleep_avg", "500", "k_max_sle500" },
		{ "sysctl:vm.swappiness", "10", "k_swappin10" },
		{ "sched/features", "NO_WAKEUP_PREEMPTION", "k_feature=NO_WAKEUP_PREEMPTION" },
		{ "queue/read_ahead_kb", "128", "k_read_ah128" },
		{ "queue/scheduler", "bfq", "k_schedul=bfq" },
		{ "transparent_hugepage/enabled", "always", "k_tra_hug=always" },
		{ "boot:preempt", "full", "k_preempt=full" },
		{ "sched/base_slice_ns", "1500, 3000000", "k_base_sl1500" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		cleanup_free char *text = xasprintf(HEAD "[tunable t]\nknob = %s\nvalues = %s\n",
						    of[i].knob, of[i].values);
		struct plan p;

		good(&p, text);
		expect_label(&p, 0, of[i].label);
		plan_free(&p);
	}
}

static void two_sections_are_a_matrix(void **state)
{
	cleanup_free char *cmdline = NULL;
	json_t *json;
	struct plan p;

	(void)state;
	good(&p, HEAD "[tunable a]\nknob = boot:preempt\nvalues = none, full\n"
		      "[tunable b]\nknob = sysctl:vm.swappiness\nvalues = 0, 60, 100\nshort = sw\n");
	assert_int_equal(plan_points(&p.tunables), 6);
	expect_label(&p, 0, "k_preempt=none_sw0");
	expect_label(&p, 2, "k_preempt=none_sw100");
	expect_label(&p, 3, "k_preempt=full_sw0");
	cmdline = point_cmdline(&p.tunables, 4);
	assert_string_equal(cmdline, "preempt=full");
	json = point_json(&p.tunables, 4);
	assert_string_equal(json_string_value(json_object_get(json_array_get(json, 1), "value")), "60");
	json_decref(json);
	plan_free(&p);
}

static void short_names_are_unique(void **state)
{
	struct plan p;

	(void)state;
	good(&p, HEAD "[tunable a]\nknob = sysctl:vm.dirty_background_ratio\nvalues = 5\n"
		      "[tunable b]\nknob = sysctl:vm.dirty_background_bytes\nvalues = 0\n");
	assert_string_not_equal(p.tunables.v[0].brief, p.tunables.v[1].brief);
	plan_free(&p);
}

static void bad_sections_are_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "[tunable t]\nknob = swappiness\nvalues = 1\n", "knob = swappiness: there are sysctl:NAME" },
		{ "[tunable t]\nknob = /sys/../etc\nvalues = 1\n", "no '..'" },
		{ "[tunable t]\nknob = sysctl:vm.swappiness\n", "no key 'values'" },
		{ "[tunable t]\nvalues = 1\n", "no key 'knob'" },
		{ "[tunable t]\nvalues = 1,,2\n", "give values of 1 to" },
		{ "[tunable t]\nvalues = 1, 1\n", "'1' is there twice" },
		{ "[tunable t]\nknobs = 1\n", "unknown key 'knobs'" },
		{ "[tunable t]\nknob = boot:a\nvalues = b c\n", "cannot stand on a command line" },
		{ "[tunable a]\nknob = sysctl:vm.swappiness\nvalues = 1\n"
		  "[tunable b]\nknob = /proc/sys/vm/swappiness\nvalues = 2\n", "the same knob" },
		{ "[tunable a]\nknob = boot:a\nvalues = 1\n[tunable b]\nknob = boot:b\nvalues = 1\n"
		  "[tunable c]\nknob = boot:c\nvalues = 1\n", "at most 2" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cleanup_free char *text = xasprintf(HEAD "%s", bad[i].text);
		struct error err = { 0 };
		struct plan p;

		assert_int_equal(read_plan(&p, text, &err), -1);
		if (!strstr(err.text, bad[i].says))
			fail_msg("'%s' does not say '%s'", err.text, bad[i].says);
		plan_free(&p);
	}
}

/* Each block of boots has the baseline and every point once, in an order of its
 * own; what a boot is told is its point's */
static void the_baseline_stands_between_the_points(void **state)
{
	struct candidate candidates[4] = { 0 };
	struct experiment e = { .candidates = candidates, .n_candidates = 4 };
	struct cache cache = { 0 };
	struct error err = { 0 };
	unsigned int firsts = 0;
	struct plan p;

	(void)state;
	good(&p, HEAD "[tunable s]\nknob = sysctl:vm.swappiness\nvalues = 0, 60, 100\n");
	if (experiment_profile(&e, &p, &cache, &err) != 0)
		fail_msg("%s", err.text);
	for (size_t i = 0; i < 4; i++)
		candidates[i].point = i;
	order_boots(4, 40, 3, &e.boots);
	assert_int_equal(e.boots.n, 160);
	for (size_t block = 0; block < 40; block++) {
		unsigned int seen = 0;

		for (size_t i = 0; i < 4; i++)
			seen |= 1u << e.boots.v[4 * block + i].kernel;
		assert_int_equal(seen, 0xf);
		firsts += e.boots.v[4 * block].kernel == 0;
	}
	assert_true(firsts > 0 && firsts < 40);
	for (size_t i = 0; i < 4; i++) {
		static const char *const want[] = {
			"\nknob=/proc/sys/vm/swappiness\n", "swappiness=0\n",
			"swappiness=60\n", "swappiness=100\n",
		};
		struct planned_boot boot = { .kernel = i, .number = 1, .index = 1 };
		cleanup_free char *text = guest_plan(&e, &boot);

		assert_non_null(strstr(text, want[i]));
	}
	planned_boots_free(&e.boots);
	profile_free(&e.profile);
	plan_free(&p);
}

static void a_slice_below_a_tick_is_noted(void **state)
{
	char config[] = "/tmp/unit_tunable.XXXXXX";
	static const char text[] = "CONFIG_HZ=250\n";
	struct kernel k = { .config = config };
	cleanup_free char *note = NULL;
	int fd = mkstemp(config);
	struct plan p;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	good(&p, HEAD "[tunable s]\nknob = sched/base_slice_ns\nvalues = 3000000, 8000000\n");
	note = tunables_note(&p.tunables, &k);
	assert_non_null(note);
	assert_non_null(strstr(note, "3000000 is below one tick (4000000 ns at HZ=250)"));
	plan_free(&p);
	good(&p, HEAD "[tunable s]\nknob = sched/base_slice_ns\nvalues = 4000000, 8000000\n");
	assert_null(tunables_note(&p.tunables, &k));
	plan_free(&p);
	unlink(config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_section_is_a_row_a_value),
		cmocka_unit_test(short_names_are_those_of_the_mails),
		cmocka_unit_test(two_sections_are_a_matrix),
		cmocka_unit_test(short_names_are_unique),
		cmocka_unit_test(bad_sections_are_refused),
		cmocka_unit_test(the_baseline_stands_between_the_points),
		cmocka_unit_test(a_slice_below_a_tick_is_noted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
