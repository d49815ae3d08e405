/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_html_load.c - a load: every run as a point, distributions, figures
 */
#include "results/report_html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/base/cleanup.h"

static double time_of(const struct sample *s, const void *arg)
{
	(void)arg;
	return sample_time_s(s);
}

/* --- plots -------------------------------------------------------------------------- */

static void put_strip(struct html_page *p, const char *load,
		      const struct plot_rows *rows)
{
	cleanup_free char *title = xasprintf("Every run under %s", load);
	struct figure *f = html_figure_begin(p, title);

	plot_strip(f, rows, "Time, s");
	html_describe(f, rows, "s");
	html_figure_end(p, "Every run: a point; a line and a symbol for each boot. Diamond: the mean, with its 95 % interval over boots.");
}

/* An ECDF of more kernels than there are inks tells nothing: some at a time */
static void put_ecdfs(struct html_page *p, const char *load,
		      const struct plot_rows *rows)
{
	for (size_t from = 0; from < rows->n; from += PLOT_SERIES) {
		size_t n = rows->n - from < PLOT_SERIES ? rows->n - from
							: PLOT_SERIES;
		const struct plot_rows some = { .v = rows->v + from, .n = n };
		cleanup_free char *title =
			xasprintf("Distribution of Times under %s", load);
		struct figure *f;
		size_t runs = 0;

		for (size_t i = 0; i < n; i++)
			runs = some.v[i].runs.n > runs ? some.v[i].runs.n : runs;
		if (runs < 2)
			continue;
		f = html_figure_begin(p, title);
		plot_ecdf(f, &some, "Time, s");
		html_describe(f, &some, "s");
		html_figure_end(p, "Distribution (ECDF): the share of a kernel\u2019s runs that took no longer. The farther left, the faster.");
	}
}

static void put_plots(struct html_page *p, size_t load,
		      const struct cell *const *cells)
{
	CLEANUP(plot_rows_clear) struct plot_rows rows = { 0 };
	const char *name = p->r->table.loads.v[load];

	if (!html_any_good(cells, p->r->table.kernels.n))
		return;
	html_rows(p, cells, time_of, NULL, "s", &rows);
	buf_adds(p->b, "<div class=\"figures\">\n");
	put_strip(p, name, &rows);
	put_ecdfs(p, name, &rows);
	html_put_sweeps(p, load);
	buf_adds(p->b, "</div>\n");
}

/* --- figures ------------------------------------------------------------------------ */

static void put_n(struct buf *b, double v, int decimals)
{
	buf_adds(b, "<td class=\"n\">");
	html_number(b, v, decimals);
	buf_adds(b, "</td>");
}

static void put_figures(struct html_page *p, size_t load)
{
	struct buf *b = p->b;

	html_table(b, "figures-table", "What contest measures: means over the runs, \u00b1 half of the 95 % interval over boots");
	buf_adds(b, "<thead><tr><th scope=\"col\">Kernel</th><th scope=\"col\" class=\"n\">Boots</th><th scope=\"col\" class=\"n\">Runs</th><th scope=\"col\" class=\"n\">Time, s</th><th scope=\"col\" class=\"n\">Ratio</th><th scope=\"col\" class=\"n\">CPU %</th><th scope=\"col\" class=\"n\">Loads</th><th scope=\"col\" class=\"n\">Loads/s</th><th scope=\"col\" class=\"n\">Marginal/s</th><th scope=\"col\" class=\"n\">LCPU %</th></tr></thead>\n<tbody>\n");
	for (size_t k = 0; k < p->r->table.kernels.n; k++) {
		struct cell_figures f;

		cell_compute(&p->r->table, load, k, &f);
		html_kernel_head(p, k);
		buf_printf(b, "<td class=\"n\">%zu</td><td class=\"n\">%zu</td>",
			   f.boots, f.runs);
		html_mean_cell(b, f.time_s, f.time_hw_s, html_decimals(f.time_s));
		html_mean_cell(b, f.ratio, f.ratio_hw, 3);
		put_n(b, f.cpu_pct, 1);
		put_n(b, f.loads, 2);
		html_mean_cell(b, f.loads_per_s, f.loads_per_s_hw, 3);
		put_n(b, f.marginal_per_s, 3);
		put_n(b, f.lcpu_pct, 1);
		buf_adds(b, "</tr>\n");
	}
	buf_adds(b, "</tbody>\n");
	html_table_end(b);
}

