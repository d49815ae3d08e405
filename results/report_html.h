/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_html.h - the parts of the HTML report
 *
 * What depends on the host is in the last section, id "host", and nowhere else.
 */
#ifndef KONTEST_REPORT_HTML_H
#define KONTEST_REPORT_HTML_H

#include "results/compare.h"
#include "results/html.h"
#include "results/plot.h"
#include "results/render.h"

/**
 * struct html_page - a report while it is written
 * @r: what there is to show
 * @b: the page, without its plots
 * @figures: these
 * @c: its kernels against the first of them, when @compared
 * @differences: between kernels, that ought not to be; owned strings
 */
struct html_page {
	const struct report *r;
	struct buf *b;
	struct figures figures;
	bool compared;
	struct compare c;
	struct strings differences;
};

extern const char html_style[];		/* CSS of the page */

/* html_put_verdicts() - each kernel against the first, in words */
void html_put_verdicts(struct html_page *p);
/* html_put_matrix() - loads x kernels, Times with intervals, by their colour too */
void html_put_matrix(struct html_page *p);
/* html_put_loads() - a section a load: plots, figures, every run */
void html_put_loads(struct html_page *p);
/* html_put_sweeps() - the curves of a load, where knobs were swept */
void html_put_sweeps(struct html_page *p, size_t load);
void html_put_benches(struct html_page *p);
/* html_put_imports() - foreign results, as they were printed */
void html_put_imports(struct html_page *p);
/* html_put_missing() - all that was asked for and cannot be counted */
void html_put_missing(struct html_page *p);
void html_put_boots(struct html_page *p);
void html_put_provenance(struct html_page *p);
void html_put_host(struct html_page *p);

/* html_comparison() - Times of a load: kernel @kernel against the first; NULL when
 * there is no such comparison */
const struct comparison *html_comparison(const struct html_page *p,
					 const char *load, size_t kernel);

/* html_cells() - those of a row of the table (table_rows()), kernel by kernel; the array
 * is owned by the caller. html_any_good() - has any of @n a good run? */
const struct cell **html_cells(const struct table *t, size_t row);
bool html_any_good(const struct cell *const *cells, size_t n);

/* html_rows() - a cell of each kernel as rows of a plot
 * @of: the figure of a run, @arg for it; a run without one is left out
 * @unit: after a figure in the tips */
void html_rows(const struct html_page *p, const struct cell *const *cells,
	       double (*of)(const struct sample *s, const void *arg),
	       const void *arg, const char *unit, struct plot_rows *rows);
/* html_figure_begin(), ..._end() - around a plot, with what it shows in words */
struct figure *html_figure_begin(struct html_page *p, const char *title);
void html_figure_end(struct html_page *p, const char *caption);
/* html_describe() - rows in words, for who cannot see the plot */
void html_describe(struct figure *f, const struct plot_rows *rows,
		   const char *unit);

/* html_mean() - "12.34 <span>±0.05</span>" */
void html_mean(struct buf *b, double mean, double half_width, int decimals);
/* html_mean_cell() - the same in a <td> */
void html_mean_cell(struct buf *b, double mean, double half_width, int decimals);
/* html_kernel_head() - a row's beginning: the kernel's colour and label */
void html_kernel_head(struct html_page *p, size_t kernel);
/* html_notes() - the notes of cells as a list; nothing when there are none */
void html_notes(struct buf *b, const struct cell *const *cells, size_t n);

#endif
