/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compare.c - from tables to rows and cells: what is compared, and what was lost
 */
#include "results/compare.h"

#include <math.h>
#include <string.h>

#include "results/base/cleanup.h"
#include "results/bench.h"
#include "results/compare_judge.h"
#include "results/noise.h"

static const struct metric all_metrics[] = {
	{ .name = "time", .bench = "", .title = "Time", .unit = "s", .decimals = 3,
	  .main = true, .bounded = true },
	{ .name = "loads_per_s", .bench = "", .title = "Loads/s", .unit = "1/s",
	  .decimals = 4, .more_is_better = true },
	{ .name = "rate", .bench = "tiobench", .title = "Rate", .unit = "MiB/s",
	  .decimals = 2, .more_is_better = true, .main = true,
	  .column = "rate_mib_s" },
	{ .name = "latency", .bench = "tiobench", .title = "Mean latency",
	  .unit = "ms", .decimals = 3, .column = "lat_avg_ms" },
	{ .name = "messages_per_s", .bench = "chat", .title = "Messages/s",
	  .unit = "1/s", .decimals = 1, .more_is_better = true, .main = true,
	  .column = "messages_per_s" },
	{ .name = "elapsed", .bench = "qsbench", .title = "Elapsed", .unit = "s",
	  .decimals = 3, .main = true, .bounded = true, .column = "elapsed_s" },
	{ .name = NULL },
};

const struct metric *metrics(void)
{
	return all_metrics;
}

const char *finding_name(enum finding f)
{
	static const char *const names[] = {
		[FINDING_NO_DATA] = "no-data",
		[FINDING_FEW_BOOTS] = "not-enough-boots",
		[FINDING_CANNOT_TELL] = "cannot-tell",
		[FINDING_SAME] = "same",
		[FINDING_BETTER] = "better",
		[FINDING_WORSE] = "worse",
	};

	return names[f];
}

const struct compare_cell *compare_cell_at(const struct compare *c, size_t row,
					   size_t side)
{
	return &c->cells[row * c->n_sides + side];
}

const struct boot_record *compare_first_boot(const struct compare_side *s)
{
	return s->table->kernels.v[s->kernel].first;
}

const struct comparison *compare_at(const struct compare *c, size_t row, size_t side)
{
	return &c->comparisons.v[row * (c->n_sides - 1) + side - 1];
}

size_t cell_lost(const struct compare_cell *cell)
{
	return cell->censored + cell->failed + cell->missing;
}

/* --- rows ------------------------------------------------------------------------- */

static bool wanted(const struct metric *m, const char *name)
{
	if (!name)
		return m->main;
	return strcmp(name, "all") == 0 || strcmp(name, m->name) == 0;
}

static int check_metric(const char *name, struct error *err)
{
	CLEANUP(buf_free) struct buf known = { 0 };

	for (const struct metric *m = all_metrics; m->name; m++) {
		if (!name || strcmp(name, "all") == 0 || strcmp(name, m->name) == 0)
			return 0;
		buf_printf(&known, "%s, ", m->name);
	}
	return error_set(err, 0, "there is no metric '%s'; there are %sall", name,
			 known.data);
}

bool compare_row_same(const struct compare_row *a, const struct compare_row *b)
{
	return a->metric == b->metric && a->bench == b->bench &&
	       a->threads == b->threads && strcmp(a->load, b->load) == 0 &&
	       str_same(a->phase, b->phase);
}

static void add_row(struct compare *c, struct compare_row row)
{
	for (size_t i = 0; i < c->rows.n; i++)
		if (compare_row_same(&c->rows.v[i], &row))
			return;
	if (row.phase)
		row.title = xasprintf("%s %s, %lld thread%s", row.load, row.phase,
				      (long long)row.threads,
				      row.threads == 1 ? "" : "s");
	else
		row.title = xstrdup(row.load);
	compare_rows_add(&c->rows, row);
}

