/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plot_lines.c - distributions and sweeps as lines
 */
#include "results/plot.h"

#include <math.h>
#include <stdlib.h>

#include "results/base/cleanup.h"

/* px */
#define LEFT 54
#define RIGHT (PLOT_WIDTH - 14)
#define TOP 26			/* title of the y axis */
#define AREA_HEIGHT 190
#define AXIS_HEIGHT 50
#define KEY_LINE 19.5		/* of gnuplot at this font */
#define KEY_COLUMNS 56
#define NAMES_MAX 12		/* ticks with names that have room */

static unsigned int ink_of(size_t series)
{
	return INK_SERIES + (unsigned int)(series % PLOT_SERIES);
}

/* begin() - an area with a key of @n lines below it */
static void begin(struct figure *f, size_t n)
{
	int bottom = TOP + AREA_HEIGHT;
	int height = bottom + AXIS_HEIGHT + (int)ceil(KEY_LINE * (double)n);

	plot_begin(f, height, LEFT, RIGHT, TOP, bottom);
	buf_printf(&f->script, "set border 3 linecolor rgb \"#%06x\"\n"
		   "set key at screen %.6f, screen %.6f left top reverse Left maxcols 1 samplen 3 textcolor rgb \"#%06x\"\n",
		   INK_AXIS, (LEFT - 10) / (double)PLOT_WIDTH,
		   1 - (bottom + AXIS_HEIGHT - 6) / (double)height, INK_TEXT);
}

/* y_axis() - ticks, and a title above the axis, where it reads without turning */
static void y_axis(struct figure *f, const struct plot_range *r,
		   const char *title)
{
	buf_printf(&f->script,
		   "set yrange [%.12g:%.12g]\n"
		   "set ytics %.12g,%.12g nomirror out scale 0.5 offset 0.4,0 format \"%%.%df\" textcolor rgb \"#%06x\"\n"
		   "set grid ytics linetype 1 linecolor rgb \"#%06x\"\n"
		   "set label 1000 \"@%zu\" at screen 0.01, screen %.6f left textcolor rgb \"#%06x\"\n",
		   r->low, r->high, r->first, r->step, r->decimals, INK_TEXT,
		   INK_GRID, plot_text(f, title, 60), 1 - 12.0 / f->height,
		   INK_TEXT);
}

/* --- empirical distributions -------------------------------------------------------- */

static int compare_doubles(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return (a > b) - (a < b);
}

/* put_ecdf() - from the left edge at 0 up by 1 / n at each run, to the right edge */
static void put_ecdf(struct figure *f, const struct plot_row *row, size_t n,
		     const struct plot_range *r)
{
	cleanup_free double *v = xcalloc(row->runs.n + 1, sizeof(*v));
	double all = (double)row->runs.n;

	for (size_t i = 0; i < row->runs.n; i++)
		v[i] = row->runs.v[i].value;
	qsort(v, row->runs.n, sizeof(*v), compare_doubles);
	buf_printf(&f->script, "$e%zu << E\n%.12g 0\n", n, r->low);
	for (size_t i = 0; i < row->runs.n; i++)
		buf_printf(&f->script, "%.12g %.6g\n%.12g %.6g\n", v[i],
			   100 * (double)i / all, v[i],
			   100 * (double)(i + 1) / all);
	buf_printf(&f->script, "%.12g 100\nE\n", r->high);
}

void plot_ecdf(struct figure *f, const struct plot_rows *rows,
	       const char *axis)
{
	struct plot_range x = { .low = INFINITY, .high = -INFINITY };
	struct plot_range share = { .low = 0, .high = 104, .step = 25 };
	CLEANUP(buf_free) struct buf plot = { 0 };
	size_t lines = 0;

	for (size_t i = 0; i < rows->n; i++) {
		lines += rows->v[i].runs.n > 0;
		for (size_t k = 0; k < rows->v[i].runs.n; k++)
			plot_range_add(&x, rows->v[i].runs.v[k].value);
	}
	plot_range_finish(&x, 5);
	begin(f, lines);
	plot_x_axis(f, &x, axis);
	y_axis(f, &share, "Runs that took no longer, %");
	for (size_t i = 0; i < rows->n; i++) {
		const struct plot_row *row = &rows->v[i];

		if (row->runs.n == 0)
			continue;
		put_ecdf(f, row, i, &x);
		buf_printf(&plot, "%s$e%zu using 1:2 with lines linewidth 2 dashtype %zu linecolor rgb \"#%06x\" title \"@%zu\"",
			   plot.len ? ", " : "plot ", i,
			   row->ink % 5 + 1, ink_of(row->ink),
			   plot_text(f, row->label, KEY_COLUMNS));
	}
	buf_add(&f->script, plot.data, plot.len);
	buf_adds(&f->script, "\n");
}

/* --- sweeps --------------------------------------------------------------------------- */

static void sweep_ranges(const struct plot_sweep *s, struct plot_range *x,
			 struct plot_range *y)
{
	*x = *y = (struct plot_range){ .low = INFINITY, .high = -INFINITY };
	for (size_t i = 0; i < s->curves.n; i++) {
		for (size_t k = 0; k < s->curves.v[i].points.n; k++) {
			const struct plot_point *p = &s->curves.v[i].points.v[k];
			double hw = isfinite(p->half_width) ? p->half_width : 0;

			plot_range_add(x, p->x);
			plot_range_add(y, p->y - hw);
			plot_range_add(y, p->y + hw);
		}
	}
	plot_range_add(y, s->base);
	plot_range_finish(y, 5);
	if (!s->x_log)
		plot_range_finish(x, 5);
}

