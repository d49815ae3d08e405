/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * grid.h - a table whose columns are as wide as what is in them
 *
 *	struct grid g = { .titles = titles, .text = 1 };
 *	grid_add_text(&g, label); grid_add_number(&g, 12.5, 1); ...	row by row
 *	grid_put_head(&g, b); grid_put_row(&g, 0, b); ...
 *	grid_free(&g);
 */
#ifndef KONTEST_GRID_H
#define KONTEST_GRID_H

#include "results/base/text.h"

/**
 * struct grid - see above
 * @titles: of the columns, NULL-terminated
 * @text: so many columns from the left are text, the others numbers
 * @cells: row by row, owned
 */
struct grid {
	const char *const *titles;
	size_t text;
	struct strings cells;
};

/* grid_add(), ... - the next cell. @s: owned by @g from now on */
void grid_add(struct grid *g, char *s);
void grid_add_text(struct grid *g, const char *s);
/* "-" when @v is not finite */
void grid_add_number(struct grid *g, double v, int decimals);
void grid_put_head(const struct grid *g, struct buf *b);
void grid_put_row(const struct grid *g, size_t row, struct buf *b);
/* grid_put() - header and all rows */
void grid_put(const struct grid *g, struct buf *b);
void grid_free(struct grid *g);

#endif