/* has_loads() - does any good run of it count Loads? no_load and cacherun do not */
static bool has_loads(const struct compare *c, const char *load)
{
	for (size_t s = 0; s < c->n_sides; s++) {
		const struct boot_records *boots = c->sides[s].boots;

		for (size_t b = 0; b < boots->n; b++)
			for (size_t i = 0; i < boots->v[b].runs.n; i++) {
				const struct run_record *r = &boots->v[b].runs.v[i];

				if (!r->bench && strcmp(r->load, load) == 0 &&
				    r->fig[FIG_COUNT_PER_LOAD] > 0)
					return true;
			}
	}
	return false;
}

static void add_load_rows(struct compare *c, const struct table *t,
			  const struct metric *m)
{
	for (size_t l = 0; l < t->loads.n; l++) {
		if (!m->main && !has_loads(c, t->loads.v[l]))
			continue;
		add_row(c, (struct compare_row) { .metric = m,
						  .load = t->loads.v[l] });
	}
}

static void add_bench_rows(struct compare *c, const struct table *t,
			   const struct metric *m)
{
	size_t bench = table_find_bench(t, m->bench);
	struct bench_keys keys = { 0 };

	if (bench == t->benches.n)
		return;
	bench_keys_of(t, bench, &keys);
	/* Without a good run nobody knows its phases. */
	if (keys.n == 0)
		bench_keys_add(&keys, (struct bench_key) { NULL, 0 });
	for (size_t i = 0; i < keys.n; i++)
		add_row(c, (struct compare_row) {
			.metric = m, .load = t->benches.v[bench], .bench = true,
			.phase = keys.v[i].phase, .threads = keys.v[i].threads,
		});
	bench_keys_free(&keys);
}

static int make_rows(struct compare *c, const char *metric, struct error *err)
{
	if (check_metric(metric, err) < 0)
		return -1;
	for (const struct metric *m = all_metrics; m->name; m++) {
		if (!wanted(m, metric))
			continue;
		for (size_t s = 0; s < c->n_sides; s++) {
			if (*m->bench)
				add_bench_rows(c, c->sides[s].table, m);
			else
				add_load_rows(c, c->sides[s].table, m);
		}
	}
	if (c->rows.n)
		return 0;
	return metric ? error_set(err, 0, "nothing to compare: these runs have no %s",
				  metric)
		      : error_set(err, 0, "nothing to compare: these runs have neither loads nor benchmarks");
}

/* --- cells ------------------------------------------------------------------------ */

static bool of_row(const struct run_record *r, const struct compare_row *row)
{
	return r->bench == row->bench && strcmp(r->load, row->load) == 0;
}

static double figure(const struct compare_row *row, const struct sample *s)
{
	const struct bench_view *view = row->bench ? bench_view(row->load) : NULL;
	const struct bench_key key = { row->phase, row->threads };
	const json_t *rows;

	if (!row->bench)
		return row->metric->main ? sample_time_s(s)
					 : sample_loads_per_s(s);
	rows = view ? bench_row(s->run, &key) : NULL;
	return rows ? bench_column(view, row->metric->column)->of(s, rows) : NAN;
}

static json_int_t boot_seed(const struct boot_record *b)
{
	return json_integer_value(context_value(b, "boot", "seed"));
}

/* stands_for() - an exact boot of the same seed is the same boot again */
static bool stands_for(const struct compare_cell *cell, const struct boot_record *b)
{
	for (size_t i = 0; !boot_measured(b) && i < cell->boots.n; i++)
		if (cell->boots.v[i] != b && !boot_measured(cell->boots.v[i]) &&
		    boot_seed(cell->boots.v[i]) == boot_seed(b))
			return true;
	return false;
}

static void take_run(struct compare_cell *cell, const struct compare_row *row,
		     const struct boot_record *b, const struct run_record *r)
{
	const struct sample s = { b, r };
	enum verdict v = r->ended ? r->verdict : b->verdict;
	double value;
	bool first;

	if (!run_good(b, r)) {
		if (b->replaced_by)
			cell->repeated++;
		else if (!r->started && !r->ended)
			cell->missing++;
		else if (v == VERDICT_TIMED_OUT || v == VERDICT_HUNG)
			cell->censored++;
		else
			cell->failed++;
		return;
	}
	value = figure(row, &s);
	if (!isfinite(value)) {
		cell->failed++;
		return;
	}
	if (stands_for(cell, b)) {
		cell->repeated++;
		return;
	}
	cell->zero = cell->zero || value <= 0;
	cell->noisy += run_noisy(b, r, NULL);
	first = cell->boots.n == 0 || cell->boots.v[cell->boots.n - 1] != b;
	if (first)
		boot_refs_add(&cell->boots, b);
	nested_add(&cell->data, value, first);
}

