/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plot.c - figures of a page, and the gnuplot that draws them
 */
#include "results/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/base/cleanup.h"
#include "results/base/proc.h"
#include "results/columns.h"

#define DRAW_TIMEOUT_S 120
#define SVG_END "</svg>"

struct figure *figure_begin(struct figures *f, const struct buf *page,
			    const char *title)
{
	return figures_add(f, (struct figure){
		.at = page->len,
		.title = xstrdup(title),
	});
}

void figure_drop(struct figures *f)
{
	struct figure *last = &f->v[--f->n];

	buf_free(&last->script);
	buf_free(&last->desc);
	strings_clear(&last->texts);
	strings_clear(&last->tips);
	free(last->title);
}

void figures_clear(struct figures *f)
{
	while (f->n)
		figure_drop(f);
	figures_free(f);
}

void plot_rows_clear(struct plot_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		for (size_t k = 0; k < rows->v[i].runs.n; k++)
			free(rows->v[i].runs.v[k].tip);
		plot_runs_free(&rows->v[i].runs);
	}
	plot_rows_free(rows);
}

void plot_curves_clear(struct plot_curves *c)
{
	for (size_t i = 0; i < c->n; i++)
		plot_points_free(&c->v[i].points);
	plot_curves_free(c);
}

/* --- drawing ---------------------------------------------------------------------- */

/* run_gnuplot() - -d: no file of the user's, who may have other ideas of a plot */
static int run_gnuplot(const struct figures *f, struct buf *svg,
		       struct error *err)
{
	CLEANUP(buf_free) struct buf script = { 0 };
	cleanup_free char *path = proc_find("gnuplot");
	const char *const argv[] = { path, "-d", NULL };
	const struct proc_opts opts = {
		.in = &script,
		.out = svg,
		.timeout_s = DRAW_TIMEOUT_S,
	};

	if (!path)
		return error_set(err, 0, "gnuplot is missing, which draws the plots of an HTML report: install it, on Debian with 'apt-get install gnuplot-nox'");
	for (size_t i = 0; i < f->n; i++)
		buf_add(&script, f->v[i].script.data, f->v[i].script.len);
	if (proc_run(argv, &opts, err))
		return error_prefix(err, "draw the plots");
	return 0;
}

int figures_draw(const struct figures *f, const struct buf *page,
		 struct buf *out, struct error *err)
{
	CLEANUP(buf_free) struct buf svg = { 0 };
	const char *from;
	size_t done = 0;

	if (f->n && run_gnuplot(f, &svg, err))
		return -1;
	from = svg.data;
	for (size_t i = 0; i < f->n; i++) {
		const char *end = from ? strstr(from, SVG_END) : NULL;

		if (!end)
			return error_set(err, 0, "gnuplot drew %zu of %zu plots and told no reason",
					 i, f->n);
		end += strlen(SVG_END);
		buf_add(out, page->data + done, f->v[i].at - done);
		done = f->v[i].at;
		if (figure_put_svg(&f->v[i], i + 1, from, (size_t)(end - from),
				   out, err))
			return -1;
		from = end;
	}
	buf_add(out, page->data + done, page->len - done);
	return 0;
}

/* --- what all plots have ------------------------------------------------------------ */

void plot_range_add(struct plot_range *r, double v)
{
	if (!isfinite(v))
		return;
	r->low = fmin(r->low, v);
	r->high = fmax(r->high, v);
}

/* nice_step() - 1, 2 or 5 times a power of ten, at least @step */
static double nice_step(double step)
{
	double power = pow(10, floor(log10(step)));
	double digits = step / power;

	if (digits <= 1)
		return power;
	return power * (digits <= 2 ? 2 : digits <= 5 ? 5 : 10);
}

void plot_range_finish(struct plot_range *r, int ticks)
{
	double room;

	if (!(r->low <= r->high)) {
		r->low = 0;
		r->high = 1;
	}
	/* Equal figures get an axis that shows how near a difference would be. */
	room = fmax(0.04 * (r->high - r->low), 0.005 * fabs(r->high));
	if (room <= 0)
		room = 0.5;
	r->low = r->low >= 0 ? fmax(r->low - room, 0) : r->low - room;
	r->high += room;
	r->step = nice_step((r->high - r->low) / ticks);
	r->first = ceil(r->low / r->step) * r->step;
	r->decimals = (int)fmax(0, -floor(log10(r->step) + 1e-9));
}

void plot_begin(struct figure *f, int height, int left, int right, int top,
		int bottom)
{
	const double w = PLOT_WIDTH, h = height;

	f->width = PLOT_WIDTH;
	f->height = height;
	buf_printf(&f->script,
		   "reset\n"
		   "set terminal svg noenhanced size %d,%d font \"sans-serif,13\"\n"
		   "set lmargin at screen %.6f\nset rmargin at screen %.6f\n"
		   "set tmargin at screen %.6f\nset bmargin at screen %.6f\n"
		   "set border 1 linecolor rgb \"#%06x\"\n"
		   "unset key\nunset xtics\nunset ytics\nset errorbars 0.6\n",
		   PLOT_WIDTH, height, left / w, right / w, 1 - top / h,
		   1 - bottom / h, INK_AXIS);
}

void plot_x_axis(struct figure *f, const struct plot_range *r,
		 const char *title)
{
	buf_printf(&f->script,
		   "set xrange [%.12g:%.12g]\n"
		   "set xtics %.12g,%.12g nomirror out scale 0.5 offset 0,0.4 format \"%%.%df\" textcolor rgb \"#%06x\"\n"
		   "set grid xtics linetype 1 linecolor rgb \"#%06x\"\n"
		   "set xlabel \"@%zu\" offset 0,0.9 textcolor rgb \"#%06x\"\n",
		   r->low, r->high, r->first, r->step, r->decimals, INK_TEXT,
		   INK_GRID, plot_text(f, title, 60), INK_TEXT);
}

/* cut() - of @s the first @columns columns; Return: bytes */
static size_t cut(const char *s, size_t columns)
{
	size_t len = 0, next;

	for (;;) {
		cleanup_free char *head = NULL;

		for (next = len + 1; (s[next] & 0xc0) == 0x80; next++)
			;
		head = xstrndup(s, next);
		if (!s[len] || text_width(head) > columns)
			return len;
		len = next;
	}
}

/* tail() - where the last @columns columns of @s begin */
static const char *tail(const char *s, size_t columns)
{
	while (text_width(s) > columns) {
		do
			s++;
		while ((*s & 0xc0) == 0x80);
	}
	return s;
}

size_t plot_text(struct figure *f, const char *s, size_t columns)
{
	size_t width, head = columns / 2;
	char *clean = text_clean(s, &width);

	if (width > columns) {
		char *whole = clean;

		clean = xasprintf("%.*s\u2026%s", (int)cut(whole, head), whole,
				  tail(whole, columns - head - 1));
		free(whole);
	}
	strings_add(&f->texts, clean);
	return f->texts.n - 1;
}
