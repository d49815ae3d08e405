/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_html.c - one file for a browser: no script, no network, nothing but itself
 */
#include "results/report_html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/base/cleanup.h"

static void page_clear(struct html_page *p)
{
	figures_clear(&p->figures);
	strings_clear(&p->differences);
	if (p->compared)
		compare_free(&p->c);
}

/* compare_kernels() - with the plan's first; of one kernel there is nothing to say */
static void compare_kernels(struct html_page *p)
{
	const struct table *t = &p->r->table;
	cleanup_free struct compare_side *sides = NULL;

	if (t->kernels.n < 2)
		return;
	sides = xcalloc(t->kernels.n, sizeof(*sides));
	for (size_t k = 0; k < t->kernels.n; k++)
		sides[k] = (struct compare_side){
			.run_id = p->r->run_id,
			.table = t,
			.boots = &p->r->boots,
			.kernel = k,
		};
	compare_same(sides, t->kernels.n, &p->differences);
	/* With nothing that can be compared there are no verdicts to show. */
	p->compared = compare_make(&p->c, sides, t->kernels.n, NULL, NULL) == 0;
}

/* --- top of the page ------------------------------------------------------------------ */

static void put_title(struct html_page *p)
{
	if (p->r->boots.n)
		html_text(p->b, p->r->boots.v[0].plan_name);
	else
		buf_adds(p->b, "Imported results");
}

static void put_fact(struct buf *b, const char *name, const char *value)
{
	if (!*value)
		return;
	buf_printf(b, "<div><dt>%s</dt><dd>", name);
	html_label(b, value);
	buf_adds(b, "</dd></div>\n");
}

static void put_count(struct buf *b, const char *name, const char *of, size_t n,
		      size_t all)
{
	buf_printf(b, "<div><dt>%s</dt><dd>%zu", name, n);
	if (of && all != n)
		buf_printf(b, " <span class=\"warn\">of %zu %s</span>", all, of);
	buf_adds(b, "</dd></div>\n");
}

/* count_runs() - those that count, and all that the plan's boots were asked for */
static size_t count_runs(const struct report *r, size_t *all)
{
	size_t good = 0;

	*all = 0;
	for (size_t i = 0; i < r->boots.n; i++) {
		const struct boot_record *b = &r->boots.v[i];

		*all += b->runs.n;
		for (size_t k = 0; k < b->runs.n; k++)
			good += run_good(b, &b->runs.v[k]);
	}
	return good;
}

static size_t planned_boots(const struct report *r)
{
	size_t all = (size_t)table_boots(&r->boots) * r->table.kernels.n;

	return all > r->boots.n ? all : r->boots.n;
}

static void put_facts(struct html_page *p)
{
	const struct report *r = p->r;
	size_t runs_all, runs = count_runs(r, &runs_all);

	buf_adds(p->b, "<dl class=\"facts\">\n");
	put_fact(p->b, "Machine profile", context_text(&r->boots.v[0], "profile", "name"));
	put_fact(p->b, "Job", context_text(&r->boots.v[0], "job", "name"));
	put_fact(p->b, "Accelerator", context_text(&r->boots.v[0], NULL, "accel"));
	put_count(p->b, "Kernels", NULL, r->table.kernels.n, 0);
	put_count(p->b, "Boots", "asked for", r->boots.n, planned_boots(r));
	put_count(p->b, "Runs that count", "begun or asked for", runs, runs_all);
	buf_adds(p->b, "</dl>\n");
}

static void put_warnings(struct html_page *p)
{
	if (p->differences.n == 0)
		return;
	buf_adds(p->b, "<div class=\"note\" role=\"note\"><p><strong>These kernels were not measured alike.</strong> What follows compares them all the same:</p>\n<ul>\n");
	for (size_t i = 0; i < p->differences.n; i++) {
		buf_adds(p->b, "<li>");
		html_label(p->b, p->differences.v[i]);
		buf_adds(p->b, "</li>\n");
	}
	buf_adds(p->b, "</ul></div>\n");
}

