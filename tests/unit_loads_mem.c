/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_loads_mem.c - mem_load copies what it says it does, counts only that,
 * stops at once, and is not started where there is no room for it
 */
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
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "loads/load.h"
#include "loads/mem_load.h"

/* Far beyond what anything here takes: only a hang gets that far */
#define PATIENCE_MS 60000
#define MIB (UINT64_C(1) << 20)

static const struct load_ops *ops;

static void nap(void)
{
	const struct timespec t = { .tv_nsec = 2000000 };

	nanosleep(&t, NULL);
}

static struct load_shared *make_shared(void)
{
	struct load_shared *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(s, MAP_FAILED);
	return s;
}

static void drop_shared(struct load_shared *s)
{
	assert_int_equal(munmap(s, sizeof(*s)), 0);
}

static pid_t start(const struct load_args *a)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	/* It ends with a test that has failed */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
		_exit(98);
	_exit(ops->run(a) == 0 ? 0 : 1);
}

/* Return: exit status */
static int wait_end(pid_t pid)
{
	int status = 0;

	for (int ms = 0; waitpid(pid, &status, WNOHANG) == 0; ms += 2) {
		if (ms >= PATIENCE_MS) {
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
			fail_msg("the load did not end");
		}
		nap();
	}
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void wait_done(const struct load_shared *s, uint64_t n)
{
	for (int ms = 0; atomic_load(&s->done) <= n; ms += 2) {
		assert_true(ms < PATIENCE_MS);
		assert_int_equal(atomic_load(&s->failed), 0);
		nap();
	}
}

static void test_size(void **state)
{
	struct load_args a = { .cpus = 1, .mem = 160 * MIB };

	(void)state;
	assert_int_equal(ops->size(&a), 176 * MIB);
	assert_int_equal(ops->per_load(&a), 1000);
	a.mem = 256 * MIB;
	assert_int_equal(ops->size(&a), 282 * MIB);
	a.size = 8 * MIB;
	assert_int_equal(ops->size(&a), 8 * MIB);
	a.size = 8 * MIB + 1;
	assert_int_equal(ops->size(&a), 9 * MIB);
	a.size = 1;
	assert_int_equal(ops->size(&a), 2 * MIB);
	a.size = UINT64_MAX;
	assert_true(ops->size(&a) > UINT64_MAX - MIB);
}

/* 110 % of 256 MiB through a disk that writes 40 MB/s, each byte twice */
static void test_time_to_fill(void **state)
{
	struct load_args a = { .cpus = 1, .mem = 256 * MIB };

	(void)state;
	assert_true(ops->proof_s(&a) >= 60 + 2 * 282 / 40);
	a.size = UINT64_MAX;
	assert_int_equal(ops->proof_s(&a), 3600);
}

/* Every byte is written; no two pages are alike */
static void test_touch(void **state)
{
	const size_t blocks = 3, pages = blocks * MEM_BLOCK / 4096;
	struct load_args a = { .shared = make_shared() };
	unsigned char *mem = calloc(blocks, MEM_BLOCK);

	(void)state;
	assert_non_null(mem);
	mem_touch(&a, mem, blocks);
	assert_int_equal(atomic_load(&a.shared->done), 0);
	for (size_t p = 0; p < pages; p++) {
		const unsigned char *page = mem + p * 4096;
		size_t zeros = 0;

		for (size_t i = 0; i < 4096; i++)
			zeros += page[i] == 0;
		assert_true(zeros < 100);
		for (size_t q = 0; q < p; q++)
			assert_int_not_equal(memcmp(page, mem + q * 4096, 4096),
					     0);
	}
	free(mem);
	drop_shared(a.shared);
}

static void copy_pass(size_t blocks)
{
	struct load_args a = { .shared = make_shared() };
	unsigned char *mem = calloc(blocks, MEM_BLOCK);
	unsigned char want[16];

	assert_non_null(mem);
	for (size_t i = 0; i < blocks; i++) {
		memset(mem + i * MEM_BLOCK, (int)i + 1, MEM_BLOCK);
		want[i] = (unsigned char)(i + 1);
	}
	for (size_t i = 0; i < blocks; i++)
		want[i] = want[(i + blocks / 2) % blocks];

	mem_pass(&a, mem, blocks);
	for (size_t i = 0; i < blocks; i++)
		for (size_t at = 0; at < MEM_BLOCK; at++)
			if (mem[i * MEM_BLOCK + at] != want[i])
				fail_msg("block %zu of %zu, byte %zu", i,
					 blocks, at);
	assert_int_equal(atomic_load(&a.shared->done),
			 blocks * MEM_BLOCK / 4096);
	free(mem);
	drop_shared(a.shared);
}

static void test_pass(void **state)
{
	(void)state;
	copy_pass(2);
	copy_pass(8);
	/* An odd number: what was copied in this pass is copied further */
	copy_pass(7);
}

static void test_stopped_before_the_first_page(void **state)
{
	struct load_args a = { .shared = make_shared() };
	unsigned char *mem = calloc(2, MEM_BLOCK);

	(void)state;
	assert_non_null(mem);
	atomic_store(&a.shared->stop, 1);
	mem_touch(&a, mem, 2);
	memset(mem + MEM_BLOCK, 1, MEM_BLOCK);
	mem_pass(&a, mem, 2);
	assert_int_equal(mem[0], 0);
	assert_int_equal(atomic_load(&a.shared->done), 0);
	free(mem);
	drop_shared(a.shared);
}

/* It moves, pass after pass, and is over as soon as it is told */
static void test_run(void **state)
{
	struct load_args a = {
		.shared = make_shared(), .cpus = 1, .mem = 64 * MIB,
		.size = 8 * MIB,
	};
	pid_t pid = start(&a);

	(void)state;
	wait_done(a.shared, 3 * 8 * MIB / 4096);
	atomic_store(&a.shared->stop, 1);
	assert_int_equal(wait_end(pid), 0);
	assert_int_equal(atomic_load(&a.shared->failed), 0);
	drop_shared(a.shared);
}

static uint64_t resident_bytes(pid_t pid)
{
	unsigned long long pages = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/statm", pid);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%*u %llu", &pages), 1);
	fclose(f);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/*
 * Looked at while it fills its memory: not all of it is in use then, and
 * nothing is counted; once something is, all of it is in use.
 */
