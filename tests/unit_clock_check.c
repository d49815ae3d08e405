/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_clock_check.c - a clock is accused when nothing else can explain it
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "host/noise.h"
#include "results/base/cleanup.h"
#include "results/base/clock.h"
#include "results/crc32c.h"
#include "tests/make_journal.h"

#define MS UINT64_C(1000000)
#define S (1000 * MS)

/* --- the bounds ---------------------------------------------------------------- */

/*
 * Records of a clock that runs @rate times as fast as the host's, as a host sees
 * them that looks every @poll_ms, and to which each takes @way_ms: before the run
 * RECEIPT at 1 s, RUN_START at 1.01 s, a heartbeat halfway, RUN_END after
 * @run_ms, END right behind it.
 */
static struct clock_marks observed(double rate, uint64_t run_ms,
				   uint64_t poll_ms, uint64_t way_ms)
{
	const uint64_t made_ms[] = { 1000, 1010, 1010 + run_ms / 2,
				     1010 + run_ms, 1015 + run_ms + way_ms };
	struct clock_marks m = { 0 };

	for (size_t i = 0; i < 5; i++) {
		uint64_t written_ms = made_ms[i] + way_ms;

		clock_marks_add(&m, (struct clock_mark){
			.guest_ns = (uint64_t)((double)(made_ms[i] * MS) * rate),
			.absent_ns = (written_ms - 1) / poll_ms * poll_ms * MS,
			.written_ns = written_ms * MS,
		});
	}
	return m;
}

static double drift_of(double rate, uint64_t run_ms, uint64_t poll_ms,
		       uint64_t way_ms)
{
	CLEANUP(clock_marks_free) struct clock_marks m =
		observed(rate, run_ms, poll_ms, way_ms);
	struct clock_span s = clock_between(&m, 1, 3);
	double drift;

	assert_true(s.host_min <= run_ms * MS);
	assert_true(s.host_max >= run_ms * MS);
	return clock_drifts(&s, &drift) ? drift : 0;
}

static void good_clock_is_never_accused(void **state)
{
	static const uint64_t runs_ms[] = { 20, 1000, 60000, 3600000 };
	static const uint64_t polls_ms[] = { 1, 50, 250, 3000 };
	static const uint64_t ways_ms[] = { 0, 3, 400, 5000 };

	(void)state;
	for (size_t r = 0; r < 4; r++)
		for (size_t p = 0; p < 4; p++)
			for (size_t w = 0; w < 4; w++) {
				uint64_t run = runs_ms[r], poll = polls_ms[p];

				assert_true(drift_of(1, run, poll, ways_ms[w]) == 0);
				assert_true(drift_of(1.0009, run, poll, ways_ms[w]) == 0);
				assert_true(drift_of(0.9991, run, poll, ways_ms[w]) == 0);
			}
}

static void drift_beyond_the_resolution_is_found(void **state)
{
	(void)state;
	/* 0.05 s of resolution at both ends is 0.17 % of a minute */
	assert_true(drift_of(1.004, 60000, 50, 2) > 0.001);
	assert_true(drift_of(0.996, 60000, 50, 2) < -0.001);
	assert_true(drift_of(1.002, 600000, 50, 2) > 0.001);
	assert_true(drift_of(0.998, 600000, 50, 2) < -0.001);
	assert_true(drift_of(2, 1000, 50, 2) > 0.8);
	assert_true(drift_of(0.5, 1000, 50, 2) < -0.4);
	/* and what is said to be sure is no more than the truth */
	assert_true(drift_of(1.02, 60000, 50, 2) < 0.0201);
	assert_true(drift_of(0.98, 60000, 50, 2) > -0.0201);
}

static void short_run_is_not_accused(void **state)
{
	(void)state;
	/* 0.5 % of 2 s is 10 ms, less than the bounds can tell */
	assert_true(drift_of(1.005, 2000, 50, 2) == 0);
	assert_true(drift_of(0.995, 2000, 50, 2) == 0);
	/* a host that looked every 3 s knows nothing of a run of 2 s */
	assert_true(drift_of(1.5, 2000, 3000, 2) == 0);
}

/* The first record of all, the last one of all: bounds that there are not */
static void ends_of_the_journal(void **state)
{
	CLEANUP(clock_marks_free) struct clock_marks m = { 0 };
	struct clock_span s;
	double drift;

	(void)state;
	clock_marks_add(&m, (struct clock_mark){ 5 * S, 0, 100 * S });
	clock_marks_add(&m, (struct clock_mark){ 15 * S, 109 * S, 110 * S });
	s = clock_between(&m, 0, 1);
	assert_int_equal(s.guest, 10 * S);
	assert_int_equal(s.host_min, 0);
	assert_int_equal(s.host_max, 110 * S);
	assert_false(clock_drifts(&s, &drift));
	/* A guest's clock that went back is no figure to reckon with. */
	m.v[1].guest_ns = 4 * S;
	s = clock_between(&m, 0, 1);
	assert_int_equal(s.guest, 0);
}

