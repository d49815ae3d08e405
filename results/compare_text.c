/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare_text.c - a comparison for people: tables, then sentences
 */
#include <math.h>
#include <string.h>

#include "results/base/cleanup.h"
#include "results/columns.h"
#include "results/compare_words.h"
#include "results/grid.h"

#define LINE_WIDTH 90

/* put_wrapped() - a paragraph in lines of LINE_WIDTH, the first behind @mark, the others
 * as far in */
static void put_wrapped(const char *mark, const char *text, struct buf *b)
{
	cleanup_free char *clean = text_clean(text, NULL);
	size_t indent = strlen(mark), at = indent;
	char *save = NULL;
	bool first = true;

	buf_adds(b, mark);
	for (char *word = strtok_r(clean, " ", &save); word;
	     word = strtok_r(NULL, " ", &save)) {
		size_t width = text_width(word);

		if (!first && at + 1 + width > LINE_WIDTH) {
			buf_printf(b, "\n%*s", (int)indent, "");
			at = indent;
			first = true;
		}
		buf_printf(b, "%s%s", first ? "" : " ", word);
		at += width + !first;
		first = false;
	}
	buf_adds(b, "\n");
}

/* --- tables ------------------------------------------------------------------------- */

static const char *const titles[] = {
	"Load", "Kernel", "Verdict", "Boots", "Runs", "Lost", "Mean", "Diff %",
	"from %", "to %", "p", "p of all", NULL,
};

static void add_cell(const struct compare *c, struct grid *g, size_t row, size_t side,
		     const char *verdict)
{
	const struct compare_cell *cell = compare_cell_at(c, row, side);

	grid_add_text(g, side ? "" : c->rows.v[row].title);
	grid_add_text(g, c->sides[side].title);
	grid_add_text(g, verdict);
	grid_add_number(g, (double)cell->boots.n, 0);
	grid_add_number(g, (double)cell->data.v.n, 0);
	grid_add_number(g, (double)cell_lost(cell), 0);
	grid_add_number(g, cell->mean, c->rows.v[row].metric->decimals);
}

static void add_row(const struct compare *c, struct grid *g, size_t row)
{
	add_cell(c, g, row, 0, "baseline");
	for (size_t i = 0; i < 5; i++)
		grid_add_text(g, "");
	for (size_t s = 1; s < c->n_sides; s++) {
		const struct comparison *x = compare_at(c, row, s);

		add_cell(c, g, row, s, x->verdict);
		grid_add(g, pct_text(ratio_pct(x->r.ratio), ROUND_NEAREST));
		grid_add(g, pct_text(ratio_pct(x->r.ci.low), ROUND_DOWN));
		grid_add(g, pct_text(ratio_pct(x->r.ci.high), ROUND_UP));
		grid_add(g, p_text(x->r.p));
		grid_add(g, p_text(x->holm_p));
	}
}

static void put_metric(const struct compare *c, const struct metric *m, struct buf *b)
{
	CLEANUP(grid_free) struct grid g = { .titles = titles, .text = 3 };

	for (size_t r = 0; r < c->rows.n; r++)
		if (c->rows.v[r].metric == m)
			add_row(c, &g, r);
	if (g.cells.n == 0)
		return;
	buf_printf(b, "%s%s%s, %s: %s is better\n", m->bench, *m->bench ? " " : "",
		   m->title, m->unit, m->more_is_better ? "more" : "less");
	grid_put(&g, b);
	buf_adds(b, "\n");
}

/* --- sentences ----------------------------------------------------------------------- */

static void put_mean(const struct compare *c, const struct compare_mean *m,
		     struct buf *b)
{
	cleanup_free char *diff = pct_text(ratio_pct(m->r.ratio), ROUND_NEAREST);
	cleanup_free char *ci = interval_text(m->r.ci);
	CLEANUP(buf_free) struct buf text = { 0 };

	buf_printf(&text, "Geometric mean over %zu loads, %s: %s against %s: ",
		   m->rows, m->metric->title, c->sides[m->side].title,
		   c->sides[0].title);
	/* A mean of means without its interval would say more than is known */
	if (isnan(m->r.ci.low))
		buf_adds(&text, "not enough boots");
	else
		buf_printf(&text, "%s %% %s", diff, ci);
	buf_printf(&text, ", from %zu and %zu boots that have all of them",
		   m->r.boots[0], m->r.boots[1]);
	if (*m->left_out)
		buf_printf(&text, "; without %s", m->left_out);
	buf_adds(&text, ".");
	put_wrapped("* ", text.data, b);
}

/* told_before() - has an earlier row the same load, of another metric? */
static bool told_before(const struct compare *c, size_t at)
{
	const struct compare_row *row = &c->rows.v[at];

	for (size_t i = 0; i < at; i++)
		if (c->rows.v[i].bench == row->bench &&
		    strcmp(c->rows.v[i].load, row->load) == 0)
			return true;
	return false;
}

/* put_side_notes() - of a row's runs on one side; @some: there were any before */
static void put_side_notes(const struct compare_row *row,
			   const struct compare_side *side, bool *some, struct buf *b)
{
	size_t at = table_find_row(side->table, row->load, row->bench);
	const struct cell *cell;

	if (at == table_rows(side->table))
		return;
	cell = table_cell(side->table, at, side->kernel);
	for (size_t i = 0; i < cell->notes.n; i++) {
		cleanup_free char *line = xasprintf("%s: %s", row->load,
						    cell->notes.v[i]);

		if (!*some)
			buf_adds(b, "\nRuns that are in no figure:\n");
		*some = true;
		put_wrapped("  ", line, b);
	}
}

/* put_notes() - each run that is in no figure, once however many metrics there are */
static void put_notes(const struct compare *c, struct buf *b)
{
	bool some = false;

	for (size_t r = 0; r < c->rows.n; r++)
		for (size_t s = 0; !told_before(c, r) && s < c->n_sides; s++)
			put_side_notes(&c->rows.v[r], &c->sides[s], &some, b);
}

void compare_put_text(const struct compare *c, const struct strings *differences,
		      struct buf *b)
{
	cleanup_free char *method = compare_method(c);

	/* One line, however long: it is what must not be missed. */
	for (size_t i = 0; differences && i < differences->n; i++) {
		buf_adds(b, i ? "; " : "NOT THE SAME CONDITIONS: ");
		put_left(b, differences->v[i], 0);
	}
	if (differences && differences->n)
		buf_adds(b, "\n\n");
	for (const struct metric *m = metrics(); m->name; m++)
		put_metric(c, m, b);
	for (size_t i = 0; i < c->comparisons.n; i++)
		put_wrapped("* ", c->comparisons.v[i].sentence, b);
	for (size_t i = 0; i < c->means.n; i++)
		put_mean(c, &c->means.v[i], b);
	put_notes(c, b);
	buf_adds(b, "\n");
	put_wrapped("", method, b);
}
