/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_noise_look.c - a /proc and a /sys of the test's own, read and subtracted
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "host/noise_look.h"
#include "results/base/cleanup.h"
#include "tests/scratch_dir.h"

#define TICK_NS (INT64_C(1000000000) / sysconf(_SC_CLK_TCK))

static void put_bytes(const char *name, const void *data, size_t len)
{
	cleanup_free char *path = xasprintf("%s/%s", dir, name);
	cleanup_free char *parent = xstrndup(path, (size_t)(strrchr(path, '/') -
							    path));

	assert_int_equal(make_dirs(parent, NULL), 0);
	assert_int_equal(file_write(path, data, len, NULL), 0);
}

static void put(const char *name, const char *text)
{
	put_bytes(name, text, strlen(text));
}

/* A thread: its name and counters */
static void put_thread(int pid, int tid, const char *name, const char *schedstat,
		       const char *involuntary)
{
	cleanup_free char *base = xasprintf("%d/task/%d", pid, tid);
	cleanup_free char *comm = xasprintf("%s/comm", base);
	cleanup_free char *stat = xasprintf("%s/schedstat", base);
	cleanup_free char *status = xasprintf("%s/status", base);
	cleanup_free char *text = xasprintf("Name:\t%svoluntary_ctxt_switches:\t77\n"
					    "nonvoluntary_ctxt_switches:\t%s\n",
					    name, involuntary);

	put(comm, name);
	put(stat, schedstat);
	put(status, text);
}

#define ARGS "/usr/bin/qemu-system-x86_64\0-name\0guest=k-1,debug-threads=on\0-S"

/* A QEMU with two vCPUs and a main loop, its guard, another's QEMU, a shell */
static void make_qemu(void)
{
	static const char guard[] = "/run/x/emulator\0-name\0guest=k-1,debug-threads=on";
	static const char other[] = "qemu\0-name\0guest=k-12,debug-threads=on";

	put_bytes("40/cmdline", guard, sizeof(guard));
	put_thread(40, 40, "emulator\n", "1 1 1\n", "1");
	put_bytes("41/cmdline", other, sizeof(other));
	put_thread(41, 41, "CPU 0/TCG\n", "1 1 1\n", "1");
	put("42/cmdline", "sh");
	put_bytes("50/cmdline", ARGS, sizeof(ARGS));
	put_thread(50, 50, "qemu-system-x86\n", "100 1000 10\n", "5");
	put_thread(50, 51, "IO mon_iothread\n", "9 9 9\n", "9");
	put_thread(50, 52, "CPU 0/TCG\n", "1000 200 3\n", "4");
	put_thread(50, 53, "CPU 1/TCG\n", "2000 100 6\n", "7");
	put("50/stat", "50 (qemu) x) S 1 2 3 4 5 6 7 8 9 10 300 40 13 14 15\n");
	put("stat", "cpu  1000 20 300 4000 500 60 7 8 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n");
	put("pressure/cpu", "some avg10=1.00 avg60=2.00 avg300=3.00 total=111\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=9\n");
	put("pressure/io", "some avg10=1.00 avg60=2.00 avg300=3.00 total=222\n");
	put("pressure/memory", "some avg10=1.00 avg60=2.00 avg300=3.00 total=333\n");
	put("loadavg", "2.05 1.00 0.50 3/120 999\n");
}

static void finds_its_own_qemu(void **state)
{
	CLEANUP(noise_qemu_free) struct noise_qemu q = { 0 }, none = { 0 };

	(void)state;
	make_qemu();
	noise_find_qemu(dir, "k-1", &q);
	assert_int_equal(q.pid, 50);
	assert_int_equal(q.vcpus.n, 2);
	assert_int_equal(q.vcpus.v[0] + q.vcpus.v[1], 52 + 53);
	noise_find_qemu(dir, "k-", &none);
	assert_int_equal(none.pid, 0);
	noise_find_qemu("/nonexistent", "k-1", &none);
	assert_int_equal(none.pid, 0);
}

