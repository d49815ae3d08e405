/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_contest.c - tables as contest 0.51, 0.60 and 0.61 printed them
 *
 * contest 0.60 and 0.61 cut averages to whole seconds before they divided
 * (every CPU% and Ratio of contest-2.5.59-mm7 and contest-100hz-v-1000hz comes
 * out so); these tables are views on exact figures by those rules.
 */
#include "results/render.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/base/cleanup.h"
#include "results/columns.h"

#define TAB 8
#define RUNS "[runs]"

/* put_tab() - what a tab does, in spaces */
static void put_tab(struct buf *b, size_t line)
{
	size_t at = text_width(b->data + line);

	pad_to(b, line, (at / TAB + 1) * TAB);
}

static void put_header(struct buf *b, size_t line, size_t time_col)
{
	static const char *const titles[] = { "CPU%", "Loads", "LCPU%", "Ratio" };

	pad_to(b, line, time_col);
	buf_adds(b, "Time");
	for (size_t i = 0; i < 4; i++) {
		put_tab(b, line);
		buf_adds(b, titles[i]);
	}
	buf_adds(b, "\n");
}

static void put_figures(struct buf *b, size_t line, size_t time_col,
			const struct contest_row *row, const int decimals[5])
{
	const double v[] = { row->time_s, row->cpu_pct, row->loads,
			     row->lcpu_pct, row->ratio };

	pad_to(b, line, time_col);
	for (size_t i = 0; i < 5; i++) {
		if (i)
			put_tab(b, line);
		if (row->printed)
			buf_adds(b, row->printed[i]);
		else
			put_number(b, v[i], decimals[i]);
	}
	buf_adds(b, "\n");
}

static size_t longest(const struct contest_row *rows, size_t n, size_t least)
{
	for (size_t i = 0; i < n; i++) {
		size_t width = text_width(rows[i].label);

		least = width > least ? width : least;
	}
	return least;
}

/* 0.60 and 0.61: [runs] is a column, 4 k + 3 wide before it, numbers end
 * where "[runs]" does */
static void put_load_060(struct buf *b, bool whole_loads,
			 const struct contest_row *rows, size_t n)
{
	const int decimals[] = { 0, 1, whole_loads ? 0 : 1, 1, 2 };
	size_t label = (longest(rows, n, strlen("Kernel")) + 1) / 4 * 4 + 3;
	size_t runs_end = label + strlen(RUNS);
	size_t time_col = (runs_end / TAB + 1) * TAB;
	size_t line = b->len;

	put_left(b, "Kernel", label);
	buf_adds(b, RUNS);
	put_header(b, line, time_col);
	for (size_t i = 0; i < n; i++) {
		line = b->len;
		put_left(b, rows[i].label, label);
		buf_printf(b, "%*zu", (int)strlen(RUNS), rows[i].runs);
		put_figures(b, line, time_col, &rows[i], decimals);
	}
}

/* 0.51: the runs stand in brackets behind the label */
static void put_load_051(struct buf *b, const struct contest_row *rows,
			 size_t n)
{
	static const int decimals[] = { 1, 0, 0, 0, 2 };
	size_t time_col = 3 * TAB, line = b->len, width = 0;

	for (size_t i = 0; i < n; i++) {
		size_t w = text_width(rows[i].label) +
			   (size_t)snprintf(NULL, 0, " [%zu]", rows[i].runs);

		width = w > width ? w : width;
	}
	if (width >= time_col)
		time_col = (width / TAB + 1) * TAB;
	buf_adds(b, "Kernel " RUNS);
	put_header(b, line, time_col);
	for (size_t i = 0; i < n; i++) {
		line = b->len;
		put_left(b, rows[i].label, 0);
		buf_printf(b, " [%zu]", rows[i].runs);
		put_figures(b, line, time_col, &rows[i], decimals);
	}
}

