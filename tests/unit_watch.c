/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "host/watch.h"

#define S 1000ULL

static void say(struct watch *w, const char *text, uint64_t t_ms)
{
	watch_console(w, text, strlen(text), t_ms);
}

static void rec(struct watch *w, enum journal_type type, const char *json,
		uint64_t t_ms)
{
	struct journal_entry e = {
		.type = type, .payload = (char *)json, .len = strlen(json),
	};

	watch_record(w, &e, t_ms);
}

/* The verdict of @w, and that its evidence has @evidence in it. */
static enum verdict judge(struct watch *w, enum watch_end how,
			  const char *evidence)
{
	struct buf b = { 0 };
	enum verdict v = watch_verdict(w, how, &b);

	assert_non_null(b.data);
	if (!strstr(b.data, evidence))
		fail_msg("no '%s' in '%s'", evidence, b.data);
	assert_null(strchr(b.data, '\n'));
	buf_free(&b);
	return v;
}

static void end_decides(void **state)
{
	struct watch w;

	(void)state;
	watch_init(&w, 0, 0, 0);
	rec(&w, JOURNAL_RECEIPT, "{}", 5 * S);
	assert_int_equal(judge(&w, WATCH_POWERED_OFF, "without END"),
			 VERDICT_KILLED);
	rec(&w, JOURNAL_END, "{\"runs\":1}", 6 * S);
	assert_int_equal(judge(&w, WATCH_POWERED_OFF, "END"), VERDICT_OK);
	/* What happens to the VM afterwards takes nothing away. */
	assert_int_equal(judge(&w, WATCH_VANISHED, "END"), VERDICT_OK);
	assert_int_equal(judge(&w, WATCH_CRASHED, "END"), VERDICT_OK);
	/* But a guest that does not power off is not waited for. */
	assert_false(watch_due(&w, 7 * S));
	assert_true(watch_due(&w, (7 + WATCH_END_GRACE_S) * S));
	assert_int_equal(judge(&w, WATCH_ENDED_BY_US, "power off"), VERDICT_OK);
	watch_free(&w);
}

static void no_receipt(void **state)
{
	struct watch w;

	(void)state;
	watch_init(&w, 0, 0, 0);
	say(&w, "Linux version 6.1\nno root found\n", 10 * S);
	assert_false(watch_due(&w, (10 + WATCH_BOOT_SILENCE_S) * S - 1));
	assert_true(watch_due(&w, (10 + WATCH_BOOT_SILENCE_S) * S));
	assert_int_equal(judge(&w, WATCH_ENDED_BY_US, "no root found"),
			 VERDICT_BOOT_FAILED);
	assert_int_equal(judge(&w, WATCH_POWERED_OFF, "no root found"),
			 VERDICT_BOOT_FAILED);
	watch_free(&w);

	/* A deadline before the receipt is a failed boot too. */
	watch_init(&w, 30, 0, 0);
	say(&w, "x", 29 * S);
	assert_true(watch_due(&w, 30 * S));
	assert_int_equal(judge(&w, WATCH_ENDED_BY_US, "30 s"),
			 VERDICT_BOOT_FAILED);
	watch_free(&w);
}

static void silence(void **state)
{
	struct watch w;

	(void)state;
	/* Nothing for ten times as long as the boot took: 20 s. */
	watch_init(&w, 0, 0, 0);
	rec(&w, JOURNAL_RECEIPT, "{}", 20 * S);
	rec(&w, JOURNAL_RUN_START, "{\"run\":1,\"load\":\"io_load\"}", 21 * S);
	assert_false(watch_due(&w, 220 * S));
	assert_true(watch_due(&w, 221 * S));
	assert_int_equal(judge(&w, WATCH_ENDED_BY_US, "running: io_load"),
			 VERDICT_HUNG);
	watch_free(&w);

	/* A quick boot is given a minute; console bytes count as records do. */
	watch_init(&w, 0, 0, 0);
	rec(&w, JOURNAL_RECEIPT, "{}", 1 * S);
	say(&w, ".", 50 * S);
	assert_false(watch_due(&w, 109 * S));
	rec(&w, JOURNAL_HEARTBEAT, "{}", 109 * S);
	assert_false(watch_due(&w, 168 * S));
	assert_true(watch_due(&w, 169 * S));
	watch_free(&w);

	/* And what the caller says counts. */
	watch_init(&w, 0, 7, 0);
	assert_false(watch_due(&w, 8 * S));
	rec(&w, JOURNAL_RECEIPT, "{}", 10 * S);
	assert_false(watch_due(&w, 16 * S));
	assert_true(watch_due(&w, 17 * S));
	watch_free(&w);
}

