/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_journal.c - the journal on the host's side: whole, torn, damaged, live
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "results/crc32c.h"
#include "results/record.h"
#include "tests/make_journal.h"

#define PLAN "format=1\nrun=no_load\nrun=io_load\n"

struct fixture {
	char *dir, *path, *copy;
	struct error err;
};

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	f->dir = scratch_dir();
	f->path = xasprintf("%s/j", f->dir);
	f->copy = xasprintf("%s/copy", f->dir);
	must(journal_create(f->path, RUN_A, PLAN, "{\"a\":1}", &f->err),
	     &f->err);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	must(remove_tree(f->dir, &f->err), &f->err);
	free(f->dir);
	free(f->path);
	free(f->copy);
	free(f);
	return 0;
}

static void poke(const char *path, off_t off, const void *data, size_t len)
{
	int fd = open(path, O_RDWR);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, data, len, off), (ssize_t)len);
	close(fd);
}

static void poke_super(const char *path, struct journal_super s)
{
	s.crc = 0;
	s.crc = crc32c(0, &s, sizeof(s));
	poke(path, 0, &s, sizeof(s));
}

static void crc_known_value(void **state)
{
	(void)state;
	assert_int_equal(crc32c(0, "123456789", 9), 0xe3069283u);
	assert_int_equal(crc32c(crc32c(0, "1234", 4), "56789", 5), 0xe3069283u);
}

static void reads_what_was_written(void **state)
{
	struct fixture *f = *state;
	struct journal j;
	struct stat st;
	char *big = xcalloc(1, 5001);

	memset(big, 'x', 5000);
	append(f->path, JOURNAL_RECEIPT, "{}");
	append(f->path, JOURNAL_LOG, big);
	append(f->path, JOURNAL_END, "{\"runs\":0}");
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_size, JOURNAL_DISK_BYTES);
	assert_true(st.st_blocks * 512 < JOURNAL_DISK_BYTES / 8);

	must(journal_read(f->path, &j, &f->err), &f->err);
	assert_string_equal(j.super.run_id, RUN_A);
	assert_string_equal(j.plan, PLAN);
	assert_string_equal(j.context, "{\"a\":1}");
	assert_int_equal(j.entries.n, 3);
	assert_int_equal(j.entries.v[0].type, JOURNAL_RECEIPT);
	assert_string_equal(j.entries.v[1].payload, big);
	assert_int_equal(j.entries.v[2].seq, 2);
	assert_int_equal(j.entries.v[2].t_ns, 0);
	/* 4 KiB, 8 KiB, 4 KiB */
	assert_int_equal(j.end, JOURNAL_LOG_OFF + 16384);
	assert_false(j.torn);
	journal_free(&j);
	free(big);
}

static void torn_tail_is_no_error(void **state)
{
	struct fixture *f = *state;
	struct journal j;

	append(f->path, JOURNAL_RECEIPT, "{}");
	append(f->path, JOURNAL_LOG, "{\"text\":\"half\"}");
	poke(f->path, JOURNAL_LOG_OFF + 4096 + 40, "#", 1);
	must(journal_read(f->path, &j, &f->err), &f->err);
	assert_int_equal(j.entries.n, 1);
	assert_true(j.torn);
	journal_free(&j);

	/* The host's verdict takes its place, and nothing stale stays behind. */
	poke(f->path, JOURNAL_LOG_OFF + 5 * 4096, "stale", 5);
	append(f->path, JOURNAL_VERDICT, "{\"verdict\":\"killed\"}");
	must(journal_read(f->path, &j, &f->err), &f->err);
	assert_int_equal(j.entries.n, 2);
	assert_int_equal(j.entries.v[1].type, JOURNAL_VERDICT);
	assert_int_equal(j.entries.v[1].seq, 1);
	assert_false(j.torn);
	journal_free(&j);
}

