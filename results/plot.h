/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plot.h - plots in an HTML page, drawn by gnuplot
 *
 *	struct figures f = { 0 };
 *	plot_strip(figure_begin(&f, &page, title), ...);	as the page is written
 *	figures_draw(&f, &page, &out, err);		the page with its plots in place
 *	figures_free(&f);
 *
 * One gnuplot draws all plots of a page. It is told numbers and nothing else: every
 * text in a plot is "@N" to it and is put in afterwards, escaped, so that no label can
 * be a command. What it drew is taken over element by element: of its SVG only shapes,
 * their places and the numbers on the axes are kept. Colours are classes, which the
 * page's style gives a colour in light, in dark and on paper.
 */
#ifndef KONTEST_PLOT_H
#define KONTEST_PLOT_H

#include "results/base/text.h"

/*
 * Inks. gnuplot knows each as the colour "#0000NN"; in the page it is a class:
 * "ax", "tx", "gr", "bd", "k0" to "k7".
 */
enum plot_ink {
	INK_AXIS = 1,
	INK_TEXT,
	INK_GRID,
	INK_BAND,
	INK_SERIES = 16,
};
#define PLOT_SERIES 8		/* inks for series; more begin anew */

/**
 * struct figure - a plot yet to be drawn
 * @at: offset in the page where it belongs
 * @width, @height: px, at which its text is as large as the page's small print
 * @script: what gnuplot is told
 * @texts: what "@N" stands for
 * @tips: of the points, in the order in which they are drawn: shown under a pointer
 * @title, @desc: for who cannot see it
 */
struct figure {
	size_t at;
	int width, height;
	struct buf script;
	struct strings texts, tips;
	char *title;
	struct buf desc;
};
DEFINE_VECTOR(figures, struct figure)

/* figure_begin() - a plot where the page ends now. The pointer holds until the next */
struct figure *figure_begin(struct figures *f, const struct buf *page,
			    const char *title);
/* figure_drop() - take the last one back */
void figure_drop(struct figures *f);
void figures_clear(struct figures *f);

/**
 * figures_draw() - the page with its plots
 * @f: plots
 * @page: without them
 * @out: gets both
 * @err: reason of a failure: no gnuplot, with the remedy; gnuplot failed
 *
 * A page without plots needs no gnuplot.
 *
 * Return: 0, or -1.
 */
int figures_draw(const struct figures *f, const struct buf *page,
		 struct buf *out, struct error *err);

/* figure_put_svg() - what gnuplot drew as an element of the page; @number makes its
 * ids unique */
int figure_put_svg(const struct figure *f, size_t number, const char *svg,
		   size_t len, struct buf *out, struct error *err);

/* --- kinds of plots ------------------------------------------------------------- */

/**
 * struct plot_run - a point
 * @value: finite
 * @boot: counted from 0 within its row; points of a boot follow one another
 * @tip: what it is, owned
 */
struct plot_run {
	double value;
	size_t boot;
	char *tip;
};
DEFINE_VECTOR(plot_runs, struct plot_run)

/**
 * struct plot_row - a kernel's points
 * @label: its name; not owned
 * @ink: of the series, from 0
 * @runs: may be empty
 * @mean: NAN when there is none; @half_width: of its 95 % interval, or NAN
 */
struct plot_row {
	const char *label;
	size_t ink;
	struct plot_runs runs;
	double mean, half_width;
};
DEFINE_VECTOR(plot_rows, struct plot_row)

void plot_rows_clear(struct plot_rows *rows);

/* plot_strip() - every run as a point, a line a boot, a band a kernel, and below them
 * the mean with its interval. @axis: title of the axis, with the unit */
void plot_strip(struct figure *f, const struct plot_rows *rows,
		const char *axis);

/* plot_ecdf() - for each kernel the share of its runs that are no greater than x.
 * Rows without a run have no line */
void plot_ecdf(struct figure *f, const struct plot_rows *rows,
	       const char *axis);

/* struct plot_point - of a curve; @half_width: NAN: not known */
struct plot_point {
	double x, y, half_width;
};
DEFINE_VECTOR(plot_points, struct plot_point)

/* struct plot_curve - by rising x; @label: not owned */
struct plot_curve {
	const char *label;
	struct plot_points points;
};
DEFINE_VECTOR(plot_curves, struct plot_curve)

void plot_curves_clear(struct plot_curves *c);

/**
 * struct plot_sweep - a knob and what comes of it
 * @curves: with one point at least
 * @x_axis, @y_axis: titles; not owned
 * @x_names: names of x = 0, 1, ... where the knob's values are no numbers; else
 *	empty
 * @x_log: all x are above 0 and far apart
 * @base, @base_half_width: without the knob; NAN: not known
 */
struct plot_sweep {
	struct plot_curves curves;
	const char *x_axis, *y_axis;
	struct strings x_names;
	bool x_log;
	double base, base_half_width;
};

void plot_sweep(struct figure *f, const struct plot_sweep *s);

/* --- for the kinds of plots ------------------------------------------------------- */

#define PLOT_WIDTH 480		/* px */

/**
 * struct plot_range - of an axis
 * @low, @high: its ends
 * @first, @step: of the ticks
 * @decimals: of their numbers
 */
struct plot_range {
	double low, high;
	double first, step;
	int decimals;
};

/* plot_range_add() - widen @r to hold @v; begin with { INFINITY, -INFINITY } */
void plot_range_add(struct plot_range *r, double v);
/* plot_range_finish() - some room at both ends, and about @ticks ticks */
void plot_range_finish(struct plot_range *r, int ticks);

/* plot_begin() - clear gnuplot's settings; the plot's area is @left to @right, @top
 * to @bottom, px from the upper left corner */
void plot_begin(struct figure *f, int height, int left, int right, int top,
		int bottom);
/* plot_x_axis() - ticks of @r, its grid, a title */
void plot_x_axis(struct figure *f, const struct plot_range *r,
		 const char *title);
/* plot_text() - number of the "@N" that will be @s, cut in its middle to @columns */
size_t plot_text(struct figure *f, const char *s, size_t columns);

#endif