void contest_put_load(struct buf *b, enum contest_style style,
		      const char *load, const struct contest_row *rows,
		      size_t n)
{
	/* 0.51 still wrote it in one word. */
	if (style == CONTEST_051 && strcmp(load, "no_load") == 0)
		load = "noload";
	put_left(b, load, 0);
	buf_adds(b, ":\n");
	if (style == CONTEST_051)
		put_load_051(b, rows, n);
	else
		put_load_060(b, style == CONTEST_060, rows, n);
}

/* whole_seconds() - mean of the sum of two figures over the good runs, in
 * whole seconds, exact: a double could cut 79 s to 78 */
static double whole_seconds(const struct cell *c, enum run_figure f,
			    enum run_figure g)
{
	__int128 sum_ns = 0;

	if (!c || c->good.n == 0)
		return NAN;
	for (size_t i = 0; i < c->good.n; i++) {
		const int64_t *fig = c->good.v[i].run->fig;

		if (fig[f] == FIGURE_NONE || fig[g] == FIGURE_NONE)
			return NAN;
		sum_ns += fig[f];
		if (f != g)
			sum_ns += fig[g];
	}
	return (double)(sum_ns / (__int128)c->good.n / 1000000000);
}

static double whole_load_s(const struct sample *s)
{
	return trunc(sample_load_s(s));
}

static void fill_060(const struct report *r, size_t load, size_t kernel,
		     bool whole_loads, struct contest_row *row)
{
	const struct cell *c = table_cell(&r->table, load, kernel);
	const struct cell *no_load = table_no_load(&r->table, kernel);

	row->time_s = whole_seconds(c, FIG_WALL_NS, FIG_WALL_NS);
	row->cpu_pct = 100 * whole_seconds(c, FIG_JOB_USER_NS,
					   FIG_JOB_SYSTEM_NS) / row->time_s;
	row->loads = cell_mean(c, sample_loads);
	if (whole_loads)
		row->loads = trunc(row->loads);
	row->lcpu_pct = 100 * cell_mean(c, whole_load_s) / row->time_s;
	row->ratio = row->time_s / whole_seconds(no_load, FIG_WALL_NS,
						 FIG_WALL_NS);
}

/* reference_kernel() - 0.51 divided by one fixed time: the first kernel's
 * no_load; kernels.n when none has one */
static size_t reference_kernel(const struct report *r)
{
	size_t k = 0;

	while (k < r->table.kernels.n) {
		const struct cell *c = table_no_load(&r->table, k);

		if (c && c->good.n)
			break;
		k++;
	}
	return k;
}

static void fill_051(const struct report *r, size_t load, size_t kernel,
		     size_t reference, struct contest_row *row)
{
	const struct cell *c = table_cell(&r->table, load, kernel);

	row->time_s = cell_mean(c, sample_time_s);
	row->cpu_pct = 100 * cell_mean(c, sample_job_s) / row->time_s;
	row->loads = trunc(cell_mean(c, sample_loads));
	row->lcpu_pct = 100 * cell_mean(c, sample_load_s) / row->time_s;
	row->ratio = reference < r->table.kernels.n ?
		row->time_s / cell_mean(table_no_load(&r->table, reference),
					sample_time_s) : NAN;
}

static void add_own(const struct report *r, size_t load,
		    enum contest_style style, size_t reference,
		    struct contest_rows *rows)
{
	for (size_t k = 0; k < r->table.kernels.n; k++) {
		struct contest_row row = {
			.label = r->table.kernels.v[k].label,
			.runs = table_cell(&r->table, load, k)->good.n,
		};

		if (style == CONTEST_051)
			fill_051(r, load, k, reference, &row);
		else
			fill_060(r, load, k, style == CONTEST_060, &row);
		contest_rows_add(rows, row);
	}
}

/* --- foreign rows, below one's own and marked by stars ------------------------ */