static void one_thread_for_all_cpus(void **state)
{
	CLEANUP(noise_qemu_free) struct noise_qemu q = { 0 };

	(void)state;
	put_bytes("60/cmdline", "q\0guest=rr", 11);
	put_thread(60, 60, "qemu-system-x86\n", "1 1 1\n", "1");
	put_thread(60, 61, "ALL CPUs/TCG\n", "1 1 1\n", "1");
	noise_find_qemu(dir, "rr", &q);
	assert_int_equal(q.pid, 60);
	assert_int_equal(q.vcpus.n, 1);
	assert_int_equal(q.vcpus.v[0], 61);
}

static void subtracts(void **state)
{
	CLEANUP(noise_qemu_free) struct noise_qemu q = { 0 };
	CLEANUP(noise_look_free) struct noise_look a = { 0 }, b = { 0 };
	struct run_noise n;

	(void)state;
	make_qemu();
	noise_find_qemu(dir, "k-1", &q);
	noise_look(dir, &q, &a);
	put_thread(50, 50, "qemu-system-x86\n", "150 1070 19\n", "6");
	put_thread(50, 52, "CPU 0/TCG\n", "1600 205 8\n", "5");
	put_thread(50, 53, "CPU 1/TCG\n", "2900 140 26\n", "10");
	put("50/stat", "50 (qemu) x) S 1 2 3 4 5 6 7 8 9 10 310 45 13 14 15\n");
	put("stat", "cpu  1100 21 310 4600 520 64 9 13 0 0\n");
	put("pressure/cpu", "some avg10=1.00 avg60=2.00 avg300=3.00 total=5111\n");
	put("pressure/io", "some avg10=1.00 avg60=2.00 avg300=3.00 total=227\n");
	put("pressure/memory", "some avg10=1.00 avg60=2.00 avg300=3.00 total=333\n");
	put("loadavg", "12.50 1.00 0.50 3/120 999\n");
	assert_int_equal(noise_waited_ns(dir, &q), 205);
	noise_look(dir, &q, &b);
	noise_between(&a, &b, &n);
	assert_true(n.fig[NOISE_WINDOW_NS] > 0);
	assert_int_equal(n.fig[NOISE_VCPUS], 2);
	assert_int_equal(n.fig[NOISE_VCPU_RUN_NS], 600 + 900);
	assert_int_equal(n.fig[NOISE_VCPU_WAIT_NS], 5 + 40);
	assert_int_equal(n.fig[NOISE_VCPU_INVOLUNTARY], 1 + 3);
	assert_int_equal(n.fig[NOISE_WORST_WAIT_NS], 40);
	assert_int_equal(n.fig[NOISE_WORST_SLICES], 20);
	assert_int_equal(n.fig[NOISE_MAIN_WAIT_NS], 70);
	assert_int_equal(n.fig[NOISE_MAIN_SLICES], 9);
	assert_int_equal(n.fig[NOISE_HOST_BUSY_NS],
			 (100 + 1 + 10 + 4 + 2) * TICK_NS);
	assert_int_equal(n.fig[NOISE_HOST_IDLE_NS], (600 + 20) * TICK_NS);
	assert_int_equal(n.fig[NOISE_HOST_STEAL_NS], 5 * TICK_NS);
	assert_int_equal(n.fig[NOISE_OTHERS_BUSY_NS], (117 - 15) * TICK_NS);
	assert_int_equal(n.fig[NOISE_PSI_CPU_SOME_US], 5000);
	assert_int_equal(n.fig[NOISE_PSI_IO_SOME_US], 5);
	assert_int_equal(n.fig[NOISE_PSI_MEMORY_SOME_US], 0);
	assert_int_equal(n.fig[NOISE_LOAD_1MIN_MILLI], 12500);
	assert_int_equal(n.fig[NOISE_CLOCK_GUEST_NS], FIGURE_NONE);
}

/* Nothing there: nothing known, never 0 */
static void absent_is_not_zero(void **state)
{
	CLEANUP(noise_look_free) struct noise_look a = { 0 }, b = { 0 };
	CLEANUP(noise_host_free) struct noise_host h = { 0 };
	struct noise_qemu none = { 0 };
	struct run_noise n;

	(void)state;
	noise_look("/nonexistent", &none, &a);
	noise_look("/nonexistent", &none, &b);
	noise_between(&a, &b, &n);
	for (int f = 0; f < NOISE_COUNT; f++)
		if (f != NOISE_WINDOW_NS)
			assert_int_equal(n.fig[f], FIGURE_NONE);
	noise_host("/nonexistent", &h);
	assert_null(h.governor);
	assert_int_equal(h.turbo, -1);
	assert_true(h.cpus > 0);
}