/* take_cell() - in the order of @boots, which table_make() has sorted */
static void take_cell(struct compare_cell *cell, const struct compare_row *row,
		      const struct compare_side *side)
{
	int64_t order = side->table->kernels.v[side->kernel].order;
	size_t own = 0, any = 0;	/* runs that a boot was asked for */
	int64_t present = 0, planned = table_boots(side->boots);

	for (size_t i = 0; i < side->boots->n; i++) {
		const struct boot_record *b = &side->boots->v[i];
		size_t runs = 0;

		for (size_t r = 0; r < b->runs.n; r++) {
			if (!of_row(&b->runs.v[r], row))
				continue;
			runs++;
			if (b->order == order)
				take_run(cell, row, b, &b->runs.v[r]);
		}
		any = runs > any ? runs : any;
		own = b->order == order && runs > own ? runs : own;
		/* A repeat is beside the boots of the plan. */
		present += b->order == order && !b->repeats;
	}
	if (planned > present)
		cell->missing += (size_t)(planned - present) * (own ? own : any);
	cell->mean = NAN;
	cell->ci = (struct interval) { NAN, NAN };
	if (cell->data.v.n && !cell->zero) {
		cleanup_free double *logs = nested_boot_logs(&cell->data);
		double sum = 0;

		for (size_t i = 0; i < cell->boots.n; i++)
			sum += logs[i];
		cell->mean = exp(sum / (double)cell->boots.n);
		cell->ci = nested_ci(&cell->data, INFER_CONFIDENCE);
	}
}

static void make_cells(struct compare *c)
{
	c->cells = xcalloc(c->rows.n * c->n_sides, sizeof(c->cells[0]));
	for (size_t r = 0; r < c->rows.n; r++)
		for (size_t s = 0; s < c->n_sides; s++)
			take_cell(&c->cells[r * c->n_sides + s], &c->rows.v[r],
				  &c->sides[s]);
	for (size_t s = 0; s < c->n_sides; s++) {
		const struct boot_records *boots = c->sides[s].boots;

		for (size_t i = 0; i < boots->n; i++)
			c->exact = c->exact || !boot_measured(&boots->v[i]);
	}
}

/* --- the whole ----------------------------------------------------------------------- */

int compare_make(struct compare *c, const struct compare_side *sides, size_t n,
		 const struct compare_options *o, struct error *err)
{
	*c = (struct compare) {
		.sides = xcalloc(n, sizeof(*sides)), .n_sides = n,
		.margin_pct = o && o->margin_pct > 0 ? o->margin_pct
						     : COMPARE_MARGIN_PCT,
	};
	for (size_t i = 0; i < n; i++) {
		c->sides[i] = sides[i];
		if (!sides[i].title)
			c->sides[i].title =
				sides[i].table->kernels.v[sides[i].kernel].label;
	}
	if (make_rows(c, o ? o->metric : NULL, err) < 0) {
		compare_free(c);
		return -1;
	}
	make_cells(c);
	compare_judge(c, o);
	compare_means_make(c);
	return 0;
}

void compare_free(struct compare *c)
{
	for (size_t i = 0; c->cells && i < c->rows.n * c->n_sides; i++) {
		nested_free(&c->cells[i].data);
		boot_refs_free(&c->cells[i].boots);
	}
	for (size_t i = 0; i < c->rows.n; i++)
		free(c->rows.v[i].title);
	for (size_t i = 0; i < c->comparisons.n; i++) {
		free(c->comparisons.v[i].verdict);
		free(c->comparisons.v[i].sentence);
	}
	for (size_t i = 0; i < c->means.n; i++)
		free(c->means.v[i].left_out);
	free(c->cells);
	free(c->sides);
	compare_rows_free(&c->rows);
	comparisons_free(&c->comparisons);
	compare_means_free(&c->means);
	*c = (struct compare) { 0 };
}
