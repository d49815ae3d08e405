/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_bench_json.c - benchmarks in JSON; see results/report.schema.md
 */
#include "results/render.h"

#include <math.h>
#include <stdlib.h>

#include "results/base/cleanup.h"
#include "results/bench.h"

static void set(json_t *obj, const char *name, json_t *value)
{
	/* jansson fails here only for want of memory */
	if (!value || json_object_set_new(obj, name, value))
		abort();
}

static void append(json_t *array, json_t *value)
{
	if (!value || json_array_append_new(array, value))
		abort();
}

static void set_real(json_t *obj, const char *name, double v)
{
	/* -0.0 and 0.0 are the same figure and shall be the same bytes */
	set(obj, name, isfinite(v) ? json_real(v == 0 ? 0 : v) : json_null());
}

void run_bench_json(const struct run_record *run, json_t *to)
{
	set(to, "settings", run->settings ? json_incref(run->settings)
					  : json_null());
	set(to, "rows", run->rows ? json_incref(run->rows) : json_array());
}

static json_t *row_json(const struct cell *c, const struct bench_view *v,
			const struct bench_key *k)
{
	json_t *row = json_object();

	if (k->phase) {
		set(row, "phase", json_string(k->phase));
		set(row, "threads", json_integer(k->threads));
	}
	for (const struct bench_column *col = v->columns; col->name; col++) {
		struct spread s = bench_spread(c, k, col);
		cleanup_free char *hw = xasprintf("%s_half_width", col->name);

		set_real(row, col->name, s.mean);
		set_real(row, hw, s.half_width);
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
	set(cell, "kernel", json_integer(r->table.kernels.v[kernel].order));
	set(cell, "label", json_string(r->table.kernels.v[kernel].label));
	set(cell, "boots", json_integer(boots));
	set(cell, "runs", json_integer((json_int_t)c->good.n));
	for (size_t k = 0; v && c->good.n && k < keys->n; k++)
		append(rows, row_json(c, v, &keys->v[k]));
	set(cell, "rows", rows);
	for (size_t i = 0; i < c->notes.n; i++)
		append(notes, json_string(c->notes.v[i]));
	set(cell, "missing", notes);
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
		set(bench, "bench", json_string(r->table.benches.v[i]));
		set(bench, "settings", set_by ? json_incref(set_by)
					      : json_null());
		for (size_t k = 0; k < r->table.kernels.n; k++)
			append(kernels, cell_json(r, i, k, &keys));
		set(bench, "kernels", kernels);
		append(benches, bench);
		bench_keys_free(&keys);
	}
	return benches;
}
