/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_store.c - the store: several writers, rebuilding, every refusal
 */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "results/record.h"
#include "results/report.h"
#include "results/store.h"
#include "tests/make_journal.h"

#define LOADS "[\"no_load\"]"

struct fixture {
	char *dir, *db, *journal, *journals;
	struct store *s;
	struct error err;
};

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	f->dir = scratch_dir();
	f->db = xasprintf("%s/sub/results.db", f->dir);
	f->journals = xasprintf("%s/sub/journals", f->dir);
	f->journal = xasprintf("%s/j", f->dir);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	store_close(f->s);
	must(remove_tree(f->dir, &f->err), &f->err);
	free(f->dir);
	free(f->db);
	free(f->journals);
	free(f->journal);
	free(f);
	return 0;
}

static void make_journal(const char *path, const char *run_id, int number,
			 const char *start)
{
	struct error err = { 0 };
	char *ctx = context_json(run_id, "6.1", 0, number, 3, start, LOADS);

	must(journal_create(path, run_id, "run=no_load\n", ctx, &err), &err);
	append(path, JOURNAL_RECEIPT, "{}");
	append_run(path, &(struct made_run){ 1, "no_load", "ok", 20000000000,
					     19000000000, 0, 0, 0 });
	finish(path);
	free(ctx);
}

static int count_journals(const char *dir)
{
	DIR *d = opendir(dir);
	int n = 0;

	assert_non_null(d);
	for (const struct dirent *de; (de = readdir(d));)
		n += de->d_name[0] != '.' || strlen(de->d_name) > 2;
	closedir(d);
	return n;
}

static size_t count_boots(struct store *s, const char *run_id)
{
	struct strings paths = { 0 };
	struct error err = { 0 };
	size_t n;

	if (store_boots(s, run_id, &paths, &err))
		assert_int_equal(paths.n, 0);
	n = paths.n;
	strings_clear(&paths);
	return n;
}

static void adds_once(void **state)
{
	struct fixture *f = *state;
	char id[SHA256_HEX], again[SHA256_HEX], run[UUID_TEXT];
	char *stored;

	must(store_open(f->db, &f->s, &f->err), &f->err);
	assert_int_equal(store_find(f->s, NULL, run, &f->err), -1);
	assert_non_null(strstr(f->err.text, "no results yet"));
	make_journal(f->journal, RUN_A, 1, "2026-01-31T10:00:00Z");
	must(store_add(f->s, f->journal, id, &f->err), &f->err);
	must(store_add(f->s, f->journal, again, &f->err), &f->err);
	assert_string_equal(id, again);
	assert_int_equal(count_boots(f->s, RUN_A), 1);
	assert_int_equal(count_journals(f->journals), 1);
	stored = xasprintf("%s/%s", f->journals, id);
	must(sha256_file(stored, again, &f->err), &f->err);
	assert_string_equal(id, again);
	free(stored);
}

static void finds_by_prefix(void **state)
{
	struct fixture *f = *state;
	char id[SHA256_HEX], run[UUID_TEXT];

	must(store_open(f->db, &f->s, &f->err), &f->err);
	/* RUN_B begins later, though it is added first and written with an
	 * earlier hour: 09:30-02:00 is 11:30 UTC */
	make_journal(f->journal, RUN_B, 1, "2026-01-31T09:30:00-02:00");
	must(store_add(f->s, f->journal, id, &f->err), &f->err);
	make_journal(f->journal, RUN_A, 1, "2026-01-31T10:00:00.25Z");
	must(store_add(f->s, f->journal, id, &f->err), &f->err);

	must(store_find(f->s, NULL, run, &f->err), &f->err);
	assert_string_equal(run, RUN_B);
	must(store_find(f->s, NULL, run, &f->err), &f->err);
	assert_string_equal(run, RUN_B);
	must(store_find(f->s, "11111", run, &f->err), &f->err);
	assert_string_equal(run, RUN_A);
	must(store_find(f->s, RUN_A, run, &f->err), &f->err);
	assert_string_equal(run, RUN_A);
	assert_int_equal(store_find(f->s, "1111", run, &f->err), -1);
	assert_non_null(strstr(f->err.text, "several"));
	assert_non_null(strstr(f->err.text, RUN_A));
	assert_non_null(strstr(f->err.text, RUN_B));
	assert_int_equal(store_find(f->s, "%", run, &f->err), -1);
	assert_non_null(strstr(f->err.text, "begins with"));
	assert_int_equal(store_find(f->s, "2", run, &f->err), -1);
}

