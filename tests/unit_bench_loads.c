/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_bench_loads.c - tiobench, chat and qsbench, run for real on the host
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loads/bench.h"
#include "loads/histogram.h"
#include "loads/quicksort.h"

/* --- the parts ------------------------------------------------------------ */

static void percentiles_are_near_and_never_below(void **state)
{
	struct histogram *h = calloc(1, sizeof(*h));
	uint64_t seed = bench_seed(1, 0), sum = 0;
	uint64_t *v = calloc(10000, sizeof(*v));
	static const unsigned int ranks[] = { 1, 500, 950, 990, 999, 1000 };

	(void)state;
	assert_non_null(h);
	assert_non_null(v);
	assert_int_equal(histogram_at(h, 500), 0);
	for (int i = 0; i < 10000; i++) {
		/* From ns to hours, evenly over the powers of two */
		v[i] = bench_random(&seed) >> (20 + bench_random(&seed) % 40);
		sum += v[i];
		histogram_add(h, v[i]);
	}
	/* A selection sort of what is needed would do; sorted it is plainer */
	for (int i = 1; i < 10000; i++)
		for (int k = i; k > 0 && v[k - 1] > v[k]; k--) {
			uint64_t t = v[k];

			v[k] = v[k - 1];
			v[k - 1] = t;
		}
	assert_int_equal(h->n, 10000);
	assert_int_equal(h->sum, sum);
	assert_int_equal(h->max, v[9999]);
	for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
		uint64_t want = v[(10000 * ranks[i] + 999) / 1000 - 1];
		uint64_t got = histogram_at(h, ranks[i]);

		assert_true(got >= want);
		assert_true(got <= want + want / 64);
	}
	free(v);
	free(h);
}

static void histograms_add_up(void **state)
{
	struct histogram *a = calloc(2, sizeof(*a)), *b = a + 1;

	(void)state;
	assert_non_null(a);
	histogram_add(a, 3);
	histogram_add(b, 63);
	histogram_add(b, UINT64_MAX);
	histogram_merge(a, b);
	assert_int_equal(a->n, 3);
	assert_int_equal(a->max, UINT64_MAX);
	assert_int_equal(histogram_at(a, 333), 3);
	assert_int_equal(histogram_at(a, 600), 63);
	assert_int_equal(histogram_at(a, 1000), UINT64_MAX);
	free(a);
}

static int compare(const void *pa, const void *pb)
{
	int32_t a = *(const int32_t *)pa, b = *(const int32_t *)pb;

	return (a > b) - (a < b);
}

/* Patterns that quicksorts are known to stumble over, at every small size */
static void quicksort_sorts(void **state)
{
	int32_t v[600], want[600];

	(void)state;
	for (uint64_t n = 0; n < 600; n += n < 40 ? 1 : 37) {
		for (int pattern = 0; pattern < 6; pattern++) {
			uint64_t seed = bench_seed(n, (uint64_t)pattern);

			for (uint64_t i = 0; i < n; i++) {
				uint64_t r = bench_random(&seed);
				int32_t x = (int32_t)i;

				v[i] = pattern == 0 ? (int32_t)(r >> 32) :
				       pattern == 1 ? x :
				       pattern == 2 ? -x :
				       pattern == 3 ? 7 :
				       pattern == 4 ? (int32_t)(r % 3) :
				       (i < n / 2 ? x : (int32_t)n - x);
			}
			memcpy(want, v, sizeof(v));
			qsort(want, n, sizeof(v[0]), compare);
			quicksort(v, n);
			assert_memory_equal(v, want, n * sizeof(v[0]));
		}
	}
}

/* --- whole benchmarks ----------------------------------------------------- */

/* struct trial - one */
struct trial {
	char dir[64];
	const struct bench_ops *ops;
	struct bench_settings set;
	struct bench_shared *shared;
};

