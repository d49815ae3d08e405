/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "results/base/clock.h"
#include "results/base/worker.h"
#include "results/base/cleanup.h"

static int succeeds(void *data, struct error *err)
{
	(void)err;
	return write(*(int *)data, "done", 4) == 4 ? 0 : -1;
}

static int fails(void *data, struct error *err)
{
	return error_set(err, 0, "of %s:\nno luck", (const char *)data);
}

static int dies(void *data, struct error *err)
{
	(void)data;
	(void)err;
	raise(SIGKILL);
	return 0;
}

/* Starts a process of its own and deaf to SIGTERM, tells both pids, and sleeps. */
static int hangs(void *data, struct error *err)
{
	pid_t pids[2];

	(void)err;
	signal(SIGTERM, SIG_IGN);
	pids[0] = getpid();
	pids[1] = fork();
	if (pids[1] > 0 && write(*(int *)data, pids, sizeof(pids)) < 0)
		return -1;
	for (;;)
		pause();
}

static bool gone(pid_t pid)
{
	/* A grandchild becomes somebody else's, who takes its time to reap it. */
	for (int i = 0; i < 500; i++) {
		if (kill(pid, 0) < 0 && errno == ESRCH)
			return true;
		usleep(10000);
	}
	return false;
}

static void work_done(void **state)
{
	CLEANUP(worker_end) struct worker c = WORKER_NONE;
	struct error err = { 0 };
	char said[4];
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_false(worker_readable(fds[0], clock_now_s() + 0.05));
	assert_int_equal(worker_start(&c, succeeds, &fds[1], &err), 0);
	assert_true(worker_readable(fds[0], clock_now_s() + 20));
	assert_int_equal(worker_wait(&c, "work", clock_now_s() + 20, &err), 0);
	assert_int_equal(read(fds[0], said, 4), 4);
	assert_memory_equal(said, "done", 4);
	close(fds[0]);
	close(fds[1]);
}

static void work_failed(void **state)
{
	static const struct {
		int (*work)(void *data, struct error *err);
		const char *text;
	} cases[] = {
		{ fails, "of tea: no luck" },
		{ dies, "work was killed by signal 9 (Killed)" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CLEANUP(worker_end) struct worker c = WORKER_NONE;
		struct error err = { 0 };

		assert_int_equal(worker_start(&c, cases[i].work, (char *)"tea", &err), 0);
		assert_int_equal(worker_wait(&c, "work", clock_now_s() + 20, &err), -1);
		assert_string_equal(err.text, cases[i].text);
	}
}

/* Given up at the deadline; then ended, with what it has started. */
static void work_hung(void **state)
{
	struct worker c = WORKER_NONE;
	struct error err = { 0 };
	pid_t pids[2];
	double t0;
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(worker_start(&c, hangs, &fds[1], &err), 0);
	assert_int_equal(read(fds[0], pids, sizeof(pids)), sizeof(pids));
	assert_int_equal(pids[0], c.pid);
	t0 = clock_now_s();
	assert_int_equal(worker_wait(&c, "work", t0 + 0.2, &err), 1);
	assert_string_equal(err.text, "work was not done in time");
	assert_true(clock_now_s() - t0 >= 0.2);
	assert_int_equal(kill(pids[0], 0), 0);
	worker_end(&c);
	assert_int_equal(c.pid, 0);
	assert_true(gone(pids[0]));
	assert_true(gone(pids[1]));
	worker_end(&c);
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_done),
		cmocka_unit_test(work_failed),
		cmocka_unit_test(work_hung),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