/* x_names() - ticks with names; of many, every second, third, ... */
static void x_names(struct figure *f, const struct plot_sweep *s)
{
	size_t every = (s->x_names.n + NAMES_MAX - 1) / NAMES_MAX;
	size_t room = PLOT_WIDTH / 8 / (s->x_names.n / every + 1);

	buf_printf(&f->script, "set xrange [-0.5:%zu.5]\nset xtics nomirror out scale 0.5 offset 0,0.4 textcolor rgb \"#%06x\" (",
		   s->x_names.n - 1, INK_TEXT);
	for (size_t i = 0; i < s->x_names.n; i += every)
		buf_printf(&f->script, "%s\"@%zu\" %zu", i ? "," : "",
			   plot_text(f, s->x_names.v[i], room < 3 ? 3 : room), i);
	buf_printf(&f->script, ")\nset xlabel \"@%zu\" offset 0,0.9 textcolor rgb \"#%06x\"\n",
		   plot_text(f, s->x_axis, 60), INK_TEXT);
}

/* x_log() - a tick at each value that has room: values of a sweep are few and chosen */
static void x_log(struct figure *f, const struct plot_sweep *s,
		  const struct plot_range *x)
{
	const struct plot_points *p = &s->curves.v[0].points;
	double room = pow(x->high / x->low, 0.09), last = 0;

	buf_printf(&f->script, "set logscale x\nset xrange [%.12g:%.12g]\nset xtics nomirror out scale 0.5 offset 0,0.4 textcolor rgb \"#%06x\" (",
		   x->low / pow(room, 0.4), x->high * pow(room, 0.4), INK_TEXT);
	for (size_t i = 0; i < p->n; i++) {
		cleanup_free char *name = xasprintf("%.12g", p->v[i].x);

		if (p->v[i].x < last * room)
			continue;
		buf_printf(&f->script, "%s\"@%zu\" %.12g", last > 0 ? "," : "",
			   plot_text(f, name, 12), p->v[i].x);
		last = p->v[i].x;
	}
	buf_printf(&f->script, ")\nset xlabel \"@%zu\" offset 0,0.9 textcolor rgb \"#%06x\"\n",
		   plot_text(f, s->x_axis, 60), INK_TEXT);
}

/* put_base() - a line across, and its interval as a band */
static void put_base(struct figure *f, const struct plot_sweep *s,
		     struct buf *plot)
{
	if (isfinite(s->base_half_width))
		buf_printf(&f->script, "set object 1 rectangle from graph 0, first %.12g to graph 1, first %.12g fillcolor rgb \"#%06x\" fillstyle solid noborder behind\n",
			   s->base - s->base_half_width,
			   s->base + s->base_half_width, INK_BAND);
	if (isfinite(s->base))
		buf_printf(plot, ", %.12g with lines dashtype 2 linewidth 1.5 linecolor rgb \"#%06x\" title \"@%zu\"",
			   s->base, INK_TEXT,
			   plot_text(f, isfinite(s->base_half_width) ?
				     "baseline, without the knob, and its 95 % interval" :
				     "baseline, without the knob", KEY_COLUMNS));
}

static void put_curve(struct figure *f, const struct plot_curve *c, size_t n,
		      struct buf *plot)
{
	bool bars = false;

	buf_printf(&f->script, "$s%zu << E\n", n);
	for (size_t i = 0; i < c->points.n; i++)
		buf_printf(&f->script, "%.12g %.12g\n", c->points.v[i].x,
			   c->points.v[i].y);
	buf_printf(&f->script, "E\n$b%zu << E\n", n);
	for (size_t i = 0; i < c->points.n; i++) {
		if (!isfinite(c->points.v[i].half_width))
			continue;
		/* a line of its own: an empty line ends it */
		bars = true;
		buf_printf(&f->script, "%.12g %.12g\n%.12g %.12g\n\n",
			   c->points.v[i].x,
			   c->points.v[i].y - c->points.v[i].half_width,
			   c->points.v[i].x,
			   c->points.v[i].y + c->points.v[i].half_width);
	}
	buf_adds(&f->script, "E\n");
	buf_printf(plot, "%s$s%zu using 1:2 with linespoints pointtype %d pointsize 0.6 linewidth 2 dashtype %zu linecolor rgb \"#%06x\" title \"@%zu\"",
		   plot->len ? ", " : "plot ", n, n % 2 ? 6 : 7, n % 5 + 1,
		   ink_of(n), plot_text(f, c->label, KEY_COLUMNS));
	if (bars)
		buf_printf(plot, ", $b%zu using 1:2 with lines linewidth 1.5 linecolor rgb \"#%06x\" notitle",
			   n, ink_of(n));
}

void plot_sweep(struct figure *f, const struct plot_sweep *s)
{
	CLEANUP(buf_free) struct buf plot = { 0 };
	struct plot_range x, y;

	sweep_ranges(s, &x, &y);
	begin(f, s->curves.n + isfinite(s->base));
	if (s->x_names.n)
		x_names(f, s);
	else if (s->x_log)
		x_log(f, s, &x);
	else
		plot_x_axis(f, &x, s->x_axis);
	y_axis(f, &y, s->y_axis);
	for (size_t i = 0; i < s->curves.n; i++)
		put_curve(f, &s->curves.v[i], i, &plot);
	put_base(f, s, &plot);
	buf_add(&f->script, plot.data, plot.len);
	buf_adds(&f->script, "\n");
}
