/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_import.c - foreign results in the reports that are no contest tables
 */
#include "results/json_put.h"
#include "results/render.h"

#include <inttypes.h>
#include <string.h>

#include "results/base/cleanup.h"
#include "results/columns.h"
#include "results/grid.h"

void put_imports(const struct report *r, struct buf *b)
{
	for (size_t i = 0; i < r->imports.n; i++)
		import_print(&r->imports.v[i], b);
}

/* --- wide ------------------------------------------------------------------- */

/* Their rows have too many shapes for one grid: they are shown as printed */
static void put_bench_lines(const struct import *imp, struct buf *b)
{
	for (size_t j = 0; j < imp->benches.n; j++) {
		const struct import_bench *t = &imp->benches.v[j];

		buf_printf(b, "%s:\n", import_bench_format_name(t->format));
		for (size_t k = 0; k < t->lines.n; k++)
			buf_printf(b, "%s\n", t->lines.v[k]);
	}
}

static void put_import_wide(const struct import *imp, struct buf *b)
{
	static const char *const titles[] = { "Load", "Kernel", "Source",
		"Format", "Runs",
#define X(name, title) title,
		IMPORT_FIGURES(X)
#undef X
		NULL
	};
	CLEANUP(grid_free) struct grid g = { .titles = titles, .text = 4 };

	for (size_t j = 0; j < imp->tables.n; j++) {
		const struct import_table *t = &imp->tables.v[j];

		for (size_t k = 0; k < t->rows.n; k++) {
			const struct import_row *row = &t->rows.v[k];

			grid_add_text(&g, t->load);
			grid_add_text(&g, row->label);
			grid_add_text(&g, "import");
			grid_add_text(&g, import_format_name(t->format));
			grid_add(&g, xasprintf("%" PRIu64, row->runs));
			for (size_t f = 0; f < IMPORT_COUNT; f++)
				grid_add(&g, xstrdup(row->text[f]));
		}
	}
	grid_put(&g, b);
}

void put_imports_wide(const struct report *r, struct buf *b)
{
	for (size_t i = 0; i < r->imports.n; i++) {
		const struct import *imp = &r->imports.v[i];

		buf_printf(b, "%simport '%s': not measured here, figures as printed there, no intervals\n",
			   b->len ? "\n" : "", imp->name);
		if (imp->tables.n)
			put_import_wide(imp, b);
		put_bench_lines(imp, b);
	}
}

void put_imports_bench(const struct report *r, enum import_bench_format format,
		       struct buf *b)
{
	for (size_t i = 0; i < r->imports.n; i++) {
		const struct import *imp = &r->imports.v[i];
		bool first = true;

		for (size_t j = 0; j < imp->benches.n; j++) {
			const struct import_bench *t = &imp->benches.v[j];

			if (t->format != format)
				continue;
			buf_adds(b, b->len ? "\n" : "");
			if (first)
				buf_printf(b, "import '%s', as printed there:\n",
					   imp->name);
			first = false;
			for (size_t k = 0; k < t->lines.n; k++)
				buf_printf(b, "%s\n", t->lines.v[k]);
		}
	}
}

/* --- JSON ------------------------------------------------------------------- */

static json_t *row_json(const struct import_row *row)
{
	json_t *kernel = json_object(), *printed = json_object();

	json_put(kernel, "source", json_string("import"));
	json_put(kernel, "label", json_string(row->label));
	json_put(kernel, "runs", json_integer((json_int_t)row->runs));
	for (int f = 0; f < IMPORT_COUNT; f++) {
		const char *name = import_figure_name((enum import_figure)f);

		json_put_real(kernel, name, row->value[f]);
		json_put(printed, name, json_string(row->text[f]));
	}
	json_put(kernel, "printed", printed);
	return kernel;
}

/* bench_json() - rows of tiobench or VolanoMark: figures by name, a remark in
 * their place */
static json_t *bench_json(const struct import_bench *t)
{
	const char *const *names = import_bench_figures(t->format);
	json_t *table = json_object(), *rows = json_array();

	json_put(table, "format", json_string(import_bench_format_name(t->format)));
	json_put(table, "title", json_string(t->title));
	for (size_t k = 0; k < t->rows.n; k++) {
		const struct import_bench_row *row = &t->rows.v[k];
		json_t *obj = json_object(), *printed = json_object();
		size_t n = 0;

		while (names[n])
			n++;
		json_put(obj, "source", json_string("import"));
		json_put(obj, "label", json_string(row->label));
		for (size_t f = 0; f < row->text.n; f++) {
			/* A row that is not full ends in a remark */
			bool remark = row->text.n < n && f == row->text.n - 1;

			json_put(printed, remark ? "remark" : names[f],
				 json_string(row->text.v[f]));
		}
		json_put(obj, "printed", printed);
		json_put_last(rows, obj);
	}
	json_put(table, "rows", rows);
	return table;
}

static json_t *import_json(const struct import *imp)
{
	json_t *obj = json_object(), *tables = json_array();

	for (size_t j = 0; j < imp->tables.n; j++) {
		const struct import_table *t = &imp->tables.v[j];
		json_t *table = json_object(), *kernels = json_array();

		json_put(table, "load", json_string(t->load));
		json_put(table, "format", json_string(import_format_name(t->format)));
		for (size_t k = 0; k < t->rows.n; k++)
			json_put_last(kernels, row_json(&t->rows.v[k]));
		json_put(table, "kernels", kernels);
		json_put_last(tables, table);
	}
	json_put(obj, "source", json_string("import"));
	json_put(obj, "name", json_string(imp->name));
	json_put(obj, "table", tables);
	if (imp->benches.n) {
		json_t *benches = json_array();

		for (size_t j = 0; j < imp->benches.n; j++)
			json_put_last(benches, bench_json(&imp->benches.v[j]));
		json_put(obj, "benches", benches);
	}
	return obj;
}

json_t *imports_json(const struct report *r)
{
	json_t *imports = json_array();

	for (size_t i = 0; i < r->imports.n; i++)
		json_put_last(imports, import_json(&r->imports.v[i]));
	return imports;
}
