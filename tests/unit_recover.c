/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_recover.c - what a killed kontest left gets to its store, once
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>
#include <fcntl.h>

#include <cmocka.h>

#include "host/recover.h"
#include "results/store.h"
#include "tests/make_journal.h"

struct fixture {
	char *dir, *run, *lock, *db;
};

/* A process id that is certainly nobody's: that of a child already reaped. */
static pid_t dead_pid(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return pid;
}

static void write_lock(const struct fixture *f, pid_t pid)
{
	struct error err = { 0 };
	char *text = xasprintf("%d\n%s\n", (int)pid, f->db);

	must(file_write(f->lock, text, strlen(text), &err), &err);
	free(text);
}

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	struct error err = { 0 };
	char *context = context_json(RUN_A, "k", 0, 1, 1, "2026-01-01T00:00:00Z",
				     "[\"no_load\"]");
	char *boot, *journal;

	f->dir = scratch_dir();
	f->run = xasprintf("%s/running/%s", f->dir, RUN_A);
	f->lock = xasprintf("%s/lock", f->run);
	f->db = xasprintf("%s/store/results.db", f->dir);
	boot = xasprintf("%s/1", f->run);
	journal = xasprintf("%s/journal", boot);
	must(make_dirs(boot, &err), &err);
	must(journal_create(journal, RUN_A, "run=no_load\n", context, &err), &err);
	append(journal, JOURNAL_RECEIPT, "{}");
	append(journal, JOURNAL_RUN_START, "{\"run\":1,\"load\":\"no_load\",\"index\":1}");
	write_lock(f, dead_pid());
	free(context);
	free(boot);
	free(journal);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	struct error err = { 0 };

	must(remove_tree(f->dir, &err), &err);
	free(f->dir);
	free(f->run);
	free(f->lock);
	free(f->db);
	free(f);
	return 0;
}

/* How many journals of RUN_A the store has; the verdict of the first in @v. */
static size_t stored(const struct fixture *f, enum verdict *v)
{
	struct strings paths = { 0 };
	struct store *s = NULL;
	struct error err = { 0 };
	size_t n;

	must(store_open(f->db, &s, &err), &err);
	if (store_boots(s, RUN_A, &paths, NULL) < 0)
		paths.n = 0;
	n = paths.n;
	if (n)
		assert_true(journal_verdict(paths.v[0], v, NULL, &err));
	strings_clear(&paths);
	store_close(s);
	return n;
}

static void left_behind_is_stored_as_killed(void **state)
{
	struct fixture *f = *state;
	enum verdict v = VERDICT_OK;

	recover_boots(f->dir);
	assert_int_equal(stored(f, &v), 1);
	assert_int_equal(v, VERDICT_KILLED);
	assert_false(path_exists(f->run));
	recover_boots(f->dir);
	assert_int_equal(stored(f, &v), 1);
}

static void what_is_being_measured_is_left_alone(void **state)
{
	struct fixture *f = *state;
	enum verdict v;
	int fd;

	write_lock(f, getpid());
	fd = open(f->lock, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	recover_boots(f->dir);
	assert_true(path_exists(f->run));
	assert_int_equal(stored(f, &v), 0);
	close(fd);
}

static void what_cannot_be_stored_stays(void **state)
{
	struct fixture *f = *state;
	struct error err = { 0 };
	char *in_the_way = xasprintf("%s/store", f->dir);

	must(file_write(in_the_way, "", 0, &err), &err);
	recover_boots(f->dir);
	assert_true(path_exists(f->lock));
	free(in_the_way);
}

static void a_directory_without_a_lock_is_given_time(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(unlink(f->lock), 0);
	recover_boots(f->dir);
	assert_true(path_exists(f->run));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(left_behind_is_stored_as_killed,
						setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_being_measured_is_left_alone,
						setup, teardown),
		cmocka_unit_test_setup_teardown(what_cannot_be_stored_stays,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_directory_without_a_lock_is_given_time,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
