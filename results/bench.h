/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench.h - the figures of tiobench, chat and qsbench as columns
 *
 * A run of a benchmark has rows (results/journal.h). Rows of the same phase and
 * number of threads are compared and averaged; each figure is a column.
 */
#ifndef KONTEST_RESULTS_BENCH_H
#define KONTEST_RESULTS_BENCH_H

#include "results/table.h"

/* struct bench_key - which rows belong together; chat and qsbench have one:
 * phase NULL, threads 0 */
struct bench_key {
	const char *phase;
	int64_t threads;
};
DEFINE_VECTOR(bench_keys, struct bench_key)

/**
 * struct bench_column - a derived figure
 * @name: member in JSON
 * @title: in wide tables
 * @decimals: there
 * @of: the figure of a run; @row: its row. NAN: it has none
 */
struct bench_column {
	const char *name, *title;
	int decimals;
	double (*of)(const struct sample *s, const json_t *row);
};

/* struct bench_view - a benchmark's columns, up to a NULL name */
struct bench_view {
	const char *bench;
	const struct bench_column *columns;
};

/* bench_view() - NULL: this kontest does not know the benchmark */
const struct bench_view *bench_view(const char *bench);
/* bench_column() - by name; it must exist */
const struct bench_column *bench_column(const struct bench_view *v,
					const char *name);

/* bench_keys_of() - of all kernels' good runs, in order of appearance */
void bench_keys_of(const struct table *t, size_t bench,
		   struct bench_keys *keys);
/* bench_row() - a run's row, or NULL */
const json_t *bench_row(const struct run_record *r, const struct bench_key *k);
/* bench_count() - a whole-number figure of a row; NAN: it has it not */
double bench_count(const json_t *row, const char *name);
/* bench_spread() - a column over a cell's runs */
struct spread bench_spread(const struct cell *c, const struct bench_key *k,
			   const struct bench_column *col);
/* bench_settings() - of the first good run of a benchmark, or NULL */
const json_t *bench_settings(const struct table *t, size_t bench);

#endif
