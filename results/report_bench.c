/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_bench.c - tiobench, chat and qsbench in reports
 */
#include "results/render.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/base/cleanup.h"
#include "results/bench.h"
#include "results/bench_table.h"
#include "results/columns.h"
#include "results/grid.h"

#define MIB (1024 * 1024)

/* @gaps: only on boots that left no journal */
static void put_bench_notes(const struct report *r, size_t bench, bool gaps,
			    struct buf *b)
{
	for (size_t k = 0; k < r->table.kernels.n; k++) {
		const struct cell *c = table_bench_cell(&r->table, bench, k);

		for (size_t i = 0; i < c->notes.n; i++) {
			if (gaps && !str_ends(c->notes.v[i], "no journal"))
				continue;
			buf_adds(b, "  ");
			put_left(b, c->notes.v[i], 0);
			buf_adds(b, "\n");
		}
	}
}

static double mean_of(const struct cell *c, const struct bench_key *k,
		      const struct bench_view *v, const char *column)
{
	return bench_spread(c, k, bench_column(v, column)).mean;
}

/* --- tiobench's tables -------------------------------------------------------- */

/* In the order in which tiobench printed them, not that of the phases */
static const struct {
	const char *phase, *title;
} tio_tables[] = {
	{ "sequential-read", "Sequential Reads" },
	{ "random-read", "Random Reads" },
	{ "sequential-write", "Sequential Writes" },
	{ "random-write", "Random Writes" },
};

static void put_tio_row(const struct report *r, size_t bench, size_t kernel,
			const struct bench_key *k, struct buf *b)
{
	const struct cell *c = table_bench_cell(&r->table, bench, kernel);
	const struct bench_view *v = bench_view("tiobench");
	const json_t *set = bench_settings(&r->table, bench);
	double rate = mean_of(c, k, v, "rate_mib_s");
	double cpu = mean_of(c, k, v, "cpu_pct");
	const struct tio_row row = {
		.label = r->table.kernels.v[kernel].label,
		.size_mib = json_integer_value(json_object_get(set, "size")) /
			    MIB,
		.block = json_integer_value(json_object_get(set, "block")),
		.threads = k->threads,
		.rate = rate, .cpu_pct = cpu,
		.average_ms = mean_of(c, k, v, "lat_avg_ms"),
		.max_ms = mean_of(c, k, v, "lat_max_ms"),
		.over_2s_pct = mean_of(c, k, v, "over_2s_pct"),
		.over_10s_pct = mean_of(c, k, v, "over_10s_pct"),
		.cpu_eff = cpu > 0 ? rate / (cpu / 100) : NAN,
	};

	if (c->good.n)
		tio_put_row(b, &row);
}

static void put_tiobench(const struct report *r, size_t bench, struct buf *b)
{
	struct bench_keys keys = { 0 };

	bench_keys_of(&r->table, bench, &keys);
	for (size_t i = 0; i < sizeof(tio_tables) / sizeof(tio_tables[0]); i++) {
		if (i > 0)
			buf_adds(b, "\n");
		tio_put_head(b, tio_tables[i].title);
		for (size_t n = 0; n < r->table.kernels.n; n++)
			for (size_t k = 0; k < keys.n; k++)
				if (!strcmp(keys.v[k].phase,
					    tio_tables[i].phase))
					put_tio_row(r, bench, n, &keys.v[k], b);
	}
	bench_keys_free(&keys);
	put_bench_notes(r, bench, false, b);
}

/* --- Hartner's table ---------------------------------------------------------- */

static struct volano_swap swap_of(const struct cell *c,
				  const struct bench_key *k, const char *column)
{
	return (struct volano_swap){
		.kb = mean_of(c, k, bench_view("chat"), column),
	};
}

/* remark() - what became of a boot without a result: "***** hung - ... *****";
 * owned by the caller */
static char *remark(const struct boot_record *b, const struct run_record *r)
{
	bool own = r->ended && r->verdict != VERDICT_OK;
	const char *why = own ? r->message : b->evidence;
	const char *how = own ? verdict_name(r->verdict)
			      : verdict_name(b->verdict);

	return xasprintf("***** %s - %s *****", how,
			 why && *why ? why : "nothing more is known");
}

/* put_lost() - a line for every run of a kernel that came to nothing */
static void put_lost(const struct report *r, const char *bench, int64_t order,
		     struct buf *b)
{
	for (size_t i = 0; i < r->boots.n; i++) {
		const struct boot_record *boot = &r->boots.v[i];

		if (boot->order != order)
			continue;
		for (size_t k = 0; k < boot->runs.n; k++) {
			const struct run_record *run = &boot->runs.v[k];
			cleanup_free char *text = NULL;

			if (!run->bench || strcmp(run->load, bench) != 0 ||
			    run_good(boot, run))
				continue;
			text = remark(boot, run);
			volano_put_row(b, &(struct volano_row){
				.label = boot->label, .score = NAN,
				.remark = text });
		}
	}
}