static void put_contents(struct html_page *p)
{
	const struct table *t = &p->r->table;

	buf_adds(p->b, "<nav aria-label=\"Contents\"><ul>\n");
	if (t->kernels.n > 1)
		buf_adds(p->b, "<li><a href=\"#verdicts\">Verdicts</a></li>\n");
	if (t->loads.n)
		buf_adds(p->b, "<li><a href=\"#matrix\">Times</a></li>\n");
	for (size_t i = 0; i < t->loads.n; i++) {
		buf_printf(p->b, "<li><a href=\"#load-%zu\">", i + 1);
		html_label(p->b, t->loads.v[i]);
		buf_adds(p->b, "</a></li>\n");
	}
	for (size_t i = 0; i < t->benches.n; i++) {
		buf_printf(p->b, "<li><a href=\"#bench-%zu\">", i + 1);
		html_label(p->b, t->benches.v[i]);
		buf_adds(p->b, "</a></li>\n");
	}
	if (p->r->imports.n)
		buf_adds(p->b, "<li><a href=\"#imports\">Imported</a></li>\n");
	if (p->r->boots.n)
		buf_adds(p->b, "<li><a href=\"#missing\">Missing</a></li>\n"
			 "<li><a href=\"#boots\">Boots</a></li>\n"
			 "<li><a href=\"#provenance\">Provenance</a></li>\n"
			 "<li><a href=\"#host\">Host</a></li>\n");
	buf_adds(p->b, "</ul></nav>\n");
}

static void put_head(struct html_page *p)
{
	buf_adds(p->b,
		 "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\" />\n"
		 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\" />\n"
		 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n"
		 "<meta name=\"color-scheme\" content=\"light dark\" />\n"
		 "<meta name=\"referrer\" content=\"no-referrer\" />\n"
		 "<link rel=\"icon\" href=\"data:,\" />\n<title>");
	put_title(p);
	buf_adds(p->b, " \u2013 kontest report</title>\n<style>\n");
	buf_adds(p->b, html_style);
	buf_adds(p->b, "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the results</a>\n"
		 "<header>\n<p class=\"kind\">kontest report</p>\n<h1><bdi>");
	put_title(p);
	buf_adds(p->b, "</bdi></h1>\n");
}

/* --- what the parts share ------------------------------------------------------------- */

void html_mean(struct buf *b, double mean, double half_width, int decimals)
{
	buf_adds(b, "<span class=\"v\">");
	html_number(b, mean, decimals);
	buf_adds(b, "</span>");
	if (half_width >= 0) {
		buf_adds(b, " <span class=\"pm\">\u00b1");
		html_number(b, half_width, decimals);
		buf_adds(b, "</span>");
	}
}

void html_mean_cell(struct buf *b, double mean, double half_width, int decimals)
{
	buf_adds(b, "<td class=\"n\">");
	html_mean(b, mean, half_width, decimals);
	buf_adds(b, "</td>");
}

void html_kernel_head(struct html_page *p, size_t kernel)
{
	buf_printf(p->b, "<tr><th scope=\"row\"><span class=\"sw k%zu\"></span>",
		   kernel % PLOT_SERIES);
	html_label(p->b, p->r->table.kernels.v[kernel].label);
	buf_adds(p->b, "</th>");
}

const struct cell **html_cells(const struct table *t, size_t row)
{
	const struct cell **cells = xcalloc(t->kernels.n + 1, sizeof(*cells));

	for (size_t k = 0; k < t->kernels.n; k++)
		cells[k] = table_cell(t, row, k);
	return cells;
}

bool html_any_good(const struct cell *const *cells, size_t n)
{
	for (size_t k = 0; k < n; k++)
		if (cells[k]->good.n)
			return true;
	return false;
}