/* Each kind of damage to a record's header ends the journal there. */
static void bad_records_end_it(void **state)
{
	struct fixture *f = *state;
	static const struct {
		size_t off;
		uint32_t value;
	} damage[] = {
		{ offsetof(struct journal_record, magic), 1 },
		{ offsetof(struct journal_record, type), 77 },
		{ offsetof(struct journal_record, len), 0xffffffff },
		{ offsetof(struct journal_record, len), JOURNAL_PAYLOAD_MAX },
		{ offsetof(struct journal_record, crc), 1 },
		{ offsetof(struct journal_record, seq), 9 },
	};

	append(f->path, JOURNAL_RECEIPT, "{}");
	append(f->path, JOURNAL_LOG, "{}");
	for (size_t i = 0; i < sizeof(damage) / sizeof(damage[0]); i++) {
		off_t off = JOURNAL_LOG_OFF + 4096 + (off_t)damage[i].off;
		uint32_t old;
		struct journal j;
		int fd = open(f->path, O_RDONLY);

		assert_int_equal(pread(fd, &old, 4, off), 4);
		close(fd);
		poke(f->path, off, &damage[i].value, 4);
		must(journal_read(f->path, &j, &f->err), &f->err);
		assert_int_equal(j.entries.n, 1);
		assert_true(j.torn);
		journal_free(&j);
		poke(f->path, off, &old, 4);
	}
}

/* Cut at any length: an error for the header, else as many records as fit. */
static void cut_anywhere(void **state)
{
	struct fixture *f = *state;

	append(f->path, JOURNAL_RECEIPT, "{}");
	append(f->path, JOURNAL_END, "{}");
	for (off_t len = JOURNAL_LOG_OFF + 8192; len >= 0;
	     len -= len > 140 ? 127 : 1) {
		struct journal j;
		int ret;

		assert_int_equal(truncate(f->path, len), 0);
		ret = journal_read(f->path, &j, &f->err);
		if (len < JOURNAL_CONTEXT_OFF + 7) {
			assert_int_equal(ret, -1);
			assert_non_null(strstr(f->err.text, f->path));
			continue;
		}
		assert_int_equal(ret, 0);
		assert_int_equal(j.entries.n,
				 (len >= JOURNAL_LOG_OFF + 34) +
				 (len >= JOURNAL_LOG_OFF + 4096 + 34));
		journal_free(&j);
	}
}

static void header_error_names_field(void **state)
{
	struct fixture *f = *state;
	struct journal_super good, s;
	struct journal j;
	int fd = open(f->path, O_RDONLY);

	assert_int_equal(pread(fd, &good, sizeof(good), 0), sizeof(good));
	close(fd);
#define EXPECT(field)							\
	do {								\
		assert_int_equal(journal_read(f->path, &j, &f->err), -1); \
		assert_non_null(strstr(f->err.text, field));		\
		assert_non_null(strstr(f->err.text, f->path));		\
		assert_null(strchr(f->err.text, '\n'));			\
		s = good;						\
	} while (0)

	s = good;
	s.magic[0] = 'x';
	poke_super(f->path, s);
	EXPECT("magic");
	s.version = JOURNAL_VERSION + 1;
	poke_super(f->path, s);
	EXPECT("version");
	s.plan_len = JOURNAL_PLAN_MAX + 1;
	poke_super(f->path, s);
	EXPECT("plan_len");
	s.context_len = 0xffffffff;
	poke_super(f->path, s);
	EXPECT("context_len");
	memset(s.run_id, 'a', sizeof(s.run_id));
	poke_super(f->path, s);
	EXPECT("run_id");
	s.plan_digest[0] ^= 1;
	poke_super(f->path, s);
	EXPECT("plan_digest");
	s.crc ^= 1;
	poke(f->path, 0, &s, sizeof(s));
	EXPECT("field crc");
	poke_super(f->path, good);
	must(journal_read(f->path, &j, &f->err), &f->err);
	journal_free(&j);
}

