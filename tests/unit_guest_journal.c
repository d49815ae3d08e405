/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_guest_journal.c - what the guest appends, the host reads: both real
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "guest/journal_write.h"
#include "results/journal_file.h"

#define RUN_ID "6f1d3f2e-0000-4000-8000-000000000001"
#define PLAN "format=1\n"

static char disk[256];

static int make_disk(void **state)
{
	const char *dir = getenv("TMPDIR");
	struct error err = { 0 };

	(void)state;
	snprintf(disk, sizeof(disk), "%s/unit_guest_journal.%d",
		 dir ? dir : "/tmp", (int)getpid());
	unlink(disk);
	if (journal_create(disk, RUN_ID, PLAN, "{}", &err) != 0) {
		fprintf(stderr, "%s\n", err.text);
		return -1;
	}
	return 0;
}

static int drop_disk(void **state)
{
	(void)state;
	return unlink(disk);
}

static struct jw *open_disk(void)
{
	auto_free char *plan = NULL;
	struct fail f = { "" };
	struct jw *j = jw_open(disk, &plan, &f);

	if (!j)
		fail_msg("%s", f.text);
	assert_string_equal(plan, PLAN);
	return j;
}

static void test_host_reads_what_guest_wrote(void **state)
{
	struct jw *j = open_disk();
	static char big[JOURNAL_PAYLOAD_MAX + 2];
	struct journal read;
	struct error err = { 0 };
	struct fail f = { "" };

	(void)state;
	/* longest payload, and one that fills its blocks exactly */
	memset(big, ' ', JOURNAL_PAYLOAD_MAX);
	big[0] = '{';
	big[JOURNAL_PAYLOAD_MAX - 1] = '}';
	assert_int_equal(jw_append(j, JOURNAL_RECEIPT, "{\"format\":1}", &f), 0);
	assert_int_equal(jw_append(j, JOURNAL_LOG, big, &f), 0);
	big[JOURNAL_BLOCK - sizeof(struct journal_record)] = '\0';
	big[JOURNAL_BLOCK - sizeof(struct journal_record) - 1] = '}';
	assert_int_equal(jw_append(j, JOURNAL_LOG, big, &f), 0);
	assert_int_equal(jw_log(j, &f, "say \"%d\"\n", 7), 0);
	assert_false(jw_ended(j));
	assert_int_equal(jw_error(j, "oops", "it broke", &f), 0);
	assert_true(jw_ended(j));

	assert_int_equal(journal_read(disk, &read, &err), 0);
	assert_false(read.torn);
	assert_int_equal(read.entries.n, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(read.entries.v[i].seq, i);
		assert_true(read.entries.v[i].t_ns > 0);
		assert_true(i == 0 || read.entries.v[i].t_ns >=
			    read.entries.v[i - 1].t_ns);
	}
	assert_int_equal(read.entries.v[0].type, JOURNAL_RECEIPT);
	assert_int_equal(read.entries.v[1].len, JOURNAL_PAYLOAD_MAX);
	assert_int_equal(read.entries.v[2].len, JOURNAL_BLOCK -
			 sizeof(struct journal_record));
	assert_string_equal(read.entries.v[3].payload,
			    "{\"text\":\"say \\\"7\\\"\\n\"}");
	assert_string_equal(read.entries.v[4].payload,
			    "{\"verdict\":\"oops\",\"message\":\"it broke\"}");
	journal_free(&read);
}

static void test_two_processes_append(void **state)
{
	struct jw *j = open_disk();
	struct journal read;
	struct error err = { 0 };
	struct fail f = { "" };
	pid_t pid = fork();
	int status;

	(void)state;
	for (int i = 0; i < 200; i++)
		if (jw_append(j, pid ? JOURNAL_HEARTBEAT : JOURNAL_SAMPLE, "{}",
			      &f) != 0)
			abort();
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(journal_read(disk, &read, &err), 0);
	assert_false(read.torn);
	assert_int_equal(read.entries.n, 400);
	journal_free(&read);
}

