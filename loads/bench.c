/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench.c - the table of benchmarks, and what all of them share
 */
#include "loads/bench.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const struct bench_ops *const benches[] = {
	&tiobench_ops,
	&chat_ops,
	&qsbench_ops,
};

_Static_assert(sizeof(benches) / sizeof(benches[0]) == BENCH_COUNT,
	       "BENCH_COUNT");

const struct bench_ops *bench_nth(size_t n)
{
	return n < BENCH_COUNT ? benches[n] : NULL;
}

const struct bench_ops *bench_find(const char *name)
{
	for (size_t i = 0; i < BENCH_COUNT; i++)
		if (strcmp(benches[i]->name, name) == 0)
			return benches[i];
	return NULL;
}

size_t bench_index(const struct bench_ops *ops)
{
	size_t i = 0;

	while (i < BENCH_COUNT - 1 && benches[i] != ops)
		i++;
	return i;
}

int bench_setting(const struct bench_ops *ops, const char *name)
{
	for (int i = 0; ops->settings[i].name; i++)
		if (strcmp(ops->settings[i].name, name) == 0)
			return i;
	return -1;
}

bool bench_setting_ok(const struct bench_setting *def,
		      const struct bench_values *values, uint64_t v)
{
	if (v < def->min || v > def->max ||
	    values->n >= (def->list ? BENCH_LIST_MAX : 1))
		return false;
	for (size_t i = 0; i < values->n; i++)
		if (values->v[i] == v)
			return false;
	return true;
}

void bench_default(struct bench_settings *s, int setting, uint64_t v)
{
	struct bench_values *values = &s->of[setting];

	if (values->n == 0)
		values->v[values->n++] = v;
}

void bench_ready(struct bench_shared *shared)
{
	atomic_store(&shared->ready, 1);
	/* Whatever woke it, the loop looks again */
	while (atomic_load(&shared->go) == 0)
		syscall(SYS_futex, &shared->go, FUTEX_WAIT, 0, NULL, NULL, 0);
}

int bench_wake(struct bench_shared *shared)
{
	atomic_store(&shared->go, 1);
	return syscall(SYS_futex, &shared->go, FUTEX_WAKE, INT_MAX, NULL, NULL,
		       0) < 0 ? -1 : 0;
}

int bench_fail(struct bench_shared *shared, int err, const char *fmt, ...)
{
	static atomic_flag taken = ATOMIC_FLAG_INIT;
	va_list ap;
	size_t used;

	if (atomic_load(&shared->failed) != 0 || atomic_flag_test_and_set(&taken))
		return -1;
	va_start(ap, fmt);
	vsnprintf(shared->message, sizeof(shared->message), fmt, ap);
	va_end(ap);
	used = strlen(shared->message);
	if (err)
		snprintf(shared->message + used,
			 sizeof(shared->message) - used, ": %s", strerror(err));
	/* Whoever sees the errno sees the message too */
	atomic_store(&shared->failed, err ? err : EIO);
	atomic_flag_clear(&taken);
	return -1;
}

struct bench_row *bench_add_row(struct bench_shared *shared, unsigned int kind)
{
	size_t n = atomic_load(&shared->n);
	struct bench_row *row = &shared->rows[n];

	row->kind = kind;
	for (size_t i = 0; i < BENCH_FIGURES_MAX; i++)
		row->v[i] = BENCH_FIGURE_NONE;
	atomic_store(&shared->n, n + 1);
	return row;
}

uint64_t bench_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t bench_random(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * 0x2545f4914f6cdd1du;
}

uint64_t bench_seed(uint64_t seed, uint64_t n)
{
	uint64_t z = seed + (n + 1) * 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	z ^= z >> 31;
	return z ? z : 1;
}