void html_notes(struct buf *b, const struct cell *const *cells, size_t n)
{
	bool any = false;

	for (size_t k = 0; k < n; k++) {
		for (size_t i = 0; i < cells[k]->notes.n; i++) {
			buf_adds(b, any ? "" : "<div class=\"note\" role=\"note\"><p>Not counted:</p>\n<ul>\n");
			any = true;
			buf_adds(b, "<li>");
			html_label(b, cells[k]->notes.v[i]);
			buf_adds(b, "</li>\n");
		}
	}
	if (any)
		buf_adds(b, "</ul></div>\n");
}

struct figure *html_figure_begin(struct html_page *p, const char *title)
{
	buf_adds(p->b, "<figure>\n");
	return figure_begin(&p->figures, p->b, title);
}

void html_figure_end(struct html_page *p, const char *caption)
{
	buf_printf(p->b, "<figcaption>%s</figcaption>\n</figure>\n", caption);
}

void html_rows(const struct html_page *p, const struct cell *const *cells,
	       double (*of)(const struct sample *s, const void *arg),
	       const void *arg, const char *unit, struct plot_rows *rows)
{
	for (size_t k = 0; k < p->r->table.kernels.n; k++) {
		struct spread spread = cell_spread(cells[k], of, arg);
		struct plot_row row = {
			.label = p->r->table.kernels.v[k].label,
			.ink = k,
			.mean = spread.mean,
			.half_width = spread.half_width,
		};
		const struct boot_record *last = NULL;
		size_t boots = 0;

		for (size_t i = 0; i < cells[k]->good.n; i++) {
			const struct sample *s = &cells[k]->good.v[i];
			double v = of(s, arg);

			if (!isfinite(v))
				continue;
			boots += s->boot != last;
			last = s->boot;
			plot_runs_add(&row.runs, (struct plot_run){
				.value = v,
				.boot = boots - 1,
				.tip = xasprintf("boot %lld, run %lld: %.6g %s",
						 (long long)s->boot->number,
						 (long long)s->run->index, v,
						 unit),
			});
		}
		plot_rows_add(rows, row);
	}
}

void html_describe(struct figure *f, const struct plot_rows *rows,
		   const char *unit)
{
	for (size_t i = 0; i < rows->n; i++) {
		const struct plot_row *row = &rows->v[i];
		double low = INFINITY, high = -INFINITY;

		for (size_t k = 0; k < row->runs.n; k++) {
			low = fmin(low, row->runs.v[k].value);
			high = fmax(high, row->runs.v[k].value);
		}
		buf_printf(&f->desc, "%s%s: ", i ? "; " : "", row->label);
		if (row->runs.n == 0) {
			buf_adds(&f->desc, "no run");
			continue;
		}
		buf_printf(&f->desc, "%zu run%s in %zu boot%s, %.6g to %.6g %s, mean %.6g",
			   row->runs.n, row->runs.n == 1 ? "" : "s",
			   row->runs.v[row->runs.n - 1].boot + 1,
			   row->runs.v[row->runs.n - 1].boot ? "s" : "", low,
			   high, unit, row->mean);
		if (isfinite(row->half_width))
			buf_printf(&f->desc, " plus or minus %.3g",
				   row->half_width);
	}
}

/* --- the whole ------------------------------------------------------------------------ */

int render_html(const struct report *r, struct buf *b, struct error *err)
{
	CLEANUP(buf_free) struct buf page = { 0 };
	CLEANUP(page_clear) struct html_page p = { .r = r, .b = &page };

	compare_kernels(&p);
	put_head(&p);
	if (r->boots.n)
		put_facts(&p);
	put_warnings(&p);
	put_contents(&p);
	buf_adds(&page, "</header>\n<main id=\"main\">\n");
	html_put_verdicts(&p);
	html_put_matrix(&p);
	html_put_loads(&p);
	html_put_benches(&p);
	html_put_imports(&p);
	if (r->boots.n) {
		html_put_missing(&p);
		html_put_boots(&p);
		html_put_provenance(&p);
		html_put_host(&p);
	}
	buf_adds(&page, "</main>\n</body>\n</html>\n");
	return figures_draw(&p.figures, &page, b, err);
}
