/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_html_bench.c - tiobench, chat and qsbench
 */
#include "results/report_html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/base/cleanup.h"
#include "results/bench.h"

/* main_metric() - the figure that a benchmark is known for, or NULL */
static const struct metric *main_metric(const char *bench)
{
	for (const struct metric *m = metrics(); m->name; m++)
		if (m->main && m->column && !strcmp(m->bench, bench))
			return m;
	return NULL;
}

/* --- plots -------------------------------------------------------------------------- */

/* struct of_row - for a figure of the rows of one key */
struct of_row {
	const struct bench_key *key;
	const struct bench_column *column;
};

static double row_figure(const struct sample *s, const void *arg)
{
	const struct of_row *o = arg;
	const json_t *row = bench_row(s->run, o->key);

	return row ? o->column->of(s, row) : NAN;
}

/* put_strip() - of a benchmark with one row a run */
static void put_strip(struct html_page *p, const char *bench,
		      const struct cell *const *cells,
		      const struct bench_key *key, const struct metric *m)
{
	CLEANUP(plot_rows_clear) struct plot_rows rows = { 0 };
	cleanup_free char *title = xasprintf("Every run of %s: %s", bench,
					     m->title);
	cleanup_free char *axis = xasprintf("%s, %s", m->title, m->unit);
	const struct of_row of = { key, bench_column(bench_view(bench), m->column) };
	struct figure *f = html_figure_begin(p, title);

	html_rows(p, cells, row_figure, &of, m->unit, &rows);
	plot_strip(f, &rows, axis);
	html_describe(f, &rows, m->unit);
	html_figure_end(p, m->more_is_better ?
			"Every run: a point; a line and a symbol for each boot. Diamond: the mean, with its 95 % interval over boots. More is better." :
			"Every run: a point; a line and a symbol for each boot. Diamond: the mean, with its 95 % interval over boots. Less is better.");
}

/* add_curve() - a kernel's figures of one phase over the number of threads */
static void add_curve(struct html_page *p, size_t bench, size_t kernel,
		      const char *phase, const struct bench_keys *keys,
		      const struct bench_column *column,
		      struct plot_curves *curves)
{
	const struct table *t = &p->r->table;
	struct plot_curve curve = { .label = t->kernels.v[kernel].label };

	for (size_t i = 0; i < keys->n; i++) {
		struct spread s;

		if (!str_same(keys->v[i].phase, phase))
			continue;
		s = bench_spread(table_bench_cell(t, bench, kernel),
				 &keys->v[i], column);
		if (isfinite(s.mean))
			plot_points_add(&curve.points, (struct plot_point){
				(double)keys->v[i].threads, s.mean,
				s.half_width });
	}
	if (curve.points.n)
		plot_curves_add(curves, curve);
	else
		plot_points_free(&curve.points);
}

static void describe_curves(struct figure *f, const struct plot_curves *c,
			    const char *unit)
{
	for (size_t i = 0; i < c->n; i++)
		for (size_t k = 0; k < c->v[i].points.n; k++)
			buf_printf(&f->desc, "%s, %g threads: %.6g %s; ",
				   c->v[i].label, c->v[i].points.v[k].x,
				   c->v[i].points.v[k].y, unit);
}

static void put_phase(struct html_page *p, size_t bench, const char *phase,
		      const struct bench_keys *keys, const struct metric *m)
{
	const char *name = p->r->table.benches.v[bench];
	cleanup_free char *title = xasprintf("%s, %s: %s", name, phase, m->title);
	cleanup_free char *axis = xasprintf("%s: %s, %s", phase, m->title, m->unit);
	struct plot_sweep s = {
		.x_axis = "Threads", .y_axis = axis,
		.base = NAN, .base_half_width = NAN,
	};
	struct figure *f;

	for (size_t k = 0; k < p->r->table.kernels.n; k++)
		add_curve(p, bench, k, phase, keys,
			  bench_column(bench_view(name), m->column), &s.curves);
	if (s.curves.n) {
		f = html_figure_begin(p, title);
		plot_sweep(f, &s);
		describe_curves(f, &s.curves, m->unit);
		html_figure_end(p, "Means of the runs, with the 95 % interval over boots.");
	}
	plot_curves_clear(&s.curves);
}

static bool first_of_phase(const struct bench_keys *keys, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (str_same(keys->v[k].phase, keys->v[i].phase))
			return false;
	return true;
}

static void put_plots(struct html_page *p, size_t bench,
		      const struct cell *const *cells,
		      const struct bench_keys *keys)
{
	const char *name = p->r->table.benches.v[bench];
	const struct metric *m = main_metric(name);

	if (!m || keys->n == 0 || !html_any_good(cells, p->r->table.kernels.n))
		return;
	buf_adds(p->b, "<div class=\"figures\">\n");
	if (!keys->v[0].phase)
		put_strip(p, name, cells, &keys->v[0], m);
	for (size_t i = 0; keys->v[0].phase && i < keys->n; i++)
		if (keys->v[i].phase && first_of_phase(keys, i))
			put_phase(p, bench, keys->v[i].phase, keys, m);
	buf_adds(p->b, "</div>\n");
}

