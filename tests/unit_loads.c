/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_loads.c - every load runs for a moment on this host: it moves, it
 * stops, it tidies up, and it says why when it cannot
 */
#include <dirent.h>
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
#define NODES_MAX 64

struct running {
	struct load_shared *shared;
	struct load_args args;
	char dir[1024];
	pid_t pid;
};

static void nap(void)
{
	const struct timespec t = { .tv_nsec = 2000000 };

	nanosleep(&t, NULL);
}

static void setup(struct running *r, unsigned int cpus, uint64_t size)
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

static void teardown(struct running *r)
{
	/* Fails when the load has left a file behind */
	assert_int_equal(rmdir(r->dir), 0);
	assert_int_equal(munmap(r->shared, sizeof(*r->shared)), 0);
}

static void start(struct running *r, const char *name, rlim_t file_max)
{
	const struct load_ops *ops = load_find(name);
	struct rlimit lim = { file_max, file_max };

	assert_non_null(ops);
	assert_non_null(ops->run);
	r->pid = fork();
	assert_true(r->pid >= 0);
	if (r->pid > 0)
		return;
	if (file_max != 0 && (signal(SIGXFSZ, SIG_IGN) == SIG_ERR ||
			      setrlimit(RLIMIT_FSIZE, &lim) != 0))
		_exit(99);
	_exit(ops->run(&r->args) == 0 ? 0 : 1);
}

static uint64_t done(const struct running *r)
{
	return atomic_load_explicit(&r->shared->done, memory_order_relaxed);
}

/* Waits until @r has done more than @n */
static void wait_done(const struct running *r, uint64_t n)
{
	for (int ms = 0; done(r) <= n; ms += 2) {
		assert_true(ms < PATIENCE_MS);
		assert_int_equal(atomic_load(&r->shared->failed), 0);
		nap();
	}
}

/* Return: wait status of the load's process */
static int wait_end(const struct running *r)
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

static void stop_well(struct running *r)
{
	int status;

	atomic_store(&r->shared->stop, 1);
	status = wait_end(r);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(atomic_load(&r->shared->failed), 0);
}

static void must_have_failed(struct running *r, int err, const char *say)
{
	int status = wait_end(r);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_int_equal(atomic_load(&r->shared->failed), err);
	assert_non_null(strstr(r->shared->message, say));
	assert_non_null(strstr(r->shared->message, strerror(err)));
}

static pid_t parent_of(pid_t pid)
{
	char path[64], line[512];
	int parent = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (f == NULL)
		return -1;
	if (fgets(line, sizeof(line), f) != NULL && strrchr(line, ')') != NULL)
		sscanf(strrchr(line, ')'), ") %*c %d", &parent);
	fclose(f);
	return parent;
}

/* Children of @pid, dead ones that nobody has waited for included */
static size_t children_of(pid_t pid, pid_t child[NODES_MAX])
{
	DIR *proc = opendir("/proc");
	struct dirent *e;
	size_t n = 0;

	assert_non_null(proc);
	while ((e = readdir(proc)) != NULL) {
		pid_t p = atoi(e->d_name);

		if (p > 0 && parent_of(p) == pid && n < NODES_MAX)
			child[n++] = p;
	}
	closedir(proc);
	return n;
}

static void test_registry(void **state)
{
	static const char *const names[] = {
		"no_load", "cacherun", "process_load", "io_load",
	};
	struct load_args a = { .cpus = 1, .mem = 4096 };
	size_t n;

	(void)state;
	for (n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
		const struct load_ops *ops = load_find(names[n]);

		assert_non_null(ops);
		assert_ptr_equal(ops, load_nth(n));
		assert_string_equal(ops->name, names[n]);
		assert_true(ops->unit[0] != '\0');
		assert_true(ops->per_load(&a) > 0);
		assert_int_equal(ops->run == NULL, n < 2);
		assert_int_equal(ops->keeps_cache, n == 1);
		assert_int_equal(ops->work_disk, n == 3);
	}
	assert_null(load_nth(n));
	assert_null(load_find("io"));
	assert_null(load_find(""));
	assert_ptr_equal(job_find("quick-1"), job_nth(0));
	assert_null(job_find("quick"));
	assert_null(job_nth(1));
}

