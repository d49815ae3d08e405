/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_knob.c - knobs in a guest, on a directory that stands for / there
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "guest/knob.h"

static char root[] = "/tmp/unit_knob.XXXXXX";

static void put(const char *path, const char *text)
{
	char full[512];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(full, 0755);
		*p = '/';
	}
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void parse(struct plan *p, const char *lines)
{
	char text[2048];
	struct fail f;

	snprintf(text, sizeof(text), "format=1\ncpus=1\nmem=1\nexact=0\njob=none\njobs=1\n"
		 "seed=1\nlead_ms=0\nrun_timeout_s=1\nsample_ms=0\n%s", lines);
	if (guest_plan_parse(text, p, &f) != 0)
		fail_msg("%s", f.text);
}

static const char *receipt(const struct knobs *k)
{
	static char text[16384];
	struct jsonw w;

	jsonw_begin(&w, text, sizeof(text));
	jsonw_open(&w, NULL, '{');
	knobs_write(&w, k);
	jsonw_close(&w, '}');
	assert_true(jsonw_ok(&w));
	return text;
}

static void a_knob_is_set_and_read_back(void **state)
{
	static const struct disk none[DISK_ROLES];
	struct knobs k;
	struct plan p;
	struct fail f;

	(void)state;
	put("/proc/sys/vm/swappiness", "60\n");
	parse(&p, "knob=/proc/sys/vm/swappiness=10\n");
	knobs_apply(root, &p, none, &k);
	assert_false(knobs_failed(&k, &f));
	assert_string_equal(receipt(&k), "{\"knobs\":[{\"knob\":\"/proc/sys/vm/swappiness\","
			    "\"path\":\"/proc/sys/vm/swappiness\",\"wanted\":\"10\","
			    "\"before\":\"60\",\"after\":\"10\",\"took\":true}]}");
	guest_plan_free(&p);

	/* The baseline only looks */
	put("/proc/sys/vm/swappiness", "60\n");
	parse(&p, "knob=/proc/sys/vm/swappiness\n");
	knobs_apply(root, &p, none, &k);
	assert_false(knobs_failed(&k, &f));
	assert_string_equal(receipt(&k), "{\"knobs\":[{\"knob\":\"/proc/sys/vm/swappiness\","
			    "\"path\":\"/proc/sys/vm/swappiness\",\"before\":\"60\"}]}");
	guest_plan_free(&p);
}

static void a_knob_that_does_not_take_is_said(void **state)
{
	static const struct disk none[DISK_ROLES];
	struct knobs k;
	struct plan p;
	struct fail f;

	(void)state;
	parse(&p, "knob=/proc/sys/vm/no_such_knob=10\n");
	knobs_apply(root, &p, none, &k);
	assert_true(knobs_failed(&k, &f));
	assert_non_null(strstr(f.text, "'/proc/sys/vm/no_such_knob' did not take '10': this "
				       "kernel has no '/proc/sys/vm/no_such_knob'"));
	assert_non_null(strstr(receipt(&k), "\"took\":false"));
	guest_plan_free(&p);

	/* A plain file keeps what is behind the bytes that were written */
	put("/proc/sys/vm/odd", "60 and more\n");
	parse(&p, "knob=/proc/sys/vm/odd=10\n");
	knobs_apply(root, &p, none, &k);
	assert_true(knobs_failed(&k, &f) && strstr(f.text, "after '10' was written"));
	guest_plan_free(&p);
}

static void a_queue_is_that_of_the_disks_that_loads_use(void **state)
{
	struct disk disks[DISK_ROLES] = {
		[DISK_SYSTEM] = { .present = true, .name = "vda" },
		[DISK_WORK] = { .present = true, .name = "vdb" },
		[DISK_OTHER] = { .present = true, .name = "vdc" },
	};
	struct knobs k;
	struct plan p;
	struct fail f;

	(void)state;
	put("/sys/class/block/vdb/queue/read_ahead_kb", "128\n");
	put("/sys/class/block/vdc/queue/read_ahead_kb", "128\n");
	parse(&p, "knob=queue/read_ahead_kb=512\n");
	knobs_apply(root, &p, disks, &k);
	assert_int_equal(k.n, 2);
	assert_false(knobs_failed(&k, &f));
	assert_string_equal(k.v[1].path, "/sys/class/block/vdc/queue/read_ahead_kb");
	assert_string_equal(k.v[1].after, "512");
	/* Two roles on one disk: once */
	strcpy(disks[DISK_OTHER].name, "vdb");
	knobs_apply(root, &p, disks, &k);
	assert_int_equal(k.n, 1);
	disks[DISK_WORK].present = disks[DISK_OTHER].present = false;
	knobs_apply(root, &p, disks, &k);
	assert_true(knobs_failed(&k, &f));
	guest_plan_free(&p);
}