static void test_counts_when_all_is_in_use(void **state)
{
	struct load_args a = {
		.shared = make_shared(), .cpus = 1, .mem = 64 * MIB,
		.size = 256 * MIB,
	};
	pid_t pid = start(&a);
	bool seen_before = false;

	(void)state;
	for (int ms = 0; atomic_load(&a.shared->done) == 0; ms++) {
		uint64_t in_use = resident_bytes(pid);

		assert_true(ms < PATIENCE_MS);
		if (in_use > 0 && in_use < 256 * MIB &&
		    atomic_load(&a.shared->done) == 0)
			seen_before = true;
		usleep(500);
	}
	assert_true(seen_before);
	assert_true(resident_bytes(pid) >= 256 * MIB);
	atomic_store(&a.shared->stop, 1);
	assert_int_equal(wait_end(pid), 0);
	drop_shared(a.shared);
}

/* In the middle of filling 256 MiB */
static void test_stops_while_it_fills(void **state)
{
	struct load_args a = {
		.shared = make_shared(), .cpus = 1, .mem = 64 * MIB,
		.size = 256 * MIB,
	};
	pid_t pid = start(&a);

	(void)state;
	atomic_store(&a.shared->stop, 1);
	assert_int_equal(wait_end(pid), 0);
	assert_int_equal(atomic_load(&a.shared->done), 0);
	assert_int_equal(atomic_load(&a.shared->failed), 0);
	drop_shared(a.shared);
}

static void test_is_first_for_the_oom_killer(void **state)
{
	struct load_args a = {
		.shared = make_shared(), .cpus = 1, .mem = 64 * MIB,
		.size = 2 * MIB,
	};
	pid_t pid = start(&a);
	char path[64];
	int score = 0;
	FILE *f;

	(void)state;
	wait_done(a.shared, 0);
	snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", pid);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%d", &score), 1);
	fclose(f);
	assert_int_equal(score, 1000);
	atomic_store(&a.shared->stop, 1);
	assert_int_equal(wait_end(pid), 0);
	drop_shared(a.shared);
}

static void test_no_room(void **state)
{
	struct load_args a = {
		.shared = make_shared(), .cpus = 1, .mem = 64 * MIB,
		.size = UINT64_C(1) << 50,
	};
	unsigned long long needs = 0, has = 0;

	(void)state;
	assert_int_equal(wait_end(start(&a)), 1);
	assert_int_equal(atomic_load(&a.shared->failed), ENOMEM);
	assert_int_equal(atomic_load(&a.shared->done), 0);
	assert_int_equal(sscanf(a.shared->message,
				"needs %llu MiB of swap, there are %llu: give "
				"the profile's swap disk", &needs, &has), 2);
	assert_true(needs > has);
	assert_true(needs < (UINT64_C(1) << 30) + 8);
	assert_non_null(strstr(a.shared->message, strerror(ENOMEM)));
	drop_shared(a.shared);
}

static void test_meminfo(void **state)
{
	struct mem_room room;

	(void)state;
	assert_int_equal(mem_room_parse("MemTotal: 160000 kB\n"
					"MemFree:  100000 kB\n"
					"MemAvailable:   120000 kB\n"
					"SwapTotal:      262140 kB\n"
					"SwapFree:       262000 kB\n", &room),
			 0);
	assert_int_equal(room.available, 120000 * 1024);
	assert_int_equal(room.swap_free, 262000 * 1024);

	/* Before 3.14 */
	assert_int_equal(mem_room_parse("MemTotal: 160000 kB\n"
					"MemFree: 100000 kB\n"
					"SwapFree: 0 kB\n", &room), 0);
	assert_int_equal(room.available, 100000 * 1024);
	assert_int_equal(room.swap_free, 0);

	assert_int_equal(mem_room_parse("MemFree: 1 kB", &room), -1);
	assert_int_equal(mem_room_parse("MemFree: x\nSwapFree: 1 kB\n", &room),
			 -1);
	assert_int_equal(mem_room_parse("", &room), -1);
}

static void test_swap_needed(void **state)
{
	const struct mem_room room = { .available = 120 * MIB };

	(void)state;
	assert_int_equal(mem_swap_needed(100 * MIB, 160 * MIB, &room), 0);
	assert_int_equal(mem_swap_needed(120 * MIB, 160 * MIB, &room), 0);
	/* What does not fit, and an eighth of RAM for the job */
	assert_int_equal(mem_swap_needed(176 * MIB, 160 * MIB, &room),
			 (56 + 20) * MIB);
	assert_true(mem_swap_needed(UINT64_MAX, UINT64_MAX, &room) ==
		    UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_time_to_fill),
		cmocka_unit_test(test_touch),
		cmocka_unit_test(test_pass),
		cmocka_unit_test(test_stopped_before_the_first_page),
		cmocka_unit_test(test_run),
		cmocka_unit_test(test_counts_when_all_is_in_use),
		cmocka_unit_test(test_stops_while_it_fills),
		cmocka_unit_test(test_is_first_for_the_oom_killer),
		cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_meminfo),
		cmocka_unit_test(test_swap_needed),
	};

	ops = load_find("mem_load");
	if (ops == NULL)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