/* star() - "*", or "*2" when there are several imports */
static char *star(const struct report *r, size_t import)
{
	return r->imports.n > 1 ? xasprintf("*%zu", import + 1) : xstrdup("*");
}

/* add_foreign() - all rows about a load; the labels live in @labels */
static void add_foreign(const struct report *r, const char *load,
			struct contest_rows *rows, struct strings *labels)
{
	for (size_t i = 0; i < r->imports.n; i++) {
		const struct import_tables *t = &r->imports.v[i].tables;
		cleanup_free char *mark = star(r, i);

		for (size_t j = 0; j < t->n; j++) {
			const struct import_rows *v = &t->v[j].rows;

			if (strcmp(t->v[j].load, load) != 0)
				continue;
			for (size_t k = 0; k < v->n; k++)
				contest_rows_add(rows, (struct contest_row) {
					.label = *strings_add(labels,
						xasprintf("%s%s", v->v[k].label,
							  mark)),
					.runs = v->v[k].runs,
					.printed = v->v[k].text,
				});
		}
	}
}

static bool has_load(const struct strings *loads, const char *load)
{
	for (size_t i = 0; i < loads->n; i++) {
		if (strcmp(loads->v[i], load) == 0)
			return true;
	}
	return false;
}

/* put_foreign_loads() - loads that are in imports alone */
static void put_foreign_loads(const struct report *r, enum contest_style style,
			      struct buf *b)
{
	/* Names only: the table and the imports own them. */
	CLEANUP(strings_free) struct strings done = { 0 };

	for (size_t l = 0; l < r->table.loads.n; l++)
		strings_add(&done, r->table.loads.v[l]);
	for (size_t i = 0; i < r->imports.n; i++) {
		const struct import_tables *t = &r->imports.v[i].tables;

		for (size_t j = 0; j < t->n; j++) {
			CLEANUP(contest_rows_free) struct contest_rows rows = { 0 };
			CLEANUP(strings_clear) struct strings labels = { 0 };

			if (has_load(&done, t->v[j].load))
				continue;
			strings_add(&done, t->v[j].load);
			add_foreign(r, t->v[j].load, &rows, &labels);
			contest_put_load(b, style, t->v[j].load, rows.v,
					 rows.n);
		}
	}
}

static void put_stars(const struct report *r, struct buf *b)
{
	for (size_t i = 0; i < r->imports.n; i++) {
		const struct import *imp = &r->imports.v[i];
		cleanup_free char *mark = star(r, i);
		bool printed_by[] = { false, false, false };
		const char *comma = "";

		buf_printf(b, "%s: '%s', not measured here, figures as printed by ",
			   mark, imp->name);
		for (size_t j = 0; j < imp->tables.n; j++)
			printed_by[imp->tables.v[j].format] = true;
		for (int f = IMPORT_051; f <= IMPORT_061; f++) {
			if (!printed_by[f])
				continue;
			buf_printf(b, "%s%s", comma,
				   import_format_name((enum import_format)f));
			comma = ", ";
		}
		buf_adds(b, "\n");
	}
}

void render_contest(const struct report *r, enum contest_style style,
		    struct buf *b)
{
	const struct table *t = &r->table;
	size_t reference = reference_kernel(r);

	for (size_t l = 0; l < t->loads.n; l++) {
		CLEANUP(contest_rows_free) struct contest_rows rows = { 0 };
		CLEANUP(strings_clear) struct strings labels = { 0 };

		add_own(r, l, style, reference, &rows);
		add_foreign(r, t->loads.v[l], &rows, &labels);
		contest_put_load(b, style, t->loads.v[l], rows.v, rows.n);
		put_notes(r, l, b);
	}
	put_foreign_loads(r, style, b);
	if (style == CONTEST_051 && reference < t->kernels.n) {
		buf_adds(b, "Ratio: Time / no_load Time of ");
		put_left(b, t->kernels.v[reference].label, 0);
		buf_adds(b, "\n");
	}
	put_stars(r, b);
}