/* --- the file as a witness ------------------------------------------------------ */

static void mtime_tells_when(void **state)
{
	cleanup_free char *tmp = scratch_dir();
	cleanup_free char *path = xasprintf("%s/j", tmp);
	cleanup_close int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct timespec old = { .tv_sec = 1000, .tv_nsec = 5 };
	struct timespec times[2] = { old, old };
	struct clock_file f;
	uint64_t before, after, seen;

	(void)state;
	clock_file_init(&f, path, fd);
	if (!f.trusted)
		skip();
	before = clock_now_ns();
	assert_int_equal(write(fd, "x", 1), 1);
	after = clock_now_ns();
	usleep(300000);
	seen = clock_file_written(&f, clock_now_ns());
	assert_true(seen >= before);
	assert_true(seen <= after + 60 * MS);
	/* Without trust it is the look that counts. */
	f.trusted = false;
	assert_int_equal(clock_file_written(&f, 12345), 12345);
	/* A file system with another clock, or whole seconds: not trusted. */
	assert_int_equal(futimens(fd, times), 0);
	clock_file_init(&f, "/nonexistent", fd);
	assert_false(f.trusted);
	must(remove_tree(tmp, NULL), &(struct error){ 0 });
}

/* --- a forged journal ------------------------------------------------------------ */

struct forge {
	char *dir, *path;
	int fd;
	uint64_t off, seq, before_ns;
	struct journal_tail tail;
	struct noise n;
};

static int forge_begin(void **state)
{
	struct forge *f = xcalloc(1, sizeof(*f));
	struct error err = { 0 };

	f->dir = scratch_dir();
	f->path = xasprintf("%s/j", f->dir);
	must(journal_create(f->path, RUN_A, "run=io_load\n", "{}", &err), &err);
	f->fd = open(f->path, O_RDWR | O_CLOEXEC);
	f->off = JOURNAL_LOG_OFF;
	f->tail = (struct journal_tail){ .fd = f->fd, .off = f->off };
	noise_init(&f->n, "/nonexistent", "/nonexistent", "none", false,
		   f->path, f->fd);
	*state = f;
	return 0;
}

static int forge_end(void **state)
{
	struct forge *f = *state;

	noise_free(&f->n);
	close(f->fd);
	must(remove_tree(f->dir, NULL), &(struct error){ 0 });
	free(f->dir);
	free(f->path);
	free(f);
	return 0;
}

/* forge() - the guest writes a record at @t_ns of its clock, and the host looks
 * before and after */
static void forge(struct forge *f, enum journal_type type, uint64_t t_ns,
		  const char *payload)
{
	struct {
		struct journal_record head;
		char text[JOURNAL_BLOCK - sizeof(struct journal_record)];
	} block = { .head = {
		.magic = JOURNAL_RECORD_MAGIC, .type = type, .seq = f->seq++,
		.len = (uint32_t)strlen(payload), .t_ns = t_ns,
	} };
	struct journal_entry e;
	struct error err = { 0 };

	memcpy(block.text, payload, strlen(payload));
	block.head.crc = crc32c(0, &block, sizeof(block.head) + block.head.len);
	noise_absent(&f->n, clock_now_ns());
	must(full_pwrite(f->fd, &block, sizeof(block), (off_t)f->off, f->path,
			 &err), &err);
	f->off += sizeof(block);
	assert_int_equal(journal_next(&f->tail, &e, &err), 1);
	noise_record(&f->n, &e);
	free(e.payload);
}

/* A run that takes 0.3 s of the host's time and @guest_ns of the guest's */
static void forge_run(struct forge *f, uint64_t guest_ns)
{
	forge(f, JOURNAL_RECEIPT, 1 * S, "{}");
	forge(f, JOURNAL_RUN_START, 1 * S + 1,
	      "{\"run\":1,\"load\":\"io_load\",\"index\":1}");
	usleep(300000);
	forge(f, JOURNAL_RUN_END, 1 * S + guest_ns,
	      "{\"run\":1,\"load\":\"io_load\",\"index\":1,\"verdict\":\"ok\"}");
	forge(f, JOURNAL_END, 1 * S + guest_ns + 1, "{}");
}

static enum verdict judged(struct forge *f, enum verdict v, const char *evidence)
{
	CLEANUP(buf_free) struct buf b = { 0 };

	buf_adds(&b, "END was written");
	noise_judge(&f->n, &v, &b);
	if (!strstr(b.data, evidence))
		fail_msg("no '%s' in '%s'", evidence, b.data);
	assert_non_null(strstr(b.data, "END was written"));
	assert_null(strchr(b.data, '\n'));
	return v;
}