static void put_machine(struct html_page *p, size_t load)
{
	struct buf *b = p->b;

	html_table(b, "figures-table", "The machine meanwhile: shares of all CPUs\u2019 time, pages swapped, and the share of time in which some task waited (PSI)");
	buf_adds(b, "<thead><tr><th scope=\"col\">Kernel</th><th scope=\"col\" class=\"n\">User %</th><th scope=\"col\" class=\"n\">System %</th><th scope=\"col\" class=\"n\">I/O wait %</th><th scope=\"col\" class=\"n\">Idle %</th><th scope=\"col\" class=\"n\">Steal %</th><th scope=\"col\" class=\"n\">Swap in</th><th scope=\"col\" class=\"n\">Swap out</th><th scope=\"col\" class=\"n\">PSI CPU %</th><th scope=\"col\" class=\"n\">PSI memory %</th><th scope=\"col\" class=\"n\">PSI I/O %</th></tr></thead>\n<tbody>\n");
	for (size_t k = 0; k < p->r->table.kernels.n; k++) {
		struct cell_figures f;

		cell_compute(&p->r->table, load, k, &f);
		html_kernel_head(p, k);
		put_n(b, f.user_pct, 1);
		put_n(b, f.system_pct, 1);
		put_n(b, f.iowait_pct, 1);
		put_n(b, f.idle_pct, 1);
		put_n(b, f.steal_pct, 1);
		put_n(b, f.swap_in_pages, 0);
		put_n(b, f.swap_out_pages, 0);
		put_n(b, f.psi_cpu_pct, 1);
		put_n(b, f.psi_memory_pct, 1);
		put_n(b, f.psi_io_pct, 1);
		buf_adds(b, "</tr>\n");
	}
	buf_adds(b, "</tbody>\n");
	html_table_end(b);
}

/* --- every run ---------------------------------------------------------------------- */

static void put_run(struct html_page *p, const struct boot_record *boot,
		    const struct run_record *run)
{
	const struct sample s = { boot, run };
	bool good = run_good(boot, run);
	cleanup_free char *why = good ? NULL : run_failure(boot, run);
	struct buf *b = p->b;

	buf_printf(b, "<tr%s><th scope=\"row\">", good ? "" : " class=\"bad\"");
	html_label(b, boot->label);
	buf_printf(b, "</th><td class=\"n\">%lld</td><td class=\"n\">%lld</td>",
		   (long long)boot->number, (long long)run->index);
	put_n(b, sample_time_s(&s), 6);
	put_n(b, sample_job_s(&s), 6);
	put_n(b, sample_load_s(&s), 6);
	put_n(b, sample_loads(&s), 3);
	buf_adds(b, "<td>");
	html_label(b, good ? "counts" : why);
	buf_adds(b, "</td></tr>\n");
}

static void put_runs(struct html_page *p, const char *load)
{
	buf_adds(p->b, "<details class=\"every\"><summary>Every run as numbers</summary>\n");
	html_table(p->b, "runs", "Every run, also those that do not count");
	buf_adds(p->b, "<thead><tr><th scope=\"col\">Kernel</th><th scope=\"col\" class=\"n\">Boot</th><th scope=\"col\" class=\"n\">Run</th><th scope=\"col\" class=\"n\">Time, s</th><th scope=\"col\" class=\"n\">Job\u2019s CPU, s</th><th scope=\"col\" class=\"n\">Load\u2019s CPU, s</th><th scope=\"col\" class=\"n\">Loads</th><th scope=\"col\">Verdict</th></tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < p->r->boots.n; i++) {
		const struct boot_record *boot = &p->r->boots.v[i];

		for (size_t k = 0; k < boot->runs.n; k++)
			if (!boot->runs.v[k].bench &&
			    !strcmp(boot->runs.v[k].load, load))
				put_run(p, boot, &boot->runs.v[k]);
	}
	buf_adds(p->b, "</tbody>\n");
	html_table_end(p->b);
	buf_adds(p->b, "</details>\n");
}

/* --- a section ---------------------------------------------------------------------- */

static void put_unit(struct html_page *p, size_t load)
{
	const struct run_record *run = table_load_run(&p->r->table, load);

	if (!run)
		return;
	buf_adds(p->b, "<p class=\"unit\">One Load: ");
	html_label(p->b, run->unit);
	if (run->size_unit && run->fig[FIG_LOAD_SIZE] != FIGURE_NONE) {
		buf_printf(p->b, "; size %lld ",
			   (long long)run->fig[FIG_LOAD_SIZE]);
		html_label(p->b, run->size_unit);
	}
	buf_adds(p->b, "</p>\n");
}

static void put_load(struct html_page *p, size_t load)
{
	const struct table *t = &p->r->table;
	cleanup_free const struct cell **cells = html_cells(t, load);

	buf_printf(p->b, "<section id=\"load-%zu\" aria-labelledby=\"h-load-%zu\">\n<h2 id=\"h-load-%zu\">",
		   load + 1, load + 1, load + 1);
	html_label(p->b, t->loads.v[load]);
	buf_adds(p->b, "</h2>\n");
	put_unit(p, load);
	html_notes(p->b, cells, t->kernels.n);
	put_plots(p, load, cells);
	put_figures(p, load);
	put_machine(p, load);
	put_runs(p, t->loads.v[load]);
	buf_adds(p->b, "</section>\n");
}

void html_put_loads(struct html_page *p)
{
	for (size_t l = 0; l < p->r->table.loads.n; l++)
		put_load(p, l);
}