static void test_reexec_is_ours_alone(void **state)
{
	char self[] = "unit_loads", name[] = LOAD_REEXEC_NAME;
	char part[] = "no-such-part";
	char *plain[] = { self, part, NULL };
	char *unknown[] = { name, part, NULL };

	(void)state;
	assert_int_equal(load_reexec(2, plain), -1);
	assert_int_equal(load_reexec(0, plain + 2), -1);
	assert_int_equal(load_reexec(2, unknown), EINVAL);
}

static void test_first_failure_stays(void **state)
{
	struct running r;

	(void)state;
	setup(&r, 1, 0);
	assert_int_equal(load_fail(r.shared, ENOSPC, "write '%s'", "f"), -1);
	assert_int_equal(load_fail(r.shared, EIO, "later"), -1);
	assert_int_equal(atomic_load(&r.shared->failed), ENOSPC);
	assert_string_equal(r.shared->message,
			    "write 'f': No space left on device");
	teardown(&r);
}

static void run_ring(unsigned int cpus, uint64_t size, size_t nodes)
{
	pid_t child[NODES_MAX];
	struct running r;

	setup(&r, cpus, size);
	start(&r, "process_load", 0);
	wait_done(&r, 1000);
	assert_int_equal(children_of(r.pid, child), nodes);
	wait_done(&r, done(&r) + 1000);
	stop_well(&r);
	/* As this process is their reaper, a node left over would be our child */
	assert_int_equal(children_of(getpid(), child), 0);
	teardown(&r);
}

static void test_ring_of_4(void **state)
{
	(void)state;
	run_ring(1, 0, 4);
}

static void test_ring_of_8(void **state)
{
	(void)state;
	run_ring(2, 0, 8);
}

static void test_ring_size_from_the_plan(void **state)
{
	(void)state;
	run_ring(2, 1, 1);
	run_ring(1, 13, 13);
}

static void test_ring_too_large(void **state)
{
	struct running r;

	(void)state;
	setup(&r, 1, UINT64_C(1) << 40);
	start(&r, "process_load", 0);
	must_have_failed(&r, EINVAL, "nodes");
	teardown(&r);
}

/* Whichever node is killed, the load fails, says so and does not hang */
static void test_ring_node_killed(void **state)
{
	(void)state;
	for (size_t victim = 0; victim < 4; victim++) {
		pid_t child[NODES_MAX];
		struct running r;

		setup(&r, 1, 0);
		start(&r, "process_load", 0);
		wait_done(&r, 100);
		assert_int_equal(children_of(r.pid, child), 4);
		assert_int_equal(kill(child[victim], SIGKILL), 0);
		must_have_failed(&r, EPIPE, "was killed by signal 9");
		assert_int_equal(children_of(getpid(), child), 0);
		teardown(&r);
	}
}

/* A ring that stands still can be stopped all the same */
static void test_ring_node_stopped(void **state)
{
	pid_t child[NODES_MAX];
	struct running r;

	(void)state;
	setup(&r, 1, 0);
	start(&r, "process_load", 0);
	wait_done(&r, 100);
	assert_int_equal(children_of(r.pid, child), 4);
	assert_int_equal(kill(child[2], SIGSTOP), 0);
	stop_well(&r);
	assert_int_equal(children_of(getpid(), child), 0);
	teardown(&r);
}

