/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_json.c - everything, for programs; see results/report.schema.md
 *
 * Members stand in the order in which they are set here or in the context, so
 * equal results give equal bytes. What depends on the host is in members
 * called "host".
 */
#include "results/json_put.h"
#include "results/render.h"
#include "results/provenance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REPORT_FORMAT "kontest-report"
#define REPORT_VERSION 1
/* Derived figures, and them alone, are reals; nine digits tell microseconds in
 * runs of minutes and hide the last bits of the arithmetic. */
#define REAL_DIGITS 9

/* figure_object() - the object of @in that a figure of RUN_END stands in */
static json_t *figure_object(json_t *in, enum run_figure f)
{
	const char *group = figure_group(f);
	json_t *obj = *group ? json_object_get(in, group) : in;

	if (!obj) {
		obj = json_object();
		json_put(in, group, obj);
	}
	return obj;
}

/* means_json() - of what a kernel counts, from "cpu" to "load_io" */
static json_t *means_json(const struct cell *c)
{
	json_t *means = json_object();

	for (int f = FIG_CPU_USER_NS; f <= FIG_LOAD_IO_WRITES; f++) {
		double v = cell_figure(c, (enum run_figure)f);

		if (isfinite(v))
			json_put_real(figure_object(means, (enum run_figure)f),
				      figure_member((enum run_figure)f), v);
	}
	return means;
}

static json_t *run_json(const struct boot_record *b,
			const struct run_record *r)
{
	json_t *run = json_object(), *host = run_noise_json(b, r);

	json_put(run, "run", json_integer(r->number));
	json_put_text(run, r->bench ? "bench" : "load", r->load);
	json_put(run, "index", json_integer(r->index));
	json_put_text(run, "verdict", r->started ? verdict_name(r->verdict)
					    : "not-started");
	json_put(run, "good", json_boolean(run_good(b, r)));
	if (r->message)
		json_put_text(run, "message", r->message);
	if (r->bench)
		run_bench_json(r, run);
	for (int f = 0; f < FIG_COUNT; f++) {
		if (r->fig[f] != FIGURE_NONE)
			json_put(figure_object(run, (enum run_figure)f),
				 figure_member((enum run_figure)f),
				 json_integer(r->fig[f]));
	}
	if (r->size_unit && r->fig[FIG_LOAD_SIZE] != FIGURE_NONE)
		json_put_text(run, "size_unit", r->size_unit);
	if (r->unit && json_object_get(run, "count"))
		json_put_text(json_object_get(run, "count"), "unit", r->unit);
	if (host)
		json_put(run, "host", host);
	return run;
}

static json_t *boot_json(const struct boot_record *b)
{
	json_t *boot = json_object(), *runs = json_array();
	json_t *host = json_object();

	json_put(boot, "kernel", json_integer(b->order));
	json_put(boot, "number", json_integer(b->number));
	json_put(boot, "index", json_integer(b->index));
	json_put_copy(boot, "seed", context_value(b, "boot", "seed"));
	if (b->repeats)
		json_put(boot, "repeats", json_integer(b->repeats));
	if (b->replaced_by)
		json_put(boot, "replaced_by", json_integer(b->replaced_by));
	json_put_text(boot, "verdict", verdict_name(b->verdict));
	/* A good boot's evidence may well say how long the host took. */
	if (b->verdict != VERDICT_OK)
		json_put_text(boot, "evidence", b->evidence);
	json_put_copy(boot, "accel", context_value(b, NULL, "accel"));
	json_put_copy(boot, "qemu", context_value(b, NULL, "qemu"));
	json_put_copy(boot, "image", context_value(b, NULL, "image"));
	json_put_copy(boot, "receipt", b->receipt);
	for (size_t i = 0; i < b->runs.n; i++)
		json_put_last(runs, run_json(b, &b->runs.v[i]));
	json_put(boot, "runs", runs);

	json_put_text(host, "id", b->id);
	if (b->verdict == VERDICT_OK)
		json_put_text(host, "evidence", b->evidence);
	json_put_copy(host, "context", context_value(b, NULL, "host"));
	json_put_copy(host, "verdict", b->host);
	json_put_copy(host, "console", b->console);
	json_put(boot, "host", host);
	return boot;
}