static void lists_runs(void **state)
{
	struct fixture *f = *state;
	char id[SHA256_HEX], *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	must(store_open(f->db, &f->s, &f->err), &f->err);
	make_journal(f->journal, RUN_A, 1, "2026-01-31T10:00:00Z");
	must(store_add(f->s, f->journal, id, &f->err), &f->err);
	make_journal(f->journal, RUN_B, 1, "2026-01-31T11:00:00Z");
	append(f->journal, JOURNAL_VERDICT, "{\"verdict\":\"hung\"}");
	must(store_add(f->s, f->journal, id, &f->err), &f->err);
	must(store_list(f->s, out, &f->err), &f->err);
	fclose(out);
	assert_string_equal(text,
		RUN_B "  2026-01-31T11:00:00Z    1 boots, 1 not ok  p\n"
		RUN_A "  2026-01-31T10:00:00Z    1 boots, all ok  p\n");
	free(text);
	out = fopen("/dev/full", "w");
	assert_int_equal(store_list(f->s, out, &f->err), -1);
	fclose(out);
}

static void rebuild_skips_the_damaged(void **state)
{
	struct fixture *f = *state;
	char id[3][SHA256_HEX], *path, *log = xasprintf("%s/log", f->dir), *text;
	struct error err = { 0 };
	int saved;

	must(store_open(f->db, &f->s, &f->err), &f->err);
	for (int i = 0; i < 3; i++) {
		make_journal(f->journal, RUN_A, i + 1, "2026-01-31T10:00:00Z");
		must(store_add(f->s, f->journal, id[i], &f->err), &f->err);
	}
	path = xasprintf("%s/%s", f->journals, id[1]);
	assert_int_equal(unlink(path), 0);
	must(file_write(path, "garbage", 7, &err), &err);
	must(file_write(f->journal, "", 0, &err), &err);

	fflush(stderr);
	saved = dup(2);
	assert_non_null(freopen(log, "w", stderr));
	must(store_rebuild(f->s, &f->err), &f->err);
	fflush(stderr);
	dup2(saved, 2);
	close(saved);
	text = slurp(log);
	assert_non_null(strstr(text, id[1]));
	assert_int_equal(count_boots(f->s, RUN_A), 2);
	assert_int_equal(store_add(f->s, f->journal, id[0], &f->err), -1);
	assert_non_null(strstr(f->err.text, "not a kontest journal"));
	assert_int_equal(count_boots(f->s, RUN_A), 2);
	assert_int_equal(count_journals(f->journals), 3);
	free(text);
	free(path);
	free(log);
}

/* The index alone is lost: nothing is. */
static void rebuilds_from_nothing(void **state)
{
	struct fixture *f = *state;
	char id[SHA256_HEX];

	must(store_open(f->db, &f->s, &f->err), &f->err);
	make_journal(f->journal, RUN_A, 1, "2026-01-31T10:00:00Z");
	must(store_add(f->s, f->journal, id, &f->err), &f->err);
	store_close(f->s);
	assert_int_equal(unlink(f->db), 0);
	must(store_open(f->db, &f->s, &f->err), &f->err);
	assert_int_equal(count_boots(f->s, RUN_A), 0);
	must(store_rebuild(f->s, &f->err), &f->err);
	assert_int_equal(count_boots(f->s, RUN_A), 1);
}

#define WRITERS 6
#define BOOTS_EACH 5

static void writer(const struct fixture *f, int who)
{
	struct error err = { 0 };
	char *path = xasprintf("%s/w%d", f->dir, who);

	for (int i = 0; i < BOOTS_EACH; i++) {
		struct store *s;
		char id[SHA256_HEX];

		make_journal(path, RUN_A, who * BOOTS_EACH + i + 1,
			     "2026-01-31T10:00:00Z");
		must(store_open(f->db, &s, &err), &err);
		must(store_add(s, path, id, &err), &err);
		store_close(s);
	}
}

/* All of them also race to make the store. */
static void several_writers(void **state)
{
	struct fixture *f = *state;
	pid_t pid[WRITERS];

	for (int i = 0; i < WRITERS; i++) {
		pid[i] = fork();
		assert_true(pid[i] >= 0);
		if (pid[i] == 0) {
			alarm(100);
			writer(f, i);
			_exit(0);
		}
	}
	for (int i = 0; i < WRITERS; i++) {
		int status;

		assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
		assert_int_equal(status, 0);
	}
	must(store_open(f->db, &f->s, &f->err), &f->err);
	assert_int_equal(count_boots(f->s, RUN_A), WRITERS * BOOTS_EACH);
	assert_int_equal(count_journals(f->journals), WRITERS * BOOTS_EACH);
}

static void refuses(struct fixture *f, const char *says)
{
	assert_int_equal(store_open(f->db, &f->s, &f->err), -1);
	assert_null(f->s);
	assert_non_null(strstr(f->err.text, f->db));
	assert_non_null(strstr(f->err.text, says));
	assert_null(strchr(f->err.text, '\n'));
}