static void test_ring_dies_with_its_load(void **state)
{
	pid_t child[NODES_MAX];
	struct running r;

	(void)state;
	setup(&r, 2, 0);
	start(&r, "process_load", 0);
	wait_done(&r, 100);
	assert_int_equal(children_of(r.pid, child), 8);
	assert_int_equal(kill(r.pid, SIGKILL), 0);
	assert_true(WIFSIGNALED(wait_end(&r)));
	/* The nodes are ours to reap now; all of them must come */
	for (int ms = 0, left = 8; left > 0; ms += 2) {
		assert_true(ms < PATIENCE_MS);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			left--;
		nap();
	}
	teardown(&r);
}

static void test_io(void **state)
{
	const uint64_t size = (1 << 20) + 1234;	/* not whole blocks */
	char path[1100];
	struct running r;

	(void)state;
	setup(&r, 1, size);
	assert_int_equal(load_find("io_load")->per_load(&r.args), size);
	start(&r, "io_load", 0);
	wait_done(&r, 3 * size);
	snprintf(path, sizeof(path), "%s/io_load.data", r.dir);
	assert_int_equal(access(path, F_OK), 0);
	stop_well(&r);
	assert_int_equal(access(path, F_OK), -1);
	teardown(&r);
}

static void test_io_default_size(void **state)
{
	struct load_args a = { .cpus = 1, .mem = UINT64_C(6) << 30 };

	(void)state;
	assert_int_equal(load_find("io_load")->per_load(&a), a.mem);
}

/* Told to stop in the middle of a file of 256 GiB, it does */
static void test_io_stops_within_a_file(void **state)
{
	struct running r;

	(void)state;
	setup(&r, 1, UINT64_C(1) << 38);
	start(&r, "io_load", 0);
	wait_done(&r, 0);
	stop_well(&r);
	assert_true(done(&r) < UINT64_C(1) << 38);
	teardown(&r);
}

static void test_io_no_room(void **state)
{
	struct running r;

	(void)state;
	setup(&r, 1, 4 << 20);
	start(&r, "io_load", 1 << 20);
	must_have_failed(&r, EFBIG, "io_load.data");
	assert_int_equal(done(&r), 1 << 20);
	teardown(&r);
}

static void test_io_no_directory(void **state)
{
	struct running r;

	(void)state;
	setup(&r, 1, 1 << 20);
	r.args.dir = "/nonexistent/place";
	start(&r, "io_load", 0);
	must_have_failed(&r, ENOENT, "open '/nonexistent/place/io_load.data'");
	teardown(&r);
}

static void test_io_of_nothing(void **state)
{
	struct running r;

	(void)state;
	setup(&r, 1, 0);
	r.args.mem = 0;
	start(&r, "io_load", 0);
	must_have_failed(&r, EINVAL, "0 bytes");
	teardown(&r);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registry),
		cmocka_unit_test(test_reexec_is_ours_alone),
		cmocka_unit_test(test_first_failure_stays),
		cmocka_unit_test(test_ring_of_4),
		cmocka_unit_test(test_ring_of_8),
		cmocka_unit_test(test_ring_size_from_the_plan),
		cmocka_unit_test(test_ring_too_large),
		cmocka_unit_test(test_ring_node_killed),
		cmocka_unit_test(test_ring_node_stopped),
		cmocka_unit_test(test_ring_dies_with_its_load),
		cmocka_unit_test(test_io),
		cmocka_unit_test(test_io_default_size),
		cmocka_unit_test(test_io_stops_within_a_file),
		cmocka_unit_test(test_io_no_room),
		cmocka_unit_test(test_io_no_directory),
		cmocka_unit_test(test_io_of_nothing),
	};
	int part = load_reexec(argc, argv);

	if (part != -1)
		return part;
	/*
	 * For the nodes, if this is built with a leak checker: its helper
	 * process outlives a node that is killed in the middle of the check.
	 */
	if (setenv("LSAN_OPTIONS", "detect_leaks=0", 1) != 0)
		return 1;
	/* Orphans of a load become our children, so that we see them */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
		perror("PR_SET_CHILD_SUBREAPER");
		return 1;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