static void test_survives_a_killed_holder(void **state)
{
	struct jw *j = open_disk();
	struct journal read;
	struct error err = { 0 };
	struct fail f = { "" };

	(void)state;
	/* Often enough that some are killed in the middle of an append */
	for (int i = 0; i < 50; i++) {
		pid_t pid = fork();

		if (pid == 0)
			for (;;)
				if (jw_append(j, JOURNAL_SAMPLE, "{}", &f) != 0)
					_exit(1);
		usleep(2000);
		assert_int_equal(kill(pid, SIGKILL), 0);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		if (jw_append(j, JOURNAL_HEARTBEAT, "{}", &f) != 0)
			fail_msg("%s", f.text);
	}
	assert_int_equal(journal_read(disk, &read, &err), 0);
	assert_false(read.torn);
	assert_true(read.entries.n >= 50);
	assert_int_equal(read.entries.v[read.entries.n - 1].type,
			 JOURNAL_HEARTBEAT);
	journal_free(&read);
}

static void expect_refusal(const char *why)
{
	auto_free char *plan = NULL;
	struct fail f = { "" };

	assert_null(jw_open(disk, &plan, &f));
	if (!strstr(f.text, why))
		fail_msg("'%s' does not say '%s'", f.text, why);
}

static void test_used_disk_is_refused(void **state)
{
	struct jw *j = open_disk();
	struct fail f = { "" };

	(void)state;
	assert_int_equal(jw_append(j, JOURNAL_HEARTBEAT, "{}", &f), 0);
	expect_refusal("already holds the journal of another boot");
}

static void test_damaged_disk_is_refused(void **state)
{
	int fd = open(disk, O_WRONLY);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 1000), 0);
	expect_refusal("too small");
	assert_int_equal(ftruncate(fd, JOURNAL_LOG_OFF + JOURNAL_BLOCK), 0);
	expect_refusal("plan is damaged");	/* it is all zeros now */
	assert_int_equal(pwrite(fd, "\x07", 1, 13), 1);
	assert_int_equal(close(fd), 0);
	expect_refusal("superblock is damaged");
}

static void test_full_disk_and_long_record(void **state)
{
	struct jw *j = open_disk();
	static char big[JOURNAL_PAYLOAD_MAX + 2];
	struct fail f = { "" };
	int n = 0;

	(void)state;
	memset(big, ' ', JOURNAL_PAYLOAD_MAX + 1);
	assert_int_equal(jw_append(j, JOURNAL_LOG, big, &f), -1);
	assert_non_null(strstr(f.text, "too long"));
	big[JOURNAL_PAYLOAD_MAX] = '\0';
	while (jw_append(j, JOURNAL_LOG, big, &f) == 0)
		n++;
	assert_int_equal(n, (JOURNAL_DISK_BYTES - JOURNAL_LOG_OFF) /
			 (JOURNAL_PAYLOAD_MAX + JOURNAL_BLOCK));
	assert_non_null(strstr(f.text, "No space left"));
}

static void test_no_disk(void **state)
{
	struct fail f = { "" };
	struct jw *j = jw_none(&f);

	(void)state;
	assert_non_null(j);
	assert_false(jw_present(j));
	assert_int_equal(jw_append(j, JOURNAL_END, "{}", &f), 0);
	assert_true(jw_ended(j));
}

#define WITH_DISK(test) \
	cmocka_unit_test_setup_teardown(test, make_disk, drop_disk)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_DISK(test_host_reads_what_guest_wrote),
		WITH_DISK(test_two_processes_append),
		WITH_DISK(test_survives_a_killed_holder),
		WITH_DISK(test_used_disk_is_refused),
		WITH_DISK(test_damaged_disk_is_refused),
		WITH_DISK(test_full_disk_and_long_record),
		cmocka_unit_test(test_no_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
