/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run_load.h - a load that runs for a moment on this host, for unit tests
 */
#ifndef KONTEST_RUN_LOAD_H
#define KONTEST_RUN_LOAD_H

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "loads/load.h"

/* Far beyond what anything here takes: only a hang gets that far */
#define PATIENCE_MS 60000

struct running {
	struct load_shared *shared;
	struct load_args args;
	char dir[1024];
	pid_t pid;
};

static inline void nap(void)
{
	const struct timespec t = { .tv_nsec = 2000000 };

	nanosleep(&t, NULL);
}

static inline void setup(struct running *r, unsigned int cpus, uint64_t size)
{
	const char *tmp = getenv("TMPDIR");

	memset(r, 0, sizeof(*r));
	r->shared = mmap(NULL, sizeof(*r->shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(r->shared, MAP_FAILED);
	snprintf(r->dir, sizeof(r->dir), "%s/kontest-loads-XXXXXX",
		 tmp != NULL ? tmp : "/tmp");
	assert_non_null(mkdtemp(r->dir));
	r->args.shared = r->shared;
	r->args.dir = r->dir;
	r->args.tree = r->dir;
	r->args.cpus = cpus;
	r->args.mem = 256 << 20;
	r->args.size = size;
}

static inline void teardown(struct running *r)
{
	/* Fails when the load has left a file behind */
	assert_int_equal(rmdir(r->dir), 0);
	assert_int_equal(munmap(r->shared, sizeof(*r->shared)), 0);
}

static inline void start(struct running *r, const char *name, rlim_t file_max)
{
	const struct load_ops *ops = load_find(name);
	struct rlimit lim = { file_max, file_max };

	assert_non_null(ops);
	assert_non_null(ops->run);
	assert_int_equal(fflush(NULL), 0);
	r->pid = fork();
	assert_true(r->pid >= 0);
	if (r->pid > 0)
		return;
	/* It ends with a test that has failed */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
		_exit(98);
	if (file_max != 0 && (signal(SIGXFSZ, SIG_IGN) == SIG_ERR ||
			      setrlimit(RLIMIT_FSIZE, &lim) != 0))
		_exit(99);
	_exit(ops->run(&r->args) == 0 ? 0 : 1);
}

static inline uint64_t done(const struct running *r)
{
	return atomic_load_explicit(&r->shared->done, memory_order_relaxed);
}

/* Waits until @r has done more than @n */
static inline void wait_done(const struct running *r, uint64_t n)
{
	for (int ms = 0; done(r) <= n; ms += 2) {
		assert_true(ms < PATIENCE_MS);
		assert_int_equal(atomic_load(&r->shared->failed), 0);
		nap();
	}
}

/* Return: wait status of the load's process */
static inline int wait_end(const struct running *r)
{
	int status = 0;

	for (int ms = 0; waitpid(r->pid, &status, WNOHANG) == 0; ms += 2) {
		if (ms >= PATIENCE_MS) {
			kill(r->pid, SIGKILL);
			waitpid(r->pid, NULL, 0);
			fail_msg("the load did not end");
		}
		nap();
	}
	return status;
}

static inline void stop_well(struct running *r)
{
	int status;

	atomic_store(&r->shared->stop, 1);
	status = wait_end(r);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(atomic_load(&r->shared->failed), 0);
}

static inline void must_have_failed(struct running *r, int err, const char *say)
{
	int status = wait_end(r);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_int_equal(atomic_load(&r->shared->failed), err);
	if (strstr(r->shared->message, say) == NULL)
		fail_msg("'%s' does not say '%s'", r->shared->message, say);
	assert_non_null(strstr(r->shared->message, strerror(err)));
}

#endif