static void refuses_what_is_no_file(void **state)
{
	struct fixture *f = *state;
	struct journal j;

	assert_int_equal(mkfifo(f->copy, 0600), 0);
	assert_int_equal(journal_read(f->copy, &j, &f->err), -1);
	assert_non_null(strstr(f->err.text, "neither a file nor a disk"));
	assert_int_equal(journal_read(f->dir, &j, &f->err), -1);
	assert_int_equal(journal_read("/nonexistent/j", &j, &f->err), -1);
	assert_non_null(strstr(f->err.text, "/nonexistent/j"));
}

static void follows_a_live_file(void **state)
{
	struct fixture *f = *state;
	struct journal_tail t = { open(f->path, O_RDONLY), JOURNAL_LOG_OFF, 0 };
	struct journal_entry e;

	assert_int_equal(journal_next(&t, &e, &f->err), 0);
	append(f->path, JOURNAL_RECEIPT, "{\"x\":1}");
	assert_int_equal(journal_next(&t, &e, &f->err), 1);
	assert_int_equal(e.type, JOURNAL_RECEIPT);
	assert_string_equal(e.payload, "{\"x\":1}");
	free(e.payload);
	assert_int_equal(journal_next(&t, &e, &f->err), 0);
	append(f->path, JOURNAL_HEARTBEAT, "{}");
	assert_int_equal(journal_next(&t, &e, &f->err), 1);
	assert_int_equal(e.seq, 1);
	free(e.payload);
	close(t.fd);
	t.fd = -1;
	assert_int_equal(journal_next(&t, &e, &f->err), -1);
}

static void limits_of_create(void **state)
{
	struct fixture *f = *state;
	char *big = xcalloc(1, JOURNAL_CONTEXT_MAX + 2);

	memset(big, 'x', JOURNAL_PLAN_MAX + 1);
	assert_int_equal(journal_create(f->copy, RUN_A, big, "{}", &f->err), -1);
	assert_non_null(strstr(f->err.text, "plan"));
	memset(big, 'x', JOURNAL_CONTEXT_MAX + 1);
	assert_int_equal(journal_create(f->copy, RUN_A, "", big, &f->err), -1);
	assert_non_null(strstr(f->err.text, "context"));
	assert_false(path_exists(f->copy));
	assert_int_equal(journal_append(f->path, JOURNAL_LOG, big, &f->err), -1);
	free(big);
}

static void copy_has_the_digest_of_its_bytes(void **state)
{
	struct fixture *f = *state;
	char id[SHA256_HEX], again[SHA256_HEX];
	struct stat st;
	struct journal j;

	append(f->path, JOURNAL_END, "{}");
	must(journal_store_copy(f->path, f->copy, id, &f->err), &f->err);
	assert_int_equal(stat(f->copy, &st), 0);
	assert_int_equal(st.st_size, JOURNAL_LOG_OFF + 4096);
	assert_true(st.st_blocks * 512 < JOURNAL_LOG_OFF / 4);
	must(sha256_file(f->copy, again, &f->err), &f->err);
	assert_string_equal(id, again);
	must(journal_read(f->copy, &j, &f->err), &f->err);
	assert_int_equal(j.entries.n, 1);
	journal_free(&j);
}

/* --- records ---------------------------------------------------------------- */

static void new_journal(struct fixture *f)
{
	char *ctx = context_json(RUN_A, "6.1", 0, 1, 1, "2026-01-31T10:00:00Z",
				 "[\"no_load\",\"io_load\"]");

	must(journal_create(f->path, RUN_A, PLAN, ctx, &f->err), &f->err);
	free(ctx);
}

static void boot_ends(struct fixture *f, enum verdict want)
{
	struct boot_record b;

	must(boot_record_load(f->path, &b, &f->err), &f->err);
	assert_string_equal(verdict_name(b.verdict), verdict_name(want));
	assert_int_equal(b.runs.n, 2);
	boot_record_free(&b);
}

