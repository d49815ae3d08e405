/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_guest_counters.c - the guest's readers of the kernel's counters
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "guest/counters.h"
#include "guest/kmsg.h"
#include "guest/machine.h"

static void test_stat(void **state)
{
	struct counters c = { 0 };

	(void)state;
	counters_parse_stat(&c,
		"cpu  10132153 290696 3084719 46828483 16683 0 25195 7 175628 0\n"
		"cpu0 1 2 3 4 5 6 7 8 9 0\n"
		"intr 33 1 2 3\nctxt 115315\nbtime 769041601\n", 100);
	assert_int_equal(c.value[C_CPU_USER], 101321530000000);
	assert_int_equal(c.value[C_CPU_NICE], 2906960000000);
	assert_int_equal(c.value[C_CPU_SYSTEM], 30847190000000);
	assert_int_equal(c.value[C_CPU_IDLE], 468284830000000);
	assert_int_equal(c.value[C_CPU_IOWAIT], 166830000000);
	assert_int_equal(c.value[C_CPU_IRQ], 0);
	assert_int_equal(c.value[C_CPU_SOFTIRQ], 251950000000);
	assert_int_equal(c.value[C_CPU_STEAL], 70000000);
	assert_int_equal(c.value[C_CTXT], 115315);
	assert_true(c.have[C_CTXT]);
}

static void test_old_stat_lacks_steal(void **state)
{
	struct counters c = { 0 };

	(void)state;
	counters_parse_stat(&c, "cpu  1 2 3 4\nctxt 5\n", 100);
	assert_true(c.have[C_CPU_IDLE]);
	assert_false(c.have[C_CPU_IOWAIT]);
	assert_false(c.have[C_CPU_STEAL]);
	assert_int_equal(c.value[C_CTXT], 5);
}

static void test_vmstat(void **state)
{
	struct counters c = { 0 };

	(void)state;
	/* pgfault must not be taken from a longer name, nor be missed behind */
	counters_parse_vmstat(&c, "nr_free_pages 1\nthp_pgfault 9\n"
			      "pgfault_more 8\npgpgin 11\npgpgout 12\npswpin 13\n"
			      "pswpout 14\npgfault 15\npgmajfault 16\n");
	assert_int_equal(c.value[C_PGPGIN], 11);
	assert_int_equal(c.value[C_PGPGOUT], 12);
	assert_int_equal(c.value[C_PSWPIN], 13);
	assert_int_equal(c.value[C_PSWPOUT], 14);
	assert_int_equal(c.value[C_PGFAULT], 15);
	assert_int_equal(c.value[C_PGMAJFAULT], 16);
	assert_false(c.have[C_OOM_KILL]);
}

static void test_pressure(void **state)
{
	struct counters c = { 0 };

	(void)state;
	counters_parse_pressure(&c,
		"some avg10=0.00 avg60=0.00 avg300=0.00 total=123\n"
		"full avg10=0.00 avg60=0.00 avg300=0.00 total=45\n",
		C_PSI_IO_SOME, C_PSI_IO_FULL);
	counters_parse_pressure(&c, "some avg10=1.00 total=7\nfull total=6\n",
				C_PSI_CPU_SOME, C_COUNT);
	assert_int_equal(c.value[C_PSI_IO_SOME], 123);
	assert_int_equal(c.value[C_PSI_IO_FULL], 45);
	assert_int_equal(c.value[C_PSI_CPU_SOME], 7);
}

static void test_disks_add_up(void **state)
{
	struct counters c = { 0 };

	(void)state;
	counters_parse_disk(&c, "     100  5  800  40   10   1    80   9   0  1  2\n",
			    C_DISK_READ_BYTES);
	counters_parse_disk(&c, "1 0 8 0 1 0 16 0 0 0 0 0 0 0 0 0 0\n",
			    C_DISK_READ_BYTES);
	assert_int_equal(c.value[C_DISK_READS], 101);
	assert_int_equal(c.value[C_DISK_READ_BYTES], 808 * 512);
	assert_int_equal(c.value[C_DISK_WRITES], 11);
	assert_int_equal(c.value[C_DISK_WRITE_BYTES], 96 * 512);
	memset(&c, 0, sizeof(c));
	counters_parse_disk(&c, "1 2 3", C_DISK_READ_BYTES);
	assert_false(c.have[C_DISK_READS]);
}