static void a_boot_parameter_is_looked_up(void **state)
{
	static const struct disk none[DISK_ROLES];
	struct knobs k;
	struct plan p;
	struct fail f;

	(void)state;
	put("/proc/cmdline", "console=ttyS0 nohz=on nohz=off preempt=full\n");
	parse(&p, "knob=boot:nohz=off\n");
	knobs_apply(root, &p, none, &k);
	assert_false(knobs_failed(&k, &f));
	/* What the kernel does not know, it hands to PID 1 */
	setenv("nohz", "off", 1);
	knobs_apply(root, &p, none, &k);
	unsetenv("nohz");
	assert_true(knobs_failed(&k, &f) && strstr(f.text, "does not know the parameter"));
	guest_plan_free(&p);

	parse(&p, "knob=boot:mitigations=off\n");
	knobs_apply(root, &p, none, &k);
	assert_true(knobs_failed(&k, &f) && strstr(f.text, "not on the kernel's command line"));
	guest_plan_free(&p);

	/* Where the kernel tells the effect, that decides */
	put("/sys/kernel/debug/sched/preempt", "none (voluntary) full\n");
	parse(&p, "knob=boot:preempt=full\n");
	knobs_apply(root, &p, none, &k);
	assert_true(knobs_failed(&k, &f));
	put("/sys/kernel/debug/sched/preempt", "none voluntary (full)\n");
	knobs_apply(root, &p, none, &k);
	assert_false(knobs_failed(&k, &f));
	guest_plan_free(&p);
}

static void texts_of_the_kernel_are_judged(void **state)
{
	static const char features[] = "GENTLE_FAIR_SLEEPERS NO_NEXT_BUDDY WAKEUP_PREEMPTION ";

	(void)state;
	assert_true(knob_took("/sched/features", "WAKEUP_PREEMPTION", features));
	assert_true(knob_took("/sched/features", "NO_NEXT_BUDDY", features));
	assert_false(knob_took("/sched/features", "NEXT_BUDDY", features));
	assert_false(knob_took("/sched/features", "NO_WAKEUP_PREEMPTION", features));
	assert_true(knob_took("/queue/scheduler", "mq-deadline", "none [mq-deadline] bfq"));
	assert_false(knob_took("/queue/scheduler", "bfq", "none [mq-deadline] bfq"));
	assert_true(knob_took("/x", "4096 131072 6291456", "4096\t131072\t6291456"));
	assert_false(knob_took("/x", "1", "10"));
	assert_false(knob_took("/x", "10", "1"));
	assert_false(knob_took("/x", "10 1", "10"));
}

static void bad_lines_are_refused(void **state)
{
	static const char *const bad[] = {
		"knob==1\n", "knob=\n", "knob=/proc/sys/a=\n",
		"knob=a=1\nknob=b=1\nknob=c=1\nknob=d=1\nknob=e=1\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char text[1024];
		struct plan p;
		struct fail f;

		snprintf(text, sizeof(text), "format=1\n%s", bad[i]);
		assert_int_equal(guest_plan_parse(text, &p, &f), -1);
		assert_non_null(strstr(f.text, "plan line "));
		guest_plan_free(&p);
	}
}

static int make_root(void **state)
{
	(void)state;
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	(void)state;
	return delete_tree(root, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_knob_is_set_and_read_back),
		cmocka_unit_test(a_knob_that_does_not_take_is_said),
		cmocka_unit_test(a_queue_is_that_of_the_disks_that_loads_use),
		cmocka_unit_test(a_boot_parameter_is_looked_up),
		cmocka_unit_test(texts_of_the_kernel_are_judged),
		cmocka_unit_test(bad_lines_are_refused),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