static void fast_clock_is_clock_drift(void **state)
{
	struct forge *f = *state;

	forge_run(f, 3600 * S);
	assert_int_equal(judged(f, VERDICT_OK, "run 1, io_load, took 3600.000 s by the guest's clock"),
			 VERDICT_CLOCK_DRIFT);
	assert_int_equal(judged(f, VERDICT_HUNG, "without that: hung, END"),
			 VERDICT_CLOCK_DRIFT);
	assert_int_equal(judged(f, VERDICT_PROFILE_MISMATCH, "END"),
			 VERDICT_PROFILE_MISMATCH);
	/* In exact mode the guest's time is its own. */
	f->n.exact = true;
	assert_int_equal(judged(f, VERDICT_OK, "END"), VERDICT_OK);
}

static void slow_clock_is_clock_drift(void **state)
{
	struct forge *f = *state;

	forge_run(f, S / 1000);
	assert_int_equal(judged(f, VERDICT_OK, "took 0.001 s by the guest's clock"),
			 VERDICT_CLOCK_DRIFT);
}

static void right_clock_is_ok(void **state)
{
	struct forge *f = *state;
	uint64_t t0 = clock_now_ns();

	for (int i = 1; i <= 3; i++) {
		cleanup_free char *run = xasprintf("{\"run\":%d,\"load\":\"io_load\"}", i);

		forge(f, JOURNAL_RUN_START, clock_now_ns() - t0 + S, run);
		usleep(50000);
		forge(f, JOURNAL_HEARTBEAT, clock_now_ns() - t0 + S, "{}");
		usleep(50000);
		forge(f, JOURNAL_RUN_END, clock_now_ns() - t0 + S, run);
	}
	assert_int_equal(judged(f, VERDICT_OK, "END"), VERDICT_OK);
}

/* What VERDICT's host gets */
static void receipt_of_a_run(void **state)
{
	struct forge *f = *state;
	json_auto_t *host = json_object(), *small = json_object();
	json_auto_t *exact = json_object();
	const json_t *run;
	int64_t guest, min, max;

	forge_run(f, S * 3 / 10);
	noise_json(&f->n, host, 10000);
	assert_int_equal(json_array_size(json_object_get(host, "noise")), 1);
	assert_null(json_object_get(host, "governor"));
	assert_null(json_object_get(host, "turbo"));
	assert_null(json_object_get(host, "noise_left_out"));
	run = json_array_get(json_object_get(host, "noise"), 0);
	assert_int_equal(json_integer_value(json_object_get(run, "run")), 1);
	/* There was no /proc: no member for it */
	assert_null(json_object_get(run, "vcpu_wait_ns"));
	assert_null(json_object_get(run, "host_busy_ns"));
	assert_true(json_integer_value(json_object_get(run, "window_ns")) >=
		    (json_int_t)(S * 3 / 10));
	guest = json_integer_value(json_object_get(run, "clock_guest_ns"));
	min = json_integer_value(json_object_get(run, "clock_host_min_ns"));
	max = json_integer_value(json_object_get(run, "clock_host_max_ns"));
	assert_int_equal(guest, S * 3 / 10 - 1);
	assert_true(min > 0 && min <= max && max >= (int64_t)(S * 3 / 10));
	assert_non_null(json_object_get(run, "start_late_ns"));
	assert_non_null(json_object_get(run, "end_late_ns"));
	/* No room: said so */
	noise_json(&f->n, small, 10);
	assert_int_equal(json_array_size(json_object_get(small, "noise")), 0);
	assert_int_equal(json_integer_value(json_object_get(small,
		"noise_left_out")), 1);
	f->n.exact = true;
	noise_json(&f->n, exact, 10000);
	run = json_array_get(json_object_get(exact, "noise"), 0);
	assert_non_null(json_object_get(run, "window_ns"));
	assert_null(json_object_get(run, "clock_guest_ns"));
}

/* A run that never ended, an end without a start, JSON that is none */
static void odd_records(void **state)
{
	struct forge *f = *state;
	json_auto_t *host = json_object();

	forge(f, JOURNAL_RUN_END, 1 * S, "{\"run\":1}");
	forge(f, JOURNAL_RUN_START, 2 * S, "{");
	forge(f, JOURNAL_RUN_START, 3 * S, "{\"run\":2,\"bench\":\"chat\"}");
	forge(f, JOURNAL_RUN_END, 4 * S, "{\"run\":3}");
	noise_json(&f->n, host, 10000);
	assert_int_equal(json_array_size(json_object_get(host, "noise")), 0);
	assert_null(json_object_get(host, "noise_left_out"));
	assert_int_equal(judged(f, VERDICT_OK, "END"), VERDICT_OK);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, forge_begin, forge_end)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_clock_is_never_accused),
		cmocka_unit_test(drift_beyond_the_resolution_is_found),
		cmocka_unit_test(short_run_is_not_accused),
		cmocka_unit_test(ends_of_the_journal),
		cmocka_unit_test(mtime_tells_when),
		T(fast_clock_is_clock_drift),
		T(slow_clock_is_clock_drift),
		T(right_clock_is_ok),
		T(receipt_of_a_run),
		T(odd_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
