/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_wide.c - the exact figures: what the classic columns are views on
 */
#include "results/render.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/base/cleanup.h"
#include "results/columns.h"
#include "results/grid.h"

#define MIB (1024.0 * 1024)

/* row_figures() - rows are loads x kernels */
static void row_figures(const struct report *r, size_t row,
			struct cell_figures *f)
{
	cell_compute(&r->table, row / r->table.kernels.n,
		     row % r->table.kernels.n, f);
}

static const struct cell *row_cell(const struct report *r, size_t row)
{
	return table_cell(&r->table, row / r->table.kernels.n,
			  row % r->table.kernels.n);
}

static void add_kernel(const struct report *r, size_t row, struct grid *g)
{
	grid_add_text(g, r->table.kernels.v[row % r->table.kernels.n].label);
}

static void add_load_and_kernel(const struct report *r, size_t row,
				struct grid *g)
{
	grid_add_text(g, r->table.loads.v[row / r->table.kernels.n]);
	add_kernel(r, row, g);
}

/* --- what contest measures ---------------------------------------------------- */

static const char *const run_titles[] = {
	"Kernel", "Boots", "Runs", "Time s", "+-", "CPU%", "Loads", "Loads/s",
	"+-", "Marginal/s", "LCPU%", "Ratio", "+-", "Idle%", "IOwait%",
	"Job:load", NULL
};

static char *split(double job_pct)
{
	if (!isfinite(job_pct))
		return xstrdup("-");
	/* 100 * x / x may be a little more than 100 */
	return xasprintf("%.1f:%.1f", job_pct, fmax(0, 100 - job_pct));
}

static void add_run_row(const struct report *r, size_t row, struct grid *g)
{
	struct cell_figures f;

	row_figures(r, row, &f);
	add_kernel(r, row, g);
	grid_add(g, xasprintf("%zu", f.boots));
	grid_add(g, xasprintf("%zu", f.runs));
	grid_add_number(g, f.time_s, 3);
	grid_add_number(g, f.time_hw_s, 3);
	grid_add_number(g, f.cpu_pct, 1);
	grid_add_number(g, f.loads, 2);
	grid_add_number(g, f.loads_per_s, 3);
	grid_add_number(g, f.loads_per_s_hw, 3);
	grid_add_number(g, f.marginal_per_s, 3);
	grid_add_number(g, f.lcpu_pct, 1);
	grid_add_number(g, f.ratio, 3);
	grid_add_number(g, f.ratio_hw, 3);
	grid_add_number(g, f.idle_pct, 1);
	grid_add_number(g, f.iowait_pct, 1);
	grid_add(g, split(f.job_pct));
}

static void put_runs(const struct report *r, size_t rows, struct buf *b)
{
	CLEANUP(grid_free) struct grid g = { .titles = run_titles, .text = 1 };
	size_t kernels = r->table.kernels.n;

	for (size_t i = 0; i < rows; i++)
		add_run_row(r, i, &g);
	for (size_t i = 0; i < rows; i++) {
		if (i % kernels == 0) {
			put_left(b, r->table.loads.v[i / kernels], 0);
			buf_adds(b, ":\n");
			grid_put_head(&g, b);
		}
		grid_put_row(&g, i, b);
		if (i % kernels == kernels - 1)
			put_notes(r, i / kernels, b);
	}
}

/* --- what the machine did ----------------------------------------------------- */

static const char *const machine_titles[] = {
	"Load", "Kernel", "User%", "System%", "Steal%", "Faults", "Major",
	"Swap in", "Swap out", "Ctxt", "PSI CPU%", "Mem%", "full%", "I/O%",
	"full%", NULL
};

static void put_machine(const struct report *r, size_t rows, struct buf *b)
{
	CLEANUP(grid_free) struct grid g = { .titles = machine_titles,
					     .text = 2 };

	for (size_t i = 0; i < rows; i++) {
		const struct cell *c = row_cell(r, i);
		struct cell_figures f;

		row_figures(r, i, &f);
		add_load_and_kernel(r, i, &g);
		grid_add_number(&g, f.user_pct, 1);
		grid_add_number(&g, f.system_pct, 1);
		grid_add_number(&g, f.steal_pct, 1);
		grid_add_number(&g, cell_figure(c, FIG_VM_PGFAULT), 0);
		grid_add_number(&g, cell_figure(c, FIG_VM_PGMAJFAULT), 0);
		grid_add_number(&g, f.swap_in_pages, 0);
		grid_add_number(&g, f.swap_out_pages, 0);
		grid_add_number(&g, cell_figure(c, FIG_CTXT), 0);
		grid_add_number(&g, f.psi_cpu_pct, 1);
		grid_add_number(&g, f.psi_memory_pct, 1);
		grid_add_number(&g, f.psi_memory_full_pct, 1);
		grid_add_number(&g, f.psi_io_pct, 1);
		grid_add_number(&g, f.psi_io_full_pct, 1);
	}
	grid_put(&g, b);
}