static void only_end_is_success(void **state)
{
	struct fixture *f = *state;

	new_journal(f);
	boot_ends(f, VERDICT_BOOT_FAILED);
	append(f->path, JOURNAL_RECEIPT, "{}");
	boot_ends(f, VERDICT_KILLED);
	append(f->path, JOURNAL_VERDICT, "{\"verdict\":\"ok\"}");
	boot_ends(f, VERDICT_UNFINISHED);

	new_journal(f);
	append(f->path, JOURNAL_RECEIPT, "{}");
	append(f->path, JOURNAL_END, "{}");
	boot_ends(f, VERDICT_OK);
	append(f->path, JOURNAL_VERDICT, "{\"verdict\":\"profile-mismatch\"}");
	boot_ends(f, VERDICT_PROFILE_MISMATCH);

	new_journal(f);
	append(f->path, JOURNAL_ERROR,
	       "{\"verdict\":\"no-space\",\"message\":\"full\"}");
	boot_ends(f, VERDICT_NO_SPACE);

	new_journal(f);
	append(f->path, JOURNAL_END, "{}");
	append(f->path, JOURNAL_VERDICT, "{\"verdict\":\"sulking\"}");
	boot_ends(f, VERDICT_UNFINISHED);
}

static void runs_are_typed(void **state)
{
	struct fixture *f = *state;
	struct boot_record b;
	const struct run_record *r;
	char *why;

	new_journal(f);
	append(f->path, JOURNAL_RECEIPT, "{\"guest\":\"1\"}");
	append_run(f->path, &(struct made_run){ 1, "no_load", "ok", 1234567890123,
						5, 6, 7, 8 });
	append(f->path, JOURNAL_RUN_START, "{\"run\":2,\"load\":\"io_load\"}");
	append(f->path, JOURNAL_VERDICT,
	       "{\"verdict\":\"panic\",\"evidence\":\"Oh\"}");
	must(boot_record_load(f->path, &b, &f->err), &f->err);
	assert_int_equal(b.started_us, INT64_C(1769853600000000));
	r = &b.runs.v[0];
	assert_true(run_good(&b, r));
	assert_int_equal(r->fig[FIG_WALL_NS], 1234567890123);
	assert_int_equal(r->fig[FIG_LOAD_SYSTEM_NS], 6);
	assert_int_equal(r->fig[FIG_COUNT_PER_LOAD], 8);
	assert_true(r->fig[FIG_CTXT] == FIGURE_NONE);
	r = &b.runs.v[1];
	assert_false(run_good(&b, r));
	assert_true(r->started && !r->ended);
	why = run_failure(&b, r);
	assert_string_equal(why, "unfinished, boot panic: Oh");
	free(why);
	boot_record_free(&b);
}

static void bad_figures_void_the_run(void **state)
{
	struct fixture *f = *state;
	static const char *const ends[] = {
		"{\"run\":1,\"load\":\"no_load\",\"verdict\":\"ok\"}",
		"{\"run\":1,\"load\":\"no_load\",\"verdict\":\"ok\",\"wall_ns\":-1}",
		"{\"run\":1,\"load\":\"no_load\",\"verdict\":\"ok\",\"wall_ns\":1.5}",
		"{\"run\":1,\"load\":\"no_load\",\"verdict\":\"fine\",\"wall_ns\":1}",
		"{\"run\":1,\"load\":\"no_load\",\"verdict\":\"ok\",\"wall_ns\":1,\"vm\":{\"pswpin\":\"x\"}}",
		"{\"run\":1,\"load\":\"no_load\",\"verdict\":\"timed-out\",\"wall_ns\":1}",
		"{\"run\":1,",
		"[]",
		"{\"run\":\"1\"}",
	};

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct boot_record b;

		new_journal(f);
		append(f->path, JOURNAL_RECEIPT, "nonsense");
		append(f->path, JOURNAL_RUN_END, ends[i]);
		append(f->path, JOURNAL_END, "{}");
		must(boot_record_load(f->path, &b, &f->err), &f->err);
		assert_int_equal(b.runs.n, 2);
		assert_false(run_good(&b, &b.runs.v[0]));
		boot_record_free(&b);
	}
}