static json_t *cell_json(const struct report *r, size_t load, size_t kernel)
{
	const struct cell *c = table_cell(&r->table, load, kernel);
	json_t *cell = json_object(), *notes = json_array();
	struct cell_figures f;

	cell_compute(&r->table, load, kernel, &f);
	json_put(cell, "kernel", json_integer(r->table.kernels.v[kernel].order));
	json_put_text(cell, "label", r->table.kernels.v[kernel].label);
	json_put(cell, "boots", json_integer((json_int_t)f.boots));
	json_put(cell, "runs", json_integer((json_int_t)f.runs));
	json_put_real(cell, "time_s", f.time_s);
	json_put_real(cell, "time_half_width_s", f.time_hw_s);
	json_put_real(cell, "cpu_pct", f.cpu_pct);
	json_put_real(cell, "loads", f.loads);
	json_put_real(cell, "loads_per_s", f.loads_per_s);
	json_put_real(cell, "loads_per_s_half_width", f.loads_per_s_hw);
	json_put_real(cell, "marginal_per_s", f.marginal_per_s);
	json_put_real(cell, "marginal_noise_s", f.marginal_noise_s);
	json_put_real(cell, "lcpu_pct", f.lcpu_pct);
	json_put_real(cell, "ratio", f.ratio);
	json_put_real(cell, "ratio_half_width", f.ratio_hw);
	json_put_real(cell, "user_pct", f.user_pct);
	json_put_real(cell, "system_pct", f.system_pct);
	json_put_real(cell, "steal_pct", f.steal_pct);
	json_put_real(cell, "idle_pct", f.idle_pct);
	json_put_real(cell, "iowait_pct", f.iowait_pct);
	json_put_real(cell, "swap_in_pages", f.swap_in_pages);
	json_put_real(cell, "swap_out_pages", f.swap_out_pages);
	json_put_real(cell, "job_pct", f.job_pct);
	json_put_real(cell, "psi_cpu_pct", f.psi_cpu_pct);
	json_put_real(cell, "psi_memory_pct", f.psi_memory_pct);
	json_put_real(cell, "psi_memory_full_pct", f.psi_memory_full_pct);
	json_put_real(cell, "psi_io_pct", f.psi_io_pct);
	json_put_real(cell, "psi_io_full_pct", f.psi_io_full_pct);
	json_put(cell, "means", means_json(c));
	for (size_t i = 0; i < c->notes.n; i++)
		json_put_last(notes, json_string(c->notes.v[i]));
	json_put(cell, "missing", notes);
	return cell;
}

/* set_load() - what one Load is, and the load's size where it has one */
static void set_load(json_t *load, const struct run_record *run)
{
	json_put_text(load, "unit", run ? run->unit : NULL);
	if (!run || !run->size_unit || run->fig[FIG_LOAD_SIZE] == FIGURE_NONE)
		return;
	json_put(load, "size", json_integer(run->fig[FIG_LOAD_SIZE]));
	json_put_text(load, "size_unit", run->size_unit);
}

static json_t *table_json(const struct report *r)
{
	json_t *table = json_array();

	for (size_t l = 0; l < r->table.loads.n; l++) {
		json_t *load = json_object(), *kernels = json_array();

		json_put_text(load, "load", r->table.loads.v[l]);
		set_load(load, table_load_run(&r->table, l));
		for (size_t k = 0; k < r->table.kernels.n; k++)
			json_put_last(kernels, cell_json(r, l, k));
		json_put(load, "kernels", kernels);
		json_put_last(table, load);
	}
	return table;
}

/* plan_json() - the plan as the first boot has it, with the boots that it came to
 * when their number was left to kontest */
static json_t *plan_json(const struct report *r)
{
	json_t *plan = json_copy(json_object_get(r->boots.v[0].context, "plan"));

	if (json_object_get(plan, "auto"))
		json_put(plan, "boots", json_integer(table_boots(&r->boots)));
	return plan;
}

static json_t *kernel_json(const struct table_kernel *k)
{
	json_t *v;

	if (k->first)
		return json_incref(json_object_get(k->first->context,
						   "kernel"));
	v = json_object();
	json_put_text(v, "label", k->label);
	json_put(v, "order", json_integer(k->order));
	return v;
}

void render_json(const struct report *r, struct buf *b)
{
	json_t *root = json_object(), *kernels = json_array();
	json_t *boots = json_array(), *host = json_object();
	const json_t *ctx = r->boots.n ? r->boots.v[0].context : NULL;
	static const char *const common[] = { "kontest", "plan", "profile",
					      "job", "loads" };
	char *text;

	json_put_text(root, "format", REPORT_FORMAT);
	json_put(root, "version", json_integer(REPORT_VERSION));
	for (size_t i = 0; i < sizeof(common) / sizeof(common[0]); i++)
		json_put_copy(root, common[i], json_object_get(ctx, common[i]));
	if (r->boots.n)
		json_put(root, "plan", plan_json(r));
	for (size_t k = 0; k < r->table.kernels.n; k++)
		json_put_last(kernels, kernel_json(&r->table.kernels.v[k]));
	json_put(root, "kernels", kernels);
	json_put(root, "provenance", r->boots.n ? provenance_json(&r->boots)
						: json_null());
	json_put(root, "table", table_json(r));
	if (r->table.benches.n)
		json_put(root, "benches", benches_json(r));
	for (size_t i = 0; i < r->boots.n; i++)
		json_put_last(boots, boot_json(&r->boots.v[i]));
	json_put(root, "boots", boots);
	if (r->imports.n)
		json_put(root, "imports", imports_json(r));
	json_put_text(host, "run_id", r->run_id);
	json_put(root, "host", host);

	text = json_dumps(root, JSON_INDENT(1) |
			  JSON_REAL_PRECISION(REAL_DIGITS));
	if (!text)
		abort();
	buf_adds(b, text);
	buf_adds(b, "\n");
	free(text);
	json_decref(root);
}
