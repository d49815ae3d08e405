/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_wide.c - the exact figures: what the classic columns are views on
 */
#include "results/render.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/base/cleanup.h"
#include "results/columns.h"

enum { COLUMNS = 17 };

static const char *const titles[COLUMNS] = {
	"Kernel", "Boots", "Runs", "Time s", "+-", "CPU%", "Loads", "Loads/s",
	"+-", "LCPU%", "Ratio", "+-", "Idle%", "IOwait%", "Swap in",
	"Swap out", "Job:load",
};

static char *number(double v, int decimals)
{
	struct buf b = { 0 };

	put_number(&b, v, decimals);
	return b.data;
}

static char *split(double job_pct)
{
	if (!isfinite(job_pct))
		return xstrdup("-");
	return xasprintf("%.1f:%.1f", job_pct, 100 - job_pct);
}

static void fill_row(const struct report *r, size_t load, size_t kernel,
		     char *row[COLUMNS])
{
	struct cell_figures f;

	cell_compute(&r->table, load, kernel, &f);
	row[0] = text_clean(r->table.kernels.v[kernel].label, NULL);
	row[1] = xasprintf("%zu", f.boots);
	row[2] = xasprintf("%zu", f.runs);
	row[3] = number(f.time_s, 3);
	row[4] = number(f.time_hw_s, 3);
	row[5] = number(f.cpu_pct, 1);
	row[6] = number(f.loads, 2);
	row[7] = number(f.loads_per_s, 3);
	row[8] = number(f.loads_per_s_hw, 3);
	row[9] = number(f.lcpu_pct, 1);
	row[10] = number(f.ratio, 3);
	row[11] = number(f.ratio_hw, 3);
	row[12] = number(f.idle_pct, 1);
	row[13] = number(f.iowait_pct, 1);
	row[14] = number(f.swap_in_pages, 0);
	row[15] = number(f.swap_out_pages, 0);
	row[16] = split(f.job_pct);
}

static void put_row(struct buf *b, const char *const row[COLUMNS],
		    const size_t width[COLUMNS])
{
	put_left(b, row[0], width[0]);
	for (size_t c = 1; c < COLUMNS; c++)
		buf_printf(b, "  %*s", (int)width[c], row[c]);
	buf_adds(b, "\n");
}

static void put_named(struct buf *b, const char *what, const json_t *v,
		      const char *member)
{
	const char *s = json_string_value(member ? json_object_get(v, member)
						 : v);

	if (s)
		buf_printf(b, "%s%s %s", b->len ? ", " : "", what, s);
}

/* put_origin() - where the figures come from; one line */
static void put_origin(const struct report *r, struct buf *b)
{
	CLEANUP(buf_free) struct buf line = { 0 };
	const json_t *ctx = r->boots.v[0].context;

	put_named(&line, "plan", json_object_get(ctx, "plan"), "name");
	put_named(&line, "profile", json_object_get(ctx, "profile"), "name");
	put_named(&line, "job", json_object_get(ctx, "job"), "name");
	put_named(&line, "accelerator", json_object_get(ctx, "accel"), NULL);
	put_left(b, line.data, 0);
	buf_adds(b, "\n");
}

void render_wide(const struct report *r, struct buf *b)
{
	const struct table *t = &r->table;
	size_t kernels = t->kernels.n, rows = t->loads.n * kernels;
	char *(*grid)[COLUMNS] = xcalloc(rows + 1, sizeof(*grid));
	size_t width[COLUMNS];

	for (size_t c = 0; c < COLUMNS; c++)
		width[c] = strlen(titles[c]);
	for (size_t i = 0; i < rows; i++) {
		fill_row(r, i / kernels, i % kernels, grid[i]);
		for (size_t c = 0; c < COLUMNS; c++) {
			size_t w = text_width(grid[i][c]);

			width[c] = w > width[c] ? w : width[c];
		}
	}

	put_origin(r, b);
	for (size_t i = 0; i < rows; i++) {
		if (i % kernels == 0) {
			put_left(b, t->loads.v[i / kernels], 0);
			buf_adds(b, ":\n");
			put_row(b, titles, width);
		}
		put_row(b, (const char *const *)grid[i], width);
		if (i % kernels == kernels - 1)
			put_notes(r, i / kernels, b);
		for (size_t c = 0; c < COLUMNS; c++)
			free(grid[i][c]);
	}
	buf_adds(b, "+-: half of the 95 % confidence interval over boots; Ratio: Time / no_load Time of the same kernel;\n"
		    "Swap: pages; Job:load: shares of the CPU time that job and load used\n");
	free(grid);
}