/* QEMU ended between the looks, a kernel without PSI, files with other text */
static void parts_may_be_missing(void **state)
{
	CLEANUP(noise_qemu_free) struct noise_qemu q = { 0 };
	CLEANUP(noise_look_free) struct noise_look a = { 0 }, b = { 0 };
	cleanup_free char *task = xasprintf("%s/50", dir);
	struct run_noise n;

	(void)state;
	make_qemu();
	noise_find_qemu(dir, "k-1", &q);
	noise_look(dir, &q, &a);
	assert_int_equal(remove_tree(task, NULL), 0);
	put("pressure/cpu", "nothing of the kind\n");
	put("pressure/io", "some avg10=0.00\n");
	put("stat", "cpu  1000 20 300 4000 500 60 7 8 0 0\n");
	put("loadavg", "x\n");
	noise_look(dir, &q, &b);
	noise_between(&a, &b, &n);
	assert_int_equal(n.fig[NOISE_VCPU_WAIT_NS], FIGURE_NONE);
	assert_int_equal(n.fig[NOISE_WORST_WAIT_NS], FIGURE_NONE);
	assert_int_equal(n.fig[NOISE_MAIN_WAIT_NS], FIGURE_NONE);
	assert_int_equal(n.fig[NOISE_OTHERS_BUSY_NS], FIGURE_NONE);
	assert_int_equal(n.fig[NOISE_PSI_CPU_SOME_US], FIGURE_NONE);
	assert_int_equal(n.fig[NOISE_PSI_IO_SOME_US], FIGURE_NONE);
	assert_int_equal(n.fig[NOISE_LOAD_1MIN_MILLI], FIGURE_NONE);
	assert_int_equal(n.fig[NOISE_HOST_BUSY_NS], 0);
	assert_int_equal(n.fig[NOISE_PSI_MEMORY_SOME_US], 0);
}

static void governor_and_turbo(void **state)
{
	CLEANUP(noise_host_free) struct noise_host intel = { 0 }, amd = { 0 };

	(void)state;
	put("devices/system/cpu/cpu0/cpufreq/scaling_governor", "schedutil\n");
	put("devices/system/cpu/cpufreq/boost", "0\n");
	noise_host(dir, &amd);
	assert_string_equal(amd.governor, "schedutil");
	assert_int_equal(amd.turbo, 0);
	put("devices/system/cpu/intel_pstate/no_turbo", "0\n");
	noise_host(dir, &intel);
	assert_int_equal(intel.turbo, 1);
}

/* This very process, in the real /proc */
static void real_proc(void **state)
{
	CLEANUP(noise_qemu_free) struct noise_qemu q = { .pid = getpid() };
	CLEANUP(noise_look_free) struct noise_look a = { 0 }, b = { 0 };
	volatile unsigned int x = 0;
	struct run_noise n;

	(void)state;
	tids_add(&q.vcpus, getpid());
	noise_look("/proc", &q, &a);
	if (a.vcpus.v[0].run_ns == FIGURE_NONE)
		skip();
	do {
		for (int i = 0; i < 1000000; i++)
			x += (unsigned int)i;
		noise_look_free(&b);
		noise_look("/proc", &q, &b);
		noise_between(&a, &b, &n);
	} while (n.fig[NOISE_VCPU_RUN_NS] < 50000000);
	assert_true(n.fig[NOISE_VCPU_RUN_NS] <= n.fig[NOISE_WINDOW_NS] + 20000000);
	assert_true(n.fig[NOISE_HOST_BUSY_NS] != FIGURE_NONE);
	assert_true(n.fig[NOISE_OTHERS_BUSY_NS] <= n.fig[NOISE_HOST_BUSY_NS]);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(finds_its_own_qemu),
		T(one_thread_for_all_cpus),
		T(subtracts),
		T(absent_is_not_zero),
		T(parts_may_be_missing),
		T(governor_and_turbo),
		T(real_proc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