static void sql(const char *db, const char *text)
{
	sqlite3 *h;

	assert_int_equal(sqlite3_open(db, &h), SQLITE_OK);
	assert_int_equal(sqlite3_exec(h, text, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(h);
}

static void refuses_other_files(void **state)
{
	struct fixture *f = *state;
	char *text;

	must(make_dirs(f->journals, &f->err), &f->err);
	must(file_write(f->db, "this is a letter, not a database at all", 39,
			&f->err), &f->err);
	refuses(f, "not a database");
	text = slurp(f->db);
	assert_string_equal(text, "this is a letter, not a database at all");
	free(text);

	assert_int_equal(unlink(f->db), 0);
	sql(f->db, "CREATE TABLE mine (x)");
	refuses(f, "not a store of kontest");

	assert_int_equal(unlink(f->db), 0);
	must(store_open(f->db, &f->s, &f->err), &f->err);
	store_close(f->s);
	f->s = NULL;
	sql(f->db, "PRAGMA user_version = 4");
	refuses(f, "newer kontest");
	assert_non_null(strstr(f->err.text, "schema 4"));
}

/* as_user() - run @fn as nobody; false when this user may not change ids */
static bool as_user(int (*fn)(struct fixture *f), struct fixture *f)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		if (geteuid() == 0 && (setgid(65534) || setuid(65534)))
			_exit(77);
		_exit(fn(f));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		return false;
	assert_int_equal(WEXITSTATUS(status), 0);
	return true;
}

static int open_must_fail(struct fixture *f)
{
	if (!store_open(f->db, &f->s, &f->err))
		return 1;
	return strstr(f->err.text, f->db) && !strchr(f->err.text, '\n') ? 0 : 2;
}

static void read_only_directory(void **state)
{
	struct fixture *f = *state;
	char *sub = xasprintf("%s/sub", f->dir);

	assert_int_equal(chmod(f->dir, 0755), 0);
	must(make_dirs(f->journals, &f->err), &f->err);
	assert_int_equal(chmod(sub, 0555), 0);
	if (!as_user(open_must_fail, f))
		skip();
	/* ... and with an index that is there, but may not be written */
	assert_int_equal(chmod(sub, 0755), 0);
	must(store_open(f->db, &f->s, &f->err), &f->err);
	store_close(f->s);
	f->s = NULL;
	assert_int_equal(chmod(f->db, 0444), 0);
	assert_int_equal(chmod(sub, 0555), 0);
	assert_true(as_user(open_must_fail, f));
	assert_int_equal(chmod(sub, 0755), 0);
	free(sub);
}

/* A full disk, as a limit on the size of files: what was there stays, and no
 * half of a journal appears. */
static int add_must_fail(struct fixture *f)
{
	char id[SHA256_HEX];
	struct rlimit small = { 100 * 1024, 100 * 1024 };

	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &small))
		return 3;
	if (!store_add(f->s, f->journal, id, &f->err))
		return 1;
	return f->err.text[0] && !strchr(f->err.text, '\n') ? 0 : 2;
}

static void no_room_for_a_journal(void **state)
{
	struct fixture *f = *state;
	char id[SHA256_HEX];
	pid_t pid;
	int status;

	must(store_open(f->db, &f->s, &f->err), &f->err);
	make_journal(f->journal, RUN_A, 1, "2026-01-31T10:00:00Z");
	must(store_add(f->s, f->journal, id, &f->err), &f->err);
	make_journal(f->journal, RUN_A, 2, "2026-01-31T10:00:00Z");
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(add_must_fail(f));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(count_journals(f->journals), 1);
	assert_int_equal(count_boots(f->s, RUN_A), 1);
	must(store_add(f->s, f->journal, id, &f->err), &f->err);
	assert_int_equal(count_boots(f->s, RUN_A), 2);
}

/* A changed journal is left out of a report, and the report says so. */
static void changed_journal_is_left_out(void **state)
{
	struct fixture *f = *state;
	char id[2][SHA256_HEX], *path, *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	int fd;

	must(store_open(f->db, &f->s, &f->err), &f->err);
	for (int i = 0; i < 2; i++) {
		make_journal(f->journal, RUN_A, i + 1, "2026-01-31T10:00:00Z");
		must(store_add(f->s, f->journal, id[i], &f->err), &f->err);
	}
	path = xasprintf("%s/%s", f->journals, id[0]);
	assert_int_equal(chmod(path, 0644), 0);
	fd = open(path, O_WRONLY);
	assert_int_equal(pwrite(fd, "9", 1, JOURNAL_LOG_OFF + 2 * 4096 + 80), 1);
	close(fd);
	must(report_print(f->s, RUN_A, "contest-0.61", out, &f->err), &f->err);
	fclose(out);
	assert_non_null(strstr(text, "6.1 boot 1: missing, no journal"));
	assert_non_null(strstr(text, "6.1 boot 3: missing, no journal"));
	assert_null(strstr(text, "boot 2"));
	free(text);
	free(path);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(adds_once), T(finds_by_prefix), T(lists_runs),
		T(rebuild_skips_the_damaged), T(rebuilds_from_nothing),
		T(several_writers), T(refuses_other_files),
		T(read_only_directory), T(no_room_for_a_journal),
		T(changed_journal_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
