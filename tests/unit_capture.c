/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_capture.c - other machines, by what their sysfs and procfs said
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/capture.h"
#include "images/profile.h"
#include "results/base/cleanup.h"
#include "results/base/file.h"

#define CPU "sys/devices/system/cpu/"
#define GIB ((uint64_t)1 << 30)

static char *root;

static int setup(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	root = xasprintf("%s/kontest-capture-XXXXXX", tmp ? tmp : "/tmp");
	return mkdtemp(root) ? 0 : -1;
}

static int teardown(void **state)
{
	int ret = remove_tree(root, NULL);

	(void)state;
	free(root);
	return ret;
}

__attribute__((format(printf, 1, 3)))
static void put(const char *name, const char *text, ...)
{
	struct error err = { 0 };
	va_list ap;
	cleanup_free char *path = NULL;
	cleanup_free char *dir = NULL;
	char *file;

	va_start(ap, text);
	file = xvasprintf(name, ap);
	va_end(ap);
	path = xasprintf("%s/%s", root, file);
	free(file);
	dir = xstrdup(path);
	*strrchr(dir, '/') = '\0';
	assert_int_equal(make_dirs(dir, &err), 0);
	assert_int_equal(file_write(path, text, strlen(text), &err), 0);
}

static void put_cpu(int cpu, const char *socket, const char *core)
{
	put(CPU "cpu%d/topology/physical_package_id", socket, cpu);
	put(CPU "cpu%d/topology/die_id", "0\n", cpu);
	put(CPU "cpu%d/topology/core_id", core, cpu);
}

static void put_disk(const char *name, const char *model, const char *sectors,
		     const char *rotational)
{
	put("sys/block/%s/size", sectors, name);
	put("sys/block/%s/queue/rotational", rotational, name);
	put("sys/block/%s/removable", "0\n", name);
	put("sys/block/%s/device/model", model, name);
}

/* What is printed is a profile that kontest takes. */
static void load(const struct captured *c, const struct captured_rates *r,
		 struct profile *p, struct buf *text)
{
	cleanup_free char *path = xasprintf("%s/made.ini", root);
	struct error err = { 0 };

	capture_profile(c, r, text);
	assert_int_equal(file_write(path, text->data, text->len, &err), 0);
	if (profile_load(path, p, &err) < 0)
		fail_msg("%s\n%s", err.text, text->data);
}

static bool limited(const struct captured *c, const char *what)
{
	CLEANUP(strings_clear) struct strings s = { 0 };
	bool found = false;

	captured_limits(c, &s);
	for (size_t i = 0; i < s.n; i++)
		found |= strstr(s.v[i], what) != NULL;
	return found;
}

static void read_machine(struct captured *c)
{
	struct error err = { 0 };

	if (capture_read(root, c, &err) < 0)
		fail_msg("%s", err.text);
}

