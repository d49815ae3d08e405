/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench.c - what is derived from a benchmark's rows and its window
 */
#include "results/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIB (1024.0 * 1024)
#define NS_PER_MS 1e6
#define NS_PER_S 1e9
#define PAGE_KB 4	/* of x86-64, the only machine there is */

double bench_count(const json_t *row, const char *name)
{
	const json_t *v = json_object_get(row, name);

	return json_is_integer(v) ? (double)json_integer_value(v) : NAN;
}

/* --- tiobench --------------------------------------------------------------- */

static double tio_rate(const struct sample *s, const json_t *row)
{
	(void)s;
	return bench_count(row, "bytes") / MIB /
	       (bench_count(row, "wall_ns") / NS_PER_S);
}

static double tio_cpu(const struct sample *s, const json_t *row)
{
	(void)s;
	return 100 * (bench_count(row, "user_ns") +
		      bench_count(row, "system_ns")) /
	       bench_count(row, "wall_ns");
}

static double tio_eff(const struct sample *s, const json_t *row)
{
	double cpu = tio_cpu(s, row);

	return cpu > 0 ? tio_rate(s, row) / (cpu / 100) : NAN;
}

static double tio_average(const struct sample *s, const json_t *row)
{
	(void)s;
	return bench_count(row, "lat_sum_ns") / bench_count(row, "ops") /
	       NS_PER_MS;
}

static double tio_over_2s(const struct sample *s, const json_t *row)
{
	(void)s;
	return 100 * bench_count(row, "over_2s") / bench_count(row, "ops");
}

static double tio_over_10s(const struct sample *s, const json_t *row)
{
	(void)s;
	return 100 * bench_count(row, "over_10s") / bench_count(row, "ops");
}

static double tio_fsync(const struct sample *s, const json_t *row)
{
	(void)s;
	return bench_count(row, "fsync_sum_ns") / bench_count(row, "fsyncs") /
	       NS_PER_MS;
}

/* MS() - a latency in ns, in ms */
#define MS(name, member)						\
	static double name(const struct sample *s, const json_t *row)	\
	{								\
		(void)s;						\
		return bench_count(row, member) / NS_PER_MS;		\
	}

MS(tio_max, "lat_max_ns")
MS(tio_p50, "lat_p50_ns")
MS(tio_p95, "lat_p95_ns")
MS(tio_p99, "lat_p99_ns")
MS(tio_p999, "lat_p999_ns")
MS(tio_fsync_max, "fsync_max_ns")

static const struct bench_column tiobench[] = {
	{ "rate_mib_s", "MiB/s", 2, tio_rate },
	{ "cpu_pct", "CPU%", 2, tio_cpu },
	{ "cpu_eff", "CPU eff", 1, tio_eff },
	{ "lat_avg_ms", "Avg ms", 3, tio_average },
	{ "lat_p50_ms", "p50", 3, tio_p50 },
	{ "lat_p95_ms", "p95", 3, tio_p95 },
	{ "lat_p99_ms", "p99", 3, tio_p99 },
	{ "lat_p999_ms", "p99.9", 3, tio_p999 },
	{ "lat_max_ms", "Max ms", 2, tio_max },
	{ "over_2s_pct", ">2s %", 5, tio_over_2s },
	{ "over_10s_pct", ">10s %", 5, tio_over_10s },
	{ "fsync_avg_ms", "fsync ms", 2, tio_fsync },
	{ "fsync_max_ms", "max", 2, tio_fsync_max },
	{ NULL, NULL, 0, NULL }
};

/* --- the window ------------------------------------------------------------- */

/* sum() - of figures from @first to @last; NAN when there is none at all */
static double sum(const struct sample *s, int first, int last)
{
	double all = 0;
	bool some = false;

	for (int f = first; f <= last; f++) {
		double v = sample_figure(s, (enum run_figure)f);

		some = some || isfinite(v);
		all += isfinite(v) ? v : 0;
	}
	return some ? all : NAN;
}

static double busy(const struct sample *s, const json_t *row)
{
	double all = sum(s, FIG_CPU_USER_NS, FIG_CPU_STEAL_NS);

	(void)row;
	return 100 * (all - sum(s, FIG_CPU_IDLE_NS, FIG_CPU_IOWAIT_NS)) / all;
}

static double system_to_user(const struct sample *s, const json_t *row)
{
	double user = sum(s, FIG_CPU_USER_NS, FIG_CPU_NICE_NS);

	(void)row;
	return user > 0 ? (sample_figure(s, FIG_CPU_SYSTEM_NS) +
			   sum(s, FIG_CPU_IRQ_NS, FIG_CPU_SOFTIRQ_NS)) / user
			: NAN;
}

static double swap_in(const struct sample *s, const json_t *row)
{
	(void)row;
	return PAGE_KB * sample_figure(s, FIG_VM_PSWPIN);
}

static double swap_out(const struct sample *s, const json_t *row)
{
	(void)row;
	return PAGE_KB * sample_figure(s, FIG_VM_PSWPOUT);
}

static double swap_io(const struct sample *s, const json_t *row)
{
	return swap_in(s, row) + swap_out(s, row);
}

/* --- chat ------------------------------------------------------------------- */

static double chat_score(const struct sample *s, const json_t *row)
{
	(void)s;
	return (bench_count(row, "sent") + bench_count(row, "received")) /
	       (bench_count(row, "elapsed_ns") / NS_PER_S);
}

static double elapsed(const struct sample *s, const json_t *row)
{
	(void)s;
	return bench_count(row, "elapsed_ns") / NS_PER_S;
}

