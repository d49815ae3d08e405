/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench.h - benchmarks that are not contest: tiobench, chat, qsbench
 *
 * A benchmark measures itself, row by row; the driver counts what the whole
 * system did meanwhile, as it does for contest. Each is a file of its own with
 * one ops struct, named in the table of bench.c. Libc and threads only: they
 * build into the guest and, for unit tests, on the host.
 */
#ifndef KONTEST_BENCH_H
#define KONTEST_BENCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_COUNT 3		/* benchmarks in the registry */
#define BENCH_SETTINGS_MAX 8
#define BENCH_LIST_MAX 12
#define BENCH_FIGURES_MAX 24
#define BENCH_ROWS_MAX (4 * BENCH_LIST_MAX)
#define BENCH_FIGURE_NONE UINT64_MAX	/* this row has it not */

/**
 * struct bench_setting - what a plan may set
 * @name: key in the plan's section
 * @min, @max: what is allowed
 * @list: several values; none comes twice
 * @size: bytes: "128MiB" will do
 */
struct bench_setting {
	const char *name;
	uint64_t min, max;
	bool list;
	bool size;
};

/* struct bench_values - of one setting; n 0: not given */
struct bench_values {
	uint64_t v[BENCH_LIST_MAX];
	size_t n;
};

/* struct bench_settings - in the order of struct bench_ops.settings */
struct bench_settings {
	struct bench_values of[BENCH_SETTINGS_MAX];
};

/**
 * struct bench_machine - what defaults follow from; all of the profile
 * @mem: bytes of RAM
 * @work_bytes: that files may take on the work disk
 * @swap_bytes: of swap
 * @chat_messages, @chat_heap_bytes: its [profile] chat-messages, chat-heap; 0:
 *	it has none
 */
struct bench_machine {
	unsigned int cpus;
	uint64_t mem, work_bytes, swap_bytes;
	uint64_t chat_messages, chat_heap_bytes;
};

/**
 * struct bench_row - one line of a result
 * @kind: index into struct bench_ops.kinds
 * @v: in the order of struct bench_ops.figures
 */
struct bench_row {
	unsigned int kind;
	uint64_t v[BENCH_FIGURES_MAX];
};

/**
 * struct bench_shared - between a benchmark and the driver
 * @ready: set by the benchmark when all stands ready (bench_ready())
 * @go: set by the driver when its window is open; a futex
 * @failed: errno of a failure, 0 while it works
 * @message: why
 * @n: rows so far
 *
 * In memory mapped MAP_SHARED|MAP_ANONYMOUS.
 */
struct bench_shared {
	atomic_int ready;
	atomic_int go;
	atomic_int failed;
	char message[256];
	atomic_size_t n;
	struct bench_row rows[BENCH_ROWS_MAX];
};

/**
 * struct bench_args - what a benchmark may know
 * @dir: an empty directory of its own
 * @set: every setting has a value
 * @drop_caches: /proc/sys/vm/drop_caches, or NULL: caches are left alone
 * @threads_max: /proc/sys/kernel/threads-max, which may be raised, or NULL
 */
struct bench_args {
	struct bench_shared *shared;
	const char *dir;
	const struct bench_settings *set;
	const char *drop_caches;
	const char *threads_max;
};

/**
 * struct bench_ops - a benchmark
 * @name: as in plans and tables
 * @settings: BENCH_SETTINGS_MAX at most, up to a NULL name
 * @kinds: kinds of rows, ends in NULL; NULL: there is one row
 * @figures: of a row, BENCH_FIGURES_MAX at most, ends in NULL
 * @defaults: values for the settings that have none
 * @check: can this machine do it? Return: 0, or -1 with reason and remedy in
 *	@why. NULL: it can
 * @run: does it, in a process of its own, with its own threads and processes.
 *	Calls bench_ready() once. Return: 0, or -1 after bench_fail()
 * @work_disk: it needs a real disk, a tmpfs will not do
 * @network: it needs loopback TCP
 * @survives_oom: that the kernel kills one of its processes for want of memory
 *	is a result
 */
struct bench_ops {
	const char *name;
	const struct bench_setting *settings;
	const char *const *kinds;
	const char *const *figures;
	void (*defaults)(const struct bench_machine *m,
			 struct bench_settings *s);
	int (*check)(const struct bench_machine *m,
		     const struct bench_settings *s, char *why, size_t why_len);
	int (*run)(const struct bench_args *a);
	bool work_disk;
	bool network;
	bool survives_oom;
};

/* bench_find(), bench_nth() - the registry; NULL: there is none */
const struct bench_ops *bench_find(const char *name);
const struct bench_ops *bench_nth(size_t n);
/* bench_index() - position in the registry */
size_t bench_index(const struct bench_ops *ops);
/* bench_setting() - index of a setting, or -1 */
int bench_setting(const struct bench_ops *ops, const char *name);
/* bench_setting_ok() - may @v be added to @values of a setting? */
bool bench_setting_ok(const struct bench_setting *def,
		      const struct bench_values *values, uint64_t v);

/* bench_wake() - opens the window: bench_ready() returns. Return: 0, or -1 (errno) */
int bench_wake(struct bench_shared *shared);

/* --- for the benchmarks themselves ---------------------------------------- */

/* bench_value() - of a setting with one value */
static inline uint64_t bench_value(const struct bench_settings *s, int setting)
{
	return s->of[setting].v[0];
}

/* bench_default() - @v, unless the setting has a value */
void bench_default(struct bench_settings *s, int setting, uint64_t v);

/* bench_ready() - says so, and returns when the window is open */
void bench_ready(struct bench_shared *shared);

/**
 * bench_fail() - say why a benchmark cannot go on
 * @err: errno; 0: there is none
 * @fmt: what was tried, as for printf()
 *
 * The first failure stays. May be called by any thread. Return: -1.
 */
int bench_fail(struct bench_shared *shared, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* bench_add_row() - a row whose figures are BENCH_FIGURE_NONE, to be filled in */
struct bench_row *bench_add_row(struct bench_shared *shared, unsigned int kind);

/* bench_now_ns() - CLOCK_MONOTONIC */
uint64_t bench_now_ns(void);

/* bench_random() - the next number of a series: xorshift64* (Vigna 2016).
 * @state: not 0 */
uint64_t bench_random(uint64_t *state);
/* bench_seed() - a state for series @n of seed @seed, by splitmix64 */
uint64_t bench_seed(uint64_t seed, uint64_t n);

extern const struct bench_ops tiobench_ops;
extern const struct bench_ops chat_ops;
extern const struct bench_ops qsbench_ops;

#endif