/* A guest that had no CPU was not silent, up to a limit */
static void starved(void **state)
{
	struct watch w;

	(void)state;
	watch_init(&w, 0, 0, 0);
	watch_starved(&w, 5 * S);
	say(&w, ".", 10 * S);
	assert_false(watch_due(&w, 129 * S));
	watch_starved(&w, 105 * S);
	assert_false(watch_due(&w, 229 * S));
	assert_true(watch_due(&w, 230 * S));
	/* What was before the last word does not count */
	say(&w, ".", 230 * S);
	assert_true(watch_due(&w, 350 * S));
	watch_free(&w);

	watch_init(&w, 0, 0, 0);
	watch_starved(&w, 10 * WATCH_BOOT_SILENCE_S * S - 1);
	assert_false(watch_due(&w, 10 * WATCH_BOOT_SILENCE_S * S - 1));
	watch_starved(&w, 10 * WATCH_BOOT_SILENCE_S * S);
	assert_true(watch_due(&w, 10 * WATCH_BOOT_SILENCE_S * S));
	watch_free(&w);
}

static void timed_out(void **state)
{
	struct watch w;

	(void)state;
	watch_init(&w, 100, 0, 0);
	rec(&w, JOURNAL_RECEIPT, "{}", 2 * S);
	rec(&w, JOURNAL_HEARTBEAT, "{}", 99 * S);
	assert_false(watch_due(&w, 99 * S));
	assert_true(watch_due(&w, 100 * S));
	assert_int_equal(judge(&w, WATCH_ENDED_BY_US, "100 s"),
			 VERDICT_TIMED_OUT);
	watch_free(&w);
}

static void panic(void **state)
{
	struct watch w;

	(void)state;
	watch_init(&w, 0, 0, 0);
	rec(&w, JOURNAL_RECEIPT, "{}", 2 * S);
	/* In pieces, as it comes from a serial line. */
	say(&w, "[ 3.1] Kernel pan", 3 * S);
	say(&w, "ic - not syncing: Attempted to kill init!\r\n[ 3.2] CPU: 0\n",
	    3 * S);
	assert_false(watch_due(&w, 4 * S));
	assert_true(watch_due(&w, (3 + WATCH_PANIC_GRACE_S) * S));
	assert_int_equal(judge(&w, WATCH_ENDED_BY_US, "Attempted to kill init"),
			 VERDICT_PANIC);
	assert_int_equal(judge(&w, WATCH_POWERED_OFF, "Attempted to kill init"),
			 VERDICT_PANIC);
	watch_free(&w);

	watch_init(&w, 0, 0, 0);
	assert_int_equal(judge(&w, WATCH_CRASHED, "panic"), VERDICT_PANIC);
	watch_free(&w);
}

static void oops(void **state)
{
	static const char *const oopses[] = {
		"[    9.1] Oops: 0002 [#1] PREEMPT SMP NOPTI\n",
		"[    9.1] general protection fault, probably: 0000 [#12] SMP\n",
		"[    9.1] kernel BUG at mm/slub.c:435!\n",
	};
	static const char *const harmless[] = {
		"[    9.1] watchdog: BUG: soft lockup - CPU#0 stuck for 23s!\n",
		"[    9.1] rcu: INFO: rcu_sched self-detected stall on CPU\n",
		"[    9.1] WARNING: CPU: 0 PID: 1 at kernel/a.c:1 b+0x1/0x2\n",
		"run [#] of [#x]\n",
	};
	struct watch w;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		watch_init(&w, 0, 0, 0);
		rec(&w, JOURNAL_RECEIPT, "{}", 2 * S);
		say(&w, oopses[i], 3 * S);
		assert_int_equal(judge(&w, WATCH_POWERED_OFF, "[    9.1]"),
				 VERDICT_OOPS);
		/* The guest went on to the end: still not to be trusted. */
		rec(&w, JOURNAL_END, "{}", 4 * S);
		assert_int_equal(judge(&w, WATCH_POWERED_OFF, "[    9.1]"),
				 VERDICT_OOPS);
		watch_free(&w);
	}
	watch_init(&w, 0, 0, 0);
	rec(&w, JOURNAL_RECEIPT, "{}", 2 * S);
	for (size_t i = 0; i < 4; i++)
		say(&w, harmless[i], 3 * S);
	rec(&w, JOURNAL_END, "{}", 4 * S);
	assert_int_equal(judge(&w, WATCH_POWERED_OFF, "END"), VERDICT_OK);
	watch_free(&w);
}

