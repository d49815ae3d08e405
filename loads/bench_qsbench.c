/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_qsbench.c - processes that sort more numbers than fit into RAM
 *
 * Each fills an array with pseudo-random numbers, sorts it with a quicksort of
 * its own, and checks the result. That the kernel kills one of them for want of
 * memory is a result.
 */
#include "loads/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loads/quicksort.h"

#define PROCESSES_MAX 256
#define UNSORTED 3		/* exit status: it found its array out of order */
#define NO_MEMORY 4		/* exit status: malloc() failed */

enum { SET_PROCESSES, SET_ELEMENTS, SET_SEED };

static const struct bench_setting settings[] = {
	[SET_PROCESSES] = { .name = "processes", .min = 1,
			    .max = PROCESSES_MAX },
	[SET_ELEMENTS] = { .name = "elements", .min = 1,
			   .max = (uint64_t)1 << 40 },
	[SET_SEED] = { .name = "seed", .min = 0, .max = UINT32_MAX },
	{ .name = NULL }
};

enum {
	F_PROCESSES, F_ELEMENTS, F_BYTES, F_ELAPSED, F_USER, F_SYSTEM,
	F_MAJOR, F_MINOR, F_SORTED, F_KILLED, F_REFUSED, FIGURES
};

static const char *const figures[] = {
	[F_PROCESSES] = "processes", [F_ELEMENTS] = "elements",
	[F_BYTES] = "bytes", [F_ELAPSED] = "elapsed_ns",
	[F_USER] = "user_ns", [F_SYSTEM] = "system_ns",
	[F_MAJOR] = "major_faults", [F_MINOR] = "minor_faults",
	[F_SORTED] = "sorted", [F_KILLED] = "killed", [F_REFUSED] = "refused",
	[FIGURES] = NULL
};

/* --- one process ---------------------------------------------------------- */

/* If memory runs out, one of these is to go and not their parent. Where there
 * is no /proc the kernel decides by itself */
static void offer_to_oom_killer(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, "500", 3) != 3)
		errno = 0;
	close(fd);
}

/* Return: an exit status */
static int sort_array(uint64_t elements, uint64_t seed, uint64_t number)
{
	uint64_t state = bench_seed(seed, number), before = 0, after = 0;
	int32_t *v = malloc(elements * sizeof(*v));

	if (!v)
		return NO_MEMORY;
	for (uint64_t i = 0; i < elements; i++) {
		v[i] = (int32_t)(bench_random(&state) >> 33);
		before += (uint64_t)v[i];
	}
	quicksort(v, elements);
	for (uint64_t i = 0; i < elements; i++) {
		after += (uint64_t)v[i];
		if (i > 0 && v[i - 1] > v[i])
			return UNSORTED;
	}
	free(v);
	return before == after ? 0 : UNSORTED;
}

static _Noreturn void sorter_main(const struct bench_args *a, uint64_t number,
				  int gate, pid_t parent)
{
	struct pollfd p = { .fd = gate };

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
		_exit(1);
	offer_to_oom_killer();
	/* The gate opens when its other end is closed */
	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		;
	_exit(sort_array(bench_value(a->set, SET_ELEMENTS),
			 bench_value(a->set, SET_SEED), number));
}

/* --- all of them ---------------------------------------------------------- */

static uint64_t timeval_ns(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_usec * 1000;
}

/* The first that fails lets the others be killed with their parent */
static int start_all(const struct bench_args *a, int gate[2])
{
	pid_t parent = getpid();

	for (uint64_t i = 0; i < bench_value(a->set, SET_PROCESSES); i++) {
		pid_t pid = fork();

		if (pid < 0)
			return bench_fail(a->shared, errno, "qsbench: fork");
		if (pid == 0) {
			close(gate[1]);
			sorter_main(a, i, gate[0], parent);
		}
	}
	return 0;
}

static int take_ended(const struct bench_args *a, int status,
		      const struct rusage *u, uint64_t v[])
{
	v[F_USER] += timeval_ns(&u->ru_utime);
	v[F_SYSTEM] += timeval_ns(&u->ru_stime);
	v[F_MAJOR] += (uint64_t)u->ru_majflt;
	v[F_MINOR] += (uint64_t)u->ru_minflt;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		v[F_SORTED]++;
	else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		v[F_KILLED]++;
	else if (WIFEXITED(status) && WEXITSTATUS(status) == NO_MEMORY)
		v[F_REFUSED]++;
	else if (WIFEXITED(status) && WEXITSTATUS(status) == UNSORTED)
		return bench_fail(a->shared, 0, "qsbench: an array is not sorted after the sort: memory or swap lost data");
	else
		return bench_fail(a->shared, 0, "qsbench: a process ended with status %d",
				  status);
	return 0;
}

static int wait_all(const struct bench_args *a, uint64_t v[])
{
	for (uint64_t left = bench_value(a->set, SET_PROCESSES); left > 0;) {
		struct rusage u;
		int status;

		if (wait4(-1, &status, 0, &u) < 0) {
			if (errno == EINTR)
				continue;
			return bench_fail(a->shared, errno, "qsbench: wait");
		}
		if (take_ended(a, status, &u, v) != 0)
			return -1;
		left--;
	}
	return 0;
}

static int run(const struct bench_args *a)
{
	uint64_t v[FIGURES] = { 0 }, start;
	struct bench_row *row;
	int gate[2], ret;

	if (pipe2(gate, O_CLOEXEC) != 0)
		return bench_fail(a->shared, errno, "qsbench: make a pipe");
	ret = start_all(a, gate);
	close(gate[0]);
	if (ret == 0)
		bench_ready(a->shared);
	start = bench_now_ns();
	close(gate[1]);
	if (ret != 0 || wait_all(a, v) != 0)
		return -1;
	v[F_ELAPSED] = bench_now_ns() - start;
	v[F_PROCESSES] = bench_value(a->set, SET_PROCESSES);
	v[F_ELEMENTS] = bench_value(a->set, SET_ELEMENTS);
	v[F_BYTES] = v[F_PROCESSES] * v[F_ELEMENTS] * sizeof(int32_t);
	row = bench_add_row(a->shared, 0);
	memcpy(row->v, v, sizeof(v));
	return 0;
}

/* --- settings ------------------------------------------------------------- */

/* Four thirds of the RAM, near Allegrucci's own 343 MB on 256, but no more than
 * three quarters of RAM and swap together */
static void defaults(const struct bench_machine *m, struct bench_settings *s)
{
	uint64_t bytes = m->mem / 3 * 4;
	uint64_t most = (m->mem + m->swap_bytes) / 4 * 3;

	bytes = bytes < most ? bytes : most;
	bench_default(s, SET_PROCESSES, 1);
	bench_default(s, SET_ELEMENTS, bytes / sizeof(int32_t) /
				       bench_value(s, SET_PROCESSES));
	bench_default(s, SET_SEED, 140175100);
}

const struct bench_ops qsbench_ops = {
	.name = "qsbench",
	.settings = settings,
	.figures = figures,
	.defaults = defaults,
	.run = run,
	.survives_oom = true,
};
