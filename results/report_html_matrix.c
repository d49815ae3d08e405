/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_html_matrix.c - verdicts in words, and loads x kernels as a heat table
 */
#include "results/report_html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/base/cleanup.h"
#include "results/compare_words.h"

/* Wider tables have the loads as columns: paper is higher than wide. */
#define COLUMNS_MAX 6

/* In % of the first kernel's Time: from where on a shade is a step darker */
static const double shades_pct[] = { 1, 3, 10 };
#define SHADES (sizeof(shades_pct) / sizeof(shades_pct[0]))

const struct comparison *html_comparison(const struct html_page *p,
					 const char *load, size_t kernel)
{
	if (!p->compared || kernel == 0)
		return NULL;
	for (size_t i = 0; i < p->c.rows.n; i++) {
		const struct compare_row *row = &p->c.rows.v[i];

		if (!row->bench && row->metric->main &&
		    !row->metric->more_is_better && !strcmp(row->load, load))
			return compare_at(&p->c, i, kernel);
	}
	return NULL;
}

/* --- verdicts ----------------------------------------------------------------------- */

/* put_pct() - as `kontest compare` writes it, with a true minus */
static void put_pct(struct buf *b, double pct, enum pct_round round)
{
	cleanup_free char *text = pct_text(pct, round);

	if (text[0] == '-') {
		buf_adds(b, text[1] ? "\u2212" : "\u2013");
		buf_adds(b, text + 1);
	} else {
		buf_adds(b, text);
	}
}

static void put_change(struct buf *b, const struct ratio *r)
{
	buf_adds(b, "<td class=\"n\">");
	put_pct(b, ratio_pct(r->ratio), ROUND_NEAREST);
	buf_adds(b, isfinite(r->ratio) ? " %</td><td class=\"n\">" :
					 "</td><td class=\"n\">");
	put_pct(b, ratio_pct(r->ci.low), ROUND_DOWN);
	if (isfinite(r->ci.low)) {
		buf_adds(b, " to ");
		put_pct(b, ratio_pct(r->ci.high), ROUND_UP);
		buf_adds(b, " %");
	}
	buf_adds(b, "</td>");
}

static void put_verdict(struct html_page *p, size_t row, size_t side)
{
	const struct comparison *c = compare_at(&p->c, row, side);
	const struct compare_row *what = &p->c.rows.v[row];

	buf_adds(p->b, "<tr><th scope=\"row\">");
	html_label(p->b, what->title);
	buf_adds(p->b, " <span class=\"dim\">");
	html_text(p->b, what->metric->title);
	buf_printf(p->b, "</span></th><td><span class=\"verdict v-%s\">",
		   finding_name(c->finding));
	html_text(p->b, c->verdict);
	buf_adds(p->b, "</span></td>");
	put_change(p->b, &c->r);
	buf_adds(p->b, "<td class=\"words\">");
	html_label(p->b, c->sentence);
	buf_adds(p->b, "</td></tr>\n");
}

/* put_means() - over the loads; it takes part in no test, so it has no verdict */
static void put_means(struct html_page *p, size_t side)
{
	for (size_t i = 0; i < p->c.means.n; i++) {
		const struct compare_mean *m = &p->c.means.v[i];

		/* A mean of means without its interval would say more than is known */
		if (m->side != side || isnan(m->r.ci.low))
			continue;
		buf_printf(p->b, "<tr class=\"mean\"><th scope=\"row\">geometric mean of %zu <span class=\"dim\">",
			   m->rows);
		html_text(p->b, m->metric->title);
		buf_adds(p->b, "</span></th><td>\u2013</td>");
		put_change(p->b, &m->r);
		buf_adds(p->b, "<td class=\"words\">");
		if (m->left_out && *m->left_out) {
			buf_adds(p->b, "without ");
			html_label(p->b, m->left_out);
		}
		buf_adds(p->b, "</td></tr>\n");
	}
}

