/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * grid.c - a table whose columns are as wide as what is in them
 */
#include "results/grid.h"

#include "results/columns.h"

static size_t columns(const struct grid *g)
{
	size_t n = 0;

	while (g->titles[n])
		n++;
	return n;
}

static size_t column_width(const struct grid *g, size_t column)
{
	size_t width = text_width(g->titles[column]);

	for (size_t i = column; i < g->cells.n; i += columns(g)) {
		size_t w = text_width(g->cells.v[i]);

		width = w > width ? w : width;
	}
	return width;
}

void grid_add(struct grid *g, char *s)
{
	strings_add(&g->cells, s);
}

void grid_add_text(struct grid *g, const char *s)
{
	strings_add(&g->cells, text_clean(s, NULL));
}

void grid_add_number(struct grid *g, double v, int decimals)
{
	struct buf b = { 0 };

	put_number(&b, v, decimals);
	strings_add(&g->cells, b.data);
}

static void put_cells(const struct grid *g, const char *const *cells,
		      struct buf *b)
{
	size_t n = columns(g);

	for (size_t c = 0; c < n; c++) {
		if (c)
			buf_adds(b, "  ");
		if (c < g->text)
			put_left(b, cells[c], column_width(g, c));
		else
			buf_printf(b, "%*s", (int)column_width(g, c), cells[c]);
	}
	buf_adds(b, "\n");
}

void grid_put_head(const struct grid *g, struct buf *b)
{
	put_cells(g, g->titles, b);
}

void grid_put_row(const struct grid *g, size_t row, struct buf *b)
{
	put_cells(g, (const char *const *)g->cells.v + row * columns(g), b);
}

void grid_put(const struct grid *g, struct buf *b)
{
	grid_put_head(g, b);
	for (size_t row = 0; row * columns(g) < g->cells.n; row++)
		grid_put_row(g, row, b);
}

void grid_free(struct grid *g)
{
	strings_clear(&g->cells);
	*g = (struct grid) { 0 };
}
