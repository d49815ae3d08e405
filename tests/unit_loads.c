/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_loads.c - the tables of loads and jobs, and process_load: its ring moves,
 * stops, leaves nothing behind, and says why when it cannot
 */
#include <sys/prctl.h>

#include "tests/run_load.h"
#include "tests/children.h"

/* All of contest's, in its order, with what each asks of the machine */
static void test_registry(void **state)
{
	static const struct {
		const char *name;
		bool runs, keeps_cache, prepared, work_disk, other_disk;
		const char *size_unit;
	} want[] = {
		{ "no_load", false, false, false, false, false, NULL },
		{ "cacherun", false, true, false, false, false, NULL },
		{ "process_load", true, false, false, false, false,
		  "processes" },
		{ "ctar_load", true, false, true, true, false, NULL },
		{ "xtar_load", true, false, true, true, false, NULL },
		{ "io_load", true, false, false, true, false, "bytes" },
		{ "io_other", true, false, false, false, true, "bytes" },
		{ "read_load", true, false, true, true, false, "bytes" },
		{ "list_load", true, false, true, false, false, NULL },
		{ "mem_load", true, false, false, false, false, "bytes" },
		{ "dbench_load", true, false, false, true, false, "clients" },
	};
	struct load_shared shared = { .per_load = 1 };
	struct load_args a = { .shared = &shared, .cpus = 1, .mem = 64 << 20 };
	size_t n;

	(void)state;
	for (n = 0; n < sizeof(want) / sizeof(want[0]); n++) {
		const struct load_ops *ops = load_find(want[n].name);

		assert_non_null(ops);
		assert_ptr_equal(ops, load_nth(n));
		assert_string_equal(ops->name, want[n].name);
		assert_true(ops->unit[0] != '\0');
		assert_true(ops->per_load(&a) > 0);
		assert_int_equal(ops->run != NULL, want[n].runs);
		assert_int_equal(ops->keeps_cache, want[n].keeps_cache);
		assert_int_equal(ops->prepare != NULL, want[n].prepared);
		assert_int_equal(ops->work_disk, want[n].work_disk);
		assert_int_equal(ops->other_disk, want[n].other_disk);
		assert_int_equal(ops->size != NULL, want[n].size_unit != NULL);
		if (want[n].size_unit == NULL) {
			assert_null(ops->size_unit);
			continue;
		}
		assert_string_equal(ops->size_unit, want[n].size_unit);
		assert_true(ops->size(&a) > 0);
	}
	assert_null(load_nth(n));
	assert_null(load_find("io"));
	assert_null(load_find(""));
	assert_ptr_equal(job_find("quick-1"), job_nth(0));
	assert_null(job_find("quick"));
	for (n = 0; job_nth(n) != NULL; n++)
		assert_ptr_equal(job_find(job_nth(n)->name), job_nth(n));
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
	pid_t child[CHILDREN_MAX];
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
		pid_t child[CHILDREN_MAX];
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
	pid_t child[CHILDREN_MAX];
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
	pid_t child[CHILDREN_MAX];
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