static void put_side(struct html_page *p, size_t side)
{
	const struct table_kernels *k = &p->r->table.kernels;

	buf_adds(p->b, "<tbody>\n<tr class=\"group\"><th scope=\"rowgroup\" colspan=\"5\">");
	html_label(p->b, k->v[side].label);
	buf_adds(p->b, " <span class=\"dim\">against</span> ");
	html_label(p->b, k->v[0].label);
	buf_adds(p->b, "</th></tr>\n");
	for (size_t row = 0; row < p->c.rows.n; row++)
		put_verdict(p, row, side);
	put_means(p, side);
	buf_adds(p->b, "</tbody>\n");
}

void html_put_verdicts(struct html_page *p)
{
	const struct table_kernels *k = &p->r->table.kernels;
	cleanup_free char *method = NULL;

	if (k->n < 2)
		return;
	buf_adds(p->b, "<section id=\"verdicts\" aria-labelledby=\"h-verdicts\">\n<h2 id=\"h-verdicts\">Verdicts</h2>\n");
	if (!p->compared) {
		buf_adds(p->b, "<p>There is nothing that can be compared: no load or benchmark has runs that count.</p>\n</section>\n");
		return;
	}
	html_table(p->b, "verdicts", "Each kernel against the first: is there a difference, and how sure is that?");
	buf_adds(p->b, "<thead><tr><th scope=\"col\">Load</th><th scope=\"col\">Verdict</th><th scope=\"col\" class=\"n\">Change</th><th scope=\"col\" class=\"n\">95 % interval</th><th scope=\"col\">In words</th></tr></thead>\n");
	for (size_t side = 1; side < k->n; side++)
		put_side(p, side);
	html_table_end(p->b);
	method = compare_method(&p->c);
	buf_adds(p->b, "<p class=\"method\">");
	html_text(p->b, method);
	buf_adds(p->b, "</p>\n</section>\n");
}

/* --- the matrix --------------------------------------------------------------------- */

/* put_shade() - class of a cell: which way, how far, and whether it is established */
static void put_shade(struct buf *b, double pct, const struct comparison *c)
{
	size_t shade = 0;
	bool sure = c && (c->finding == FINDING_BETTER ||
			  c->finding == FINDING_WORSE);

	while (shade < SHADES && fabs(pct) >= shades_pct[shade])
		shade++;
	if (isfinite(pct) && shade > 0)
		buf_printf(b, " %s%zu%s", pct > 0 ? "hi" : "lo", shade,
			   sure ? "" : " unsure");
}

static const char *finding_words(const struct comparison *c)
{
	switch (c->finding) {
	case FINDING_BETTER:
		return "better";
	case FINDING_WORSE:
		return "worse";
	case FINDING_SAME:
		return "same";
	case FINDING_FEW_BOOTS:
		return "too few boots";
	case FINDING_CANNOT_TELL:
		return "cannot tell";
	default:
		return "no data";
	}
}

static void put_lost(struct buf *b, const struct cell *c)
{
	if (c->notes.n)
		buf_printf(b, "<a class=\"lost\" href=\"#missing\">%zu not counted</a>",
			   c->notes.n);
}

static void put_cell(struct html_page *p, size_t load, size_t kernel)
{
	const struct cell *cell = table_cell(&p->r->table, load, kernel);
	const struct comparison *c =
		html_comparison(p, p->r->table.loads.v[load], kernel);
	struct cell_figures f, base;
	double pct;

	cell_compute(&p->r->table, load, kernel, &f);
	cell_compute(&p->r->table, load, 0, &base);
	pct = kernel ? 100 * (f.time_s / base.time_s - 1) : NAN;
	if (f.runs == 0) {
		buf_adds(p->b, "<td class=\"cell void\"><span class=\"v\">no run</span>");
		put_lost(p->b, cell);
		buf_adds(p->b, "</td>");
		return;
	}
	buf_adds(p->b, "<td class=\"cell");
	put_shade(p->b, pct, c);
	buf_adds(p->b, "\">");
	html_mean(p->b, f.time_s, f.time_hw_s, html_decimals(f.time_s));
	if (isfinite(pct)) {
		buf_adds(p->b, "<span class=\"d\">");
		html_signed(p->b, pct, 1);
		buf_printf(p->b, " %%%s%s</span>", c ? ", " : "",
			   c ? finding_words(c) : "");
	}
	if (isfinite(f.ratio)) {
		buf_adds(p->b, "<span class=\"r\">ratio ");
		html_number(p->b, f.ratio, 2);
		buf_adds(p->b, "</span>");
	}
	put_lost(p->b, cell);
	buf_adds(p->b, "</td>");
}