/* Any byte of a payload or the context may be anything: no crash, and what
 * cannot be understood counts as good in no case. */
static void changed_bytes(void **state)
{
	struct fixture *f = *state;
	static const char good[] = "{\"run\":1,\"load\":\"no_load\",\"index\":1,\"verdict\":\"ok\",\"wall_ns\":99,\"job\":{\"user_ns\":5,\"exit\":0}}";
	static const char with[] = "\"{}[],:\\\xff\x01-9eE. n";
	char *ctx = context_json(RUN_A, "6.1", 0, 1, 1, "2026-01-31T10:00:00Z",
				 "[\"no_load\"]");
	char *start = strdup(ctx), rec[sizeof(good)];
	struct boot_record b;

	for (size_t i = 0; i < strlen(ctx) + sizeof(good) - 1; i += 5) {
		char c = with[(i * 7) % (sizeof(with) - 1)];

		strcpy(start, ctx);
		strcpy(rec, good);
		if (i < strlen(ctx))
			start[i] = c;
		else
			rec[i - strlen(ctx)] = c;
		must(journal_create(f->path, RUN_A, PLAN, start, &f->err),
		     &f->err);
		append(f->path, JOURNAL_RUN_END, rec);
		append(f->path, JOURNAL_END, rec);
		if (boot_record_load(f->path, &b, &f->err)) {
			assert_true(i < strlen(ctx));
			assert_null(strchr(f->err.text, '\n'));
			continue;
		}
		assert_true(b.runs.n >= 2);
		if (run_good(&b, &b.runs.v[0]))
			assert_true(b.runs.v[0].fig[FIG_WALL_NS] > 0);
		boot_record_free(&b);
	}
	free(start);
	free(ctx);
}

static void bad_context_is_named(void **state)
{
	struct fixture *f = *state;
	struct boot_record b;

	must(journal_create(f->path, RUN_A, PLAN, "{", &f->err), &f->err);
	assert_int_equal(boot_record_load(f->path, &b, &f->err), -1);
	assert_non_null(strstr(f->err.text, "context"));
	must(journal_create(f->path, RUN_A, PLAN, "{\"plan\":{\"name\":\"x\"}}",
			    &f->err), &f->err);
	assert_int_equal(boot_record_load(f->path, &b, &f->err), -1);
	assert_non_null(strstr(f->err.text, "kernel.label"));
	assert_non_null(strstr(f->err.text, f->path));
}

static void verdicts_have_names(void **state)
{
	(void)state;
	for (int i = 0; i < VERDICT_COUNT; i++) {
		enum verdict v;

		assert_true(verdict_parse(verdict_name((enum verdict)i), &v));
		assert_int_equal(v, i);
		assert_int_equal(verdict_exit(v), i ? 10 + i : 0);
	}
	assert_false(verdict_parse("nonsense", &(enum verdict){ VERDICT_OK }));
	assert_false(verdict_parse(NULL, &(enum verdict){ VERDICT_OK }));
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(crc_known_value),
		cmocka_unit_test(verdicts_have_names),
		T(reads_what_was_written), T(torn_tail_is_no_error),
		T(bad_records_end_it), T(cut_anywhere),
		T(header_error_names_field), T(refuses_what_is_no_file),
		T(follows_a_live_file), T(limits_of_create),
		T(copy_has_the_digest_of_its_bytes), T(only_end_is_success),
		T(runs_are_typed), T(bad_figures_void_the_run),
		T(bad_context_is_named), T(changed_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