static void put_chat(const struct report *r, size_t bench, struct buf *b)
{
	const struct bench_view *v = bench_view("chat");
	const struct bench_key k = { NULL, 0 };

	volano_put_head(b, NULL);
	for (size_t n = 0; n < r->table.kernels.n; n++) {
		const struct cell *c = table_bench_cell(&r->table, bench, n);

		if (c->good.n)
			volano_put_row(b, &(struct volano_row){
				.label = r->table.kernels.v[n].label,
				.score = mean_of(c, &k, v, "messages_per_s"),
				.cpu_pct = mean_of(c, &k, v, "cpu_pct"),
				.system_to_user = mean_of(c, &k, v,
							  "system_to_user"),
				.in = swap_of(c, &k, "swap_in_kb"),
				.out = swap_of(c, &k, "swap_out_kb"),
				.both = swap_of(c, &k, "swap_io_kb"),
			});
		put_lost(r, "chat", r->table.kernels.v[n].order, b);
	}
	put_bench_notes(r, bench, true, b);
}

/* --- grids -------------------------------------------------------------------- */

#define TITLES_MAX 40

/* Every column with its interval, or without. Return: how many are text */
static size_t make_titles(const struct bench_view *v, bool phases,
			  bool intervals, const char *titles[TITLES_MAX])
{
	size_t n = 0, text;

	titles[n++] = "Kernel";
	if (phases)
		titles[n++] = "Phase";
	text = n;
	if (phases)
		titles[n++] = "Thr";
	titles[n++] = "Boots";
	titles[n++] = "Runs";
	for (const struct bench_column *c = v->columns; c->name; c++) {
		titles[n++] = c->title;
		if (intervals)
			titles[n++] = "+-";
	}
	titles[n] = NULL;
	return text;
}

/* has_intervals() - one boot of each kernel tells none: columns of "-" */
static bool has_intervals(const struct report *r, size_t bench)
{
	for (size_t n = 0; n < r->table.kernels.n; n++)
		if (cell_boots(table_bench_cell(&r->table, bench, n)) > 1)
			return true;
	return false;
}

static void add_row(const struct report *r, size_t bench, size_t kernel,
		    const struct bench_key *k, bool intervals, struct grid *g)
{
	const struct cell *c = table_bench_cell(&r->table, bench, kernel);
	const struct bench_view *v = bench_view(r->table.benches.v[bench]);

	grid_add_text(g, r->table.kernels.v[kernel].label);
	if (k->phase) {
		grid_add_text(g, k->phase);
		grid_add(g, xasprintf("%lld", (long long)k->threads));
	}
	grid_add(g, xasprintf("%zu", cell_boots(c)));
	grid_add(g, xasprintf("%zu", c->good.n));
	for (const struct bench_column *col = v->columns; col->name; col++) {
		struct spread s = bench_spread(c, k, col);

		grid_add_number(g, s.mean, col->decimals);
		if (intervals)
			grid_add_number(g, s.half_width, col->decimals);
	}
}

static void put_grid(const struct report *r, size_t bench, bool intervals,
		     struct buf *b)
{
	const struct bench_view *v = bench_view(r->table.benches.v[bench]);
	struct bench_keys keys = { 0 };
	const char *titles[TITLES_MAX];
	CLEANUP(grid_free) struct grid g = { .titles = titles };

	bench_keys_of(&r->table, bench, &keys);
	if (keys.n == 0)
		bench_keys_add(&keys, (struct bench_key){ NULL, 0 });
	g.text = make_titles(v, keys.v[0].phase != NULL, intervals, titles);
	for (size_t k = 0; k < keys.n; k++)
		for (size_t n = 0; n < r->table.kernels.n; n++)
			add_row(r, bench, n, &keys.v[k], intervals, &g);
	grid_put(&g, b);
	bench_keys_free(&keys);
	put_bench_notes(r, bench, false, b);
}

/* put_settings() - "tiobench (threads 1,2,4,8; block 4096; ...):" */
static void put_settings(const struct report *r, size_t bench, struct buf *b)
{
	json_t *set = (json_t *)bench_settings(&r->table, bench);
	const char *name, *sep = " (";
	const json_t *v, *item;
	size_t i;

	buf_adds(b, r->table.benches.v[bench]);
	json_object_foreach(set, name, v) {
		buf_printf(b, "%s%s ", sep, name);
		if (json_is_integer(v))
			buf_printf(b, "%lld", (long long)json_integer_value(v));
		json_array_foreach(v, i, item) {
			buf_printf(b, "%s%lld", i ? "," : "",
				   (long long)json_integer_value(item));
		}
		sep = "; ";
	}
	buf_adds(b, strcmp(sep, "; ") == 0 ? "):\n" : ":\n");
}

/* --- what others call ----------------------------------------------------------- */

void put_bench(const struct report *r, size_t bench, struct buf *b)
{
	const char *name = r->table.benches.v[bench];

	if (strcmp(name, "tiobench") == 0)
		put_tiobench(r, bench, b);
	else if (strcmp(name, "chat") == 0)
		put_chat(r, bench, b);
	else if (bench_view(name))
		put_grid(r, bench, false, b);
}

void put_benches(const struct report *r, struct buf *b)
{
	for (size_t i = 0; i < r->table.benches.n; i++) {
		if (b->len)
			buf_adds(b, "\n");
		put_settings(r, i, b);
		put_bench(r, i, b);
	}
}

void put_benches_wide(const struct report *r, struct buf *b)
{
	for (size_t i = 0; i < r->table.benches.n; i++) {
		buf_adds(b, "\n");
		put_settings(r, i, b);
		if (bench_view(r->table.benches.v[i]))
			put_grid(r, i, has_intervals(r, i), b);
	}
	if (r->table.benches.n)
		buf_adds(b, "+- (from two boots on): half of the 95 % confidence interval over boots; percentiles, averages and maxima: means over the runs\n");
}
