/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_bench_json.c - benchmarks in JSON; see results/report.schema.md
 */
#include "results/json_put.h"
#include "results/render.h"

#include "results/base/cleanup.h"
#include "results/bench.h"

void run_bench_json(const struct run_record *run, json_t *to)
{
	json_put_copy(to, "settings", run->settings);
	json_put(to, "rows", run->rows ? json_incref(run->rows) : json_array());
}

static json_t *row_json(const struct cell *c, const struct bench_view *v,
			const struct bench_key *k)
{
	json_t *row = json_object();

	if (k->phase) {
		json_put(row, "phase", json_string(k->phase));
		json_put(row, "threads", json_integer(k->threads));
	}
	for (const struct bench_column *col = v->columns; col->name; col++) {
		struct spread s = bench_spread(c, k, col);
		cleanup_free char *hw = xasprintf("%s_half_width", col->name);

		json_put_real(row, col->name, s.mean);
		json_put_real(row, hw, s.half_width);
	}
	return row;
}

static json_t *cell_json(const struct report *r, size_t bench, size_t kernel,
			 const struct bench_keys *keys)
{
	const struct cell *c = table_bench_cell(&r->table, bench, kernel);
	const struct bench_view *v = bench_view(r->table.benches.v[bench]);
	json_t *cell = json_object(), *rows = json_array();
	json_t *notes = json_array();
	json_int_t boots = 0;

	for (size_t i = 0; i < c->good.n; i++)
		boots += i == 0 || c->good.v[i].boot != c->good.v[i - 1].boot;
	json_put(cell, "kernel", json_integer(r->table.kernels.v[kernel].order));
	json_put(cell, "label", json_string(r->table.kernels.v[kernel].label));
	json_put(cell, "boots", json_integer(boots));
	json_put(cell, "runs", json_integer((json_int_t)c->good.n));
	for (size_t k = 0; v && c->good.n && k < keys->n; k++)
		json_put_last(rows, row_json(c, v, &keys->v[k]));
	json_put(cell, "rows", rows);
	for (size_t i = 0; i < c->notes.n; i++)
		json_put_last(notes, json_string(c->notes.v[i]));
	json_put(cell, "missing", notes);
	return cell;
}

json_t *benches_json(const struct report *r)
{
	json_t *benches = json_array();

	for (size_t i = 0; i < r->table.benches.n; i++) {
		json_t *bench = json_object(), *kernels = json_array();
		json_t *set_by = (json_t *)bench_settings(&r->table, i);
		struct bench_keys keys = { 0 };

		bench_keys_of(&r->table, i, &keys);
		json_put(bench, "bench", json_string(r->table.benches.v[i]));
		json_put_copy(bench, "settings", set_by);
		for (size_t k = 0; k < r->table.kernels.n; k++)
			json_put_last(kernels, cell_json(r, i, k, &keys));
		json_put(bench, "kernels", kernels);
		json_put_last(benches, bench);
		bench_keys_free(&keys);
	}
	return benches;
}