/* --- table -------------------------------------------------------------------------- */

static void put_row(struct html_page *p, size_t bench, size_t kernel,
		    const struct bench_key *key, bool phases)
{
	const struct cell *c = table_bench_cell(&p->r->table, bench, kernel);
	const struct bench_view *v = bench_view(p->r->table.benches.v[bench]);

	html_kernel_head(p, kernel);
	if (phases)
		buf_printf(p->b, "<td class=\"n\">%lld</td>",
			   (long long)key->threads);
	buf_printf(p->b, "<td class=\"n\">%zu</td><td class=\"n\">%zu</td>",
		   cell_boots(c), c->good.n);
	for (const struct bench_column *col = v->columns; col->name; col++) {
		struct spread s = bench_spread(c, key, col);

		html_mean_cell(p->b, s.mean, s.half_width, col->decimals);
	}
	buf_adds(p->b, "</tr>\n");
}

static void put_titles(struct buf *b, const struct bench_view *v, bool threads)
{
	buf_printf(b, "<thead><tr><th scope=\"col\">Kernel</th>%s<th scope=\"col\" class=\"n\">Boots</th><th scope=\"col\" class=\"n\">Runs</th>",
		   threads ? "<th scope=\"col\" class=\"n\">Threads</th>" : "");
	for (const struct bench_column *col = v->columns; col->name; col++) {
		buf_adds(b, "<th scope=\"col\" class=\"n\">");
		html_text(b, col->title);
		buf_adds(b, "</th>");
	}
	buf_adds(b, "</tr></thead>\n");
}

/* put_table() - rows of one phase are a group of their own */
static void put_table(struct html_page *p, size_t bench,
		      const struct bench_keys *keys)
{
	const struct bench_view *v = bench_view(p->r->table.benches.v[bench]);
	bool phases = keys->n && keys->v[0].phase;
	size_t columns = 3 + phases;

	for (const struct bench_column *col = v->columns; col->name; col++)
		columns++;
	html_table(p->b, "figures-table", "Means over the runs, \u00b1 half of the 95 % interval over boots");
	put_titles(p->b, v, phases);
	for (size_t i = 0; i < keys->n; i++) {
		buf_adds(p->b, "<tbody>\n");
		if (phases && first_of_phase(keys, i)) {
			buf_printf(p->b, "<tr class=\"group\"><th scope=\"rowgroup\" colspan=\"%zu\">",
				   columns);
			html_label(p->b, keys->v[i].phase);
			buf_adds(p->b, "</th></tr>\n");
		}
		for (size_t k = 0; k < p->r->table.kernels.n; k++)
			put_row(p, bench, k, &keys->v[i], phases);
		buf_adds(p->b, "</tbody>\n");
	}
	html_table_end(p->b);
}

/* put_settings() - "threads 1, 2, 4; block 4096" */
static void put_settings(struct html_page *p, size_t bench)
{
	json_t *set = (json_t *)bench_settings(&p->r->table, bench);
	const char *name, *sep = "<p class=\"unit\">";
	const json_t *v, *item;
	size_t i;

	json_object_foreach(set, name, v) {
		buf_adds(p->b, sep);
		html_label(p->b, name);
		if (json_is_integer(v))
			buf_printf(p->b, " %lld", (long long)json_integer_value(v));
		json_array_foreach(v, i, item) {
			buf_printf(p->b, "%s %lld", i ? "," : "",
				   (long long)json_integer_value(item));
		}
		sep = "; ";
	}
	if (!strcmp(sep, "; "))
		buf_adds(p->b, "</p>\n");
}

static void put_bench_section(struct html_page *p, size_t bench)
{
	const struct table *t = &p->r->table;
	cleanup_free const struct cell **cells = html_cells(t, t->loads.n + bench);
	CLEANUP(bench_keys_free) struct bench_keys keys = { 0 };

	buf_printf(p->b, "<section id=\"bench-%zu\" aria-labelledby=\"h-bench-%zu\">\n<h2 id=\"h-bench-%zu\">",
		   bench + 1, bench + 1, bench + 1);
	html_label(p->b, t->benches.v[bench]);
	buf_adds(p->b, "</h2>\n");
	put_settings(p, bench);
	html_notes(p->b, cells, t->kernels.n);
	if (!bench_view(t->benches.v[bench])) {
		buf_adds(p->b, "<p>This kontest does not know the benchmark; its figures are in the report \u201cjson\u201d.</p>\n");
	} else {
		bench_keys_of(t, bench, &keys);
		put_plots(p, bench, cells, &keys);
		put_table(p, bench, &keys);
	}
	buf_adds(p->b, "</section>\n");
}

void html_put_benches(struct html_page *p)
{
	for (size_t i = 0; i < p->r->table.benches.n; i++)
		put_bench_section(p, i);
}