static void put_col_head(struct buf *b, const char *label)
{
	buf_adds(b, "<th scope=\"col\">");
	html_label(b, label);
	buf_adds(b, "</th>");
}

static void put_row_head(struct buf *b, const char *label)
{
	buf_adds(b, "<tr><th scope=\"row\">");
	html_label(b, label);
	buf_adds(b, "</th>");
}

static void put_by_load(struct html_page *p)
{
	const struct table *t = &p->r->table;

	buf_adds(p->b, "<thead><tr><th scope=\"col\">Load</th>");
	for (size_t k = 0; k < t->kernels.n; k++)
		put_col_head(p->b, t->kernels.v[k].label);
	buf_adds(p->b, "</tr></thead>\n<tbody>\n");
	for (size_t l = 0; l < t->loads.n; l++) {
		put_row_head(p->b, t->loads.v[l]);
		for (size_t k = 0; k < t->kernels.n; k++)
			put_cell(p, l, k);
		buf_adds(p->b, "</tr>\n");
	}
	buf_adds(p->b, "</tbody>\n");
}

static void put_by_kernel(struct html_page *p)
{
	const struct table *t = &p->r->table;

	buf_adds(p->b, "<thead><tr><th scope=\"col\">Kernel</th>");
	for (size_t l = 0; l < t->loads.n; l++)
		put_col_head(p->b, t->loads.v[l]);
	buf_adds(p->b, "</tr></thead>\n<tbody>\n");
	for (size_t k = 0; k < t->kernels.n; k++) {
		put_row_head(p->b, t->kernels.v[k].label);
		for (size_t l = 0; l < t->loads.n; l++)
			put_cell(p, l, k);
		buf_adds(p->b, "</tr>\n");
	}
	buf_adds(p->b, "</tbody>\n");
}

/* put_legend() - in words too, for who sees no colours */
static void put_legend(struct html_page *p)
{
	buf_adds(p->b, "<div class=\"legend\"><span>Against ");
	html_label(p->b, p->r->table.kernels.v[0].label);
	buf_adds(p->b, ":</span> <span class=\"keys\"><span class=\"key lo3\">faster by 10 % or more</span><span class=\"key lo2\">3 %</span><span class=\"key lo1\">1 %</span><span class=\"key\">less than 1 %</span><span class=\"key hi1\">1 %</span><span class=\"key hi2\">3 %</span><span class=\"key hi3\">slower by 10 % or more</span></span> <span class=\"keys\"><span class=\"key hi2 unsure\">striped: measured, but not established</span></span></div>\n");
}

void html_put_matrix(struct html_page *p)
{
	const struct table *t = &p->r->table;

	if (t->loads.n == 0 || t->kernels.n == 0)
		return;
	buf_adds(p->b, "<section id=\"matrix\" aria-labelledby=\"h-matrix\">\n<h2 id=\"h-matrix\">Times</h2>\n");
	html_table(p->b, "matrix", "Seconds that the job took under each load: mean of the runs, \u00b1 half of the 95 % interval over boots (from two boots on), and the ratio to the same kernel\u2019s no_load Time. Less is better.");
	if (t->kernels.n > COLUMNS_MAX && t->kernels.n > t->loads.n)
		put_by_kernel(p);
	else
		put_by_load(p);
	html_table_end(p->b);
	if (t->kernels.n > 1)
		put_legend(p);
	buf_adds(p->b, "</section>\n");
}