static void test_io_of_a_group(void **state)
{
	struct counters c = { 0 };

	(void)state;
	counters_parse_io(&c, "259:0 rbytes=4096 wbytes=8192 rios=1 wios=2 dbytes=7 dios=9\n"
			  "43:16 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=0 dios=0\n"
			  "43:0 \n", C_LOAD_READ_BYTES);
	assert_int_equal(c.value[C_LOAD_READ_BYTES], 4097);
	assert_int_equal(c.value[C_LOAD_WRITE_BYTES], 8194);
	assert_int_equal(c.value[C_LOAD_READS], 4);
	assert_int_equal(c.value[C_LOAD_WRITES], 6);
	/* no I/O so far is a figure: none */
	counters_parse_io(&c, "", C_JOB_READ_BYTES);
	assert_true(c.have[C_JOB_WRITES]);
	assert_int_equal(c.value[C_JOB_WRITES], 0);
}

static void test_cpu_stat(void **state)
{
	struct counters c = { 0 };

	(void)state;
	counters_parse_cpu(&c, "usage_usec 30\nuser_usec 10\nsystem_usec 20\n"
			   "nr_periods 0\n", C_JOB_USER, C_JOB_SYSTEM);
	assert_int_equal(c.value[C_JOB_USER], 10000);
	assert_int_equal(c.value[C_JOB_SYSTEM], 20000);
}

static void test_diff(void **state)
{
	struct counters a = { 0 }, b = { 0 }, d;

	(void)state;
	counters_set(&a, C_CTXT, 10);
	counters_set(&b, C_CTXT, 25);
	counters_set(&a, C_CPU_IOWAIT, 10);
	counters_set(&b, C_CPU_IOWAIT, 9);
	counters_set(&b, C_PGFAULT, 9);
	d = counters_diff(&a, &b);
	assert_int_equal(d.value[C_CTXT], 15);
	assert_true(d.have[C_CPU_IOWAIT]);
	assert_int_equal(d.value[C_CPU_IOWAIT], 0);
	assert_false(d.have[C_PGFAULT]);
}

static void test_json_leaves_out_what_is_not_there(void **state)
{
	struct counters d = { 0 };
	char buf[1024];
	struct jsonw w;

	(void)state;
	counters_set(&d, C_CPU_USER, 1);
	counters_set(&d, C_CPU_STEAL, 2);
	counters_set(&d, C_PSI_CPU_SOME, 3);
	counters_set(&d, C_CTXT, 4);
	counters_set(&d, C_DISK_READS, 5);
	jsonw_begin(&w, buf, sizeof(buf));
	jsonw_open(&w, NULL, '{');
	counters_json(&w, &d);
	jsonw_close(&w, '}');
	assert_true(jsonw_ok(&w));
	assert_string_equal(buf, "{\"cpu\":{\"user_ns\":1,\"steal_ns\":2},"
			    "\"psi\":{\"cpu_some_us\":3},\"ctxt\":4,"
			    "\"disk\":{\"reads\":5}}");
}

static void test_this_machine(void **state)
{
	struct disk disks[DISK_ROLES] = { 0 };
	struct counters a = { 0 }, b = { 0 }, d;

	(void)state;
	counters_read_system(&a, "", disks);
	usleep(50000);
	counters_read_system(&b, "", disks);
	d = counters_diff(&a, &b);
	assert_true(d.have[C_CPU_USER]);
	assert_true(d.have[C_CTXT]);
	assert_true(d.value[C_CTXT] > 0);
	assert_false(d.have[C_DISK_READS]);
}

/* --- a system of files: roots that lack this or that ----------------------- */

static void put_file(const char *root, const char *name, const char *text)
{
	char path[512], command[1100];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	snprintf(command, sizeof(command), "mkdir -p \"$(dirname %s)\"", path);
	assert_int_equal(system(command), 0);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void make_root(char root[64])
{
	snprintf(root, 64, "/tmp/kontest-counters-XXXXXX");
	assert_non_null(mkdtemp(root));
}

static void drop_root(const char *root)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
}

static void test_disks_by_role(void **state)
{
	/* One disk with partitions, and a second one */
	struct disk disks[DISK_ROLES] = {
		[DISK_SYSTEM] = { .present = true, .path = "/dev/nbd0p1",
				  .name = "nbd0" },
		[DISK_WORK] = { .present = true, .path = "/dev/nbd0p2",
				.name = "nbd0" },
		[DISK_OTHER] = { .present = true, .path = "/dev/nbd1",
				 .name = "nbd1" },
		[DISK_RESULTS] = { .present = true, .path = "/dev/pmem0",
				   .name = "pmem0" },
	};
	struct counters c = { 0 };
	char root[64];

	(void)state;
	make_root(root);
	put_file(root, "sys/class/block/nbd0/stat", "99 0 99 0 99 0 99 0 0 0 0\n");
	put_file(root, "sys/class/block/nbd0p1/stat", "1 0 10 0 0 0 0 0 0 0 0\n");
	put_file(root, "sys/class/block/nbd0p2/stat", "2 0 20 0 3 0 30 0 0 0 0\n");
	put_file(root, "sys/class/block/nbd1/stat", "0 0 0 0 4 0 40 0 0 0 0\n");
	put_file(root, "sys/class/block/pmem0/stat", "5 0 50 0 5 0 50 0 0 0 0\n");
	counters_read_system(&c, root, disks);
	assert_int_equal(c.value[C_SYSTEM_READ_BYTES], 10 * 512);
	assert_int_equal(c.value[C_WORK_WRITE_BYTES], 30 * 512);
	assert_int_equal(c.value[C_OTHER_WRITES], 4);
	assert_int_equal(c.value[C_OTHER_READS], 0);
	assert_false(c.have[C_SWAP_READS]);
	assert_int_equal(c.value[C_DISK_READ_BYTES], 30 * 512);
	assert_int_equal(c.value[C_DISK_WRITE_BYTES], 70 * 512);
	assert_int_equal(c.value[C_DISK_READS], 3);
	assert_int_equal(c.value[C_DISK_WRITES], 7);
	drop_root(root);
}

