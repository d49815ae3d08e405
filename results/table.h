/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table.h - the boots of one `kontest run` as loads x kernels
 */
#ifndef KONTEST_TABLE_H
#define KONTEST_TABLE_H

#include "results/record.h"

/* struct sample - a good run and the boot it belongs to */
struct sample {
	const struct boot_record *boot;
	const struct run_record *run;
};
DEFINE_VECTOR(samples, struct sample)

/**
 * struct cell - one kernel under one load
 * @good: its good runs, boot by boot
 * @notes: a line on each run that is missing, failed or censored; owned
 */
struct cell {
	struct samples good;
	struct strings notes;
};

/**
 * struct table_kernel - a kernel of the plan
 * @order: its position in the plan
 * @label: owned by a boot
 * @first: its first boot, or NULL when it has none
 */
struct table_kernel {
	int64_t order;
	const char *label;
	const struct boot_record *first;
};
DEFINE_VECTOR(table_kernels, struct table_kernel)

/**
 * struct table - loads in the plan's order x kernels in the plan's order
 * @kernels: the plan's kernels, with or without a boot
 * @loads: names, owned by the boots
 * @benches: names of the benchmarks that are not contest, owned by the boots
 * @cells: (loads.n + benches.n) * kernels.n of them, load by load; see
 *	table_cell()
 */
struct table {
	struct table_kernels kernels;
	struct strings loads, benches;
	struct cell *cells;
};

/* table_make() - sort @boots (kernel, number, id) and lay them out; the table
 * points into them, so free it first */
void table_make(struct table *t, struct boot_records *boots);
void table_free(struct table *t);
/* table_boots() - boots a kernel that a run's plan asked for, in the end */
int64_t table_boots(const struct boot_records *boots);
const struct cell *table_cell(const struct table *t, size_t load,
			      size_t kernel);
/* table_rows() - loads and then benchmarks, as table_cell() counts them, too.
 * table_row_name() - of one; owned by the boots */
size_t table_rows(const struct table *t);
const char *table_row_name(const struct table *t, size_t row);
/* table_find_row() - of a load or a benchmark; table_rows(): it was not run */
size_t table_find_row(const struct table *t, const char *name, bool bench);
/* table_bench_cell() - the same of a benchmark */
const struct cell *table_bench_cell(const struct table *t, size_t bench,
				    size_t kernel);
/* table_find_bench() - index of a benchmark, benches.n: it was not run */
size_t table_find_bench(const struct table *t, const char *name);
/* table_load_run() - a run that tells the load's unit and size: the first good
 * one that does, or NULL */
const struct run_record *table_load_run(const struct table *t, size_t load);
/* table_no_load() - the same kernel's no_load cell, or NULL */
const struct cell *table_no_load(const struct table *t, size_t kernel);

/* sample_ns(), ... - derived figures of one run; NAN when it has them not */
double sample_time_s(const struct sample *s);
double sample_job_s(const struct sample *s);	/* user + system */
double sample_load_s(const struct sample *s);	/* of the load; 0 when none ran */
double sample_loads(const struct sample *s);	/* done / per_load */
double sample_loads_per_s(const struct sample *s);
double sample_figure(const struct sample *s, enum run_figure f);

/* cell_mean() - mean over the good runs; NAN when there is none or one of them
 * has it not */
double cell_mean(const struct cell *c, double (*of)(const struct sample *s));

/**
 * struct spread - a mean over runs, and how far to trust it
 * @runs, @boots: behind it
 * @mean: over runs; NAN: there is none
 * @half_width: of the 95 % confidence interval over the boots' own means; NAN
 *	with fewer than two boots
 */
struct spread {
	size_t runs, boots;
	double mean, half_width;
};

/**
 * cell_spread() - of some figure of a cell's good runs
 * @of: the figure of a run; NAN: this run has none and is left out
 * @arg: for @of
 */
struct spread cell_spread(const struct cell *c,
			  double (*of)(const struct sample *s, const void *arg),
			  const void *arg);

/* cell_boots() - boots with a good run */
size_t cell_boots(const struct cell *c);

/* cell_figure() - mean of one of RUN_END's figures; NAN as above */
double cell_figure(const struct cell *c, enum run_figure f);

/**
 * struct cell_figures - exact derived figures of a cell
 * @boots: boots with a good run
 * @runs: good runs
 * @time_s: mean of the window
 * @cpu_pct: the job's CPU time / Time, in %
 * @loads: mean of the Loads done in the window
 * @loads_per_s: Loads / Time
 * @marginal_per_s: Con Kolivas's rate, Loads / (Time - no_load Time): the load's
 *	work in each second that it costs the job. NAN where that difference is
 *	not above @marginal_noise_s
 * @marginal_noise_s: half-width of the 95 % confidence interval of Time - no_load
 *	Time (Welch), from two boots each on. With fewer NAN, in exact mode too:
 *	a Time is exact there, yet another seed gives another one
 * @lcpu_pct: the load's CPU time in the window / Time, in %
 * @ratio: Time / the same kernel's no_load Time
 * @user_pct, ... @iowait_pct: of all CPUs' time in the window; user with nice,
 *	system with interrupts
 * @psi_cpu_pct, ...: share of the window in which some task, or all at once
 *	(full), waited for it
 * @swap_in_pages, @swap_out_pages: mean of the pages in the window
 * @job_pct: the job's share of the CPU time of job and load
 * @time_hw_s, @loads_per_s_hw, @ratio_hw: half-widths of the 95 % confidence
 *	interval; the observations are the boots' own means, since the boot is
 *	what was replicated. The ratio's are paired within each boot.
 *
 * Means are over all good runs, percentages are ratios of sums. NAN: cannot
 * be computed.
 */
struct cell_figures {
	size_t boots, runs;
	double time_s, time_hw_s;
	double cpu_pct;
	double loads, loads_per_s, loads_per_s_hw;
	double lcpu_pct;
	double ratio, ratio_hw;
	double marginal_per_s, marginal_noise_s;
	double user_pct, system_pct, steal_pct, idle_pct, iowait_pct;
	double psi_cpu_pct, psi_memory_pct, psi_memory_full_pct;
	double psi_io_pct, psi_io_full_pct;
	double swap_in_pages, swap_out_pages;
	double job_pct;
};

void cell_compute(const struct table *t, size_t load, size_t kernel,
		  struct cell_figures *f);

#endif