/* --- what the disks did ------------------------------------------------------- */

static const char *const disk_titles[] = {
	"Load", "Kernel", "All r", "w", "Requests", "System r", "Work r", "w",
	"Other r", "w", "Swap r", "w", "By job r", "w", "By load r", "w", NULL
};

static void add_mib(struct grid *g, const struct cell *c, enum run_figure f)
{
	grid_add_number(g, cell_figure(c, f) / MIB, 1);
}

static void put_disks(const struct report *r, size_t rows, struct buf *b)
{
	static const enum run_figure mib[] = {
		FIG_DISK_SYSTEM_READ_BYTES,
		FIG_DISK_WORK_READ_BYTES, FIG_DISK_WORK_WRITE_BYTES,
		FIG_DISK_OTHER_READ_BYTES, FIG_DISK_OTHER_WRITE_BYTES,
		FIG_DISK_SWAP_READ_BYTES, FIG_DISK_SWAP_WRITE_BYTES,
		FIG_JOB_IO_READ_BYTES, FIG_JOB_IO_WRITE_BYTES,
		FIG_LOAD_IO_READ_BYTES, FIG_LOAD_IO_WRITE_BYTES,
	};
	CLEANUP(grid_free) struct grid g = { .titles = disk_titles, .text = 2 };

	for (size_t i = 0; i < rows; i++) {
		const struct cell *c = row_cell(r, i);

		add_load_and_kernel(r, i, &g);
		add_mib(&g, c, FIG_DISK_READ_BYTES);
		add_mib(&g, c, FIG_DISK_WRITE_BYTES);
		grid_add_number(&g, cell_figure(c, FIG_DISK_READS) +
				    cell_figure(c, FIG_DISK_WRITES), 0);
		for (size_t k = 0; k < sizeof(mib) / sizeof(mib[0]); k++)
			add_mib(&g, c, mib[k]);
	}
	grid_put(&g, b);
}

/* --- the whole ---------------------------------------------------------------- */

/* put_units() - what one Load is; a line a load */
static void put_units(const struct report *r, struct buf *b)
{
	buf_adds(b, "One Load:\n");
	for (size_t l = 0; l < r->table.loads.n; l++) {
		const struct run_record *run = table_load_run(&r->table, l);

		if (!run || !run->unit)
			continue;
		buf_adds(b, "  ");
		put_left(b, r->table.loads.v[l], 0);
		buf_adds(b, ": ");
		put_left(b, run->unit, 0);
		if (run->size_unit && run->fig[FIG_LOAD_SIZE] != FIGURE_NONE) {
			buf_printf(b, "; size %lld ",
				   (long long)run->fig[FIG_LOAD_SIZE]);
			put_left(b, run->size_unit, 0);
		}
		buf_adds(b, "\n");
	}
}

static void put_named(struct buf *b, const char *what, const json_t *v,
		      const char *member)
{
	const char *s = json_string_value(member ? json_object_get(v, member)
						 : v);

	if (s)
		buf_printf(b, "%s%s %s", b->len ? ", " : "", what, s);
}

/* put_origin() - where the figures come from; one line */
static void put_origin(const struct report *r, struct buf *b)
{
	CLEANUP(buf_free) struct buf line = { 0 };
	const json_t *ctx = r->boots.v[0].context;

	put_named(&line, "plan", json_object_get(ctx, "plan"), "name");
	put_named(&line, "profile", json_object_get(ctx, "profile"), "name");
	put_named(&line, "job", json_object_get(ctx, "job"), "name");
	put_named(&line, "accelerator", json_object_get(ctx, "accel"), NULL);
	put_left(b, line.data, 0);
	buf_adds(b, "\n");
}

static void put_contest(const struct report *r, size_t rows, struct buf *b)
{
	put_runs(r, rows, b);
	buf_adds(b, "+-: half of the 95 % confidence interval over boots; Ratio: Time / no_load Time of the same kernel;\n"
		    "Marginal/s: Loads / (Time - no_load Time), - within noise or with one boot; Job:load: shares of the CPU time of both\n");
	put_units(r, b);
	buf_adds(b, "\nThe machine in the window (means; swap in pages; PSI: % of it in which some task, or \"full\" all, waited):\n");
	put_machine(r, rows, b);
	buf_adds(b, "\nThe disks in the window (means, MiB; r read, w written; by job and by load: what of theirs reached a disk):\n");
	put_disks(r, rows, b);
}

void render_wide(const struct report *r, struct buf *b)
{
	size_t rows = r->table.loads.n * r->table.kernels.n;

	put_origin(r, b);
	if (rows)
		put_contest(r, rows, b);
	put_benches_wide(r, b);
	put_noise_wide(r, b);
}