static const struct bench_column chat[] = {
	{ "messages_per_s", "msg/s", 1, chat_score },
	{ "elapsed_s", "Elapsed s", 3, elapsed },
	{ "cpu_pct", "CPU%", 1, busy },
	{ "system_to_user", "sys/user", 2, system_to_user },
	{ "swap_in_kb", "Swap in KB", 0, swap_in },
	{ "swap_out_kb", "out KB", 0, swap_out },
	{ "swap_io_kb", "both KB", 0, swap_io },
	{ NULL, NULL, 0, NULL }
};

/* --- qsbench ---------------------------------------------------------------- */

/* A run that lost a process has sorted less: its times are no times */
static bool whole(const json_t *row)
{
	return bench_count(row, "killed") == 0 &&
	       bench_count(row, "refused") == 0;
}

static double qs_elapsed(const struct sample *s, const json_t *row)
{
	return whole(row) ? elapsed(s, row) : NAN;
}

static double qs_user(const struct sample *s, const json_t *row)
{
	(void)s;
	return whole(row) ? bench_count(row, "user_ns") / NS_PER_S : NAN;
}

static double qs_system(const struct sample *s, const json_t *row)
{
	(void)s;
	return whole(row) ? bench_count(row, "system_ns") / NS_PER_S : NAN;
}

static double qs_cpu(const struct sample *s, const json_t *row)
{
	return 100 * (qs_user(s, row) + qs_system(s, row)) /
	       qs_elapsed(s, row);
}

static double qs_major(const struct sample *s, const json_t *row)
{
	(void)s;
	return whole(row) ? bench_count(row, "major_faults") : NAN;
}

static double qs_swap_in(const struct sample *s, const json_t *row)
{
	return whole(row) ? swap_in(s, row) : NAN;
}

static double qs_swap_out(const struct sample *s, const json_t *row)
{
	return whole(row) ? swap_out(s, row) : NAN;
}

static double qs_lost(const struct sample *s, const json_t *row)
{
	(void)s;
	return bench_count(row, "killed") + bench_count(row, "refused");
}

static const struct bench_column qsbench[] = {
	{ "elapsed_s", "Elapsed s", 3, qs_elapsed },
	{ "user_s", "User s", 3, qs_user },
	{ "system_s", "System s", 3, qs_system },
	{ "cpu_pct", "CPU%", 1, qs_cpu },
	{ "major_faults", "Major faults", 0, qs_major },
	{ "swap_in_kb", "Swap in KB", 0, qs_swap_in },
	{ "swap_out_kb", "out KB", 0, qs_swap_out },
	{ "oom_killed", "OOM-killed", 2, qs_lost },
	{ NULL, NULL, 0, NULL }
};

static const struct bench_view views[] = {
	{ "tiobench", tiobench }, { "chat", chat }, { "qsbench", qsbench },
};

/* --- the whole -------------------------------------------------------------- */

const struct bench_view *bench_view(const char *bench)
{
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++)
		if (strcmp(views[i].bench, bench) == 0)
			return &views[i];
	return NULL;
}

const struct bench_column *bench_column(const struct bench_view *v,
					const char *name)
{
	const struct bench_column *c = v->columns;

	while (c->name && strcmp(c->name, name) != 0)
		c++;
	if (!c->name)
		abort();
	return c;
}

static struct bench_key key_of(const json_t *row)
{
	const char *phase = json_string_value(json_object_get(row, "phase"));

	return (struct bench_key){
		.phase = phase,
		.threads = phase ? json_integer_value(
			json_object_get(row, "threads")) : 0,
	};
}

static bool same_key(const struct bench_key *a, const struct bench_key *b)
{
	return a->threads == b->threads && str_same(a->phase, b->phase);
}

static void add_key(struct bench_keys *keys, struct bench_key k)
{
	for (size_t i = 0; i < keys->n; i++)
		if (same_key(&keys->v[i], &k))
			return;
	bench_keys_add(keys, k);
}

void bench_keys_of(const struct table *t, size_t bench,
		   struct bench_keys *keys)
{
	for (size_t k = 0; k < t->kernels.n; k++) {
		const struct cell *c = table_bench_cell(t, bench, k);

		for (size_t i = 0; i < c->good.n; i++) {
			const json_t *row;
			size_t at;

			json_array_foreach(c->good.v[i].run->rows, at, row) {
				add_key(keys, key_of(row));
			}
		}
	}
}

const json_t *bench_row(const struct run_record *r, const struct bench_key *k)
{
	const json_t *row;
	size_t at;

	json_array_foreach(r->rows, at, row) {
		struct bench_key own = key_of(row);

		if (same_key(&own, k))
			return row;
	}
	return NULL;
}

struct wanted {
	const struct bench_key *key;
	const struct bench_column *col;
};

static double wanted_figure(const struct sample *s, const void *arg)
{
	const struct wanted *w = arg;
	const json_t *row = bench_row(s->run, w->key);
	double v = row ? w->col->of(s, row) : NAN;

	return isfinite(v) ? v : NAN;
}

struct spread bench_spread(const struct cell *c, const struct bench_key *k,
			   const struct bench_column *col)
{
	struct wanted w = { k, col };

	return cell_spread(c, wanted_figure, &w);
}

const json_t *bench_settings(const struct table *t, size_t bench)
{
	for (size_t k = 0; k < t->kernels.n; k++) {
		const struct cell *c = table_bench_cell(t, bench, k);

		if (c->good.n)
			return c->good.v[0].run->settings;
	}
	return NULL;
}
