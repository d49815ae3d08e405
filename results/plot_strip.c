/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plot_strip.c - every run as a point
 */
#include "results/plot.h"

#include <math.h>

/* px */
#define LEFT 10
#define RIGHT (PLOT_WIDTH - 12)
#define TOP 2
#define AXIS_HEIGHT 46
#define LABEL_HEIGHT 20		/* a kernel's name, above its points */
#define LANE 10			/* between boots, as long as they are few */
#define LANES_MAX 110		/* all boots of a kernel */
#define MEAN_HEIGHT 12
#define ROW_GAP 12
#define LABEL_COLUMNS 62

/* Boots differ by their line and by their symbol: gnuplot's filled and open circle,
 * square, triangle */
static const int symbols[] = { 7, 6, 5, 4, 9, 8 };
#define SYMBOLS (sizeof(symbols) / sizeof(symbols[0]))
#define SYMBOL_MEAN 13		/* filled diamond */

static size_t boots_of(const struct plot_row *row)
{
	return row->runs.n ? row->runs.v[row->runs.n - 1].boot + 1 : 0;
}

static double lane_of(size_t boots)
{
	return boots > LANES_MAX / LANE ? LANES_MAX / (double)boots : LANE;
}

/* has_mean() - that of one run is the run */
static bool has_mean(const struct plot_row *row)
{
	return row->runs.n > 1 && isfinite(row->mean);
}

static double row_height(const struct plot_row *row)
{
	size_t boots = boots_of(row);

	return LABEL_HEIGHT + lane_of(boots) * (double)boots +
	       (has_mean(row) ? MEAN_HEIGHT : 0) + ROW_GAP;
}

/* strip_range() - of the points; an interval wider than that is cut at the edge,
 * else two boots' interval would leave the points no room */
static void strip_range(const struct plot_rows *rows, struct plot_range *r)
{
	double room;

	*r = (struct plot_range){ .low = INFINITY, .high = -INFINITY };
	for (size_t i = 0; i < rows->n; i++)
		for (size_t k = 0; k < rows->v[i].runs.n; k++)
			plot_range_add(r, rows->v[i].runs.v[k].value);
	room = fmax((r->high - r->low) / 2, 0.01 * fabs(r->high));
	for (size_t i = 0; isfinite(room) && i < rows->n; i++) {
		const struct plot_row *row = &rows->v[i];

		plot_range_add(r, fmax(row->mean - row->half_width,
				       r->low - room));
		plot_range_add(r, fmin(row->mean + row->half_width,
				       r->high + room));
	}
	plot_range_finish(r, 5);
}

static double point_y(const struct plot_row *row, double y, size_t boot)
{
	return y + LABEL_HEIGHT + lane_of(boots_of(row)) * ((double)boot + 0.5);
}

/* put_points() - a data block for each symbol, and the tips in the same order */
static void put_points(struct figure *f, const struct plot_row *row, size_t n,
		       double y)
{
	for (size_t s = 0; s < SYMBOLS && s < boots_of(row); s++) {
		buf_printf(&f->script, "$p%zu_%zu << E\n", n, s);
		for (size_t i = 0; i < row->runs.n; i++) {
			const struct plot_run *run = &row->runs.v[i];

			if (run->boot % SYMBOLS != s)
				continue;
			buf_printf(&f->script, "%.12g %.6g\n", run->value,
				   point_y(row, y, run->boot));
			strings_add(&f->tips, xstrdup(run->tip));
		}
		buf_adds(&f->script, "E\n");
	}
}

static void put_mean(struct figure *f, const struct plot_row *row, size_t n,
		     double y)
{
	double hw = isfinite(row->half_width) ? row->half_width : 0;

	buf_printf(&f->script, "$m%zu << E\n%.12g %.6g %.12g %.12g\nE\n", n,
		   row->mean, y + row_height(row) - ROW_GAP - MEAN_HEIGHT / 2.0,
		   row->mean - hw, row->mean + hw);
	strings_add(&f->tips, hw > 0 ?
		    xasprintf("mean %.6g, 95 %% interval %.6g to %.6g",
			      row->mean, row->mean - hw, row->mean + hw) :
		    xasprintf("mean %.6g", row->mean));
}

static void plot_row(struct buf *b, const struct plot_row *row, size_t n,
		     const char **sep)
{
	unsigned int ink = INK_SERIES + (unsigned int)(row->ink % PLOT_SERIES);

	for (size_t s = 0; s < SYMBOLS && s < boots_of(row); s++) {
		buf_printf(b, "%s$p%zu_%zu using 1:2 with points pointtype %d pointsize 0.6 linewidth 1.5 linecolor rgb \"#%06x\"",
			   *sep, n, s, symbols[s], ink);
		*sep = ", ";
	}
	if (has_mean(row)) {
		buf_printf(b, "%s$m%zu using 1:2:3:4 with xerrorbars pointtype %d pointsize 0.8 linewidth 1.5 linecolor rgb \"#%06x\"",
			   *sep, n, SYMBOL_MEAN, ink);
		*sep = ", ";
	}
}

void plot_strip(struct figure *f, const struct plot_rows *rows,
		const char *axis)
{
	struct plot_range range;
	double height = 0, y = 0;
	const char *sep = "plot ";

	for (size_t i = 0; i < rows->n; i++)
		height += row_height(&rows->v[i]);
	plot_begin(f, (int)ceil(height) + TOP + AXIS_HEIGHT, LEFT, RIGHT, TOP,
		   TOP + (int)ceil(height));
	strip_range(rows, &range);
	plot_x_axis(f, &range, axis);
	buf_printf(&f->script, "set yrange [%.6g:0]\n", ceil(height));
	for (size_t i = 0; i < rows->n; i++) {
		const struct plot_row *row = &rows->v[i];

		buf_printf(&f->script, "set label %zu \"@%zu\" at graph 0, first %.6g left textcolor rgb \"#%06x\"\n",
			   i + 1, plot_text(f, row->label, LABEL_COLUMNS),
			   y + 10, INK_TEXT);
		put_points(f, row, i, y);
		if (has_mean(row))
			put_mean(f, row, i, y);
		y += row_height(row);
	}
	for (size_t i = 0; i < rows->n; i++)
		plot_row(&f->script, &rows->v[i], i, &sep);
	buf_adds(&f->script, "\n");
}