static void test_kernel_that_offers_little(void **state)
{
	struct disk disks[DISK_ROLES] = { 0 };
	struct counters a = { 0 }, b = { 0 }, d;
	char root[64], buf[4096];
	struct jsonw w;

	(void)state;
	make_root(root);
	/* no PSI, no vmstat, a /proc/stat of Linux 2.4 */
	put_file(root, "proc/stat", "cpu  1 2 3 4\nctxt 5\n");
	counters_read_system(&a, root, disks);
	put_file(root, "proc/stat", "cpu  2 2 3 5\nctxt 9\n");
	counters_read_system(&b, root, disks);
	d = counters_diff(&a, &b);
	for (int i = C_PSWPIN; i < C_COUNT; i++)
		assert_false(d.have[i]);
	jsonw_begin(&w, buf, sizeof(buf));
	jsonw_open(&w, NULL, '{');
	counters_json(&w, &d);
	jsonw_close(&w, '}');
	assert_string_equal(buf, "{\"cpu\":{\"user_ns\":10000000,\"nice_ns\":0,"
			    "\"system_ns\":0,\"idle_ns\":10000000},\"ctxt\":4}");
	drop_root(root);

	/* PSI appears or goes between the snapshots: no figure */
	make_root(root);
	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	counters_read_system(&a, root, disks);
	put_file(root, "proc/pressure/io", "some avg10=0.00 total=8\n");
	counters_read_system(&b, root, disks);
	assert_true(b.have[C_PSI_IO_SOME]);
	assert_false(b.have[C_PSI_IO_FULL]);
	d = counters_diff(&a, &b);
	assert_false(d.have[C_PSI_IO_SOME]);
	drop_root(root);
}

static void test_iomem(void **state)
{
	(void)state;
	assert_int_equal(machine_ram_bytes(
		"00000000-00000fff : Reserved\n"
		"00001000-0009fbff : System RAM\n"
		"00100000-0fffffff : System RAM\n"
		"  01000000-01c02276 : System RAM\n"
		"100000000-10fffffff : Persistent Memory\n"),
		0x9ec00 + 0xff00000);
	assert_int_equal(machine_ram_bytes(""), 0);
}

static void test_kmsg(void **state)
{
	(void)state;
	assert_true(kmsg_line_is_bad("4,100,5,-;BUG: unable to handle page "
				     "fault for address: 0\n"));
	assert_true(kmsg_line_is_bad("4,1,5,-;Oops: 0002 [#1] PREEMPT\n"));
	assert_true(kmsg_line_is_bad("2,1,5,-;kernel BUG at mm/slub.c:1!\n"));
	/* a program wrote it (facility user) */
	assert_false(kmsg_line_is_bad("12,1,5,-;BUG: of mine\n"));
	/* a host that lets its VM wait */
	assert_false(kmsg_line_is_bad("0,1,5,-;watchdog: BUG: soft lockup - "
				      "CPU#0 stuck for 22s!\n"));
	assert_false(kmsg_line_is_bad("6,1,5,-;EXT4-fs (pmem2): mounted\n"));
	assert_false(kmsg_line_is_bad(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stat),
		cmocka_unit_test(test_old_stat_lacks_steal),
		cmocka_unit_test(test_vmstat),
		cmocka_unit_test(test_pressure),
		cmocka_unit_test(test_disks_add_up),
		cmocka_unit_test(test_io_of_a_group),
		cmocka_unit_test(test_cpu_stat),
		cmocka_unit_test(test_diff),
		cmocka_unit_test(test_json_leaves_out_what_is_not_there),
		cmocka_unit_test(test_this_machine),
		cmocka_unit_test(test_disks_by_role),
		cmocka_unit_test(test_kernel_that_offers_little),
		cmocka_unit_test(test_iomem),
		cmocka_unit_test(test_kmsg),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