/* Two Xeons of six cores with SMT, two NUMA nodes, turning disks */
static void server(void **state)
{
	CLEANUP(captured_free) struct captured c = { 0 };
	CLEANUP(profile_free) struct profile p = { 0 };
	CLEANUP(buf_free) struct buf text = { 0 };
	struct captured_rates r = { (char *)"sda", 180000000, 170000000, 80, 150 };

	(void)state;
	put("proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Intel(R) Xeon(R) CPU E5-2620 v3 @ 2.40GHz; odd #1\ncpu MHz\t\t: 1200.000\nflags\t\t: fpu sse2 avx avx2\n\nprocessor\t: 1\n");
	put("proc/meminfo", "MemTotal:       65842344 kB\nMemFree: 1 kB\nSwapTotal:       8388604 kB\n");
	put("proc/sys/kernel/osrelease", "6.1.0-13-amd64\n");
	put(CPU "online", "0-23\n");
	for (int cpu = 0; cpu < 24; cpu++) {
		char core[8];

		snprintf(core, sizeof(core), "%d\n", cpu % 12 / 2);
		put_cpu(cpu, cpu % 2 ? "1\n" : "0\n", core);
	}
	put(CPU "cpu0/cpufreq/cpuinfo_max_freq", "3200000\n");
	put(CPU "cpu0/cpufreq/scaling_governor", "performance\n");
	put(CPU "vulnerabilities/meltdown", "Mitigation: PTI\n");
	put("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
	put("sys/devices/system/memory/block_size_bytes", "80000000\n");
	for (int i = 0; i < 32; i++)
		put("sys/devices/system/memory/memory%d/online", "1\n", i);
	put("sys/devices/system/node/node0/cpulist", "0\n");
	put("sys/devices/system/node/node1/cpulist", "1\n");
	put_disk("sda", "ST4000NM0033\n", "7814037168\n", "1\n");
	put_disk("sdb", "ST4000NM0033\n", "7814037168\n", "1\n");
	put("sys/block/loop0/size", "8\n");

	read_machine(&c);
	assert_int_equal(c.cpus, 24);
	assert_int_equal(c.cores, 12);
	assert_int_equal(c.sockets, 2);
	assert_int_equal(c.nodes, 2);
	assert_int_equal(c.max_mhz, 3200);
	assert_true(c.memory_exact);
	assert_int_equal(c.memory, 64 * GIB);
	assert_int_equal(c.disks.n, 2);
	assert_string_equal(c.governor, "performance");
	assert_string_equal(c.clocksource, "tsc");
	assert_string_equal(c.model, "Intel(R) Xeon(R) CPU E5-2620 v3 @ 2.40GHz  odd  1");
	assert_true(limited(&c, "NUMA: 2 nodes"));
	assert_true(limited(&c, "SMT (24 threads on 12 cores)"));
	assert_true(limited(&c, "24 CPUs in exact mode"));
	assert_true(limited(&c, "2 sockets"));

	load(&c, &r, &p, &text);
	assert_int_equal(p.cpus, 24);
	assert_int_equal(p.memory, 64 * GIB);
	assert_int_equal(p.mips, 1000);
	assert_string_equal(p.cpu_model, "Haswell-v4");
	assert_int_equal(p.work.rbps, 180000000);
	assert_int_equal(p.work.riops, 80);
	assert_int_equal(p.work.rpm, 7200);
	/* 12500 us for an access, 4166 of them half a turn */
	assert_int_equal(p.work.seek_us, 12500 - 4166);
	assert_true(p.other.present && p.swap.present);
	assert_true(p.work.size > p.memory);
	assert_non_null(strstr(text.data, "# mitigation meltdown: Mitigation: PTI\n"));
	assert_non_null(strstr(text.data, "# disk sda: ST4000NM0033, 3815447 MiB, rotational\n"));
}

/* A laptop: one socket, an odd CPU offline, a flash disk, a card reader */
static void laptop(void **state)
{
	CLEANUP(captured_free) struct captured c = { 0 };
	CLEANUP(profile_free) struct profile p = { 0 };
	CLEANUP(buf_free) struct buf text = { 0 };

	(void)state;
	put("proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD A4\ncpu MHz\t\t: 600.1\nflags\t\t: fpu sse2 avx\n");
	put("proc/meminfo", "MemTotal:        7829880 kB\nSwapTotal:             0 kB\n");
	put("proc/sys/kernel/osrelease", "6.12.0\n");
	put(CPU "online", "0-2,4\n");
	for (int cpu = 0; cpu < 5; cpu++)
		put_cpu(cpu, "0\n", cpu < 2 ? "0\n" : "1\n");
	put(CPU "cpu0/cpufreq/cpuinfo_max_freq", "900000\n");
	put(CPU "cpu0/cpufreq/scaling_governor", "powersave\n");
	put_disk("nvme0n1", "Samsung SSD\n", "976773168\n", "0\n");
	put_disk("sdc", "Card Reader\n", "100\n", "1\n");
	put("sys/block/%s/removable", "1\n", "sdc");

	read_machine(&c);
	assert_int_equal(c.cpus, 4);
	assert_int_equal(c.cores, 2);
	assert_int_equal(c.sockets, 1);
	assert_int_equal(c.nodes, 1);
	assert_false(c.memory_exact);
	/* 7646 MiB, rounded up to whole 64 MiB */
	assert_int_equal(c.memory >> 20, 7680);
	assert_int_equal(c.disks.n, 1);
	assert_true(limited(&c, "governor (powersave)"));
	assert_false(limited(&c, "NUMA"));
	assert_false(limited(&c, "virtual machine itself"));
	load(&c, NULL, &p, &text);
	assert_int_equal(p.mips, 500);
	assert_string_equal(p.cpu_model, "Opteron_G4-v1");
	assert_int_equal(p.work.rbps, 0);
	assert_false(p.other.present);
	assert_false(p.swap.present);
	assert_non_null(strstr(text.data, "Not measured"));
}

/* A VM: no cpufreq, no topology, no vulnerabilities, a disk that says it turns */
static void guest(void **state)
{
	CLEANUP(captured_free) struct captured c = { 0 };
	CLEANUP(profile_free) struct profile p = { 0 };
	CLEANUP(buf_free) struct buf text = { 0 };
	struct captured_rates r = { (char *)"vda", 500000000, 400000000, 4000, 3000 };

	(void)state;
	put("proc/cpuinfo", "processor\t: 0\nvendor_id\t: Unknown\nmodel name\t: QEMU Virtual CPU version 2.5+\nflags\t\t: fpu hypervisor\n\nprocessor\t: 1\n");
	put("proc/meminfo", "MemTotal:          20000 kB\n");
	put_disk("vda", "\n", "2048\n", "1\n");

	read_machine(&c);
	assert_int_equal(c.cpus, 2);
	assert_true(c.guest);
	assert_null(c.governor);
	assert_true(limited(&c, "virtual machine itself"));
	assert_false(limited(&c, "governor"));
	load(&c, &r, &p, &text);
	assert_string_equal(p.cpu_model, "Opteron_G1-v1");
	assert_int_equal(p.memory >> 20, 64);
	/* What turns below a virtual disk is not known. */
	assert_int_equal(p.work.rpm, 0);
	assert_int_equal(p.work.rbps, 500000000);
	assert_non_null(strstr(text.data, "governor: none (no cpufreq)"));
}

static void nothing_there(void **state)
{
	struct captured c = { 0 };
	struct error err = { 0 };

	(void)state;
	assert_int_equal(capture_read(root, &c, &err), -1);
	assert_non_null(strstr(err.text, "proc/cpuinfo"));
	put("proc/cpuinfo", "processor\t: 0\n");
	put("proc/meminfo", "nonsense\n");
	assert_int_equal(capture_read(root, &c, &err), -1);
	assert_non_null(strstr(err.text, "no line MemTotal"));
}

static void measured(void **state)
{
	struct captured_rates r = { 0 };
	struct error err = { 0 };
	cleanup_closedir DIR *d = NULL;
	unsigned int left = 0;
	const struct dirent *e;

	(void)state;
	if (capture_measure(root, &r, &err) < 0) {
		/* a temporary directory in memory has no O_DIRECT */
		assert_non_null(strstr(err.text, "O_DIRECT"));
		skip();
	}
	assert_true(r.read_bps > 0 && r.write_bps > 0);
	assert_true(r.read_iops > 0 && r.write_iops > 0);
	free(r.disk);
	d = opendir(root);
	assert_non_null(d);
	while ((e = readdir(d)))
		left += e->d_name[0] != '.' || strlen(e->d_name) > 2;
	assert_int_equal(left, 0);
	assert_int_equal(capture_measure("/nonexistent", &r, &err), -1);
	assert_non_null(strstr(err.text, "'/nonexistent'"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(server, setup, teardown),
		cmocka_unit_test_setup_teardown(laptop, setup, teardown),
		cmocka_unit_test_setup_teardown(guest, setup, teardown),
		cmocka_unit_test_setup_teardown(nothing_there, setup, teardown),
		cmocka_unit_test_setup_teardown(measured, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