static void guest_error(void **state)
{
	struct watch w;

	(void)state;
	watch_init(&w, 0, 0, 0);
	rec(&w, JOURNAL_ERROR,
	    "{\"verdict\":\"no-space\",\"message\":\"/work is full\"}", 2 * S);
	assert_int_equal(judge(&w, WATCH_POWERED_OFF, "/work is full"),
			 VERDICT_NO_SPACE);
	assert_true(watch_due(&w, (2 + WATCH_END_GRACE_S) * S));
	assert_int_equal(judge(&w, WATCH_ENDED_BY_US, "/work is full"),
			 VERDICT_NO_SPACE);
	watch_free(&w);

	/* An ERROR can never be read as success. */
	static const char *const odd[] = {
		"", "{", "[]", "{\"verdict\":\"ok\"}", "{\"verdict\":\"fine\"}",
	};
	for (size_t i = 0; i < 5; i++) {
		watch_init(&w, 0, 0, 0);
		rec(&w, JOURNAL_ERROR, odd[i], 2 * S);
		assert_int_equal(judge(&w, WATCH_POWERED_OFF, "guest"),
				 VERDICT_KILLED);
		watch_free(&w);
	}
}

static void mismatch(void **state)
{
	struct watch w;

	(void)state;
	watch_init(&w, 0, 0, 0);
	rec(&w, JOURNAL_RECEIPT, "{}", 2 * S);
	watch_mismatch(&w, "2 CPUs, not 1");
	assert_true(watch_due(&w, 2 * S));
	assert_int_equal(judge(&w, WATCH_ENDED_BY_US, "2 CPUs"),
			 VERDICT_PROFILE_MISMATCH);
	/* Even when the guest was too quick for us. */
	rec(&w, JOURNAL_END, "{}", 3 * S);
	assert_int_equal(judge(&w, WATCH_POWERED_OFF, "2 CPUs"),
			 VERDICT_PROFILE_MISMATCH);
	watch_free(&w);
}

static void ways_to_go(void **state)
{
	struct watch w;

	(void)state;
	watch_init(&w, 0, 0, 0);
	rec(&w, JOURNAL_RECEIPT, "{}", 2 * S);
	rec(&w, JOURNAL_RUN_START, "{\"load\":\"a\"}", 2 * S);
	rec(&w, JOURNAL_RUN_END, "{\"load\":\"a\"}", 3 * S);
	rec(&w, JOURNAL_RUN_START, "{\"load\":\"b\"}", 4 * S);
	assert_int_equal(judge(&w, WATCH_VANISHED, "running: b"), VERDICT_KILLED);
	assert_int_equal(judge(&w, WATCH_ORPHANED, "kontest's process"),
			 VERDICT_KILLED);
	assert_int_equal(judge(&w, WATCH_INTERRUPTED, "told to stop"),
			 VERDICT_KILLED);
	assert_int_equal(judge(&w, WATCH_WATCHDOG, "watchdog"), VERDICT_HUNG);
	assert_int_equal(w.verdict, VERDICT_COUNT);
	rec(&w, JOURNAL_VERDICT, "{\"verdict\":\"hung\"}", 5 * S);
	assert_int_equal(w.verdict, VERDICT_HUNG);
	watch_free(&w);
}

static void collect(void *arg, const char *line)
{
	buf_printf(arg, "%s|", line);
}

static void console_tail(void **state)
{
	struct watch w;
	struct buf b = { 0 };
	char big[1000];

	(void)state;
	watch_init(&w, 0, 0, 0);
	for (int i = 1; i <= 100; i++) {
		snprintf(big, sizeof(big), "line %d\r\n", i);
		say(&w, big, 1);
	}
	say(&w, "\x1b[0m\xff\ttail", 1);
	watch_tail(&w, collect, &b);
	assert_memory_equal(b.data, "line 61|", 8);
	assert_string_equal(strstr(b.data, "line 100|"), "line 100|[0m? tail|");
	buf_free(&b);

	/* A line without an end is cut, not kept. */
	memset(big, 'x', sizeof(big));
	for (int i = 0; i < 10; i++)
		watch_console(&w, big, sizeof(big), 1);
	say(&w, "\nnext\n", 1);
	watch_tail(&w, collect, &b);
	assert_non_null(strstr(b.data, "xxx|next|"));
	assert_true(b.len < 40 * 20 + WATCH_LINE_MAX);
	buf_free(&b);
	watch_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(end_decides),
		cmocka_unit_test(no_receipt),
		cmocka_unit_test(silence),
		cmocka_unit_test(starved),
		cmocka_unit_test(timed_out),
		cmocka_unit_test(panic),
		cmocka_unit_test(oops),
		cmocka_unit_test(guest_error),
		cmocka_unit_test(mismatch),
		cmocka_unit_test(ways_to_go),
		cmocka_unit_test(console_tail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