static void trial_begin(struct trial *t, const char *name)
{
	*t = (struct trial){ .ops = bench_find(name) };
	assert_non_null(t->ops);
	strcpy(t->dir, "/tmp/unit_bench.XXXXXX");
	assert_non_null(mkdtemp(t->dir));
	t->shared = mmap(NULL, sizeof(*t->shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(t->shared != MAP_FAILED);
	atomic_store(&t->shared->go, 1);
}

static void give(struct trial *t, const char *setting, uint64_t v)
{
	int i = bench_setting(t->ops, setting);

	assert_true(i >= 0);
	t->set.of[i].v[t->set.of[i].n++] = v;
}

/* In a process of its own, as in the guest; Return: its exit status */
static int trial_run(struct trial *t, rlim_t address_space)
{
	const struct bench_args a = { .shared = t->shared, .dir = t->dir,
				      .set = &t->set };
	const struct rlimit r = { address_space, address_space };
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		alarm(300);
		if (address_space && setrlimit(RLIMIT_AS, &r) != 0)
			_exit(99);
		_exit(t->ops->run(&a) == 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void trial_end(struct trial *t)
{
	assert_int_equal(rmdir(t->dir), 0);
	munmap(t->shared, sizeof(*t->shared));
}

static uint64_t figure(const struct trial *t, size_t row, const char *name)
{
	for (int i = 0; t->ops->figures[i]; i++)
		if (strcmp(t->ops->figures[i], name) == 0)
			return t->shared->rows[row].v[i];
	fail_msg("no figure %s", name);
	return 0;
}

static void tiobench_rows_are_whole(void **state)
{
	static const char *const phases[] = { "sequential-write",
		"random-write", "sequential-read", "random-read" };
	struct trial t;

	(void)state;
	trial_begin(&t, "tiobench");
	give(&t, "threads", 1);
	give(&t, "threads", 3);
	give(&t, "block", 4096);
	give(&t, "size", 7 << 20);
	give(&t, "random-ops", 100);
	assert_int_equal(trial_run(&t, 0), 0);
	assert_int_equal(atomic_load(&t.shared->n), 8);
	for (size_t i = 0; i < 8; i++) {
		uint64_t threads = i < 4 ? 1 : 3, file = (7 / threads) << 20;
		bool random = i % 2 == 1, write = i % 4 < 2;
		uint64_t ops = random ? 100 / threads * threads :
			       file / 4096 * threads;

		assert_string_equal(t.ops->kinds[t.shared->rows[i].kind],
				    phases[i % 4]);
		assert_int_equal(figure(&t, i, "threads"), threads);
		assert_int_equal(figure(&t, i, "file_bytes"), file);
		assert_int_equal(figure(&t, i, "ops"), ops);
		assert_int_equal(figure(&t, i, "bytes"), ops * 4096);
		assert_true(figure(&t, i, "lat_sum_ns") <=
			    figure(&t, i, "wall_ns") * threads);
		assert_true(figure(&t, i, "lat_p50_ns") <=
			    figure(&t, i, "lat_p999_ns"));
		assert_true(figure(&t, i, "lat_p999_ns") <=
			    figure(&t, i, "lat_max_ns"));
		assert_int_equal(figure(&t, i, "over_10s"), 0);
		assert_int_equal(figure(&t, i, "fsyncs"),
				 write ? threads : BENCH_FIGURE_NONE);
	}
	trial_end(&t);
}

/* Where a thread does nothing but read, the average latency is threads x block
 * / rate. Others use this machine too, so the best of some runs counts */
static void average_latency_is_threads_by_block_by_rate(void **state)
{
	double best = 1;
	struct trial t;

	(void)state;
	for (int i = 0; i < 20 && best > 0.05; i++) {
		double wall, lat, ideal;

		trial_begin(&t, "tiobench");
		give(&t, "threads", 1);
		give(&t, "block", 1 << 20);
		give(&t, "size", 256 << 20);
		give(&t, "random-ops", 256);
		assert_int_equal(trial_run(&t, 0), 0);
		wall = (double)figure(&t, 2, "wall_ns");
		lat = (double)figure(&t, 2, "lat_sum_ns") /
		      (double)figure(&t, 2, "ops");
		ideal = wall * (1 << 20) / (double)figure(&t, 2, "bytes");
		assert_true(lat <= ideal);
		best = 1 - lat / ideal < best ? 1 - lat / ideal : best;
		trial_end(&t);
	}
	if (best > 0.05)
		fail_msg("off by %.1f %%", 100 * best);
}

static void tiobench_says_what_fails(void **state)
{
	struct trial t;

	(void)state;
	trial_begin(&t, "tiobench");
	give(&t, "threads", 1);
	give(&t, "block", 4096);
	give(&t, "size", 1 << 20);
	give(&t, "random-ops", 1);
	assert_int_equal(rmdir(t.dir), 0);
	assert_int_equal(trial_run(&t, 0), 1);
	assert_int_equal(atomic_load(&t.shared->failed), 2);
	assert_non_null(strstr(t.shared->message, "/tio.0': No such file"));
	assert_int_equal(atomic_load(&t.shared->n), 0);
	assert_int_equal(mkdir(t.dir, 0700), 0);
	trial_end(&t);
}

static void chat_of(struct trial *t, uint64_t rooms, uint64_t users,
		    uint64_t messages, uint64_t heap)
{
	trial_begin(t, "chat");
	give(t, "rooms", rooms);
	give(t, "users", users);
	give(t, "messages", messages);
	give(t, "heap", heap);
}

static void chat_everybody_hears_everything(void **state)
{
	static const uint64_t sizes[][4] = {
		{ 1, 2, 1, 0 }, { 3, 7, 11, 0 }, { 10, 20, 3, 0 },
		{ 2, 3, 50, 1 << 20 },
	};
	struct trial t;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const uint64_t *s = sizes[i];
		uint64_t sent = s[0] * s[1] * s[2];

		chat_of(&t, s[0], s[1], s[2], s[3]);
		if (trial_run(&t, 0) != 0)
			fail_msg("%s", t.shared->message);
		assert_int_equal(atomic_load(&t.shared->n), 1);
		assert_int_equal(figure(&t, 0, "connections"), s[0] * s[1]);
		assert_int_equal(figure(&t, 0, "threads"), 4 * s[0] * s[1]);
		assert_int_equal(figure(&t, 0, "sent"), sent);
		assert_int_equal(figure(&t, 0, "received"), sent * (s[1] - 1));
		assert_true(figure(&t, 0, "elapsed_ns") > 0);
		trial_end(&t);
	}
}

/* What is allowed is raised when it is too little, and only then */
static void chat_raises_the_limit_of_threads(void **state)
{
	static const char *const had[] = { "300\n", "100000\n" };
	static const char *const has[] = { "524\n", "100000\n" };
	char path[80], text[32];
	struct trial t;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct bench_args a;
		int status;
		pid_t pid;
		FILE *f;

		chat_of(&t, 2, 3, 1, 0);
		snprintf(path, sizeof(path), "%s/threads-max", t.dir);
		f = fopen(path, "we");
		assert_non_null(f);
		assert_true(fputs(had[i], f) >= 0);
		assert_int_equal(fclose(f), 0);
		a = (struct bench_args){ .shared = t.shared, .dir = t.dir,
					 .set = &t.set, .threads_max = path };
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0) {
			alarm(300);
			_exit(t.ops->run(&a) == 0 ? 0 : 1);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
		f = fopen(path, "re");
		assert_non_null(f);
		assert_non_null(fgets(text, sizeof(text), f));
		fclose(f);
		assert_string_equal(text, has[i]);
		assert_int_equal(unlink(path), 0);
		trial_end(&t);
	}
}

/* ASan itself needs more address space than that */
#ifdef __SANITIZE_ADDRESS__
#define needs_address_space_limit() skip()
#else
#define needs_address_space_limit() (void)0
#endif

static void chat_without_memory_is_a_failure(void **state)
{
	struct trial t;

	(void)state;
	needs_address_space_limit();
	chat_of(&t, 10, 20, 1, (uint64_t)64 << 30);
	assert_int_equal(trial_run(&t, (rlim_t)1 << 30), 1);
	assert_int_not_equal(atomic_load(&t.shared->failed), 0);
	assert_int_equal(atomic_load(&t.shared->n), 0);
	trial_end(&t);
}

static void sort_of(struct trial *t, uint64_t processes, uint64_t elements)
{
	trial_begin(t, "qsbench");
	give(t, "processes", processes);
	give(t, "elements", elements);
	give(t, "seed", 140175100);
}

static void qsbench_sorts_in_all_processes(void **state)
{
	struct trial t;

	(void)state;
	sort_of(&t, 3, 200001);
	assert_int_equal(trial_run(&t, 0), 0);
	assert_int_equal(figure(&t, 0, "processes"), 3);
	assert_int_equal(figure(&t, 0, "sorted"), 3);
	assert_int_equal(figure(&t, 0, "killed"), 0);
	assert_int_equal(figure(&t, 0, "bytes"), 3 * 200001 * 4);
	assert_true(figure(&t, 0, "user_ns") > 0);
	trial_end(&t);
}

static void qsbench_refused_memory_is_a_result(void **state)
{
	struct trial t;

	(void)state;
	needs_address_space_limit();
	sort_of(&t, 2, (uint64_t)1 << 32);
	assert_int_equal(trial_run(&t, (rlim_t)1 << 30), 0);
	assert_int_equal(figure(&t, 0, "sorted"), 0);
	assert_int_equal(figure(&t, 0, "refused"), 2);
	trial_end(&t);
}

/* Return: a child of @pid, or 0 */
static pid_t child_of(pid_t pid)
{
	char path[64], text[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	f = fopen(path, "re");
	if (f && !fgets(text, sizeof(text), f))
		text[0] = '\0';
	if (f)
		fclose(f);
	return (pid_t)atoi(text);
}

/* What the OOM killer does, done by hand to one of two */
static void qsbench_a_killed_process_is_a_result(void **state)
{
	struct bench_args a;
	struct trial t;
	pid_t pid, victim = 0;
	int status;

	(void)state;
	sort_of(&t, 2, 3000000);
	atomic_store(&t.shared->go, 0);
	a = (struct bench_args){ .shared = t.shared, .dir = t.dir,
				 .set = &t.set };
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		alarm(300);
		_exit(t.ops->run(&a) == 0 ? 0 : 1);
	}
	while (atomic_load(&t.shared->ready) == 0)
		usleep(1000);
	victim = child_of(pid);
	if (victim == 0) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		trial_end(&t);
		skip();	/* a kernel without CONFIG_PROC_CHILDREN */
	}
	assert_int_equal(kill(victim, SIGKILL), 0);
	assert_int_equal(bench_wake(t.shared), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_int_equal(figure(&t, 0, "sorted"), 1);
	assert_int_equal(figure(&t, 0, "killed"), 1);
	trial_end(&t);
}

/* --- settings ------------------------------------------------------------- */

static void defaults_follow_from_the_machine(void **state)
{
	const uint64_t mib = 1 << 20;
	const struct bench_machine small = {
		.cpus = 1, .mem = 160 * mib, .work_bytes = 300 * mib,
		.swap_bytes = 256 * mib };
	const struct bench_machine large = {
		.cpus = 8, .mem = 3072 * mib, .work_bytes = 9000 * mib,
		.swap_bytes = 0, .chat_messages = 25000,
		.chat_heap_bytes = 1536 * mib };
	struct bench_settings s = { 0 };
	char why[512];

	(void)state;
	tiobench_ops.defaults(&small, &s);
	assert_int_equal(s.of[0].n, 4);
	assert_int_equal(s.of[0].v[3], 8);
	assert_int_equal(s.of[2].v[0], 300 * mib);
	assert_int_equal(tiobench_ops.check(&small, &s, why, sizeof(why)), 0);
	s.of[2].v[0]++;
	assert_int_equal(tiobench_ops.check(&small, &s, why, sizeof(why)), -1);
	assert_non_null(strstr(why, "smaller size"));
	memset(&s, 0, sizeof(s));
	tiobench_ops.defaults(&large, &s);
	assert_int_equal(s.of[2].v[0], 6144 * mib);

	memset(&s, 0, sizeof(s));
	chat_ops.defaults(&large, &s);
	assert_int_equal(s.of[2].v[0], 25000);
	assert_int_equal(s.of[3].v[0], 1536 * mib);
	assert_int_equal(chat_ops.check(&large, &s, why, sizeof(why)), 0);
	assert_int_equal(chat_ops.check(&small, &s, why, sizeof(why)), -1);

	memset(&s, 0, sizeof(s));
	qsbench_ops.defaults(&small, &s);
	assert_int_equal(s.of[1].v[0], 160 * mib / 3 * 4 / 4);
	memset(&s, 0, sizeof(s));
	qsbench_ops.defaults(&large, &s);
	assert_int_equal(s.of[1].v[0], 3072 * mib / 4 * 3 / 4);
}

static void registry_fits_its_limits(void **state)
{
	(void)state;
	for (size_t i = 0; i < BENCH_COUNT; i++) {
		const struct bench_ops *ops = bench_nth(i);
		int settings = 0, figures = 0;

		while (ops->settings[settings].name)
			settings++;
		while (ops->figures[figures])
			figures++;
		assert_true(settings <= BENCH_SETTINGS_MAX);
		assert_true(figures <= BENCH_FIGURES_MAX);
		assert_ptr_equal(bench_find(ops->name), ops);
		assert_int_equal(bench_index(ops), i);
	}
	assert_null(bench_nth(BENCH_COUNT));
	assert_null(bench_find("contest"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(percentiles_are_near_and_never_below),
		cmocka_unit_test(histograms_add_up),
		cmocka_unit_test(quicksort_sorts),
		cmocka_unit_test(tiobench_rows_are_whole),
		cmocka_unit_test(average_latency_is_threads_by_block_by_rate),
		cmocka_unit_test(tiobench_says_what_fails),
		cmocka_unit_test(chat_everybody_hears_everything),
		cmocka_unit_test(chat_raises_the_limit_of_threads),
		cmocka_unit_test(chat_without_memory_is_a_failure),
		cmocka_unit_test(qsbench_sorts_in_all_processes),
		cmocka_unit_test(qsbench_refused_memory_is_a_result),
		cmocka_unit_test(qsbench_a_killed_process_is_a_result),
		cmocka_unit_test(defaults_follow_from_the_machine),
		cmocka_unit_test(registry_fits_its_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
